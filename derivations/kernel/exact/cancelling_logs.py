"""Sums of logarithms, such as log(a) + log(b) - log(ab), by their exponentials."""

from __future__ import annotations

from math import lcm

from .atom_payloads import instantiate, is_real
from .clear_denominators import clear_denominators
from .exponentials_and_logs import exponential
from .normal_form import Facts, multiply, raise_to_allowed_power
from .polynomials import Polynomial, add, constant, scale
from .rational_numbers import Fraction

MAX_POWER = 12  # the largest total power of the arguments that is multiplied out


def logarithms_cancel(p: Polynomial, facts: Facts) -> bool:
    """Return whether p contains logarithms and is certainly 0, because its exponential is 1."""
    quotient = exponential_as_quotient(p, facts)
    return quotient is not None and not clear_denominators(add(quotient[0], scale(quotient[1], -1)), facts)


def exponential_as_quotient(p: Polynomial, facts: Facts) -> tuple[Polynomial, Polynomial] | None:
    """Return (a, b) with a/b = exp(n p) for p = sum of c_k log(a_k) + r and some n > 0. Return None if p has no such logarithms.

    Each a_k is positive, since its logarithm is taken. The exponential increases on the real line, so r must be real, and then p has the
    sign of a - b. The product of the powers a_k^(n c_k) with positive exponents is in a, and that of the others in b.
    """
    logs = [
        (f, c) for (bound, factors), c in p.items() for f, power in factors if not bound and len(factors) == 1 == power and f[0][0] == "log"
    ]
    if not logs or not all(is_real(f[0]) for _, factors in p for f, _ in factors):
        return None
    n = lcm(*(c.denominator for _, c in logs))
    if sum(abs(c * n) for _, c in logs) > MAX_POWER:
        return None
    rest = add(p, *({((), ((f, Fraction(1)),)): -c} for f, c in logs))
    numerator, denominator = exponential(scale(rest, n), facts), constant(1)
    for f, c in logs:
        argument = raise_to_allowed_power(instantiate(f[0][1], f[1]), Fraction(abs(c * n)), facts)
        numerator, denominator = (
            (multiply(numerator, argument, facts), denominator) if c > 0 else (numerator, multiply(denominator, argument, facts))
        )
    return numerator, denominator
