"""Derivatives as SymPy's source text.

A sign may be known at a point and not near it. While the body of a derivative is written, such a sign is not used: the symbol is replaced by
one without it, and put back into the derivative.
"""

from __future__ import annotations

from typing import NoReturn

from ..core.expr import Expr, show, walk
from ..core.operators import AVERAGE_OPERATORS, BINDERS, NONSMOOTH, differentiation_symbol
from .errors import Disagrees, NotForSymPy
from .symbol_text import SymbolWriter, Text, call, indices_of, is_root, mentions


def write_derivative(t: SymbolWriter, e: Expr) -> Text:
    """Return the text of a derivative: a call of `diff`, or of the prelude's `slope` if the body may not be differentiable everywhere."""
    body, by = e.args
    target = differentiation_symbol(by)
    name, outside = target.data[0], t.near
    check_differentiable(t, body, name)
    t.near = t.near | {name}
    inner, at = t.write(body).text, t.write(by).text
    more = [f"{word}=[{', '.join(found)}]" for word, found in nondifferentiable_points(t, body, name, outside).items() if found]
    t.near = outside
    more += [f"{word}=[{', '.join(found)}]" for word, found in signs_near(t).items() if found and more]
    t.near = outside | {name}
    back = ""
    if t.known_only_at_point(name) and name not in outside:
        moved = t.write(target).text
        t.near = outside
        back = f"{{{moved}: {t.write(target).text}}}" if not target.shape else f"zip(flat({moved}), flat({t.write(target).text}))"
    t.near = outside
    if not more and not back:
        return call("diff", inner, at)
    return call("slope", inner, at, *more, *[f"back={back}"] * bool(back))


# The parameter of the prelude's `slope` that gets the arguments of a function with jumping derivative. A norm is a root there.
CORNERS = {"abs": "moduli", "largest": "off", "norm": ""}


def check_differentiable(t: SymbolWriter, body: Expr, name: str) -> None:
    """Raise Disagrees for a rounding, for `largest`, and for a mean whose assumption depends on the differentiation variable."""
    for n in walk(body):
        if n.op == "function" and n.data == "largest" and mentions(n, {name}) and not t.evaluated:
            raise Disagrees(
                f"{show(n)} is differentiated by {name}: it need not have a slope where two entries are the largest", code="no-derivative"
            )
        if n.op == "rounded" and mentions(n, {name}):
            raise Disagrees(
                f"the rounding {show(n)} is differentiated by {name}: it goes in steps, whatever holds at a point", code="no-derivative"
            )
        tied = [a for a in t.given if a.kind in ("mean", "variance") and mentions(a.args[1], {name}) and mentions(n, {a.args[0].data[0]})]
        if n.op in AVERAGE_OPERATORS and tied:
            raise Disagrees(
                f"{show(n)} is differentiated by {name}, and what ties them is stated at one value of {name} alone", code="no-derivative"
            )


def nondifferentiable_points(t: SymbolWriter, body: Expr, name: str, outside: frozenset[str]) -> dict[str, list[str]]:
    """Return the arguments of roots, absolute values and larger fractional powers that depend on a symbol, by the parameter of `slope`.

    A root's argument must be nonzero at the point, and then is near it, too. That of a larger power must be nonnegative near the point.
    """
    found: dict[str, list[str]] = {"off": [], "moduli": [], "above": []}
    moved = t.near

    def visit(e: Expr, loops: list[str]) -> None:
        fractional = is_root(e)
        kind = CORNERS[e.data] if e.op == "function" and e.data in NONSMOOTH else ""
        if (fractional or kind) and mentions(e, {name}):
            larger = fractional and e.args[1].op == "const" and e.args[1].data > 1
            t.near = moved if larger else outside
            inside = t.write(e.args[0]).text
            if e.op == "function" and e.data == "largest":
                inside = f"*{call('ties', inside).text}" if not loops else raise_for_ties(e)
            t.near = moved
            if loops and e.shape:  # the entries of a tensor, at each value of the enclosing indices
                part = t.names.of("part", "part")
                listed = f"*({part} {' '.join(loops)} for {part} in flat({inside}))"
            else:
                listed = f"*({inside} {' '.join(loops)})" if loops else f"*flat({inside})" if e.shape else inside
            which = "above" if larger else kind or "off"
            if listed not in found[which]:
                found[which].append(listed)
        if e.op in BINDERS:
            loops = [*loops, f"for {t.index(e.data[0])} in range({t.size(e.data[1])})"]
        for x in e.args:
            visit(x, loops)

    visit(body, [])
    return found


def raise_for_ties(e: Expr) -> NoReturn:
    raise NotForSymPy(f"{show(e)} inside of a sum that is differentiated")


def signs_near(t: SymbolWriter) -> dict[str, list[str]]:
    """Return the assumptions positive and nonzero about expressions other than symbols. These also hold near a point."""
    found: dict[str, list[str]] = {"positive": [], "nonzero": []}
    for a in t.given:
        plain_symbol = a.args and (a.args[0].op == "symbol" or a.args[0].op == "entry" and a.args[0].args[0].op == "symbol")
        if a.kind in found and not plain_symbol and not any(n.op in ("rounded", "rank") for n in walk(a.args[0])):
            loops = [f"for {t.index(i.data[0])} in range({t.size(i.data[1])})" for i in indices_of(a.args[0])]
            text = t.write(a.args[0]).as_sympy().text
            found[a.kind].append(f"*({text} {' '.join(loops)})" if loops else text)
    return found
