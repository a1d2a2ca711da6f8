"""Operations along axes: sums, means, the largest, softmax."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import torch

from ..core.expr import Expr, each, function, lift, log, show
from .axes import ONE, Axis, Count, Run, known, names_in, places
from .boolean_values import as_truth
from .entries import Entry, Masked, both, either, exponential, hidden, is_const, minus, number, over, plus, raised, times
from .errors import NotRead, Sized
from .integer_dtypes import is_bit
from .operation_rules import Call, rule, tensors
from .pointwise_rules import larger_of, smaller_of
from .reshape_rules import as_type
from .tensor_values import Value, axis_number, summed


def over_axes(a: Value, dims: Any, keep: bool, f: Callable[[list[Axis], Callable[[tuple], Entry], tuple], Entry]) -> Value:
    """What f makes of the places along some axes: it gets these axes, what stands at a place along them, and where it is asked."""
    every = range(len(a.axes)) if dims is None or dims == [] else [dims] if isinstance(dims, int) else dims
    gone = sorted(axis_number(k, a.axes) for k in every) if a.axes else []
    kept = [k for k in range(len(a.axes)) if k not in gone]
    axes = tuple(ONE if k in gone else axis for k, axis in enumerate(a.axes)) if keep else tuple(a.axes[k] for k in kept)

    def at(p: tuple) -> Entry:
        still = dict(zip(kept, [p[k] for k in kept] if keep else p))

        def inside(q: tuple) -> Entry:
            here = still | dict(zip(gone, q))
            return a.at(tuple(here[k] for k in range(len(a.axes))))

        return f([a.axes[k] for k in gone], inside, p)

    return Value(axes, at)


def sum_of(axes: list[Axis], inside: Callable[[tuple], Entry], before: tuple = ()) -> Expr:
    if not axes:
        return number(inside(before))
    return summed(axes[0], lambda place: sum_of(axes[1:], inside, (*before, place)))


def how_many(axes: list[Axis]) -> Expr:
    result: Any = lift(1)
    for axis in axes:
        result = times(result, summed_ones(axis))
    return result


def summed_ones(axis: Axis) -> Expr:
    if isinstance(axis, (Count, Run)):
        return lift(axis.n) if isinstance(axis, Count) else axis.size
    counts = [summed_ones(part) for part in axis.parts]
    result = counts[0]
    for one in counts[1:]:
        result = times(result, one) if type(axis).__name__ == "Merged" else plus(result, one)
    return result


def of_type(call: Call, a: Value, dtype: Any) -> Value:
    """The numbers as those of another kind, which a rule was asked to make of them before anything else."""
    if dtype is None:
        return a
    if dtype == torch.bool:
        raise NotRead("truth values that are taken together as numbers")
    return as_type(call, a, dtype)


@rule("sum.dim_IntList", "sum.default")
def sum_(call: Call, a: Value, dims: Any = None, keepdim: bool = False, dtype: Any = None) -> Value:
    a = of_type(call, a, dtype)
    return over_axes(a, dims, keepdim, lambda axes, inside, p: sum_of(axes, inside))


@rule("mean.dim", "mean.default")
def mean(call: Call, a: Value, dims: Any = None, keepdim: bool = False, dtype: Any = None) -> Value:
    a = of_type(call, a, dtype)
    return over_axes(a, dims, keepdim, lambda axes, inside, p: over(sum_of(axes, inside), how_many(axes)))


def difference(a: Expr, b: Expr) -> Expr:
    """a - b, as a reader would write it."""
    return lift(a.data - b.data) if is_const(a) and is_const(b) else a - b


@rule("var.correction")
def var(call: Call, a: Value, dims: Any = None, correction: Any = 1, keepdim: bool = False) -> Value:
    less = call.reading.sizes.tree(1 if correction is None else correction)

    def one(axes: list[Axis], inside: Callable, p: tuple) -> Entry:
        count = how_many(axes)
        left = difference(count, less)
        if is_const(left) and left.data <= 0:
            raise NotRead(f"a variance of {show(count)} numbers that is divided by {show(left)}")
        if not call.reading.decided("positive", left):
            raise NotRead(f"a variance that is divided by {show(left)}, which is not positive")
        middle = over(sum_of(axes, inside), count)
        return over(sum_of(axes, lambda q: raised(minus(inside(q), middle), Fraction(2))), left)

    return over_axes(a, dims, keepdim, one)


@rule("linalg_vector_norm.default", "norm.ScalarOpt_dim", "norm.Scalar")
def vector_norm(call: Call, a: Value, order: Any = 2, dims: Any = None, keepdim: bool = False, dtype: Any = None) -> Value:
    if any(x.dtype.is_complex for x in tensors(call.given)):
        raise NotRead("a norm of complex numbers")
    a = of_type(call, a, dtype)
    if order not in (2, 2.0):
        raise NotRead(f"a norm of order {order}")
    return over_axes(
        a, dims, keepdim, lambda axes, inside, p: raised(sum_of(axes, lambda q: raised(inside(q), Fraction(2))), Fraction(1, 2))
    )


@rule("prod.default", "prod.dim_int")
def prod(call: Call, a: Value, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Value:
    a = of_type(call, a, dtype)

    def one(axes: list[Axis], inside: Callable, p: tuple) -> Entry:
        result: Entry = lift(1)
        for place in every(axes):
            result = times(result, inside(place))
        return result

    return over_axes(a, dim, keepdim, one)


def every(axes: list[Axis]) -> list[tuple]:
    """All places along some axes; Sized where there are not so many as a number says."""
    found: list[tuple] = [()]
    for axis in axes:
        if not known(axis):
            raise Sized("each place of an axis whose length is not known", names_in(axis))
        found = [(*p, place) for p in found for place, _ in places(axis)]
    return found


@rule("amax.default", "max.default")
def amax(call: Call, a: Value, dims: Any = None, keepdim: bool = False) -> Value:
    return extreme(call, a, dims, keepdim, "largest")


@rule("amin.default", "min.default")
def amin(call: Call, a: Value, dims: Any = None, keepdim: bool = False) -> Value:
    return extreme(call, a, dims, keepdim, "smallest")


@rule("max.dim")
def max_dim(call: Call, a: Value, dim: int, keepdim: bool = False) -> list:
    return [extreme(call, a, dim, keepdim, "largest"), None]


def extreme(call: Call, a: Value, dims: Any, keepdim: bool, which: str) -> Value:
    """The largest: by its name where the claim speaks of one, else a number of which nothing is known."""
    made = over_axes(a, dims, keepdim, lambda axes, inside, p: lift(0))
    unknown = call.reading.unknown(made.axes, which)

    def one(axes: list[Axis], inside: Callable, p: tuple) -> Entry:
        axes_ = [axis for axis in axes if axis != ONE]
        if not axes_:
            return inside(tuple(0 for _ in axes))
        if all(map(known, axes)):
            here = [inside(place) for place in every(axes)]
            if all(is_const(x) for x in here):
                return lift((max if which == "largest" else min)(x.data for x in here))
            if len(here) == 2 and call.reading.largest and not any(isinstance(x, Masked) for x in here):
                return (larger_of if which == "largest" else smaller_of)(*map(number, here))
        if call.reading.largest and which == "largest" and len(axes) == 1 and isinstance(axes[0], Run):
            ((i, bound),) = places(axes[0])
            body = inside((i,))
            if not isinstance(body, Masked):
                return function("largest", each(number(body), *bound))
        found = [inside(place) for place in product_of(axes)]
        if any(isinstance(x, Masked) for x in found):
            for x in found:
                call.reading.needs(x)
            if which == "smallest":
                raise NotRead("the smallest of what may be minus infinity")
            if all(isinstance(x, Masked) and is_const(x.keep, 0) for x in found):
                return found[0]
            if all(isinstance(x, Masked) and not is_const(x.keep, 1) for x in found):
                kept_somewhere(call, *(x.keep for x in found if not is_const(x.keep, 0)))
        return unknown.at(p)

    return over_axes(a, dims, keepdim, one)


@rule("logsumexp.default")
def logsumexp(call: Call, a: Value, dims: Any, keepdim: bool = False) -> Value:
    return over_axes(a, dims, keepdim, lambda axes, inside, p: log(sum_of(axes, lambda q: exponential(inside(q)))))


def along(a: Value, dim: int, f: Callable[[Axis, Callable, Any], Entry]) -> Value:
    """A tensor of the same shape: f gets an axis, what stands along it, and the place."""
    dim = axis_number(dim, a.axes)
    if not a.axes:
        return Value((), lambda p: f(ONE, lambda q: a.at(()), 0))
    return Value(a.axes, lambda p: f(a.axes[dim], lambda q: a.at((*p[:dim], q, *p[dim + 1 :])), p[dim]))


@rule("_softmax.default", "_safe_softmax.default")
def softmax(call: Call, a: Value, dim: int, half: bool = False, dtype: Any = None) -> Value:
    a = of_type(call, a, dtype)

    def one(axis: Axis, inside: Callable, place: Any) -> Entry:
        return over(exponential(inside(place)), summed(axis, lambda q: exponential(inside(q))))

    return along(a, dim, one)


@rule("_log_softmax.default")
def log_softmax(call: Call, a: Value, dim: int, half: bool = False) -> Value:
    def one(axis: Axis, inside: Callable, place: Any) -> Entry:
        return minus(inside(place), log(summed(axis, lambda q: exponential(inside(q)))))

    return along(a, dim, one)


@rule("cumsum.default")
def cumsum(call: Call, a: Value, dim: int, dtype: Any = None) -> Value:
    a = of_type(call, a, dtype)

    def one(axis: Axis, inside: Callable, place: Any) -> Entry:
        if not isinstance(axis, Count):
            raise Sized("sums up to each place of an axis whose length is not known", names_in(axis))
        result: Entry = lift(0)
        for k in range(place + 1):
            result = plus(result, inside(k))
        return result

    return along(a, dim, one)


@rule("all.dim", "all.default", "all.dims")
def all_(call: Call, a: Value, dims: Any = None, keepdim: bool = False) -> Value:
    return over_axes(a, dims, keepdim, lambda axes, inside, p: truth_of(call, axes, inside, both, True))


@rule("any.dim", "any.default", "any.dims")
def any_(call: Call, a: Value, dims: Any = None, keepdim: bool = False) -> Value:
    return over_axes(a, dims, keepdim, lambda axes, inside, p: truth_of(call, axes, inside, either, False))


def truth_of(call: Call, axes: list[Axis], inside: Callable, join: Callable, start: bool) -> Entry:
    """Whether something holds everywhere, or anywhere: of what runs to a symbol only where it is known of each place."""
    result: Entry = start
    for place in product_of(axes):
        here = as_truth(call.reading, inside(place))
        if not isinstance(here, bool) and not all(map(known, axes)):
            return supposed(call, here, start)
        result = join(result, here)
    return result


def supposed(call: Call, here: Entry, all_of: bool) -> bool:
    """Where something is kept: not all is left out, and something is not. Nothing else follows."""
    kept = hidden(here) if all_of else here
    if not isinstance(kept, Expr) or not all_of and hidden(kept) is not None or not is_bit(call.reading, kept):
        raise NotRead("whether something holds at each place, or at any")
    kept_somewhere(call, kept)
    return not all_of


def kept_somewhere(call: Call, *kept: Expr) -> None:
    """A condition, which says of what it speaks."""
    call.reading.suppose(f"in each row something is kept, where {' or '.join(dict.fromkeys(map(show, kept)))} is 1")


def product_of(axes: list[Axis]) -> list[tuple]:
    found: list[tuple] = [()]
    for axis in axes:
        found = [(*p, place) for p in found for place, _ in places(axis)]
    return found
