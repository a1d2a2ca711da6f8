"""Comparisons, and what is true or not: known, or a tree that is 0 or 1, or a condition under which the rest holds."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne

from ..core.expr import Expr, eye, lift, operands, show, walk
from .entries import Entry, Masked, both, chosen, either, is_const, minus, number, opposite, parts, truth
from .errors import NotRead, Sized
from .index_positions import shifted
from .integer_dtypes import is_bit
from .operation_rules import Call, Number, is_truth, rule, value
from .tensor_values import Value, entrywise
from .tracing import Reading


@rule("logical_not.default", "bitwise_not.default")
def not_(call: Call, a: Value) -> Value:
    only_of_truths(call)
    return a.map(lambda x: opposite(as_truth(call.reading, x)))


@rule("logical_and.default", "bitwise_and.Tensor")
def and_(call: Call, a: Value, b: Value) -> Value:
    only_of_truths(call)
    return entrywise(lambda x, y: both(as_truth(call.reading, x), as_truth(call.reading, y)), a, b)


@rule("logical_or.default", "bitwise_or.Tensor")
def or_(call: Call, a: Value, b: Value) -> Value:
    only_of_truths(call)
    return entrywise(lambda x, y: either(as_truth(call.reading, x), as_truth(call.reading, y)), a, b)


def only_of_truths(call: Call) -> None:
    """Of whole numbers these go bit by bit, which is not read."""
    if not is_truth(call):
        raise NotRead("whole numbers taken bit by bit")


def as_truth(reading: Reading, x: Entry) -> Entry:
    """Whether a number is not 0."""
    if isinstance(x, bool) or isinstance(x, Expr) and is_bit(reading, x):
        return truth(x)
    return test(reading, ne, x, lift(0))


def test(reading: Reading, how: Callable, a: Entry, b: Entry) -> Entry:
    """A comparison of two entries, as a truth value."""
    if isinstance(a, Masked) or isinstance(b, Masked):
        return of_infinities(reading, how, a, b)
    a, b = number(a), number(b)
    if is_const(a) and is_const(b):
        return how(a.data, b.data)
    for one, other, told in ((a, b, how), (b, a, lambda x, y: how(y, x))):
        if is_bit(reading, one) and is_const(other):
            no, yes = told(0, other.data), told(1, other.data)
            return yes if no == yes else one if yes else opposite(one)
    if moving := [n for e in (a, b) for n in positions(e)]:
        return of_places(how, a, b, moving)
    less = minus(a, b)
    if how in (gt, ge):
        return reading.decided("positive" if how is gt else "nonnegative", number(less))
    if how in (lt, le):
        return reading.decided("positive" if how is lt else "nonnegative", number(minus(b, a)))
    unlike = reading.decided("nonzero", number(less))
    return unlike if how is ne else not unlike


def of_infinities(reading: Reading, how: Callable, a: Entry, b: Entry) -> Entry:
    """Where one of the two is known to be minus infinity, and the other is or is not."""
    keep, held = parts(a)[0], parts(b)[0]
    for one in (a, b):
        reading.needs(one)
    infinite = -float("inf")
    if is_const(held, 0):
        return chosen(truth(keep), how(0, infinite), how(infinite, infinite))
    if is_const(keep, 0):
        return chosen(truth(held), how(infinite, 0), how(infinite, infinite))
    raise NotRead("a comparison of numbers that may be minus infinity")


def positions(e: Expr) -> list[Expr]:
    """The indices that stand in a tree as numbers, and not as places."""
    if e.op == "index":
        return [e]
    return [i for a in operands(e) for i in positions(a)]


def of_places(how: Callable, a: Expr, b: Expr, moving: list[Expr]) -> Entry:
    """Places along axes that run to a symbol: one is another, or is not."""
    alike = {i.data[1] for i in moving}
    (i, k), (j, l) = shifted(a), shifted(b)
    if i is not None and j is not None:
        if i == j:
            return how(k, l)
        if len(alike) == 1 and k == l and how in (eq, ne):
            same = eye(i.data[1])[i, j]
            return same if how is eq else opposite(same)
    raise Sized(f"places are compared, {show(a)} and {show(b)}", tuple(sorted({n.data[0] for s in alike for n in walk(s)})))


def comparison(name: str, how: Callable) -> None:
    @rule(f"{name}.Tensor", f"{name}.Scalar")
    def compare(call: Call, a: Value, b: Value | Number) -> Value:
        return entrywise(lambda x, y: test(call.reading, how, x, y), a, value(call, b))


for _name, _how in (("eq", eq), ("ne", ne), ("gt", gt), ("ge", ge), ("lt", lt), ("le", le)):
    comparison(_name, _how)


@rule("isinf.default", "isneginf.default")
def isinf(call: Call, a: Value) -> Value:
    def one(x: Entry) -> Entry:
        call.reading.needs(x)
        return opposite(truth(x.keep)) if isinstance(x, Masked) else False

    return a.map(one)


@rule("isnan.default")
def isnan(call: Call, a: Value) -> Value:
    """What has a value is a number; that it has one may be a condition."""

    def one(x: Entry) -> Entry:
        call.reading.needs(x)
        return False

    return a.map(one)
