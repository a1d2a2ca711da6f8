"""Self-attention without parameters, and what queries, keys and values add.

Does a token attend most to itself? The second token is twice the first, and both attend to it:

--8<-- [start:example-self]
>>> import torch
>>> from snippets.attention.basic import basic_attention
>>> from snippets.scaling.saturation import attention_weights
>>> X = torch.tensor([[1.0, 0.0], [2.0, 0.0]], dtype=torch.float64)
>>> weights = attention_weights(X, X, scale=1.0)
>>> weights.round(decimals=2).tolist()
[[0.27, 0.73], [0.12, 0.88]]
>>> torch.equal(X @ X.mT, (X @ X.mT).mT), torch.equal(weights, weights.mT)
(True, False)

--8<-- [end:example-self]

How fast does the first of two tokens move its own output? The first is at zero, and the second goes further and further:

--8<-- [start:example-slope]
>>> from snippets.attention.basic import own_slope
>>> [own_slope(torch.tensor(0.0), torch.tensor(far)).item() for far in (0.0, 1.0, 10.0, 100.0)]
[0.5, 0.75, 25.5, 2500.5]

--8<-- [end:example-slope]

Weights on the right of rows, or on the left of columns:

--8<-- [start:example-conventions]
>>> from snippets.attention.basic import project_columns, project_rows
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(5, 4, generator=generator, dtype=torch.float64)  # n = 5 tokens, d = 4
>>> W = torch.randn(4, 3, generator=generator, dtype=torch.float64)  # d_k = 3
>>> torch.allclose(project_rows(X, W), project_columns(W.mT, X))
True
>>> linear = torch.nn.Linear(4, 3, bias=False)
>>> tuple(linear.weight.shape)  # PyTorch keeps the matrix of the left-hand convention
(3, 4)

--8<-- [end:example-conventions]

Averaging the tokens where it should be the values:

--8<-- [start:example-values]
>>> from snippets.attention.basic import average_tokens, average_values
>>> W_Q, W_K, W_V = torch.randn(3, 4, 4, generator=generator, dtype=torch.float64)
>>> right, slip = average_values(X, W_Q, W_K, W_V), average_tokens(X, W_Q, W_K)
>>> torch.allclose(slip, right), torch.allclose(slip @ W_V, right)
(False, True)
>>> round((slip - right).abs().max().item(), 1)
3.3

--8<-- [end:example-values]

The slip goes unnoticed where shapes agree, and fails where they do not; and W_V gets no gradient:

--8<-- [start:example-gradient]
>>> W_V = W_V.requires_grad_()
>>> average_values(X, W_Q, W_K, W_V).sum().backward()
>>> bool(W_V.grad.abs().sum() > 0)
True
>>> average_tokens(X, W_Q, W_K).requires_grad
False

--8<-- [end:example-gradient]

Swapping queries and keys:

--8<-- [start:example-swap]
>>> from snippets.scaling.saturation import attention
>>> query, key, value = (torch.tensor(x)[:, None] for x in ([1.0, 1.0], [1.0, 0.0], [1.0, 0.0]))
>>> outputs = attention(query, key, value), attention(key, query, value)
>>> [[round(number, 4) for number in output.flatten().tolist()] for output in outputs]
[[0.7311, 0.7311], [0.5, 0.5]]

--8<-- [end:example-swap]
"""

import torch
from torch import Tensor

from snippets.scaling.saturation import attention, attention_weights
from snippets.shapes import check_shapes


# --8<-- [start:basic]
def basic_attention(X: Tensor) -> Tensor:
    """Each token becomes a weighted mean of all tokens, by their dot products with it."""
    return attention(X, X, X, scale=1.0)  # (..., n, d) -> (..., n, d)


# --8<-- [end:basic]


# --8<-- [start:slope]
def own_slope(first: Tensor, second: Tensor) -> Tensor:
    """Of two tokens with one feature, how fast the first output changes with the first token."""

    def output(x: Tensor) -> Tensor:
        return basic_attention(torch.stack([x, second])[:, None])[0, 0]  # (2, 1), then one number

    return torch.func.grad(output)(first)


# --8<-- [end:slope]


# --8<-- [start:conventions]
def project_rows(X: Tensor, W: Tensor) -> Tensor:
    """Tokens are rows, and the matrix stands on their right."""
    check_shapes("X: n d, W: d d_k", X, W)
    return X @ W  # (..., n, d) (..., d, d_k) -> (..., n, d_k)


def project_columns(W: Tensor, X: Tensor) -> Tensor:
    """Each token is a column, and the matrix stands on its left."""
    check_shapes("W: d_k d, X: n d", W, X)
    columns = [
        W @ x.unsqueeze(-1) for x in X.unbind(-2)
    ]  # (..., d_k, d) (..., d, 1) -> (..., d_k, 1)
    return torch.cat(columns, dim=-1).mT  # (..., d_k, n), then (..., n, d_k)


# --8<-- [end:conventions]


# --8<-- [start:values]
def average_values(X: Tensor, W_Q: Tensor, W_K: Tensor, W_V: Tensor) -> Tensor:
    """Queries and keys decide the weights, and the weights mix the values."""
    check_shapes("X: n d, W_Q: d d_k, W_K: d d_k, W_V: d d_v", X, W_Q, W_K, W_V)
    return attention_weights(X @ W_Q, X @ W_K, scale=1.0) @ (X @ W_V)  # (..., n, d_v)


def average_tokens(X: Tensor, W_Q: Tensor, W_K: Tensor) -> Tensor:
    """The slip: the weights mix the tokens, and the values are forgotten."""
    check_shapes("X: n d, W_Q: d d_k, W_K: d d_k", X, W_Q, W_K)
    return attention_weights(X @ W_Q, X @ W_K, scale=1.0) @ X  # (..., n, d)


# --8<-- [end:values]
