"""Additive scores, the general bilinear score, and what each costs.

Concatenating query and key gives the same scores as adding their projections:

--8<-- [start:example-concat]
>>> import torch
>>> from snippets.around.additive import additive_scores, concat_scores
>>> generator = torch.Generator().manual_seed(0)
>>> draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
>>> query, key = draw(2, 3, 4), draw(2, 5, 6)  # (batch, n, d_q), (batch, m, d_k)
>>> W_1, W_2, v = draw(4, 8), draw(6, 8), draw(8)
>>> scores = additive_scores(query, key, W_1, W_2, v)
>>> tuple(scores.shape), torch.allclose(scores, concat_scores(query, key, torch.cat([W_1, W_2]), v))
((2, 3, 5), True)

--8<-- [end:example-concat]

Without tanh, all queries get the same weights:

--8<-- [start:example-plain]
>>> from snippets.around.additive import plain_weights
>>> q, other, K = draw(4), draw(4), draw(5, 6)
>>> torch.allclose(plain_weights(q, K, W_1, W_2, v), plain_weights(other, K, W_1, W_2, v))
True
>>> first, second = additive_scores(torch.stack([q, other]), K, W_1, W_2, v).softmax(-1)
>>> torch.allclose(first, second)
False

--8<-- [end:example-plain]

A query that is scaled up, with additive scores and with dot products:

--8<-- [start:example-large]
>>> from snippets.attention import formula
>>> W_Q, W_K = W_1, W_2  # (d_q, d_k), (d_k, d_k)
>>> print("the largest of five weights, on average")
the largest of five weights, on average
>>> for factor in (1, 10, 100):
...     q = factor * query
...     added = additive_scores(q, key, W_1, W_2, v).softmax(-1).amax(-1)
...     dotted = formula.scores(q @ W_Q, key @ W_K).softmax(-1).amax(-1)
...     print(f"factor {factor:3}   additive {added.mean():.2f}   dot product {dotted.mean():.2f}")
factor   1   additive 0.66   dot product 0.95
factor  10   additive 0.28   dot product 1.00
factor 100   additive 0.20   dot product 1.00


--8<-- [end:example-large]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import upcast


# --8<-- [start:additive]
def additive_scores(
    query: Float[Tensor, "*#batch n d_q"],
    key: Float[Tensor, "*#batch m d_k"],
    W_1: Float[Tensor, "d_q r"],
    W_2: Float[Tensor, "d_k r"],
    v: Float[Tensor, " r"],
) -> Float[Tensor, "*batch n m"]:
    """v . tanh(q W_1 + k W_2) for every pair: Bahdanau, Cho and Bengio (2015)."""
    added = (query @ W_1).unsqueeze(-2) + (key @ W_2).unsqueeze(-3)
    return torch.tanh(added) @ v  # (*batch, n, m, r) (r,)


# --8<-- [end:additive]


# --8<-- [start:concat]
def concat_scores(
    query: Float[Tensor, "*#batch n d_q"],
    key: Float[Tensor, "*#batch m d_k"],
    W: Float[Tensor, "d_q+d_k r"],
    v: Float[Tensor, " r"],
) -> Float[Tensor, "*batch n m"]:
    """The same with query and key side by side, and one matrix for both."""
    query, key = query.unsqueeze(-2), key.unsqueeze(-3)
    pairs = torch.broadcast_shapes(query.shape[:-1], key.shape[:-1])
    both = torch.cat([query.expand(*pairs, -1), key.expand(*pairs, -1)], -1)
    return torch.tanh(both @ W) @ v


# --8<-- [end:concat]


# --8<-- [start:plain]
def plain_weights(
    q: Float[Tensor, "*#batch d_q"],
    K: Float[Tensor, "*#batch m d_k"],
    W_1: Float[Tensor, "d_q r"],
    W_2: Float[Tensor, "d_k r"],
    v: Float[Tensor, " r"],
) -> Float[Tensor, "*batch m"]:
    """Weights from additive scores without tanh; they do not depend on q."""
    scores = (q @ W_1).unsqueeze(-2) @ v + K @ W_2 @ v
    return torch.softmax(scores, dim=-1)


# --8<-- [end:plain]


# --8<-- [start:general]
def general_scores(
    query: Float[Tensor, "*#batch n d_q"],
    key: Float[Tensor, "*#batch m d_k"],
    W: Float[Tensor, "d_q d_k"],
) -> Float[Tensor, "*batch n m"]:
    """q W k for every query and key: Luong, Pham and Manning (2015)."""
    return (upcast(query) @ upcast(W) @ upcast(key).mT).to(query.dtype)


# --8<-- [end:general]
