"""The scores as a bilinear form in the input: one d by d matrix in place of two projections.

--8<-- [start:example-merge]
>>> import torch
>>> from snippets.simplify.bilinear import (
...     merge_projections, merged_scores, split_scores)
>>> generator = torch.Generator().manual_seed(0)
>>> # (batch, n, d), and (d, d_k) twice
>>> X = torch.randn(10, 5, 8, generator=generator, dtype=torch.float64)
>>> W_Q, W_K = torch.randn(2, 8, 3, generator=generator, dtype=torch.float64)
>>> W = merge_projections(W_Q, W_K)
>>> torch.allclose(split_scores(X, W_Q, W_K), merged_scores(X, W))
True
>>> tuple(W.shape), torch.linalg.matrix_rank(W).item()
((8, 8), 3)

--8<-- [end:example-merge]

Many pairs of projections have the same product, so the scores do not determine them:

--8<-- [start:example-gauge]
>>> from snippets.simplify.bilinear import change_gauge
>>> M = torch.randn(3, 3, generator=generator, dtype=torch.float64)
>>> V_Q, V_K = change_gauge(W_Q, W_K, M)
>>> torch.allclose(V_Q, W_Q), torch.allclose(merge_projections(V_Q, V_K), W)
(False, True)

--8<-- [end:example-gauge]

Swapping query and key transposes the scores, but not the weights:

--8<-- [start:example-swap]
>>> S, swapped = split_scores(X, W_Q, W_K), split_scores(X, W_K, W_Q)
>>> torch.allclose(swapped, S.mT)
True
>>> torch.allclose(swapped.softmax(-1), S.softmax(-1).mT)
False

--8<-- [end:example-swap]

The weights can average the values, or the tokens themselves:

--8<-- [start:example-output]
>>> from snippets.simplify.bilinear import merged_output, split_output
>>> W_V, W_O = torch.randn(2, 8, 3, generator=generator, dtype=torch.float64)
>>> W_O = W_O.mT  # (d_v, d)
>>> P = S.softmax(-1)
>>> torch.allclose(split_output(P, X, W_V, W_O), merged_output(P, X, W_V @ W_O))
True

--8<-- [end:example-output]

Merging saves nothing for a head that is at most half as wide as the model:

--8<-- [start:example-count]
>>> from snippets.simplify.bilinear import (
...     merged_multiplications, merging_saves, split_multiplications)
>>> n, d = 128, 512
>>> for d_k in (64, 256, 512):
...     split = split_multiplications(n, d, d_k)
...     merged = merged_multiplications(n, d)
...     saves = merging_saves(n, d, d_k)
...     print(f"d_k {d_k:3}   split {split:10,}   "
...           f"merged {merged:10,}   saves {saves}")
d_k  64   split  9,437,184   merged 41,943,040   saves False
d_k 256   split 37,748,736   merged 41,943,040   saves False
d_k 512   split 75,497,472   merged 41,943,040   saves True

--8<-- [end:example-count]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import scores, upcast


# --8<-- [start:split]
def split_scores(
    X: Float[Tensor, "*#batch n d"],
    W_Q: Float[Tensor, "*#batch d d_k"],
    W_K: Float[Tensor, "*#batch d d_k"],
    *,
    scale: float | None = None,
) -> Float[Tensor, "*batch n n"]:
    """The scores from queries and keys. The default scale is 1 / sqrt(d_k)."""
    return scores(X @ W_Q, X @ W_K, scale=scale)


# --8<-- [end:split]


# --8<-- [start:merge]
def merge_projections(
    W_Q: Float[Tensor, "*#batch d d_k"],
    W_K: Float[Tensor, "*#batch d d_k"],
    *,
    scale: float | None = None,
) -> Float[Tensor, "*batch d d"]:
    """One matrix in place of both projections and the scale."""
    return scores(W_Q, W_K, scale=scale)


def merged_scores(
    X: Float[Tensor, "*#batch n d"], W: Float[Tensor, "*#batch d d"]
) -> Float[Tensor, "*batch n n"]:
    """The scores as a bilinear form in the input, with the matrix W."""
    return (upcast(X) @ upcast(W) @ upcast(X).mT).to(X.dtype)


# --8<-- [end:merge]


# --8<-- [start:gauge]
def change_gauge(
    W_Q: Float[Tensor, "*#batch d d_k"],
    W_K: Float[Tensor, "*#batch d d_k"],
    M: Float[Tensor, "*#batch d_k d_k"],
) -> tuple[Float[Tensor, "... d d_k"], Float[Tensor, "... d d_k"]]:
    """Other projections with the same scores: W_Q M, and W_K times the inverse
    transpose of M.

    Raises ValueError for an M that is not invertible.
    """
    rank, full = torch.linalg.matrix_rank(M), max(M.shape[-2:])
    if (rank < full).any():
        raise ValueError(
            f"M has rank {rank.min()}; expected {full}, an invertible matrix"
        )
    return W_Q @ M, torch.linalg.solve(M, W_K.mT).mT


# --8<-- [end:gauge]


# --8<-- [start:output]
def split_output(
    P: Float[Tensor, "*#batch n m"],
    X: Float[Tensor, "*#batch m d"],
    W_V: Float[Tensor, "*#batch d d_v"],
    W_O: Float[Tensor, "*#batch d_v d_o"],
) -> Float[Tensor, "*batch n d_o"]:
    """A head's output: average the values with the weights P, then project."""
    wide = upcast(P) @ (upcast(X) @ upcast(W_V)) @ upcast(W_O)
    return wide.to(P.dtype)


def merged_output(
    P: Float[Tensor, "*#batch n m"],
    X: Float[Tensor, "*#batch m d"],
    W: Float[Tensor, "*#batch d d_o"],
) -> Float[Tensor, "*batch n d_o"]:
    """The same with W_V W_O merged into W: average the tokens, then map them."""
    return (upcast(P) @ upcast(X) @ upcast(W)).to(P.dtype)


# --8<-- [end:output]


# --8<-- [start:count]
def split_multiplications(n: int, d: int, d_k: int) -> int:
    """For (X W_Q)(X W_K)^T: two projections, then all queries times all keys."""
    return 2 * n * d * d_k + n**2 * d_k


def merged_multiplications(n: int, d: int) -> int:
    """For (X W) X^T, with W merged beforehand."""
    return n * d**2 + n**2 * d


def merging_saves(n: int, d: int, d_k: int) -> bool:
    """Whether the merged form needs fewer multiplications."""
    return d_k * (2 * d + n) > d * (d + n)


# --8<-- [end:count]
