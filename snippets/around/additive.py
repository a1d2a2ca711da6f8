"""Additive scores, the general bilinear score, and what each costs.

Concatenating query and key, or projecting each and adding, is the same:

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

A query and its keys scaled up, with scores of each sort. The largest additive score possible is the
sum of the sizes of the entries of v:

--8<-- [start:example-large]
>>> from snippets.attention.formula import scores as dot_scores
>>> W_Q, W_K = W_1, W_2  # (d_q, d_k), (d_k, d_k)
>>> for factor in (1, 10, 100):
...     added = additive_scores(factor * query, factor * key, W_1, W_2, v).abs().max()
...     dotted = dot_scores(factor * query @ W_Q, factor * key @ W_K).abs().max()
...     print(f"factor {factor:3}   additive {added:5.2f}   scaled dot product {dotted:9.2f}")
factor   1   additive  6.15   scaled dot product     12.63
factor  10   additive  6.69   scaled dot product   1263.25
factor 100   additive  6.05   scaled dot product 126325.16
>>> f"{v.abs().sum():.2f}"
'7.71'

--8<-- [end:example-large]
"""

import torch
from torch import Tensor

from snippets.shapes import check_shapes


# --8<-- [start:additive]
def additive_scores(
    query: Tensor, key: Tensor, W_1: Tensor, W_2: Tensor, v: Tensor
) -> Tensor:
    """v . tanh(q W_1 + k W_2) for every query and key (Bahdanau et al. 2015)."""
    check_shapes(
        "query: n d_q, key: m d_k, W_1: d_q r, W_2: d_k r, v: r",
        query,
        key,
        W_1,
        W_2,
        v,
    )
    added = (query @ W_1).unsqueeze(-2) + (key @ W_2).unsqueeze(
        -3
    )  # (..., n, m, r)
    return torch.tanh(added) @ v  # (..., n, m)


# --8<-- [end:additive]


# --8<-- [start:concat]
def concat_scores(query: Tensor, key: Tensor, W: Tensor, v: Tensor) -> Tensor:
    """The same with query and key side by side, and one matrix of d_q + d_k rows."""
    check_shapes("query: n d_q, key: m d_k, W: d_qk r, v: r", query, key, W, v)
    if W.shape[-2] != query.shape[-1] + key.shape[-1]:
        raise ValueError(
            f"W has {W.shape[-2]} rows; "
            f"expected {query.shape[-1]} + {key.shape[-1]}, those of query and key"
        )
    pairs = *query.shape[:-1], key.shape[-2], -1
    query, key = (
        query.unsqueeze(-2).expand(pairs),
        key.unsqueeze(-3).expand(pairs),
    )
    return torch.tanh(torch.cat([query, key], dim=-1) @ W) @ v  # (..., n, m)


# --8<-- [end:concat]


# --8<-- [start:plain]
def plain_weights(
    q: Tensor, K: Tensor, W_1: Tensor, W_2: Tensor, v: Tensor
) -> Tensor:
    """Weights from additive scores without tanh: q does not matter at all."""
    check_shapes(
        "q: d_q, K: m d_k, W_1: d_q r, W_2: d_k r, v: r", q, K, W_1, W_2, v
    )
    scores = (q @ W_1).unsqueeze(-2) @ v + K @ W_2 @ v  # (..., m)
    return torch.softmax(scores, dim=-1)


# --8<-- [end:plain]


# --8<-- [start:general]
def general_scores(query: Tensor, key: Tensor, W: Tensor) -> Tensor:
    """q W k for every query and key (Luong et al. 2015)."""
    check_shapes("query: n d_q, key: m d_k, W: d_q d_k", query, key, W)
    return query @ W @ key.transpose(-2, -1)  # (..., n, m)


# --8<-- [end:general]
