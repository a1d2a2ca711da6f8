"""Rules for operations that move entries: axes are permuted, split, merged, dropped or repeated."""

from __future__ import annotations

from collections.abc import Sequence
from operator import le
from typing import Any

from ..core.expr import lift
from .axes import UNIT_AXIS, AxisGroup, FixedAxis, merged_parts, regroup_axes
from .boolean_values import as_truth, compare_entries
from .entries import ZERO, Entry, add_entries, is_const, multiply_entries, select_entry
from .errors import NeedsNumericSize, NotRead
from .operation_rules import Call, has_boolean_result, rule
from .position_conversion import index_of_position, position_of_index, same_position
from .tensor_values import TensorValue, axis_number, expand_to, insert_position


@rule(
    "clone.default",
    "alias.default",
    "detach.default",
    "lift_fresh.default",
    "lift_fresh_copy.default",
)
def same(call: Call, a: TensorValue, **how: Any) -> TensorValue:
    return a


@rule("_to_copy.default")
def as_type(call: Call, a: TensorValue, dtype: Any = None, **how: Any) -> TensorValue:
    """Convert to a dtype. Roundings are ignored; raise NotRead for a number that may lose a fraction."""
    if dtype is None or dtype.is_floating_point or dtype.is_complex:
        return a
    if has_boolean_result(call):
        return a.map(lambda x: as_truth(call.reading, x))

    def require_integer(x: Entry) -> Entry:
        if isinstance(x, bool) or is_const(x) and x.data.denominator == 1:
            return x
        raise NotRead("a number that may lose its fraction")

    return a.map(require_integer)


def permuted(a: TensorValue, order: list[int]) -> TensorValue:
    """Return a tensor with axis `order[k]` as its axis k."""
    back = [order.index(k) for k in range(len(order))]
    return TensorValue(tuple(a.axes[k] for k in order), lambda p: a.at(tuple(p[k] for k in back)))


@rule("permute.default")
def permute(call: Call, a: TensorValue, order: list) -> TensorValue:
    return permuted(a, [axis_number(k, a.axes) for k in order])


@rule("transpose.int")
def transpose(call: Call, a: TensorValue, first: int, second: int) -> TensorValue:
    order = list(range(len(a.axes)))
    first, second = axis_number(first, a.axes), axis_number(second, a.axes)
    if order:
        order[first], order[second] = order[second], order[first]
    return permuted(a, order)


@rule("t.default")
def t(call: Call, a: TensorValue) -> TensorValue:
    return permuted(a, list(range(len(a.axes)))[::-1])


@rule("unsqueeze.default")
def unsqueeze(call: Call, a: TensorValue, dim: int) -> TensorValue:
    dim = axis_number(dim, a.axes, 1)
    return TensorValue((*a.axes[:dim], UNIT_AXIS, *a.axes[dim:]), lambda p: a.at((*p[:dim], *p[dim + 1 :])))


@rule("squeeze.dim", "squeeze.dims", "squeeze.default")
def squeeze(call: Call, a: TensorValue, dims: Any = None) -> TensorValue:
    candidates = range(len(a.axes)) if dims is None else [dims] if isinstance(dims, int) else dims
    dropped = {k for k in (axis_number(k, a.axes) for k in candidates) if a.axes and a.axes[k] == UNIT_AXIS}
    kept = [k for k in range(len(a.axes)) if k not in dropped]

    def at(p: tuple) -> Entry:
        remaining = iter(p)
        return a.at(tuple(0 if k in dropped else next(remaining) for k in range(len(a.axes))))

    return TensorValue(tuple(a.axes[k] for k in kept), at)


@rule("expand.default")
def expand(call: Call, a: TensorValue, shape: list, implicit: bool = False) -> TensorValue:
    given = (*[UNIT_AXIS] * (len(shape) - len(a.axes)), *a.axes)
    axes = tuple(call.reading.sizes.axis(n) if axis == UNIT_AXIS else axis for axis, n in zip(given, call.out.shape))
    return expand_to(a, axes)


@rule("view.default", "_unsafe_view.default", "_reshape_alias.default", "view.dtype")
def view(call: Call, a: TensorValue, shape: Any, *more: Any) -> TensorValue:
    if call.given[0].dtype != call.out.dtype:
        raise NotRead(f"numbers of {call.given[0].dtype} read as if they were of {call.out.dtype}")
    sizes = call.reading.sizes
    before, after = regroup_axes(list(a.axes), [sizes.length(n) for n in call.out.shape])
    old, new = [AxisGroup(tuple(g)) for g in before], [AxisGroup(tuple(g)) for g in after]

    def at(p: tuple) -> Entry:
        pieces = [position for group, q in zip(new, p) for position in group.unpack(q)]
        positions = []
        for group in old:
            positions.append(group.pack(pieces[: len(group.parts)]))
            pieces = pieces[len(group.parts) :]
        return a.at(tuple(positions))

    return TensorValue(tuple(group.axis for group in new), at)


@rule("select.int")
def select(call: Call, a: TensorValue, dim: int, k: Any) -> TensorValue:
    dim = axis_number(dim, a.axes)
    position = position_of_index(call, a.axes[dim], k)
    return TensorValue((*a.axes[:dim], *a.axes[dim + 1 :]), lambda p: a.at(insert_position(p, dim, position)))


@rule("unbind.int")
def unbind(call: Call, a: TensorValue, dim: int = 0) -> list[TensorValue]:
    dim = axis_number(dim, a.axes)
    return [select(call, a, dim, k) for k in range(len(call.out))]


@rule("flip.default")
def flip(call: Call, a: TensorValue, dims: list) -> TensorValue:
    axes = {axis_number(k, a.axes) for k in dims}
    last = {k: axis.n - 1 for k, axis in enumerate(a.axes) if isinstance(axis, FixedAxis) and k in axes}
    if len(last) < len(axes):
        raise NeedsNumericSize("an axis turned round whose length is not known")
    return TensorValue(a.axes, lambda p: a.at(tuple(last[k] - q if k in last else q for k, q in enumerate(p))))


@rule("roll.default")
def roll(call: Call, a: TensorValue, shifts: list, dims: Sequence[int] = ()) -> TensorValue:
    """Return a tensor rolled along axes of known length. Rolling a flattened tensor, or an axis twice, is not read."""
    moved = {axis_number(k, a.axes): n for k, n in zip(dims, shifts)}
    lengths = {k: axis.n for k, axis in enumerate(a.axes) if isinstance(axis, FixedAxis) and k in moved}
    if not moved or len(moved) < len(shifts) or len(lengths) < len(moved):
        raise NeedsNumericSize("an axis turned on whose length is not known")
    return TensorValue(a.axes, lambda p: a.at(tuple((q - moved[k]) % lengths[k] if k in moved else q for k, q in enumerate(p))))


@rule("repeat.default")
def repeat(call: Call, a: TensorValue, counts: list) -> TensorValue:
    """Repeat each axis. The axis of the copies comes first, so that it varies slowest."""
    sizes = call.reading.sizes
    given = (*[UNIT_AXIS] * (len(counts) - len(a.axes)), *a.axes)
    groups = [AxisGroup((*merged_parts(sizes.axis(n)), *merged_parts(axis))) for n, axis in zip(counts, given)]

    def at(p: tuple) -> Entry:
        positions = []
        for group, axis, q, n in zip(groups, given, p, counts):
            inner = group.unpack(q)[len(merged_parts(sizes.axis(n))) :]
            positions.append(AxisGroup(merged_parts(axis)).pack(inner))
        return a.at(tuple(positions[len(given) - len(a.axes) :]))

    return TensorValue(tuple(group.axis for group in groups), at)


@rule("diagonal.default")
def diagonal(call: Call, a: TensorValue, offset: int = 0, first: int = 0, second: int = 1) -> TensorValue:
    first, second = axis_number(first, a.axes), axis_number(second, a.axes)
    if offset or a.axes[first] != a.axes[second]:
        raise NeedsNumericSize("a diagonal beside the main one, or of what is not square")
    rest = [k for k in range(len(a.axes)) if k not in (first, second)]

    def at(p: tuple) -> Entry:
        position = dict(zip(rest, p)) | {first: p[-1], second: p[-1]}
        return a.at(tuple(position[k] for k in range(len(a.axes))))

    return TensorValue((*(a.axes[k] for k in rest), a.axes[first]), at)


@rule("diag_embed.default")
def diag_embed(call: Call, a: TensorValue, offset: int = 0, first: int = -2, second: int = -1) -> TensorValue:
    if offset or (first, second) != (-2, -1):
        raise NeedsNumericSize("a diagonal beside the main one")
    return TensorValue((*a.axes, a.axes[-1]), lambda p: multiply_entries(same_position(a.axes[-1], p[-2], p[-1]), a.at(p[:-1])))


def triangle(call: Call, a: TensorValue, k: Any, lower: bool) -> TensorValue:
    """Return the entries on and below (or above) diagonal k; 0 or false elsewhere."""

    def at(p: tuple) -> Entry:
        i, j = index_of_position(a.axes[-2], p[-2]), index_of_position(a.axes[-1], p[-1])
        entry = a.at(p)
        inside = (
            compare_entries(call.reading, le, j, add_entries(i, lift(k)))
            if lower
            else compare_entries(call.reading, le, add_entries(i, lift(k)), j)
        )
        return select_entry(inside, entry, False if isinstance(entry, bool) else ZERO)

    return TensorValue(a.axes, at)


@rule("tril.default")
def tril(call: Call, a: TensorValue, k: int = 0) -> TensorValue:
    return triangle(call, a, k, lower=True)


@rule("triu.default")
def triu(call: Call, a: TensorValue, k: int = 0) -> TensorValue:
    return triangle(call, a, k, lower=False)
