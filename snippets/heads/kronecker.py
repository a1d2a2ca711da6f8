"""With its weights held fixed, a head is one matrix on the flattened input: a Kronecker product.

--8<-- [start:example]
>>> import torch
>>> from snippets.heads.kronecker import by_columns, by_rows, head, kronecker
>>> P = torch.tensor([[0.5, 0.5], [0.0, 1.0]])  # the weights of two tokens, (n, m)
>>> W = torch.tensor([[1.0, 2.0], [0.0, 3.0]])  # the map of the features, (d, p)
>>> kronecker(P, W.mT)
tensor([[0.5000, 0.0000, 0.5000, 0.0000],
        [1.0000, 1.5000, 1.0000, 1.5000],
        [0.0000, 0.0000, 1.0000, 0.0000],
        [0.0000, 0.0000, 2.0000, 3.0000]])
>>> X = torch.tensor([[1.0, 2.0], [3.0, 4.0]])  # (m, d)
>>> head(P, X, W).tolist()
[[2.0, 13.0], [3.0, 18.0]]
>>> by_rows(P, X, W).tolist(), by_columns(P, X, W).mT.tolist()
([[2.0, 13.0], [3.0, 18.0]], [[2.0, 13.0], [3.0, 18.0]])

--8<-- [end:example]

The rank of the rearranged matrix counts the heads:

--8<-- [start:example-rank]
>>> from snippets.heads.kronecker import heads_by_rows, heads_matrix, rearranged
>>> generator = torch.Generator().manual_seed(0)
>>> P = torch.randn(3, 5, 5, generator=generator, dtype=torch.float64).softmax(-1)  # (heads, n, m)
>>> W = torch.randn(3, 4, 4, generator=generator, dtype=torch.float64)  # (heads, d, p)
>>> for heads in (1, 2, 3):
...     whole = heads_matrix(P[:heads], W[:heads])
...     rank = torch.linalg.matrix_rank(rearranged(whole, n=5, m=5, d=4, p=4)).item()
...     print(f"heads {heads}   matrix {tuple(whole.shape)}   rank of its rearrangement {rank}")
heads 1   matrix (20, 20)   rank of its rearrangement 1
heads 2   matrix (20, 20)   rank of its rearrangement 2
heads 3   matrix (20, 20)   rank of its rearrangement 3

--8<-- [end:example-rank]
"""

from jaxtyping import Float
from torch import Tensor


# --8<-- [start:head]
def head(
    P: Float[Tensor, "*#batch n m"],
    X: Float[Tensor, "*#batch m d"],
    W: Float[Tensor, "*#batch d p"],
) -> Float[Tensor, "*batch n p"]:
    """A head with given weights P, and W for the merged value and output maps."""
    return P @ X @ W


# --8<-- [end:head]


# --8<-- [start:flattened]
def kronecker(
    A: Float[Tensor, "n m"], B: Float[Tensor, "p d"]
) -> Float[Tensor, "n*p m*d"]:
    """Every entry of A times a copy of B.

    Like torch.kron, which rejects some transposed matrices.
    """
    products = A[:, None, :, None] * B[:, None, :]  # (n, p, m, d)
    return products.flatten(2).flatten(0, 1)


def by_rows(
    P: Float[Tensor, "n m"], X: Float[Tensor, "m d"], W: Float[Tensor, "d p"]
) -> Float[Tensor, "n p"]:
    """The head as one matrix on the input, flattened row by row as in memory."""
    whole = kronecker(P, W.mT)  # (n * p, m * d)
    return (whole @ X.flatten()).view(len(P), W.shape[-1])


def by_columns(
    P: Float[Tensor, "n m"], X: Float[Tensor, "m d"], W: Float[Tensor, "d p"]
) -> Float[Tensor, "p n"]:
    """The transposed output: the input flattened by columns, the factors swapped."""
    whole = kronecker(W.mT, P)  # (p * n, d * m)
    return (whole @ X.mT.flatten()).view(W.shape[-1], len(P))


# --8<-- [end:flattened]


# --8<-- [start:heads]
def heads(
    P: Float[Tensor, "heads n m"],
    X: Float[Tensor, "m d"],
    W: Float[Tensor, "heads d p"],
) -> Float[Tensor, "n p"]:
    """The sum over heads, each with its own weights and map."""
    return (P @ X @ W).sum(-3)  # of (heads, n, p)


def heads_matrix(
    P: Float[Tensor, "heads n m"], W: Float[Tensor, "heads d p"]
) -> Float[Tensor, "n*p m*d"]:
    """The matrix of all heads: a sum of Kronecker products.

    Raises ValueError without heads, or if P and W have different numbers of them.
    """
    if not len(P):
        raise ValueError("P holds no heads; expected one at least")
    return sum(kronecker(P_i, W_i.mT) for P_i, W_i in zip(P, W, strict=True))


def heads_by_rows(
    P: Float[Tensor, "heads n m"],
    X: Float[Tensor, "m d"],
    W: Float[Tensor, "heads d p"],
) -> Float[Tensor, "n p"]:
    """The sum over heads, computed with this matrix.

    Raises ValueError without heads.
    """
    output = heads_matrix(P, W) @ X.flatten()  # (n * p)
    return output.view(P.shape[-2], W.shape[-1])


# --8<-- [end:heads]


# --8<-- [start:rearranged]
def rearranged(
    whole: Float[Tensor, "np md"], *, n: int, m: int, d: int, p: int
) -> Float[Tensor, "nm dp"]:
    """The entries with a row for each pair of tokens, a column for each of features.

    The matrix is a Kronecker product if and only if this has rank 1 or 0.
    Raises ValueError for a matrix of another shape.
    """
    if whole.shape != (n * p, m * d):
        raise ValueError(
            f"whole {tuple(whole.shape)} is not of shape {(n * p, m * d)}; "
            "expected whole (n * p, m * d)"
        )
    return whole.view(n, p, m, d).permute(0, 2, 3, 1).reshape(n * m, d * p)


# --8<-- [end:rearranged]
