"""One expression tree as SymPy's source text, at explicit sizes.

What is written is Python for the tree as it stands: nothing is simplified here. A vector is a column, a matrix a Matrix, a tensor of
three axes and more an Array; indices count from 0, as in Python. Python's own numbers never divide one another.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import chain
from typing import NamedTuple

from ..core.claims import Claim
from ..core.expr import Expr, free_indices, show, strip, walk
from ..core.operators import AVERAGES, BENT, BINDERS, variable
from .errors import Disagrees, NotForSymPy
from .python_names import Names, quoted

SIGNS = ("positive", "nonnegative", "nonzero")
FREE = ("mean", "independent", "gaussian", "moment")  # what says nothing of the values that symbols may take
SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 6)  # how tightly a text binds


def bits_of(claim: Claim) -> dict:
    """The symbols of a claim each entry of which is 0 or 1, by name."""
    return {a.args[0].data[0]: a.args[0] for a in claim.given if a.kind == "zero_or_one"}


class Text(NamedTuple):
    """Python text, how tightly it binds, and whether it is a number of Python's own, which must not meet another one."""

    text: str
    level: int = ATOM
    plain: bool = False

    def at(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"

    def sympys(self) -> Text:
        return Text(f"Integer({self.text})") if self.plain else self


def call(name: str, *arguments: str) -> Text:
    return Text(f"{name}({', '.join(arguments)})")


def number(q: Fraction) -> Text:
    if q.denominator == 1:
        return Text(integer(q.numerator), SIGN if q < 0 else ATOM, True)
    return call("Rational", integer(q.numerator), integer(q.denominator))


def integer(n: int) -> str:
    power = abs(n).bit_length() - 1
    return str(n) if power < 40 or abs(n) != 2**power else f"{'-' * (n < 0)}2**{power}"


class Translation:
    """The trees of one claim. `lines` is what stands before a text: symbols, definitions, closed parts."""

    def __init__(self, claim: Claim, symbolic: bool = False, moving: frozenset = frozenset(), values: dict | None = None):
        self.names, self.lines, self.kept = Names(), {}, {}
        self.symbolic, self.moving = symbolic, moving
        self.values, self.evaluated = values or {}, values is not None
        self.given = claim.given
        self.bits = bits_of(claim)
        self.signs = [(a.kind, strip(a.args[0])) for a in claim.given if a.kind in SIGNS]
        self.towards = claim.towards
        if claim.towards and claim.towards[0].data[1] == "real" and claim.towards[0].data[0] not in self.bits:
            self.signs.append(("positive", claim.towards[0]))  # near the limit, which is taken from above or far out
        self.near: frozenset = frozenset()  # names of what the derivatives around what is written are taken by
        self.stating = False  # is what is stated of signs being written?
        self.goes = claim.towards[0].data[0] if claim.towards else ""  # the name of what a limit is taken in

    def write(self, e: Expr) -> Text:
        rule = RULES.get(e.op)
        if e.op in UNSUPPORTED:
            raise NotForSymPy(UNSUPPORTED[e.op])
        if rule is None:
            raise NotForSymPy(f"SymPy has no counterpart of '{e.op}'")
        return rule(self, e)

    def size(self, e: Expr) -> str:
        """The length of an axis or of a sum."""
        if e.op == "const":
            return str(int(e.data))
        if self.symbolic or e.data[0] in self.moving:
            raise NotForSymPy(f"something of the size {show(e)}, which has no value here")
        return self.names.of("size", e.data[0])

    def index(self, name: str) -> str:
        return self.names.of("index", name)

    def keep(self, thing, name: str, text: str) -> str:
        """A line before the text, `name = text`, once for each thing."""
        if thing not in self.kept:
            self.kept[thing] = name
            self.lines[name] = text
        return self.kept[thing]

    def fresh(self, word: str) -> str:
        """A name that nothing else has."""
        return self.names.of("part", f"{word}{sum(kind == 'part' for kind, _ in self.names.by_thing) + 1}")

    def symbol(self, e: Expr) -> str:
        """The identifier of a symbol, made before it is used."""
        name, kind = e.data
        if name in self.near and self.closed(name):
            return self.keep(("near", name), self.names.of("near", name), self.made(e))
        identifier = self.names.of(kind, name)
        if kind == "size":
            if self.symbolic or name in self.moving:
                whole = ", integer=True" * (name not in self.moving)
                self.keep((kind, name), identifier, f"Symbol({quoted(name)}, positive=True{whole})")
        elif (kind, name) not in self.kept:
            self.keep((kind, name), identifier, self.made(e))
        return identifier

    def made(self, e: Expr) -> str:
        """The text that makes a symbol."""
        name = e.data[0]
        if name in self.values and name not in self.near:
            return self.values[name]
        if name in self.bits and self.symbolic:
            raise NotForSymPy(f"{name}, which is 0 or 1, at every size")
        if name in self.bits and name not in self.near:  # a parameter holds its entries
            given = self.names.of("entries", name)
            return f"Matrix({given})" if len(e.shape) in (1, 2) else f"Array({given})" if e.shape else f"Integer({given})"
        known = self.signs_of(name)
        if name in self.near and self.closed(name):
            known.pop("nonnegative", None)
        signs = "".join(f", {kind}={where}" for kind, where in known.items())
        if not e.shape:
            return f"Symbol({quoted(name)}, real=True{signs})"
        return f"tensor({quoted(name)}, {', '.join(map(self.size, e.shape))}{signs})"

    def known_signs(self, near: bool = False) -> str:
        """The name of a line that holds what is stated of signs and that SymPy's symbols do not know; "" where there is nothing.

        With `near`, only what holds near a point as well, where the symbols move that derivatives are taken by.
        """
        if self.stating or self.evaluated:
            return ""
        self.stating = True
        lists = {kind: [self.stated_text(x) for a, x in self.signs if a == kind and self.beside(a, x, near)] for kind in SIGNS}
        self.stating = False
        whole = all(a.kind in SIGNS and not self.untold(a.args[0]) or a.kind in FREE for a in self.given)
        if not any(lists.values()) and (whole or near):
            return ""
        moved = tuple(sorted(name for name in self.near if self.closed(name)))
        texts = ", ".join(f"[{', '.join(x)}]" for x in lists.values()) + ", whole=False" * (not whole)
        return self.keep(("signs", near, moved), self.names.of(f"signs {near} {' '.join(moved)}", "signs"), f"Signs({texts})")

    def beside(self, kind: str, x: Expr, near: bool) -> bool:
        """Is this said beside what the symbols know; and, if that is asked, does it hold near a point as well?"""
        target = x.args[0] if x.op == "entry" else x
        if target.op == "symbol" and not (target.data[0] in self.near and self.closed(target.data[0])):
            return False
        return not self.untold(x) and not (near and kind == "nonnegative" and mentions(x, self.near))

    def untold(self, x: Expr) -> bool:
        """Is there something in it that would ask for signs itself, or has no value here?"""
        return any(n.op in ("rounded", "rank", *AVERAGES) or n.data == "log" or is_root(n) for n in walk(x))

    def stated_text(self, x: Expr) -> str:
        """What a sign is stated of, at each value of its open indices."""
        loops = " ".join(f"for {self.index(i.data[0])} in range({self.size(i.data[1])})" for i in indices_of(x))
        text = self.write(x).sympys().text
        return f"*({text} {loops})" if loops else text

    def going(self, e: Expr) -> str:
        """What a sign is shown near that need not be shown elsewhere: the limit, where what has to have it moves with the variable."""
        if not self.goes or not mentions(e, {self.goes}):
            return ""
        variable, to = self.towards
        return f"goes=({self.symbol(variable)}, {to!r})"

    def closed(self, name: str) -> bool:
        """Is its value known, or something of its sign that holds at a point, and need not hold near it?"""
        if name in self.values or name in self.bits:
            return True
        known = self.signs_of(name)
        return "nonnegative" in known and known["nonnegative"] not in (known.get("nonzero"), known.get("positive"))

    def moved(self, e: Expr) -> tuple:
        """The names in e that stand for another symbol here than elsewhere: one of which less is known."""
        return tuple(sorted({n.data[0] for n in walk(e) if n.op == "symbol" and n.data[0] in self.near and self.closed(n.data[0])}))

    def signs_of(self, name: str) -> dict:
        """The stated signs of a symbol, or of which of its entries they are stated: an open index stands for each of its values."""
        found = {}
        for kind, x in self.signs:
            if x.op == "symbol" and x.data[0] == name:
                found[kind] = "True"
            elif x.op == "entry" and x.args[0].op == "symbol" and x.args[0].data[0] == name:
                pattern = [quoted(i.data[0]) if i.op == "index" else str(int(i.data)) for i in x.args[1:]]
                each = all(i.op == "index" for i in x.args[1:]) and len(set(pattern)) == len(pattern)
                places = f"({', '.join(pattern)},)"
                found[kind] = (
                    "True" if each or found.get(kind) == "True" else f"{found[kind][:-1]} {places},)" if kind in found else f"({places},)"
                )
        return found


# A rule for each operation


def write_const(t, e):
    return number(e.data)


def write_imaginary(t, e):
    return Text("I")


def write_symbol(t, e):
    return Text(t.symbol(e))


def write_index(t, e):
    return Text(f"{t.index(e.data[0])} + 1", SUM, True)


def write_defined(t, e):
    """A definition without open indices has its name; any other is written out."""
    if free_indices(e.args[0]):
        return t.write(e.args[0])
    body, near = t.write(e.args[0]).sympys(), t.moved(e)
    return Text(t.keep(("defined", e, near), t.names.of(f"defined{' near' * bool(near)} {' '.join(near)}", e.data[0]), body.text))


def write_paren(t, e):
    return t.write(e.args[0])


def write_neg(t, e):
    inner = t.write(e.args[0])
    return Text("-" + inner.at(PRODUCT), SIGN, inner.plain)


def write_add(t, e):
    left, right = t.write(e.args[0]).sympys(), e.args[1]
    if right.op == "neg":
        return Text(f"{left.at(SUM)} - {t.write(right.args[0]).at(PRODUCT)}", SUM)
    return Text(f"{left.at(SUM)} + {t.write(right).at(PRODUCT)}", SUM)


def write_mul(t, e):
    left, right = (t.write(x) for x in e.args)
    if all(x.shape for x in e.args) and not t.symbolic:  # in a law, one coordinate stands for all
        return call("times", left.text, right.text)
    return Text(f"{left.sympys().at(PRODUCT)} * {right.at(POWER)}", PRODUCT)


def write_div(t, e):
    left, right = (t.write(x) for x in e.args)
    if t.evaluated and e.args[1].op != "const":  # at numbers it may be 0
        return call("divided", left.sympys().text, right.text)
    return Text(f"{left.sympys().at(PRODUCT)} / {right.at(POWER)}", PRODUCT)


def write_pow(t, e):
    base, exponent = t.write(e.args[0]).sympys(), e.args[1]
    if exponent.op == "const" and exponent.data.denominator == 1:
        return Text(f"{base.at(ATOM)}**{t.write(exponent).at(POWER)}", POWER)
    found = call("power", base.text, t.write(exponent).text, *filter(None, [t.known_signs(), t.going(e.args[0])]))
    near = t.known_signs(near=True)
    return call("unfolded", found.text, near) if near else found


def write_matmul(t, e):
    axes = [len(x.shape) for x in e.args]
    left, right = (t.write(x) for x in e.args)
    if max(*axes, len(e.shape)) > 2:
        return call("contract", left.text, right.text, *map(str, axes))
    if axes == [1, 1]:
        return Text(f"{left.at(ATOM)}.dot({right.text})")
    if axes == [1, 2]:
        return Text(f"{right.at(ATOM)}.T * {left.at(POWER)}", PRODUCT)
    return Text(f"{left.at(PRODUCT)} * {right.at(POWER)}", PRODUCT)


def write_transpose(t, e):
    return Text(t.write(e.args[0]).at(ATOM) + ".T")


def write_inverse(t, e):
    return call("inverse", t.write(e.args[0]).text)


def write_eye(t, e):
    return call("eye", t.size(e.shape[0]))


def write_fill(t, e):
    sizes, one = list(map(t.size, e.shape)), e.data == 1
    if not one and e.data != 0:
        raise NotForSymPy(f"a tensor of entries {e.data}")
    if len(sizes) > 2:
        return Text(f"Array([{int(e.data)}] * ({' * '.join(sizes)}), ({', '.join(sizes)}))")
    return call("ones" if one else "zeros", *sizes, *["1"] * (len(sizes) == 1))


def write_array(t, e):
    name = "Array" if len(e.shape) > 2 else "Matrix"
    return call(name, rows([t.write(x).text for x in e.args], [int(s.data) for s in e.shape]))


def rows(texts: list, shape: list) -> str:
    """Nested lists of this shape."""
    if not shape:
        return texts[0]
    each = len(texts) // shape[0]
    return "[" + ", ".join(rows(texts[k * each : (k + 1) * each], shape[1:]) for k in range(shape[0])) + "]"


def write_sum(t, e):
    name, size = e.data
    return call("Add", f"*({t.write(e.args[0]).text} for {t.index(name)} in range({t.size(size)}))")


def write_each(t, e):
    name, size = e.data
    each = f"({t.write(e.args[0]).text} for {t.index(name)} in range({t.size(size)}))"
    return call("stacked", each, str(len(e.args[0].shape)))


def write_entry(t, e):
    base, places = e.args[0], [str(int(i.data) - 1) if i.op == "const" else t.index(i.data[0]) for i in e.args[1:]]
    if base.op == "eye":
        return call("KroneckerDelta", *places)
    text = t.write(base)
    if base.op not in ("symbol", "defined", "paren") and not free_indices(base):  # evaluated once, not for every entry
        thing = ("part", strip(base), t.moved(base))
        text = Text(t.kept.get(thing) or t.keep(thing, t.fresh("part"), text.text))
    return Text(f"{text.at(ATOM)}[{', '.join(places)}]")


ARITHMETIC = ("add", "mul", "div", "pow", "neg")
FUNCTIONS = {"exp": "exp", "log": "log", "abs": "Abs", "cos": "cos", "sin": "sin", "tanh": "tanh", "norm": "norm", "largest": "largest"}


def write_function(t, e):
    if e.data not in FUNCTIONS:
        raise NotForSymPy(f"SymPy has no counterpart of '{e.data}'")
    name, inner = FUNCTIONS[e.data], t.write(e.args[0])
    signs = t.known_signs(near=name == "Abs") if name in ("log", "Abs") else ""
    if signs and name == "Abs":
        name = "modulus"
    more = [*filter(None, [signs, t.going(e.args[0]) if name == "log" else ""])]
    if e.shape:
        one = f"lambda v: {name}({', '.join(['v', *more])})" if more else name
        return Text(f"{inner.at(ATOM)}.applyfunc({one})")
    return call(name, inner.text, *more)


def is_root(e: Expr) -> bool:
    """A power that need not be whole."""
    return e.op == "pow" and not (e.args[1].op == "const" and e.args[1].data.denominator == 1)


def write_softmax(t, e):
    name = "softmax" if len(e.shape) == 1 else "softmax_rows"
    return call(name, t.write(e.args[0]).text)


def write_derivative(t, e):
    """What holds at a point alone is not known of what moves while the body is written, and is put in afterwards."""
    body, by = e.args
    target = variable(by)
    name, outside = target.data[0], t.near
    refuse_tied(t, body, name)
    t.near = t.near | {name}
    inner, at = t.write(body).text, t.write(by).text
    more = [f"{word}=[{', '.join(found)}]" for word, found in corners(t, body, name, outside).items() if found]
    t.near = outside
    more += [f"{word}=[{', '.join(found)}]" for word, found in signs_near(t).items() if found and more]
    t.near = outside | {name}
    back = ""
    if t.closed(name) and name not in outside:
        moved = t.write(target).text
        t.near = outside
        back = f"{{{moved}: {t.write(target).text}}}" if not target.shape else f"zip(flat({moved}), flat({t.write(target).text}))"
    t.near = outside
    if not more and not back:
        return call("diff", inner, at)
    return call("slope", inner, at, *more, *[f"back={back}"] * bool(back))


# Of what functions with a corner are taken, by the name under which `slope` of the prelude is told. A norm is a root there.
CORNERS = {"abs": "moduli", "largest": "off", "norm": ""}


def refuse_tied(t, body, name):
    """A rounding has no slope, and a mean that is stated in terms of what moves has none that is known."""
    for n in walk(body):
        if n.op == "function" and n.data == "largest" and mentions(n, {name}) and not t.evaluated:
            raise Disagrees(f"{show(n)} is differentiated by {name}: it need not have a slope where two entries are the largest")
        if n.op == "rounded" and mentions(n, {name}):
            raise Disagrees(f"the rounding {show(n)} is differentiated by {name}: it goes in steps, whatever holds at a point")
        tied = [a for a in t.given if a.kind in ("mean", "variance") and mentions(a.args[1], {name}) and mentions(n, {a.args[0].data[0]})]
        if n.op in AVERAGES and tied:
            raise Disagrees(f"{show(n)} is differentiated by {name}, and what ties them is stated at one value of {name} alone")


def mentions(e: Expr, names) -> bool:
    return any(n.op == "symbol" and n.data[0] in names for n in walk(e))


def corners(t, body: Expr, name: str, outside: frozenset) -> dict:
    """What roots are taken of, what moduli are, and what larger powers are, where the symbol of this name stands in it.

    That the first is not 0 at the point is enough, for it is not 0 near it either. That the other is not negative has to hold near it.
    """
    found: dict[str, list] = {"off": [], "moduli": [], "above": []}
    moved = t.near

    def look(e, loops):
        fractional = is_root(e)
        kind = CORNERS[e.data] if e.op == "function" and e.data in BENT else ""
        if (fractional or kind) and mentions(e, {name}):
            larger = fractional and e.args[1].op == "const" and e.args[1].data > 1
            t.near = moved if larger else outside
            inside = t.write(e.args[0]).text
            if e.op == "function" and e.data == "largest":
                inside = f"*{call('ties', inside).text}" if not loops else refuse_ties(e)
            t.near = moved
            if loops and e.shape:  # the entries of a tensor, at each value of the indices around it
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
            look(x, loops)

    look(body, [])
    return found


def refuse_ties(e: Expr):
    raise NotForSymPy(f"{show(e)} inside of a sum that is differentiated")


def signs_near(t) -> dict:
    """What is stated to be positive or not zero, beside symbols, of which SymPy knows: that holds near a point as well."""
    found: dict[str, list] = {"positive": [], "nonzero": []}
    for a in t.given:
        plain_symbol = a.args and (a.args[0].op == "symbol" or a.args[0].op == "entry" and a.args[0].args[0].op == "symbol")
        if a.kind in found and not plain_symbol and not any(n.op in ("rounded", "rank") for n in walk(a.args[0])):
            loops = [f"for {t.index(i.data[0])} in range({t.size(i.data[1])})" for i in indices_of(a.args[0])]
            text = t.write(a.args[0]).sympys().text
            found[a.kind].append(f"*({text} {' '.join(loops)})" if loops else text)
    return found


def write_rounded(t, e):
    """What is rounded and not known is some number, where a limit is taken and it stands still."""
    if e.data != "fp32":
        raise NotForSymPy(f"rounding to {e.data}")
    if t.goes and mentions(e, {t.goes}):
        raise Disagrees(f"the rounding {show(e)} moves with {t.goes}: it goes in steps, whatever holds at a point")
    if t.goes:
        return call('Function("rounded", real=True)', t.write(e.args[0]).sympys().text)
    if not t.evaluated:
        raise NotForSymPy("the rounding of a number that is not known")
    return call("rounded", t.write(e.args[0]).text)


def write_rank(t, e):
    if not t.evaluated:
        raise NotForSymPy("a rank at every entry")
    return call("rank", t.write(e.args[0]).text)


RULES = {
    "const": write_const,
    "imaginary": write_imaginary,
    "symbol": write_symbol,
    "index": write_index,
    "defined": write_defined,
    "paren": write_paren,
    "add": write_add,
    "neg": write_neg,
    "mul": write_mul,
    "div": write_div,
    "pow": write_pow,
    "matmul": write_matmul,
    "transpose": write_transpose,
    "inverse": write_inverse,
    "eye": write_eye,
    "fill": write_fill,
    "array": write_array,
    "sum": write_sum,
    "each": write_each,
    "entry": write_entry,
    "function": write_function,
    "softmax": write_softmax,
    "derivative": write_derivative,
    "rounded": write_rounded,
    "rank": write_rank,
}
UNSUPPORTED = {"expectation": "an expectation outside of a law", "variance": "a variance outside of a law"}  # laws are written by `laws.py`


def indices_of(*trees: Expr) -> list:
    """The index variables that nothing binds, by name."""
    return sorted(set(chain(*map(free_indices, trees))), key=lambda i: i.data[0])
