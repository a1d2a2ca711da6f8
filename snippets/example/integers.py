"""Three tokens by hand: inputs and weights that are small integers, and all up to the scores.

--8<-- [start:example-project]
>>> from snippets.example.integers import project, tokens, weights
>>> X, (W_Q, W_K, W_V) = tokens(), weights()
>>> for name, W in (("queries", W_Q), ("keys", W_K), ("values", W_V)):
...     print(f"{name:8}", *project(X, W).int().tolist())
queries  [1, 0, 2] [2, 2, 2] [2, 1, 3]
keys     [0, 1, 1] [4, 4, 0] [2, 3, 1]
values   [1, 2, 3] [2, 8, 0] [2, 6, 3]

--8<-- [end:example-project]

The scores, without the scale:

--8<-- [start:example-scores]
>>> from snippets.attention.formula import scores
>>> scores(project(X, W_Q), project(X, W_K), scale=1.0).int().tolist()
[[2, 4, 4], [4, 16, 12], [4, 12, 10]]

--8<-- [end:example-scores]

What must fit, and what need not:

--8<-- [start:example-dimensions]
>>> import torch
>>> from snippets.attention.formula import attention
>>> query, key, value = torch.ones(3, 2), torch.ones(5, 2), torch.ones(5, 7)
>>> tuple(attention(query, key, value).shape)
(3, 7)
>>> scores(query, torch.ones(5, 4))
Traceback (most recent call last):
RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x2 and 4x5)

--8<-- [end:example-dimensions]
"""

import torch
from torch import Tensor

from snippets.shapes import check_shapes


# --8<-- [start:tokens]
def tokens() -> Tensor:
    """Three tokens of four features."""
    return torch.tensor(
        [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]
    ).double()  # (n, d)


def weights() -> tuple[Tensor, Tensor, Tensor]:
    """The projections for queries, keys and values."""
    W_Q = torch.tensor(
        [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]]
    ).double()  # (d, d_k)
    W_K = torch.tensor(
        [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]]
    ).double()  # (d, d_k)
    W_V = torch.tensor(
        [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]]
    ).double()  # (d, d_v)
    return W_Q, W_K, W_V


# --8<-- [end:tokens]


# --8<-- [start:project]
def project(X: Tensor, W: Tensor) -> Tensor:
    """Queries, keys or values: every token through one projection."""
    check_shapes("X: n d, W: d p", X, W)
    return X @ W  # (..., n, d) (..., d, p) -> (..., n, p)


# --8<-- [end:project]
