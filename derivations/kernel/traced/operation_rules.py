"""The registry of rules, one for each operation of PyTorch, by name and overload.

A rule takes a `Call` and then the arguments of the operation, with a `TensorValue` for each tensor. It returns the result as a `Value`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import NotRead
from .tensor_values import TensorValue, scalar_value

Number = Any
RULES: dict[str, Callable] = {}


@dataclass
class Call:
    """One operation: the trace that it is part of, and the result of PyTorch, which has sizes and no numbers."""

    reading: Any  # a tracing.Reading
    out: Any
    given: tuple = ()  # the arguments of PyTorch, which have dtypes and no numbers

    def __post_init__(self) -> None:
        """Raise NotRead if a real tensor comes from a complex one: no rule covers that."""
        if any(x.dtype.is_complex for x in find_tensors(self.given)) and not all(x.dtype.is_complex for x in find_tensors(self.out)):
            raise NotRead("real numbers that are made of complex ones")


def find_tensors(x: Any) -> list:
    """Return the tensors among arguments, also those in tuples and lists."""
    if isinstance(x, (tuple, list)):
        return [tensor for part in x for tensor in find_tensors(part)]
    return [x] if hasattr(x, "dtype") and hasattr(x, "shape") else []


def rule(*names: str) -> Callable:
    """Return a decorator that registers the rule of an operation under names such as mm.default."""

    def register(f: Callable) -> Callable:
        for name in names:
            RULES[name] = f
        return f

    return register


def find_rule(name: str) -> Callable:
    """Return the rule of an operation; raise NotRead if it has none."""
    if name not in RULES:
        raise NotRead(f"{name.partition('.')[0]} is not read as mathematics")
    return RULES[name]


def as_value(call: Call, x: TensorValue | Number) -> TensorValue:
    """Return a tensor, or a number of Python as a tensor without axes."""
    if isinstance(x, TensorValue):
        return x
    return scalar_value(x if isinstance(x, bool) else call.reading.entry(x) if isinstance(x, float) else call.reading.sizes.tree(x))


def has_boolean_result(call: Call) -> bool:
    """Return whether the result contains truth values."""
    return str(find_tensors(call.out)[0].dtype) == "torch.bool"


def has_integer_result(call: Call) -> bool:
    """Return whether the result holds integers, which would lose a fraction."""
    return not (call.out.dtype.is_floating_point or call.out.dtype.is_complex or has_boolean_result(call))
