"""What stands inside an atom: a smaller polynomial, kept with slots in the place of its outside indices, so that equal ones look alike."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations

from ..errors import KernelError
from .polynomials import atom, ordered, rename


class Unknown(KernelError):
    """A node, or a combination of nodes, that the exact witness does not know."""


def externals(p: dict) -> list:
    return list(ordered({i for _, factors in p for (_, indices), _ in factors for i in indices if i[0] not in "bm"}))


def freeze(p: dict) -> tuple:
    return ordered(p.items())


def payload(p: dict) -> tuple:
    """p with its outside indices replaced by slots, in the order that makes it smallest; and those indices, in that order."""
    return cached_payload(tuple(p.items()))


@lru_cache(maxsize=4096)
def cached_payload(terms: tuple) -> tuple:
    """The same, kept: one thing is met in many places."""
    p = dict(terms)
    outside = externals(p)
    if len(outside) > 5:
        raise Unknown("a function of more than five indices")
    orders = list(permutations(outside))
    made = [(freeze(renamed(p, {i: ("s", k) for k, i in enumerate(order)})), order) for order in orders]
    return made[0] if len(made) == 1 else min(made, key=lambda one: repr(one[0]))


def instantiate(frozen: tuple, indices: tuple) -> dict:
    """A payload with its slots filled, by indices that its own bound indices cannot capture."""
    if any(i[0] == "b" for i in indices):
        raise AssertionError("a bound index would be captured")
    mapping = {("s", k): i for k, i in enumerate(indices)}
    return renamed(dict(frozen), mapping)


@lru_cache(maxsize=4096)
def slot_symmetries(frozen: tuple, slots: int) -> list:
    """The permutations of the slots that leave a payload as it is."""
    found = []
    for order in permutations(range(slots)):
        mapping = {("s", k): ("s", j) for k, j in enumerate(order)}
        if freeze(renamed(dict(frozen), mapping)) == frozen:
            found.append(order)
    return found


def settle(head: tuple, indices: tuple) -> tuple:
    """The indices of an atom in one order of all that mean the same."""
    if head[0] == "delta":
        return ordered(indices)
    if len(indices) < 2 or not isinstance(head[-1], tuple):
        return indices
    orders = slot_symmetries(head[-1], len(indices))
    return indices if len(orders) == 1 else min((tuple(indices[k] for k in order) for order in orders), key=repr)


def renamed(p: dict, mapping: dict) -> dict:
    return {(b, ordered(rename(f, mapping))): c for (b, f), c in p.items()}


def hold(indices: tuple) -> tuple:
    """Bound indices made free for a while, to look into a payload: by names that none of the others has, which may be held themselves."""
    level = 1 + max((i[1][2] for i in indices if i[0] == "held" and isinstance(i[1], tuple)), default=0)
    return tuple(("held", ("b", i[1], level)) if i[0] == "b" else i for i in indices)


def function_atom(head, p: dict, power=1) -> dict:
    frozen, indices = payload(p)
    return atom((*(head if isinstance(head, tuple) else (head,)), frozen), *indices, power=power)


def is_random(head: tuple) -> bool:
    """Does an atom's head, or its payload however deep, hold what is random?"""
    return (
        head[0] == "random"
        or head[0] != "joint"
        and isinstance(head[-1], tuple)
        and any(is_random(f[0]) for (_, factors), _ in head[-1] for f, _ in factors)
    )


def mentions(head: tuple, name: tuple) -> bool:
    """Does an atom's head, or its payload however deep, hold the symbol with this head?"""
    return head == name or isinstance(head[-1], tuple) and any(mentions(f[0], name) for (_, factors), _ in head[-1] for f, _ in factors)


def is_real(head: tuple) -> bool:
    """Is an atom real for a reason that its head shows? A modulus is, a logarithm and a rounding: they are taken of what is real."""
    if head[0] in ("abs", "log", "rounded", "joint"):
        return True
    return head[0] != "i" and not (
        isinstance(head[-1], tuple) and any(not is_real(f[0]) for (_, factors), _ in head[-1] for f, _ in factors)
    )


def on_axes(p: dict):
    """Each index that no sum binds and that stands on an axis of a symbol, inside of other atoms too: ((symbol's head, axis), index)."""
    for _, factors in p:
        for (head, indices), _ in factors:
            if isinstance(head[-1], tuple):
                found = [(axis, indices[slot[1]]) for axis, slot in on_axes(dict(head[-1])) if slot[0] == "s"]
            else:
                found = [((head, k), index) for k, index in enumerate(indices)] if head[0] in ("entry", "random", "inverse") else []
            yield from ((axis, index) for axis, index in found if index[0] != "b")
