"""A tensor as mathematics: its axes, and the entry at a position along each of them."""

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
    """A tensor as a function from positions to entries."""

    axes: tuple[Axis, ...]
    at: Callable[[tuple], Entry]  # takes a position along each axis

    def map(self, f: Callable[[Entry], Entry]) -> Value:
        """Return the tensor with `f` applied to each entry."""
        return Value(self.axes, lambda p: f(self.at(p)))


def scalar(e: Entry) -> Value:
    """Return a tensor without axes."""
    return Value((), lambda p: e)


def broadcast(values: Sequence[Value], axes: tuple[Axis, ...] = ()) -> tuple[tuple[Axis, ...], list[Value]]:
    """Return the broadcast axes of some tensors (and of `axes`), and the tensors expanded to them."""
    rank = max([len(axes), *(len(v.axes) for v in values)])
    result = []
    for k in range(-rank, 0):
        aligned = [v.axes[k] for v in values if len(v.axes) >= -k] + ([axes[k]] if len(axes) >= -k else [])
        result.append(reduce(together, aligned))
    return tuple(result), [expanded(v, tuple(result)) for v in values]


def together(first: Axis, second: Axis) -> Axis:
    """Return the axis that two axes broadcast to; raise `Sized` if they do not match."""
    if first == second or second == ONE:
        return first
    if first == ONE:
        return second
    raise Sized(
        "axes that are cut in different ways stand side by side" if length(first) == length(second) else "axes of different lengths"
    )


def expanded(value: Value, axes: tuple[Axis, ...]) -> Value:
    """Return a tensor expanded to axes that it broadcasts to."""
    if value.axes == axes:
        return value
    given = value.axes
    skip = len(axes) - len(given)

    def at(p: tuple) -> Entry:
        return value.at(tuple(0 if axis == ONE else q for axis, q in zip(given, p[skip:])))

    return Value(axes, at)


def entrywise(f: Callable, *values: Value) -> Value:
    """Return `f` of the entries of some tensors, which are broadcast."""
    axes, expanded_values = broadcast(values)
    return Value(axes, lambda p: f(*(v.at(p) for v in expanded_values)))


def summed(axis: Axis, body: Callable[[Place], Entry]) -> Expr:
    """Return the sum of `body` over the positions along an axis."""
    result: Entry = lift(0)
    for position, bound in places(axis):
        term = body(position)
        if isinstance(term, Masked):
            raise NotRead("a sum in which minus infinity stands")
        term = number(term)
        result = plus(result, total(term, *bound) if bound else term)
    return number(result)


def axis_number(dim: int, of: Sequence, more: int = 0) -> int:
    """Return the number of an axis that may be counted from the end, with `more` axes added; raise NotRead if there is no such axis."""
    count = max(1, len(of) + more)
    if not -count <= dim < count:
        raise NotRead(f"axis {dim} of a tensor with {len(of)} axes")
    return dim % count


def at_axis(p: tuple, k: int, position: Place) -> tuple:
    """Return a position with one for a new axis k inserted."""
    return (*p[:k], position, *p[k:])
