"""The counterexample of a refutation: its sizes, which may follow from the lengths of arrays, and its other values as source text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..core.claims import Claim
from ..core.expr import Expr, free_indices, show, symbols, walk
from ..core.operators import BINDERS
from ..printing.latex import NAMED
from .errors import Disagrees, NotForSymPy
from .tree_to_sympy import Translation, rows


def read_counterexample(claim: Claim) -> tuple[dict[str, int], dict[str, str]]:
    """Return the sizes and the texts of all other values, by name. Raise Disagrees if values are missing, superfluous or contradictory."""
    named = symbols(*claim.trees)
    sizes: dict[str, int] = {}
    texts: dict[str, str] = {}
    indices = {i.data[0] for side in (claim.start, claim.steps[0].expr) for i in free_indices(side)}
    for name, value in claim.at:
        if name not in named and name not in indices:
            raise Disagrees(f"a value is given for {name}, which the claim does not mention", code="unused-value")
        if name not in named:  # substitute_indices uses it
            continue
        if named[name].data[1] == "size":
            record_size(sizes, named[name], size_value(name, value))
            continue
        shape = shape_of(value)
        if len(shape) != len(named[name].shape):
            raise Disagrees(f"the value of {name} has {len(shape)} axes, and {name} has {len(named[name].shape)}", code="wrong-shape")
        for size, length in zip(named[name].shape, shape):
            record_size(sizes, size, length)
        texts[name] = value_text(claim, value, shape)
    needed = {n: s.data[1] for n, s in symbols(claim.start, claim.steps[0].expr).items() if s.data[1] != "random"}
    needed |= dict.fromkeys(indices, "index")
    if missing := sorted(needed.keys() - sizes.keys() - dict(claim.at).keys()):
        what = {"size": "the size ", "index": "the index "}.get(needed[missing[0]], "")
        raise Disagrees(f"{what}{missing[0]} has no value at the counterexample", code="missing-value")
    return sizes, texts


def substitute_indices(claim: Claim, sizes: dict[str, int]) -> Claim:
    """Return the claim with the values of the counterexample in place of its free indices."""
    at = dict(claim.at)

    def substitute(e: Expr, bound: frozenset[str] = frozenset()) -> Expr:
        if e.op == "index" and e.data[0] in at and e.data[0] not in bound:
            name, size = e.data
            value, most = at[name], int(size.data) if size.op == "const" else sizes[size.data[0]]
            if value.op != "const" or value.data.denominator != 1 or not 1 <= value.data <= most:
                raise Disagrees(f"the index {name} is given a value that it does not take", code="index-out-of-range")
            return value
        inside = bound | {e.data[0]} if e.op in BINDERS else bound
        return replace(e, args=tuple(substitute(x, inside) for x in e.args))

    return replace(claim, start=substitute(claim.start), steps=tuple(replace(s, expr=substitute(s.expr)) for s in claim.steps))


def size_value(name: str, value: Any) -> int:
    """Return the value of a size. Raise Disagrees unless it is a positive integer."""
    if not isinstance(value, Expr) or value.op != "const" or value.data.denominator != 1 or value.data <= 0:
        raise Disagrees(f"the size {name} is a positive integer", code="not-a-size")
    return int(value.data)


def record_size(sizes: dict[str, int], size: Expr, length: int) -> None:
    """Add the value of a size. Raise Disagrees if it has another one."""
    if size.op == "symbol" and sizes.setdefault(size.data[0], length) != length or size.op == "const" and size.data != length:
        raise Disagrees(f"the values disagree about the size {show(size)}", code="conflicting-sizes")


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the lengths of nested tuples. Raise Disagrees if tuples of one level differ in length, or if one is empty."""
    if not isinstance(value, tuple):
        return ()
    inner = {shape_of(v) for v in value}
    if len(inner) != 1:
        raise Disagrees("the rows of a value have different lengths, or there are none", code="not-an-array")
    return (len(value), *inner.pop())


def flatten(value: Any) -> list[Any]:
    """Return the numbers in nested tuples, in order."""
    return [x for v in value for x in flatten(v)] if isinstance(value, tuple) else [value]


def value_text(claim: Claim, value: Any, shape: tuple[int, ...]) -> str:
    """Return the source text of a value. Raise NotForSymPy if it contains symbols."""
    t = Translation(claim)
    found = flatten(value)
    if any(n.op in NAMED for x in found for n in walk(x)):
        raise NotForSymPy("a counterexample whose values are not numbers")
    texts = [t.write(x) for x in found]
    if not shape:
        return texts[0].as_sympy().text
    name = "Array" if len(shape) > 2 else "Matrix"
    return f"{name}({rows([x.text for x in texts], list(shape))})"
