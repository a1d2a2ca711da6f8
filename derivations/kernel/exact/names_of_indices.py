"""The names of bound indices: all terms that differ in these alone have one form."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations, product

from .payloads import Unknown, settle
from .polynomials import rename

MAX_RENAMINGS = 5040


@lru_cache(maxsize=10000)
def named_alike(bound: tuple, factors: tuple) -> tuple:
    """The term that all terms share which differ from this one in the names of bound indices and in the order of factors."""
    bound = dict(bound)
    factors, numbers = sorted(factors, key=repr), list(bound)
    colours = {n: repr(bound[n]) for n in numbers}
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
    groups = [[n for n in numbers if colours[n] == colour] for colour in sorted(set(colours.values()))]
    count = 1
    for group in groups:
        for k in range(2, len(group) + 1):
            count *= k
    if count > MAX_RENAMINGS:
        raise Unknown(f"a term with {len(numbers)} summation indices that look alike; split the claim into smaller steps")
    best = None
    for orders in product(*map(permutations, groups)):
        order = [n for group in orders for n in group]
        numbered = rename(factors, {("b", n): ("b", k) for k, n in enumerate(order)})
        named = tuple(sorted((((head, settle(head, indices)), power) for (head, indices), power in numbered), key=repr))
        if best is None or repr(named) < repr(best[1]):
            best = tuple(bound[n] for n in order), named
    return best
