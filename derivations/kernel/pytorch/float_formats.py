"""Rounding bounds for fp32, fp16 and bf16: how far a computation in such a format may be from the claim's expression.

The expression is evaluated in fp64, with a bound for every value on the error of a computation in the format. Each operation is assumed to
follow the standard model, fl(a op b) = (a op b)(1 + delta) with |delta| at most u, or to be off by the smallest positive number if it
underflows. The rules are those of the page associativity/tolerance, and name its claims. They hold for any order of summation, and for sums in
a wider format. No tolerance is chosen. One more assumption: exp, log and roots err by at most one unit in the last place, which is 2u;
tests/associativity/test_tolerance.py measures exp at every number of fp16 and bf16. The errors of fp64 are 2^-29 of these bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

import torch
from torch import Tensor

from ..core.constructors import sqrt
from ..core.expr import Expr
from ..core.operators import TRANSPARENT
from . import bounded_operations
from .bounded_operations import largest
from .error_bounds import BoundedValue
from .errors import CannotDecide
from .evaluation import RULES as IN_FP64
from .evaluation import align_scalars, condition_holds, keep_where
from .evaluation_cache import cache_key
from .trial import Trial, take_entry


class Format(NamedTuple):
    """A floating-point format."""

    name: str
    dtype: torch.dtype

    @property
    def u(self) -> float:
        """The largest relative error of one rounding."""
        return torch.finfo(self.dtype).eps / 2

    @property
    def tiny(self) -> float:
        """The smallest positive number, a bound on the error of an underflow."""
        return torch.finfo(self.dtype).smallest_normal * torch.finfo(self.dtype).eps

    @property
    def largest(self) -> float:
        """The largest finite number."""
        return torch.finfo(self.dtype).max

    def gamma(self, n: int) -> float:
        """Return a bound on the relative error of n roundings."""
        return n * self.u / (1 - n * self.u) if n * self.u < 1 else inf


FORMATS = (Format("fp32", torch.float32), Format("fp16", torch.float16), Format("bf16", torch.bfloat16))


FLUSHED = torch.finfo(torch.float32).smallest_normal  # exponentials are computed in fp32, and a library may return 0 for smaller ones
Rule = Callable[[Expr, Trial, Format, dict, int], BoundedValue]


def evaluate_in_format(e: Expr, t: Trial, f: Format, axes: dict | None = None, deep: int | None = None) -> BoundedValue:
    """Evaluate e in fp64 at all points, with a bound on the error of a computation in the format; infinite where it may overflow."""
    if axes is None:
        t.remembered.refresh(t)
    axes = t.axes if axes is None else axes
    deep = 2 + len(t.axes) if deep is None else deep
    rule = RULES.get(e.op)
    if rule is None:
        raise CannotDecide(f"no rounding bound is derived for '{e.op}'")
    key = (f.name, *cache_key(e, axes, deep))
    if key in t.remembered.found:
        return t.remembered.found[key]
    x = rule(e, t, f, axes, deep)
    if x.value.is_complex():
        raise CannotDecide("no rounding bound is derived for complex numbers")
    x = BoundedValue(x.value, torch.where(x.value.abs() + x.error <= f.largest, x.error, inf))  # also where either is NaN
    t.remembered.keep(key, x)
    return x


def parts(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> list[BoundedValue]:
    """Return the values of the arguments of e, with their bounds."""
    return align_scalars([evaluate_in_format(a, t, f, axes, deep) for a in e.args], e)


def operation(v: Tensor, e: Tensor, f: Format, roundings: int = 1, underflows: bool = True) -> BoundedValue:
    """Return the result v of an operation, with a bound: the propagated errors e of its arguments, and its own roundings.

    For the number of roundings and gamma, see associativity/rounding#error-grows and associativity/tolerance#error-below.
    """
    return BoundedValue(v, e + f.gamma(roundings) * (v.abs() + e) + underflows * f.tiny * ((v != 0) | (e > 0)).double())


def rearrange(rule: Callable[[Tensor], Tensor]) -> Rule:
    """Return the rule of an operation without rounding: it rearranges the values and their bounds."""

    def run(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
        x = evaluate_in_format(e.args[0], t, f, axes, deep)
        return BoundedValue(rule(x.value), x.error) if rule in (torch.neg, torch.abs) else BoundedValue(rule(x.value), rule(x.error))

    return run


def constant(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    """Evaluate a constant. If the format cannot represent it exactly, the error bound covers its rounding."""
    x = IN_FP64[e.op](e, t, axes, deep)
    same = x.value.to(f.dtype).to(x.value.dtype) == x.value
    return BoundedValue(x.value, torch.where(same & (x.error == 0), 0.0, f.u * x.value.abs() + f.tiny * (x.value != 0).double()))


def symbol(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    if e.data[1] == "random":
        raise CannotDecide("no rounding bound is derived for a random number")
    return IN_FP64["symbol"](e, t, axes, deep) if e.data[1] == "real" else constant(e, t, f, axes, deep)


def add(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    a, b = parts(e, t, f, axes, deep)
    exact_zero = ((a.value == 0) & (a.error == 0)) | ((b.value == 0) & (b.error == 0))
    result = operation(a.value + b.value, a.error + b.error, f, underflows=False)
    return BoundedValue(result.value, torch.where(exact_zero, a.error + b.error, result.error))


def multiply(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    a, b = parts(e, t, f, axes, deep)
    return operation(a.value * b.value, a.value.abs() * b.error + a.error * b.value.abs() + a.error * b.error, f)


def divide(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    a, b = parts(e, t, f, axes, deep)
    v, smallest_divisor = a.value / b.value, b.value.abs() - b.error
    return operation(v, torch.where(smallest_divisor > 0, (a.error + v.abs() * b.error) / smallest_divisor, inf), f)


def power(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    a, b = parts(e, t, f, axes, deep)
    exponent = b.value.flatten()[0]
    n = abs(int(exponent)) if (b.value == exponent).all() and (b.error == 0).all() and exponent == exponent.round() else None
    if n == 1 and exponent > 0:
        return a
    v = a.value**b.value
    if n is not None and exponent >= 0:
        return operation(v, (a.value.abs() + a.error) ** n - a.value.abs() ** n, f, n)
    log_error = -torch.log1p(-a.error / a.value.abs())
    e_ = v.abs() * torch.expm1(b.value.abs() * log_error + a.value.abs().log().abs() * b.error + b.error * log_error)
    certain = (a.value.abs() > a.error) & ((a.value > 0) if n is None else torch.tensor(True))
    zero_base = (a.value == 0) & (a.error == 0) & (b.value > b.error)
    return operation(v, torch.where(zero_base, 0.0, torch.where(certain, e_, inf)), f, 2 if n is None else n + 1)


def function(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    if e.data not in FUNCTIONS:
        raise CannotDecide(f"no rounding bound is derived for '{e.data}'")
    return FUNCTIONS[e.data](e, t, f, axes, deep)


def nonexpansive(name: str) -> Rule:
    """Return the rule of a function whose derivative is at most 1 in absolute value."""

    def run(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
        x = evaluate_in_format(e.args[0], t, f, axes, deep)
        return operation(getattr(torch, name)(x.value), x.error, f, 2)

    return run


def exponential(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    x = evaluate_in_format(e.args[0], t, f, axes, deep)
    v = x.value.exp()
    low, high = (y.reshape(-1, *(1,) * (v.dim() - 1)) for y in t.exponents)
    result = operation(v, v * torch.expm1(x.error + f.u * (high - low)), f, 2)
    return BoundedValue(v, result.error + (f.tiny + FLUSHED) * high.exp())  # a shifted exponential may underflow


def logarithm(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    x = evaluate_in_format(e.args[0], t, f, axes, deep)
    return operation(x.value.log(), torch.where(x.value > x.error, -torch.log1p(-x.error / x.value), inf), f, 2)


FUNCTIONS: dict[str, Rule] = {
    "exp": exponential,
    "log": logarithm,
    "abs": rearrange(torch.abs),
    "cos": nonexpansive("cos"),
    "sin": nonexpansive("sin"),
    "tanh": nonexpansive("tanh"),
    "norm": lambda e, t, f, axes, deep: evaluate_in_format(sqrt(e.args[0] @ e.args[0]), t, f, axes, deep),
    "largest": lambda e, t, f, axes, deep: largest(evaluate_in_format(e.args[0], t, f, axes, deep)),
}


def softmax(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    s = evaluate_in_format(e.args[0], t, f, axes, deep)
    m = s.value.shape[-1]
    v = torch.softmax(s.value, dim=-1)
    off = s.error.amax(-1, keepdim=True)
    spread = s.value.amax(-1, keepdim=True) - s.value.amin(-1, keepdim=True) + 2 * off  # a bound on that of the computed scores
    # associativity/tolerance#perturbed, #above and #below: in the numerator and in the denominator, each exponential is off by a factor of at
    # most exp(off + u spread) and two roundings; then come m - 1 additions, a division, and one rounding for underflows in the sum.
    factor = torch.exp(2 * (off + f.u * spread)) * (1 + f.gamma(m + 5)) - 1
    return BoundedValue(v, v * factor + 3 * f.tiny)


def matmul(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    """Evaluate a matrix product: associativity/rounding#error-of-a-sum, associativity/tolerance#scores, #output-above and #output-below."""
    a, b = (evaluate_in_format(x, t, f, axes, deep) for x in e.args)
    row, column = len(e.args[0].shape) == 1, len(e.args[1].shape) == 1
    a = BoundedValue(*(x.unsqueeze(-2) for x in a)) if row else a
    b = BoundedValue(*(x.unsqueeze(-1) for x in b)) if column else b
    n = a.value.shape[-1]
    magnitude = (a.value.abs() + a.error) @ (b.value.abs() + b.error)
    e_ = a.value.abs() @ b.error + a.error @ (b.value.abs() + b.error) + f.gamma(n) * magnitude + n * f.tiny * (magnitude > 0).double()
    result = BoundedValue(a.value @ b.value, torch.where(magnitude * (1 + f.gamma(n)) <= f.largest, e_, inf))
    result = BoundedValue(*(x.squeeze(-1) for x in result)) if column else result
    return BoundedValue(*(x.squeeze(-1 if column else -2) for x in result)) if row else result


def sum_(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    """Evaluate a sum: associativity/rounding#error-of-a-sum. Nested sums may be computed as one, as in a convolution."""
    x = evaluate_in_format(e.args[0], t, f, {**axes, e.data: deep}, deep + 1)
    n = t.size(e.data[1])
    if x.value.shape[deep] == 1:
        x = BoundedValue(*(y.expand(*(n if k == deep else size for k, size in enumerate(y.shape))) for y in x))
    magnitude, e_ = ((x.value.abs() + x.error).sum(deep, keepdim=True), x.error.sum(deep, keepdim=True))
    relative_error = f.gamma(count_terms(e, t) - 1)
    fits = magnitude * (1 + relative_error) <= f.largest
    return BoundedValue(x.value.sum(deep, keepdim=True), torch.where(fits, e_ + relative_error * magnitude, inf))


def count_terms(e: Expr, t: Trial) -> int:
    """Return the number of terms of a sum, with nested sums written out, also those in brackets."""
    if e.op in TRANSPARENT or e.op == "where":
        return count_terms(e.args[0], t)
    return t.size(e.data[1]) * count_terms(e.args[0], t) if e.op == "sum" else 1


def each(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    """Evaluate an array of entries; only the entries are rounded."""
    body = evaluate_in_format(e.args[0], t, f, {**axes, e.data: deep}, deep + 1)
    return bounded_operations.move_to_tensor_axis(body, deep, t.size(e.data[1]), t.leading)


def where(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    """Evaluate a scalar under a condition on positions, which is not rounded."""
    return keep_where(condition_holds(e, t, axes, deep), evaluate_in_format(e.args[0], t, f, axes, deep))


def entry(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    return take_entry(evaluate_in_format(e.args[0], t, f, axes, deep), e.args[1:], t, axes)


def array(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> BoundedValue:
    entries = [evaluate_in_format(x, t, f, axes, deep) for x in e.args]
    return BoundedValue(
        *(
            torch.stack(torch.broadcast_tensors(*ys), -1).reshape(*torch.broadcast_shapes(*(y.shape for y in ys)), *t.shape(e))
            for ys in zip(*entries)
        )
    )


RULES: dict[str, Rule] = {
    **dict.fromkeys(("const", "eye", "fill", "index"), constant),
    "symbol": symbol,
    **dict.fromkeys(TRANSPARENT, rearrange(lambda x: x)),
    "transpose": rearrange(lambda x: x.transpose(-2, -1)),
    "neg": rearrange(torch.neg),
    "add": add,
    "mul": multiply,
    "div": divide,
    "pow": power,
    "function": function,
    "softmax": softmax,
    "matmul": matmul,
    "sum": sum_,
    "each": each,
    "where": where,
    "entry": entry,
    "array": array,
}
UNSUPPORTED = ("imaginary", "inverse", "rank", "derivative", "rounded", "expectation", "variance")  # no bound is derived for these
