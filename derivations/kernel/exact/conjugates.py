"""Complex conjugates of polynomials, and which polynomials are real."""

from __future__ import annotations

from .atom_payloads import is_real
from .normal_form import Facts, reduce_term
from .polynomials import Polynomial, add, scale
from .rational_numbers import Fraction


def is_real_polynomial(p: Polynomial, facts: Facts) -> bool:
    """Return whether p is real: free of i, or equal to its conjugate, such as a cosine written in exponentials."""
    return all(is_real(f[0]) for _, factors in p for f, _ in factors) or conjugate(p, facts) == p


def conjugate(p: Polynomial, facts: Facts) -> Polynomial | None:
    """Return the complex conjugate of p, or None if the conjugate of an atom is not known."""
    result: Polynomial = {}
    for (bound, factors), c in p.items():
        conjugated = [(f, conjugate_power(f[0], power, facts)) for f, power in factors]
        if any(power is None for _, power in conjugated):
            return None
        sign = -1 if any(f[0] == ("i",) for f, _ in factors) else 1
        result = add(result, scale(reduce_term(dict(enumerate(bound)), conjugated, facts), sign * c))
    return result


def conjugate_power(head: tuple, power: Fraction, facts: Facts) -> Fraction | None:
    """Return the power of the same atom that gives the conjugate, such as exp(-ix) for exp(ix), or None.

    The sign of i is left to the caller.
    """
    if head[0] == "i" or is_real(head):
        return power
    inside = [f[0] for (_, factors), _ in head[-1] for f, _ in factors]
    if head[0] == "exp" and inside.count(("i",)) == 1 and all(is_real(h) for h in inside if h != ("i",)):
        return -power
    return power if is_real_polynomial(dict(head[-1]), facts) else None
