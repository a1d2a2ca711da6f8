"""A tensor as mathematics: its axes, and the entry at a position along each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from ..core.constructors import total
from ..core.expr import Expr, lift
from .axes import UNIT_AXIS, Axis, Position, axis_length, iterate_positions
from .entries import Entry, Masked, add_entries, to_number
from .errors import NeedsNumericSize, NotRead


@dataclass(frozen=True)
class TensorValue:
    """A tensor as a function from positions to entries."""

    axes: tuple[Axis, ...]
    at: Callable[[tuple], Entry]  # takes a position along each axis

    def map(self, f: Callable[[Entry], Entry]) -> TensorValue:
        """Return the tensor with `f` applied to each entry."""
        return TensorValue(self.axes, lambda p: f(self.at(p)))


def scalar_value(e: Entry) -> TensorValue:
    """Return a tensor without axes."""
    return TensorValue((), lambda p: e)


def broadcast_values(values: Sequence[TensorValue], axes: tuple[Axis, ...] = ()) -> tuple[tuple[Axis, ...], list[TensorValue]]:
    """Return the broadcast axes of some tensors (and of `axes`), and the tensors expanded to them."""
    rank = max([len(axes), *(len(v.axes) for v in values)])
    result = []
    for k in range(-rank, 0):
        aligned = [v.axes[k] for v in values if len(v.axes) >= -k] + ([axes[k]] if len(axes) >= -k else [])
        result.append(reduce(common_axis, aligned))
    return tuple(result), [expand_to(v, tuple(result)) for v in values]


def common_axis(first: Axis, second: Axis) -> Axis:
    """Return the axis that two axes broadcast to; raise `NeedsNumericSize` if they do not match."""
    if first == second or second == UNIT_AXIS:
        return first
    if first == UNIT_AXIS:
        return second
    raise NeedsNumericSize(
        "axes that are cut in different ways stand side by side"
        if axis_length(first) == axis_length(second)
        else "axes of different lengths"
    )


def expand_to(value: TensorValue, axes: tuple[Axis, ...]) -> TensorValue:
    """Return a tensor expanded to axes that it broadcasts to."""
    if value.axes == axes:
        return value
    given = value.axes
    skip = len(axes) - len(given)

    def at(p: tuple) -> Entry:
        return value.at(tuple(0 if axis == UNIT_AXIS else q for axis, q in zip(given, p[skip:])))

    return TensorValue(axes, at)


def apply_entrywise(f: Callable, *values: TensorValue) -> TensorValue:
    """Return `f` of the entries of some tensors, which are broadcast."""
    axes, expanded_values = broadcast_values(values)
    return TensorValue(axes, lambda p: f(*(v.at(p) for v in expanded_values)))


def sum_along(axis: Axis, body: Callable[[Position], Entry]) -> Expr:
    """Return the sum of `body` over the positions along an axis."""
    result: Entry = lift(0)
    for position, bound in iterate_positions(axis):
        term = body(position)
        if isinstance(term, Masked):
            raise NotRead("a sum in which minus infinity stands")
        term = to_number(term)
        result = add_entries(result, total(term, *bound) if bound else term)
    return to_number(result)


def axis_number(dim: int, of: Sequence, more: int = 0) -> int:
    """Return the number of an axis that may be counted from the end, with `more` axes added; raise NotRead if there is no such axis."""
    count = max(1, len(of) + more)
    if not -count <= dim < count:
        raise NotRead(f"axis {dim} of a tensor with {len(of)} axes")
    return dim % count


def insert_position(p: tuple, k: int, position: Position) -> tuple:
    """Return a position with one for a new axis k inserted."""
    return (*p[:k], position, *p[k:])
