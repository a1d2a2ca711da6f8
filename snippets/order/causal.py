"""Causal attention: its gradients, a cache of keys and values, and the size of a cache.

A token that the query may not look at does not affect the output:

--8<-- [start:example-gradients]
>>> import torch
>>> from snippets.order.causal import token_gradients
>>> generator = torch.Generator().manual_seed(0)
>>> query = torch.randn(3, generator=generator)
>>> X = torch.randn(5, 3, generator=generator)
>>> keep = torch.tensor([1.0, 1.0, 1.0, 0.0, 0.0])  # the first three
>>> gradients = token_gradients(query, X, keep)  # (d, n, d)
>>> largest = gradients.abs().amax((0, 2))  # for each token
>>> [round(entry, 4) for entry in largest.tolist()]
[1.0424, 0.345, 0.013, 0.0, 0.0]
>>> from snippets.attention.formula import attention
>>> def causal(tokens):
...     return attention(tokens, tokens, tokens, is_causal=True)
>>> by_all = torch.func.jacrev(causal)(X)  # (n, d, n, d)
>>> (by_all != 0).any(3).any(1).int()  # does an output (row) depend on a token?
tensor([[1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1]], dtype=torch.int32)

--8<-- [end:example-gradients]

Each output can be computed when its token arrives, from the stored keys and values:

--8<-- [start:example-cache]
>>> import torch
>>> from snippets.attention.formula import attention
>>> from snippets.order.causal import decode_step
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(6, 8, generator=generator, dtype=torch.float64)  # (n, d)
>>> W_Q, W_K, W_V = torch.randn(3, 8, 4, generator=generator, dtype=torch.float64)
>>> whole = attention(X @ W_Q, X @ W_K, X @ W_V, is_causal=True)
>>> cache = None
>>> for i in range(6):
...     token = X[i:i + 1]
...     output, cache = decode_step(token, W_Q, W_K, W_V, cache=cache)
...     print(tuple(cache.key.shape), torch.allclose(output[0], whole[i]))
(1, 4) True
(2, 4) True
(3, 4) True
(4, 4) True
(5, 4) True
(6, 4) True

--8<-- [end:example-cache]

Dropped keys contribute in proportion to their share of the weight:

--8<-- [start:example-window]
>>> from snippets.order.causal import window_outputs
>>> scores = torch.tensor([[2.0, 1.0, 0.0]]).double()
>>> value = torch.tensor([[1.0], [2.0], [30.0]]).double()
>>> kept, rest, share = window_outputs(scores, value, keep=2)
>>> whole = torch.softmax(scores, -1) @ value
>>> [round(x.item(), 4) for x in (whole, kept, rest, share)]
[3.8556, 1.2689, 30.0, 0.09]
>>> torch.allclose(whole, (1 - share) * kept + share * rest)
True

--8<-- [end:example-window]

With a marker at the start, the mean over all tokens so far reveals how many there are:

--8<-- [start:example-marker]
>>> from snippets.order.causal import causal_pairs, marker_share
>>> [round(marker_share(n), 4) for n in (1, 2, 3, 4, 100)]
[1.0, 0.5, 0.3333, 0.25, 0.01]
>>> [causal_pairs(n) for n in (1, 2, 3, 4, 100)]
[1, 3, 6, 10, 5050]

--8<-- [end:example-marker]

A cache of 32 layers with 32 heads of width 128, for 4,096 tokens at two bytes a number, in GiB; and
with 8 heads of keys and values that the query heads share:

--8<-- [start:example-size]
>>> from snippets.order.causal import cache_bytes
>>> [cache_bytes(4096, layers=32, num_heads=heads, d_k=128, itemsize=2) / 2**30
...  for heads in (32, 8)]
[2.0, 0.5]

--8<-- [end:example-size]

Six query heads share two heads of keys and values: the first three the first, and so on.

>>> query = torch.randn(6, 5, 8, generator=generator)  # (heads, n, d_k)
>>> key, value = torch.randn(2, 2, 5, 8, generator=generator)  # (kv heads, n, d_k)
>>> shared = attention(query, key, value, is_causal=True, enable_gqa=True)
>>> on_the_spot = (x.repeat_interleave(3, dim=0) for x in (key, value))
>>> torch.allclose(shared, attention(query, *on_the_spot, is_causal=True))
True
>>> as_a_whole = (x.repeat(3, 1, 1) for x in (key, value))
>>> torch.allclose(shared, attention(query, *as_a_whole, is_causal=True))
False
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention


# --8<-- [start:gradients]
def kept_weights(
    query: Float[Tensor, " d"],
    X: Float[Tensor, "n d"],
    keep: Float[Tensor, " n"],
) -> Float[Tensor, " n"]:
    """The exponential of each score times a keep factor, divided by their sum.

    The factor is 0 where the query may not look. At least one is not 0.
    """
    scores = (X @ query).masked_fill(keep == 0, -torch.inf)
    # A shift changes no weight, and the largest exponential is 1.
    kept = keep * torch.exp(scores - scores.amax().detach())
    return kept / kept.sum()


def kept_mean(
    query: Float[Tensor, " d"],
    X: Float[Tensor, "n d"],
    keep: Float[Tensor, " n"],
) -> Float[Tensor, " d"]:
    """The mean of the tokens, with these weights."""
    return kept_weights(query, X, keep) @ X


def token_gradients(
    query: Float[Tensor, " d"],
    X: Float[Tensor, "n d"],
    keep: Float[Tensor, " n"],
) -> Float[Tensor, "d n d"]:
    """The derivative of each entry of the mean by each entry of each token."""
    return torch.func.jacrev(kept_mean, argnums=1)(query, X, keep)


# --8<-- [end:gradients]


# --8<-- [start:cache]
class Cache(NamedTuple):
    """The keys and values of the tokens so far."""

    key: Float[Tensor, "*batch i d_k"]
    value: Float[Tensor, "*batch i d_v"]


torch.serialization.add_safe_globals([Cache])  # torch.load accepts it


def decode_step(
    x: Float[Tensor, "*batch 1 d"],
    W_Q: Float[Tensor, "d d_k"],
    W_K: Float[Tensor, "d d_k"],
    W_V: Float[Tensor, "d d_v"],
    *,
    cache: Cache | None = None,
) -> tuple[Float[Tensor, "*batch 1 d_v"], Cache]:
    """The output for one more token, and the cache with its key and value.

    Raises ValueError for more tokens than one: they would see each other.
    Raises RuntimeError for a cache of other widths, or of another batch.
    """
    if x.shape[-2] != 1:
        raise ValueError(
            f"x {tuple(x.shape)} holds {x.shape[-2]} tokens; expected x (..., 1, d)"
        )
    new = Cache(x @ W_K, x @ W_V)
    if cache is not None:
        new = Cache(*(torch.cat(pair, dim=-2) for pair in zip(cache, new)))
    return attention(x @ W_Q, new.key, new.value), new


# --8<-- [end:cache]


# --8<-- [start:window]
def window_outputs(
    scores: Float[Tensor, "*#batch n m"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    keep: int,
) -> tuple[
    Float[Tensor, "*batch n d_v"],
    Float[Tensor, "*batch n d_v"],
    Float[Tensor, "*_ n 1"],
]:
    """The output from the first `keep` keys alone, the output from the others
    alone, and the share of the others.

    Raises ValueError if one of the two groups is empty.
    """
    if not 0 < keep < scores.shape[-1]:
        raise ValueError(
            f"keep is {keep}; expected at least 1 and less than m, {scores.shape[-1]}"
        )
    first = torch.softmax(scores[..., :keep], dim=-1) @ value[..., :keep, :]
    others = torch.softmax(scores[..., keep:], dim=-1) @ value[..., keep:, :]
    share = torch.softmax(scores, dim=-1)[..., keep:].sum(-1, keepdim=True)
    return first, others, share


# --8<-- [end:window]


# --8<-- [start:counts]
def causal_pairs(n: int) -> int:
    """The number of entries that a causal mask keeps, counted."""
    return torch.ones(n, n, dtype=torch.bool).tril().sum().item()


def marker_share(n: int) -> float:
    """The output at token n if all scores are equal, the first value is 1 and the
    others are 0."""
    same = torch.zeros(n, 1, dtype=torch.float64)
    marker = torch.eye(n, 1, dtype=torch.float64)
    return attention(same, same, marker, is_causal=True)[-1].item()


# --8<-- [end:counts]


# --8<-- [start:size]
def cache_bytes(
    n: int, layers: int, num_heads: int, d_k: int, itemsize: int
) -> int:
    """The bytes of a key and a value, of d_k numbers each, for each token, layer
    and head."""
    return 2 * layers * num_heads * d_k * n * itemsize


# --8<-- [end:size]
