"""Limits, by SymPy's own algorithm (Gruntz)."""

from __future__ import annotations

import sympy as sp

from .outcome import Fails, NotSettled, quiet
from .steps import at_sizes, most, told
from .tensors import flat
from .zero_test import vanishes


def approached(value, variable, to):
    """Return SymPy's limit of a value as the variable tends to 0 from above, or to infinity."""
    try:
        return sp.limit(value, variable, 0, "+") if to == 0 else sp.limit(value, variable, sp.oo)
    except (NotImplementedError, ValueError) as problem:
        raise NotSettled(f"SymPy finds no limit: {problem}") from None


def where_nothing_is_left(value, stated, variable, to):
    """Return which symbol changes the limit if it is 0, in words, or "". SymPy assumes that coefficients of growing terms are not 0."""
    for name in sorted(value.free_symbols - {variable}, key=str):
        if name.is_zero is not False:
            there = value.xreplace({name: sp.Integer(0)})
            if there.has(sp.zoo, sp.nan, sp.oo):  # it is undefined there
                continue
            found, wanted = approached(there, variable, to), stated.xreplace({name: sp.Integer(0)})
            if not found.has(sp.zoo, sp.nan) and not vanishes(found - wanted):
                return f"where {name} = 0 SymPy's limit is {found}, and {wanted} is stated"
    return ""


def limit(claim, sizes_tried, to, at_zero=True, tell=quiet):
    """Check that each entry of left tends to that of right. at_zero: also check symbols at 0, unless they are assumed nonzero."""
    largest, count = 0, 0
    for sizes in sizes_tried:
        for variable, left, right in at_sizes(claim, sizes):
            for value, stated in zip(flat(left), flat(right), strict=True):
                result = approached(value, variable, to)
                if not vanishes(result - stated):
                    raise Fails(f"step 1{', at sizes ' * bool(sizes)}{told(sizes)}: SymPy's limit is {result}, and {stated} is stated")
                if at_zero and (problem := where_nothing_is_left(value, stated, variable, to)):
                    raise Fails(f"step 1{', at sizes ' * bool(sizes)}{told(sizes)}: {problem}")
                count += 1
        largest = max(largest, most(sizes))
    if not count:
        raise NotSettled("at none of the sizes is there anything to compare")
    tell(f"step 1: SymPy's limit is what is stated ... holds ({count} entr{'y' if count == 1 else 'ies'})")
    return "proved", "limit", "SymPy's limit (Gruntz)" + (f", at some sizes up to {largest}" if any(sizes_tried) else "")
