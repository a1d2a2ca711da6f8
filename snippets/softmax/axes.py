"""Batches of matrices, and the axis along which softmax sums to one.

A tensor with three axes is a batch of matrices. The product multiplies them one by one:

--8<-- [start:example-product]
>>> import torch
>>> from snippets.softmax.axes import batched_product, swap_last_axes
>>> A, B = torch.ones(10, 3, 4), torch.ones(10, 4, 5)
>>> tuple(batched_product(A, B).shape)
(10, 3, 5)
>>> batched_product(A, swap_last_axes(B))
Traceback (most recent call last):
RuntimeError: Expected size for first two dimensions of batch2 tensor to be: [10, 4] but got: [10, 5].

--8<-- [end:example-product]

The scores of every query with every key, with two leading axes:

--8<-- [start:example-scores]
>>> # (batch, head, token, feature)
>>> query, key = torch.ones(2, 8, 6, 16), torch.ones(2, 8, 7, 16)
>>> tuple(batched_product(query, swap_last_axes(key)).shape)
(2, 8, 6, 7)

--8<-- [end:example-scores]

The number of multiplications; the counter adds one addition for each:

--8<-- [start:example-count]
>>> from torch.utils.flop_counter import FlopCounterMode
>>> with FlopCounterMode(display=False) as counter:
...     _ = batched_product(query, swap_last_axes(key))
>>> counter.get_total_flops() // 2
10752

--8<-- [end:example-count]

A reshape gives the same shape as a swap, but other numbers:

--8<-- [start:example-reshape]
>>> F = torch.tensor([[1, 2, 3], [4, 5, 6]])
>>> swap_last_axes(F).tolist()
[[1, 4], [2, 5], [3, 6]]
>>> F.reshape(3, 2).tolist()
[[1, 2], [3, 4], [5, 6]]

--8<-- [end:example-reshape]

Softmax along each axis of a (2, 3, 4) tensor. The sums along that axis are 1, and those along the other
two are not:

--8<-- [start:example-axes]
>>> from snippets.softmax.axes import normalised_axes, sums
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(2, 3, 4, generator=generator, dtype=torch.float64)
>>> for dim in range(3):
...     weights = torch.softmax(X, dim)
...     shape, total = tuple(sums(X, dim=dim).shape), weights.sum()
...     print(f"dim {dim}   sums {shape}   "
...           f"ones along {normalised_axes(weights)}   in all {total:.1f}")
dim 0   sums (3, 4)   ones along [0]   in all 12.0
dim 1   sums (2, 4)   ones along [1]   in all 8.0
dim 2   sums (2, 3)   ones along [2]   in all 6.0

--8<-- [end:example-axes]

With one query, softmax along the wrong axis makes every weight 1, whatever the scores:

--8<-- [start:example-wrong]
>>> from snippets.softmax.axes import mix_values
>>> scores = torch.tensor([[9.0, 0.0, -9.0]])
>>> value = torch.tensor([[1.0], [10.0], [100.0]])
>>> mix_values(scores, value, dim=-1).round(decimals=2).tolist()
[[1.0]]
>>> mix_values(scores, value, dim=-2).tolist()
[[111.0]]

--8<-- [end:example-wrong]
"""

import torch
from jaxtyping import Float
from torch import Tensor


# --8<-- [start:product]
def batched_product(
    A: Float[Tensor, "*#batch n m"], B: Float[Tensor, "*#batch m p"]
) -> Float[Tensor, "*batch n p"]:
    """Each matrix of A times the matrix at the same position of B."""
    return A @ B


def swap_last_axes(
    X: Float[Tensor, "*batch n m"],
) -> Float[Tensor, "*batch m n"]:
    """The transpose of each matrix in a batch. Tensor.T would reverse all axes."""
    return X.transpose(-2, -1)


# --8<-- [end:product]


# --8<-- [start:sums]
def sums(X: Float[Tensor, "*shape"], *, dim: int) -> Float[Tensor, "..."]:
    """The sums along the axis of softmax, all 1: one for each position on the other
    axes."""
    return torch.softmax(X, dim).sum(dim)


def normalised_axes(weights: Float[Tensor, "*shape"]) -> list[int]:
    """The axes along which weights sum to 1. In attention that is the last, the
    axis of the keys."""
    one = weights.new_ones(())
    return [
        dim
        for dim in range(weights.dim())
        if torch.allclose(weights.sum(dim), one)
    ]


# --8<-- [end:sums]


# --8<-- [start:mix]
def mix_values(
    scores: Float[Tensor, "*#batch n m"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    dim: int = -1,
) -> Float[Tensor, "*batch n d_v"]:
    """The outputs for given scores. Softmax belongs to the last axis, that of the
    keys; -2 is the mistake."""
    return torch.softmax(scores, dim) @ value


# --8<-- [end:mix]
