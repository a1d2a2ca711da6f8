"""A tensor as mathematics: its axes, and what stands at a place of each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from ..core.expr import Expr, lift, total
from .axes import ONE, Axis, Place, length, places
from .entries import Entry, Masked, number, plus
from .errors import NotRead, Sized


@dataclass(frozen=True)
class Value:
    axes: tuple[Axis, ...]
    at: Callable[[tuple], Entry]  # what stands at a place along each axis

    def map(self, f: Callable[[Entry], Entry]) -> Value:
        return Value(self.axes, lambda p: f(self.at(p)))


def scalar(e: Entry) -> Value:
    return Value((), lambda p: e)


def whole(k: int) -> Value:
    return scalar(lift(k))


def broadcast(values: Sequence[Value], axes: tuple[Axis, ...] = ()) -> tuple[tuple[Axis, ...], list[Value]]:
    """The axes of all of them together, and each as one that has these: an axis of length 1 goes along."""
    most = max([len(axes), *(len(v.axes) for v in values)])
    found = []
    for k in range(-most, 0):
        here = [v.axes[k] for v in values if len(v.axes) >= -k] + ([axes[k]] if len(axes) >= -k else [])
        found.append(reduce(together, here))
    return tuple(found), [expanded(v, tuple(found)) for v in values]


def together(one: Axis, other: Axis) -> Axis:
    if one == other or other == ONE:
        return one
    if one == ONE:
        return other
    raise Sized("axes that are cut in different ways stand side by side" if length(one) == length(other) else "axes of different lengths")


def expanded(value: Value, axes: tuple[Axis, ...]) -> Value:
    if value.axes == axes:
        return value
    own = value.axes
    skip = len(axes) - len(own)

    def at(p: tuple) -> Entry:
        return value.at(tuple(0 if axis == ONE else q for axis, q in zip(own, p[skip:])))

    return Value(axes, at)


def entrywise(f: Callable, *values: Value) -> Value:
    axes, alike = broadcast(values)
    return Value(axes, lambda p: f(*(v.at(p) for v in alike)))


def summed(axis: Axis, body: Callable[[Place], Entry]) -> Expr:
    """The sum of what stands at each place along an axis."""
    result: Entry = lift(0)
    for place, bound in places(axis):
        one = body(place)
        if isinstance(one, Masked):
            raise NotRead("a sum in which minus infinity stands")
        one = number(one)
        result = plus(result, total(one, *bound) if bound else one)
    return number(result)


def axis_number(dim: int, of: Sequence, more: int = 0) -> int:
    """The axis that code means, which may count from the end; an axis that is not there is an error, as it is for PyTorch."""
    count = max(1, len(of) + more)
    if not -count <= dim < count:
        raise NotRead(f"axis {dim} of a tensor with {len(of)} axes")
    return dim % count


def at_axis(p: tuple, k: int, place: Place) -> tuple:
    """The place with one of its axes put in."""
    return (*p[:k], place, *p[k:])
