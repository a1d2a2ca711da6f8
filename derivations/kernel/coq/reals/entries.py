"""An entry of a tensor as the numbers that it is made of, as Coq writes them out (`written_out` in prelude_limits.v)."""

from __future__ import annotations

from fractions import Fraction
from itertools import count

from ...core.expr import Expr, walk
from ...core.operators import INDEXED
from ..algebraic_structures import NotForCoq

ZERO = Expr("const", (), (), Fraction(0))


def entry(e: Expr, places: tuple) -> Expr:
    """The entry of a tensor at places; of a number, the number."""
    if not e.shape:
        return number(e)
    rule = RULES.get(e.op)
    if rule is None:
        raise NotForCoq(f"a limit of an entry of '{e.op}', for which there is no lemma")
    return rule(e, places)


def number(e: Expr) -> Expr:
    """The entry that a tree is of, written out; anything else as it is."""
    if e.op == "entry" and e.args[0].op != "symbol":
        return entry(e.args[0], e.args[1:])
    if e.op == "matmul" and not e.shape:
        left, right = e.args
        return total(left.shape[0], lambda k: Expr("mul", (entry(left, (k,)), entry(right, (k,)))), left, right)
    return e


def total(size: Expr, term, *of: Expr) -> Expr:
    """A sum over the places below a size, of what is made of these trees: term by term, from zero on, where the size is known."""
    if size.op == "const":
        found = ZERO
        for k in range(int(size.data)):
            found = Expr("add", (found, term(Expr("const", (), (), Fraction(k + 1)))))
        return found
    taken = {n.data[0] for e in of for n in walk(e) if n.op == "symbol" or n.op in INDEXED}
    name = next(name for name in (f"l{k}" for k in count(1)) if name not in taken)
    return Expr("sum", (term(Expr("index", (), (), (name, size))),), (), (name, size))


def of_softmax(e: Expr, places: tuple) -> Expr:
    *row, place = places

    def power(k: Expr) -> Expr:
        return Expr("function", (entry(e.args[0], (*row, k)),), (), "exp")

    return Expr("div", (power(place), total(e.shape[-1], power, e, *places)))


def of_matmul(e: Expr, places: tuple) -> Expr:
    left, right = e.args
    row, column = places[: len(left.shape) - 1], places[len(left.shape) - 1 :]
    return total(left.shape[-1], lambda k: Expr("mul", (entry(left, (*row, k)), entry(right, (k, *column)))), left, right, *places)


def of_array(e: Expr, places: tuple) -> Expr:
    if any(p.op != "const" for p in places):
        raise NotForCoq("a limit of an entry, at any place, of a tensor that is written out")
    place = 0
    for p, size in zip(places, e.shape):
        place = place * int(size.data) + int(p.data) - 1
    return e.args[place]


def entrywise(e: Expr, places: tuple) -> Expr:
    return Expr(e.op, tuple(entry(x, places) for x in e.args), (), e.data)


RULES = {
    **dict.fromkeys(("add", "neg", "mul", "div", "function"), entrywise),
    "paren": lambda e, places: entry(e.args[0], places),
    "defined": lambda e, places: entry(e.args[0], places),
    "transpose": lambda e, places: entry(e.args[0], places[::-1]),
    "symbol": lambda e, places: Expr("entry", (e, *places)),
    "fill": lambda e, places: Expr("const", (), (), e.data),
    "array": of_array,
    "softmax": of_softmax,
    "matmul": of_matmul,
}
