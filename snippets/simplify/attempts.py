"""Two attempts to take the input out of the scores (AQ)(AK)^T, and what becomes of them.

The first moves the two inputs next to each other, as if matrices commuted:

--8<-- [start:example-commuted]
>>> import torch
>>> from snippets.simplify.attempts import (
...     commuted_merge_wrong, unscaled_scores)
>>> A, eye = torch.tensor([[0.0, 1.0], [0.0, 0.0]]), torch.eye(2)
>>> unscaled_scores(A, eye, eye).tolist()
[[1.0, 0.0], [0.0, 0.0]]
>>> commuted_merge_wrong(A, eye, eye).tolist()
[[0.0, 0.0], [0.0, 0.0]]

--8<-- [end:example-commuted]

The second reads the scores as AX and solves for X. It finds Q K^T A^T, with the input still in it:

--8<-- [start:example-solve]
>>> from snippets.simplify.attempts import score_residual, solve_for_scores
>>> generator = torch.Generator().manual_seed(0)
>>> A, other = torch.randn(2, 3, 3, generator=generator, dtype=torch.float64)
>>> Q, K = torch.randn(2, 3, 2, generator=generator, dtype=torch.float64)
>>> X = solve_for_scores(A, Q, K)
>>> torch.allclose(X, Q @ K.T @ A.T)
True
>>> [round(score_residual(input, X, Q, K).abs().max().item(), 1)
...  for input in (A, other)]
[0.0, 3.3]

--8<-- [end:example-solve]

The typical size of what is left, over random draws in single precision:

--8<-- [start:example-measured]
>>> A, B, Q, K = torch.rand(4, 10_000, 3, 3, generator=generator)
>>> S, X = unscaled_scores(A, Q, K), solve_for_scores(A, Q, K)
>>> tensors = {"scores": S, "factors sorted": commuted_merge_wrong(A, Q, K) - S,
...            "solved for A": score_residual(A, X, Q, K),
...            "kept for B": score_residual(B, X, Q, K)}
>>> for name, tensor in tensors.items():
...     print(f"{name:14}   standard deviation {tensor.std((-2, -1)).median():.1f}")
scores           standard deviation 0.6
factors sorted   standard deviation 0.6
solved for A     standard deviation 0.0
kept for B       standard deviation 0.6

--8<-- [end:example-measured]

Twice the input, twice the X. Only where Q K^T is zero is X the same for every input:

--8<-- [start:example-dependence]
>>> [solve_for_scores(input, eye, eye).tolist() for input in (eye, 2 * eye)]
[[[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 2.0]]]
>>> Q = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
>>> K = torch.tensor([[0.0, 1.0], [0.0, 1.0]])
>>> [solve_for_scores(input, Q, K).tolist() for input in (eye, 2 * eye)]
[[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]

--8<-- [end:example-dependence]

An input that is not square, or not invertible, is refused:

--8<-- [start:example-refused]
>>> solve_for_scores(torch.ones(3, 2), eye, eye)
Traceback (most recent call last):
ValueError: A is (3, 2); expected as many tokens as features: use least_squares_for_scores
>>> solve_for_scores(torch.tensor([[1.0, 2.0], [2.0, 4.0]]), eye, eye)
Traceback (most recent call last):
ValueError: A has rank 1; expected 2, for many X solve it: use least_squares_for_scores

--8<-- [end:example-refused]

Least squares always finds a solution. It is the only one if the columns of A are independent:

--8<-- [start:example-least-squares]
>>> from snippets.simplify.attempts import (
...     another_solution, least_squares_for_scores)
>>> Q, K = torch.randn(2, 4, 2, generator=generator, dtype=torch.float64)  # d, d_k
>>> for n in (6, 3):  # more tokens than features, then fewer
...     A = torch.randn(n, 4, generator=generator, dtype=torch.float64)
...     X = least_squares_for_scores(A, Q, K)
...     Y = another_solution(A, X, torch.ones_like(X))
...     left = [score_residual(A, Z, Q, K).abs().max() for Z in (X, Y)]
...     print(f"n {n}   both solve: {max(left).item() < 1e-9}   "
...           f"they are one: {torch.allclose(X, Y)}")
n 6   both solve: True   they are one: True
n 3   both solve: True   they are one: False

--8<-- [end:example-least-squares]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import scores


# --8<-- [start:scores]
def unscaled_scores(
    A: Float[Tensor, "*#batch n d"],
    Q: Float[Tensor, "*#batch d d_k"],
    K: Float[Tensor, "*#batch d d_k"],
) -> Float[Tensor, "*batch n n"]:
    """(AQ)(AK)^T: the scores of an input A under the matrices Q and K, without the
    scale."""
    return scores(A @ Q, A @ K, scale=1.0)


# --8<-- [end:scores]


# --8<-- [start:commuted]
def commuted_merge_wrong(
    A: Float[Tensor, "*#batch n n"],
    Q: Float[Tensor, "*#batch n n"],
    K: Float[Tensor, "*#batch n n"],
) -> Float[Tensor, "*batch n n"]:
    """Wrong: (AA)(QK)^T, for matrices do not commute; it even needs all three to be
    square."""
    return (A @ A) @ (Q @ K).mT


# --8<-- [end:commuted]


# --8<-- [start:solve]
def solve_for_scores(
    A: Float[Tensor, "*#batch n n"],
    Q: Float[Tensor, "*#batch n d_k"],
    K: Float[Tensor, "*#batch n d_k"],
) -> Float[Tensor, "*batch n n"]:
    """The X for which AX is the scores.

    Raises ValueError for an A that is not square, or not invertible.
    """
    B = unscaled_scores(A, Q, K)
    n, d = A.shape[-2:]
    if n != d:
        raise ValueError(
            f"A is {tuple(A.shape)}; expected as many tokens as features: "
            "use least_squares_for_scores"
        )
    rank = torch.linalg.matrix_rank(A)
    if (rank < n).any():
        raise ValueError(
            f"A has rank {rank.min()}; expected {n}, for many X solve it: "
            "use least_squares_for_scores"
        )
    return torch.linalg.solve(A, B)


# --8<-- [end:solve]


# --8<-- [start:least-squares]
def least_squares_for_scores(
    A: Float[Tensor, "*#batch n d"],
    Q: Float[Tensor, "*#batch d d_k"],
    K: Float[Tensor, "*#batch d d_k"],
) -> Float[Tensor, "*batch d n"]:
    """The X of least norm for which AX is the scores, for an A of any shape and
    rank."""
    B = unscaled_scores(A, Q, K)
    A = A.expand(*B.shape[:-2], *A.shape[-2:])  # lstsq broadcasts no axes
    # gelsd takes any rank, and runs on the CPU only.
    return torch.linalg.lstsq(A, B, driver="gelsd").solution


# --8<-- [end:least-squares]


# --8<-- [start:another]
def another_solution(
    A: Float[Tensor, "*#batch n d"],
    X: Float[Tensor, "*#batch d m"],
    Z: Float[Tensor, "*#batch d m"],
) -> Float[Tensor, "*batch d m"]:
    """X plus the part of Z that A maps to 0: it solves whatever X solves."""
    return X + Z - torch.linalg.pinv(A) @ (A @ Z)


# --8<-- [end:another]


# --8<-- [start:residual]
def score_residual(
    A: Float[Tensor, "*#batch n d"],
    X: Float[Tensor, "*#batch d n"],
    Q: Float[Tensor, "*#batch d d_k"],
    K: Float[Tensor, "*#batch d d_k"],
) -> Float[Tensor, "*batch n n"]:
    """What AX misses of the scores of A."""
    return unscaled_scores(A, Q, K) - A @ X


# --8<-- [end:residual]
