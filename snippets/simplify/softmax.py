"""Why no matrix can be moved through softmax: it is not linear, and it changes the rank.

--8<-- [start:example-linear]
>>> import torch
>>> z = torch.tensor([1.0, 3.0], dtype=torch.float64).log()
>>> [torch.softmax(c * z, -1).round(decimals=6).tolist() for c in (1, 2)]
[[0.25, 0.75], [0.1, 0.9]]
>>> of_sum = torch.softmax(z - z, -1)
>>> sum_of = torch.softmax(z, -1) + torch.softmax(-z, -1)
>>> of_sum.round(decimals=6).tolist(), sum_of.round(decimals=6).tolist()
([0.5, 0.5], [1.0, 1.0])

--8<-- [end:example-linear]

A matrix on the right of the weights cannot be moved inside:

--8<-- [start:example-merge]
>>> from snippets.simplify.softmax import matrix_after, matrix_inside
>>> S = torch.zeros(2, 2)  # both tokens attend equally to both
>>> X = torch.tensor([[1.0, 0.0], [0.0, 3.0]])
>>> matrix_after(S, X).tolist(), matrix_inside(S, X).tolist()
([[0.5, 1.5], [0.5, 1.5]], [[0.5, 0.5], [0.5, 0.5]])

--8<-- [end:example-merge]

Scores of rank one, weights of rank three:

--8<-- [start:example-rank]
>>> from snippets.simplify.softmax import rank_one_scores
>>> q = torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)
>>> k = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64).log()
>>> S = rank_one_scores(q, k)
>>> P = torch.softmax(S, dim=-1)
>>> torch.linalg.matrix_rank(S).item(), torch.linalg.matrix_rank(P).item()
(1, 3)
>>> (P * torch.tensor([[3], [6], [14]])).round(decimals=6).tolist()
[[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [1.0, 4.0, 9.0]]
>>> round(1 / torch.linalg.det(P).item(), 6)
126.0

--8<-- [end:example-rank]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import scores


# --8<-- [start:across]
def matrix_after(
    S: Float[Tensor, "*#batch n m"], X: Float[Tensor, "*#batch m p"]
) -> Float[Tensor, "*batch n p"]:
    """softmax(S) X: what attention computes."""
    return torch.softmax(S, dim=-1) @ X


def matrix_inside(
    S: Float[Tensor, "*#batch n m"], X: Float[Tensor, "*#batch m p"]
) -> Float[Tensor, "*batch n p"]:
    """softmax(S X): not the same; its rows sum to 1 whatever X is."""
    return torch.softmax(S @ X, dim=-1)


# --8<-- [end:across]


# --8<-- [start:rank-one]
def rank_one_scores(
    q: Float[Tensor, "*#batch n"], k: Float[Tensor, "*#batch m"]
) -> Float[Tensor, "*batch n m"]:
    """The scores of queries and keys with one feature each.

    Every row is a multiple of k.
    """
    return scores(q.unsqueeze(-1), k.unsqueeze(-1))  # the scale is 1


# --8<-- [end:rank-one]
