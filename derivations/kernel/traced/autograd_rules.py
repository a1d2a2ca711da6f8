"""Rules for the operations that autograd calls: the gradient of an operation's input, given the gradient of its output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.constructors import exp
from ..core.expr import lift
from .axes import UNIT_AXIS, Axis
from .entries import Entry, add_entries, divide_entries, multiply_entries, subtract_entries, to_number
from .operation_rules import Call, rule
from .position_conversion import position_of_index, same_position
from .tensor_values import TensorValue, apply_entrywise, axis_number, broadcast_values, sum_along


def combine_along_axis(g: TensorValue, y: TensorValue, dim: int, f: Callable[[Axis, Callable, Callable, Any], Entry]) -> TensorValue:
    """Return a tensor of the shape of `g` and `y`, built by `f` along the axis `dim`.

    `f` takes the axis, the entries of `g` and of `y` along it (two functions of a position), and the position of the entry to build.
    """
    _, (g, y) = broadcast_values([g, y])
    dim = axis_number(dim, y.axes)
    if not y.axes:
        return TensorValue((), lambda p: f(UNIT_AXIS, lambda q: g.at(()), lambda q: y.at(()), 0))

    def at(p: tuple) -> Entry:
        return f(y.axes[dim], lambda q: g.at((*p[:dim], q, *p[dim + 1 :])), lambda q: y.at((*p[:dim], q, *p[dim + 1 :])), p[dim])

    return TensorValue(y.axes, at)


@rule("_softmax_backward_data.default")
def softmax(call: Call, g: TensorValue, y: TensorValue, dim: int, dtype: Any) -> TensorValue:
    def entry(axis: Axis, gradient: Callable, output: Callable, position: Any) -> Entry:
        return multiply_entries(
            output(position), subtract_entries(gradient(position), sum_along(axis, lambda q: multiply_entries(gradient(q), output(q))))
        )

    return combine_along_axis(g, y, dim, entry)


@rule("_log_softmax_backward_data.default")
def log_softmax(call: Call, g: TensorValue, y: TensorValue, dim: int, dtype: Any) -> TensorValue:
    def entry(axis: Axis, gradient: Callable, output: Callable, position: Any) -> Entry:
        return subtract_entries(gradient(position), multiply_entries(exp(to_number(output(position))), sum_along(axis, gradient)))

    return combine_along_axis(g, y, dim, entry)


@rule("tanh_backward.default")
def tanh(call: Call, g: TensorValue, y: TensorValue) -> TensorValue:
    return apply_entrywise(lambda a, b: multiply_entries(a, subtract_entries(lift(1), multiply_entries(b, b))), g, y)


@rule("sigmoid_backward.default")
def sigmoid(call: Call, g: TensorValue, y: TensorValue) -> TensorValue:
    return apply_entrywise(lambda a, b: multiply_entries(a, multiply_entries(b, subtract_entries(lift(1), b))), g, y)


@rule("silu_backward.default")
def silu(call: Call, g: TensorValue, x: TensorValue) -> TensorValue:
    def entry(a: Entry, b: Entry) -> Entry:
        gate = divide_entries(lift(1), add_entries(lift(1), exp(-to_number(b))))
        return multiply_entries(a, multiply_entries(gate, add_entries(lift(1), multiply_entries(b, subtract_entries(lift(1), gate)))))

    return apply_entrywise(entry, g, x)


@rule("select_backward.default")
def select(call: Call, g: TensorValue, shape: Any, dim: int, k: Any) -> TensorValue:
    """Return the gradient placed at one position of an axis, and zero elsewhere."""
    dim = axis_number(dim, call.out.shape)
    axes = (*g.axes[:dim], call.reading.sizes.axis(call.out.shape[dim]), *g.axes[dim:])
    position = position_of_index(call, axes[dim], k)
    return TensorValue(axes, lambda p: multiply_entries(same_position(axes[dim], position, p[dim]), g.at((*p[:dim], *p[dim + 1 :]))))
