"""Operations that cut an axis into parts, or join parts to one."""

from __future__ import annotations

from typing import Any

from .axes import Axis, Count, Joined, added, joined, length, located, names_in
from .entries import Entry, chosen, truth
from .errors import Sized
from .index_positions import place_of, same_place
from .operation_rules import Call, rule
from .tensor_values import Value, axis_number


def pieces(call: Call, a: Value, dim: int, counts: list) -> list[Value]:
    """An axis cut into parts of these lengths."""
    dim = axis_number(dim, a.axes)
    start: dict = {}
    found = []
    for n in counts:
        end = added(start, call.reading.sizes.length(n))
        found.append(cut(a, dim, start, end))
        start = end
    return found


@rule("split_with_sizes.default")
def split_with_sizes(call: Call, a: Value, counts: list, dim: int = 0) -> list[Value]:
    return pieces(call, a, dim, counts)


@rule("split.Tensor")
def split(call: Call, a: Value, size: Any, dim: int = 0) -> list[Value]:
    return pieces(call, a, dim, [part.shape[dim] for part in call.out])


def cut(a: Value, dim: int, start: dict, end: dict) -> Value:
    """The places of an axis from one on, up to another."""
    axis = a.axes[dim]
    if not start and end == length(axis):
        return a
    kept, back = kept_of(axis, start, end)
    return Value((*a.axes[:dim], kept, *a.axes[dim + 1 :]), lambda p: a.at((*p[:dim], back(p[dim]), *p[dim + 1 :])))


def kept_of(axis: Axis, start: dict, end: dict) -> tuple[Axis, Any]:
    """(what is left of an axis, how a place of that is told on the whole)."""
    if isinstance(axis, Count) and start.keys() | end.keys() <= {()}:
        first = start.get((), 0)
        return Count(end.get((), 0) - first), lambda q: q + first
    if not isinstance(axis, Joined):
        raise Sized("an axis cut where its length is not known", names_in(axis))
    at: dict = {}
    kept, homes, inside = [], [], False
    for which, part in enumerate(axis.parts):
        after = added(at, length(part))
        low = added(start, {k: -c for k, c in at.items()})
        high = added(end, {k: -c for k, c in at.items()})
        begins = low == {} or isinstance(part, Count) and low.keys() <= {()} and 0 < low[()] < part.n
        first = low.get((), 0) if begins and not inside else 0
        inside = inside or begins
        ends = high == length(part) or isinstance(part, Count) and high.keys() <= {()} and 0 <= high.get((), 0) < part.n
        if inside:
            own = Count((high.get((), 0) if ends else part.n) - first) if isinstance(part, Count) else part
            if own != Count(0):
                kept.append(own)
                homes.append((which, first))
        if inside and ends:
            break
        at = after
    else:
        raise Sized("an axis cut where its length is not known", names_in(axis))
    whole, ways = joined(kept)

    def back(q: Any) -> Any:
        k, own = located(q, whole, ways)
        which, first = homes[k]
        return which, own + first if isinstance(own, int) else own

    return whole, back


@rule("slice.Tensor")
def slice_(call: Call, a: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Value:
    dim = axis_number(dim, a.axes)
    axis, sizes = a.axes[dim], call.reading.sizes
    if isinstance(axis, Count):
        kept = range(axis.n)[slice(*(None if x is None else int(x) for x in (start, end)), step)]
        return Value((*a.axes[:dim], Count(len(kept)), *a.axes[dim + 1 :]), lambda p: a.at((*p[:dim], kept[p[dim]], *p[dim + 1 :])))
    if step != 1:
        raise Sized("steps along an axis whose length is not known", names_in(axis))
    left = {} if start is None else bound(sizes.length(start), length(axis))
    kept_length = sizes.length(call.out.shape[dim])
    return cut(a, dim, left, added(left, kept_length))


def bound(at: dict, whole: dict) -> dict:
    return added(whole, at) if at.keys() == {()} and at[()] < 0 else at


def alike(*axes: tuple) -> None:
    """Entries that stand side by side have places that do: axes of one length may be cut in other ways."""
    if len(set(axes)) > 1:
        raise Sized("axes that are cut in different ways are joined")


@rule("cat.default")
def cat(call: Call, values: list[Value], dim: int = 0) -> Value:
    values = [v for v in values if v.axes != (Count(0),)]
    dim = axis_number(dim, values[0].axes)
    whole, ways = joined([v.axes[dim] for v in values])
    others = {(*v.axes[:dim], *v.axes[dim + 1 :]) for v in values}
    alike(*others)

    def at(p: tuple) -> Entry:
        k, own = located(p[dim], whole, ways)
        return values[k].at((*p[:dim], own, *p[dim + 1 :]))

    return Value((*values[0].axes[:dim], whole, *values[0].axes[dim + 1 :]), at)


@rule("stack.default")
def stack(call: Call, values: list[Value], dim: int = 0) -> Value:
    dim = axis_number(dim, values[0].axes, 1)
    axes = values[0].axes
    alike(*(v.axes for v in values))
    return Value((*axes[:dim], Count(len(values)), *axes[dim:]), lambda p: values[p[dim]].at((*p[:dim], *p[dim + 1 :])))


@rule("select_scatter.default")
def select_scatter(call: Call, a: Value, new: Value, dim: int, k: Any) -> Value:
    """Other entries at one place of an axis."""
    dim = axis_number(dim, a.axes)
    place = place_of(call, a.axes[dim], k)
    alike(new.axes, (*a.axes[:dim], *a.axes[dim + 1 :]))

    def at(p: tuple) -> Entry:
        here = truth(same_place(a.axes[dim], place, p[dim]))
        return chosen(here, new.at((*p[:dim], *p[dim + 1 :])), a.at(p)) if here is not False else a.at(p)

    return Value(a.axes, at)


@rule("slice_scatter.default")
def slice_scatter(call: Call, a: Value, new: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Value:
    """Other entries at some places of an axis, one after another."""
    dim = axis_number(dim, a.axes)
    axis = a.axes[dim]
    alike((*new.axes[:dim], *new.axes[dim + 1 :]), (*a.axes[:dim], *a.axes[dim + 1 :]))
    if isinstance(axis, Count):
        taken = range(axis.n)[slice(*(None if x is None else int(x) for x in (start, end)), step)]
        inside = {q: k for k, q in enumerate(taken)}
    elif new.axes[dim] == axis:
        return new
    else:
        raise Sized("some places written to of an axis whose length is not known")

    def at(p: tuple) -> Entry:
        return new.at((*p[:dim], inside[p[dim]], *p[dim + 1 :])) if p[dim] in inside else a.at(p)

    return Value(a.axes, at)


@rule("diagonal_scatter.default")
def diagonal_scatter(call: Call, a: Value, new: Value, offset: int = 0, one: int = 0, other: int = 1) -> Value:
    """Other entries where two places are one."""
    one, other = axis_number(one, a.axes), axis_number(other, a.axes)
    if offset or a.axes[one] != a.axes[other]:
        raise Sized("a diagonal beside the main one, or of what is not square")
    alike(new.axes, (*(axis for k, axis in enumerate(a.axes) if k not in (one, other)), a.axes[one]))

    def at(p: tuple) -> Entry:
        here = truth(same_place(a.axes[one], p[one], p[other]))
        rest = tuple(q for k, q in enumerate(p) if k not in (one, other))
        return a.at(p) if here is False else chosen(here, new.at((*rest, p[one])), a.at(p))

    return Value(a.axes, at)
