"""Operations that go entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from ..core.expr import Expr, I, absolute, exp, eye, function, lift, log, show, walk
from .entries import (
    Entry,
    Masked,
    both,
    chosen,
    either,
    exponential,
    is_const,
    minus,
    number,
    opposite,
    over,
    parts,
    plus,
    raised,
    times,
    truth,
)
from .errors import NotRead, Sized
from .rules import Call, rule
from .tracing import Reading
from .values import Value, broadcast, entrywise, scalar

HALF = Fraction(1, 2)
Number = Any


def value(call: Call, x: Value | Number) -> Value:
    """A tensor, or one of Python's numbers as one."""
    if isinstance(x, Value):
        return x
    return scalar(x if isinstance(x, bool) else call.reading.entry(x) if isinstance(x, float) else call.reading.sizes.tree(x))


@rule("add.Tensor", "add.Scalar")
def add(call: Call, a: Value, b: Value | Number, alpha: Number = 1) -> Value:
    scale = number(value(call, alpha).at(()))
    return entrywise(lambda x, y: plus(x, times(scale, y)), a, value(call, b))


@rule("sub.Tensor", "sub.Scalar")
def sub(call: Call, a: Value, b: Value | Number, alpha: Number = 1) -> Value:
    scale = number(value(call, alpha).at(()))
    return entrywise(lambda x, y: minus(x, times(scale, y)), value(call, a), value(call, b))


@rule("rsub.Scalar", "rsub.Tensor")
def rsub(call: Call, a: Value, b: Value | Number, alpha: Number = 1) -> Value:
    scale = number(value(call, alpha).at(()))
    return entrywise(lambda x, y: minus(y, times(scale, x)), a, value(call, b))


@rule("mul.Tensor", "mul.Scalar")
def mul(call: Call, a: Value, b: Value | Number) -> Value:
    return entrywise(times, value(call, a), value(call, b))


@rule("div.Tensor", "div.Scalar", "true_divide.Tensor")
def div(call: Call, a: Value, b: Value | Number) -> Value:
    return entrywise(over, value(call, a), value(call, b))


def on_numbers(*names: str) -> Callable:
    """A function of one finite number."""

    def register(f: Callable[[Expr], Entry]) -> Callable:
        rule(*names)(lambda call, a: a.map(lambda x: f(number(x))))
        return f

    return register


on_numbers("neg.default")(lambda x: times(lift(-1), x))
on_numbers("log1p.default")(lambda x: log(lift(1) + x))
on_numbers("expm1.default")(lambda x: exp(x) - 1)
on_numbers("log2.default")(lambda x: log(x) / log(lift(2)))
on_numbers("abs.default")(lambda x: lift(abs(x.data)) if is_const(x) else absolute(x))
on_numbers("sqrt.default")(lambda x: raised(x, HALF))
on_numbers("rsqrt.default")(lambda x: raised(x, -HALF))
on_numbers("reciprocal.default")(lambda x: over(lift(1), x))
on_numbers("square.default")(lambda x: raised(x, Fraction(2)))
on_numbers("sin.default")(lambda x: lift(0) if is_const(x, 0) else function("sin", x))
on_numbers("cos.default")(lambda x: lift(1) if is_const(x, 0) else function("cos", x))
on_numbers("tanh.default")(lambda x: function("tanh", x))
on_numbers("cosh.default")(lambda x: (exp(x) + exp(-x)) / 2)
on_numbers("sinh.default")(lambda x: (exp(x) - exp(-x)) / 2)
on_numbers("relu.default")(lambda x: larger_of(x, lift(0)))
on_numbers("silu.default")(lambda x: x / (1 + exp(-x)))
on_numbers("softplus.default")(lambda x: log(1 + exp(x)))
on_numbers("log_sigmoid_forward.default")(lambda x: -log(1 + exp(-x)))


@rule("sigmoid.default")
def sigmoid(call: Call, a: Value) -> Value:
    return a.map(lambda x: over(lift(1), plus(lift(1), exponential(times(lift(-1), number(x))))))


@rule("log.default")
def log_(call: Call, a: Value) -> Value:
    """Of what is 0 or 1 it is 0 where that is 1, and else minus infinity."""

    def one(x: Entry) -> Entry:
        x = number(x)
        return Masked(x, lift(0)) if is_bit(call.reading, x) and not is_const(x, 1) else lift(0) if is_const(x, 1) else log(x)

    return a.map(one)


@rule("exp.default")
def exp_(call: Call, a: Value) -> Value:
    return a.map(exponential)


@rule("exp2.default")
def exp2(call: Call, a: Value) -> Value:
    return a.map(lambda x: exponential(times(x, log(lift(2)))))


@rule("pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar")
def power(call: Call, a: Value | Number, b: Value | Number) -> Value:
    def one(x: Entry, p: Entry) -> Entry:
        x, p = number(x), number(p)
        if is_const(p):
            return raised(x, Fraction(p.data))
        return Expr("pow", (x, p))

    return entrywise(one, value(call, a), value(call, b))


def larger_of(x: Expr, y: Expr) -> Expr:
    return (x + y + absolute(x - y)) / 2


def smaller_of(x: Expr, y: Expr) -> Expr:
    return (x + y - absolute(x - y)) / 2


@rule("maximum.default", "fmax.default")
def maximum(call: Call, a: Value, b: Value) -> Value:
    return extreme(call, a, b, larger_of)


@rule("minimum.default", "fmin.default")
def minimum(call: Call, a: Value, b: Value) -> Value:
    return extreme(call, a, b, smaller_of)


def extreme(call: Call, a: Value, b: Value, told: Callable) -> Value:
    """Of two numbers that both move, one of which nothing is said: where it is only moved by, and out again, nothing need be."""
    axes, (one, other) = broadcast([a, b])
    unknown = call.reading.unknown(axes)

    def at(p: tuple) -> Entry:
        x, y = one.at(p), other.at(p)
        if isinstance(x, Masked) and is_const(x.keep, 0):
            return y
        if isinstance(y, Masked) and is_const(y.keep, 0):
            return x
        if isinstance(x, Masked) or isinstance(y, Masked):
            return unknown.at(p)
        if is_const(x) and is_const(y):
            return lift(max(x.data, y.data) if told is larger_of else min(x.data, y.data))
        return told(number(x), number(y)) if is_const(x) or is_const(y) else unknown.at(p)

    return Value(axes, at)


@rule("clamp.default", "clamp_min.default", "clamp_max.default")
def clamp(call: Call, a: Value, min: Number = None, max: Number = None) -> Value:
    low = None if min is None else number(value(call, min).at(()))
    high = None if max is None else number(value(call, max).at(()))

    def one(x: Entry) -> Entry:
        x = number(x)
        x = x if low is None else larger_of(x, low)
        return x if high is None else smaller_of(x, high)

    return a.map(one)


@rule("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(call: Call, test: Value, a: Value | Number, b: Value | Number) -> Value:
    return entrywise(chosen, test, value(call, a), value(call, b))


@rule("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(call: Call, a: Value, test: Value, filler: Value | Number) -> Value:
    return entrywise(chosen, test, value(call, filler), a)


@rule("logical_not.default", "bitwise_not.default")
def not_(call: Call, a: Value) -> Value:
    return a.map(lambda x: opposite(as_truth(call.reading, x)))


@rule("logical_and.default", "bitwise_and.Tensor", "__and__.Tensor")
def and_(call: Call, a: Value, b: Value) -> Value:
    return entrywise(lambda x, y: both(as_truth(call.reading, x), as_truth(call.reading, y)), a, b)


@rule("logical_or.default", "bitwise_or.Tensor", "__or__.Tensor")
def or_(call: Call, a: Value, b: Value) -> Value:
    return entrywise(lambda x, y: either(as_truth(call.reading, x), as_truth(call.reading, y)), a, b)


def as_truth(reading: Reading, x: Entry) -> Entry:
    """Whether a number is not 0."""
    if isinstance(x, bool) or isinstance(x, Expr) and is_bit(reading, x):
        return truth(x)
    return test(reading, ne, x, lift(0))


def is_bit(reading: Reading, e: Expr) -> bool:
    """Is it 0 or 1 for a reason that can be seen?"""
    if e.op == "const":
        return e.data in (0, 1)
    if e.op == "entry":
        return e.args[0].op == "eye" or e.args[0].op == "symbol" and e.args[0].data[0] in reading.facts().bits
    if e.op == "add" and is_const(e.args[0], 1) and e.args[1].op == "neg":
        return is_bit(reading, e.args[1].args[0])
    return e.op == "symbol" and e.data[0] in reading.facts().bits or e.op == "mul" and all(is_bit(reading, a) for a in e.args)


def test(reading: Reading, how: Callable, a: Entry, b: Entry) -> Entry:
    """A comparison of two entries, as a truth value."""
    if isinstance(a, Masked) or isinstance(b, Masked):
        return of_infinities(how, a, b)
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


def of_infinities(how: Callable, a: Entry, b: Entry) -> Entry:
    """Where one of the two is known to be minus infinity, and the other is or is not."""
    (keep, x), (held, y) = parts(a), parts(b)
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
    return [i for a in (e.args[:1] if e.op == "entry" else e.args) for i in positions(a)]


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


def shifted(e: Expr) -> tuple[Expr | None, Fraction]:
    """(i, k) of i + k."""
    if e.op == "index":
        return e, Fraction(0)
    if e.op == "add" and e.args[0].op == "index" and e.args[1].op == "const":
        return e.args[0], e.args[1].data
    return None, Fraction(0)


def comparison(name: str, how: Callable) -> None:
    @rule(f"{name}.Tensor", f"{name}.Scalar")
    def compare(call: Call, a: Value, b: Value | Number) -> Value:
        return entrywise(lambda x, y: test(call.reading, how, x, y), a, value(call, b))


for _name, _how in (("eq", eq), ("ne", ne), ("gt", gt), ("ge", ge), ("lt", lt), ("le", le)):
    comparison(_name, _how)


@rule("isinf.default", "isneginf.default")
def isinf(call: Call, a: Value) -> Value:
    return a.map(lambda x: opposite(truth(x.keep)) if isinstance(x, Masked) else False)


@rule("isfinite.default")
def isfinite(call: Call, a: Value) -> Value:
    return a.map(lambda x: truth(x.keep) if isinstance(x, Masked) else True)


@rule("isnan.default")
def isnan(call: Call, a: Value) -> Value:
    """What is read has a value."""
    return a.map(lambda x: False)


@rule("nan_to_num.default")
def nan_to_num(call: Call, a: Value, nan: Number = None, posinf: Number = None, neginf: Number = None) -> Value:
    return a.map(number)


@rule("special_entr.default")
def entropy(call: Call, a: Value) -> Value:
    return a.map(lambda x: lift(0) if is_const(x, 0) else times(lift(-1), times(number(x), log(number(x)))))


@rule("complex.default")
def complex_(call: Call, a: Value, b: Value) -> Value:
    return entrywise(lambda x, y: plus(x, times(I, y)), a, b)
