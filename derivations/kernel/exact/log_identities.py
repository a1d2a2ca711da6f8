"""Sums of logarithms that cancel, though no one of them equals another: log(a) + log(b) - log(ab)."""

from __future__ import annotations

from math import lcm

from .atom_payloads import instantiate, is_real
from .denominators import clear_denominators
from .fractions import Fraction
from .normal_form import Facts, allowed_power, exponential, multiply
from .polynomials import add, constant, scale

MAX_POWER = 12  # the largest power that is multiplied out


def cancel(p: dict, facts: Facts) -> bool:
    """Is p = sum of c_k log(a_k) + r certainly 0, because the product of the a_k^c_k is exp(-r)?

    Every a_k is positive, since its logarithm is taken. The exponential takes no value twice on the real line, so r has to be real; and
    for a whole n that makes all n c_k whole, n p is 0 exactly where p is.
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
    above, below = exponential(scale(rest, n), facts), constant(1)
    for f, c in logs:
        inside = allowed_power(instantiate(f[0][1], f[1]), Fraction(abs(c * n)), facts)
        above, below = (multiply(above, inside, facts), below) if c > 0 else (above, multiply(below, inside, facts))
    return not clear_denominators(add(above, scale(below, -1)), facts)
