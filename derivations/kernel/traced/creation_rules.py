"""Rules for operations that create a tensor from a shape."""

from __future__ import annotations

from typing import Any

import torch

from ..core.expr import lift
from .axes import UNIT_AXIS, FixedAxis, SymbolicAxis
from .boolean_values import as_truth
from .entries import Entry, add_entries, multiply_entries
from .errors import NeedsNumericSize, NotRead
from .operation_rules import Call, has_boolean_result, has_integer_result, rule
from .position_conversion import index_of_position, same_position
from .tensor_values import TensorValue


def fill(call: Call, e: Entry, like: TensorValue | None = None) -> TensorValue:
    """Return a tensor of one number, with the axes of `like` or else new ones."""
    axes = tuple(call.reading.sizes.axis(n) for n in call.out.shape) if like is None else like.axes
    return TensorValue(axes, lambda p: e)


@rule("zeros.default", "new_zeros.default")
def zeros(call: Call, *sizes: Any, **how: Any) -> TensorValue:
    return fill(call, False if has_boolean_result(call) else lift(0))


@rule("ones.default", "new_ones.default")
def ones(call: Call, *sizes: Any, **how: Any) -> TensorValue:
    return fill(call, True if has_boolean_result(call) else lift(1))


@rule("zeros_like.default")
def zeros_like(call: Call, a: TensorValue, **how: Any) -> TensorValue:
    return fill(call, False if has_boolean_result(call) else lift(0), a)


@rule("ones_like.default")
def ones_like(call: Call, a: TensorValue, **how: Any) -> TensorValue:
    return fill(call, True if has_boolean_result(call) else lift(1), a)


@rule("full.default")
def full(call: Call, sizes: Any, x: Any, **how: Any) -> TensorValue:
    return fill(call, entry_of(call, x))


@rule("new_full.default")
def new_full(call: Call, a: TensorValue, sizes: Any, x: Any, **how: Any) -> TensorValue:
    return fill(call, entry_of(call, x))


@rule("full_like.default", "fill.Scalar")
def full_like(call: Call, a: TensorValue, x: Any, **how: Any) -> TensorValue:
    return fill(call, entry_of(call, x), a)


@rule("fill.Tensor")
def fill_tensor(call: Call, a: TensorValue, x: TensorValue) -> TensorValue:
    return TensorValue(a.axes, lambda p: as_truth(call.reading, x.at(())) if has_boolean_result(call) else x.at(()))


@rule("scalar_tensor.default")
def scalar_tensor(call: Call, x: Any, **how: Any) -> TensorValue:
    return fill(call, entry_of(call, x))


@rule("empty.memory_format", "empty_like.default", "new_empty.default", "empty_strided.default")
def empty(call: Call, *sizes: Any, **how: Any) -> TensorValue:
    def at(p: tuple) -> Entry:
        raise NotRead("what stands in a tensor before anything is written to it")

    return TensorValue(tuple(call.reading.sizes.axis(n) for n in call.out.shape), at)


def entry_of(call: Call, x: Any) -> Entry:
    """Return a Python number as an entry; raise NotRead if the result's dtype cannot hold it."""
    if has_integer_result(call) and isinstance(x, float) and not x.is_integer() or has_boolean_result(call) and not isinstance(x, bool):
        raise NotRead(f"the number {x} in a tensor of {call.out.dtype}")
    return x if isinstance(x, bool) else call.reading.entry(x) if isinstance(x, float) else call.reading.sizes.tree(x)


@rule("arange.default", "arange.start", "arange.start_step")
def arange(call: Call, *limits: Any, **how: Any) -> TensorValue:
    if has_integer_result(call) and any(isinstance(x, (float, torch.SymFloat)) for x in limits):
        raise NotRead("whole numbers from one that is none, or in such steps")
    axis, tree = call.reading.sizes.axis(call.out.shape[0]), call.reading.sizes.tree
    start, step = (tree(limits[0]) if len(limits) > 1 else lift(0)), (tree(limits[2]) if len(limits) > 2 else lift(1))
    return TensorValue((axis,), lambda p: add_entries(start, multiply_entries(step, index_of_position(axis, p[0]))))


@rule("eye.default", "eye.m")
def eye_(call: Call, n: Any, m: Any = None, **how: Any) -> TensorValue:
    rows, columns = (call.reading.sizes.axis(k) for k in call.out.shape)
    if isinstance(rows, SymbolicAxis) and columns == UNIT_AXIS:  # one column: the first entry is 1
        return TensorValue((rows, columns), lambda p: same_position(rows, p[0], lift(1)))
    if isinstance(columns, SymbolicAxis) and rows == UNIT_AXIS:
        return TensorValue((rows, columns), lambda p: same_position(columns, p[1], lift(1)))
    if isinstance(rows, FixedAxis) and isinstance(columns, FixedAxis):
        return TensorValue((rows, columns), lambda p: lift(int(p[0] == p[1])))
    if rows != columns:
        raise NeedsNumericSize("an identity that is not square")
    return TensorValue((rows, columns), lambda p: same_position(rows, *p))
