"""The mean of one of n shares of a constant, such as a weight of a softmax, if chance alone distinguishes the n positions."""

from __future__ import annotations

from collections.abc import Iterator

from .atom_payloads import instantiate
from .index_sums import sum_over_index
from .normal_form import FRESH_NUMBERS, Facts, factor_sign, multiply, raise_to_allowed_power, reduce_term
from .polynomials import MAXIMUM_INDEX, Polynomial, constant, is_multiple, rename_indices, size_polynomial
from .rational_numbers import Fraction


def mean_of_share(factors: list, facts: Facts) -> Polynomial | None:
    """Return c/n if the factors are c g_i / (g_1 + ... + g_n), where chance alone distinguishes i from the other positions. Else None.

    All random entries are independent, and those of one tensor have the same distribution. So if the positions along an axis are permuted,
    in all tensors that have this axis at once, the joint distribution stays the same, and c g_i / (g_1 + ... + g_n) has the same mean for
    each i. The n means add up to c. They exist, because each share is between 0 and c.
    """
    if not all(factor_sign(f, power, facts) for f, power in factors):
        return None
    leaves = list(iterate_leaves(factors))
    axes = {(head, k) for head, indices in leaves if head[0] == "random" for k in range(len(indices))}
    shares = (mean_along(axis, factors, leaves, facts) for axis in sorted(axes))
    return next((share for share in shares if share is not None), None)


def mean_along(axis: tuple, factors: list, leaves: list, facts: Facts) -> Polynomial | None:
    """Return c/n for positions along this axis of a random tensor; None if the factors are no such share."""
    positions = find_positions(axis, leaves)
    chosen, sizes = [i for i in positions if i[0] != "inner"], [i[2] for i in positions if i[0] == "inner" and i[2] is not None]
    if len(chosen) != 1 or not sizes:
        return None
    (place,), size = chosen, sizes[0]
    above = [x for x in factors if any(place in indices for _, indices in iterate_leaves([x]))]
    below = [x for x in factors if x not in above]
    if len(below) != 1 or below[0][0][0][0] != "sum" or below[0][1] != -1:
        return None
    (head, indices), _ = below[0]
    total = instantiate(head[1], indices)
    added = sum_over_index(reduce_term({}, above, facts), place, size, facts)
    if not is_multiple(added, total):
        return None
    c: Fraction = next(added[term] / total[term] for term in total)
    return multiply(constant(c), raise_to_allowed_power(size_polynomial(size), Fraction(-1), facts), facts)


def find_positions(axis: tuple, leaves: list) -> set:
    """Return the indices along this axis of a random tensor and along those axes of others that share an index with it.

    Return the empty set if such an index is also on two axes of one tensor, or belongs to something that is not random.
    """
    axes, positions = {axis}, set[tuple]()
    while True:
        found = {indices[k] for head, indices in leaves for k in range(len(indices)) if (head, k) in axes}
        axes |= {(head, k) for head, indices in leaves for k, i in enumerate(indices) if i in found}
        if found == positions:
            break
        positions = found
    heads = [head for head, _ in axes]
    return positions if len(heads) == len(set(heads)) and all(head[0] == "random" for head in heads) else set()


def iterate_leaves(factors: list) -> Iterator[tuple]:
    """Yield the atoms without a payload at any depth, with ("inner", number, size) in place of each index that something inside runs over."""
    for (head, indices), _ in factors:
        if head[0] == "joint" or not isinstance(head[-1], tuple):
            yield head, indices
            continue
        for bound, inside in instantiate(head[-1], indices):
            held: dict[tuple, tuple] = {("b", k): ("inner", next(FRESH_NUMBERS), size) for k, size in enumerate(bound)}
            held[MAXIMUM_INDEX] = ("inner", next(FRESH_NUMBERS), None)
            yield from iterate_leaves(rename_indices(inside, held))
