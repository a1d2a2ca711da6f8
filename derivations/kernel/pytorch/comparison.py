"""Compare two values: they agree if they differ by no more than the sum of their error bounds. No tolerance is chosen."""

from __future__ import annotations

import torch
from torch import Tensor

from .error_bounds import COVER, BoundedValue
from .errors import Disagreement

MAX_RELATIVE_BOUND = 2.0**-20  # a bound larger than this, relative to the values and to 1, is too large to decide anything


def is_decisive(*parts: BoundedValue) -> Tensor:
    """Return a mask of the entries where all values exist and their bounds are small enough."""
    size = torch.stack(torch.broadcast_tensors(*(x.value.abs() for x in parts))).amax(0).clamp(min=1)
    return torch.stack(torch.broadcast_tensors(*(x.value.isfinite() & (x.error <= MAX_RELATIVE_BOUND * size) for x in parts))).all(0)


def count_points(good: Tensor) -> int:
    """Return the number of points at which every entry of a mask is true."""
    return int(good.flatten(1).all(1).sum())


def first_entries(bad: Tensor, *parts: BoundedValue) -> list:
    """Return the entries of some values at the first place where a mask is true."""
    at = tuple(bad.nonzero()[0])
    return [x.value.expand(bad.shape)[at].item() for x in parts]


def compare(left: BoundedValue, right: BoundedValue, what: str, sizes: dict, factor: float = 1.0) -> Tensor:
    """Return a mask of the entries that were compared. Raise Disagrees if two of them differ; `what` begins the message."""
    good = is_decisive(left, right)
    bad = good & ((left.value - right.value).abs() > COVER * factor * (left.error + right.error))
    if bad.any():
        a, b = first_entries(bad, left, right)
        raise Disagreement(f"{what}{describe_sizes(sizes)}: {a:.17g} and {b:.17g}")
    return good


def describe_sizes(sizes: dict) -> str:
    """Return sizes as the end of a message."""
    return " at " + ", ".join(f"{n} = {k}" for n, k in sorted(sizes.items())) if sizes else ""


def describe_left_out(points: int) -> str:
    """Return the number of points that were left out, as the end of a note."""
    return f"; {points} points left out, where the rounding bounds tell nothing" if points else ""
