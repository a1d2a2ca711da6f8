"""Tensor operations with error bounds: products, inverses, softmax, sums along an axis, ranks.

The tensor's own axes come last; the leading axes before them are batch axes.
"""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor

from .error_bounds import COVER, TINY, BoundedValue, U, gamma, rounding_error, underflow_error
from .errors import CannotDecide, UndefinedValue

EXACT_INTEGERS = 2.0**53  # sums of integers below it are exact


def is_whole(x: BoundedValue) -> Tensor:
    """Return a mask of the entries that are certainly integers."""
    return (x.error == 0) & (x.value == x.value.round()) if not x.value.is_complex() else torch.zeros_like(x.error, dtype=torch.bool)


def product(a: Tensor, b: Tensor, row: bool, column: bool) -> Tensor:
    """Return the product of two matrices; a vector is a row on the left, and a column on the right."""
    x = (a.unsqueeze(-2) if row else a) @ (b.unsqueeze(-1) if column else b)
    x = x.squeeze(-1) if column else x
    return x.squeeze(-1 if column else -2) if row else x


def matmul(a: BoundedValue, b: BoundedValue, row: bool, column: bool) -> BoundedValue:
    """Return the product of two matrices, with bounds; a vector is a row on the left, and a column on the right."""
    if a.value.dtype != b.value.dtype:
        a, b = (BoundedValue(x.value.to(torch.complex128), x.error) for x in (a, b))
    if row:
        a = BoundedValue(*(x.unsqueeze(-2) for x in a))
    if column:
        b = BoundedValue(*(x.unsqueeze(-1) for x in b))
    size, a_, b_ = a.value.shape[-1], a.value.detach().abs(), b.value.detach().abs()
    magnitude = a_ @ b_
    n = 8 * size if a.value.is_complex() else size
    finite = magnitude.detach().sum().item() < inf  # then both factors are finite, and a bound of 0 contributes 0
    bound = gamma(n) * magnitude
    if b.error.any() or not finite:
        bound = bound + a_ @ b.error
    if a.error.any() or not finite:
        bound = bound + a.error @ (b_ + b.error)
    if (magnitude > 0).all():
        bound = bound + TINY
    else:
        bound = bound + underflow_error(
            (a_ + a.error > 0).double() @ (b_ + b.error > 0).double() > 0
        )  # the product of bounds may underflow
    certain = is_whole(a).all(-1, keepdim=True) & is_whole(b).all(-2, keepdim=True) & (magnitude < EXACT_INTEGERS)
    bound = torch.where(certain, 0.0, bound)
    result = BoundedValue(a.value @ b.value, bound)
    if column:
        result = BoundedValue(*(x.squeeze(-1) for x in result))
    if row:
        result = BoundedValue(*(x.squeeze(-1 if column else -2) for x in result))
    return result


def inverse(a: BoundedValue, name: str) -> BoundedValue:
    """Return the inverse of a matrix; `name` is for the message. Raise UndefinedValue if a row or column is exactly 0."""
    is_zero = (a.value == 0) & (a.error == 0)
    if (is_zero.all(-1).any(-1) | is_zero.all(-2).any(-1)).any():
        raise UndefinedValue(f"{name} is singular, and its inverse is taken")
    x, info = torch.linalg.inv_ex(a.value)
    n, x_ = x.shape[-1], x.abs()
    eye = torch.eye(n, dtype=torch.float64)
    # With R = I - XA, the inverse is (I + R + R^2 + ...)X, so it differs from X by at most (|R| + |R|^2 + ...)|X|.
    r = (eye - x @ a.value).abs() + gamma(n + 1) * (x_ @ a.value.abs() + eye) + x_ @ a.error
    rows = r.sum(-1, keepdim=True)
    margin = 1 - rows.amax(-2, keepdim=True)
    valid = (margin > 0) & (info == 0)[..., None, None]
    return BoundedValue(x, torch.where(valid, rows / margin * x_.amax(-2, keepdim=True), inf))


def softmax(s: BoundedValue) -> BoundedValue:
    """Return the softmax along the last axis."""
    v = torch.softmax(s.value, dim=-1)
    below = s.value.amax(-1, keepdim=True) - s.value
    # Errors of the scores count twice, in the exponential and in the sum; so do 4u of each exponential. Subtracting the largest
    # score errs by u times the difference; in the sum that is less than u a term, for x exp(-x) < 1.
    log_error = 2 * s.error.amax(-1, keepdim=True) + U * (below + 2 * s.value.shape[-1] + 12)
    return BoundedValue(v, v * torch.expm1(log_error) + underflow_error(v < TINY))


def largest(x: BoundedValue) -> BoundedValue:
    """Return the largest entry along the last axis. Its error is at most the largest error of an entry."""
    if x.value.is_complex():
        raise CannotDecide("the largest of complex numbers")
    return BoundedValue(x.value.amax(-1), x.error.expand(x.value.shape).amax(-1))


def sum_along(x: BoundedValue, axis: int, size: int) -> BoundedValue:
    """Return the sum along a leading axis, which stays with size one. A value that is constant along it is multiplied by `size`."""
    if x.value.shape[axis] == 1:
        v = x.value * size
        return BoundedValue(v, x.error * size + (rounding_error(v) if size & size - 1 else 0))
    magnitude = x.value.abs().sum(axis, keepdim=True)
    bound = x.error.sum(axis, keepdim=True) + gamma((8 if x.value.is_complex() else 1) * (size - 1)) * magnitude
    certain = is_whole(x).all(axis, keepdim=True) & (magnitude < EXACT_INTEGERS)
    return BoundedValue(x.value.sum(axis, keepdim=True), torch.where(certain, 0.0, bound))


def move_to_tensor_axis(x: BoundedValue, axis: int, size: int, leading: int) -> BoundedValue:
    """Move a leading axis to a new first axis of the tensor's own axes; the leading axis stays with size one."""

    def moved(y: Tensor) -> Tensor:
        lead = [size if k == axis else n for k, n in enumerate(x.value.shape[:leading])]
        return y.expand(*lead, *x.value.shape[leading:]).unsqueeze(leading).transpose(axis, leading)

    return BoundedValue(moved(x.value), moved(x.error))


def stack(parts: list, shape: tuple) -> BoundedValue:
    """Return the array of this shape with these entries."""
    dtype = torch.complex128 if any(x.value.is_complex() for x in parts) else torch.float64
    v = torch.stack(torch.broadcast_tensors(*(x.value.to(dtype) for x in parts)), -1)
    bounds = torch.stack([x.error.expand(v.shape[:-1]) for x in parts], -1)
    return BoundedValue(*(y.reshape(*v.shape[:-1], *shape) for y in (v, bounds)))


def rank(a: BoundedValue) -> BoundedValue:
    """Return the number of singular values that are certainly not zero; their error is at most the norm of the matrix's error."""
    size = torch.linalg.matrix_norm(a.value)
    atol = COVER * torch.linalg.matrix_norm(a.error.expand(a.value.shape)) + 16 * max(a.value.shape[-2:]) * U * size
    v = torch.linalg.matrix_rank(a.value, atol=atol, rtol=torch.zeros_like(atol)).to(torch.float64)
    return BoundedValue(v, torch.zeros_like(v))
