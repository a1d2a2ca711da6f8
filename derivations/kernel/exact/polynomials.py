"""What a normal form is made of: polynomials in atoms, and what can be done with them whatever is assumed.

An index is a tuple: ("b", number) bound in its term, ("f", name) free, ("s", number) a slot of an atom's payload, ("c", number) a
constant, RUNS the one that the largest of some entries runs over, in the payload of its atom, ("held", ...) one that is bound further out, with its name where an author gave it one. A term is (sizes of its bound indices,
factors); factors are ((head, indices), power). A polynomial is a dict from terms to non-zero coefficients.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

from ..core.expr import Expr
from .fractions import Fraction

ONE_TERM = ((), ())
RUNS = ("m",)


def constant(value) -> dict:
    return {ONE_TERM: Fraction(value)} if value else {}


def atom(head: tuple, *indices, power=1) -> dict:
    return {((), (((head, indices), Fraction(power)),)): Fraction(1)}


def add(*polynomials: dict) -> dict:
    result = {}
    for polynomial in polynomials:
        for term, coefficient in polynomial.items():
            result[term] = result.get(term, 0) + coefficient
    return {term: c for term, c in result.items() if c}


def scale(polynomial: dict, factor) -> dict:
    return {term: c * factor for term, c in polynomial.items()} if factor else {}


def size_polynomial(size: Expr) -> dict:
    return constant(size.data) if size.op == "const" else atom(("size", size.data[0]))


def ordered(parts) -> tuple:
    """In the order of their texts. What stands alone is in order, and its text may be long."""
    parts = tuple(parts)
    return parts if len(parts) < 2 else tuple(sorted(parts, key=repr))


def rename(factors, mapping: dict) -> list:
    return [((head, tuple(mapping.get(i, i) for i in indices)), power) for (head, indices), power in factors]


@lru_cache
def bernoulli(k: int) -> Fraction:
    """Bernoulli's numbers, with 1/2 for the first, so that the sum runs to n and not to n - 1."""
    return Fraction(1) - sum((comb(k, j) * bernoulli(j) / (k - j + 1) for j in range(k)), Fraction(0))


def factorise(q: Fraction):
    """(prime, exponent) pairs of a positive rational, by trial division."""
    for number, sign in ((q.numerator, 1), (q.denominator, -1)):
        prime = 2
        while number > 1:
            if prime * prime > number:
                prime = number
            while number % prime == 0:
                yield prime, sign
                number //= prime
            prime += 1


def is_multiple(p: dict, q: dict) -> bool:
    """Is p a positive rational multiple of q?"""
    return q.keys() == p.keys() and len({p[t] / q[t] for t in p}) == 1 and all(p[t] / q[t] > 0 for t in p)
