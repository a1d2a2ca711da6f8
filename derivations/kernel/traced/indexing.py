"""Entries that are taken at places which other tensors say."""

from __future__ import annotations

from typing import Any

from .entries import Entry
from .errors import NotRead
from .rules import Call, rule
from .spots import place_at
from .values import Value, axis_number, broadcast


@rule("index.Tensor")
def index(call: Call, a: Value, places: list) -> Value:
    chosen = [(k, one) for k, one in enumerate(places) if one is not None]
    axes, alike = broadcast([one for _, one in chosen])
    first = chosen[0][0]
    if [k for k, _ in chosen] != list(range(first, first + len(chosen))):
        raise NotRead("places that are given for axes that do not lie side by side")
    left = list(range(first + len(chosen), len(a.axes)))
    whole = (*a.axes[:first], *axes, *(a.axes[k] for k in left))

    def at(p: tuple) -> Entry:
        here = p[first : first + len(axes)]
        taken = tuple(place_at(a.axes[k], one.at(here)) for (k, _), one in zip(chosen, alike))
        return a.at((*p[:first], *taken, *p[first + len(axes) :]))

    return Value(whole, at)


@rule("embedding.default")
def embedding(call: Call, a: Value, places: Value, *more: Any) -> Value:
    return Value((*places.axes, a.axes[1]), lambda p: a.at((place_at(a.axes[0], places.at(p[:-1])), p[-1])))


@rule("index_select.default")
def index_select(call: Call, a: Value, dim: int, places: Value) -> Value:
    dim = axis_number(dim, a.axes)
    axes = (*a.axes[:dim], places.axes[0], *a.axes[dim + 1 :])
    return Value(axes, lambda p: a.at((*p[:dim], place_at(a.axes[dim], places.at((p[dim],))), *p[dim + 1 :])))


@rule("gather.default")
def gather(call: Call, a: Value, dim: int, places: Value, sparse_grad: bool = False) -> Value:
    dim = axis_number(dim, a.axes)
    return Value(places.axes, lambda p: a.at((*p[:dim], place_at(a.axes[dim], places.at(p)), *p[dim + 1 :])))
