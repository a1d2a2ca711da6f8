"""Payloads: the polynomials inside atoms. Slots replace the indices that come from outside, so that equal payloads are equal tuples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations

from ..errors import KernelError
from .polynomials import Polynomial, atom, rename_indices, sort_by_text
from .rational_numbers import Fraction


class Unsupported(KernelError):
    """A node, or a combination of nodes, that the exact witness does not support."""

    code = "not-supported"


def outer_indices(p: Polynomial) -> list:
    """Return the indices of p that are not bound within it, sorted."""
    return list(sort_by_text({i for _, factors in p for (_, indices), _ in factors for i in indices if i[0] not in "bm"}))


def freeze(p: Polynomial) -> tuple:
    """Return p as a hashable tuple of its sorted items."""
    return sort_by_text(p.items())


def make_payload(p: Polynomial) -> tuple:
    """Return p with its outer indices replaced by slots, numbered so that the result is smallest, and those indices in slot order."""
    return cached_payload(tuple(p.items()))


@lru_cache(maxsize=4096)
def cached_payload(terms: tuple) -> tuple:
    """Return the same for a polynomial given as a tuple of items. Cached, since the same polynomial occurs in many places."""
    p = dict(terms)
    outside = outer_indices(p)
    if len(outside) > 5:
        raise Unsupported("a function of more than five indices")
    orders = list(permutations(outside))
    candidates = [(freeze(rename_polynomial(p, {i: ("s", k) for k, i in enumerate(order)})), order) for order in orders]
    return candidates[0] if len(candidates) == 1 else min(candidates, key=lambda candidate: repr(candidate[0]))


def instantiate(frozen: tuple, indices: tuple) -> Polynomial:
    """Return a payload as a polynomial with its slots filled. The indices must not be bound, or its own sums would capture them."""
    if any(i[0] == "b" for i in indices):
        raise AssertionError("a bound index would be captured")
    mapping = {("s", k): i for k, i in enumerate(indices)}
    return rename_polynomial(dict(frozen), mapping)


@lru_cache(maxsize=4096)
def slot_symmetries(frozen: tuple, slots: int) -> list:
    """Return the permutations of the slots that leave a payload unchanged."""
    identity, *orders = permutations(range(slots))
    unchanged = permute_slots(frozen, identity)
    return [identity, *(order for order in orders if permute_slots(frozen, order) == unchanged)]


def permute_slots(frozen: tuple, order: tuple) -> tuple:
    """Return a payload with its slots permuted and the indices of its atoms in canonical order."""
    mapping = {("s", k): ("s", j) for k, j in enumerate(order)}
    p = rename_polynomial(dict(frozen), mapping)
    return freeze(
        {(b, sort_by_text(((head, sort_atom_indices(head, i)), e) for (head, i), e in factors)): c for (b, factors), c in p.items()}
    )


def sort_atom_indices(head: tuple, indices: tuple) -> tuple:
    """Return the indices of an atom in a canonical order among all orders that mean the same."""
    if head[0] == "delta":
        return sort_by_text(indices)
    if len(indices) < 2 or not isinstance(head[-1], tuple):
        return indices
    orders = slot_symmetries(head[-1], len(indices))
    return indices if len(orders) == 1 else min((tuple(indices[k] for k in order) for order in orders), key=repr)


def rename_polynomial(p: Polynomial, mapping: dict) -> Polynomial:
    """Return the polynomial with its indices replaced according to the mapping."""
    return {(b, sort_by_text(rename_indices(f, mapping))): c for (b, f), c in p.items()}


def free_bound_indices(indices: tuple) -> tuple:
    """Return the indices with each bound one replaced by a temporarily free one that differs from all others, to look into a payload."""
    level = 1 + max((i[1][2] for i in indices if i[0] == "held" and isinstance(i[1], tuple)), default=0)
    return tuple(("held", ("b", i[1], level)) if i[0] == "b" else i for i in indices)


def function_atom(head: str | tuple, p: Polynomial, power: int | Fraction = 1) -> Polynomial:
    """Return a power of the atom with this head and with p as its payload."""
    frozen, indices = make_payload(p)
    return atom((*(head if isinstance(head, tuple) else (head,)), frozen), *indices, power=power)


def is_random(head: tuple) -> bool:
    """Return whether an atom's head, or its payload at any depth, contains a random symbol."""
    return (
        head[0] == "random"
        or head[0] != "joint"
        and isinstance(head[-1], tuple)
        and any(is_random(f[0]) for (_, factors), _ in head[-1] for f, _ in factors)
    )


def contains_symbol(head: tuple, name: tuple) -> bool:
    """Return whether an atom's head, or its payload at any depth, contains the symbol with the head `name` or its inverse."""
    return head in (name, ("inverse", *name[1:])) or (
        isinstance(head[-1], tuple) and any(contains_symbol(f[0], name) for (_, factors), _ in head[-1] for f, _ in factors)
    )


def is_real(head: tuple) -> bool:
    """Return whether the head shows that an atom is real. A modulus, logarithm or rounding is: each takes a real value."""
    if head[0] in ("abs", "log", "rounded", "joint"):
        return True
    return head[0] != "i" and not (
        isinstance(head[-1], tuple) and any(not is_real(f[0]) for (_, factors), _ in head[-1] for f, _ in factors)
    )


def iterate_axis_indices(p: Polynomial) -> Iterator[tuple]:
    """Yield ((symbol's head, axis), index) for each index of a symbol that no sum binds, also inside other atoms."""
    for _, factors in p:
        for (head, indices), _ in factors:
            if isinstance(head[-1], tuple):
                axes = [(axis, indices[slot[1]]) for axis, slot in iterate_axis_indices(dict(head[-1])) if slot[0] == "s"]
            else:
                axes = [((head, k), index) for k, index in enumerate(indices)] if head[0] in ("entry", "random", "inverse") else []
            yield from ((axis, index) for axis, index in axes if index[0] != "b")


def real_and_imaginary(p: Polynomial) -> tuple | None:
    """Return (a, b) with p = a + ib if every atom except i is visibly real, otherwise None."""
    parts: tuple = ({}, {})
    for (bound, factors), c in p.items():
        rest = tuple((f, power) for f, power in factors if f[0] != ("i",))
        if not all(is_real(f[0]) for f, _ in rest):
            return None
        parts[len(rest) < len(factors)][bound, rest] = c
    return parts


def list_product_parts(q: Polynomial) -> Iterator[Polynomial]:
    """Yield the factors of a product that have positive powers, roots included: the atoms, and the contents of a sum or a modulus."""
    for head, indices in (f for bound, factors in q for f, power in factors if len(q) == 1 and not bound and power > 0):
        yield atom(head, *indices)
        if head[0] in ("sum", "abs"):
            yield instantiate(head[1], indices)
