"""Rules for operations that take entries at indices held in other tensors."""

from __future__ import annotations

from itertools import product
from typing import Any

from .axes import Axis, FixedAxis, iterate_positions
from .entries import Entry
from .errors import NeedsNumericSize, NotRead
from .operation_rules import Call, rule
from .position_conversion import position_of_entry
from .tensor_values import TensorValue, axis_number, broadcast_values


def check_bounds(axis: Axis, indices: TensorValue, negative: bool = False) -> None:
    """Raise NotRead if an index is outside the axis: PyTorch would raise, even if the entry is not used."""
    for p in product(*map(positions, indices.axes)):
        position_of_entry(axis, indices.at(p), negative)


def positions(axis: Axis) -> list:
    """Return the positions along an axis."""
    return [place for place, _ in iterate_positions(axis)]


@rule("index.Tensor")
def index(call: Call, a: TensorValue, indices: list) -> TensorValue:
    indexed = [(k, positions) for k, positions in enumerate(indices) if positions is not None]
    axes, expanded = broadcast_values([positions for _, positions in indexed])
    first = indexed[0][0]
    if [k for k, _ in indexed] != list(range(first, first + len(indexed))):
        raise NotRead("places that are given for axes that do not lie side by side")
    unindexed = list(range(first + len(indexed), len(a.axes)))
    result_axes = (*a.axes[:first], *axes, *(a.axes[k] for k in unindexed))

    for (k, _), positions in zip(indexed, expanded):
        check_bounds(a.axes[k], positions, negative=True)

    def at(p: tuple) -> Entry:
        here = p[first : first + len(axes)]
        position = tuple(position_of_entry(a.axes[k], positions.at(here), True) for (k, _), positions in zip(indexed, expanded))
        return a.at((*p[:first], *position, *p[first + len(axes) :]))

    return TensorValue(result_axes, at)


@rule("embedding.default")
def embedding(call: Call, a: TensorValue, indices: TensorValue, *more: Any) -> TensorValue:
    check_bounds(a.axes[0], indices)
    return TensorValue((*indices.axes, a.axes[1]), lambda p: a.at((position_of_entry(a.axes[0], indices.at(p[:-1])), p[-1])))


@rule("index_select.default")
def index_select(call: Call, a: TensorValue, dim: int, indices: TensorValue) -> TensorValue:
    dim = axis_number(dim, a.axes)
    check_bounds(a.axes[dim], indices)
    axes = (*a.axes[:dim], indices.axes[0], *a.axes[dim + 1 :])
    return TensorValue(axes, lambda p: a.at((*p[:dim], position_of_entry(a.axes[dim], indices.at((p[dim],))), *p[dim + 1 :])))


@rule("gather.default")
def gather(call: Call, a: TensorValue, dim: int, indices: TensorValue, sparse_grad: bool = False) -> TensorValue:
    dim = axis_number(dim, a.axes)
    other_axes = [(given, wanted) for k, (given, wanted) in enumerate(zip(a.axes, indices.axes)) if k != dim]
    if any(given != wanted and not (isinstance(given, FixedAxis) and isinstance(wanted, FixedAxis)) for given, wanted in other_axes):
        raise NeedsNumericSize("axes that are cut in different ways stand side by side")
    check_bounds(a.axes[dim], indices)
    return TensorValue(indices.axes, lambda p: a.at((*p[:dim], position_of_entry(a.axes[dim], indices.at(p)), *p[dim + 1 :])))
