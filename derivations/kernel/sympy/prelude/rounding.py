"""Rounding to numbers of a floating-point format, in exact rational arithmetic."""

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


# Significant bits, exponent of the smallest positive number, largest number. Programs import nothing from the kernel.
FORMATS = {
    "fp32": (24, -149, (2 - sp.Rational(1, 2**23)) * 2**127),
    "fp16": (11, -24, 65504),
    "bf16": (8, -133, (2 - sp.Rational(1, 2**7)) * 2**127),
    "e4m3": (4, -9, 448),
    "e5m2": (3, -16, 57344),
}


def rounded(x, format_):
    """Return the nearest number of the format, ties to even."""
    x = sp.sympify(x)
    x = x if x.is_Rational else sp.simplify(x)
    if not x.is_Rational:
        raise NotSettled(f"the rounding of {x}, which is no fraction")
    if x == 0:
        return x
    bits, lowest, largest = FORMATS[format_]
    step = sp.Integer(2) ** max(exponent_of(x) - bits + 1, lowest)
    result = nearest(x / step) * step
    if abs(result) > largest:
        raise Fails(f"the rounding of {x} overflows")
    return result
