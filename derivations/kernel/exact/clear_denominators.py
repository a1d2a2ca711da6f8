"""Clears the denominators of a normal form, to decide whether it is 0."""

from __future__ import annotations

from .normal_form import FRESH_NUMBERS, Facts, multiply
from .polynomials import Polynomial, rename_indices
from .rational_numbers import Fraction


def clear_denominators(p: Polynomial, facts: Facts) -> Polynomial:
    """Return p multiplied by the sums in its denominators, as often as needed. They are nonzero, so p is 0 exactly if the result is."""
    while p:
        lowest: dict[tuple, Fraction] = {}
        for _, factors in p:
            for f, e in factors:
                if f[0][0] == "sum" and e < 0 and not any(i[0] == "b" for i in f[1]):
                    lowest[f] = min(e, lowest.get(f, Fraction(0)))
        if not lowest:
            break
        for f, e in lowest.items():
            p = multiply(p, {((), ((f, -e),)): Fraction(1)}, facts)
    return drop_vanishing_sums(p, facts)


def drop_vanishing_sums(p: Polynomial, facts: Facts) -> Polynomial:
    """Return p without the sums whose terms are 0 at every value of their indices once denominators are cleared."""
    result = p
    for bound in {bound for bound, factors in p if bound and any(f[0][0] == "sum" and e < 0 for f, e in factors)}:
        held = {("b", k): ("held", next(FRESH_NUMBERS)) for k in range(len(bound))}
        inside = {((), tuple(sorted(rename_indices(factors, held), key=repr))): c for (over, factors), c in p.items() if over == bound}
        if not clear_denominators(inside, facts):
            result = {term: c for term, c in result.items() if term[0] != bound}
    return result
