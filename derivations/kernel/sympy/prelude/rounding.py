"""Rounding to 32-bit numbers of IEEE 754, in exact rational arithmetic."""

from __future__ import annotations

import sympy as sp

from .outcome import Fails, NotSettled


def exponent_of(x) -> int:
    """Return the e with 2^e <= |x| < 2^(e + 1), from the bit lengths of numerator and denominator."""
    e = int(abs(x.p)).bit_length() - int(x.q).bit_length()
    return e if abs(x) >= sp.Integer(2) ** e else e - 1


def nearest(x) -> int:
    """Return the nearest integer, and of two equally near ones the even one."""
    below = sp.floor(x)
    rest = x - below
    up = rest > sp.Rational(1, 2) or rest == sp.Rational(1, 2) and below % 2 == 1
    return below + int(bool(up))


def rounded(x):
    """Return the nearest number with 24 significant bits and no digit below 2^-149, ties to even."""
    x = sp.sympify(x)
    x = x if x.is_Rational else sp.simplify(x)
    if not x.is_Rational:
        raise NotSettled(f"the rounding of {x}, which is no fraction")
    if x == 0:
        return x
    step = sp.Integer(2) ** max(exponent_of(x) - 23, -149)
    result = nearest(x / step) * step
    if abs(result) >= sp.Integer(2) ** 128:
        raise Fails(f"the rounding of {x} overflows")
    return result
