"""Rules for operations that split an axis into parts, concatenate tensors, or write to a part of one."""

from __future__ import annotations

from typing import Any

from .axes import Axis, FixedAxis, JoinedAxis, add_lengths, axis_length, join_axes, locate_in_part, size_names
from .entries import Entry, select_entry, simplify_truth
from .errors import NeedsNumericSize
from .operation_rules import Call, rule
from .position_conversion import position_of_index, same_position
from .tensor_values import TensorValue, axis_number


def pieces(call: Call, a: TensorValue, dim: int, counts: list) -> list[TensorValue]:
    """Split an axis into parts of these lengths."""
    dim = axis_number(dim, a.axes)
    start: dict = {}
    result = []
    for n in counts:
        end = add_lengths(start, call.reading.sizes.length(n))
        result.append(cut(a, dim, start, end))
        start = end
    return result


@rule("split_with_sizes.default")
def split_with_sizes(call: Call, a: TensorValue, counts: list, dim: int = 0) -> list[TensorValue]:
    return pieces(call, a, dim, counts)


@rule("split.Tensor")
def split(call: Call, a: TensorValue, size: Any, dim: int = 0) -> list[TensorValue]:
    return pieces(call, a, dim, [part.shape[dim] for part in call.out])


def cut(a: TensorValue, dim: int, start: dict, end: dict) -> TensorValue:
    """Return the part of a tensor from position `start` to `end` along an axis, both lengths."""
    axis = a.axes[dim]
    if not start and end == axis_length(axis):
        return a
    kept, back = sub_axis(axis, start, end)
    return TensorValue((*a.axes[:dim], kept, *a.axes[dim + 1 :]), lambda p: a.at((*p[:dim], back(p[dim]), *p[dim + 1 :])))


def sub_axis(axis: Axis, start: dict, end: dict) -> tuple[Axis, Any]:
    """Return the part of an axis from `start` to `end`, and the function that maps its positions to positions of the whole axis."""
    if isinstance(axis, FixedAxis) and start.keys() | end.keys() <= {()}:
        first = start.get((), 0)
        return FixedAxis(end.get((), 0) - first), lambda q: q + first
    if not isinstance(axis, JoinedAxis):
        raise NeedsNumericSize("an axis cut where its length is not known", size_names(axis))
    at: dict = {}
    parts, origins, inside = [], [], False
    for part_number, part in enumerate(axis.parts):
        after = add_lengths(at, axis_length(part))
        low = add_lengths(start, {k: -c for k, c in at.items()})
        high = add_lengths(end, {k: -c for k, c in at.items()})
        begins = low == {} or isinstance(part, FixedAxis) and low.keys() <= {()} and 0 < low[()] < part.n
        first = low.get((), 0) if begins and not inside else 0
        inside = inside or begins
        ends = high == axis_length(part) or isinstance(part, FixedAxis) and high.keys() <= {()} and 0 <= high.get((), 0) < part.n
        if inside:
            piece = FixedAxis((high.get((), 0) if ends else part.n) - first) if isinstance(part, FixedAxis) else part
            if piece != FixedAxis(0):
                parts.append(piece)
                origins.append((part_number, first))
        if inside and ends:
            break
        at = after
    else:
        raise NeedsNumericSize("an axis cut where its length is not known", size_names(axis))
    whole, layout = join_axes(parts)

    def back(q: Any) -> Any:
        k, local = locate_in_part(q, whole, layout)
        part_number, first = origins[k]
        return part_number, local + first if isinstance(local, int) else local

    return whole, back


@rule("slice.Tensor")
def slice_(call: Call, a: TensorValue, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> TensorValue:
    dim = axis_number(dim, a.axes)
    axis, sizes = a.axes[dim], call.reading.sizes
    if isinstance(axis, FixedAxis):
        kept = slice_positions(axis, start, end, step)
        return TensorValue(
            (*a.axes[:dim], FixedAxis(len(kept)), *a.axes[dim + 1 :]), lambda p: a.at((*p[:dim], kept[p[dim]], *p[dim + 1 :]))
        )
    if step != 1:
        raise NeedsNumericSize("steps along an axis whose length is not known", size_names(axis))
    left = {} if start is None else from_front(sizes.length(start), axis_length(axis))
    kept_length = sizes.length(call.out.shape[dim])
    return cut(a, dim, left, add_lengths(left, kept_length))


def slice_positions(axis: FixedAxis, start: Any, end: Any, step: int) -> range:
    """Return the positions along an axis that a slice takes."""
    first, last = (None if x is None else int(x) for x in (start, end))
    return range(axis.n)[first:last:step]


def from_front(at: dict, whole: dict) -> dict:
    """Return a bound of a slice counted from the front."""
    return add_lengths(whole, at) if at.keys() == {()} and at[()] < 0 else at


def require_same_axes(*axes: tuple) -> None:
    """Raise `NeedsNumericSize` unless the axes are the same. Axes of equal length may be split differently, so that their positions do not match."""
    if len(set(axes)) > 1:
        raise NeedsNumericSize("axes that are cut in different ways are joined")


@rule("cat.default")
def cat(call: Call, values: list[TensorValue], dim: int = 0) -> TensorValue:
    values = [v for v in values if v.axes != (FixedAxis(0),)]
    dim = axis_number(dim, values[0].axes)
    whole, layout = join_axes([v.axes[dim] for v in values])
    others = {(*v.axes[:dim], *v.axes[dim + 1 :]) for v in values}
    require_same_axes(*others)

    def at(p: tuple) -> Entry:
        k, local = locate_in_part(p[dim], whole, layout)
        return values[k].at((*p[:dim], local, *p[dim + 1 :]))

    return TensorValue((*values[0].axes[:dim], whole, *values[0].axes[dim + 1 :]), at)


@rule("stack.default")
def stack(call: Call, values: list[TensorValue], dim: int = 0) -> TensorValue:
    dim = axis_number(dim, values[0].axes, 1)
    axes = values[0].axes
    require_same_axes(*(v.axes for v in values))
    return TensorValue((*axes[:dim], FixedAxis(len(values)), *axes[dim:]), lambda p: values[p[dim]].at((*p[:dim], *p[dim + 1 :])))


@rule("select_scatter.default")
def select_scatter(call: Call, a: TensorValue, new: TensorValue, dim: int, k: Any) -> TensorValue:
    """Replace the entries at one position of an axis."""
    dim = axis_number(dim, a.axes)
    position = position_of_index(call, a.axes[dim], k)
    require_same_axes(new.axes, (*a.axes[:dim], *a.axes[dim + 1 :]))

    def at(p: tuple) -> Entry:
        selected = simplify_truth(same_position(a.axes[dim], position, p[dim]))
        return select_entry(selected, new.at((*p[:dim], *p[dim + 1 :])), a.at(p)) if selected is not False else a.at(p)

    return TensorValue(a.axes, at)


@rule("slice_scatter.default")
def slice_scatter(
    call: Call, a: TensorValue, new: TensorValue, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> TensorValue:
    """Replace the entries at a slice of an axis."""
    dim = axis_number(dim, a.axes)
    axis = a.axes[dim]
    require_same_axes((*new.axes[:dim], *new.axes[dim + 1 :]), (*a.axes[:dim], *a.axes[dim + 1 :]))
    if isinstance(axis, FixedAxis):
        taken = slice_positions(axis, start, end, step)
        inside = {q: k for k, q in enumerate(taken)}
    elif new.axes[dim] == axis:
        return new
    else:
        raise NeedsNumericSize("some places written to of an axis whose length is not known")

    def at(p: tuple) -> Entry:
        return new.at((*p[:dim], inside[p[dim]], *p[dim + 1 :])) if p[dim] in inside else a.at(p)

    return TensorValue(a.axes, at)


@rule("diagonal_scatter.default")
def diagonal_scatter(call: Call, a: TensorValue, new: TensorValue, offset: int = 0, first: int = 0, second: int = 1) -> TensorValue:
    """Replace the entries of a diagonal: those whose positions along two axes are the same."""
    first, second = axis_number(first, a.axes), axis_number(second, a.axes)
    if offset or a.axes[first] != a.axes[second]:
        raise NeedsNumericSize("a diagonal beside the main one, or of what is not square")
    require_same_axes(new.axes, (*(axis for k, axis in enumerate(a.axes) if k not in (first, second)), a.axes[first]))

    def at(p: tuple) -> Entry:
        on_diagonal = simplify_truth(same_position(a.axes[first], p[first], p[second]))
        rest = tuple(q for k, q in enumerate(p) if k not in (first, second))
        return a.at(p) if on_diagonal is False else select_entry(on_diagonal, new.at((*rest, p[first])), a.at(p))

    return TensorValue(a.axes, at)
