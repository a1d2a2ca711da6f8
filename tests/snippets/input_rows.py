"""Rows of inputs for the tests of the public functions: each row is one call, in any format and on any device.

    "scores": [Row(T(2, 3, 4), T(5, 4), source="Vaswani et al. (2017)"), Row(T(3, 4), T(5, 4), scale=0.5)]

The key is the function's name, or Class.method; rows/CHAPTER.py has a dictionary for each module. The other fields of a row say, with a
reason, how its function differs from what the tests expect of all functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

EVERY = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class T:
    """A tensor of a given shape with Gaussian entries in the format of the test. `kind` selects other entries."""

    shape: tuple[int, ...]
    kind: str = "normal"  # weights: rows that sum to 1; places: 0, 1, 2; keep: mostly True; whole: 0, 1 or 2; real: may be whole, too;
    # position: real, and at least fp32

    def __init__(self, *shape: int, kind: str = "normal"):
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "kind", kind)

    def make(self, dtype: torch.dtype, device: str, generator: torch.Generator) -> torch.Tensor:
        entries = torch.randn(self.shape, generator=generator, dtype=torch.float64)
        made = {
            "normal": lambda x: x.to(dtype),
            "weights": lambda x: x.softmax(-1).to(dtype),
            "real": lambda x: x.to(dtype),
            "position": lambda x: x.to(torch.promote_types(dtype, torch.float32)),
            "places": lambda x: torch.arange(x.numel(), dtype=dtype).view(x.shape),
            "positive": lambda x: x.abs().to(dtype),
            "complex": lambda x: torch.complex(x, x.flip(-1)).to(dtype.to_complex()),
            "keep": lambda x: x > -1,
            "whole": lambda x: x.abs().round().clamp(max=2).long(),
        }
        return made[self.kind](entries).to(device)


class Seeded:
    """A seeded random generator, on devices that have one."""

    def make(self, dtype: torch.dtype, device: str, generator: torch.Generator) -> torch.Generator | None:
        return torch.Generator().manual_seed(1) if device == "cpu" else None


@dataclass(frozen=True)
class Row:
    """The arguments of one call. A method is called on the object that `of` makes: a sample, or the class with these arguments."""

    args: tuple
    kwargs: dict[str, Any]
    of: Row | Callable | None = None
    formats: tuple[torch.dtype, ...] = EVERY  # the input formats in which the function is defined
    gives: torch.dtype | None = None  # the format of the result, if it is not that of the inputs
    not_on_meta: str = ""  # why the shape of the result depends on the numbers
    loose: str = ""  # why the types leave the axes before the last two to PyTorch's own check
    needs_models: bool = False  # whether it needs the packages of the group `models`
    source: str = ""  # the source of the function, as the bibliography names it

    def __init__(self, *args, of=None, formats=EVERY, gives=None, not_on_meta="", loose="", needs_models=False, source="", **kwargs):
        for name, value in locals().copy().items():
            if name != "self":
                object.__setattr__(self, name, value)

    def make(self, dtype: torch.dtype, device: str) -> tuple[list, dict]:
        """Return the arguments, which are the same in every call."""
        generator = torch.Generator().manual_seed(0)
        args = [materialize(x, dtype, device, generator) for x in self.args]
        return args, {name: materialize(x, dtype, device, generator) for name, x in self.kwargs.items()}


def materialize(x: Any, dtype: torch.dtype, device: str, generator: torch.Generator) -> Any:
    """Replace the specifications T, Seeded and Row by tensors, generators and lists, inside tuples and lists too. Call samples."""
    if isinstance(x, (T, Seeded)):
        return x.make(dtype, device, generator)
    if isinstance(x, Row):
        return [materialize(y, dtype, device, generator) for y in x.args]
    if isinstance(x, Callable) and getattr(x, "is_sample", False):
        return x(dtype, device)
    if isinstance(x, (tuple, list)):
        return type(x)(materialize(y, dtype, device, generator) for y in x)
    return x


def sample(function: Callable) -> Callable:
    """Mark a function of dtype and device as a sample: its result, such as a module or a state, is the argument."""
    function.is_sample = True
    return function
