"""The scores as a bilinear form in the input: one d by d matrix in place of two projections.

--8<-- [start:example-merge]
>>> import torch
>>> from snippets.simplify.bilinear import merge, merged_scores, split_scores
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(10, 5, 8, generator=generator, dtype=torch.float64)  # (batch, n, d)
>>> W_Q, W_K = torch.randn(2, 8, 3, generator=generator, dtype=torch.float64)  # (d, d_k)
>>> W = merge(W_Q, W_K)
>>> torch.allclose(split_scores(X, W_Q, W_K), merged_scores(X, W))
True
>>> tuple(W.shape), torch.linalg.matrix_rank(W).item()
((8, 8), 3)

--8<-- [end:example-merge]

Many pairs of projections have one product, so they are not determined by the scores:

--8<-- [start:example-gauge]
>>> from snippets.simplify.bilinear import change_gauge
>>> M = torch.randn(3, 3, generator=generator, dtype=torch.float64)
>>> V_Q, V_K = change_gauge(W_Q, W_K, M)
>>> torch.allclose(V_Q, W_Q), torch.allclose(merge(V_Q, V_K), W)
(False, True)

--8<-- [end:example-gauge]

Swapping query and key transposes the scores; the weights it changes:

--8<-- [start:example-swap]
>>> S, swapped = split_scores(X, W_Q, W_K), split_scores(X, W_K, W_Q)
>>> torch.allclose(swapped, S.mT), torch.allclose(swapped.softmax(-1), S.softmax(-1).mT)
(True, False)

--8<-- [end:example-swap]

The weights may mix the values, or the tokens themselves:

--8<-- [start:example-output]
>>> from snippets.simplify.bilinear import merged_output, split_output
>>> W_V, W_O = torch.randn(2, 8, 3, generator=generator, dtype=torch.float64)
>>> W_O = W_O.mT  # (d_v, d)
>>> P = S.softmax(-1)
>>> torch.allclose(split_output(P, X, W_V, W_O), merged_output(P, X, W_V @ W_O))
True

--8<-- [end:example-output]

A head of half the model's width or narrower gains nothing from merging:

--8<-- [start:example-count]
>>> from snippets.simplify.bilinear import (
...     merged_multiplications, merging_saves, split_multiplications)
>>> n, d = 128, 512
>>> for d_k in (64, 256, 512):
...     split, merged = split_multiplications(n, d, d_k), merged_multiplications(n, d)
...     saves = merging_saves(n, d, d_k)
...     print(f"d_k {d_k:3}   split {split:10,}   merged {merged:10,}   saves {saves}")
d_k  64   split  9,437,184   merged 41,943,040   saves False
d_k 256   split 37,748,736   merged 41,943,040   saves False
d_k 512   split 75,497,472   merged 41,943,040   saves True

--8<-- [end:example-count]
"""

import torch
from torch import Tensor

from snippets.attention.formula import scores
from snippets.shapes import check_shapes


# --8<-- [start:split]
def split_scores(
    X: Tensor, W_Q: Tensor, W_K: Tensor, scale: float | None = None
) -> Tensor:
    """The scores by way of queries and keys; the scale is 1 / sqrt(d_k) unless given."""
    check_shapes("X: n d, W_Q: d d_k, W_K: d d_k", X, W_Q, W_K)
    return scores(
        X @ W_Q, X @ W_K, scale=scale
    )  # (..., n, d_k) (..., n, d_k) -> (..., n, n)


# --8<-- [end:split]


# --8<-- [start:merge]
def merge(W_Q: Tensor, W_K: Tensor, scale: float | None = None) -> Tensor:
    """The one matrix that does the work of both projections, and of the scale."""
    check_shapes("W_Q: d d_k, W_K: d d_k", W_Q, W_K)
    return scores(
        W_Q, W_K, scale=scale
    )  # (..., d, d_k) (..., d, d_k) -> (..., d, d)


def merged_scores(X: Tensor, W: Tensor) -> Tensor:
    """The scores as a bilinear form: token i against token j, through W."""
    check_shapes("X: n d, W: d d", X, W)
    return (
        X @ W @ X.transpose(-2, -1)
    )  # (..., n, d) (..., d, d) (..., d, n) -> (..., n, n)


# --8<-- [end:merge]


# --8<-- [start:gauge]
def change_gauge(W_Q: Tensor, W_K: Tensor, M: Tensor) -> tuple[Tensor, Tensor]:
    """Other projections with the same scores: W_Q M, and W_K times the inverse transpose of M."""
    check_shapes("W_Q: d d_k, W_K: d d_k, M: d_k d_k", W_Q, W_K, M)
    rank = torch.linalg.matrix_rank(M).min().item()  # the smallest of a batch
    if rank < M.shape[-1]:
        raise ValueError(
            f"M has rank {rank}; expected {M.shape[-1]}, an invertible matrix"
        )
    W_K_new = torch.linalg.solve(M, W_K.transpose(-2, -1)).transpose(
        -2, -1
    )  # (..., d, d_k)
    return W_Q @ M, W_K_new


# --8<-- [end:gauge]


# --8<-- [start:output]
def split_output(P: Tensor, X: Tensor, W_V: Tensor, W_O: Tensor) -> Tensor:
    """The output of a head by way of values: mix them under the weights P, then project."""
    check_shapes("P: n m, X: m d, W_V: d d_v, W_O: d_v d", P, X, W_V, W_O)
    return (
        P @ (X @ W_V) @ W_O
    )  # (..., n, m) (..., m, d_v) -> (..., n, d_v), then (..., n, d)


def merged_output(P: Tensor, X: Tensor, W: Tensor) -> Tensor:
    """The same with W_V W_O merged to one matrix W: mix the tokens themselves, then map them."""
    check_shapes("P: n m, X: m d, W: d d", P, X, W)
    return (
        P @ X @ W
    )  # (..., n, m) (..., m, d) -> (..., n, d), then (..., d, d) -> (..., n, d)


# --8<-- [end:output]


# --8<-- [start:count]
def split_multiplications(n: int, d: int, d_k: int) -> int:
    """Multiplications in (X W_Q)(X W_K)^T: two projections, then every query with every key."""
    return 2 * n * d * d_k + n**2 * d_k


def merged_multiplications(n: int, d: int) -> int:
    """Multiplications in (X W) X^T, with W merged beforehand."""
    return n * d**2 + n**2 * d


def merging_saves(n: int, d: int, d_k: int) -> bool:
    """Whether the merged form multiplies less."""
    return d_k * (2 * d + n) > d * (d + n)


# --8<-- [end:count]
