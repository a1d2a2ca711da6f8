"""Call a snippet with one more and with one fewer leading axis than a claim has, if its annotations begin with `*batch`.

The results must be those of separate calls. A snippet that counts its axes from the front is right with the axes of the claim alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import torch
from torch import Tensor

from .errors import Disagreement
from .snippet_calls import Bound, call_once

BATCH = ("*batch", "*#batch")
TOLERANCE = 1e-6  # relative to the largest entry; another axis gives entirely different numbers
CANCELLED = 2.0**-20  # entries that are smaller than the arguments by this factor may be what rounding left of a sum that is 0


def check_leading_axes(name: str, run: Callable, bound: Bound, other: Bound) -> None:
    """Raise Disagreement if a snippet computes something else on a stack of the arguments of two points, or on a part of a stack."""
    own_axes = {parameter: count_own_axes(bound.signature.parameters[parameter].annotation) for parameter in bound.arguments}
    given = {p: x for p, x in bound.arguments.items() if own_axes[p] is not None and isinstance(x, Tensor)}
    returned = bound.signature.return_annotation
    leading = {x.dim() - (own_axes[p] or 0) for p, x in given.items()}
    if len(leading) != 1 or any(count_own_axes(one) is None for one in get_args(returned) or [returned]):
        return

    def call_with(arguments: dict) -> tuple[Tensor, ...]:
        result = call_once(name, run, Bound(bound.signature, bound.arguments | arguments))[1]
        return result if isinstance(result, tuple) else (result,)

    first, second = call_with({}), {p: other.arguments[p] for p in given}
    try:
        results = first, call_with(second)
    except Disagreement:  # what its other arguments are does not fit these
        results, second = (first, first), given
    compare(name, call_with, {p: torch.stack([x, second[p]]) for p, x in given.items()}, [torch.stack(x) for x in zip(*results)], "more")
    if leading != {0}:
        compare(name, call_with, {p: x[0] for p, x in given.items()}, [x[0] for x in first], "fewer")


def count_own_axes(annotation: Any) -> int | None:
    """Return how many axes follow `*batch` in an annotation, None if it does not begin so."""
    for part in (annotation, *get_args(annotation)):
        first, *own = getattr(part, "dim_str", "").split() or [""]
        if first in BATCH:
            return len(own)
    return None


def compare(name: str, call_with: Callable, arguments: dict, wanted: list[Tensor], which: str) -> None:
    """Raise Disagreement unless a call gives these results."""
    where = f", with one {which} leading axis than the claim has, which its annotation *batch allows"
    try:
        results = call_with(arguments)
    except Disagreement as error:
        raise Disagreement(f"{error}{where}", code=error.code) from None
    for result, want in zip(results, wanted, strict=True):
        room = TOLERANCE * max(largest_entry(want), CANCELLED * max(map(largest_entry, arguments.values())))
        if result.shape != want.shape or not torch.allclose(result, want, rtol=TOLERANCE, atol=room, equal_nan=True):
            shapes = ", ".join(f"{p} of shape {tuple(x.shape)}" for p, x in arguments.items())
            raise Disagreement(f"{name} computes something else, given {shapes}{where}", code="snippet-wrong-with-leading-axes")


def largest_entry(x: Tensor) -> float:
    """Return the largest absolute value of the finite entries of a tensor; 0 if it has none."""
    return float(x.abs().nan_to_num(0, 0, 0).max()) if x.numel() else 0
