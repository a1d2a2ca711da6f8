"""Splitting features into heads, and combining them again: no loop is needed.

Two tokens of four features, split into two heads:

--8<-- [start:example-split]
>>> import torch
>>> from snippets.heads.split import combine_heads, split_heads
>>> x = torch.tensor([[11, 12, 13, 14],
...                   [21, 22, 23, 24]])  # (n, d): first digit token, second feature
>>> split_heads(x, heads=2).tolist()
[[[11, 12], [21, 22]], [[13, 14], [23, 24]]]
>>> combine_heads(split_heads(x, heads=2)).equal(x)
True
>>> split_heads(x, heads=3)
Traceback (most recent call last):
ValueError: 3 heads do not divide d = 4 of x (2, 4); expected x (..., n, d)

--8<-- [end:example-split]

Without the transpose, the first head gets the whole first token, and the second head the second:

--8<-- [start:example-view]
>>> from snippets.heads.split import view_heads
>>> view_heads(x, heads=2).tolist()
[[[11, 12], [13, 14]], [[21, 22], [23, 24]]]

--8<-- [end:example-view]

One wide projection gives what a loop over the heads gives, and so does one product at the end:

--8<-- [start:example-fused]
>>> from snippets.heads.split import (
...     combine_and_project, project_and_add, project_each, project_fused)
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(10, 12, 16, generator=generator, dtype=torch.float64)  # (batch, n, d)
>>> W = torch.randn(16, 24, generator=generator, dtype=torch.float64)  # 4 heads of width 6
>>> O = project_fused(X, W, heads=4)
>>> tuple(O.shape), torch.allclose(O, project_each(X, W, heads=4))
((10, 4, 12, 6), True)
>>> W_O = torch.randn(4, 6, 16, generator=generator, dtype=torch.float64)  # (heads, d_v, d)
>>> torch.allclose(combine_and_project(O, W_O), project_and_add(O, W_O))
True

--8<-- [end:example-fused]

The scores of the heads add up to those of one wide head, but each head takes a softmax of its own:

--8<-- [start:example-wide]
>>> from snippets.heads.split import one_wide_head, sum_of_heads
>>> from snippets.attention.formula import scores
>>> wide = X @ W  # used both for queries and for keys
>>> of_heads = scores(split_heads(wide, 4), split_heads(wide, 4), scale=1)  # (batch, heads, n, n)
>>> torch.allclose(of_heads.sum(-3), scores(wide, wide, scale=1))
True
>>> [torch.linalg.matrix_rank(S).unique().item() for S in (of_heads, scores(wide, wide))]
[6, 12]
>>> A = C = torch.tensor([[1.0, 3.0]], dtype=torch.float64).log()  # two heads alike
>>> V = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
>>> for output in sum_of_heads(A, C, V), one_wide_head(A, C, V):
...     print(f"{output.item():.4f}")
1.5000
1.8000

--8<-- [end:example-wide]
"""

import torch
from torch import Tensor

from snippets.shapes import check_shapes


# --8<-- [start:split]
def split_heads(x: Tensor, heads: int) -> Tensor:
    """Each token's features cut into heads of equal width, and the heads put before the tokens."""
    check_shapes("x: n d", x)
    if heads < 1 or x.shape[-1] % heads:
        raise ValueError(
            f"{heads} heads do not divide d = {x.shape[-1]} of x {tuple(x.shape)}; "
            "expected x (..., n, d)"
        )
    return x.unflatten(-1, (heads, -1)).transpose(
        -3, -2
    )  # (..., n, d) -> (..., heads, n, d / heads)


def combine_heads(x: Tensor) -> Tensor:
    """The way back: the heads of each token side by side."""
    check_shapes("x: heads n d_v", x)
    return x.transpose(-3, -2).flatten(
        -2
    )  # (..., heads, n, d_v) -> (..., n, heads * d_v)


# --8<-- [end:split]


# --8<-- [start:view]
def view_heads(x: Tensor, heads: int) -> Tensor:
    """The slip: the right shape, but what stands in one head are all the features of a few tokens."""
    return x.reshape(
        *x.shape[:-2], heads, x.shape[-2], -1
    )  # (..., heads, n, d / heads)


# --8<-- [end:view]


# --8<-- [start:fused]
def project_fused(x: Tensor, W: Tensor, heads: int) -> Tensor:
    """One projection for all heads, then a split."""
    check_shapes("x: n d, W: d w", x, W)
    return split_heads(
        x @ W, heads
    )  # (..., n, d) (..., d, w) -> (..., heads, n, w / heads)


def project_each(x: Tensor, W: Tensor, heads: int) -> Tensor:
    """The same in a loop over the heads, each with its own columns of W."""
    check_shapes("x: n d, W: d w", x, W)
    return torch.stack(
        [x @ columns for columns in W.chunk(heads, dim=-1)], dim=-3
    )


# --8<-- [end:fused]


# --8<-- [start:output]
def combine_and_project(O: Tensor, W_O: Tensor) -> Tensor:
    """The heads side by side, times one tall matrix: the blocks of W_O below one another."""
    check_shapes("O: heads n d_v, W_O: heads d_v d", O, W_O)
    return combine_heads(O) @ W_O.flatten(
        -3, -2
    )  # (..., n, h d_v) (h d_v, d) -> (..., n, d)


def project_and_add(O: Tensor, W_O: Tensor) -> Tensor:
    """Each head times its own block, and the sum over the heads."""
    check_shapes("O: heads n d_v, W_O: heads d_v d", O, W_O)
    return (O @ W_O).sum(
        -3
    )  # (..., heads, n, d_v) (heads, d_v, d) -> (..., n, d)


# --8<-- [end:output]


# --8<-- [start:wide]
def sum_of_heads(A: Tensor, C: Tensor, V: Tensor) -> Tensor:
    """Two heads with scores A and C, and the same values."""
    check_shapes("A: n m, C: n m, V: m d", A, C, V)
    return (
        torch.softmax(A, dim=-1) @ V + torch.softmax(C, dim=-1) @ V
    )  # (..., n, d)


def one_wide_head(A: Tensor, C: Tensor, V: Tensor) -> Tensor:
    """One head with the sum of both scores, and the sum of both values."""
    check_shapes("A: n m, C: n m, V: m d", A, C, V)
    return torch.softmax(A + C, dim=-1) @ (V + V)  # (..., n, d)


# --8<-- [end:wide]
