"""Polynomials in indices and sizes, and their sums from one linear form to another.

A polynomial is {((variable, power), ...): coefficient}, with sorted variables and no coefficient 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from math import comb

from .linear_forms import ONE, Form, subtract_forms
from .polynomials import bernoulli_number
from .rational_numbers import Fraction

PositionPolynomial = dict[tuple, Fraction]


def number_polynomial(c: Fraction | int) -> PositionPolynomial:
    """Return a number as a polynomial."""
    return {(): Fraction(c)} if c else {}


def form_polynomial(form: Form) -> PositionPolynomial:
    """Return a linear form as a polynomial."""
    return add_polynomials(number_polynomial(form[0]), *({((v, 1),): Fraction(c)} for v, c in form[1]))


def add_polynomials(*polynomials: PositionPolynomial) -> PositionPolynomial:
    """Return the sum of polynomials."""
    result: PositionPolynomial = {}
    for p in polynomials:
        for monomial, c in p.items():
            result[monomial] = result.get(monomial, Fraction(0)) + c
    return {monomial: c for monomial, c in result.items() if c}


def scale_polynomial(p: PositionPolynomial, c: Fraction | int) -> PositionPolynomial:
    """Return a multiple of a polynomial."""
    return {monomial: c * k for monomial, k in p.items()} if c else {}


def multiply_polynomials(p: PositionPolynomial, q: PositionPolynomial) -> PositionPolynomial:
    """Return the product of two polynomials."""
    result: PositionPolynomial = {}
    for monomial, c in p.items():
        for other, d in q.items():
            powers = dict(monomial)
            for v, k in other:
                powers[v] = powers.get(v, 0) + k
            key = tuple(sorted(powers.items()))
            result[key] = result.get(key, Fraction(0)) + c * d
    return {monomial: c for monomial, c in result.items() if c}


def power_of_form(form: Form, n: int) -> PositionPolynomial:
    """Return a power of a linear form."""
    return reduce(multiply_polynomials, [form_polynomial(form)] * n, number_polynomial(1))


def substitute_forms(p: PositionPolynomial, mapping: Mapping[str, Form]) -> PositionPolynomial:
    """Return the polynomial with variables replaced by forms, all at once."""
    parts = []
    for monomial, c in p.items():
        part: PositionPolynomial = {tuple(x for x in monomial if x[0] not in mapping): c}
        for v, k in monomial:
            if v in mapping:
                part = multiply_polynomials(part, power_of_form(mapping[v], k))
        parts.append(part)
    return add_polynomials(*parts)


def polynomial_value(p: PositionPolynomial, env: Mapping[str, int]) -> Fraction:
    """Return the value of a polynomial."""
    total = Fraction(0)
    for monomial, c in p.items():
        for v, k in monomial:
            c *= env[v] ** k
        total += c
    return total


def sum_of_powers(k: int, last: Form) -> PositionPolynomial:
    """Return Faulhaber's polynomial F in `last`: F(x) - F(x - 1) = x^k and F(0) = 0."""
    terms = (scale_polynomial(power_of_form(last, k + 1 - j), Fraction(comb(k + 1, j), k + 1) * bernoulli_number(j)) for j in range(k + 1))
    return add_polynomials(*terms)


def sum_between(p: PositionPolynomial, v: str, first: Form, last: Form) -> PositionPolynomial:
    """Return the sum of p over v from first to last, where last is at least first - 1."""
    parts = []
    for monomial, c in p.items():
        k = dict(monomial).get(v, 0)
        rest: PositionPolynomial = {tuple(x for x in monomial if x[0] != v): c}
        before_first = scale_polynomial(sum_of_powers(k, subtract_forms(first, ONE)), -1)
        parts.append(multiply_polynomials(rest, add_polynomials(sum_of_powers(k, last), before_first)))
    return add_polynomials(*parts)
