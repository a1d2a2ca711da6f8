"""Rules for operations that work entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..core.constructors import I, absolute, exp, function, log
from ..core.expr import Expr, lift
from .boolean_values import as_truth
from .entries import (
    Entry,
    Masked,
    add_entries,
    divide_entries,
    exponentiate,
    is_const,
    logical_or,
    masked_parts,
    multiply_entries,
    raise_entry,
    select_entry,
    subtract_entries,
    to_number,
)
from .errors import NotRead
from .integer_dtypes import is_zero_or_one
from .operation_rules import Call, Number, as_value, has_boolean_result, rule
from .tensor_values import TensorValue, apply_entrywise, broadcast_values

HALF = Fraction(1, 2)


@rule("add.Tensor", "add.Scalar")
def add(call: Call, a: TensorValue, b: TensorValue | Number, alpha: Number = 1) -> TensorValue:
    if has_boolean_result(call):
        raise NotRead("a sum of truth values that is one itself")
    scale = to_number(as_value(call, alpha).at(()))
    return apply_entrywise(lambda x, y: add_entries(x, multiply_entries(scale, y)), a, as_value(call, b))


@rule("sub.Tensor", "sub.Scalar")
def sub(call: Call, a: TensorValue, b: TensorValue | Number, alpha: Number = 1) -> TensorValue:
    scale = to_number(as_value(call, alpha).at(()))
    return apply_entrywise(lambda x, y: subtract_entries(x, multiply_entries(scale, y)), as_value(call, a), as_value(call, b))


@rule("rsub.Scalar", "rsub.Tensor")
def rsub(call: Call, a: TensorValue, b: TensorValue | Number, alpha: Number = 1) -> TensorValue:
    scale = to_number(as_value(call, alpha).at(()))
    return apply_entrywise(lambda x, y: subtract_entries(y, multiply_entries(scale, x)), a, as_value(call, b))


@rule("mul.Tensor", "mul.Scalar")
def mul(call: Call, a: TensorValue, b: TensorValue | Number) -> TensorValue:
    return apply_entrywise(multiply_entries, as_value(call, a), as_value(call, b))


@rule("div.Tensor", "div.Scalar")
def div(call: Call, a: TensorValue, b: TensorValue | Number) -> TensorValue:
    return apply_entrywise(divide_entries, as_value(call, a), as_value(call, b))


def rule_on_numbers(*names: str) -> Callable:
    """Return a decorator that registers the rule of a function of one finite number."""

    def register(f: Callable[[Expr], Entry]) -> Callable:
        rule(*names)(lambda call, a: a.map(lambda x: f(to_number(x))))
        return f

    return register


rule_on_numbers("neg.default")(lambda x: multiply_entries(lift(-1), x))
rule_on_numbers("log1p.default")(lambda x: log(lift(1) + x))
rule_on_numbers("expm1.default")(lambda x: exp(x) - 1)
rule_on_numbers("log2.default")(lambda x: log(x) / log(lift(2)))
rule_on_numbers("abs.default")(lambda x: lift(abs(x.data)) if is_const(x) else absolute(x))
rule_on_numbers("sqrt.default")(lambda x: raise_entry(x, HALF))
rule_on_numbers("rsqrt.default")(lambda x: raise_entry(x, -HALF))
rule_on_numbers("reciprocal.default")(lambda x: divide_entries(lift(1), x))
rule_on_numbers("sin.default")(lambda x: lift(0) if is_const(x, 0) else function("sin", x))
rule_on_numbers("cos.default")(lambda x: lift(1) if is_const(x, 0) else function("cos", x))
rule_on_numbers("tanh.default")(lambda x: function("tanh", x))
rule_on_numbers("cosh.default")(lambda x: (exp(x) + exp(-x)) / 2)
rule_on_numbers("sinh.default")(lambda x: (exp(x) - exp(-x)) / 2)
rule_on_numbers("relu.default")(lambda x: larger_of(x, lift(0)))
rule_on_numbers("silu.default")(lambda x: x / (1 + exp(-x)))


@rule("sigmoid.default")
def sigmoid(call: Call, a: TensorValue) -> TensorValue:
    return a.map(lambda x: divide_entries(lift(1), add_entries(lift(1), exponentiate(multiply_entries(lift(-1), to_number(x))))))


@rule("softplus.default")
def softplus(call: Call, a: TensorValue, beta: Number = 1, threshold: Number = 20) -> TensorValue:
    """Return log(1 + exp(beta x)) / beta; beyond the threshold PyTorch returns x."""
    scale, limit = to_number(as_value(call, beta).at(())), to_number(as_value(call, threshold).at(()))

    def entry(x: Entry) -> Entry:
        scaled = to_number(multiply_entries(scale, to_number(x)))
        if not call.reading.decide_or_assume("nonnegative", to_number(subtract_entries(limit, scaled))):
            return x
        return divide_entries(log(1 + exp(scaled)), scale)

    return a.map(entry)


@rule("log.default")
def log_(call: Call, a: TensorValue) -> TensorValue:
    """Return the logarithm. That of a truth value is 0 where it is 1, and minus infinity where it is 0."""

    def entry(x: Entry) -> Entry:
        x = to_number(x)
        return Masked(x, lift(0)) if is_zero_or_one(call.reading, x) and not is_const(x, 1) else lift(0) if is_const(x, 1) else log(x)

    return a.map(entry)


@rule("xlogy.Tensor", "xlogy.Scalar_Self", "xlogy.Scalar_Other")
def xlogy(call: Call, a: TensorValue | Number, b: TensorValue | Number) -> TensorValue:
    """Return a log(b). That of 0 is 0 even if b is 0; unless a is a constant, b must be positive here."""

    def entry(x: Entry, y: Entry) -> Entry:
        return x if is_const(x, 0) else multiply_entries(x, log(to_number(y)))

    return apply_entrywise(entry, as_value(call, a), as_value(call, b))


@rule("logaddexp.default")
def logaddexp(call: Call, a: TensorValue, b: TensorValue) -> TensorValue:
    return apply_entrywise(lambda x, y: log(to_number(add_entries(exponentiate(x), exponentiate(y)))), a, b)


@rule("exp.default")
def exp_(call: Call, a: TensorValue) -> TensorValue:
    return a.map(exponentiate)


@rule("exp2.default")
def exp2(call: Call, a: TensorValue) -> TensorValue:
    return a.map(lambda x: exponentiate(multiply_entries(x, log(lift(2)))))


@rule("log_sigmoid_forward.default")
def log_sigmoid(call: Call, a: TensorValue) -> list:
    return [a.map(lambda x: -log(1 + exp(-to_number(x)))), None]


@rule("pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar")
def power(call: Call, a: TensorValue | Number, b: TensorValue | Number) -> TensorValue:
    def entry(x: Entry, exponent: Entry) -> Entry:
        x, exponent = to_number(x), to_number(exponent)
        if is_const(exponent):
            return raise_entry(x, Fraction(exponent.data))
        return Expr("pow", (x, exponent))

    return apply_entrywise(entry, as_value(call, a), as_value(call, b))


def larger_of(x: Expr, y: Expr) -> Expr:
    """Return the larger of two finite numbers."""
    return (x + y + absolute(x - y)) / 2


def smaller_of(x: Expr, y: Expr) -> Expr:
    """Return the smaller of two finite numbers."""
    return (x + y - absolute(x - y)) / 2


@rule("maximum.default", "fmax.default")
def maximum(call: Call, a: TensorValue, b: TensorValue) -> TensorValue:
    return larger_or_smaller(call, a, b, larger_of)


@rule("minimum.default", "fmin.default")
def minimum(call: Call, a: TensorValue, b: TensorValue) -> TensorValue:
    return larger_or_smaller(call, a, b, smaller_of)


def larger_or_smaller(call: Call, a: TensorValue, b: TensorValue, formula: Callable) -> TensorValue:
    """Return the larger or the smaller of two tensors.

    The result of two numbers that are not constants is unknown. A proof may still go through: a softmax that subtracts it from the scores
    does not depend on it.
    """
    axes, (first, second) = broadcast_values([a, b])
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
            if both and not call.reading.decide_or_assume("nonzero", to_number(logical_or(masked_parts(x)[0], masked_parts(y)[0]))):
                raise NotRead("the larger of two that are both minus infinity")
            return unknown.at(p)
        if is_const(x) and is_const(y):
            return lift(max(x.data, y.data) if formula is larger_of else min(x.data, y.data))
        return formula(to_number(x), to_number(y)) if is_const(x) or is_const(y) else unknown.at(p)

    return TensorValue(axes, at)


@rule("clamp.default")
def clamp(call: Call, a: TensorValue, min: Number = None, max: Number = None) -> TensorValue:
    clamped = a if min is None else clamp_min(call, a, min)
    return clamped if max is None else clamp_max(call, clamped, max)


@rule("clamp_min.default")
def clamp_min(call: Call, a: TensorValue, least: Number) -> TensorValue:
    return apply_entrywise(lambda x, y: larger_of(to_number(x), to_number(y)), a, as_value(call, least))


@rule("clamp_max.default")
def clamp_max(call: Call, a: TensorValue, most: Number) -> TensorValue:
    return apply_entrywise(lambda x, y: smaller_of(to_number(x), to_number(y)), a, as_value(call, most))


@rule("where.self")
def where(call: Call, test: TensorValue, a: TensorValue | Number, b: TensorValue | Number) -> TensorValue:
    return apply_entrywise(select_entry, test, as_value(call, a), as_value(call, b))


@rule("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(call: Call, a: TensorValue, test: TensorValue, filler: TensorValue | Number) -> TensorValue:
    filler = as_value(call, filler)
    return apply_entrywise(select_entry, test, filler.map(lambda x: as_truth(call.reading, x)) if has_boolean_result(call) else filler, a)


@rule("nan_to_num.default")
def nan_to_num(call: Call, a: TensorValue, nan: Number = None, posinf: Number = None, neginf: Number = None) -> TensorValue:
    return a.map(to_number)


@rule("special_entr.default")
def entropy(call: Call, a: TensorValue) -> TensorValue:
    return a.map(lambda x: lift(0) if is_const(x, 0) else multiply_entries(lift(-1), multiply_entries(to_number(x), log(to_number(x)))))


@rule("complex.default")
def complex_(call: Call, a: TensorValue, b: TensorValue) -> TensorValue:
    return apply_entrywise(lambda x, y: add_entries(x, multiply_entries(I, y)), a, b)
