"""Limits, by SymPy's own algorithm (Gruntz)."""

from __future__ import annotations

import sympy as sp

from .outcome import Fails, NotSettled, quiet
from .steps import at_sizes, most, told
from .tensors import flat
from .zero import vanishes


def approached(value, variable, to):
    """SymPy's limit, from above or far out."""
    try:
        return sp.limit(value, variable, 0, "+") if to == 0 else sp.limit(value, variable, sp.oo)
    except (NotImplementedError, ValueError) as problem:
        raise NotSettled(f"SymPy finds no limit: {problem}") from None


def limit(claim, sizes_tried, to, tell=quiet):
    """left tends to right as the variable grows, or falls to 0, entry by entry."""
    largest, count = 0, 0
    for sizes in sizes_tried:
        for variable, left, right in at_sizes(claim, sizes):
            for value, stated in zip(flat(left), flat(right), strict=True):
                result = approached(value, variable, to)
                if not vanishes(result - stated):
                    raise Fails(f"step 1{', at sizes ' * bool(sizes)}{told(sizes)}: SymPy's limit is {result}, and {stated} is stated")
                count += 1
        largest = max(largest, most(sizes))
    if not count:
        raise NotSettled("at none of the sizes is there anything to compare")
    tell(f"step 1: SymPy's limit is what is stated ... holds ({count} entr{'y' if count == 1 else 'ies'})")
    return "proved", "limit", "SymPy's limit (Gruntz)" + (f", at some sizes up to {largest}" if any(sizes_tried) else "")
