"""An entry of a tensor: a number as a tree, a truth value, or a number that may be minus infinity.

An unknown truth value is a tree that is 0 or 1. Minus infinity comes from masks: `Masked(keep, value)` is `value` where `keep` is 1, and minus
infinity where it is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeGuard

from ..core.expr import Expr, exp, lift
from ..core.operators import is_partial
from .errors import NotRead

ZERO, UNIT = lift(0), lift(1)


@dataclass(frozen=True)
class Masked:
    """A number that is `value` where `keep` is 1, and minus infinity where `keep` is 0."""

    keep: Expr
    value: Expr


Entry = Expr | bool | Masked
MINUS_INFINITY = Masked(ZERO, ZERO)


def is_const(e: Entry, value: int | None = None) -> TypeGuard[Expr]:
    """Return whether an entry is a constant: this one, if a value is given."""
    return isinstance(e, Expr) and e.op == "const" and (value is None or e.data == value)


def number(e: Entry) -> Expr:
    """Return an entry as a finite number; a truth value becomes 0 or 1. Raise NotRead if it may be minus infinity."""
    if isinstance(e, bool):
        return UNIT if e else ZERO
    if isinstance(e, Masked):
        raise NotRead("minus infinity stands where a number is needed")
    return e


def plus(a: Entry, b: Entry) -> Entry:
    """Return a + b."""
    if isinstance(a, Masked) or isinstance(b, Masked):
        (keep_a, x), (keep_b, y) = parts(a), parts(b)
        return Masked(number(times(keep_a, keep_b)), number(plus(x, y)))
    a, b = number(a), number(b)
    if is_const(a) and is_const(b):
        return lift(a.data + b.data)
    return b if is_const(a, 0) else a if is_const(b, 0) else Expr("add", (a, b))


def parts(e: Entry) -> tuple[Expr, Expr]:
    """Return (keep, value) of an entry; `keep` is 1 for a finite one."""
    return (e.keep, e.value) if isinstance(e, Masked) else (UNIT, number(e))


def minus(a: Entry, b: Entry) -> Entry:
    """Return a - b; b must be finite."""
    return plus(a, times(lift(-1), number(b)))


def times(a: Entry, b: Entry) -> Entry:
    """Return a * b. Raise NotRead for minus infinity times anything but a positive constant."""
    for masked, factor in ((a, b), (b, a)):
        if isinstance(masked, Masked):
            if not is_const(factor) or factor.data <= 0:
                raise NotRead("minus infinity times what is not a positive number")
            return Masked(masked.keep, number(times(masked.value, factor)))
    a, b = number(a), number(b)
    if is_const(a) and is_const(b):
        return lift(a.data * b.data)
    if is_const(a, 1) or is_const(b, 1):
        return b if is_const(a, 1) else a
    # 0 * b is undefined where b is, so only a factor that always has a value is dropped
    if is_const(a, 0) and plain(b) or is_const(b, 0) and plain(a):
        return ZERO
    return Expr("neg", (b,)) if is_const(a, -1) else Expr("neg", (a,)) if is_const(b, -1) else Expr("mul", (a, b))


def plain(e: Expr) -> bool:
    """Return whether an expression has a value wherever its symbols have one."""
    return e.op != "function" and not is_partial(e) and all(map(plain, e.args))


def over(a: Entry, b: Entry) -> Entry:
    """Return a / b."""
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
    """Return e if it is a size or a power of a size; else raise NotRead."""
    base = e.args[0] if e.op == "pow" and e.args[1].op == "const" else e
    if base.op == "symbol" and base.data[1] == "size":
        return e
    raise NotRead("minus infinity divided by what is not seen to be positive")


def raised(a: Entry, power: Fraction) -> Expr:
    """Return a ** power."""
    a = number(a)
    if power == 1:
        return a
    if is_const(a) and power.denominator == 1 and (a.data or power > 0):
        return lift(a.data ** int(power))
    return UNIT if power == 0 else Expr("pow", (a, lift(power)))


def exponential(a: Entry) -> Expr:
    """Return exp(a), which is 0 for minus infinity."""
    keep, value = parts(a)
    power = UNIT if is_const(value, 0) else exp(value)
    return number(times(keep, power))


def opposite(e: Entry) -> Entry:
    """Return the negation of a truth value."""
    if isinstance(e, bool):
        return not e
    operand = hidden(e)
    return truth(minus(UNIT, number(e))) if operand is None else operand


def hidden(e: Entry) -> Expr | None:
    """Return x if e is 1 - x, else None."""
    if isinstance(e, Expr) and e.op == "add" and is_const(e.args[0], 1) and e.args[1].op == "neg":
        return e.args[1].args[0]
    return None


def both(a: Entry, b: Entry) -> Entry:
    """Return the conjunction of two truth values."""
    return truth(times(number(a), number(b)))


def either(a: Entry, b: Entry) -> Entry:
    """Return the disjunction of two truth values."""
    return opposite(both(opposite(a), opposite(b)))


def truth(e: Entry) -> Entry:
    """Return a truth value, as a bool if it is the constant 0 or 1."""
    return bool(e.data) if is_const(e) and e.data in (0, 1) else e


def chosen(test: Entry, first: Entry, second: Entry) -> Entry:
    """Return the first entry where the test holds, and the second where it does not."""
    if isinstance(test, bool):
        return first if test else second
    if isinstance(first, Masked) or isinstance(second, Masked):
        (keep_first, x), (keep_second, y) = parts(first), parts(second)
        keep = plus(times(test, keep_first), times(opposite(test), keep_second))
        # A value that the mask hides is dropped only if it always exists.
        if is_const(keep_first, 0) and plain(x):
            return Masked(number(keep), y)
        if is_const(keep_second, 0) and plain(y):
            return Masked(number(keep), x)
        return Masked(number(keep), number(chosen(test, x, y)))
    return plus(times(test, number(first)), times(number(opposite(test)), number(second)))
