"""Canonical names for bound indices: terms that differ only in these names get the same form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from .atom_payloads import sort_atom_indices
from .polynomials import rename_indices, sort_by_text


@lru_cache(maxsize=10000)
def canonical_term(bound: tuple, factors: tuple) -> tuple:
    """Return the canonical form of a term among all that differ in the names of bound indices and in the order of factors.

    Its parts that share no bound index are named one by one, and then put in order.
    """
    if len(bound) < 2:
        return canonical_part(dict(bound), factors)
    sizes: tuple = ()
    named: list = []
    for more, part in sorted((canonical_part(*part) for part in split_term(bound, factors)), key=repr):
        named += rename_indices(part, {("b", n): ("b", n + len(sizes)) for n in range(len(more))})
        sizes += more
    return sizes, sort_factors(named)


def split_term(bound: tuple, factors: tuple) -> list:
    """Return the parts of a term, as pairs (sizes of the bound indices, factors). Factors that share a bound index are in one part."""
    parts: list = [({number: size}, ()) for number, size in bound]
    for factor in factors:
        joined = [part for part in parts if any(("b", n) in factor[0][1] for n in part[0])]
        parts = [part for part in parts if part not in joined]
        parts.append(({n: size for sizes, _ in joined for n, size in sizes.items()}, (*(f for _, more in joined for f in more), factor)))
    return parts


def canonical_part(sizes: dict, factors: tuple) -> tuple:
    """Return the canonical form of a term, found by comparing the namings of its bound indices that look alike."""
    orders = list_orders({n: repr(size) for n, size in sizes.items()}, factors) if len(sizes) > 1 else [list(sizes)]
    candidates = [(tuple(sizes[n] for n in order), number_bound_indices(factors, order)) for order in orders]
    return candidates[0] if len(candidates) == 1 else min(candidates, key=lambda candidate: repr(candidate[1]))


def list_orders(colours: dict, factors: tuple) -> Iterator[list]:
    """Yield the orders of bound indices to compare: by colour, and by each choice of one among the first of the same colour.

    If the first orders after two choices give the same term, a symmetry of the term maps one choice to the other, and so do their other orders.
    """
    colours = refine_colours(colours, factors)
    order = sorted(colours, key=lambda n: colours[n])
    alike = next(([n for n in order if colours[n] == colours[m]] for m, other in pairwise(order) if colours[m] == colours[other]), [])
    if not alike:
        yield order
    found = []
    for n in alike:
        orders = list_orders(colours | {n: colours[n] + " and chosen"}, factors)
        first = next(orders)
        term = number_bound_indices(factors, first)
        if term not in found:
            found.append(term)
            yield first
            yield from orders


def number_bound_indices(factors: tuple, order: list) -> tuple:
    """Return the factors with the bound indices numbered in this order."""
    return sort_factors(rename_indices(factors, {("b", n): ("b", k) for k, n in enumerate(order)}))


def sort_factors(factors: Iterable) -> tuple:
    """Return the factors in canonical order, and the indices of each in canonical order."""
    return sort_by_text(((head, sort_atom_indices(head, indices)), power) for (head, indices), power in factors)


def refine_colours(colours: dict, factors: tuple) -> dict:
    """Return colours by which bound indices differ if their old ones do, or if they occur in other positions or next to other indices."""
    for _ in range(3):
        marks: dict = {n: [] for n in colours}
        for (head, indices), power in factors:
            for n in {i[1] for i in indices if i[0] == "b"}:
                seen = tuple("this" if i == ("b", n) else colours[i[1]] if i[0] == "b" else i for i in indices)
                marks[n].append(repr((head, power, sort_atom_indices(head, seen))))
        marked = {n: repr((colours[n], sorted(marks[n]))) for n in colours}
        ranks = {mark: f"{k:04}" for k, mark in enumerate(sorted(set(marked.values())))}
        colours = {n: ranks[marked[n]] for n in colours}
    return colours
