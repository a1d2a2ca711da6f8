"""Which sizes are tried: every size takes every small value, and of any two each is the larger one once."""

from __future__ import annotations

from ..core.claims import Claim
from ..core.expr import symbols, walk


def size_names(claim: Claim) -> list:
    return sorted(n for n, s in symbols(*claim.trees).items() if s.data[1] == "size")


def small_numbers(claim: Claim, names: list) -> tuple:
    """What each size takes where sizes are numbers and nothing more, which is cheap; () where something is counted."""
    counted = any(n.shape or n.op == "sum" for t in claim.trees for n in walk(t))
    return (1, 2, 3, 4) if 0 < len(names) < 4 and not counted else ()


def explicit_sizes(claim: Claim, names: list) -> list:
    """Tuples of sizes, in the order of the names."""
    nodes = [n for t in claim.trees for n in walk(t)]
    hard = any(n.op in ("inverse", "softmax", "derivative") for n in nodes) or any(a.kind == "product" for a in claim.given)
    top, count = 2 if hard else 3, len(names)
    chosen = [
        (1,) * count,
        (2,) * count,
        *(
            tuple(1 + (k // top**digit + shift) % top for k in range(count))
            for digit in range(2 if count > top else 1)
            for shift in range(top)
        ),
        tuple(top - k % top for k in range(count)),
    ]
    return list(dict.fromkeys(chosen))
