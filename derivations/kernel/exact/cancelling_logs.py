"""Sums of logarithms that cancel only together, such as log(a) + log(b) - log(ab)."""

from __future__ import annotations

from math import lcm

from .atom_payloads import instantiate, is_real
from .clear_denominators import clear_denominators
from .fractions import Fraction
from .normal_form import Facts, exponential, multiply, raise_to_allowed_power
from .polynomials import Polynomial, add, constant, scale

MAX_POWER = 12  # the largest total power of the arguments that is multiplied out


def logarithms_cancel(p: Polynomial, facts: Facts) -> bool:
    """Return whether p = sum of c_k log(a_k) + r is certainly 0, because the product of the a_k^c_k is exp(-r).

    Each a_k is positive, since its logarithm is taken. The exponential is injective on the real line, so r must be real. For a whole n
    that makes all n c_k whole, n p is 0 exactly where p is.
    """
    logs = [
        (f, c) for (bound, factors), c in p.items() for f, power in factors if not bound and len(factors) == 1 == power and f[0][0] == "log"
    ]
    if not logs or not all(is_real(f[0]) for _, factors in p for f, _ in factors):
        return False
    n = lcm(*(c.denominator for _, c in logs))
    if sum(abs(c * n) for _, c in logs) > MAX_POWER:
        return False
    rest = add(p, *({((), ((f, Fraction(1)),)): -c} for f, c in logs))
    numerator, denominator = exponential(scale(rest, n), facts), constant(1)
    for f, c in logs:
        argument = raise_to_allowed_power(instantiate(f[0][1], f[1]), Fraction(abs(c * n)), facts)
        numerator, denominator = (
            (multiply(numerator, argument, facts), denominator) if c > 0 else (numerator, multiply(denominator, argument, facts))
        )
    return not clear_denominators(add(numerator, scale(denominator, -1)), facts)
