"""Canonical names for bound indices: terms that differ only in these names get the same form."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations, product
from math import factorial, prod

from .atom_payloads import Unsupported, sort_atom_indices
from .polynomials import rename_indices, sort_by_text

MAX_RENAMINGS = 5040


@lru_cache(maxsize=10000)
def canonical_term(bound: tuple, factors: tuple) -> tuple:
    """Return the canonical form of a term among all that differ in the names of bound indices and in the order of factors.

    Raise Unsupported if more than MAX_RENAMINGS namings would have to be compared.
    """
    sizes = dict(bound)
    groups = [list(sizes)] if len(sizes) < 2 else group_similar_indices(sizes, factors)
    count = prod(factorial(len(group)) for group in groups)
    if count > MAX_RENAMINGS:
        raise Unsupported(f"a term with {len(sizes)} summation indices that look alike; split the claim into smaller steps")
    orders = [[n for group in permuted for n in group] for permuted in product(*map(permutations, groups))]
    candidates = [(tuple(sizes[n] for n in order), number_bound_indices(factors, order)) for order in orders]
    return candidates[0] if len(candidates) == 1 else min(candidates, key=lambda candidate: repr(candidate[1]))


def number_bound_indices(factors: tuple, order: list) -> tuple:
    """Return the factors with the bound indices numbered in this order."""
    renumbered = rename_indices(factors, {("b", n): ("b", k) for k, n in enumerate(order)})
    return sort_by_text(((head, sort_atom_indices(head, indices)), power) for (head, indices), power in renumbered)


def group_similar_indices(sizes: dict, factors: tuple) -> list:
    """Return the bound indices in groups of those that have the same size and occur in the same positions next to the same indices."""
    numbers = list(sizes)
    colours = {n: repr(sizes[n]) for n in numbers}
    for _ in range(3):
        marks = {
            n: sorted(
                repr(
                    (
                        head,
                        power,
                        [k for k, i in enumerate(indices) if i == ("b", n)],
                        [colours.get(i[1], i) if i[0] == "b" else i for i in indices],
                    )
                )
                for (head, indices), power in factors
                if ("b", n) in indices
            )
            for n in numbers
        }
        ranks = {mark: k for k, mark in enumerate(sorted({repr((colours[n], marks[n])) for n in numbers}))}
        colours = {n: f"{ranks[repr((colours[n], marks[n]))]:04}" for n in numbers}
    return [[n for n in numbers if colours[n] == colour] for colour in sorted(set(colours.values()))]
