"""Rules for the operations that autograd calls: the gradient of an operation's input, given the gradient of its output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.expr import exp, lift
from .axes import ONE, Axis
from .entries import Entry, minus, number, over, plus, times
from .index_positions import place_of, same_place
from .operation_rules import Call, rule
from .tensor_values import Value, axis_number, broadcast, entrywise, summed


def combine_along_axis(g: Value, y: Value, dim: int, f: Callable[[Axis, Callable, Callable, Any], Entry]) -> Value:
    """Return a tensor of the shape of `g` and `y`, built by `f` along the axis `dim`.

    `f` takes the axis, the entries of `g` and of `y` along it (two functions of a position), and the position of the entry to build.
    """
    _, (g, y) = broadcast([g, y])
    dim = axis_number(dim, y.axes)
    if not y.axes:
        return Value((), lambda p: f(ONE, lambda q: g.at(()), lambda q: y.at(()), 0))

    def at(p: tuple) -> Entry:
        return f(y.axes[dim], lambda q: g.at((*p[:dim], q, *p[dim + 1 :])), lambda q: y.at((*p[:dim], q, *p[dim + 1 :])), p[dim])

    return Value(y.axes, at)


@rule("_softmax_backward_data.default")
def softmax(call: Call, g: Value, y: Value, dim: int, dtype: Any) -> Value:
    def entry(axis: Axis, gradient: Callable, output: Callable, position: Any) -> Entry:
        return times(output(position), minus(gradient(position), summed(axis, lambda q: times(gradient(q), output(q)))))

    return combine_along_axis(g, y, dim, entry)


@rule("_log_softmax_backward_data.default")
def log_softmax(call: Call, g: Value, y: Value, dim: int, dtype: Any) -> Value:
    def entry(axis: Axis, gradient: Callable, output: Callable, position: Any) -> Entry:
        return minus(gradient(position), times(exp(number(output(position))), summed(axis, gradient)))

    return combine_along_axis(g, y, dim, entry)


@rule("tanh_backward.default")
def tanh(call: Call, g: Value, y: Value) -> Value:
    return entrywise(lambda a, b: times(a, minus(lift(1), times(b, b))), g, y)


@rule("sigmoid_backward.default")
def sigmoid(call: Call, g: Value, y: Value) -> Value:
    return entrywise(lambda a, b: times(a, times(b, minus(lift(1), b))), g, y)


@rule("silu_backward.default")
def silu(call: Call, g: Value, x: Value) -> Value:
    def entry(a: Entry, b: Entry) -> Entry:
        gate = over(lift(1), plus(lift(1), exp(-number(b))))
        return times(a, times(gate, plus(lift(1), times(b, minus(lift(1), gate)))))

    return entrywise(entry, g, x)


@rule("select_backward.default")
def select(call: Call, g: Value, shape: Any, dim: int, k: Any) -> Value:
    """Return the gradient placed at one position of an axis, and zero elsewhere."""
    dim = axis_number(dim, call.out.shape)
    axes = (*g.axes[:dim], call.reading.sizes.axis(call.out.shape[dim]), *g.axes[dim:])
    position = place_of(call, axes[dim], k)
    return Value(axes, lambda p: times(same_place(axes[dim], position, p[dim]), g.at((*p[:dim], *p[dim + 1 :]))))
