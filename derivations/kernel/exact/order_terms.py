"""Sums of terms in which positions are compared: the form into which `order_reading.py` brings an expression.

A term is a polynomial in indices and sizes times atoms, summed over bound indices, where conditions hold. An atom is (head, places). A head
is ("entry", name) for an entry of a symbol, ("power", base) for a power whose exponent is the place, or (function, number): the function of
the sum that `order_reading.py` stores under this number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from .linear_forms import Form, add_forms, negate_form, substitute, variable
from .position_polynomials import PositionPolynomial, multiply_polynomials, number_polynomial, scale_polynomial, substitute_forms
from .rational_numbers import Fraction

Head = tuple[str, Any]
Atom = tuple[Head, tuple[Form, ...]]

FRESH = count()


def fresh_name() -> str:
    """Return the name of a variable that occurs nowhere else. No index of a script has such a name."""
    return f"~{next(FRESH)}"


@dataclass(frozen=True)
class Term:
    """The sum over `bound` of `polynomial` times `atoms` where all of `least` are at least 0 and all of `equal` are 0."""

    bound: tuple[str, ...]
    least: frozenset[Form]
    equal: frozenset[Form]
    polynomial: tuple
    atoms: tuple[Atom, ...]

    def put(self, mapping: Mapping[str, Form]) -> Term:
        """Return the term with variables replaced by forms."""
        return Term(
            tuple(v for v in self.bound if v not in mapping),
            frozenset(substitute(f, mapping) for f in self.least),
            frozenset(signless(substitute(f, mapping)) for f in self.equal),
            tuple(substitute_forms(dict(self.polynomial), mapping).items()),
            tuple((head, tuple(substitute(f, mapping) for f in places)) for head, places in self.atoms),
        )

    def renamed(self) -> Term:
        """Return the same term over bound indices that occur nowhere else."""
        return self.with_bound_names(fresh_name() for _ in self.bound)

    def with_bound_names(self, names: Iterable[str]) -> Term:
        """Return the same term over bound indices of these names."""
        names = tuple(names)
        return replace(replace(self, bound=()).put({v: variable(x) for v, x in zip(self.bound, names)}), bound=names)


Sum = list[Term]


def are_written_alike(terms: Sum, others: Sum) -> bool:
    """Return whether two sums have the same terms, up to the names of bound indices. Equal sums may still be written otherwise."""
    return Counter(map(number_bound_indices, terms)) == Counter(map(number_bound_indices, others))


def number_bound_indices(t: Term) -> Term:
    """Return the term with its bound indices named by their numbers."""
    numbered = t.with_bound_names(f"~bound{k}" for k in range(len(t.bound)))
    return replace(numbered, polynomial=tuple(sorted(numbered.polynomial)))


def make_term(
    polynomial: PositionPolynomial | None = None, atoms: Iterable[Atom] = (), least: Iterable[Form] = (), equal: Iterable[Form] = ()
) -> Term:
    """Return a term without bound indices. Its polynomial is 1 unless one is given."""
    factor = number_polynomial(1) if polynomial is None else polynomial
    return Term((), frozenset(least), frozenset(map(signless, equal)), tuple(factor.items()), tuple(atoms))


def signless(form: Form) -> Form:
    """Return the form or its negative: that of the two whose first coefficient is positive."""
    return negate_form(form) if form[1] and form[1][0][1] < 0 else form


def scale_sum(terms: Sum, c: Fraction | int) -> Sum:
    """Return a multiple of a sum."""
    return [replace(t, polynomial=tuple(scale_polynomial(dict(t.polynomial), c).items())) for t in terms] if c else []


def multiply_sums(terms: Sum, others: Sum) -> Sum:
    """Return the product of two sums, over bound indices that differ."""
    return [t for a in terms for b in others if (t := multiply_terms(a, b.renamed())).polynomial]


def multiply_terms(a: Term, b: Term) -> Term:
    """Return the product of two terms. Powers of one base are merged: their exponents are known to be natural numbers, or their base is not 0."""
    atoms: list[Atom] = []
    exponents: dict[Head, Form] = {}
    for head, places in (*a.atoms, *b.atoms):
        if head[0] == "power":
            exponents[head] = add_forms(exponents.get(head, (0, ())), places[0])
        else:
            atoms.append((head, places))
    atoms += [(head, (exponent,)) for head, exponent in exponents.items() if exponent != (0, ())]
    polynomial = multiply_polynomials(dict(a.polynomial), dict(b.polynomial))
    return Term(
        a.bound + b.bound, a.least | b.least, a.equal | b.equal, tuple(polynomial.items()), tuple(sorted(atoms, key=lambda x: repr(x[0])))
    )


def restrict_sum(terms: Sum, least: Iterable[Form] = (), equal: Iterable[Form] = ()) -> Sum:
    """Return a sum where conditions hold, and 0 elsewhere."""
    least, equal = frozenset(least), frozenset(map(signless, equal))
    return [replace(t, least=t.least | least, equal=t.equal | equal) for t in terms]
