"""Rules for operations that move entries: axes are permuted, split, merged, dropped or repeated."""

from __future__ import annotations

from collections.abc import Sequence
from operator import le
from typing import Any

from ..core.expr import lift
from .axes import ONE, Count, Group, atoms, regrouped
from .boolean_values import as_truth, test
from .entries import ZERO, Entry, chosen, is_const, plus, times
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
    """Convert to a dtype. Roundings are ignored; raise NotRead for a number that may lose a fraction."""
    if dtype is None or dtype.is_floating_point or dtype.is_complex:
        return a
    if is_truth(call):
        return a.map(lambda x: as_truth(call.reading, x))

    def require_integer(x: Entry) -> Entry:
        if isinstance(x, bool) or is_const(x) and x.data.denominator == 1:
            return x
        raise NotRead("a number that may lose its fraction")

    return a.map(require_integer)


def permuted(a: Value, order: list[int]) -> Value:
    """Return a tensor with axis `order[k]` as its axis k."""
    back = [order.index(k) for k in range(len(order))]
    return Value(tuple(a.axes[k] for k in order), lambda p: a.at(tuple(p[k] for k in back)))


@rule("permute.default")
def permute(call: Call, a: Value, order: list) -> Value:
    return permuted(a, [axis_number(k, a.axes) for k in order])


@rule("transpose.int")
def transpose(call: Call, a: Value, first: int, second: int) -> Value:
    order = list(range(len(a.axes)))
    first, second = axis_number(first, a.axes), axis_number(second, a.axes)
    if order:
        order[first], order[second] = order[second], order[first]
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
    candidates = range(len(a.axes)) if dims is None else [dims] if isinstance(dims, int) else dims
    dropped = {k for k in (axis_number(k, a.axes) for k in candidates) if a.axes and a.axes[k] == ONE}
    kept = [k for k in range(len(a.axes)) if k not in dropped]

    def at(p: tuple) -> Entry:
        remaining = iter(p)
        return a.at(tuple(0 if k in dropped else next(remaining) for k in range(len(a.axes))))

    return Value(tuple(a.axes[k] for k in kept), at)


@rule("expand.default")
def expand(call: Call, a: Value, shape: list, implicit: bool = False) -> Value:
    given = (*[ONE] * (len(shape) - len(a.axes)), *a.axes)
    axes = tuple(call.reading.sizes.axis(n) if axis == ONE else axis for axis, n in zip(given, call.out.shape))
    return expanded(a, axes)


@rule("view.default", "_unsafe_view.default", "_reshape_alias.default", "view.dtype")
def view(call: Call, a: Value, shape: Any, *more: Any) -> Value:
    if call.given[0].dtype != call.out.dtype:
        raise NotRead(f"numbers of {call.given[0].dtype} read as if they were of {call.out.dtype}")
    sizes = call.reading.sizes
    before, after = regrouped(list(a.axes), [sizes.length(n) for n in call.out.shape])
    old, new = [Group(tuple(g)) for g in before], [Group(tuple(g)) for g in after]

    def at(p: tuple) -> Entry:
        pieces = [position for group, q in zip(new, p) for position in group.unpack(q)]
        positions = []
        for group in old:
            positions.append(group.pack(pieces[: len(group.parts)]))
            pieces = pieces[len(group.parts) :]
        return a.at(tuple(positions))

    return Value(tuple(group.axis for group in new), at)


@rule("select.int")
def select(call: Call, a: Value, dim: int, k: Any) -> Value:
    dim = axis_number(dim, a.axes)
    position = place_of(call, a.axes[dim], k)
    return Value((*a.axes[:dim], *a.axes[dim + 1 :]), lambda p: a.at(at_axis(p, dim, position)))


@rule("unbind.int")
def unbind(call: Call, a: Value, dim: int = 0) -> list[Value]:
    dim = axis_number(dim, a.axes)
    return [select(call, a, dim, k) for k in range(len(call.out))]


@rule("flip.default")
def flip(call: Call, a: Value, dims: list) -> Value:
    axes = {axis_number(k, a.axes) for k in dims}
    last = {k: axis.n - 1 for k, axis in enumerate(a.axes) if isinstance(axis, Count) and k in axes}
    if len(last) < len(axes):
        raise Sized("an axis turned round whose length is not known")
    return Value(a.axes, lambda p: a.at(tuple(last[k] - q if k in last else q for k, q in enumerate(p))))


@rule("roll.default")
def roll(call: Call, a: Value, shifts: list, dims: Sequence[int] = ()) -> Value:
    """Return a tensor rolled along axes of known length. Rolling a flattened tensor, or an axis twice, is not read."""
    moved = {axis_number(k, a.axes): n for k, n in zip(dims, shifts)}
    lengths = {k: axis.n for k, axis in enumerate(a.axes) if isinstance(axis, Count) and k in moved}
    if not moved or len(moved) < len(shifts) or len(lengths) < len(moved):
        raise Sized("an axis turned on whose length is not known")
    return Value(a.axes, lambda p: a.at(tuple((q - moved[k]) % lengths[k] if k in moved else q for k, q in enumerate(p))))


@rule("repeat.default")
def repeat(call: Call, a: Value, counts: list) -> Value:
    """Repeat each axis. The axis of the copies comes first, so that it varies slowest."""
    sizes = call.reading.sizes
    given = (*[ONE] * (len(counts) - len(a.axes)), *a.axes)
    groups = [Group((*atoms(sizes.axis(n)), *atoms(axis))) for n, axis in zip(counts, given)]

    def at(p: tuple) -> Entry:
        positions = []
        for group, axis, q, n in zip(groups, given, p, counts):
            inner = group.unpack(q)[len(atoms(sizes.axis(n))) :]
            positions.append(Group(atoms(axis)).pack(inner))
        return a.at(tuple(positions[len(given) - len(a.axes) :]))

    return Value(tuple(group.axis for group in groups), at)


@rule("diagonal.default")
def diagonal(call: Call, a: Value, offset: int = 0, first: int = 0, second: int = 1) -> Value:
    first, second = axis_number(first, a.axes), axis_number(second, a.axes)
    if offset or a.axes[first] != a.axes[second]:
        raise Sized("a diagonal beside the main one, or of what is not square")
    rest = [k for k in range(len(a.axes)) if k not in (first, second)]

    def at(p: tuple) -> Entry:
        position = dict(zip(rest, p)) | {first: p[-1], second: p[-1]}
        return a.at(tuple(position[k] for k in range(len(a.axes))))

    return Value((*(a.axes[k] for k in rest), a.axes[first]), at)


@rule("diag_embed.default")
def diag_embed(call: Call, a: Value, offset: int = 0, first: int = -2, second: int = -1) -> Value:
    if offset or (first, second) != (-2, -1):
        raise Sized("a diagonal beside the main one")
    return Value((*a.axes, a.axes[-1]), lambda p: times(same_place(a.axes[-1], p[-2], p[-1]), a.at(p[:-1])))


def triangle(call: Call, a: Value, k: Any, lower: bool) -> Value:
    """Return the entries on and below (or above) diagonal k; 0 or false elsewhere."""

    def at(p: tuple) -> Entry:
        i, j = numbered(a.axes[-2], p[-2]), numbered(a.axes[-1], p[-1])
        entry = a.at(p)
        inside = test(call.reading, le, j, plus(i, lift(k))) if lower else test(call.reading, le, plus(i, lift(k)), j)
        return chosen(inside, entry, False if isinstance(entry, bool) else ZERO)

    return Value(a.axes, at)


@rule("tril.default")
def tril(call: Call, a: Value, k: int = 0) -> Value:
    return triangle(call, a, k, lower=True)


@rule("triu.default")
def triu(call: Call, a: Value, k: int = 0) -> Value:
    return triangle(call, a, k, lower=False)
