"""Shrink a claim to a smaller one with the same fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ..core.claims import Claim
from ..core.expr import Expr, lift, strip_brackets
from ..errors import KernelError
from .claim_mutants import is_well_typed
from .rewrite_rules import replace_node, rewritable_nodes

MAX_CANDIDATES = 60  # candidates tried


def shrink(claim: Claim, still: Callable[[Claim], bool], most: int = MAX_CANDIDATES) -> Claim:
    """Return a smaller claim for which `still` holds, or the claim itself if none is found among `most` candidates."""
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
    """Return the number of assumptions and tree nodes of a claim."""
    return len(claim.given) + sum(1 for tree in claim.trees for _ in rewritable_nodes(tree))


def candidates(claim: Claim) -> Iterator[Claim]:
    """Yield the claims with one assumption dropped, or with a node of a side replaced by one of its arguments, 0 or 1."""
    for at in range(len(claim.given)):
        yield replace(claim, given=claim.given[:at] + claim.given[at + 1 :])
    sides = (claim.start, *(s.expr for s in claim.steps))
    for at, side in enumerate(sides):
        for new in smaller_trees(side):
            smaller = with_sides(claim, (*sides[:at], new, *sides[at + 1 :]))
            if smaller is not None:
                yield smaller


def with_sides(claim: Claim, sides: tuple[Expr, ...]) -> Claim | None:
    """Return the claim with other sides; None if it is then vacuous or not well typed."""
    changed = replace(claim, start=sides[0], steps=tuple(replace(s, expr=e) for s, e in zip(claim.steps, sides[1:])))
    vacuous = claim.kind != "refutation" and any(strip_brackets(a) == strip_brackets(b) for a, b in zip(sides, sides[1:]))
    return None if vacuous or not is_well_typed(changed) else changed


def smaller_trees(e: Expr) -> Iterator[Expr]:
    """Yield the trees with one node replaced by an argument of the same shape, or by 0 or 1."""
    for path, node in rewritable_nodes(e):
        replacements = [a for a in node.args if a.shape == node.shape]
        if not node.shape and node.op not in ("const", "index"):
            replacements += [lift(0), lift(1)]
        for new in replacements:
            try:
                yield replace_node(e, path, new)
            except KernelError:  # the new node does not fit the shapes or indices around it
                continue
