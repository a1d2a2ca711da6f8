"""Three tokens by hand: inputs and matrices of small integers, up to the scores.

--8<-- [start:example-project]
>>> from snippets.example.integers import project_tokens, projections, tokens
>>> X, (W_Q, W_K, W_V) = tokens(), projections()
>>> for name, W in (("queries", W_Q), ("keys", W_K), ("values", W_V)):
...     print(f"{name:8}", *project_tokens(X, W).int().tolist())
queries  [1, 0, 2] [2, 2, 2] [2, 1, 3]
keys     [0, 1, 1] [4, 4, 0] [2, 3, 1]
values   [1, 2, 3] [2, 8, 0] [2, 6, 3]

--8<-- [end:example-project]

The scores, without the scale:

--8<-- [start:example-scores]
>>> from snippets.attention.formula import scores
>>> scores(project_tokens(X, W_Q), project_tokens(X, W_K), scale=1.0).int().tolist()
[[2, 4, 4], [4, 16, 12], [4, 12, 10]]

--8<-- [end:example-scores]

Two texts at once:

--8<-- [start:example-two]
>>> import torch
>>> texts = torch.stack([X, X.flip(0)])
>>> query, key = project_tokens(texts, W_Q), project_tokens(texts, W_K)
>>> scores(query, key, scale=1.0)[1].int().tolist()
[[10, 12, 4], [12, 16, 4], [4, 4, 2]]

--8<-- [end:example-two]

Which sizes must match, and which are free:

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
from jaxtyping import Float
from torch import Tensor


# --8<-- [start:tokens]
def tokens(
    *,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str | None = None,
) -> Float[Tensor, "3 4"]:
    """Three tokens of four features."""
    X = [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]
    return torch.tensor(X, dtype=dtype, device=device)


def projections(
    *,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str | None = None,
) -> tuple[
    Float[Tensor, "4 3"],
    Float[Tensor, "4 3"],
    Float[Tensor, "4 3"],
]:
    """The matrices W_Q, W_K and W_V for queries, keys and values."""
    W_Q = [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]]
    W_K = [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]]
    W_V = [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]]
    return torch.tensor([W_Q, W_K, W_V], dtype=dtype, device=device).unbind()


# --8<-- [end:tokens]


# --8<-- [start:project]
def project_tokens(
    X: Float[Tensor, "*#batch n d"], W: Float[Tensor, "*#batch d p"]
) -> Float[Tensor, "*batch n p"]:
    """Queries, keys or values: every token times one matrix."""
    return X @ W


# --8<-- [end:project]
