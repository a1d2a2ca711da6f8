"""Arithmetic in fp64 with error bounds: each operation propagates the errors of its arguments and adds a bound on its own rounding.

A rounding has a relative error of at most u = 2^-53, and n roundings of at most gamma_n = nu / (1 - nu). The assumed error is at most 4u for
exp, log, powers, cos, sin and tanh, and 8u for complex arithmetic, which is what their libraries promise or more. With `exactly`, an operation
checks whether its result was rounded at all, and adds no bound if not; claims about rounding depend on that.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import NamedTuple

import torch
from torch import Tensor

from ..core.number_formats import NumberFormat
from .errors import CannotDecide, UndefinedValue

torch.set_num_threads(1)

U = 2.0**-53  # the largest relative error of one rounding in fp64
TINY = 2.0**-1000  # more than any loss by underflow
COVER = 1.125  # covers the roundings made in computing the bounds themselves


class BoundedValue(NamedTuple):
    """A tensor, and a bound on the error of each of its entries."""

    value: Tensor
    error: Tensor


def gamma(n: int) -> float:
    """Return a bound on the relative error of n roundings."""
    return n * U / (1 - n * U)


def rounding_error(v: Tensor) -> Tensor:
    """Return a bound on the error of one rounded operation with result v."""
    return v.abs() * unit(v)


def unit(v: Tensor) -> float:
    """Return the largest relative error of one operation."""
    return 8 * U if v.is_complex() else U


SMALLEST = torch.tensor(TINY, dtype=torch.float64)  # a Python float times booleans would be float32, in which TINY is 0


def underflow_error(where: Tensor) -> Tensor:
    """Return TINY where the mask is true, and 0 elsewhere."""
    return where * SMALLEST


@lru_cache(maxsize=4096)
@torch.inference_mode(False)  # cached tensors may be differentiated
def number(x: Fraction | int) -> BoundedValue:
    """Return a number, with no error if fp64 can represent it."""
    v = torch.tensor(float(x), dtype=torch.float64)
    return BoundedValue(v, torch.zeros_like(v) if Fraction(float(x)) == x else rounding_error(v))


def two_product_error(a: Tensor, b: Tensor, p: Tensor) -> Tensor:
    """Return ab - p for p = fl(ab), exactly unless something overflows or underflows (Dekker)."""

    def halves(x: Tensor) -> tuple[Tensor, Tensor]:
        high = 134217729.0 * x
        high = high - (high - x)
        return high, x - high

    (a1, a2), (b1, b2) = halves(a), halves(b)
    return a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)


def two_sum_error(a: Tensor, b: Tensor, s: Tensor) -> Tensor:
    """Return a + b - s for s = fl(a + b), exactly (Knuth)."""
    part = s - a
    return (a - (s - part)) + (b - part)


def add(a: BoundedValue, b: BoundedValue, exactly: bool) -> BoundedValue:
    """Return a + b."""
    v = a.value + b.value
    new_error = torch.where(two_sum_error(a.value, b.value, v) == 0, 0.0, rounding_error(v)) if exactly else rounding_error(v)
    return BoundedValue(v, a.error + b.error + new_error)


def multiply(a: BoundedValue, b: BoundedValue, exactly: bool) -> BoundedValue:
    """Return a * b."""
    v = a.value * b.value
    v_, a_, b_ = v.abs(), a.value.abs(), b.value.abs()
    new_error, bound_a, bound_b = v_ * unit(v), a_ + a.error, b_ + b.error
    if exactly:
        new_error = torch.where((two_product_error(a.value, b.value, v) == 0) & (v_ > TINY) | (v == 0), 0.0, new_error)
    underflowed = (v_ < TINY) & torch.logical_and(bound_a, bound_b)  # the product of bounds may underflow as well
    return BoundedValue(v, new_error.addcmul(a_, b.error).addcmul(a.error, bound_b) + underflow_error(underflowed))


def divide(a: BoundedValue, b: BoundedValue, exactly: bool) -> BoundedValue:
    """Return a / b. Raise UndefinedValue if b is exactly 0 somewhere; the bound is infinite where b may be 0."""
    if ((b.value == 0) & (b.error == 0)).any():
        raise UndefinedValue("something is divided by zero")
    v = a.value / b.value
    v_ = v.abs()
    new_error = v_ * unit(v)
    if exactly:
        product = v * b.value
        new_error = torch.where((product == a.value) & (two_product_error(v, b.value, product) == 0), 0.0, new_error)
    smallest_divisor = b.value.abs() - b.error
    return BoundedValue(
        v,
        torch.where(
            smallest_divisor > 0,
            (a.error + v_ * b.error) / smallest_divisor + new_error + underflow_error((v_ < TINY) & (a.value != 0)),
            inf,
        ),
    )


def power(a: BoundedValue, b: BoundedValue, exactly: bool) -> BoundedValue:
    """Return a ** b: an integer power, or a real power of nonnegative numbers. Raise UndefinedValue where it has no value."""
    exponent = b.value.flatten()[0]
    if not b.error.any() and not b.value.is_complex() and (b.value == b.value.round()).all() and b.value.isfinite().all():
        if (b.value == exponent).all():
            return integer_power(a, int(exponent), exactly)
        if not a.value.is_complex():
            return integer_power(a, b.value, exactly)
    reject_complex(a, "a root is taken of a number")
    if b.value.is_complex():
        raise CannotDecide("a power with a complex exponent")
    if (a.value < -a.error).any():
        raise UndefinedValue("a root is taken of a negative number")
    if ((a.value == 0) & (a.error == 0) & (b.value < -b.error)).any():
        raise UndefinedValue("something is divided by zero")
    v = a.value**b.value
    log_error = -torch.log1p(-a.error / a.value)  # the error of the logarithm of the base
    e = v * (torch.expm1(b.value.abs() * log_error + a.value.log().abs() * b.error + b.error * log_error) + 4 * U)
    e += underflow_error((v < TINY) & (a.value > 0))
    zero_base = (a.value == 0) & (a.error == 0) & (b.value > b.error)
    return BoundedValue(v, torch.where(zero_base, 0.0, torch.where(a.value > a.error, e, inf)))


def integer_power(a: BoundedValue, n: int | Tensor, exactly: bool) -> BoundedValue:
    """Return a ** n for an integer n, or a tensor of integers; a may be negative."""
    exponent, size = abs(n), a.value.abs()
    v = a.value**exponent
    v_ = v.abs()
    propagated = (size + a.error) ** exponent - size**exponent
    new_error = (a.error > 0) * 8 * exponent * U * v_ + (exponent > 1) * 4 * exponent * (v_ * unit(v))
    result = BoundedValue(
        v, propagated * (1 + 8 * U) + new_error + underflow_error((v_ < TINY) & ((a.value != 0) | (a.error > 0)) & (exponent > 1))
    )
    if exactly and isinstance(n, int) and exponent == 2:
        result = multiply(a, a, exactly)
    negative = torch.as_tensor(n) < 0
    if not negative.any():
        return result
    unit_value = BoundedValue(torch.ones_like(result.value), torch.zeros_like(result.error))
    reciprocal = divide(unit_value, BoundedValue(*(torch.where(negative, x, y) for x, y in zip(result, unit_value))), exactly)
    return BoundedValue(*(torch.where(negative, x, y) for x, y in zip(reciprocal, result)))


def absolute(x: BoundedValue) -> BoundedValue:
    """Return the absolute value, which is exact for real numbers."""
    return BoundedValue(x.value.abs(), x.error + (rounding_error(x.value) if x.value.is_complex() else 0))


def exponential(x: BoundedValue) -> BoundedValue:
    """Return exp(x)."""
    v = x.value.exp()
    v_ = v.abs()
    return BoundedValue(v, v_ * (torch.expm1(x.error) + (16 if v.is_complex() else 4) * U) + underflow_error(v_ < TINY))


def nonexpansive(function: Callable[[Tensor], Tensor]) -> Callable[[BoundedValue], BoundedValue]:
    """Return a function of values for one whose derivative is at most 1 in absolute value, so that it does not enlarge errors."""

    def run(x: BoundedValue) -> BoundedValue:
        if x.value.is_complex():
            raise CannotDecide(f"{function.__name__} of a complex number")
        v = function(x.value)
        v_ = v.abs()
        return BoundedValue(v, x.error + 4 * U * v_ + underflow_error((v_ < TINY) & ((x.value != 0) | (x.error > 0))))

    return run


cosine, sine, tangent = nonexpansive(torch.cos), nonexpansive(torch.sin), nonexpansive(torch.tanh)


def reject_complex(x: BoundedValue, says: str) -> None:
    """Raise if x is complex: roots and logarithms are defined here for nonnegative real numbers.

    UndefinedValue if x is certainly none; CannotDecide if it may be one that was computed as a complex number.
    """
    if x.value.is_complex():
        if ((x.value.imag.abs() > x.error) | (x.value.real < -x.error)).any():
            raise UndefinedValue(f"{says} that is negative, or not real")
        raise CannotDecide(f"{says} that is computed as a complex one")


def logarithm(x: BoundedValue) -> BoundedValue:
    """Return log(x). Raise UndefinedValue if x is certainly not positive somewhere; the bound is infinite where x may be 0."""
    reject_complex(x, "a logarithm is taken of a number")
    if (x.value < -x.error).any() or ((x.value == 0) & (x.error == 0)).any():
        raise UndefinedValue("a logarithm is taken of a number that is not positive")
    v = x.value.log()
    return BoundedValue(v, torch.where(x.value > x.error, -torch.log1p(-x.error / x.value) + 4 * U * v.abs(), inf))


def round_to_format(x: BoundedValue, format_: NumberFormat, unbounded: bool = False) -> BoundedValue:
    """Return x rounded to a format. Rounding is monotone, so the result is exact where both ends of the error interval round to the same number.

    `unbounded` removes the limits of the exponent.
    """
    if x.value.is_complex():
        raise CannotDecide("the rounding of a complex number")
    near, low, high = (round_numbers(y, format_, unbounded) for y in (x.value, x.value - x.error, x.value + x.error))
    low, high = (torch.where(x.error == 0, near, y) for y in (low, high))
    return BoundedValue(near, torch.where(near.isfinite(), torch.where(low == high, 0.0, high - low), inf))


def round_numbers(x: Tensor, format_: NumberFormat, unbounded: bool) -> Tensor:
    """Return the fp64 numbers x rounded to a format, ties to even; infinite where they overflow. `unbounded` is as for `round_to_format`.

    PyTorch's conversions from fp64 to formats of 16 and 8 bits are not used: they round to fp32 first, and so round twice.
    """
    digits, exponent = torch.frexp(x)  # x = digits * 2**exponent, where 1/2 <= |digits| < 1
    place = exponent - format_.bits  # the exponent of the last digit
    if not unbounded:
        place = place.clamp(min=format_.lowest)
    scaled = torch.ldexp(digits, exponent - place)
    result = torch.where(x.isfinite(), torch.ldexp(scaled.round(), place), x)
    return result if unbounded else torch.where(result.abs() > float(format_.largest), result.sign() * inf, result)
