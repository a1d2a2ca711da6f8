"""Two attempts to take the input out of the scores (AQ)(AK)^T, and what becomes of them.

The first moves the two inputs next to each other, as if matrices commuted:

--8<-- [start:example-commuted]
>>> import torch
>>> from snippets.simplify.attempts import commuted_merge, unscaled_scores
>>> A, eye = torch.tensor([[0.0, 1.0], [0.0, 0.0]]), torch.eye(2)
>>> unscaled_scores(A, eye, eye).tolist(), commuted_merge(A, eye, eye).tolist()
([[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])

--8<-- [end:example-commuted]

The second reads the scores as AX and solves for X. It finds Q K^T A^T, with the input still in it:

--8<-- [start:example-solve]
>>> from snippets.simplify.attempts import residual, solve_for_scores
>>> generator = torch.Generator().manual_seed(0)
>>> A, other = torch.randn(2, 3, 3, generator=generator, dtype=torch.float64)
>>> Q, K = torch.randn(2, 3, 2, generator=generator, dtype=torch.float64)
>>> X = solve_for_scores(A, Q, K)
>>> torch.allclose(X, Q @ K.T @ A.T)
True
>>> [round(residual(input, X, Q, K).abs().max().item(), 1) for input in (A, other)]
[0.0, 3.3]

--8<-- [end:example-solve]

The typical size of what is left, over random draws in single precision:

--8<-- [start:example-measured]
>>> A, B, Q, K = torch.rand(4, 10_000, 3, 3, generator=generator)
>>> S, X = unscaled_scores(A, Q, K), solve_for_scores(A, Q, K)
>>> tensors = {"scores": S, "factors sorted": commuted_merge(A, Q, K) - S,
...            "solved for A": residual(A, X, Q, K), "kept for B": residual(B, X, Q, K)}
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
>>> Q, K = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[0.0, 1.0], [0.0, 1.0]])
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
>>> from snippets.simplify.attempts import another_solution, least_squares_for_scores
>>> Q, K = torch.randn(2, 4, 2, generator=generator, dtype=torch.float64)  # d = 4, d_k = 2
>>> for n in (6, 3):  # more tokens than features, then fewer
...     A = torch.randn(n, 4, generator=generator, dtype=torch.float64)
...     X = least_squares_for_scores(A, Q, K)
...     Y = another_solution(A, X, torch.ones_like(X))
...     solve = [residual(A, Z, Q, K).abs().max().item() < 1e-9 for Z in (X, Y)]
...     print(f"n = {n}   both solve: {all(solve)}   they are one: {torch.allclose(X, Y)}")
n = 6   both solve: True   they are one: True
n = 3   both solve: True   they are one: False

--8<-- [end:example-least-squares]
"""

import torch
from torch import Tensor

from snippets.attention.formula import scores
from snippets.shapes import check_shapes


# --8<-- [start:scores]
def unscaled_scores(A: Tensor, Q: Tensor, K: Tensor) -> Tensor:
    """(AQ)(AK)^T: the scores of an input A under the matrices Q and K, without the scale."""
    check_shapes("A: n d, Q: d d_k, K: d d_k", A, Q, K)
    return scores(
        A @ Q, A @ K, scale=1.0
    )  # (..., n, d_k) (..., n, d_k) -> (..., n, n)


# --8<-- [end:scores]


# --8<-- [start:commuted]
def commuted_merge(A: Tensor, Q: Tensor, K: Tensor) -> Tensor:
    """(AA)(QK)^T: wrong, for matrices do not commute; it even needs all three to be square."""
    check_shapes("A: n n, Q: n n, K: n n", A, Q, K)
    return (A @ A) @ (Q @ K).transpose(-2, -1)  # (..., n, n)


# --8<-- [end:commuted]


# --8<-- [start:solve]
def solve_for_scores(A: Tensor, Q: Tensor, K: Tensor) -> Tensor:
    """The X for which AX is the scores, for a square and invertible A."""
    B = unscaled_scores(A, Q, K)  # (..., n, n)
    n, d = A.shape[-2:]
    if n != d:
        raise ValueError(
            f"A is {tuple(A.shape)}; expected as many tokens as features: "
            "use least_squares_for_scores"
        )
    rank = torch.linalg.matrix_rank(A).min().item()  # the smallest of a batch
    if rank < n:
        raise ValueError(
            f"A has rank {rank}; expected {n}, for many X solve it: use least_squares_for_scores"
        )
    return torch.linalg.solve(A, B)  # (..., n, n)


# --8<-- [end:solve]


# --8<-- [start:least-squares]
def least_squares_for_scores(A: Tensor, Q: Tensor, K: Tensor) -> Tensor:
    """The X of least norm for which AX is the scores, for an A of any shape and rank."""
    B = unscaled_scores(A, Q, K)  # (..., n, n)
    A = A.expand(
        *B.shape[:-2], *A.shape[-2:]
    )  # lstsq broadcasts no leading axes
    # gelsd takes any rank, and runs on the CPU only.
    return torch.linalg.lstsq(A, B, driver="gelsd").solution  # (..., d, n)


# --8<-- [end:least-squares]


# --8<-- [start:another]
def another_solution(A: Tensor, X: Tensor, Z: Tensor) -> Tensor:
    """X plus the part of Z that A maps to 0: it solves whatever X solves."""
    check_shapes("A: n d, X: d m, Z: d m", A, X, Z)
    return X + Z - torch.linalg.pinv(A) @ (A @ Z)  # (..., d, m)


# --8<-- [end:another]


# --8<-- [start:residual]
def residual(A: Tensor, X: Tensor, Q: Tensor, K: Tensor) -> Tensor:
    """What AX misses of the scores of A."""
    check_shapes("A: n d, X: d n, Q: d d_k, K: d d_k", A, X, Q, K)
    return unscaled_scores(A, Q, K) - A @ X  # (..., n, n)


# --8<-- [end:residual]
