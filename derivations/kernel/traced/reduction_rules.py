"""Rules for operations along axes: sums, means, the largest entry, softmax."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import torch

from ..core.constructors import each, function, log
from ..core.expr import Expr, lift, show
from . import pointwise_rules
from .axes import UNIT_AXIS, Axis, FixedAxis, MergedAxis, SymbolicAxis, has_known_length, iterate_positions, size_names
from .boolean_values import as_truth
from .entries import (
    Entry,
    Masked,
    add_entries,
    divide_entries,
    exponentiate,
    is_const,
    logical_and,
    logical_or,
    multiply_entries,
    negated_operand,
    raise_entry,
    subtract_entries,
    to_number,
)
from .errors import NeedsNumericSize, NotRead
from .integer_dtypes import is_zero_or_one
from .operation_rules import Call, Number, find_tensors, rule
from .pointwise_rules import HALF, larger_of, smaller_of
from .reshape_rules import as_type
from .tensor_values import TensorValue, axis_number, sum_along


def over_axes(a: TensorValue, dims: Any, keepdim: bool, f: Callable[[list[Axis], Callable[[tuple], Entry], tuple], Entry]) -> TensorValue:
    """Return the reduction of a tensor over the axes `dims`, or over all axes.

    `f` takes these axes, a function from positions along them to entries, and the position in the result; it returns an entry.
    """
    reduced = range(len(a.axes)) if dims is None or dims == [] else [dims] if isinstance(dims, int) else dims
    dropped = sorted(axis_number(k, a.axes) for k in reduced) if a.axes else []
    kept = [k for k in range(len(a.axes)) if k not in dropped]
    axes = tuple(UNIT_AXIS if k in dropped else axis for k, axis in enumerate(a.axes)) if keepdim else tuple(a.axes[k] for k in kept)

    def at(p: tuple) -> Entry:
        fixed = dict(zip(kept, [p[k] for k in kept] if keepdim else p))

        def inside(q: tuple) -> Entry:
            position = fixed | dict(zip(dropped, q))
            return a.at(tuple(position[k] for k in range(len(a.axes))))

        return f([a.axes[k] for k in dropped], inside, p)

    return TensorValue(axes, at)


def sum_of(axes: list[Axis], inside: Callable[[tuple], Entry], before: tuple = ()) -> Expr:
    """Return the sum of the entries along some axes. `before` is the position along the axes already summed over."""
    if not axes:
        return to_number(inside(before))
    return sum_along(axes[0], lambda position: sum_of(axes[1:], inside, (*before, position)))


def count_positions(axes: list[Axis]) -> Expr:
    """Return the number of positions along some axes."""
    result: Any = lift(1)
    for axis in axes:
        result = multiply_entries(result, axis_size(axis))
    return result


def axis_size(axis: Axis) -> Expr:
    """Return the number of positions along an axis."""
    if isinstance(axis, FixedAxis):
        return lift(axis.n)
    if isinstance(axis, SymbolicAxis):
        return axis.size
    sizes: list[Entry] = [axis_size(part) for part in axis.parts]
    return to_number(reduce(multiply_entries if isinstance(axis, MergedAxis) else add_entries, sizes))


def convert(call: Call, a: TensorValue, dtype: Any) -> TensorValue:
    """Return a tensor converted to a dtype, or as it is for None, as reductions do before anything else."""
    if dtype is None:
        return a
    if dtype == torch.bool:
        raise NotRead("truth values that are taken together as numbers")
    return as_type(call, a, dtype)


@rule("sum.dim_IntList", "sum.default")
def sum_(call: Call, a: TensorValue, dims: Any = None, keepdim: bool = False, dtype: Any = None) -> TensorValue:
    a = convert(call, a, dtype)
    return over_axes(a, dims, keepdim, lambda axes, inside, p: sum_of(axes, inside))


@rule("mean.dim", "mean.default")
def mean(call: Call, a: TensorValue, dims: Any = None, keepdim: bool = False, dtype: Any = None) -> TensorValue:
    a = convert(call, a, dtype)
    return over_axes(a, dims, keepdim, lambda axes, inside, p: divide_entries(sum_of(axes, inside), count_positions(axes)))


def difference(a: Expr, b: Expr) -> Expr:
    """a - b, as a reader would write it."""
    return lift(a.data - b.data) if is_const(a) and is_const(b) else a if is_const(b, 0) else a - b


@rule("var.correction")
def var(call: Call, a: TensorValue, dims: Any = None, correction: Any = 1, keepdim: bool = False) -> TensorValue:
    less = call.reading.sizes.tree(1 if correction is None else correction)

    def one(axes: list[Axis], inside: Callable, p: tuple) -> Entry:
        count = count_positions(axes)
        left = difference(count, less)
        if is_const(left) and left.data <= 0:
            raise NotRead(f"a variance of {show(count)} numbers that is divided by {show(left)}")
        if not call.reading.decide_or_assume("positive", left):
            raise NotRead(f"a variance that is divided by {show(left)}, which is not positive")
        middle = divide_entries(sum_of(axes, inside), count)
        return divide_entries(sum_of(axes, lambda q: raise_entry(subtract_entries(inside(q), middle), Fraction(2))), left)

    return over_axes(a, dims, keepdim, one)


@rule("std.correction")
def std(call: Call, a: TensorValue, dims: Any = None, correction: Any = 1, keepdim: bool = False) -> TensorValue:
    return var(call, a, dims, correction, keepdim).map(lambda x: raise_entry(to_number(x), HALF))


@rule("var_mean.correction")
def var_mean(call: Call, a: TensorValue, dims: Any = None, correction: Any = 1, keepdim: bool = False) -> list:
    return [var(call, a, dims, correction, keepdim), mean(call, a, dims, keepdim)]


@rule("std_mean.correction")
def std_mean(call: Call, a: TensorValue, dims: Any = None, correction: Any = 1, keepdim: bool = False) -> list:
    return [std(call, a, dims, correction, keepdim), mean(call, a, dims, keepdim)]


@rule("native_layer_norm.default")
def layer_norm(call: Call, a: TensorValue, shape: list, weight: Any = None, bias: Any = None, eps: Number = 0) -> list:
    dims = list(range(len(a.axes) - len(shape), len(a.axes)))
    middle, spread = mean(call, a, dims, keepdim=True), pointwise_rules.add(call, var(call, a, dims, 0, keepdim=True), eps)
    root = spread.map(lambda x: raise_entry(to_number(x), HALF))
    result = pointwise_rules.div(call, pointwise_rules.sub(call, a, middle), root)
    result = result if weight is None else pointwise_rules.mul(call, result, weight)
    result = result if bias is None else pointwise_rules.add(call, result, bias)
    return [result, middle, root.map(lambda x: divide_entries(lift(1), x))]


@rule("linalg_vector_norm.default", "norm.ScalarOpt_dim", "norm.Scalar")
def vector_norm(call: Call, a: TensorValue, order: Any = 2, dims: Any = None, keepdim: bool = False, dtype: Any = None) -> TensorValue:
    if any(x.dtype.is_complex for x in find_tensors(call.given)):
        raise NotRead("a norm of complex numbers")
    a = convert(call, a, dtype)
    if order not in (2, 2.0):
        raise NotRead(f"a norm of order {order}")
    return over_axes(
        a, dims, keepdim, lambda axes, inside, p: raise_entry(sum_of(axes, lambda q: raise_entry(inside(q), Fraction(2))), HALF)
    )


@rule("prod.default", "prod.dim_int")
def prod(call: Call, a: TensorValue, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> TensorValue:
    a = convert(call, a, dtype)

    def entry(axes: list[Axis], inside: Callable, p: tuple) -> Entry:
        result: Entry = lift(1)
        for position in enumerate_positions(axes):
            result = multiply_entries(result, inside(position))
        return result

    return over_axes(a, dim, keepdim, entry)


def enumerate_positions(axes: list[Axis]) -> list[tuple]:
    """Return all positions along some axes; raise `NeedsNumericSize` if a length is not known."""
    result: list[tuple] = [()]
    for axis in axes:
        if not has_known_length(axis):
            raise NeedsNumericSize("each place of an axis whose length is not known", size_names(axis))
        result = [(*p, position) for p in result for position, _ in iterate_positions(axis)]
    return result


@rule("amax.default", "max.default")
def amax(call: Call, a: TensorValue, dims: Any = None, keepdim: bool = False) -> TensorValue:
    return largest_or_smallest(call, a, dims, keepdim, "largest")


@rule("amin.default", "min.default")
def amin(call: Call, a: TensorValue, dims: Any = None, keepdim: bool = False) -> TensorValue:
    return largest_or_smallest(call, a, dims, keepdim, "smallest")


@rule("max.dim")
def max_dim(call: Call, a: TensorValue, dim: int, keepdim: bool = False) -> list:
    return [largest_or_smallest(call, a, dim, keepdim, "largest"), None]


def largest_or_smallest(call: Call, a: TensorValue, dims: Any, keepdim: bool, which: str) -> TensorValue:
    """Return the largest or smallest entry along some axes.

    It is computed where that is possible, and a `largest` node if the claim has one. Otherwise it is an unknown number.
    """
    shape_only = over_axes(a, dims, keepdim, lambda axes, inside, p: lift(0))
    unknown = call.reading.unknown(shape_only.axes, which)

    def entry(axes: list[Axis], inside: Callable, p: tuple) -> Entry:
        long_axes = [axis for axis in axes if axis != UNIT_AXIS]
        if not long_axes:
            return inside(tuple(0 for _ in axes))
        if all(map(has_known_length, axes)):
            entries = [inside(position) for position in enumerate_positions(axes)]
            if all(is_const(x) for x in entries):
                return lift((max if which == "largest" else min)(x.data for x in entries))
            if len(entries) == 2 and call.reading.largest and not any(isinstance(x, Masked) for x in entries):
                return (larger_of if which == "largest" else smaller_of)(*map(to_number, entries))
        if call.reading.largest and which == "largest" and len(axes) == 1 and isinstance(axes[0], SymbolicAxis):
            ((i, bound),) = iterate_positions(axes[0])
            body = inside((i,))
            if not isinstance(body, Masked):
                return function("largest", each(to_number(body), *bound))
        entries = [inside(position) for position in combine_positions(axes)]
        if any(isinstance(x, Masked) for x in entries):
            for x in entries:
                call.reading.needs(x)
            if which == "smallest":
                raise NotRead("the smallest of what may be minus infinity")
            if all(isinstance(x, Masked) and is_const(x.keep, 0) for x in entries):
                return entries[0]
            if all(isinstance(x, Masked) and not is_const(x.keep, 1) for x in entries):
                require_some_kept(call, *(x.keep for x in entries if not is_const(x.keep, 0)))
        return unknown.at(p)

    return over_axes(a, dims, keepdim, entry)


@rule("logsumexp.default")
def logsumexp(call: Call, a: TensorValue, dims: Any, keepdim: bool = False) -> TensorValue:
    return over_axes(a, dims, keepdim, lambda axes, inside, p: log(sum_of(axes, lambda q: exponentiate(inside(q)))))


def map_along(a: TensorValue, dim: int, f: Callable[[Axis, Callable, Any], Entry]) -> TensorValue:
    """Return a tensor of the same shape. `f` takes the axis, a function from positions along it to entries, and the position of its result."""
    dim = axis_number(dim, a.axes)
    if not a.axes:
        return TensorValue((), lambda p: f(UNIT_AXIS, lambda q: a.at(()), 0))
    return TensorValue(a.axes, lambda p: f(a.axes[dim], lambda q: a.at((*p[:dim], q, *p[dim + 1 :])), p[dim]))


@rule("_softmax.default", "_safe_softmax.default")
def softmax(call: Call, a: TensorValue, dim: int, half: bool = False, dtype: Any = None) -> TensorValue:
    a = convert(call, a, dtype)

    def entry(axis: Axis, inside: Callable, position: Any) -> Entry:
        return divide_entries(exponentiate(inside(position)), sum_along(axis, lambda q: exponentiate(inside(q))))

    return map_along(a, dim, entry)


@rule("_log_softmax.default")
def log_softmax(call: Call, a: TensorValue, dim: int, half: bool = False) -> TensorValue:
    def entry(axis: Axis, inside: Callable, position: Any) -> Entry:
        return subtract_entries(inside(position), log(sum_along(axis, lambda q: exponentiate(inside(q)))))

    return map_along(a, dim, entry)


@rule("cumsum.default")
def cumsum(call: Call, a: TensorValue, dim: int, dtype: Any = None) -> TensorValue:
    a = convert(call, a, dtype)

    def entry(axis: Axis, inside: Callable, position: Any) -> Entry:
        if not isinstance(axis, FixedAxis):
            raise NeedsNumericSize("sums up to each place of an axis whose length is not known", size_names(axis))
        result: Entry = lift(0)
        for k in range(position + 1):
            result = add_entries(result, inside(k))
        return result

    return map_along(a, dim, entry)


@rule("all.dim", "all.default", "all.dims")
def all_(call: Call, a: TensorValue, dims: Any = None, keepdim: bool = False) -> TensorValue:
    return over_axes(a, dims, keepdim, lambda axes, inside, p: reduce_truth(call, axes, inside, logical_and, True))


@rule("any.dim", "any.default", "any.dims")
def any_(call: Call, a: TensorValue, dims: Any = None, keepdim: bool = False) -> TensorValue:
    return over_axes(a, dims, keepdim, lambda axes, inside, p: reduce_truth(call, axes, inside, logical_or, False))


def reduce_truth(call: Call, axes: list[Axis], inside: Callable, join: Callable, start: bool) -> Entry:
    """Return the conjunction or disjunction over some axes. An unknown truth value along a symbolic axis is decided by a condition."""
    result: Entry = start
    for position in combine_positions(axes):
        entry = as_truth(call.reading, inside(position))
        if not isinstance(entry, bool) and not all(map(has_known_length, axes)):
            return assume_some_kept(call, entry, start)
        result = join(result, entry)
    return result


def assume_some_kept(call: Call, entry: Entry, all_of: bool) -> bool:
    """Return `all` or `any` of a mask along a symbolic axis, under the condition that each row has an entry that is kept.

    That decides `any` of a mask of kept entries, and `all` of a mask of dropped ones. Raise NotRead for any other test.
    """
    kept = negated_operand(entry) if all_of else entry
    if not isinstance(kept, Expr) or not all_of and negated_operand(kept) is not None or not is_zero_or_one(call.reading, kept):
        raise NotRead("whether something holds at each place, or at any")
    require_some_kept(call, kept)
    return not all_of


def require_some_kept(call: Call, *kept: Expr) -> None:
    """Record the condition that each row has an entry that one of these masks keeps."""
    call.reading.add_condition(f"in each row something is kept, where {' or '.join(dict.fromkeys(map(show, kept)))} is 1")


def combine_positions(axes: list[Axis]) -> list[tuple]:
    """Return the combinations of positions along some axes; along a symbolic axis, one new index stands for all positions."""
    result: list[tuple] = [()]
    for axis in axes:
        result = [(*p, position) for p in result for position, _ in iterate_positions(axis)]
    return result
