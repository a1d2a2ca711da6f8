"""Self-attention without parameters, and what queries, keys and values add.

Does a token attend most to itself? The second token is twice the first, and both attend to it:

--8<-- [start:example-self]
>>> import torch
>>> from snippets.attention.basic import basic_attention
>>> from snippets.attention.formula import attention_weights
>>> X = torch.tensor([[1.0, 0.0], [2.0, 0.0]], dtype=torch.float64)
>>> weights = attention_weights(X, X, scale=1.0)
>>> weights.round(decimals=2).tolist()
[[0.27, 0.73], [0.12, 0.88]]
>>> torch.equal(X @ X.mT, (X @ X.mT).mT), torch.equal(weights, weights.mT)
(True, False)

--8<-- [end:example-self]

The derivative of the first output with respect to its own token. The first token is zero, and the second grows:

--8<-- [start:example-gradient-own]
>>> from snippets.attention.basic import own_gradient
>>> zero = torch.tensor(0.0)
>>> [own_gradient(zero, torch.tensor(far)).item() for far in (0.0, 1.0, 10.0, 100.0)]
[0.5, 0.75, 25.5, 2500.5]

--8<-- [end:example-gradient-own]

A matrix on the right of rows, or on the left of columns:

--8<-- [start:example-conventions]
>>> from snippets.attention.basic import project_columns, project_rows
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(5, 4, generator=generator, dtype=torch.float64)  # (n, d)
>>> W = torch.randn(4, 3, generator=generator, dtype=torch.float64)  # (d, d_k)
>>> torch.allclose(project_rows(X, W), project_columns(W.mT, X))
True
>>> linear = torch.nn.Linear(4, 3, bias=False)
>>> tuple(linear.weight.shape)  # PyTorch stores the matrix for columns
(3, 4)

--8<-- [end:example-conventions]

Averaging the tokens instead of the values:

--8<-- [start:example-values]
>>> from snippets.attention.basic import average_values, average_without_values
>>> W_Q, W_K, W_V = torch.randn(3, 4, 4, generator=generator, dtype=torch.float64)
>>> right = average_values(X, W_Q, W_K, W_V)
>>> slip = average_without_values(X, W_Q, W_K)
>>> torch.allclose(slip, right), torch.allclose(slip @ W_V, right)
(False, True)
>>> round((slip - right).abs().max().item(), 1)
3.3

--8<-- [end:example-values]

If the values are forgotten, W_V gets no gradient:

--8<-- [start:example-gradient]
>>> W_V = W_V.requires_grad_()
>>> average_values(X, W_Q, W_K, W_V).sum().backward()
>>> bool(W_V.grad.abs().sum() > 0)
True
>>> average_without_values(X, W_Q, W_K).requires_grad
False

--8<-- [end:example-gradient]

Parameters without a gradient, in a layer whose output matrix starts at zero. The middle of the bias belongs to the keys:

--8<-- [start:example-zero]
>>> layer = torch.nn.MultiheadAttention(
...     8, num_heads=2, batch_first=True, dtype=torch.float64)
>>> _ = torch.nn.init.zeros_(layer.out_proj.weight)
>>> optimiser = torch.optim.SGD(layer.parameters(), lr=0.1)
>>> x = torch.randn(3, 5, 8, generator=generator, dtype=torch.float64)
>>> for step in (1, 2):
...     optimiser.zero_grad()
...     (layer(x, x, x)[0] - 1).square().sum().backward()
...     optimiser.step()
...     bias_q, bias_k, bias_v = layer.in_proj_bias.grad.chunk(3)
...     gradients = {"W_Q, W_K, W_V": layer.in_proj_weight.grad,
...                  "bias of queries": bias_q, "bias of keys": bias_k,
...                  "bias of values": bias_v}
...     for name, gradient in gradients.items():
...         if gradient.abs().max() < 1e-8:
...             print(f"step {step}: zero gradient of {name}")
step 1: zero gradient of W_Q, W_K, W_V
step 1: zero gradient of bias of queries
step 1: zero gradient of bias of keys
step 1: zero gradient of bias of values
step 2: zero gradient of bias of keys

--8<-- [end:example-zero]

Exchanging queries and keys:

--8<-- [start:example-swap]
>>> from snippets.attention.formula import attention
>>> query = torch.tensor([[1.0], [1.0]])
>>> key = value = torch.tensor([[1.0], [0.0]])
>>> outputs = attention(query, key, value), attention(key, query, value)
>>> [[round(x, 4) for x in output.flatten().tolist()] for output in outputs]
[[0.7311, 0.7311], [0.5, 0.5]]

--8<-- [end:example-swap]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention, attention_weights


# --8<-- [start:basic]
def basic_attention(
    X: Float[Tensor, "*batch n d"],
) -> Float[Tensor, "*batch n d"]:
    """Each token becomes a mean of all tokens, weighted by their dot products."""
    return attention(X, X, X, scale=1.0)


# --8<-- [end:basic]


# --8<-- [start:own-gradient]
def own_gradient(
    first: Float[Tensor, ""], second: Float[Tensor, ""]
) -> Float[Tensor, ""]:
    """The derivative of the first output with respect to the first of two tokens,
    which have one feature."""

    def output(x: Tensor) -> Tensor:
        return basic_attention(torch.stack([x, second])[:, None])[0, 0]

    return torch.func.grad(output)(first)


# --8<-- [end:own-gradient]


# --8<-- [start:conventions]
def project_rows(
    X: Float[Tensor, "*#batch n d"], W: Float[Tensor, "*#batch d d_k"]
) -> Float[Tensor, "*batch n d_k"]:
    """Tokens are rows, and the matrix is on their right."""
    return X @ W


def project_columns(
    W: Float[Tensor, "*#batch d_k d"], X: Float[Tensor, "*#batch n d"]
) -> Float[Tensor, "*batch n d_k"]:
    """Each token is a column, and the matrix is on its left."""
    return (W @ X.mT).mT


# --8<-- [end:conventions]


# --8<-- [start:values]
def average_values(
    X: Float[Tensor, "*#batch n d"],
    W_Q: Float[Tensor, "*#batch d d_k"],
    W_K: Float[Tensor, "*#batch d d_k"],
    W_V: Float[Tensor, "*#batch d d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """Queries and keys determine the weights, and the weights average the values."""
    return attention_weights(X @ W_Q, X @ W_K, scale=1.0) @ (X @ W_V)


# --8<-- [end:values]


# --8<-- [start:without-values]
def average_without_values(
    X: Float[Tensor, "*#batch n d"],
    W_Q: Float[Tensor, "*#batch d d_k"],
    W_K: Float[Tensor, "*#batch d d_k"],
) -> Float[Tensor, "*batch n d"]:
    """Wrong: the weights average the tokens instead of the values."""
    return attention_weights(X @ W_Q, X @ W_K, scale=1.0) @ X


# --8<-- [end:without-values]
