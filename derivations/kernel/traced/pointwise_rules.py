"""Rules for operations that work entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..core.expr import Expr, I, absolute, exp, function, lift, log
from .boolean_values import as_truth
from .entries import (
    Entry,
    Masked,
    chosen,
    either,
    exponential,
    is_const,
    minus,
    number,
    over,
    parts,
    plus,
    raised,
    times,
)
from .errors import NotRead
from .integer_dtypes import is_bit
from .operation_rules import Call, Number, is_truth, rule, value
from .tensor_values import Value, broadcast, entrywise

HALF = Fraction(1, 2)


@rule("add.Tensor", "add.Scalar")
def add(call: Call, a: Value, b: Value | Number, alpha: Number = 1) -> Value:
    if is_truth(call):
        raise NotRead("a sum of truth values that is one itself")
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


@rule("div.Tensor", "div.Scalar")
def div(call: Call, a: Value, b: Value | Number) -> Value:
    return entrywise(over, value(call, a), value(call, b))


def rule_on_numbers(*names: str) -> Callable:
    """Return a decorator that registers the rule of a function of one finite number."""

    def register(f: Callable[[Expr], Entry]) -> Callable:
        rule(*names)(lambda call, a: a.map(lambda x: f(number(x))))
        return f

    return register


rule_on_numbers("neg.default")(lambda x: times(lift(-1), x))
rule_on_numbers("log1p.default")(lambda x: log(lift(1) + x))
rule_on_numbers("expm1.default")(lambda x: exp(x) - 1)
rule_on_numbers("log2.default")(lambda x: log(x) / log(lift(2)))
rule_on_numbers("abs.default")(lambda x: lift(abs(x.data)) if is_const(x) else absolute(x))
rule_on_numbers("sqrt.default")(lambda x: raised(x, HALF))
rule_on_numbers("rsqrt.default")(lambda x: raised(x, -HALF))
rule_on_numbers("reciprocal.default")(lambda x: over(lift(1), x))
rule_on_numbers("sin.default")(lambda x: lift(0) if is_const(x, 0) else function("sin", x))
rule_on_numbers("cos.default")(lambda x: lift(1) if is_const(x, 0) else function("cos", x))
rule_on_numbers("tanh.default")(lambda x: function("tanh", x))
rule_on_numbers("cosh.default")(lambda x: (exp(x) + exp(-x)) / 2)
rule_on_numbers("sinh.default")(lambda x: (exp(x) - exp(-x)) / 2)
rule_on_numbers("relu.default")(lambda x: larger_of(x, lift(0)))
rule_on_numbers("silu.default")(lambda x: x / (1 + exp(-x)))


@rule("sigmoid.default")
def sigmoid(call: Call, a: Value) -> Value:
    return a.map(lambda x: over(lift(1), plus(lift(1), exponential(times(lift(-1), number(x))))))


@rule("softplus.default")
def softplus(call: Call, a: Value, beta: Number = 1, threshold: Number = 20) -> Value:
    """Return log(1 + exp(beta x)) / beta; beyond the threshold PyTorch returns x."""
    scale, limit = number(value(call, beta).at(())), number(value(call, threshold).at(()))

    def entry(x: Entry) -> Entry:
        scaled = number(times(scale, number(x)))
        if not call.reading.decided("nonnegative", number(minus(limit, scaled))):
            return x
        return over(log(1 + exp(scaled)), scale)

    return a.map(entry)


@rule("log.default")
def log_(call: Call, a: Value) -> Value:
    """Return the logarithm. That of a truth value is 0 where it is 1, and minus infinity where it is 0."""

    def entry(x: Entry) -> Entry:
        x = number(x)
        return Masked(x, lift(0)) if is_bit(call.reading, x) and not is_const(x, 1) else lift(0) if is_const(x, 1) else log(x)

    return a.map(entry)


@rule("exp.default")
def exp_(call: Call, a: Value) -> Value:
    return a.map(exponential)


@rule("exp2.default")
def exp2(call: Call, a: Value) -> Value:
    return a.map(lambda x: exponential(times(x, log(lift(2)))))


@rule("log_sigmoid_forward.default")
def log_sigmoid(call: Call, a: Value) -> list:
    return [a.map(lambda x: -log(1 + exp(-number(x)))), None]


@rule("pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar")
def power(call: Call, a: Value | Number, b: Value | Number) -> Value:
    def entry(x: Entry, exponent: Entry) -> Entry:
        x, exponent = number(x), number(exponent)
        if is_const(exponent):
            return raised(x, Fraction(exponent.data))
        return Expr("pow", (x, exponent))

    return entrywise(entry, value(call, a), value(call, b))


def larger_of(x: Expr, y: Expr) -> Expr:
    """Return the larger of two finite numbers."""
    return (x + y + absolute(x - y)) / 2


def smaller_of(x: Expr, y: Expr) -> Expr:
    """Return the smaller of two finite numbers."""
    return (x + y - absolute(x - y)) / 2


@rule("maximum.default", "fmax.default")
def maximum(call: Call, a: Value, b: Value) -> Value:
    return larger_or_smaller(call, a, b, larger_of)


@rule("minimum.default", "fmin.default")
def minimum(call: Call, a: Value, b: Value) -> Value:
    return larger_or_smaller(call, a, b, smaller_of)


def larger_or_smaller(call: Call, a: Value, b: Value, formula: Callable) -> Value:
    """Return the larger or the smaller of two tensors.

    The result of two numbers that are not constants is unknown. A proof may still go through: a softmax that subtracts it from the scores
    does not depend on it.
    """
    axes, (first, second) = broadcast([a, b])
    unknown = call.reading.unknown(axes)

    def at(p: tuple) -> Entry:
        x, y = first.at(p), second.at(p)
        for e, other in ((x, y), (y, x)):
            if isinstance(e, Masked) and is_const(e.keep, 0):
                call.reading.needs(e)
                return other if formula is larger_of else e
        if isinstance(x, Masked) or isinstance(y, Masked):
            if formula is smaller_of:
                raise NotRead("the smaller of what may be minus infinity")
            both = isinstance(x, Masked) and isinstance(y, Masked)
            if both and not call.reading.decided("nonzero", number(either(parts(x)[0], parts(y)[0]))):
                raise NotRead("the larger of two that are both minus infinity")
            return unknown.at(p)
        if is_const(x) and is_const(y):
            return lift(max(x.data, y.data) if formula is larger_of else min(x.data, y.data))
        return formula(number(x), number(y)) if is_const(x) or is_const(y) else unknown.at(p)

    return Value(axes, at)


@rule("clamp.default")
def clamp(call: Call, a: Value, min: Number = None, max: Number = None) -> Value:
    clamped = a if min is None else clamp_min(call, a, min)
    return clamped if max is None else clamp_max(call, clamped, max)


@rule("clamp_min.default")
def clamp_min(call: Call, a: Value, least: Number) -> Value:
    return entrywise(lambda x, y: larger_of(number(x), number(y)), a, value(call, least))


@rule("clamp_max.default")
def clamp_max(call: Call, a: Value, most: Number) -> Value:
    return entrywise(lambda x, y: smaller_of(number(x), number(y)), a, value(call, most))


@rule("where.self")
def where(call: Call, test: Value, a: Value | Number, b: Value | Number) -> Value:
    return entrywise(chosen, test, value(call, a), value(call, b))


@rule("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(call: Call, a: Value, test: Value, filler: Value | Number) -> Value:
    filler = value(call, filler)
    return entrywise(chosen, test, filler.map(lambda x: as_truth(call.reading, x)) if is_truth(call) else filler, a)


@rule("nan_to_num.default")
def nan_to_num(call: Call, a: Value, nan: Number = None, posinf: Number = None, neginf: Number = None) -> Value:
    return a.map(number)


@rule("special_entr.default")
def entropy(call: Call, a: Value) -> Value:
    return a.map(lambda x: lift(0) if is_const(x, 0) else times(lift(-1), times(number(x), log(number(x)))))


@rule("complex.default")
def complex_(call: Call, a: Value, b: Value) -> Value:
    return entrywise(lambda x, y: plus(x, times(I, y)), a, b)
