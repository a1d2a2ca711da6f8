"""Operations that put entries in other places: axes that change their order, are cut, joined, left out or repeated."""

from __future__ import annotations

from operator import le
from typing import Any

from ..core.expr import lift
from .axes import ONE, Axis, Count, Group, Merged, regrouped
from .boolean_values import as_truth, test
from .entries import ZERO, Entry, chosen, plus, times
from .errors import NotRead, Sized
from .index_positions import numbered, place_of, same_place
from .operation_rules import Call, is_truth, rule
from .tensor_values import Value, at_axis, axis_number, expanded


@rule(
    "clone.default",
    "alias.default",
    "detach.default",
    "lift_fresh.default",
    "lift_fresh_copy.default",
)
def same(call: Call, a: Value, **how: Any) -> Value:
    return a


@rule("_to_copy.default")
def as_type(call: Call, a: Value, dtype: Any = None, **how: Any) -> Value:
    """Numbers keep what they are: roundings are not followed. One that would lose its fraction is not read."""
    if dtype is None or dtype.is_floating_point or dtype.is_complex:
        return a
    if is_truth(call):
        return a.map(lambda x: as_truth(call.reading, x))

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
    return permuted(a, [axis_number(k, a.axes) for k in order])


@rule("transpose.int")
def transpose(call: Call, a: Value, one: int, other: int) -> Value:
    order = list(range(len(a.axes)))
    one, other = axis_number(one, a.axes), axis_number(other, a.axes)
    if order:
        order[one], order[other] = order[other], order[one]
    return permuted(a, order)


@rule("t.default")
def t(call: Call, a: Value) -> Value:
    return permuted(a, list(range(len(a.axes)))[::-1])


@rule("unsqueeze.default")
def unsqueeze(call: Call, a: Value, dim: int) -> Value:
    dim = axis_number(dim, a.axes, 1)
    return Value((*a.axes[:dim], ONE, *a.axes[dim:]), lambda p: a.at((*p[:dim], *p[dim + 1 :])))


@rule("squeeze.dim", "squeeze.dims", "squeeze.default")
def squeeze(call: Call, a: Value, dims: Any = None) -> Value:
    every = range(len(a.axes)) if dims is None else [dims] if isinstance(dims, int) else dims
    gone = {k for k in (axis_number(k, a.axes) for k in every) if a.axes and a.axes[k] == ONE}
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


@rule("view.default", "_unsafe_view.default", "_reshape_alias.default", "view.dtype")
def view(call: Call, a: Value, shape: Any, *more: Any) -> Value:
    if call.given[0].dtype != call.out.dtype:
        raise NotRead(f"numbers of {call.given[0].dtype} read as if they were of {call.out.dtype}")
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
    dim = axis_number(dim, a.axes)
    place = place_of(call, a.axes[dim], k)
    return Value((*a.axes[:dim], *a.axes[dim + 1 :]), lambda p: a.at(at_axis(p, dim, place)))


@rule("unbind.int")
def unbind(call: Call, a: Value, dim: int = 0) -> list[Value]:
    dim = axis_number(dim, a.axes)
    return [select(call, a, dim, k) for k in range(len(call.out))]


@rule("flip.default")
def flip(call: Call, a: Value, dims: list) -> Value:
    turned = {axis_number(k, a.axes) for k in dims}
    if any(not isinstance(a.axes[k], Count) for k in turned):
        raise Sized("an axis turned round whose length is not known")
    return Value(a.axes, lambda p: a.at(tuple(a.axes[k].n - 1 - q if k in turned else q for k, q in enumerate(p))))


@rule("roll.default")
def roll(call: Call, a: Value, shifts: list, dims: list = ()) -> Value:
    """Each place moved on along an axis, and from its end to its start; without an axis, along all places in order."""
    moved = {axis_number(k, a.axes): n for k, n in zip(dims, shifts)}
    if not moved or len(moved) < len(shifts) or any(not isinstance(a.axes[k], Count) for k in moved):
        raise Sized("an axis turned on whose length is not known")
    return Value(a.axes, lambda p: a.at(tuple((q - moved[k]) % a.axes[k].n if k in moved else q for k, q in enumerate(p))))


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
    one, other = axis_number(one, a.axes), axis_number(other, a.axes)
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
