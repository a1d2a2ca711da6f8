"""Canonical names for bound indices: terms that differ only in these names get the same form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product
from math import factorial, prod

from .atom_payloads import Unsupported, sort_atom_indices
from .polynomials import rename_indices, sort_by_text

MAX_RENAMINGS = 5040


@lru_cache(maxsize=10000)
def canonical_term(bound: tuple, factors: tuple) -> tuple:
    """Return the canonical form of a term among all that differ in the names of bound indices and in the order of factors.

    Its parts that share no bound index are named one by one, and then put in order. Raise Unsupported if more than MAX_RENAMINGS namings
    of one part would have to be compared.
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
    """Return the canonical form of a term, found by comparing all namings of the bound indices that look alike.

    Two indices that can be interchanged are named in one order only, because the other order gives the same term.
    """
    groups = [list(sizes)] if len(sizes) < 2 else group_similar_indices(sizes, factors)
    classes = [group_interchangeable_indices(group, factors) for group in groups]
    count = prod(factorial(sum(map(len, some))) // prod(factorial(len(c)) for c in some) for some in classes)
    if count > MAX_RENAMINGS:
        raise Unsupported(f"a term with {len(sizes)} summation indices that look alike; split the claim into smaller steps")
    orders = [[n for group in merged for n in group] for merged in product(*map(merge, classes))]
    candidates = [(tuple(sizes[n] for n in order), number_bound_indices(factors, order)) for order in orders]
    return candidates[0] if len(candidates) == 1 else min(candidates, key=lambda candidate: repr(candidate[1]))


def group_interchangeable_indices(group: list, factors: tuple) -> list:
    """Return the bound indices in classes; a term stays the same if two of a class are interchanged."""
    classes: list = []
    for n in group:
        for members in classes:
            swap = {("b", n): ("b", members[0]), ("b", members[0]): ("b", n)}
            if sort_factors(rename_indices(factors, swap)) == sort_factors(factors):
                members.append(n)
                break
        else:
            classes.append([n])
    return classes


def merge(classes: list) -> Iterator[list]:
    """Yield the orders of all members of the classes in which each class keeps its own order."""
    if not any(classes):
        yield []
    for k, members in enumerate(classes):
        if members:
            yield from ([members[0], *rest] for rest in merge([*classes[:k], members[1:], *classes[k + 1 :]]))


def number_bound_indices(factors: tuple, order: list) -> tuple:
    """Return the factors with the bound indices numbered in this order."""
    return sort_factors(rename_indices(factors, {("b", n): ("b", k) for k, n in enumerate(order)}))


def sort_factors(factors: Iterable) -> tuple:
    """Return the factors in canonical order, and the indices of each in canonical order."""
    return sort_by_text(((head, sort_atom_indices(head, indices)), power) for (head, indices), power in factors)


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
