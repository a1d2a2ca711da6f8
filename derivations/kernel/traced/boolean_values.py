"""Rules for comparisons and truth values.

A truth value is known, or is a tree that is 0 or 1; otherwise the trace assumes it, and records it as a condition of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne

from ..core.constructors import eye, where
from ..core.expr import Expr, lift, operands, show, walk
from ..core.operators import is_position
from .entries import (
    Entry,
    Masked,
    is_const,
    logical_and,
    logical_not,
    logical_or,
    masked_parts,
    select_entry,
    simplify_truth,
    subtract_entries,
    to_number,
)
from .errors import NeedsNumericSize, NotRead
from .integer_dtypes import is_zero_or_one
from .operation_rules import Call, Number, as_value, has_boolean_result, rule
from .position_conversion import split_shift
from .tensor_values import TensorValue, apply_entrywise
from .tracing import Trace


@rule("logical_not.default", "bitwise_not.default")
def not_(call: Call, a: TensorValue) -> TensorValue:
    require_booleans(call)
    return a.map(lambda x: logical_not(as_truth(call.reading, x)))


@rule("logical_and.default", "bitwise_and.Tensor")
def and_(call: Call, a: TensorValue, b: TensorValue) -> TensorValue:
    require_booleans(call)
    return apply_entrywise(lambda x, y: logical_and(as_truth(call.reading, x), as_truth(call.reading, y)), a, b)


@rule("logical_or.default", "bitwise_or.Tensor")
def or_(call: Call, a: TensorValue, b: TensorValue) -> TensorValue:
    require_booleans(call)
    return apply_entrywise(lambda x, y: logical_or(as_truth(call.reading, x), as_truth(call.reading, y)), a, b)


def require_booleans(call: Call) -> None:
    """Raise NotRead if the result holds integers: these operations would then act bit by bit."""
    if not has_boolean_result(call):
        raise NotRead("whole numbers taken bit by bit")


def as_truth(reading: Trace, x: Entry) -> Entry:
    """Return the truth value of an entry: whether it is not 0."""
    if isinstance(x, bool) or isinstance(x, Expr) and is_zero_or_one(reading, x):
        return simplify_truth(x)
    return compare_entries(reading, ne, x, lift(0))


def compare_entries(reading: Trace, operator: Callable, a: Entry, b: Entry) -> Entry:
    """Compare two entries with an operator of Python; return a truth value. A comparison that is not decided becomes a condition."""
    if isinstance(a, Masked) or isinstance(b, Masked):
        return compare_infinities(reading, operator, a, b)
    a, b = to_number(a), to_number(b)
    if is_const(a) and is_const(b):
        return operator(a.data, b.data)
    for first, second, compare in ((a, b, operator), (b, a, lambda x, y: operator(y, x))):
        if is_zero_or_one(reading, first) and is_const(second):
            no, yes = compare(0, second.data), compare(1, second.data)
            return yes if no == yes else first if yes else logical_not(first)
    if moving := [n for e in (a, b) for n in indices_as_numbers(e)]:
        return compare_positions(operator, a, b, moving)
    difference = subtract_entries(a, b)
    if operator in (gt, ge):
        return reading.decide_or_assume("positive" if operator is gt else "nonnegative", to_number(difference))
    if operator in (lt, le):
        return reading.decide_or_assume("positive" if operator is lt else "nonnegative", to_number(subtract_entries(b, a)))
    unequal = reading.decide_or_assume("nonzero", to_number(difference))
    return unequal if operator is ne else not unequal


def compare_infinities(reading: Trace, operator: Callable, a: Entry, b: Entry) -> Entry:
    """Compare two entries of which one is known to be minus infinity; raise NotRead if neither is."""
    keep_a, keep_b = masked_parts(a)[0], masked_parts(b)[0]
    for entry in (a, b):
        reading.needs(entry)
    infinite = -float("inf")
    if is_const(keep_b, 0):
        return select_entry(simplify_truth(keep_a), operator(0, infinite), operator(infinite, infinite))
    if is_const(keep_a, 0):
        return select_entry(simplify_truth(keep_b), operator(infinite, 0), operator(infinite, infinite))
    raise NotRead("a comparison of numbers that may be minus infinity")


def indices_as_numbers(e: Expr) -> list[Expr]:
    """Return the indices that a tree uses as numbers, not as positions of entries."""
    if e.op == "index":
        return [e]
    return [i for a in operands(e) for i in indices_as_numbers(a)]


def compare_positions(operator: Callable, a: Expr, b: Expr, indices: list[Expr]) -> Entry:
    """Compare two index positions along a symbolic axis. For equality they must be one index up to a shift, or two without one."""
    sizes = {i.data[1] for i in indices}
    (i, k), (j, l) = split_shift(a), split_shift(b)
    if i is not None and j is not None:
        if i == j:
            return operator(k, l)
        if len(sizes) == 1 and k == l and operator in (eq, ne):
            same = eye(i.data[1])[i, j]
            return same if operator is eq else logical_not(same)
    if operator in (lt, le, gt, ge) and is_position(a) and is_position(b):
        return where(1, operator(a, b))
    raise NeedsNumericSize(f"places are compared, {show(a)} and {show(b)}", tuple(sorted({n.data[0] for s in sizes for n in walk(s)})))


def register_comparison(name: str, operator: Callable) -> None:
    """Register the rule of a comparison operator."""

    @rule(f"{name}.Tensor", f"{name}.Scalar")
    def compare(call: Call, a: TensorValue, b: TensorValue | Number) -> TensorValue:
        return apply_entrywise(lambda x, y: compare_entries(call.reading, operator, x, y), a, as_value(call, b))


for _name, _operator in (("eq", eq), ("ne", ne), ("gt", gt), ("ge", ge), ("lt", lt), ("le", le)):
    register_comparison(_name, _operator)


@rule("isinf.default", "isneginf.default")
def isinf(call: Call, a: TensorValue) -> TensorValue:
    def is_infinite(x: Entry) -> Entry:
        call.reading.needs(x)
        return logical_not(simplify_truth(x.keep)) if isinstance(x, Masked) else False

    return a.map(is_infinite)


@rule("isnan.default")
def isnan(call: Call, a: TensorValue) -> TensorValue:
    """Return false for every entry: an entry that has a value is a number. That it has one may become a condition."""

    def require_value(x: Entry) -> Entry:
        call.reading.needs(x)
        return False

    return a.map(require_value)
