"""Operations that put entries in other places: axes that change their order, are cut, joined, left out or repeated."""

from __future__ import annotations

from operator import le
from typing import Any

from ..core.expr import eye, lift
from .axes import ONE, Axis, Count, Group, Joined, Merged, Run, added, joined, length, located, regrouped
from .entries import ZERO, Entry, chosen, plus, times
from .errors import NotRead, Sized
from .making import numbered
from .pointwise import test
from .rules import Call, rule
from .values import Value, at_axis, expanded


@rule(
    "clone.default",
    "alias.default",
    "detach.default",
    "lift_fresh.default",
    "lift_fresh_copy.default",
    "contiguous.default",
    "view_of.default",
)
def same(call: Call, a: Value, **how: Any) -> Value:
    return a


@rule("_to_copy.default", "_conj.default", "resolve_conj.default")
def as_type(call: Call, a: Value, dtype: Any = None, **how: Any) -> Value:
    """Numbers keep what they are: roundings are not followed. One that would lose its fraction is not read."""
    if dtype is None or dtype.is_floating_point or dtype.is_complex:
        return a

    def whole(x: Entry) -> Entry:
        if isinstance(x, bool) or getattr(x, "op", "") == "const" and x.data.denominator == 1:
            return x
        raise NotRead("a number that may lose its fraction")

    return a.map(whole)


def permuted(a: Value, order: list[int]) -> Value:
    back = [order.index(k) for k in range(len(order))]
    return Value(tuple(a.axes[k] for k in order), lambda p: a.at(tuple(p[k] for k in back)))


@rule("permute.default")
def permute(call: Call, a: Value, order: list) -> Value:
    return permuted(a, [k % len(a.axes) for k in order])


@rule("transpose.int")
def transpose(call: Call, a: Value, one: int, other: int) -> Value:
    order = list(range(len(a.axes)))
    if order:
        order[one], order[other] = order[other], order[one]
    return permuted(a, order)


@rule("t.default")
def t(call: Call, a: Value) -> Value:
    return permuted(a, list(range(len(a.axes)))[::-1])


@rule("unsqueeze.default")
def unsqueeze(call: Call, a: Value, dim: int) -> Value:
    dim %= len(a.axes) + 1
    return Value((*a.axes[:dim], ONE, *a.axes[dim:]), lambda p: a.at((*p[:dim], *p[dim + 1 :])))


@rule("squeeze.dim", "squeeze.dims", "squeeze.default")
def squeeze(call: Call, a: Value, dims: Any = None) -> Value:
    every = range(len(a.axes)) if dims is None else [dims] if isinstance(dims, int) else dims
    gone = {k % len(a.axes) for k in every if a.axes[k % len(a.axes)] == ONE}
    kept = [k for k in range(len(a.axes)) if k not in gone]

    def at(p: tuple) -> Entry:
        here = iter(p)
        return a.at(tuple(0 if k in gone else next(here) for k in range(len(a.axes))))

    return Value(tuple(a.axes[k] for k in kept), at)


@rule("expand.default")
def expand(call: Call, a: Value, shape: list, implicit: bool = False) -> Value:
    own = (*[ONE] * (len(shape) - len(a.axes)), *a.axes)
    axes = tuple(call.reading.sizes.axis(n) if axis == ONE else axis for axis, n in zip(own, call.out.shape))
    return expanded(a, axes)


@rule("view.default", "_unsafe_view.default", "reshape.default", "_reshape_alias.default", "view.dtype")
def view(call: Call, a: Value, shape: list, *more: Any) -> Value:
    sizes = call.reading.sizes
    before, after = regrouped(list(a.axes), [sizes.length(n) for n in call.out.shape])
    old, new = [Group(tuple(g)) for g in before], [Group(tuple(g)) for g in after]

    def at(p: tuple) -> Entry:
        pieces = [place for group, q in zip(new, p) for place in group.unpack(q)]
        found = []
        for group in old:
            found.append(group.pack(pieces[: len(group.parts)]))
            pieces = pieces[len(group.parts) :]
        return a.at(tuple(found))

    return Value(tuple(group.axis for group in new), at)


@rule("select.int")
def select(call: Call, a: Value, dim: int, k: Any) -> Value:
    dim %= len(a.axes)
    place = place_of(call, a.axes[dim], k)
    return Value((*a.axes[:dim], *a.axes[dim + 1 :]), lambda p: a.at(at_axis(p, dim, place)))


def place_of(call: Call, axis: Axis, k: Any) -> Any:
    """The place that is counted from 0, or backwards from the end."""
    at = call.reading.sizes.length(k)
    if any(c < 0 for c in at.values()) and at.keys() <= {()}:
        at = added(length(axis), at)
    if isinstance(axis, Count):
        return at.get((), 0)
    if isinstance(axis, Run) and at.keys() <= {()}:
        return first_of(axis, at.get((), 0))
    if isinstance(axis, Joined):
        start: dict = {}
        for which, part in enumerate(axis.parts):
            here = added(at, {names: -c for names, c in start.items()})
            if isinstance(part, Count) and here.keys() <= {()} and 0 <= here.get((), 0) < part.n:
                return which, here.get((), 0)
            start = added(start, length(part))
    raise Sized("a place that is counted along an axis whose length is not known")


def first_of(axis: Run, k: int) -> Any:
    """The place k from the front of what runs to a symbol, where there is one at each size: the first."""
    if k == 0:
        return lift(1)
    raise Sized("a place beyond the first of an axis whose length is not known", (axis.size.data[0],))


@rule("unbind.int")
def unbind(call: Call, a: Value, dim: int = 0) -> list[Value]:
    dim %= len(a.axes)
    return [select(call, a, dim, k) for k in range(len(call.out))]


def pieces(call: Call, a: Value, dim: int, counts: list) -> list[Value]:
    """An axis cut into parts of these lengths."""
    dim %= len(a.axes)
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


@rule("split.Tensor", "chunk.default")
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
        raise Sized("an axis cut where its length is not known")
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
        raise Sized("an axis cut where its length is not known")
    whole, ways = joined(kept)

    def back(q: Any) -> Any:
        k, own = located(q, whole, ways)
        which, first = homes[k]
        return which, own + first if isinstance(own, int) else own

    return whole, back


@rule("slice.Tensor")
def slice_(call: Call, a: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Value:
    dim %= len(a.axes)
    axis, sizes = a.axes[dim], call.reading.sizes
    if isinstance(axis, Count):
        kept = range(axis.n)[slice(*(None if x is None else int(x) for x in (start, end)), step)]
        return Value((*a.axes[:dim], Count(len(kept)), *a.axes[dim + 1 :]), lambda p: a.at((*p[:dim], kept[p[dim]], *p[dim + 1 :])))
    if step != 1:
        raise Sized("steps along an axis whose length is not known")
    left = {} if start is None else bound(sizes.length(start), length(axis))
    kept_length = sizes.length(call.out.shape[dim])
    return cut(a, dim, left, added(left, kept_length))


def bound(at: dict, whole: dict) -> dict:
    return added(whole, at) if at.keys() == {()} and at[()] < 0 else at


@rule("cat.default")
def cat(call: Call, values: list[Value], dim: int = 0) -> Value:
    values = [v for v in values if v.axes != (Count(0),)]
    dim %= len(values[0].axes)
    whole, ways = joined([v.axes[dim] for v in values])
    others = {(*v.axes[:dim], *v.axes[dim + 1 :]) for v in values}
    if len(others) > 1:
        raise Sized("axes that are cut in different ways are joined")

    def at(p: tuple) -> Entry:
        k, own = located(p[dim], whole, ways)
        return values[k].at((*p[:dim], own, *p[dim + 1 :]))

    return Value((*values[0].axes[:dim], whole, *values[0].axes[dim + 1 :]), at)


@rule("stack.default")
def stack(call: Call, values: list[Value], dim: int = 0) -> Value:
    dim %= len(values[0].axes) + 1
    axes = values[0].axes
    if any(v.axes != axes for v in values):
        raise Sized("axes that are cut in different ways are joined")
    return Value((*axes[:dim], Count(len(values)), *axes[dim:]), lambda p: values[p[dim]].at((*p[:dim], *p[dim + 1 :])))


@rule("flip.default")
def flip(call: Call, a: Value, dims: list) -> Value:
    turned = {k % len(a.axes) for k in dims}
    if any(not isinstance(a.axes[k], Count) for k in turned):
        raise Sized("an axis turned round whose length is not known")
    return Value(a.axes, lambda p: a.at(tuple(a.axes[k].n - 1 - q if k in turned else q for k, q in enumerate(p))))


@rule("repeat.default")
def repeat(call: Call, a: Value, counts: list) -> Value:
    """Each axis several times over: the copies come first."""
    sizes = call.reading.sizes
    own = (*[ONE] * (len(counts) - len(a.axes)), *a.axes)
    groups = [Group((*parts_of(sizes.axis(n)), *parts_of(axis))) for n, axis in zip(counts, own)]

    def at(p: tuple) -> Entry:
        places = []
        for group, axis, q, n in zip(groups, own, p, counts):
            inner = group.unpack(q)[len(parts_of(sizes.axis(n))) :]
            places.append(Group(parts_of(axis)).pack(inner))
        return a.at(tuple(places[len(own) - len(a.axes) :]))

    return Value(tuple(group.axis for group in groups), at)


def parts_of(axis: Axis) -> tuple:
    return axis.parts if isinstance(axis, Merged) else (axis,)


@rule("diagonal.default")
def diagonal(call: Call, a: Value, offset: int = 0, one: int = 0, other: int = 1) -> Value:
    one, other = one % len(a.axes), other % len(a.axes)
    if offset or a.axes[one] != a.axes[other]:
        raise Sized("a diagonal beside the main one, or of what is not square")
    rest = [k for k in range(len(a.axes)) if k not in (one, other)]

    def at(p: tuple) -> Entry:
        here = dict(zip(rest, p)) | {one: p[-1], other: p[-1]}
        return a.at(tuple(here[k] for k in range(len(a.axes))))

    return Value((*(a.axes[k] for k in rest), a.axes[one]), at)


@rule("diag_embed.default")
def diag_embed(call: Call, a: Value, offset: int = 0, one: int = -2, other: int = -1) -> Value:
    if offset or (one, other) != (-2, -1):
        raise Sized("a diagonal beside the main one")
    return Value((*a.axes, a.axes[-1]), lambda p: times(same_place(a.axes[-1], p[-2], p[-1]), a.at(p[:-1])))


def same_place(axis: Axis, p: Any, q: Any) -> Any:
    """1 where two places along an axis are one, and 0 elsewhere."""
    if p == q:
        return lift(1)
    if isinstance(axis, Run):
        return eye(axis.size)[p, q]
    if isinstance(axis, Count):
        return ZERO
    if isinstance(axis, Merged):
        result: Any = lift(1)
        for part, x, y in zip(axis.parts, p, q):
            result = times(result, same_place(part, x, y))
        return result
    return same_place(axis.parts[p[0]], p[1], q[1]) if p[0] == q[0] else ZERO


def triangle(call: Call, a: Value, k: Any, lower: bool) -> Value:
    """What lies on one side of the diagonal; 0 or false elsewhere."""

    def at(p: tuple) -> Entry:
        i, j = numbered(a.axes[-2], p[-2]), numbered(a.axes[-1], p[-1])
        here = a.at(p)
        inside = test(call.reading, le, j, plus(i, lift(k))) if lower else test(call.reading, le, plus(i, lift(k)), j)
        return chosen(inside, here, False if isinstance(here, bool) else ZERO)

    return Value(a.axes, at)


@rule("tril.default")
def tril(call: Call, a: Value, k: int = 0) -> Value:
    return triangle(call, a, k, lower=True)


@rule("triu.default")
def triu(call: Call, a: Value, k: int = 0) -> Value:
    return triangle(call, a, k, lower=False)
