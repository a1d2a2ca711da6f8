"""A layer of self-attention, and its outputs when its tokens are reordered.

If the tokens are reordered, so are the outputs, for any number of heads:

--8<-- [start:example-layer]
>>> import torch
>>> from snippets.order.permutation import merged_self_attention, reorder
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(6, 4, generator=generator, dtype=torch.float64)  # (n, d)
>>> # (heads, d, d) each
>>> A, M = torch.randn(2, 3, 4, 4, generator=generator, dtype=torch.float64)
>>> # one row for each new place
>>> Pi = torch.eye(6, dtype=torch.float64)[[2, 0, 1, 5, 3, 4]]
>>> Y = merged_self_attention(X, A, M)
>>> reordered = merged_self_attention(reorder(Pi, X), A, M)
>>> torch.allclose(reordered, reorder(Pi, Y))
True

--8<-- [end:example-layer]

The outputs change, but their mean does not, nor does the output of an extra query:

--8<-- [start:example-pooled]
>>> from snippets.order.permutation import output_of_one_query
>>> torch.allclose(reordered, Y), torch.allclose(reordered.mean(0), Y.mean(0))
(False, True)
>>> Q = torch.randn(3, 4, generator=generator, dtype=torch.float64)  # (heads, d)
>>> pooled = output_of_one_query(Q, X, M)
>>> torch.allclose(output_of_one_query(Q, reorder(Pi, X), M), pooled)
True

--8<-- [end:example-pooled]

It does not work for an orthogonal matrix that is no permutation:

--8<-- [start:example-rotation]
>>> flip = torch.diag(torch.tensor([1.0, -1, 1, 1, 1, 1], dtype=torch.float64))
>>> torch.allclose(merged_self_attention(reorder(flip, X), A, M), reorder(flip, Y))
False

--8<-- [end:example-rotation]

With a causal mask the order matters. The tokens 0 and 1, in both orders:

--8<-- [start:example-causal]
>>> from snippets.attention.formula import attention
>>> x = torch.tensor([[0.0], [1.0]])
>>> for tokens in (x, x.flip(0)):
...     output = attention(tokens, tokens, tokens, is_causal=True)
...     print([round(value, 4) for value in output.flatten().tolist()])
[0.0, 0.7311]
[1.0, 0.5]

--8<-- [end:example-causal]
"""

import torch
from jaxtyping import Float
from torch import Tensor


# --8<-- [start:reorder]
def reorder(
    Pi: Float[Tensor, "*#batch n n"], X: Float[Tensor, "*#batch n d"]
) -> Float[Tensor, "*batch n d"]:
    """The tokens in another order: the 1 in each row of Pi selects the token
    that comes there."""
    return Pi @ X


def sequence(
    first: Float[Tensor, "*batch d"],
    second: Float[Tensor, "*batch d"],
    others: Float[Tensor, "*batch m d"],
) -> Float[Tensor, "*batch m+2 d"]:
    """Two tokens, followed by others, as one tensor."""
    return torch.cat(
        [first.unsqueeze(-2), second.unsqueeze(-2), others], dim=-2
    )


# --8<-- [end:reorder]


# --8<-- [start:layer]
def merged_self_attention(
    X: Float[Tensor, "*#batch n d"],
    A: Float[Tensor, "*#batch heads d d"],
    M: Float[Tensor, "*#batch heads d d"],
) -> Float[Tensor, "*batch n d"]:
    """Self-attention with two merged matrices for each head.

    A holds W_Q W_K^T, and M holds W_V W_O.
    """
    X = X.unsqueeze(-3)  # (*batch, 1, n, d), an axis for the heads
    weights = torch.softmax(X @ A @ X.mT, dim=-1)  # (*batch, heads, n, n)
    return (weights @ X @ M).sum(-3)


def output_of_one_query(
    Q: Float[Tensor, "*#batch heads d"],
    X: Float[Tensor, "*#batch n d"],
    M: Float[Tensor, "*#batch heads d d"],
) -> Float[Tensor, "*batch d"]:
    """The output of a single query, which is row g of Q in head g."""
    mean = torch.softmax(Q @ X.mT, dim=-1) @ X  # (*batch, heads, d)
    return (mean.unsqueeze(-2) @ M).squeeze(-2).sum(-2)


# --8<-- [end:layer]
