"""Rules for operations that create a tensor from a shape."""

from __future__ import annotations

from typing import Any

import torch

from ..core.expr import lift
from .axes import ONE, Count, Run
from .boolean_values import as_truth
from .entries import Entry, plus, times
from .errors import NotRead, Sized
from .index_positions import numbered, same_place
from .operation_rules import Call, is_truth, is_whole, rule
from .tensor_values import Value


def fill(call: Call, e: Entry, like: Value | None = None) -> Value:
    """Return a tensor of one number, with the axes of `like` or else new ones."""
    axes = tuple(call.reading.sizes.axis(n) for n in call.out.shape) if like is None else like.axes
    return Value(axes, lambda p: e)


@rule("zeros.default", "new_zeros.default")
def zeros(call: Call, *sizes: Any, **how: Any) -> Value:
    return fill(call, False if is_truth(call) else lift(0))


@rule("ones.default", "new_ones.default")
def ones(call: Call, *sizes: Any, **how: Any) -> Value:
    return fill(call, True if is_truth(call) else lift(1))


@rule("zeros_like.default")
def zeros_like(call: Call, a: Value, **how: Any) -> Value:
    return fill(call, False if is_truth(call) else lift(0), a)


@rule("ones_like.default")
def ones_like(call: Call, a: Value, **how: Any) -> Value:
    return fill(call, True if is_truth(call) else lift(1), a)


@rule("full.default")
def full(call: Call, sizes: Any, x: Any, **how: Any) -> Value:
    return fill(call, entry_of(call, x))


@rule("new_full.default")
def new_full(call: Call, a: Value, sizes: Any, x: Any, **how: Any) -> Value:
    return fill(call, entry_of(call, x))


@rule("full_like.default", "fill.Scalar")
def full_like(call: Call, a: Value, x: Any, **how: Any) -> Value:
    return fill(call, entry_of(call, x), a)


@rule("fill.Tensor")
def fill_tensor(call: Call, a: Value, x: Value) -> Value:
    return Value(a.axes, lambda p: as_truth(call.reading, x.at(())) if is_truth(call) else x.at(()))


@rule("scalar_tensor.default")
def scalar_tensor(call: Call, x: Any, **how: Any) -> Value:
    return fill(call, entry_of(call, x))


@rule("empty.memory_format", "empty_like.default", "new_empty.default", "empty_strided.default")
def empty(call: Call, *sizes: Any, **how: Any) -> Value:
    def at(p: tuple) -> Entry:
        raise NotRead("what stands in a tensor before anything is written to it")

    return Value(tuple(call.reading.sizes.axis(n) for n in call.out.shape), at)


def entry_of(call: Call, x: Any) -> Entry:
    """Return a Python number as an entry; raise NotRead if the result's dtype cannot hold it."""
    if is_whole(call) and isinstance(x, float) and not x.is_integer() or is_truth(call) and not isinstance(x, bool):
        raise NotRead(f"the number {x} in a tensor of {call.out.dtype}")
    return x if isinstance(x, bool) else call.reading.entry(x) if isinstance(x, float) else call.reading.sizes.tree(x)


@rule("arange.default", "arange.start", "arange.start_step")
def arange(call: Call, *limits: Any, **how: Any) -> Value:
    if is_whole(call) and any(isinstance(x, (float, torch.SymFloat)) for x in limits):
        raise NotRead("whole numbers from one that is none, or in such steps")
    axis, tree = call.reading.sizes.axis(call.out.shape[0]), call.reading.sizes.tree
    start, step = (tree(limits[0]) if len(limits) > 1 else lift(0)), (tree(limits[2]) if len(limits) > 2 else lift(1))
    return Value((axis,), lambda p: plus(start, times(step, numbered(axis, p[0]))))


@rule("eye.default", "eye.m")
def eye_(call: Call, n: Any, m: Any = None, **how: Any) -> Value:
    rows, columns = (call.reading.sizes.axis(k) for k in call.out.shape)
    if isinstance(rows, Run) and columns == ONE:  # one column: the first entry is 1
        return Value((rows, columns), lambda p: same_place(rows, p[0], lift(1)))
    if isinstance(columns, Run) and rows == ONE:
        return Value((rows, columns), lambda p: same_place(columns, p[1], lift(1)))
    if isinstance(rows, Count) and isinstance(columns, Count):
        return Value((rows, columns), lambda p: lift(int(p[0] == p[1])))
    if rows != columns:
        raise Sized("an identity that is not square")
    return Value((rows, columns), lambda p: same_place(rows, *p))
