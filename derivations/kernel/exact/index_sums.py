"""Sums over an index: bind an index of a polynomial in a sum, or substitute a value for it."""

from __future__ import annotations

from collections.abc import Callable

from ..core.expr import Expr
from .normal_form import FRESH_NUMBERS, Facts, reduce_term
from .polynomials import Polynomial, add, rename_indices, scale


def sum_over(size: Expr, term: Callable[[tuple], Polynomial], facts: Facts, name: str = "") -> Polynomial:
    """Return the sum of term(index) over an index of this size. A sum of known length is written out, so that each index is a constant."""
    if size.op == "const":
        return add(*(term(("c", k)) for k in range(1, int(size.data) + 1)))
    index = fresh_index(name)
    return sum_over_index(term(index), index, size, facts)


def sum_over_index(polynomial: Polynomial, free: tuple, size: Expr, facts: Facts) -> Polynomial:
    """Return the sum of a polynomial over one of its free indices. A sum of known length is written out."""
    if size.op == "const":
        return add(*(substitute_index(polynomial, free, ("c", k), facts) for k in range(1, int(size.data) + 1)))
    result: Polynomial = {}
    for (bound, factors), c in polynomial.items():
        new = ("b", len(bound))
        for term, c2 in reduce_term(dict(enumerate((*bound, size))), rename_indices(factors, {free: new}), facts).items():
            result[term] = result.get(term, 0) + c * c2
    return {term: c for term, c in result.items() if c}


def substitute_index(polynomial: Polynomial, free: tuple, value: tuple, facts: Facts) -> Polynomial:
    """Return the polynomial with one of its free indices set to a value."""
    return add(
        *(
            scale(reduce_term(dict(enumerate(bound)), rename_indices(factors, {free: value}), facts), c)
            for (bound, factors), c in polynomial.items()
        )
    )


def fresh_index(name: str = "") -> tuple:
    """Return an index that occurs nowhere else; `name` is what messages may call it."""
    return ("held", next(FRESH_NUMBERS), name) if name else ("held", next(FRESH_NUMBERS))
