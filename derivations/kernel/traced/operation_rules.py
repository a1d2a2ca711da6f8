"""One rule for each operation of PyTorch's, by its name and overload: what it makes of values is a value.

A rule is called with what the operation is called with, tensors being values, after the `Call`: what runs, and what comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import NotRead
from .tensor_values import Value, scalar

Number = Any
RULES: dict[str, Callable] = {}


@dataclass
class Call:
    """One operation: the reading that it is part of, and PyTorch's own result, which has sizes and no numbers."""

    reading: Any  # a tracing.Reading
    out: Any
    given: tuple = ()  # PyTorch's own arguments, which have kinds and no numbers

    def __post_init__(self) -> None:
        """Of complex numbers no rule says what real ones come of them."""
        came = [self.out] if hasattr(self.out, "dtype") else [x for x in self.out if hasattr(x, "dtype")]
        if any(x.dtype.is_complex for x in tensors(self.given)) and not all(x.dtype.is_complex for x in came):
            raise NotRead("real numbers that are made of complex ones")


def tensors(x: Any) -> list:
    """The tensors among arguments."""
    if isinstance(x, (tuple, list)):
        return [one for part in x for one in tensors(part)]
    return [x] if hasattr(x, "dtype") and hasattr(x, "shape") else []


def rule(*names: str) -> Callable:
    """Registers what an operation means, under names such as mm.default."""

    def register(f: Callable) -> Callable:
        for name in names:
            RULES[name] = f
        return f

    return register


def rule_of(name: str) -> Callable:
    if name not in RULES:
        raise NotRead(f"no rule for the operation {name}")
    return RULES[name]


def value(call: Call, x: Value | Number) -> Value:
    """A tensor, or one of Python's numbers as one."""
    if isinstance(x, Value):
        return x
    return scalar(x if isinstance(x, bool) else call.reading.entry(x) if isinstance(x, float) else call.reading.sizes.tree(x))


def is_truth(call: Call) -> bool:
    """Does what comes out hold truth values?"""
    return str(call.out.dtype) == "torch.bool"


def is_whole(call: Call) -> bool:
    """Does what comes out hold whole numbers, which lose a fraction?"""
    return not (call.out.dtype.is_floating_point or call.out.dtype.is_complex or is_truth(call))
