"""What stands in one place of a tensor: a number as a tree, a truth value, or a number that may be minus infinity.

A truth value that is not known is a tree that is 0 or 1. Minus infinity comes from masks: `Masked(keep, value)` is the value where `keep` is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..core.expr import Expr, exp, lift
from ..core.operators import is_partial
from .errors import NotRead

ZERO, UNIT = lift(0), lift(1)


@dataclass(frozen=True)
class Masked:
    keep: Expr
    value: Expr


Entry = Expr | bool | Masked
MINUS_INFINITY = Masked(ZERO, ZERO)


def is_const(e: Entry, value: int | None = None) -> bool:
    return isinstance(e, Expr) and e.op == "const" and (value is None or e.data == value)


def number(e: Entry) -> Expr:
    """As a finite number: a truth value is 0 or 1."""
    if isinstance(e, bool):
        return UNIT if e else ZERO
    if isinstance(e, Masked):
        raise NotRead("minus infinity stands where a number is needed")
    return e


def plus(a: Entry, b: Entry) -> Entry:
    if isinstance(a, Masked) or isinstance(b, Masked):
        (one, x), (other, y) = parts(a), parts(b)
        return Masked(times(one, other), plus(x, y))
    a, b = number(a), number(b)
    if is_const(a) and is_const(b):
        return lift(a.data + b.data)
    return b if is_const(a, 0) else a if is_const(b, 0) else Expr("add", (a, b))


def parts(e: Entry) -> tuple[Expr, Expr]:
    return (e.keep, e.value) if isinstance(e, Masked) else (UNIT, number(e))


def minus(a: Entry, b: Entry) -> Entry:
    return plus(a, times(lift(-1), number(b)))


def times(a: Entry, b: Entry) -> Entry:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Masked):
            if not is_const(other) or other.data <= 0:
                raise NotRead("minus infinity times what is not a positive number")
            return Masked(one.keep, times(one.value, other))
    a, b = number(a), number(b)
    if is_const(a) and is_const(b):
        return lift(a.data * b.data)
    if is_const(a, 1) or is_const(b, 1):
        return b if is_const(a, 1) else a
    # 0 times what has no value has none: only what is a number already goes away
    if is_const(a, 0) and plain(b) or is_const(b, 0) and plain(a):
        return ZERO
    return Expr("neg", (b,)) if is_const(a, -1) else Expr("neg", (a,)) if is_const(b, -1) else Expr("mul", (a, b))


def plain(e: Expr) -> bool:
    """Does it have a value wherever its symbols do?"""
    return e.op != "function" and not is_partial(e) and all(map(plain, e.args))


def over(a: Entry, b: Entry) -> Entry:
    b = number(b)
    if isinstance(a, Masked):
        return times(a, lift(1 / b.data)) if is_const(b) and b.data else Masked(a.keep, Expr("div", (a.value, positive_size(b))))
    a = number(a)
    if is_const(b, 1):
        return a
    if is_const(b, 0):
        raise NotRead("a division by 0")
    return lift(a.data / b.data) if is_const(a) and is_const(b) else Expr("div", (a, b))


def positive_size(e: Expr) -> Expr:
    """e, which is a size or a root of one; NotRead where that is not seen."""
    base = e.args[0] if e.op == "pow" and e.args[1].op == "const" else e
    if base.op == "symbol" and base.data[1] == "size":
        return e
    raise NotRead("minus infinity divided by what is not seen to be positive")


def raised(a: Entry, power: Fraction) -> Expr:
    a = number(a)
    if power == 1:
        return a
    if is_const(a) and power.denominator == 1 and (a.data or power > 0):
        return lift(a.data ** int(power))
    return UNIT if power == 0 else Expr("pow", (a, lift(power)))


def exponential(a: Entry) -> Expr:
    """exp(-inf) = 0."""
    keep, value = parts(a)
    here = UNIT if is_const(value, 0) else exp(value)
    return number(times(keep, here))


def opposite(e: Entry) -> Entry:
    """Not."""
    if isinstance(e, bool):
        return not e
    undone = hidden(e)
    return truth(minus(UNIT, number(e))) if undone is None else undone


def hidden(e: Entry) -> Expr | None:
    """x of 1 - x."""
    negated = isinstance(e, Expr) and e.op == "add" and is_const(e.args[0], 1) and e.args[1].op == "neg"
    return e.args[1].args[0] if negated else None


def both(a: Entry, b: Entry) -> Entry:
    return truth(times(number(a), number(b)))


def either(a: Entry, b: Entry) -> Entry:
    return opposite(both(opposite(a), opposite(b)))


def truth(e: Entry) -> Entry:
    """A truth value that is known as one of Python's."""
    return bool(e.data) if is_const(e) and e.data in (0, 1) else e


def chosen(test: Entry, one: Entry, other: Entry) -> Entry:
    """One where the test holds, and the other where it does not."""
    if isinstance(test, bool):
        return one if test else other
    if isinstance(one, Masked) or isinstance(other, Masked):
        (keep, x), (held, y) = parts(one), parts(other)
        kept = plus(times(test, keep), times(opposite(test), held))
        nothing = is_const(keep, 0) and plain(x), is_const(held, 0) and plain(y)  # what goes away has a value
        return Masked(number(kept), y if nothing[0] else x if nothing[1] else number(chosen(test, x, y)))
    return plus(times(test, number(one)), times(number(opposite(test)), number(other)))
