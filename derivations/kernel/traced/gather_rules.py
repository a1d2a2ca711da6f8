"""Rules for operations that take entries at indices held in other tensors."""

from __future__ import annotations

from itertools import product
from typing import Any

from .axes import Axis, Count, places
from .entries import Entry
from .errors import NotRead, Sized
from .index_positions import place_at
from .operation_rules import Call, rule
from .tensor_values import Value, axis_number, broadcast


def check_bounds(axis: Axis, indices: Value, negative: bool = False) -> None:
    """Raise NotRead if an index is outside the axis: PyTorch would raise, even if the entry is not used."""
    for p in product(*map(positions, indices.axes)):
        place_at(axis, indices.at(p), negative)


def positions(axis: Axis) -> list:
    """Return the positions along an axis."""
    return [place for place, _ in places(axis)]


@rule("index.Tensor")
def index(call: Call, a: Value, indices: list) -> Value:
    indexed = [(k, positions) for k, positions in enumerate(indices) if positions is not None]
    axes, expanded = broadcast([positions for _, positions in indexed])
    first = indexed[0][0]
    if [k for k, _ in indexed] != list(range(first, first + len(indexed))):
        raise NotRead("places that are given for axes that do not lie side by side")
    unindexed = list(range(first + len(indexed), len(a.axes)))
    result_axes = (*a.axes[:first], *axes, *(a.axes[k] for k in unindexed))

    for (k, _), positions in zip(indexed, expanded):
        check_bounds(a.axes[k], positions, negative=True)

    def at(p: tuple) -> Entry:
        here = p[first : first + len(axes)]
        position = tuple(place_at(a.axes[k], positions.at(here), True) for (k, _), positions in zip(indexed, expanded))
        return a.at((*p[:first], *position, *p[first + len(axes) :]))

    return Value(result_axes, at)


@rule("embedding.default")
def embedding(call: Call, a: Value, indices: Value, *more: Any) -> Value:
    check_bounds(a.axes[0], indices)
    return Value((*indices.axes, a.axes[1]), lambda p: a.at((place_at(a.axes[0], indices.at(p[:-1])), p[-1])))


@rule("index_select.default")
def index_select(call: Call, a: Value, dim: int, indices: Value) -> Value:
    dim = axis_number(dim, a.axes)
    check_bounds(a.axes[dim], indices)
    axes = (*a.axes[:dim], indices.axes[0], *a.axes[dim + 1 :])
    return Value(axes, lambda p: a.at((*p[:dim], place_at(a.axes[dim], indices.at((p[dim],))), *p[dim + 1 :])))


@rule("gather.default")
def gather(call: Call, a: Value, dim: int, indices: Value, sparse_grad: bool = False) -> Value:
    dim = axis_number(dim, a.axes)
    other_axes = [(given, wanted) for k, (given, wanted) in enumerate(zip(a.axes, indices.axes)) if k != dim]
    if any(given != wanted and not (isinstance(given, Count) and isinstance(wanted, Count)) for given, wanted in other_axes):
        raise Sized("axes that are cut in different ways stand side by side")
    check_bounds(a.axes[dim], indices)
    return Value(indices.axes, lambda p: a.at((*p[:dim], place_at(a.axes[dim], indices.at(p)), *p[dim + 1 :])))
