"""Entries that are taken at places which other tensors say."""

from __future__ import annotations

from itertools import product
from typing import Any

from .axes import Axis, Count, places
from .entries import Entry
from .errors import NotRead, Sized
from .index_positions import place_at
from .operation_rules import Call, rule
from .tensor_values import Value, axis_number, broadcast


def within(axis: Axis, asked: Value, negative: bool = False) -> None:
    """Each place that is asked for is one of the axis; else the code raises, whatever is read of it."""
    for p in product(*map(spots, asked.axes)):
        place_at(axis, asked.at(p), negative)


def spots(axis: Axis) -> list:
    return [place for place, _ in places(axis)]


@rule("index.Tensor")
def index(call: Call, a: Value, asked: list) -> Value:
    chosen = [(k, one) for k, one in enumerate(asked) if one is not None]
    axes, alike = broadcast([one for _, one in chosen])
    first = chosen[0][0]
    if [k for k, _ in chosen] != list(range(first, first + len(chosen))):
        raise NotRead("places that are given for axes that do not lie side by side")
    left = list(range(first + len(chosen), len(a.axes)))
    whole = (*a.axes[:first], *axes, *(a.axes[k] for k in left))

    for (k, _), one in zip(chosen, alike):
        within(a.axes[k], one, negative=True)

    def at(p: tuple) -> Entry:
        here = p[first : first + len(axes)]
        taken = tuple(place_at(a.axes[k], one.at(here), True) for (k, _), one in zip(chosen, alike))
        return a.at((*p[:first], *taken, *p[first + len(axes) :]))

    return Value(whole, at)


@rule("embedding.default")
def embedding(call: Call, a: Value, asked: Value, *more: Any) -> Value:
    within(a.axes[0], asked)
    return Value((*asked.axes, a.axes[1]), lambda p: a.at((place_at(a.axes[0], asked.at(p[:-1])), p[-1])))


@rule("index_select.default")
def index_select(call: Call, a: Value, dim: int, asked: Value) -> Value:
    dim = axis_number(dim, a.axes)
    within(a.axes[dim], asked)
    axes = (*a.axes[:dim], asked.axes[0], *a.axes[dim + 1 :])
    return Value(axes, lambda p: a.at((*p[:dim], place_at(a.axes[dim], asked.at((p[dim],))), *p[dim + 1 :])))


@rule("gather.default")
def gather(call: Call, a: Value, dim: int, asked: Value, sparse_grad: bool = False) -> Value:
    dim = axis_number(dim, a.axes)
    beside = [(one, other) for k, (one, other) in enumerate(zip(a.axes, asked.axes)) if k != dim]
    if any(one != other and not (isinstance(one, Count) and isinstance(other, Count)) for one, other in beside):
        raise Sized("axes that are cut in different ways stand side by side")
    within(a.axes[dim], asked)
    return Value(asked.axes, lambda p: a.at((*p[:dim], place_at(a.axes[dim], asked.at(p)), *p[dim + 1 :])))
