"""A layer of self-attention, and what it does with its tokens in another order.

Reorder the tokens, and the outputs are reordered with them, whatever the number of heads:

--8<-- [start:example-layer]
>>> import torch
>>> from snippets.order.permutation import layer, reorder
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(6, 4, generator=generator, dtype=torch.float64)  # (n, d)
>>> A, M = torch.randn(2, 3, 4, 4, generator=generator, dtype=torch.float64)  # (heads, d, d)
>>> Pi = torch.eye(6, dtype=torch.float64)[[2, 0, 1, 5, 3, 4]]  # one row for each new place
>>> torch.allclose(layer(reorder(Pi, X), A, M), reorder(Pi, layer(X, A, M)))
True

--8<-- [end:example-layer]

The outputs themselves are not the same, but their mean is, and so is what a query of its own gets:

--8<-- [start:example-pooled]
>>> from snippets.order.permutation import output
>>> Y, reordered = layer(X, A, M), layer(reorder(Pi, X), A, M)
>>> torch.allclose(reordered, Y), torch.allclose(reordered.mean(0), Y.mean(0))
(False, True)
>>> Q = torch.randn(3, 4, generator=generator, dtype=torch.float64)  # (heads, d)
>>> torch.allclose(output(Q, reorder(Pi, X), M), output(Q, X, M))
True

--8<-- [end:example-pooled]

Another orthogonal matrix than a permutation is not let through:

--8<-- [start:example-rotation]
>>> flip = torch.diag(torch.tensor([1.0, -1, 1, 1, 1, 1], dtype=torch.float64))
>>> torch.allclose(layer(reorder(flip, X), A, M), reorder(flip, layer(X, A, M)))
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
from torch import Tensor

from snippets.shapes import check_shapes


# --8<-- [start:reorder]
def reorder(Pi: Tensor, X: Tensor) -> Tensor:
    """The tokens in another order: each row of Pi has a single 1, which says who comes here."""
    check_shapes("Pi: n n, X: n d", Pi, X)
    return Pi @ X  # (..., n, n) (..., n, d) -> (..., n, d)


def sequence(first: Tensor, second: Tensor, others: Tensor) -> Tensor:
    """Two tokens and then others, as one tensor."""
    check_shapes("first: d, second: d, others: m d", first, second, others)
    return torch.cat(
        [first.unsqueeze(-2), second.unsqueeze(-2), others], dim=-2
    )  # (..., m + 2, d)


# --8<-- [end:reorder]


# --8<-- [start:layer]
def layer(X: Tensor, A: Tensor, M: Tensor) -> Tensor:
    """Self-attention, each head given by its two merged matrices: W_Q W_K^T, and W_V W_O."""
    check_shapes("X: n d, A: heads d d, M: heads d d", X, A, M)
    X = X.unsqueeze(-3)  # (..., 1, n, d), an axis for the heads
    weights = torch.softmax(
        X @ A @ X.transpose(-2, -1), dim=-1
    )  # (..., heads, n, n)
    return (weights @ X @ M).sum(-3)  # (..., heads, n, d) -> (..., n, d)


def output(Q: Tensor, X: Tensor, M: Tensor) -> Tensor:
    """What a single query gets, if in each head it is a row of Q."""
    check_shapes("Q: heads d, X: n d, M: heads d d", Q, X, M)
    mean = torch.softmax(Q @ X.transpose(-2, -1), dim=-1) @ X  # (..., heads, d)
    return (
        (mean.unsqueeze(-2) @ M).squeeze(-2).sum(-2)
    )  # (..., heads, d) -> (..., d)


# --8<-- [end:layer]
