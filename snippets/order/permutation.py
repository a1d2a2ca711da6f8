"""A layer of self-attention, and what it does with its tokens in another order.

Reorder the tokens, and the outputs are reordered with them, whatever the number of heads:

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

The outputs themselves are not the same, but their mean is, and so is what a query of its own gets:

--8<-- [start:example-pooled]
>>> from snippets.order.permutation import output
>>> torch.allclose(reordered, Y), torch.allclose(reordered.mean(0), Y.mean(0))
(False, True)
>>> Q = torch.randn(3, 4, generator=generator, dtype=torch.float64)  # (heads, d)
>>> torch.allclose(output(Q, reorder(Pi, X), M), output(Q, X, M))
True

--8<-- [end:example-pooled]

Another orthogonal matrix than a permutation is not let through:

--8<-- [start:example-rotation]
>>> flip = torch.diag(torch.tensor([1.0, -1, 1, 1, 1, 1], dtype=torch.float64))
>>> torch.allclose(merged_self_attention(reorder(flip, X), A, M), reorder(flip, Y))
False

--8<-- [end:example-rotation]

With a causal mask the order matters. Two tokens, 0 and 1, and then the other way round:

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
    """The tokens in another order: each row of Pi has a single 1, and says who
    comes here."""
    return Pi @ X


def sequence(
    first: Float[Tensor, "*batch d"],
    second: Float[Tensor, "*batch d"],
    others: Float[Tensor, "*batch m d"],
) -> Float[Tensor, "*batch m+2 d"]:
    """Two tokens and then others, as one tensor."""
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
    """Self-attention, each head given by two merged matrices.

    W_Q W_K^T is in A, and W_V W_O in M.
    """
    X = X.unsqueeze(-3)  # (*batch, 1, n, d), an axis for the heads
    weights = torch.softmax(X @ A @ X.mT, dim=-1)  # (*batch, heads, n, n)
    return (weights @ X @ M).sum(-3)


def output(
    Q: Float[Tensor, "*#batch heads d"],
    X: Float[Tensor, "*#batch n d"],
    M: Float[Tensor, "*#batch heads d d"],
) -> Float[Tensor, "*batch d"]:
    """What a single query gets, if in each head it is a row of Q."""
    mean = torch.softmax(Q @ X.mT, dim=-1) @ X  # (*batch, heads, d)
    return (mean.unsqueeze(-2) @ M).squeeze(-2).sum(-2)


# --8<-- [end:layer]
