"""Identities, checked step by step and entry by entry at each of the sizes."""

from __future__ import annotations

import sympy as sp

from .outcome import Fails, NotSettled, quiet
from .tensors import flat, shape_of
from .zero_test import away_from_zero, contradictory, left_over, reduces

NONE = "at all the small sizes that are tried, its assumptions contradict each other"


def at_sizes(claim, sizes):
    """Return what the claim states at these sizes."""
    return claim(**{name: n if isinstance(n, tuple) else sp.Integer(n) for name, n in sizes.items()})


def most(sizes: dict) -> int:
    """Return the largest size. The values that are tuples are entries of masks."""
    return max([1, *(n for n in sizes.values() if not isinstance(n, tuple))])


def told(values: dict) -> str:
    """Return values for messages: n = 2, m = 3."""
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def where(k: int, sizes: dict, indices: dict, place: int, count: int) -> str:
    """Return the step, the sizes and the entry for messages."""
    parts = [f"step {k}", f"at sizes {told(sizes)}" * bool(sizes), told(indices), f"entry {place} of {count}" * (count > 1)]
    return ", ".join(filter(None, parts)) + ": "


def differences(claim, sizes_tried, given):
    """Yield (step, place, left - right, equations that hold, sizes) for each entry of each step, at each of the sizes."""
    for sizes in sizes_tried:
        ideal = [sp.expand(g) for zero in at_sizes(given, sizes) for g in flat(zero)] if given else []
        point = unit_rows(ideal)
        if not point and contradictory(ideal):  # at these sizes anything would follow
            continue
        for k, left, right, *indices in at_sizes(claim, sizes):
            if shape_of(left) != shape_of(right):
                raise Fails(where(k, sizes, *indices or [{}], 1, 1) + "the two sides have different shapes")
            a, b = flat(left), flat(right)
            for place, (x, y) in enumerate(zip(a, b, strict=True), 1):
                if point and away_from_zero((x - y).xreplace(point)):
                    raise Fails(where(k, sizes, *indices or [{}], place, len(a)) + "where all rows are unit vectors, the two sides differ")
                yield k, where(k, sizes, *indices or [{}], place, len(a)), x - y, ideal, sizes


def unit_rows(ideal: list) -> dict:
    """Return a point at which the equations hold and every row is a different unit vector, among all rows or those of its matrix, or {}.

    Many equations state that rows are orthogonal or that a matrix is the inverse of another; solving them takes long.
    """
    entries = sorted(set().union(*(g.free_symbols for g in ideal)), key=str) if ideal else []
    places = [
        (name, *map(int, place.rstrip("]").split(","))) for name, _, place in (str(x).partition("[") for x in entries) if "," in place
    ]
    if len(places) < len(entries) or any(len(place) != 3 for place in places):
        return {}
    in_all = {row: k for k, row in enumerate(sorted({place[:2] for place in places}), 1)}
    for number in (lambda row: in_all[row], lambda row: row[1]):
        point = {x: sp.Integer(number(place[:2]) == place[2]) for x, place in zip(entries, places, strict=True)}
        if all(g.xreplace(point) == 0 for g in ideal):
            return point
    return {}


def met(kept: list) -> dict:
    """Return the symbols of all differences with the same equations, by the identity of the list of equations."""
    found = {}
    for _, _, difference, ideal, _ in kept:
        if ideal:
            found.setdefault(id(ideal), set()).update(difference.free_symbols)
    return found


def identity(claim, sizes_tried, reasons, given=None, tell=quiet):
    """Check that the difference of every step is 0. Evaluate all of them at a point first, to find false ones fast."""
    kept, counts, largest = [], dict.fromkeys(range(1, len(reasons) + 1), 0), 0
    for k, place, difference, ideal, sizes in differences(claim, sizes_tried, given):
        if not ideal and away_from_zero(difference):
            raise Fails(place + left_over(difference))
        kept.append((k, place, difference, ideal, sizes))
    beside = met(kept)
    for k, place, difference, ideal, sizes in kept:
        if not reduces(difference, ideal, beside.get(id(ideal), ())):
            raise Fails(place + left_over(difference))
        counts[k], largest = counts[k] + 1, max(largest, most(sizes))
    if not all(counts.values()):
        raise NotSettled(NONE)
    for k, reason in enumerate(reasons, 1):
        tell(f"step {k}{': ' * bool(reason)}{reason} ... holds ({counts[k]} entr{'y' if counts[k] == 1 else 'ies'})")
    return "proved", f"some sizes up to {largest}" if any(sizes_tried) else "every value", "expanded entry by entry"
