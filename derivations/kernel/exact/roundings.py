"""Decides which values are numbers of a floating-point format, so that rounding does not change them."""

from __future__ import annotations

from ..core.number_formats import FORMATS
from .flint_numbers import Undefined, round_to, to_fmpq, to_fraction
from .normal_form import Facts, is_bit
from .polynomials import Polynomial, constant, scale
from .rational_numbers import Fraction, split_power_of_two


def take_out_power_of_two(p: Polynomial) -> tuple[Polynomial, Fraction]:
    """Return (q, c) with p = c q. If p is a single term, c is a power of two and the coefficient of q is odd; otherwise c is 1."""
    if len(p) != 1:
        return p, Fraction(1)
    ((term, coefficient),) = p.items()
    odd, exponent = split_power_of_two(coefficient)
    return {term: odd}, Fraction(2) ** exponent


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


def is_number_of(format_: str, p: Polynomial, facts: Facts) -> bool:
    """Return whether p, which has no sign in front, is a number of the format.

    Under `in_range()` exponents are unlimited, so the significant bits of the factors of p are counted. Otherwise p must be a number of a
    format that this one contains.
    """
    if FORMATS[format_].contains(FORMATS["fp32"]) and p in facts.stated_instances("representable", p):
        return True
    if len(p) != 1:
        return False
    (((bound, factors), coefficient),) = p.items()
    rounded = [(FORMATS[f[0][1]], power) for f, power in factors if f[0][0] == "rounded"]
    zero_or_one = [f for f, _ in factors if is_bit(f[0], facts)]
    whole = coefficient.denominator == 1 and all(power.denominator == 1 and power > 0 for _, power in factors)
    if bound or not whole or len(rounded) + len(zero_or_one) < len(factors):
        return False
    if facts.in_range:
        bits = sum(inner.bits * power for inner, power in rounded)
        return bits + coefficient.numerator.bit_length() * (coefficient > 1) <= FORMATS[format_].bits
    return coefficient == 1 and sum(power for _, power in rounded) <= 1 and all(FORMATS[format_].contains(inner) for inner, _ in rounded)
