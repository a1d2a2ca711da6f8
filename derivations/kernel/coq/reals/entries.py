"""Expand an entry of a tensor into an expression of numbers, in the same form as `written_out` in prelude_limits.v does in Coq."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import count

from ...core.expr import Expr, walk
from ...core.operators import INDEXED
from ..algebraic_structures import NotForCoq

ZERO = Expr("const", (), (), Fraction(0))


def entry(e: Expr, places: tuple[Expr, ...]) -> Expr:
    """Return the entry of a tensor at the places, expanded; expand a number itself. Raise NotForCoq if there is no lemma for it."""
    if not e.shape:
        return number(e)
    rule = RULES.get(e.op)
    if rule is None:
        raise NotForCoq(f"a limit of an entry of '{e.op}', for which there is no lemma")
    return rule(e, places)


def number(e: Expr) -> Expr:
    """Return a number with an entry or a dot product at its root expanded."""
    if e.op == "entry" and e.args[0].op != "symbol":
        return entry(e.args[0], e.args[1:])
    if e.op == "matmul" and not e.shape:
        left, right = e.args
        return total(left.shape[0], lambda k: Expr("mul", (entry(left, (k,)), entry(right, (k,)))), left, right)
    return e


def total(size: Expr, term: Callable[[Expr], Expr], *trees: Expr) -> Expr:
    """Return the sum of term(k) for k from 1 to the size, term by term if the size is known.

    `trees` are the trees that the terms are made of: the bound index gets a name that none of them uses.
    """
    if size.op == "const":
        result = ZERO
        for k in range(int(size.data)):
            result = Expr("add", (result, term(Expr("const", (), (), Fraction(k + 1)))))
        return result
    taken = {n.data[0] for e in trees for n in walk(e) if n.op == "symbol" or n.op in INDEXED}
    name = next(name for name in (f"l{k}" for k in count(1)) if name not in taken)
    return Expr("sum", (term(Expr("index", (), (), (name, size))),), (), (name, size))


def entry_of_softmax(e: Expr, places: tuple[Expr, ...]) -> Expr:
    *row, place = places

    def power(k: Expr) -> Expr:
        return Expr("function", (entry(e.args[0], (*row, k)),), (), "exp")

    return Expr("div", (power(place), total(e.shape[-1], power, e, *places)))


def entry_of_matmul(e: Expr, places: tuple[Expr, ...]) -> Expr:
    left, right = e.args
    row, column = places[: len(left.shape) - 1], places[len(left.shape) - 1 :]
    return total(left.shape[-1], lambda k: Expr("mul", (entry(left, (*row, k)), entry(right, (k, *column)))), left, right, *places)


def entry_of_array(e: Expr, places: tuple[Expr, ...]) -> Expr:
    if any(p.op != "const" for p in places):
        raise NotForCoq("a limit of an entry, at any place, of a tensor that is written out")
    place = 0
    for p, size in zip(places, e.shape):
        place = place * int(size.data) + int(p.data) - 1
    return e.args[place]


def entrywise(e: Expr, places: tuple[Expr, ...]) -> Expr:
    return Expr(e.op, tuple(entry(x, places) for x in e.args), (), e.data)


RULES: dict[str, Callable[[Expr, tuple[Expr, ...]], Expr]] = {
    **dict.fromkeys(("add", "neg", "mul", "div", "function"), entrywise),
    "paren": lambda e, places: entry(e.args[0], places),
    "defined": lambda e, places: entry(e.args[0], places),
    "transpose": lambda e, places: entry(e.args[0], places[::-1]),
    "symbol": lambda e, places: Expr("entry", (e, *places)),
    "fill": lambda e, places: Expr("const", (), (), e.data),
    "array": entry_of_array,
    "softmax": entry_of_softmax,
    "matmul": entry_of_matmul,
}
