"""What a row of the table is: inputs that a public function of the snippets is called with, in any format and on any device.

    "scores": [Row(T(2, 3, 4), T(5, 4), source="Vaswani et al. (2017)"), Row(T(3, 4), T(5, 4), scale=0.5)]

The key is the function's name, or Class.method; rows/CHAPTER.py has a dictionary for each module. A row says otherwise where a
function is not expected to do what the others do: it has a reason for each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

EVERY = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class T:
    """A tensor of this shape, of Gaussian entries in the format that is asked for; `kind` says what else its entries are."""

    shape: tuple[int, ...]
    kind: str = "normal"  # weights: rows that sum to 1; places: 0, 1, 2; keep: mostly True; whole: 0, 1 or 2; real: may be whole, too

    def __init__(self, *shape: int, kind: str = "normal"):
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "kind", kind)

    def make(self, dtype: torch.dtype, device: str, generator: torch.Generator) -> torch.Tensor:
        entries = torch.randn(self.shape, generator=generator, dtype=torch.float64)
        made = {
            "normal": lambda x: x.to(dtype),
            "weights": lambda x: x.softmax(-1).to(dtype),
            "real": lambda x: x.to(dtype),
            "places": lambda x: torch.arange(x.numel(), dtype=dtype).view(x.shape),
            "positive": lambda x: x.abs().to(dtype),
            "complex": lambda x: torch.complex(x, x.flip(-1)).to(dtype.to_complex()),
            "keep": lambda x: x > -1,
            "whole": lambda x: x.abs().round().clamp(max=2).long(),
        }
        return made[self.kind](entries).to(device)


class Seeded:
    """A generator of random numbers, where the device has one."""

    def make(self, dtype: torch.dtype, device: str, generator: torch.Generator) -> torch.Generator | None:
        return torch.Generator().manual_seed(1) if device == "cpu" else None


@dataclass(frozen=True)
class Row:
    """The arguments of one call; a method is called on what `of` makes, the arguments of its class or a sample."""

    args: tuple
    kwargs: dict[str, Any]
    of: Row | Callable | None = None
    formats: tuple[torch.dtype, ...] = EVERY  # those of its inputs in which it is defined
    gives: torch.dtype | None = None  # the format of its result, if not that of its inputs
    not_on_meta: str = ""  # why it needs the numbers to say what shape there is
    loose: str = ""  # why its types do not say what the axes before the last two have to be; PyTorch does
    source: str = ""  # the work that it comes from, as the bibliography calls it

    def __init__(self, *args, of=None, formats=EVERY, gives=None, not_on_meta="", loose="", source="", **kwargs):
        for name, value in locals().copy().items():
            if name != "self":
                object.__setattr__(self, name, value)

    def make(self, dtype: torch.dtype, device: str) -> tuple[list, dict]:
        """Its arguments, the same in every call."""
        generator = torch.Generator().manual_seed(0)
        args = [made(x, dtype, device, generator) for x in self.args]
        return args, {name: made(x, dtype, device, generator) for name, x in self.kwargs.items()}


def made(x: Any, dtype: torch.dtype, device: str, generator: torch.Generator) -> Any:
    """Tensors for what stands for them, inside of tuples and lists too. A function makes what it is asked for."""
    if isinstance(x, (T, Seeded)):
        return x.make(dtype, device, generator)
    if isinstance(x, Row):
        return [made(y, dtype, device, generator) for y in x.args]
    if isinstance(x, Callable) and getattr(x, "is_sample", False):
        return x(dtype, device)
    if isinstance(x, (tuple, list)):
        return type(x)(made(y, dtype, device, generator) for y in x)
    return x


def sample(function: Callable) -> Callable:
    """Marks a function of dtype and device whose result is the argument: a module, a state."""
    function.is_sample = True
    return function
