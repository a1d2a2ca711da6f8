"""Scales of growth. Each term of a series is a multiple of one.

X is the number that grows without bound: the variable of a limit, or its inverse if it goes to 0. A scale is exp(c_1 u_1 + c_2 u_2 + ...),
where the u are levels, X^p (log X)^q with p > 0 or p = 0 < q, and log log X, and the c are real numbers that do not depend on X. So X^2 is
exp(2 log X), and exp(-a X) has the coefficient -a at the level X.

Each level grows faster than every multiple of a lower one. Therefore the sign of the coefficient at the highest level decides whether a
scale grows without bound or tends to 0, and that sign must be known.
"""

from __future__ import annotations

from typing import Any

from ..errors import KernelError
from . import exact_evaluation, flint_numbers
from .atom_payloads import Unsupported, freeze, instantiate, outer_indices
from .cancelling_logs import exponential_as_quotient
from .clear_denominators import clear_denominators
from .conjugates import is_real_polynomial
from .exponentials_and_logs import exponential, logarithm
from .normal_form import Facts, multiply, raise_to_allowed_power, take_content
from .polynomial_printing import show_polynomial
from .polynomials import ONE_TERM, Polynomial, add, atom, constant, scale
from .rational_numbers import Fraction

Level = tuple[Fraction, Fraction]  # (p, q) for X^p (log X)^q; (0, 0) for log log X
Coefficient = Any  # a Fraction, or a frozen polynomial
Scale = tuple[tuple[Level, Coefficient], ...]  # nonzero coefficients, the highest level first

LOG, LOG_LOG = (Fraction(0), Fraction(1)), (Fraction(0), Fraction(0))
ONE: Scale = ()


class UnknownSign(Unsupported):
    """The limit depends on the sign of a polynomial, about which the assumptions say nothing."""

    def __init__(self, p: Polynomial):
        super().__init__(f"the limit depends on the sign of {show_polynomial(p)}, which is not known", code="unknown-limit")
        self.polynomial = p


def make_scale(coefficients: dict[Level, Polynomial]) -> Scale:
    """Return the scale with these coefficients."""
    shortened = {level: shorten(p) for level, p in coefficients.items() if p}
    return tuple(sorted(shortened.items(), key=lambda item: item[0], reverse=True))


def shorten(p: Polynomial) -> Coefficient:
    """Return a coefficient as a number if it is one, otherwise frozen."""
    return p[ONE_TERM] if p.keys() == {ONE_TERM} else freeze(p)


def to_polynomial(c: Coefficient) -> Polynomial:
    """Return a coefficient as a polynomial."""
    return dict(c) if isinstance(c, tuple) else constant(c)


def power_of_x(p: Fraction, q: int | Fraction = 0) -> Scale:
    """Return X^p (log X)^q."""
    return make_scale({LOG: constant(p), LOG_LOG: constant(q)})


def times(a: Scale, b: Scale) -> Scale:
    """Return the product of two scales."""
    if not a or not b:
        return a or b
    result = dict(a)
    for level, c in b:
        old = result.pop(level, Fraction(0))
        both = shorten(add(to_polynomial(old), to_polynomial(c))) if isinstance(old, tuple) or isinstance(c, tuple) else old + c
        if both:
            result[level] = both
    return tuple(sorted(result.items(), key=lambda item: item[0], reverse=True))


def to_power(s: Scale, exponent: Fraction) -> Scale:
    """Return a rational power of a scale other than the power 0."""
    return tuple((level, freeze(scale(dict(c), exponent)) if isinstance(c, tuple) else c * exponent) for level, c in s)


def scale_indices(s: Scale) -> set[tuple]:
    """Return the indices on which the coefficients of a scale depend."""
    return {index for _, c in s if isinstance(c, tuple) for index in outer_indices(dict(c))}


def as_level(s: Scale) -> Level | None:
    """Return the level that equals this scale, or None."""
    powers = dict(s)
    p, q = powers.pop(LOG, Fraction(0)), powers.pop(LOG_LOG, Fraction(0))
    return None if powers or isinstance(p, tuple) or isinstance(q, tuple) or (p, q) <= LOG_LOG else (p, q)


def scale_to_polynomial(s: Scale, x: Polynomial) -> Polynomial:
    """Return a scale as a normal form for messages, given X."""
    facts, result = Facts(), constant(1)
    log = logarithm(x, facts, known_positive=True)
    for (p, q), c in s:
        powers = (raise_to_allowed_power(x, p, facts), raise_to_allowed_power(log, q, facts))
        level = multiply(*powers, facts) if (p, q) != LOG_LOG else logarithm(log, facts, known_positive=True)
        result = multiply(result, exponential(multiply(to_polynomial(c), level, facts), facts), facts)
    return result


class ScaleOrder:
    """Compares scales by the signs that the assumptions give. Remembers them."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.signs: dict[tuple, int | UnknownSign] = {}

    def direction(self, s: Scale) -> int:
        """Return 1 if a scale grows without bound, -1 if it tends to 0, and 0 if it is 1. Raise UnknownSign."""
        return next((sign for _, c in s if (sign := self.sign_of(c))), 0)

    def sign_of(self, c: Coefficient) -> int:
        """Return the sign of a coefficient. Raise UnknownSign."""
        if not isinstance(c, tuple):
            return 1 if c > 0 else -1
        if c not in self.signs:
            try:
                self.signs[c] = find_sign(dict(c), self.facts) if clear_denominators(dict(c), self.facts) else 0
            except UnknownSign as unknown:
                self.signs[c] = unknown
        if isinstance(sign := self.signs[c], UnknownSign):
            raise sign
        return sign

    def compare(self, a: Scale, b: Scale) -> int:
        """Return 1 if a grows faster than b, -1 if b does, and 0 if they are equal. Raise UnknownSign."""
        return self.direction(times(a, to_power(b, Fraction(-1))))

    def is_at_most(self, a: Scale, b: Scale) -> bool:
        """Return whether a is known to grow no faster than b."""
        try:
            return a == b or self.compare(a, b) <= 0
        except UnknownSign:
            return False


def find_sign(p: Polynomial, facts: Facts) -> int:
    """Return 1 if p is known to be positive, -1 if it is known to be negative. Raise UnknownSign with the part that is not known.

    A product has the product of its factors' signs. A sum of multiples of logarithms has the sign of the difference between its
    exponential and 1.
    """
    if sign := known_sign(p, facts):
        return sign
    if not is_real_polynomial(p, facts):
        raise Unsupported(f"an exponential that oscillates, because {show_polynomial(p)} is not real", code="unknown-limit")
    content, primitive = take_content(p, True, facts)
    (((_, factors), number),) = content.items()
    sign = 1 if number > 0 else -1
    for f, power in factors:
        sign *= find_factor_sign(f, power, facts)
    if primitive == constant(1):
        return sign
    if factors:
        return sign * find_sign(primitive, facts)
    quotient = exponential_as_quotient(primitive, facts)
    if quotient is None:
        raise UnknownSign(scale(primitive, sign))
    numerator, denominator = quotient
    return sign * find_sign(add(numerator, scale(denominator, -1)), facts)


def known_sign(p: Polynomial, facts: Facts) -> int:
    """Return the sign of p if the assumptions show it, or if p is a number other than 0. Return 0 if it is not known."""
    if facts.is_positive(p):
        return 1
    if facts.is_positive(scale(p, -1)):
        return -1
    try:
        value = exact_evaluation.evaluate_polynomial(p, {})
    except (flint_numbers.Undefined, KeyError, OverflowError, KernelError):
        return 0
    return 0 if flint_numbers.is_complex(value) else int(bool(value > 0)) - int(bool(value < 0))


def find_factor_sign(f: tuple, power: Fraction, facts: Facts) -> int:
    """Return the sign of a power of an atom. Raise UnknownSign."""
    base = atom(f[0], *f[1])
    if power.denominator == 1 and power % 2 == 0 and facts.is_nonzero(base):
        return 1
    sign = known_sign(base, facts)
    if not sign and f[0][0] == "log":
        sign = find_sign(add(instantiate(f[0][1], f[1]), constant(-1)), facts)
    if not sign and f[0][0] == "sum":
        sign = find_sign(instantiate(f[0][1], f[1]), facts)
    if not sign:
        raise UnknownSign(atom(f[0], *f[1], power=power))
    return sign if power % 2 else 1
