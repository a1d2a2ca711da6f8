"""The values of a refutation: sizes, also those read off the lengths of arrays, and tensors as text."""

from __future__ import annotations

from dataclasses import replace

from ..core.claims import Claim
from ..core.expr import Expr, free_indices, show, symbols, walk
from ..core.operators import BINDERS
from ..printing.latex import NAMED
from .errors import Disagrees, NotForSymPy
from .tree_to_sympy import Translation, rows


def counterexample(claim: Claim) -> tuple:
    """(sizes by name, the text of every other value by name)."""
    named, sizes, texts = symbols(*claim.trees), {}, {}
    indices = {i.data[0] for side in (claim.start, claim.steps[0].expr) for i in free_indices(side)}
    for name, value in claim.at:
        if name not in named and name not in indices:
            raise Disagrees(f"a value is given for {name}, which the claim does not mention")
        if name not in named:  # placed says what becomes of it
            continue
        if named[name].data[1] == "size":
            take(sizes, named[name], size_value(name, value))
            continue
        shape = shape_of(value)
        if len(shape) != len(named[name].shape):
            raise Disagrees(f"the value of {name} has {len(shape)} axes, and {name} has {len(named[name].shape)}")
        for size, length in zip(named[name].shape, shape):
            take(sizes, size, length)
        texts[name] = value_text(claim, value, shape)
    needed = {n: s.data[1] for n, s in symbols(claim.start, claim.steps[0].expr).items() if s.data[1] != "random"}
    needed |= dict.fromkeys(indices, "index")
    if missing := sorted(needed.keys() - sizes.keys() - dict(claim.at).keys()):
        what = {"size": "the size ", "index": "the index "}.get(needed[missing[0]], "")
        raise Disagrees(f"{what}{missing[0]} has no value at the counterexample")
    return sizes, texts


def placed(claim: Claim, sizes: dict) -> Claim:
    """The claim with the values that the counterexample gives to its free indices."""
    at = dict(claim.at)

    def put(e: Expr, bound: frozenset = frozenset()) -> Expr:
        if e.op == "index" and e.data[0] in at and e.data[0] not in bound:
            name, size = e.data
            value, most = at[name], int(size.data) if size.op == "const" else sizes[size.data[0]]
            if value.op != "const" or value.data.denominator != 1 or not 1 <= value.data <= most:
                raise Disagrees(f"the index {name} is given a value that it does not take")
            return value
        inside = bound | {e.data[0]} if e.op in BINDERS else bound
        return replace(e, args=tuple(put(x, inside) for x in e.args))

    return replace(claim, start=put(claim.start), steps=tuple(replace(s, expr=put(s.expr)) for s in claim.steps))


def size_value(name: str, value) -> int:
    if not isinstance(value, Expr) or value.op != "const" or value.data.denominator != 1 or value.data <= 0:
        raise Disagrees(f"the size {name} is a positive integer")
    return int(value.data)


def take(sizes: dict, size: Expr, length: int):
    """One size has one value."""
    if size.op == "symbol" and sizes.setdefault(size.data[0], length) != length or size.op == "const" and size.data != length:
        raise Disagrees(f"the values disagree about the size {show(size)}")


def shape_of(value) -> tuple:
    """The lengths of nested tuples, which must agree."""
    if not isinstance(value, tuple):
        return ()
    inner = {shape_of(v) for v in value}
    if len(inner) != 1:
        raise Disagrees("the rows of a value have different lengths, or there are none")
    return (len(value), *inner.pop())


def leaves(value) -> list:
    return [x for v in value for x in leaves(v)] if isinstance(value, tuple) else [value]


def value_text(claim: Claim, value, shape: tuple) -> str:
    t = Translation(claim)
    found = leaves(value)
    if any(n.op in NAMED for x in found for n in walk(x)):
        raise NotForSymPy("a counterexample whose values are not numbers")
    texts = [t.write(x) for x in found]
    if not shape:
        return texts[0].sympys().text
    name = "Array" if len(shape) > 2 else "Matrix"
    return f"{name}({rows([x.text for x in texts], list(shape))})"
