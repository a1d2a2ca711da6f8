"""Two attempts to take the input out of the scores (X W_Q)(X W_K)^T, and why they fail.

The first moves the two inputs next to each other, as if matrices commuted:

--8<-- [start:example-commuted]
>>> import torch
>>> from snippets.simplify.attempts import (
...     commuted_merge_wrong, unscaled_scores)
>>> X, eye = torch.tensor([[0.0, 1.0], [0.0, 0.0]]), torch.eye(2)
>>> unscaled_scores(X, eye, eye).tolist()
[[1.0, 0.0], [0.0, 0.0]]
>>> commuted_merge_wrong(X, eye, eye).tolist()
[[0.0, 0.0], [0.0, 0.0]]

--8<-- [end:example-commuted]

The second writes the scores as XU and solves for U. The solution W_Q W_K^T X^T still contains the input:

--8<-- [start:example-solve]
>>> from snippets.simplify.attempts import score_residual, solve_for_scores
>>> generator = torch.Generator().manual_seed(0)
>>> X, other = torch.randn(2, 3, 3, generator=generator, dtype=torch.float64)
>>> W_Q, W_K = torch.randn(2, 3, 2, generator=generator, dtype=torch.float64)
>>> U = solve_for_scores(X, W_Q, W_K)
>>> torch.allclose(U, W_Q @ W_K.T @ X.T)
True
>>> [round(score_residual(input, U, W_Q, W_K).abs().max().item(), 1)
...  for input in (X, other)]
[0.0, 3.3]

--8<-- [end:example-solve]

The typical size of the errors, over random draws in single precision:

--8<-- [start:example-measured]
>>> X, Z, W_Q, W_K = torch.rand(4, 10_000, 3, 3, generator=generator)
>>> S, U = unscaled_scores(X, W_Q, W_K), solve_for_scores(X, W_Q, W_K)
>>> tensors = {"scores": S,
...            "factors sorted": commuted_merge_wrong(X, W_Q, W_K) - S,
...            "solved for X": score_residual(X, U, W_Q, W_K),
...            "kept for Z": score_residual(Z, U, W_Q, W_K)}
>>> for name, tensor in tensors.items():
...     spread = tensor.std((-2, -1)).median()
...     print(f"{name:14}   standard deviation {spread:.1f}")
scores           standard deviation 0.6
factors sorted   standard deviation 0.6
solved for X     standard deviation 0.0
kept for Z       standard deviation 0.6

--8<-- [end:example-measured]

Twice the input gives twice the U. Only if W_Q W_K^T is zero is U the same for every input:

--8<-- [start:example-dependence]
>>> [solve_for_scores(input, eye, eye).tolist() for input in (eye, 2 * eye)]
[[[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 2.0]]]
>>> W_Q = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
>>> W_K = torch.tensor([[0.0, 1.0], [0.0, 1.0]])
>>> [solve_for_scores(input, W_Q, W_K).tolist() for input in (eye, 2 * eye)]
[[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]

--8<-- [end:example-dependence]

An input that is not square, or not invertible, is rejected:

--8<-- [start:example-refused]
>>> solve_for_scores(torch.ones(3, 2), eye, eye)
Traceback (most recent call last):
ValueError: X is (3, 2); expected as many tokens as features: use least_squares_for_scores
>>> solve_for_scores(torch.tensor([[1.0, 2.0], [2.0, 4.0]]), eye, eye)
Traceback (most recent call last):
ValueError: X has rank 1; expected 2, for many U solve it: use least_squares_for_scores

--8<-- [end:example-refused]

Least squares always finds a solution. It is the only one if the columns of X are linearly independent:

--8<-- [start:example-least-squares]
>>> from snippets.simplify.attempts import (
...     another_solution, least_squares_for_scores)
>>> W_Q, W_K = torch.randn(2, 4, 2, generator=generator, dtype=torch.float64)
>>> for n in (6, 3):  # more tokens than features, then fewer
...     X = torch.randn(n, 4, generator=generator, dtype=torch.float64)
...     U = least_squares_for_scores(X, W_Q, W_K)
...     other = another_solution(X, U, torch.ones_like(U))
...     left = [score_residual(X, N, W_Q, W_K).abs().max() for N in (U, other)]
...     print(f"n {n}   both solve: {max(left).item() < 1e-9}   "
...           f"they are one: {torch.allclose(U, other)}")
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
    X: Float[Tensor, "*#batch n d"],
    W_Q: Float[Tensor, "*#batch d d_k"],
    W_K: Float[Tensor, "*#batch d d_k"],
) -> Float[Tensor, "*batch n n"]:
    """The scores of an input X under W_Q and W_K, without the scale."""
    return scores(X @ W_Q, X @ W_K, scale=1.0)


# --8<-- [end:scores]


# --8<-- [start:commuted]
def commuted_merge_wrong(
    X: Float[Tensor, "*#batch n n"],
    W_Q: Float[Tensor, "*#batch n n"],
    W_K: Float[Tensor, "*#batch n n"],
) -> Float[Tensor, "*batch n n"]:
    """Wrong: matrices do not commute. All three must even be square."""
    return (X @ X) @ (W_Q @ W_K).mT


# --8<-- [end:commuted]


# --8<-- [start:solve]
def solve_for_scores(
    X: Float[Tensor, "*#batch n n"],
    W_Q: Float[Tensor, "*#batch n d_k"],
    W_K: Float[Tensor, "*#batch n d_k"],
) -> Float[Tensor, "*batch n n"]:
    """The U for which XU equals the scores.

    Raises ValueError if X is not square, or not invertible.
    """
    S = unscaled_scores(X, W_Q, W_K)
    n, d = X.shape[-2:]
    if n != d:
        raise ValueError(
            f"X is {tuple(X.shape)}; expected as many tokens as features: "
            "use least_squares_for_scores"
        )
    rank = torch.linalg.matrix_rank(X)
    if (rank < n).any():
        raise ValueError(
            f"X has rank {rank.min()}; expected {n}, for many U solve it: "
            "use least_squares_for_scores"
        )
    return torch.linalg.solve(X, S)


# --8<-- [end:solve]


# --8<-- [start:least-squares]
def least_squares_for_scores(
    X: Float[Tensor, "*#batch n d"],
    W_Q: Float[Tensor, "*#batch d d_k"],
    W_K: Float[Tensor, "*#batch d d_k"],
) -> Float[Tensor, "*batch d n"]:
    """The U of least norm for which XU equals the scores, for X of any shape
    and rank."""
    # On a GPU, torch.linalg.lstsq would accept X of full rank only.
    return torch.linalg.pinv(X) @ unscaled_scores(X, W_Q, W_K)


# --8<-- [end:least-squares]


# --8<-- [start:another]
def another_solution(
    X: Float[Tensor, "*#batch n d"],
    U: Float[Tensor, "*#batch d m"],
    N: Float[Tensor, "*#batch d m"],
) -> Float[Tensor, "*batch d m"]:
    """U plus the part of N that X maps to 0: it solves what U solves."""
    return U + N - torch.linalg.pinv(X) @ (X @ N)


# --8<-- [end:another]


# --8<-- [start:residual]
def score_residual(
    X: Float[Tensor, "*#batch n d"],
    U: Float[Tensor, "*#batch d n"],
    W_Q: Float[Tensor, "*#batch d d_k"],
    W_K: Float[Tensor, "*#batch d d_k"],
) -> Float[Tensor, "*batch n n"]:
    """The scores of X minus XU."""
    return unscaled_scores(X, W_Q, W_K) - X @ U


# --8<-- [end:residual]
