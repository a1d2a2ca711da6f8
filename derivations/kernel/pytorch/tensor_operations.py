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
    return (x.e == 0) & (x.v == x.v.round()) if not x.v.is_complex() else torch.zeros_like(x.e, dtype=torch.bool)


def product(a: Tensor, b: Tensor, row: bool, column: bool) -> Tensor:
    """Return the product of two matrices; a vector is a row on the left, and a column on the right."""
    x = (a.unsqueeze(-2) if row else a) @ (b.unsqueeze(-1) if column else b)
    x = x.squeeze(-1) if column else x
    return x.squeeze(-1 if column else -2) if row else x


def matmul(a: BoundedValue, b: BoundedValue, row: bool, column: bool) -> BoundedValue:
    """Return the product of two matrices, with bounds; a vector is a row on the left, and a column on the right."""
    if a.v.dtype != b.v.dtype:
        a, b = (BoundedValue(x.v.to(torch.complex128), x.e) for x in (a, b))
    if row:
        a = BoundedValue(*(x.unsqueeze(-2) for x in a))
    if column:
        b = BoundedValue(*(x.unsqueeze(-1) for x in b))
    size, a_, b_ = a.v.shape[-1], a.v.detach().abs(), b.v.detach().abs()
    magnitude = a_ @ b_
    n = 8 * size if a.v.is_complex() else size
    finite = magnitude.detach().sum().item() < inf  # then both factors are finite, and a bound of 0 contributes 0
    bound = gamma(n) * magnitude
    if b.e.any() or not finite:
        bound = bound + a_ @ b.e
    if a.e.any() or not finite:
        bound = bound + a.e @ (b_ + b.e)
    if (magnitude > 0).all():
        bound = bound + TINY
    else:
        bound = bound + underflow_error((a_ + a.e > 0).double() @ (b_ + b.e > 0).double() > 0)  # the product of bounds may underflow
    certain = is_whole(a).all(-1, keepdim=True) & is_whole(b).all(-2, keepdim=True) & (magnitude < EXACT_INTEGERS)
    bound = torch.where(certain, 0.0, bound)
    result = BoundedValue(a.v @ b.v, bound)
    if column:
        result = BoundedValue(*(x.squeeze(-1) for x in result))
    if row:
        result = BoundedValue(*(x.squeeze(-1 if column else -2) for x in result))
    return result


def inverse(a: BoundedValue, name: str) -> BoundedValue:
    """Return the inverse of a matrix; `name` is for the message. Raise Undefined if a row or column is exactly 0."""
    is_zero = (a.v == 0) & (a.e == 0)
    if (is_zero.all(-1).any(-1) | is_zero.all(-2).any(-1)).any():
        raise UndefinedValue(f"{name} is singular, and its inverse is taken")
    x, info = torch.linalg.inv_ex(a.v)
    n, x_ = x.shape[-1], x.abs()
    eye = torch.eye(n, dtype=torch.float64)
    # With R = I - XA, the inverse is (I + R + R^2 + ...)X, so it differs from X by at most (|R| + |R|^2 + ...)|X|.
    r = (eye - x @ a.v).abs() + gamma(n + 1) * (x_ @ a.v.abs() + eye) + x_ @ a.e
    rows = r.sum(-1, keepdim=True)
    margin = 1 - rows.amax(-2, keepdim=True)
    valid = (margin > 0) & (info == 0)[..., None, None]
    return BoundedValue(x, torch.where(valid, rows / margin * x_.amax(-2, keepdim=True), inf))


def softmax(s: BoundedValue) -> BoundedValue:
    """Return the softmax along the last axis."""
    v = torch.softmax(s.v, dim=-1)
    below = s.v.amax(-1, keepdim=True) - s.v
    # Errors of the scores count twice, in the exponential and in the sum; so do 4u of each exponential. Subtracting the largest
    # score errs by u times the difference; in the sum that is less than u a term, for x exp(-x) < 1.
    log_error = 2 * s.e.amax(-1, keepdim=True) + U * (below + 2 * s.v.shape[-1] + 12)
    return BoundedValue(v, v * torch.expm1(log_error) + underflow_error(v < TINY))


def largest(x: BoundedValue) -> BoundedValue:
    """Return the largest entry along the last axis. Its error is at most the largest error of an entry."""
    if x.v.is_complex():
        raise CannotDecide("the largest of complex numbers")
    return BoundedValue(x.v.amax(-1), x.e.expand(x.v.shape).amax(-1))


def sum_along(x: BoundedValue, axis: int, size: int) -> BoundedValue:
    """Return the sum along a leading axis, which stays with size one. A value that is constant along it is multiplied by `size`."""
    if x.v.shape[axis] == 1:
        v = x.v * size
        return BoundedValue(v, x.e * size + (rounding_error(v) if size & size - 1 else 0))
    magnitude = x.v.abs().sum(axis, keepdim=True)
    bound = x.e.sum(axis, keepdim=True) + gamma((8 if x.v.is_complex() else 1) * (size - 1)) * magnitude
    certain = is_whole(x).all(axis, keepdim=True) & (magnitude < EXACT_INTEGERS)
    return BoundedValue(x.v.sum(axis, keepdim=True), torch.where(certain, 0.0, bound))


def move_to_tensor_axis(x: BoundedValue, axis: int, size: int, leading: int) -> BoundedValue:
    """Move a leading axis to a new first axis of the tensor's own axes; the leading axis stays with size one."""

    def moved(y: Tensor) -> Tensor:
        lead = [size if k == axis else n for k, n in enumerate(x.v.shape[:leading])]
        return y.expand(*lead, *x.v.shape[leading:]).unsqueeze(leading).transpose(axis, leading)

    return BoundedValue(moved(x.v), moved(x.e))


def stack(parts: list, shape: tuple) -> BoundedValue:
    """Return the array of this shape with these entries."""
    dtype = torch.complex128 if any(x.v.is_complex() for x in parts) else torch.float64
    v = torch.stack(torch.broadcast_tensors(*(x.v.to(dtype) for x in parts)), -1)
    bounds = torch.stack([x.e.expand(v.shape[:-1]) for x in parts], -1)
    return BoundedValue(*(y.reshape(*v.shape[:-1], *shape) for y in (v, bounds)))


def rank(a: BoundedValue) -> BoundedValue:
    """Return the number of singular values that are certainly not zero; their error is at most the norm of the matrix's error."""
    size = torch.linalg.matrix_norm(a.v)
    atol = COVER * torch.linalg.matrix_norm(a.e.expand(a.v.shape)) + 16 * max(a.v.shape[-2:]) * U * size
    v = torch.linalg.matrix_rank(a.v, atol=atol, rtol=torch.zeros_like(atol)).to(torch.float64)
    return BoundedValue(v, torch.zeros_like(v))
