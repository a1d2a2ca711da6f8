"""Batches of matrices, and the axis that softmax makes sum to one.

Three axes are a batch of matrices. The product takes them one by one:

--8<-- [start:example-product]
>>> import torch
>>> from snippets.softmax.axes import batched_product, swap_last_axes
>>> A, B = torch.ones(10, 3, 4), torch.ones(10, 4, 5)
>>> tuple(batched_product(A, B).shape)
(10, 3, 5)
>>> batched_product(A, swap_last_axes(B))
Traceback (most recent call last):
ValueError: m is 4 in A (10, 3, 4) but 5 in B (10, 5, 4); expected A (..., n, m), B (..., m, p)

--8<-- [end:example-product]

The scores of every query with every key, whatever axes lead:

--8<-- [start:example-scores]
>>> query, key = torch.ones(2, 8, 6, 16), torch.ones(2, 8, 7, 16)  # (batch, head, token, feature)
>>> tuple(batched_product(query, swap_last_axes(key)).shape)
(2, 8, 6, 7)

--8<-- [end:example-scores]

A reshape gives the same shape as a swap, and other numbers in it:

--8<-- [start:example-reshape]
>>> F = torch.tensor([[1, 2, 3], [4, 5, 6]])
>>> swap_last_axes(F).tolist()
[[1, 4], [2, 5], [3, 6]]
>>> F.reshape(3, 2).tolist()
[[1, 2], [3, 4], [5, 6]]

--8<-- [end:example-reshape]

Softmax along each axis of a (2, 3, 4) tensor. What has been summed away had 2, 3 or 4 entries, and
every sum is 1; along the other two axes the sums differ:

--8<-- [start:example-axes]
>>> from snippets.softmax.axes import normalised_axes, sums
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(2, 3, 4, generator=generator, dtype=torch.float64)
>>> for dim in range(3):
...     weights = torch.softmax(X, dim)
...     shape, total = tuple(sums(X, dim).shape), weights.sum().item()
...     print(f"dim {dim}   sums {shape}   ones along {normalised_axes(weights)}   in all {total:.1f}")
dim 0   sums (3, 4)   ones along [0]   in all 12.0
dim 1   sums (2, 4)   ones along [1]   in all 8.0
dim 2   sums (2, 3)   ones along [2]   in all 6.0

--8<-- [end:example-axes]

With one query the wrong axis makes every weight 1, whatever the scores:

--8<-- [start:example-wrong]
>>> from snippets.softmax.axes import mix
>>> scores, value = torch.tensor([[9.0, 0.0, -9.0]]), torch.tensor([[1.0], [10.0], [100.0]])
>>> mix(scores, value, dim=-1).round(decimals=2).tolist()
[[1.0]]
>>> mix(scores, value, dim=-2).tolist()
[[111.0]]

--8<-- [end:example-wrong]
"""

import torch
from torch import Tensor

from snippets.shapes import check_shapes


# --8<-- [start:product]
def batched_product(A: Tensor, B: Tensor) -> Tensor:
    """The product of each matrix of A with the matrix of B at the same place in the batch."""
    check_shapes("A: n m, B: m p", A, B)
    return A @ B  # (..., n, m) (..., m, p) -> (..., n, p)


def swap_last_axes(X: Tensor) -> Tensor:
    """The transpose of each matrix in a batch. Tensor.T would reverse all the axes."""
    return X.transpose(-2, -1)  # (..., n, m) -> (..., m, n)


# --8<-- [end:product]


# --8<-- [start:sums]
def sums(X: Tensor, dim: int) -> Tensor:
    """The sums that softmax along an axis makes 1: one for each place on the other axes."""
    return torch.softmax(X, dim).sum(dim)


def normalised_axes(weights: Tensor) -> list[int]:
    """The axes along which weights sum to 1. For attention it should be the last, the keys'."""
    one = torch.ones((), dtype=weights.dtype)
    return [
        dim
        for dim in range(weights.dim())
        if torch.allclose(weights.sum(dim), one)
    ]


# --8<-- [end:sums]


# --8<-- [start:mix]
def mix(scores: Tensor, value: Tensor, dim: int = -1) -> Tensor:
    """The outputs for given scores. The axis is the keys', the last; -2 is the classic mistake."""
    check_shapes("scores: n m, value: m d_v", scores, value)
    return (
        torch.softmax(scores, dim) @ value
    )  # (..., n, m) (..., m, d_v) -> (..., n, d_v)


# --8<-- [end:mix]
