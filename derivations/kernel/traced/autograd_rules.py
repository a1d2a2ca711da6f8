"""What autograd asks of an operation: the slope of what it gave, along what comes from above."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.expr import exp, lift
from .axes import ONE, Axis
from .entries import Entry, minus, number, over, plus, times
from .index_positions import place_of, same_place
from .operation_rules import Call, rule
from .tensor_values import Value, axis_number, broadcast, entrywise, summed


def beside(g: Value, y: Value, dim: int, f: Callable[[Axis, Callable, Callable, Any], Entry]) -> Value:
    _, (g, y) = broadcast([g, y])
    dim = axis_number(dim, y.axes)
    if not y.axes:
        return Value((), lambda p: f(ONE, lambda q: g.at(()), lambda q: y.at(()), 0))

    def at(p: tuple) -> Entry:
        return f(y.axes[dim], lambda q: g.at((*p[:dim], q, *p[dim + 1 :])), lambda q: y.at((*p[:dim], q, *p[dim + 1 :])), p[dim])

    return Value(y.axes, at)


@rule("_softmax_backward_data.default")
def softmax(call: Call, g: Value, y: Value, dim: int, dtype: Any) -> Value:
    def one(axis: Axis, above: Callable, own: Callable, here: Any) -> Entry:
        return times(own(here), minus(above(here), summed(axis, lambda q: times(above(q), own(q)))))

    return beside(g, y, dim, one)


@rule("_log_softmax_backward_data.default")
def log_softmax(call: Call, g: Value, y: Value, dim: int, dtype: Any) -> Value:
    def one(axis: Axis, above: Callable, own: Callable, here: Any) -> Entry:
        return minus(above(here), times(exp(number(own(here))), summed(axis, above)))

    return beside(g, y, dim, one)


@rule("tanh_backward.default")
def tanh(call: Call, g: Value, y: Value) -> Value:
    return entrywise(lambda a, b: times(a, minus(lift(1), times(b, b))), g, y)


@rule("sigmoid_backward.default")
def sigmoid(call: Call, g: Value, y: Value) -> Value:
    return entrywise(lambda a, b: times(a, times(b, minus(lift(1), b))), g, y)


@rule("silu_backward.default")
def silu(call: Call, g: Value, x: Value) -> Value:
    def one(a: Entry, b: Entry) -> Entry:
        gate = over(lift(1), plus(lift(1), exp(-number(b))))
        return times(a, times(gate, plus(lift(1), times(b, minus(lift(1), gate)))))

    return entrywise(one, g, x)


@rule("select_backward.default")
def select(call: Call, g: Value, shape: Any, dim: int, k: Any) -> Value:
    """Zero everywhere but at one place of an axis."""
    dim = axis_number(dim, call.out.shape)
    axes = (*g.axes[:dim], call.reading.sizes.axis(call.out.shape[dim]), *g.axes[dim:])
    place = place_of(call, axes[dim], k)
    return Value(axes, lambda p: times(same_place(axes[dim], place, p[dim]), g.at((*p[:dim], *p[dim + 1 :]))))
