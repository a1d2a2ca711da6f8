"""Input layouts: the same numbers as tensors with another memory layout, tensors with a gradient, or parameters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor


def copy_contiguous(x: Tensor) -> Tensor:
    """Return a contiguous copy."""
    return x.detach().clone(memory_format=torch.contiguous_format)


def copy_tensors(x: Any, put: Callable = copy_contiguous) -> Any:
    """Return a copy whose tensors have storage of their own."""
    if isinstance(x, Tensor):
        return put(x)
    if isinstance(x, dict):
        return {key: copy_tensors(value, put) for key, value in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(copy_tensors(y, put) for y in x))
    return type(x)(copy_tensors(y, put) for y in x) if type(x) in (tuple, list) else x


def strided(x: Tensor) -> Tensor:
    """Return the same numbers as every second entry of longer rows, with NaN or 1 in between."""
    if not x.dim():
        return copy_contiguous(x)
    between = torch.nan if has_gradient(x) else 1
    room = torch.full((*x.shape[:-1], 2 * x.shape[-1] + 1), between, dtype=x.dtype)
    room[..., 1::2] = x.detach()
    return room[..., 1::2]


def by_columns(x: Tensor) -> Tensor:
    """Return the same numbers with matrices stored column by column."""
    return copy_contiguous(x.mT).mT if x.dim() > 1 else copy_contiguous(x)


def with_gradient(x: Tensor) -> Tensor:
    """Return the same numbers as a leaf tensor that requires a gradient."""
    return copy_contiguous(x).requires_grad_(has_gradient(x))


def as_result(x: Tensor) -> Tensor:
    """Return the same numbers as the result of an operation that autograd records."""
    return with_gradient(x).clone()


def as_parameter(x: Tensor) -> Tensor:
    """Return the same numbers as a parameter of a module."""
    return torch.nn.Parameter(copy_contiguous(x), requires_grad=has_gradient(x))


def has_gradient(x: Tensor) -> bool:
    """Return whether a tensor of this dtype can have a gradient."""
    return x.is_floating_point() or x.is_complex()


@contextmanager
def double_by_default() -> Iterator[None]:
    """Make fp64 the default dtype."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextmanager
def unwarned() -> Iterator[None]:
    """Silence PyTorch's warning about a number that is taken out of a tensor with a gradient; a snippet may do so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


LAYOUTS: dict[str, tuple[Callable, Callable]] = {
    "where its arguments are strided": (strided, nullcontext),
    "where its arguments lie by columns": (by_columns, nullcontext),
    "where a gradient is asked for": (with_gradient, unwarned),
    "where a gradient goes through its arguments": (as_result, unwarned),
    "where its arguments are parameters": (as_parameter, unwarned),
    "where fp64 is the default": (copy_contiguous, double_by_default),
}
