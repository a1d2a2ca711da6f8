"""Numbers in fp64, each with a bound on its error: what one operation makes of the errors it is given, and what it adds of its own.

Every rounding errs by at most u = 2^-53 of its result, and n of them by at most gamma_n = nu / (1 - nu). exp, log, powers, cos, sin and
tanh are taken to err by at most 4u, and complex arithmetic by 8u, as their libraries promise or better. An operation told to be `exactly` asks
whether its result needed rounding at all: claims about rounding depend on that.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import NamedTuple

import torch
from torch import Tensor

from .errors import NotForTorch, Undefined

torch.set_num_threads(1)

U = 2.0**-53  # the largest relative error of one rounding in fp64
TINY = 2.0**-1000  # more than any loss by underflow
COVER = 1.125  # covers the roundings made in computing the bounds themselves


class Value(NamedTuple):
    """A tensor, and a bound on the error of each of its entries."""

    v: Tensor
    e: Tensor


def gamma(n: int) -> float:
    return n * U / (1 - n * U)


def rounding(v: Tensor) -> Tensor:
    return v.abs() * unit(v)


def unit(v: Tensor) -> float:
    """The largest relative error of one operation."""
    return 8 * U if v.is_complex() else U


SMALLEST = torch.tensor(TINY, dtype=torch.float64)  # a Python float times booleans would be float32, in which TINY is 0


def tiny(where: Tensor) -> Tensor:
    """TINY where it is true."""
    return where * SMALLEST


@lru_cache(maxsize=4096)
@torch.inference_mode(False)  # of what is kept, some is differentiated
def number(x: Fraction | int) -> Value:
    """A number, which is exact if fp64 has it."""
    v = torch.tensor(float(x), dtype=torch.float64)
    return Value(v, torch.zeros_like(v) if Fraction(float(x)) == x else rounding(v))


def two_product_error(a: Tensor, b: Tensor, p: Tensor) -> Tensor:
    """ab - p for p = fl(ab), exactly unless something overflows or underflows (Dekker)."""

    def halves(x):
        high = 134217729.0 * x
        high = high - (high - x)
        return high, x - high

    (a1, a2), (b1, b2) = halves(a), halves(b)
    return a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)


def two_sum_error(a: Tensor, b: Tensor, s: Tensor) -> Tensor:
    """a + b - s for s = fl(a + b), exactly (Knuth)."""
    part = s - a
    return (a - (s - part)) + (b - part)


def add(a: Value, b: Value, exactly: bool) -> Value:
    v = a.v + b.v
    own = torch.where(two_sum_error(a.v, b.v, v) == 0, 0.0, rounding(v)) if exactly else rounding(v)
    return Value(v, a.e + b.e + own)


def multiply(a: Value, b: Value, exactly: bool) -> Value:
    v = a.v * b.v
    v_, a_, b_ = v.abs(), a.v.abs(), b.v.abs()
    own, most, other = v_ * unit(v), a_ + a.e, b_ + b.e
    if exactly:
        own = torch.where((two_product_error(a.v, b.v, v) == 0) & (v_ > TINY) | (v == 0), 0.0, own)
    lost = (v_ < TINY) & torch.logical_and(most, other)  # where a factor underflowed, the bound may as well
    return Value(v, own.addcmul(a_, b.e).addcmul(a.e, other) + tiny(lost))


def divide(a: Value, b: Value, exactly: bool) -> Value:
    if ((b.v == 0) & (b.e == 0)).any():
        raise Undefined("something is divided by zero")
    v = a.v / b.v
    v_ = v.abs()
    own = v_ * unit(v)
    if exactly:
        back = v * b.v
        own = torch.where((back == a.v) & (two_product_error(v, b.v, back) == 0), 0.0, own)
    room = b.v.abs() - b.e
    return Value(v, torch.where(room > 0, (a.e + v_ * b.e) / room + own + tiny((v_ < TINY) & (a.v != 0)), inf))


def power(a: Value, b: Value, exactly: bool) -> Value:
    one = b.v.flatten()[0]
    if not b.e.any() and not b.v.is_complex() and (b.v == b.v.round()).all() and b.v.isfinite().all():
        if (b.v == one).all():
            return whole_power(a, int(one), exactly)
        if not a.v.is_complex():
            return whole_power(a, b.v, exactly)
    refuse_off_the_line(a, "a root is taken of a number")
    if b.v.is_complex():
        raise NotForTorch("a power with a complex exponent")
    if (a.v < -a.e).any():
        raise Undefined("a root is taken of a negative number")
    if ((a.v == 0) & (a.e == 0) & (b.v < -b.e)).any():
        raise Undefined("something is divided by zero")
    v = a.v**b.v
    off = -torch.log1p(-a.e / a.v)  # how far the logarithm of the base may be
    e = v * (torch.expm1(b.v.abs() * off + a.v.log().abs() * b.e + b.e * off) + 4 * U)
    nothing = (a.v == 0) & (a.e == 0) & (b.v > b.e)
    return Value(v, torch.where(nothing, 0.0, torch.where(a.v > a.e, e, inf)))


def whole_power(a: Value, n: int | Tensor, exactly: bool) -> Value:
    """a^n for a whole n, or for one of each entry: of a negative number too."""
    times, size = abs(n), a.v.abs()
    v = a.v**times
    v_ = v.abs()
    spread = (size + a.e) ** times - size**times
    own = (a.e > 0) * 8 * times * U * v_ + (times > 1) * 4 * times * (v_ * unit(v))
    found = Value(v, spread * (1 + 8 * U) + own + tiny((v_ < TINY) & ((a.v != 0) | (a.e > 0)) & (times > 1)))
    if exactly and isinstance(n, int) and times == 2:
        found = multiply(a, a, exactly)
    below = torch.as_tensor(n) < 0
    if not below.any():
        return found
    one = Value(torch.ones_like(found.v), torch.zeros_like(found.e))
    over = divide(one, Value(*(torch.where(below, x, y) for x, y in zip(found, one))), exactly)
    return Value(*(torch.where(below, x, y) for x, y in zip(over, found)))


def absolute(x: Value) -> Value:
    return Value(x.v.abs(), x.e + (rounding(x.v) if x.v.is_complex() else 0))


def exponential(x: Value) -> Value:
    v = x.v.exp()
    v_ = v.abs()
    return Value(v, v_ * (torch.expm1(x.e) + (16 if v.is_complex() else 4) * U) + tiny(v_ < TINY))


def slowly(function):
    """Of a function whose slope is nowhere more than 1 in size: errors pass through it as they are."""

    def run(x: Value) -> Value:
        if x.v.is_complex():
            raise NotForTorch(f"{function.__name__} of a complex number")
        v = function(x.v)
        v_ = v.abs()
        return Value(v, x.e + 4 * U * v_ + tiny((v_ < TINY) & ((x.v != 0) | (x.e > 0))))

    return run


cosine, sine, tangent = slowly(torch.cos), slowly(torch.sin), slowly(torch.tanh)


def refuse_off_the_line(x: Value, says: str):
    """Roots and logarithms are those of real numbers that are not negative. What is computed as a complex number may be one, or not."""
    if x.v.is_complex():
        if ((x.v.imag.abs() > x.e) | (x.v.real < -x.e)).any():
            raise Undefined(f"{says} that is negative, or not real")
        raise NotForTorch(f"{says} that is computed as a complex one")


def logarithm(x: Value) -> Value:
    refuse_off_the_line(x, "a logarithm is taken of a number")
    if (x.v < -x.e).any() or ((x.v == 0) & (x.e == 0)).any():
        raise Undefined("a logarithm is taken of a number that is not positive")
    v = x.v.log()
    return Value(v, torch.where(x.v > x.e, -torch.log1p(-x.e / x.v) + 4 * U * v.abs(), inf))


def to_single(x: Value) -> Value:
    """The nearest number of fp32. Rounding is monotone: where both ends of the interval round to one number, that is exact."""
    if x.v.is_complex():
        raise NotForTorch("the rounding of a complex number")
    near, low, high = (y.to(torch.float32).to(torch.float64) for y in (x.v, x.v - x.e, x.v + x.e))
    low, high = (torch.where(x.e == 0, near, y) for y in (low, high))
    return Value(near, torch.where(near.isfinite(), torch.where(low == high, 0.0, high - low), inf))
