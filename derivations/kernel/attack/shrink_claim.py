"""A claim made smaller, for as long as what is wrong with it stays wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..core.claims import Claim
from ..core.expr import Expr, lift, strip
from ..errors import KernelError
from .claim_mutants import well_typed
from .rewrite_rules import places, put

MOST = 60  # claims tried


def shrunk(claim: Claim, still: Callable[[Claim], bool], most: int = MOST) -> Claim:
    """The smallest that was found of which `still` holds; the claim itself where none is smaller."""
    while most > 0:
        for smaller in sorted(candidates(claim), key=size):
            if size(smaller) >= size(claim) or most <= 0:
                return claim
            most -= 1
            if still(smaller):
                claim = smaller
                break
        else:
            return claim
    return claim


def size(claim: Claim) -> int:
    return len(claim.given) + sum(1 for tree in claim.trees for _ in places(tree))


def candidates(claim: Claim):
    """Claims with an assumption less, or with a part of a tree in the place of the tree."""
    for at in range(len(claim.given)):
        yield replace(claim, given=claim.given[:at] + claim.given[at + 1 :])
    sides = (claim.start, *(s.expr for s in claim.steps))
    for at, side in enumerate(sides):
        for new in smaller_trees(side):
            made = with_sides(claim, (*sides[:at], new, *sides[at + 1 :]))
            if made is not None:
                yield made


def with_sides(claim: Claim, sides: tuple) -> Claim | None:
    made = replace(claim, start=sides[0], steps=tuple(replace(s, expr=e) for s, e in zip(claim.steps, sides[1:])))
    vacuous = claim.kind != "refutation" and any(strip(a) == strip(b) for a, b in zip(sides, sides[1:]))
    return None if vacuous or not well_typed(made) else made


def smaller_trees(e: Expr):
    for path, node in places(e):
        instead = [a for a in node.args if a.shape == node.shape]
        if not node.shape and node.op not in ("const", "index"):
            instead += [lift(0), lift(1)]
        for new in instead:
            try:
                yield put(e, path, new)
            except KernelError:
                continue
