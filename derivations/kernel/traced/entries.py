"""An entry of a tensor: a number as a tree, a truth value, or a number that may be minus infinity.

An unknown truth value is a tree that is 0 or 1. Minus infinity comes from masks: `Masked(keep, value)` is `value` where `keep` is 1, and minus
infinity where it is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeGuard

from ..core.constructors import exp
from ..core.expr import Expr, lift
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


def to_number(e: Entry) -> Expr:
    """Return an entry as a finite number; a truth value becomes 0 or 1. Raise NotRead if it may be minus infinity."""
    if isinstance(e, bool):
        return UNIT if e else ZERO
    if isinstance(e, Masked):
        raise NotRead("minus infinity stands where a number is needed")
    return e


def add_entries(a: Entry, b: Entry) -> Entry:
    """Return a + b."""
    if isinstance(a, Masked) or isinstance(b, Masked):
        (keep_a, x), (keep_b, y) = masked_parts(a), masked_parts(b)
        return Masked(to_number(multiply_entries(keep_a, keep_b)), to_number(add_entries(x, y)))
    a, b = to_number(a), to_number(b)
    if is_const(a) and is_const(b):
        return lift(a.data + b.data)
    return b if is_const(a, 0) else a if is_const(b, 0) else Expr("add", (a, b))


def masked_parts(e: Entry) -> tuple[Expr, Expr]:
    """Return (keep, value) of an entry; `keep` is 1 for a finite one."""
    return (e.keep, e.value) if isinstance(e, Masked) else (UNIT, to_number(e))


def subtract_entries(a: Entry, b: Entry) -> Entry:
    """Return a - b; b must be finite."""
    return add_entries(a, multiply_entries(lift(-1), to_number(b)))


def multiply_entries(a: Entry, b: Entry) -> Entry:
    """Return a * b. Raise NotRead for minus infinity times anything but a positive constant."""
    for masked, factor in ((a, b), (b, a)):
        if isinstance(masked, Masked):
            if not is_const(factor) or factor.data <= 0:
                raise NotRead("minus infinity times what is not a positive number")
            return Masked(masked.keep, to_number(multiply_entries(masked.value, factor)))
    a, b = to_number(a), to_number(b)
    if is_const(a) and is_const(b):
        return lift(a.data * b.data)
    if is_const(a, 1) or is_const(b, 1):
        return b if is_const(a, 1) else a
    # 0 * b is undefined where b is, so only a factor that always has a value is dropped
    if is_const(a, 0) and is_always_defined(b) or is_const(b, 0) and is_always_defined(a):
        return ZERO
    return Expr("neg", (b,)) if is_const(a, -1) else Expr("neg", (a,)) if is_const(b, -1) else Expr("mul", (a, b))


def is_always_defined(e: Expr) -> bool:
    """Return whether an expression has a value wherever its symbols have one."""
    return e.op != "function" and not is_partial(e) and all(map(is_always_defined, e.args))


def divide_entries(a: Entry, b: Entry) -> Entry:
    """Return a / b."""
    b = to_number(b)
    if isinstance(a, Masked):
        return multiply_entries(a, lift(1 / b.data)) if is_const(b) and b.data else Masked(a.keep, Expr("div", (a.value, positive_size(b))))
    a = to_number(a)
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


def raise_entry(a: Entry, power: Fraction) -> Expr:
    """Return a ** power."""
    a = to_number(a)
    if power == 1:
        return a
    if is_const(a) and power.denominator == 1 and (a.data or power > 0):
        return lift(a.data ** int(power))
    return UNIT if power == 0 else Expr("pow", (a, lift(power)))


def exponentiate(a: Entry) -> Expr:
    """Return exp(a), which is 0 for minus infinity."""
    keep, value = masked_parts(a)
    power = UNIT if is_const(value, 0) else exp(value)
    return to_number(multiply_entries(keep, power))


def logical_not(e: Entry) -> Entry:
    """Return the negation of a truth value."""
    if isinstance(e, bool):
        return not e
    if isinstance(e, Expr) and e.op == "where" and is_const(e.args[0], 1):
        return Expr("where", (UNIT, e.args[2], e.args[1]), (), "<" if e.data == "<=" else "<=")
    operand = negated_operand(e)
    return simplify_truth(subtract_entries(UNIT, to_number(e))) if operand is None else operand


def negated_operand(e: Entry) -> Expr | None:
    """Return x if e is 1 - x, else None."""
    if isinstance(e, Expr) and e.op == "add" and is_const(e.args[0], 1) and e.args[1].op == "neg":
        return e.args[1].args[0]
    return None


def logical_and(a: Entry, b: Entry) -> Entry:
    """Return the conjunction of two truth values."""
    return simplify_truth(multiply_entries(to_number(a), to_number(b)))


def logical_or(a: Entry, b: Entry) -> Entry:
    """Return the disjunction of two truth values."""
    return logical_not(logical_and(logical_not(a), logical_not(b)))


def simplify_truth(e: Entry) -> Entry:
    """Return a truth value, as a bool if it is the constant 0 or 1."""
    return bool(e.data) if is_const(e) and e.data in (0, 1) else e


def select_entry(test: Entry, first: Entry, second: Entry) -> Entry:
    """Return the first entry where the test holds, and the second where it does not."""
    if isinstance(test, bool):
        return first if test else second
    if isinstance(first, Masked) or isinstance(second, Masked):
        (keep_first, x), (keep_second, y) = masked_parts(first), masked_parts(second)
        keep = add_entries(multiply_entries(test, keep_first), multiply_entries(logical_not(test), keep_second))
        # A value that the mask hides is dropped only if it always exists.
        if is_const(keep_first, 0) and is_always_defined(x):
            return Masked(to_number(keep), y)
        if is_const(keep_second, 0) and is_always_defined(y):
            return Masked(to_number(keep), x)
        return Masked(to_number(keep), to_number(select_entry(test, x, y)))
    return add_entries(multiply_entries(test, to_number(first)), multiply_entries(to_number(logical_not(test)), to_number(second)))
