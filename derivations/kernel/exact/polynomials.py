"""Polynomials in atoms, from which normal forms are built, and the operations on them that need no assumptions.

A polynomial is a dict from terms to nonzero coefficients. A term is (sizes of its bound indices, factors). Factors are ((head, indices),
power). An index is a tuple:

- ("b", number): bound by the sum of its own term;
- ("f", name): free;
- ("c", number): a constant;
- ("s", number): a slot in an atom's payload;
- ("held", ...): temporarily free, or bound by a sum further out; with the author's name for it, if there is one;
- RUNS: the index that a maximum is taken over, in the payload of its atom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import comb
from typing import Any

from ..core.expr import Expr
from .rational_numbers import Fraction

Index = tuple[Any, ...]
Polynomial = dict[tuple, Fraction]  # from terms to coefficients

ONE_TERM = ((), ())
MAXIMUM_INDEX = ("m",)


def constant(value: int | Fraction) -> Polynomial:
    """Return the constant polynomial."""
    return {ONE_TERM: Fraction(value)} if value else {}


def atom(head: tuple, *indices: Index, power: int | Fraction = 1) -> Polynomial:
    """Return the polynomial that consists of a power of one atom."""
    return {((), (((head, indices), Fraction(power)),)): Fraction(1)}


def add(*polynomials: Polynomial) -> Polynomial:
    """Return the sum of polynomials."""
    result: Polynomial = {}
    for polynomial in polynomials:
        for term, coefficient in polynomial.items():
            result[term] = result.get(term, 0) + coefficient
    return {term: c for term, c in result.items() if c}


def scale(polynomial: Polynomial, factor: int | Fraction) -> Polynomial:
    """Return the polynomial multiplied by a rational number."""
    return {term: c * factor for term, c in polynomial.items()} if factor else {}


def size_polynomial(size: Expr) -> Polynomial:
    """Return the polynomial of a size: a constant or an atom."""
    return constant(size.data) if size.op == "const" else atom(("size", size.data[0]))


def sort_by_text(parts: Iterable) -> tuple:
    """Return the parts sorted by their texts. A single part is returned as it is, because its text may be long."""
    parts = tuple(parts)
    return parts if len(parts) < 2 else tuple(sorted(parts, key=repr))


def rename_indices(factors: Iterable, mapping: dict) -> list:
    """Return the factors with their indices replaced according to the mapping."""
    return [((head, tuple(mapping.get(i, i) for i in indices)), power) for (head, indices), power in factors]


@lru_cache
def bernoulli_number(k: int) -> Fraction:
    """Return the Bernoulli number B_k, with B_1 = +1/2, so that Faulhaber's formula gives sums up to n, not n - 1."""
    return Fraction(1) - sum((comb(k, j) * bernoulli_number(j) / (k - j + 1) for j in range(k)), Fraction(0))


def factorise(q: Fraction) -> Iterator[tuple[int, int]]:
    """Yield pairs (prime, 1 or -1) for the prime factors of a positive rational's numerator and denominator, found by trial division."""
    for number, sign in ((q.numerator, 1), (q.denominator, -1)):
        prime = 2
        while number > 1:
            if prime * prime > number:
                prime = number
            while number % prime == 0:
                yield prime, sign
                number //= prime
            prime += 1


def is_multiple(p: Polynomial, q: Polynomial) -> bool:
    """Return whether p is a positive rational multiple of q."""
    return q.keys() == p.keys() and len({p[t] / q[t] for t in p}) == 1 and all(p[t] / q[t] > 0 for t in p)
