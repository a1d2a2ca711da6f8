"""Splitting features into heads and combining them, without a loop.

Two tokens of four features, split into two heads:

--8<-- [start:example-split]
>>> import torch
>>> from snippets.heads.split import combine_heads, split_heads
>>> # (n, d): first digit token, second feature
>>> x = torch.tensor([[11.0, 12.0, 13.0, 14.0],
...                   [21.0, 22.0, 23.0, 24.0]])
>>> split_heads(x, num_heads=2).tolist()
[[[11.0, 12.0], [21.0, 22.0]], [[13.0, 14.0], [23.0, 24.0]]]
>>> combine_heads(split_heads(x, num_heads=2)).equal(x)
True
>>> split_heads(x, num_heads=3)
Traceback (most recent call last):
ValueError: 3 heads do not divide the 4 features of x (2, 4); expected x (..., n, d)

--8<-- [end:example-split]

Without the transpose, the first head gets the whole first token, and the second head the whole second token:

--8<-- [start:example-view]
>>> from snippets.heads.split import split_heads_wrong
>>> split_heads_wrong(x, num_heads=2).tolist()
[[[11.0, 12.0], [13.0, 14.0]], [[21.0, 22.0], [23.0, 24.0]]]

--8<-- [end:example-view]

One wide projection gives the same result as a loop over the heads, and so does one product at the end:

--8<-- [start:example-fused]
>>> from snippets.heads.split import (
...     combine_and_project, project_and_add, project_each, project_fused)
>>> generator = torch.Generator().manual_seed(0)
>>> # (batch, n, d)
>>> X = torch.randn(10, 12, 16, generator=generator, dtype=torch.float64)
>>> # 4 heads of width 6, side by side
>>> W = torch.randn(16, 24, generator=generator, dtype=torch.float64)
>>> O = project_fused(X, W, num_heads=4)
>>> tuple(O.shape), torch.allclose(O, project_each(X, W, num_heads=4))
((10, 4, 12, 6), True)
>>> # (heads, d_v, d)
>>> W_O = torch.randn(4, 6, 16, generator=generator, dtype=torch.float64)
>>> torch.allclose(combine_and_project(O, W_O), project_and_add(O, W_O))
True

--8<-- [end:example-fused]

The scores of the heads add up to those of one wide head:

--8<-- [start:example-ranks]
>>> from snippets.attention.formula import scores
>>> wide = X @ W  # used both for queries and for keys
>>> split = split_heads(wide, num_heads=4)
>>> of_heads = scores(split, split, scale=1)  # (batch, heads, n, n)
>>> torch.allclose(of_heads.sum(-3), scores(wide, wide, scale=1))
True
>>> both = of_heads, scores(wide, wide)
>>> [torch.linalg.matrix_rank(S).unique().item() for S in both]
[6, 12]

--8<-- [end:example-ranks]

Two identical heads, and one head with the sums of their scores and values:

--8<-- [start:example-wide]
>>> from snippets.heads.split import one_wide_head, sum_of_heads
>>> # two identical heads
>>> A = C = torch.tensor([[1.0, 3.0]], dtype=torch.float64).log()
>>> V = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
>>> for output in sum_of_heads(A, C, V), one_wide_head(A, C, V):
...     print(f"{output.item():.4f}")
1.5000
1.8000

--8<-- [end:example-wide]
"""

import torch
from jaxtyping import Float
from torch import Tensor


# --8<-- [start:split]
def split_heads(
    x: Float[Tensor, "*batch n d"], *, num_heads: int
) -> Float[Tensor, "*batch heads n d_k"]:
    """The features of each token cut into heads, with the heads before the tokens.

    Raises ValueError for a number of heads that does not divide d.
    """
    if num_heads < 1 or x.shape[-1] % num_heads:
        raise ValueError(
            f"{num_heads} heads do not divide the {x.shape[-1]} features "
            f"of x {tuple(x.shape)}; expected x (..., n, d)"
        )
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def combine_heads(
    x: Float[Tensor, "*batch heads n d_v"],
) -> Float[Tensor, "*batch n heads*d_v"]:
    """The inverse: the heads of each token side by side."""
    return x.transpose(-3, -2).flatten(-2)


# --8<-- [end:split]


# --8<-- [start:view]
def split_heads_wrong(
    x: Float[Tensor, "*batch n d"], *, num_heads: int
) -> Float[Tensor, "*batch heads n d_k"]:
    """Wrong: the shape is right, but a head gets all features of a few tokens.

    Raises RuntimeError for a number of heads that does not divide n * d.
    """
    return x.reshape(*x.shape[:-2], num_heads, x.shape[-2], -1)


# --8<-- [end:view]


# --8<-- [start:fused]
def project_fused(
    x: Float[Tensor, "*#batch n d"],
    W: Float[Tensor, "*#batch d w"],
    *,
    num_heads: int,
) -> Float[Tensor, "*batch heads n d_k"]:
    """One projection for all heads, then a split.

    Raises ValueError for a number of heads that does not divide w.
    """
    return split_heads(x @ W, num_heads=num_heads)


def project_each(
    x: Float[Tensor, "*#batch n d"],
    W: Float[Tensor, "*#batch d w"],
    *,
    num_heads: int,
) -> Float[Tensor, "*batch heads n d_k"]:
    """The same in a loop over the heads, each with its own columns of W.

    Raises RuntimeError for a number of heads that does not divide w.
    """
    columns = W.tensor_split(num_heads, dim=-1)
    return torch.stack([x @ W_i for W_i in columns], dim=-3)


# --8<-- [end:fused]


# --8<-- [start:output]
def combine_and_project(
    O: Float[Tensor, "*#batch heads n d_v"],
    W_O: Float[Tensor, "*#batch heads d_v d"],
) -> Float[Tensor, "*batch n d"]:
    """The heads side by side, times the blocks of W_O on top of each other."""
    return combine_heads(O) @ W_O.flatten(-3, -2)


def project_and_add(
    O: Float[Tensor, "*#batch heads n d_v"],
    W_O: Float[Tensor, "*#batch heads d_v d"],
) -> Float[Tensor, "*batch n d"]:
    """Each head times its own block of W_O, added up over the heads."""
    return (O @ W_O).sum(-3)


# --8<-- [end:output]


# --8<-- [start:wide]
def sum_of_heads(
    A: Float[Tensor, "*#batch n m"],
    C: Float[Tensor, "*#batch n m"],
    V: Float[Tensor, "*#batch m d"],
) -> Float[Tensor, "*batch n d"]:
    """Two heads with scores A and C, and the same values."""
    return torch.softmax(A, dim=-1) @ V + torch.softmax(C, dim=-1) @ V


def one_wide_head(
    A: Float[Tensor, "*#batch n m"],
    C: Float[Tensor, "*#batch n m"],
    V: Float[Tensor, "*#batch m d"],
) -> Float[Tensor, "*batch n d"]:
    """One head with the sum of both scores, and the sum of both values."""
    return torch.softmax(A + C, dim=-1) @ (V + V)


# --8<-- [end:wide]
