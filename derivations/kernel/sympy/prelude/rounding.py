"""Numbers of 32 bits, as IEEE 754 has them, in exact rational arithmetic."""

from __future__ import annotations

import sympy as sp

from .outcome import Fails, NotSettled


def exponent_of(x) -> int:
    """The e with 2^e <= |x| < 2^(e + 1), by the lengths of numerator and denominator in bits."""
    e = int(abs(x.p)).bit_length() - int(x.q).bit_length()
    return e if abs(x) >= sp.Integer(2) ** e else e - 1


def nearest(x) -> int:
    """The nearest integer; of two that are equally near, the even one."""
    below = sp.floor(x)
    rest = x - below
    up = rest > sp.Rational(1, 2) or rest == sp.Rational(1, 2) and below % 2 == 1
    return below + int(bool(up))


def rounded(x):
    """The nearest number with 24 significant bits and no digit below 2^-149; ties go to the even one."""
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
