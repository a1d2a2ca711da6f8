"""Decides which values are numbers of a floating-point format, so that rounding does not change them."""

from __future__ import annotations

from fractions import Fraction

from ..core.number_formats import FORMATS
from .flint_numbers import Undefined, round_to, to_fmpq, to_fraction
from .normal_form import Facts, is_bit
from .polynomials import Polynomial, constant, scale


def take_out_power_of_two(p: Polynomial) -> tuple[Polynomial, Fraction]:
    """Return (q, c) with p = c q, where c is a power of two and the coefficient of q is odd, if p is a single term."""
    if len(p) != 1:
        return p, Fraction(1)
    ((term, coefficient),) = p.items()
    odd = Fraction(odd_part(coefficient.numerator), odd_part(coefficient.denominator))
    return {term: odd}, coefficient / odd


def take_out_sign(p: Polynomial) -> tuple[Polynomial, int]:
    """Return (q, c) with p = c q, where c is 1 or -1 and the first coefficient of q is positive."""
    negative = min(p.items(), key=repr, default=((), 1))[1] < 0
    return (scale(p, -1), -1) if negative else (p, 1)


def round_exactly(format_: str, p: Polynomial, facts: Facts) -> Polynomial | None:
    """Return p rounded to the format if p is a number of the format or a constant, else None."""
    if is_number_of(format_, p, facts):
        return p
    if not p.keys() <= {((), ())}:
        return None
    try:
        return constant(to_fraction(round_to(to_fmpq(p.get(((), ()), 0)), format_, unbounded=facts.in_range)))
    except Undefined:  # an overflow
        return None


def odd_part(n: int) -> int:
    """Return n without its factors of two. The number 0 is returned as it is."""
    return n // (n & -n) if n else 0


def is_number_of(format_: str, p: Polynomial, facts: Facts) -> bool:
    """Return whether p is a number of the format. Its exponents are unlimited if the claim assumes `in_range()`."""
    if FORMATS[format_].contains(FORMATS["fp32"]) and p in facts.stated_instances("representable", p):
        return True
    if len(p) != 1:
        return False
    (((bound, factors), coefficient),) = p.items()
    if bound or coefficient.denominator != 1:
        return False
    rounded = [(f[0][1], power) for f, power in factors if f[0][0] == "rounded"]
    bits = sum(is_bit(f[0], facts) for f, _ in factors)
    if len(rounded) + bits < len(factors) or any(power.denominator != 1 or power < 0 for _, power in factors):
        return False
    if abs(coefficient) == 1 and (not rounded or len(rounded) == 1 and rounded[0][1] == 1):
        return all(FORMATS[format_].contains(FORMATS[inner]) for inner, _ in rounded)
    digits = abs(coefficient.numerator).bit_length() + sum(FORMATS[inner].bits * power for inner, power in rounded)
    return facts.in_range and bool(rounded) and digits - (abs(coefficient) == 1) <= FORMATS[format_].bits
