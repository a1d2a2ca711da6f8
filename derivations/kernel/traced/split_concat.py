"""Rules for operations that split an axis into parts, concatenate tensors, or write to a part of one."""

from __future__ import annotations

from typing import Any

from .axes import Axis, Count, Joined, added, joined, length, located, names_in
from .entries import Entry, chosen, truth
from .errors import Sized
from .index_positions import place_of, same_place
from .operation_rules import Call, rule
from .tensor_values import Value, axis_number


def pieces(call: Call, a: Value, dim: int, counts: list) -> list[Value]:
    """Split an axis into parts of these lengths."""
    dim = axis_number(dim, a.axes)
    start: dict = {}
    result = []
    for n in counts:
        end = added(start, call.reading.sizes.length(n))
        result.append(cut(a, dim, start, end))
        start = end
    return result


@rule("split_with_sizes.default")
def split_with_sizes(call: Call, a: Value, counts: list, dim: int = 0) -> list[Value]:
    return pieces(call, a, dim, counts)


@rule("split.Tensor")
def split(call: Call, a: Value, size: Any, dim: int = 0) -> list[Value]:
    return pieces(call, a, dim, [part.shape[dim] for part in call.out])


def cut(a: Value, dim: int, start: dict, end: dict) -> Value:
    """Return the part of a tensor from position `start` to `end` along an axis, both lengths."""
    axis = a.axes[dim]
    if not start and end == length(axis):
        return a
    kept, back = sub_axis(axis, start, end)
    return Value((*a.axes[:dim], kept, *a.axes[dim + 1 :]), lambda p: a.at((*p[:dim], back(p[dim]), *p[dim + 1 :])))


def sub_axis(axis: Axis, start: dict, end: dict) -> tuple[Axis, Any]:
    """Return the part of an axis from `start` to `end`, and the function that maps its positions to positions of the whole axis."""
    if isinstance(axis, Count) and start.keys() | end.keys() <= {()}:
        first = start.get((), 0)
        return Count(end.get((), 0) - first), lambda q: q + first
    if not isinstance(axis, Joined):
        raise Sized("an axis cut where its length is not known", names_in(axis))
    at: dict = {}
    parts, origins, inside = [], [], False
    for part_number, part in enumerate(axis.parts):
        after = added(at, length(part))
        low = added(start, {k: -c for k, c in at.items()})
        high = added(end, {k: -c for k, c in at.items()})
        begins = low == {} or isinstance(part, Count) and low.keys() <= {()} and 0 < low[()] < part.n
        first = low.get((), 0) if begins and not inside else 0
        inside = inside or begins
        ends = high == length(part) or isinstance(part, Count) and high.keys() <= {()} and 0 <= high.get((), 0) < part.n
        if inside:
            piece = Count((high.get((), 0) if ends else part.n) - first) if isinstance(part, Count) else part
            if piece != Count(0):
                parts.append(piece)
                origins.append((part_number, first))
        if inside and ends:
            break
        at = after
    else:
        raise Sized("an axis cut where its length is not known", names_in(axis))
    whole, layout = joined(parts)

    def back(q: Any) -> Any:
        k, local = located(q, whole, layout)
        part_number, first = origins[k]
        return part_number, local + first if isinstance(local, int) else local

    return whole, back


@rule("slice.Tensor")
def slice_(call: Call, a: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Value:
    dim = axis_number(dim, a.axes)
    axis, sizes = a.axes[dim], call.reading.sizes
    if isinstance(axis, Count):
        kept = slice_positions(axis, start, end, step)
        return Value((*a.axes[:dim], Count(len(kept)), *a.axes[dim + 1 :]), lambda p: a.at((*p[:dim], kept[p[dim]], *p[dim + 1 :])))
    if step != 1:
        raise Sized("steps along an axis whose length is not known", names_in(axis))
    left = {} if start is None else from_front(sizes.length(start), length(axis))
    kept_length = sizes.length(call.out.shape[dim])
    return cut(a, dim, left, added(left, kept_length))


def slice_positions(axis: Count, start: Any, end: Any, step: int) -> range:
    """Return the positions along an axis that a slice takes."""
    first, last = (None if x is None else int(x) for x in (start, end))
    return range(axis.n)[first:last:step]


def from_front(at: dict, whole: dict) -> dict:
    """Return a bound of a slice counted from the front."""
    return added(whole, at) if at.keys() == {()} and at[()] < 0 else at


def require_same_axes(*axes: tuple) -> None:
    """Raise `Sized` unless the axes are the same. Axes of equal length may be split differently, so that their positions do not match."""
    if len(set(axes)) > 1:
        raise Sized("axes that are cut in different ways are joined")


@rule("cat.default")
def cat(call: Call, values: list[Value], dim: int = 0) -> Value:
    values = [v for v in values if v.axes != (Count(0),)]
    dim = axis_number(dim, values[0].axes)
    whole, layout = joined([v.axes[dim] for v in values])
    others = {(*v.axes[:dim], *v.axes[dim + 1 :]) for v in values}
    require_same_axes(*others)

    def at(p: tuple) -> Entry:
        k, local = located(p[dim], whole, layout)
        return values[k].at((*p[:dim], local, *p[dim + 1 :]))

    return Value((*values[0].axes[:dim], whole, *values[0].axes[dim + 1 :]), at)


@rule("stack.default")
def stack(call: Call, values: list[Value], dim: int = 0) -> Value:
    dim = axis_number(dim, values[0].axes, 1)
    axes = values[0].axes
    require_same_axes(*(v.axes for v in values))
    return Value((*axes[:dim], Count(len(values)), *axes[dim:]), lambda p: values[p[dim]].at((*p[:dim], *p[dim + 1 :])))


@rule("select_scatter.default")
def select_scatter(call: Call, a: Value, new: Value, dim: int, k: Any) -> Value:
    """Replace the entries at one position of an axis."""
    dim = axis_number(dim, a.axes)
    position = place_of(call, a.axes[dim], k)
    require_same_axes(new.axes, (*a.axes[:dim], *a.axes[dim + 1 :]))

    def at(p: tuple) -> Entry:
        selected = truth(same_place(a.axes[dim], position, p[dim]))
        return chosen(selected, new.at((*p[:dim], *p[dim + 1 :])), a.at(p)) if selected is not False else a.at(p)

    return Value(a.axes, at)


@rule("slice_scatter.default")
def slice_scatter(call: Call, a: Value, new: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Value:
    """Replace the entries at a slice of an axis."""
    dim = axis_number(dim, a.axes)
    axis = a.axes[dim]
    require_same_axes((*new.axes[:dim], *new.axes[dim + 1 :]), (*a.axes[:dim], *a.axes[dim + 1 :]))
    if isinstance(axis, Count):
        taken = slice_positions(axis, start, end, step)
        inside = {q: k for k, q in enumerate(taken)}
    elif new.axes[dim] == axis:
        return new
    else:
        raise Sized("some places written to of an axis whose length is not known")

    def at(p: tuple) -> Entry:
        return new.at((*p[:dim], inside[p[dim]], *p[dim + 1 :])) if p[dim] in inside else a.at(p)

    return Value(a.axes, at)


@rule("diagonal_scatter.default")
def diagonal_scatter(call: Call, a: Value, new: Value, offset: int = 0, first: int = 0, second: int = 1) -> Value:
    """Replace the entries of a diagonal: those whose positions along two axes are the same."""
    first, second = axis_number(first, a.axes), axis_number(second, a.axes)
    if offset or a.axes[first] != a.axes[second]:
        raise Sized("a diagonal beside the main one, or of what is not square")
    require_same_axes(new.axes, (*(axis for k, axis in enumerate(a.axes) if k not in (first, second)), a.axes[first]))

    def at(p: tuple) -> Entry:
        on_diagonal = truth(same_place(a.axes[first], p[first], p[second]))
        rest = tuple(q for k, q in enumerate(p) if k not in (first, second))
        return a.at(p) if on_diagonal is False else chosen(on_diagonal, new.at((*rest, p[first])), a.at(p))

    return Value(a.axes, at)
