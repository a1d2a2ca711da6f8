"""Multi-head latent attention, with keys and values made or absorbed.

Two forms of one head. The second makes no keys and no values:

--8<-- [start:example-forms]
>>> import torch
>>> from snippets.inference.latent import absorbed_head, latent_head
>>> generator = torch.Generator().manual_seed(0)
>>> def draw(*shape):
...     return torch.randn(shape, generator=generator, dtype=torch.float64) / 4
>>> d, d_c, d_k = 32, 12, 8
>>> x = draw(2, 6, d)  # (batch, n, d)
>>> head = draw(d, d_k), draw(d, d_c), draw(d_c, d_k), draw(d_c, d_k), draw(d_k, d)
>>> expanded = latent_head(x, x, *head)
>>> absorbed = absorbed_head(x, x, *head)
>>> torch.allclose(expanded, absorbed)
True

--8<-- [end:example-forms]

What DeepSeek-V2 caches of a token in each layer, and what keys and values of all heads would take:

--8<-- [start:example-size]
>>> h, d_k, d_c, d_R = 128, 128, 512, 64
>>> d_c + d_R, 2 * h * d_k
(576, 32768)
>>> (d_c + d_R) / (2 * d_k)  # in heads of keys and values
2.25

--8<-- [end:example-size]

Operations of the two forms, for the same sizes: one query after m tokens, and a prefill of m.

--8<-- [start:example-costs]
>>> from snippets.inference.latent import (
...     absorbed_operations, expanded_operations)
>>> h, d_k, d_c = 128, 128, 512
>>> for m in (1, 2, 1024, 8192):
...     ratios = [
...         absorbed_operations(n, m, h, d_k, d_c)
...         / expanded_operations(n, m, h, d_k, d_c) for n in (1, m)]
...     print(f"{m:4} tokens   decode {ratios[0]:.3f}   prefill {ratios[1]:.3f}")
   1 tokens   decode 1.006   prefill 1.006
   2 tokens   decode 0.507   prefill 1.012
1024 tokens   decode 0.009   prefill 3.000
8192 tokens   decode 0.008   prefill 3.824

--8<-- [end:example-costs]

Operations per byte in absorbed decoding, and the ratio of an H100:

--8<-- [start:example-intensity]
>>> from snippets.inference.latent import absorbed_intensity
>>> round(absorbed_intensity(8192, 128, 512, 64, itemsize=2), 1)
241.8
>>> round(989.4e12 / 3.352e12, 1)  # operations and bytes in a second
295.2

--8<-- [end:example-intensity]

Numbers per token that a layer of width 4,096 with 32 query heads saves if it caches its input
instead of keys and values:

--8<-- [start:example-input]
>>> from snippets.inference.latent import saved_by_input
>>> [saved_by_input(4096, 32, h_kv) for h_kv in (32, 16, 8)]
[4096.0, 0.0, -2048.0]

--8<-- [end:example-input]

Rotations between the two matrices. The query is one step away from the key, then two steps:

--8<-- [start:example-turn]
>>> from snippets.order.rotary import apply_rotary
>>> W_Q, W_K = draw(6, 4), draw(3, 4)  # (d, d_k) and (d_c, d_k)
>>> def between(distance):  # the matrix that would be absorbed
...     return apply_rotary(W_Q, torch.tensor(distance)) @ W_K.T
>>> torch.allclose(between(1), between(2))
False

--8<-- [end:example-turn]

Decoding with a latent row and a rotated key for each token, in a layer of four heads:

--8<-- [start:example-decode]
>>> from snippets.inference.latent import decode_latent, latent_attention
>>> h, d_R = 4, 2
>>> W = (draw(h, d, 8), draw(d, 12), draw(h, 12, 8), draw(h, 12, 8),
...      draw(h, 8, d), draw(h, d, d_R), draw(d, d_R))
>>> whole = latent_attention(x, *W)  # (batch, n, d)
>>> cache, outputs = None, []
>>> for token in x.split(1, dim=1):
...     output, cache = decode_latent(token, *W, cache=cache)
...     outputs.append(output)
>>> torch.allclose(torch.cat(outputs, dim=1), whole)
True
>>> [tuple(kept.shape) for kept in cache]
[(2, 6, 12), (2, 6, 2)]

--8<-- [end:example-decode]

Shared keys that are cached without rotation and rotated in the last step, compared with the cache:

--8<-- [start:example-later]
>>> unturned = x @ W[-1]  # (batch, n, d_R)
>>> turned = apply_rotary(unturned, torch.arange(6))
>>> torch.allclose(turned, cache[1])
True

--8<-- [end:example-later]
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention
from snippets.attention.masks import lower_right
from snippets.order.rotary import apply_rotary


# --8<-- [start:head]
def latent_head(
    x: Float[Tensor, "*#batch n d"],
    context: Float[Tensor, "*#batch m d"],
    W_Q: Float[Tensor, "d d_k"],
    W_D: Float[Tensor, "d d_c"],
    W_UK: Float[Tensor, "d_c d_k"],
    W_UV: Float[Tensor, "d_c d_v"],
    W_O: Float[Tensor, "d_v d"],
) -> Float[Tensor, "*batch n d"]:
    """A head whose keys and values are made from latent rows of the context."""
    latent = context @ W_D  # (m, d_c): all that a cache has to hold
    return attention(x @ W_Q, latent @ W_UK, latent @ W_UV) @ W_O


def absorbed_head(
    x: Float[Tensor, "*#batch n d"],
    context: Float[Tensor, "*#batch m d"],
    W_Q: Float[Tensor, "d d_k"],
    W_D: Float[Tensor, "d d_c"],
    W_UK: Float[Tensor, "d_c d_k"],
    W_UV: Float[Tensor, "d_c d_v"],
    W_O: Float[Tensor, "d_v d"],
) -> Float[Tensor, "*batch n d"]:
    """The same head: latent rows are its keys and its values."""
    latent = context @ W_D  # (m, d_c)
    query = x @ (W_Q @ W_UK.mT)  # (n, d_c)
    scale = W_Q.shape[-1] ** -0.5  # still that of d_k
    return attention(query, latent, latent, scale=scale) @ (W_UV @ W_O)


# --8<-- [end:head]


# --8<-- [start:costs]
def expanded_operations(
    n: int, m: int, num_heads: int, d_k: int, d_c: int
) -> int:
    """Keys and values from m latent rows, then scores and mixing for n queries."""
    return 4 * m * num_heads * d_c * d_k + 4 * n * m * num_heads * d_k


def absorbed_operations(
    n: int, m: int, num_heads: int, d_k: int, d_c: int
) -> int:
    """Queries to the latent width and outputs back, and pairs at that width."""
    return 4 * n * num_heads * d_k * d_c + 4 * n * m * num_heads * d_c


def absorbed_intensity(
    m: int, num_heads: int, d_c: int, d_R: int, itemsize: int
) -> float:
    """Operations of one query of each head with m cached rows, over their bytes."""
    work = m * (2 * num_heads * (d_c + d_R) + 2 * num_heads * d_c)
    return work / (m * (d_c + d_R) * itemsize)


def saved_by_input(d: int, num_heads: int, num_kv_heads: int) -> float:
    """Numbers in the keys and values of a token, less those in its input."""
    return 2 * num_kv_heads * (d / num_heads) - d


# --8<-- [end:costs]


# --8<-- [start:decoupled]
def decoupled_scores(
    query: Float[Tensor, "*#batch n width"],
    key: Float[Tensor, "*#batch m width"],
    turned_query: Float[Tensor, "*#batch n d_R"],
    turned_key: Float[Tensor, "*#batch m d_R"],
) -> Float[Tensor, "*batch n m"]:
    """Scores from features without a position plus scores from rotated features,
    without the scale, which is that of d_k and d_R together."""
    return query @ key.mT + turned_query @ turned_key.mT


class LatentCache(NamedTuple):
    """The cache of the tokens so far, for all heads together."""

    latent: Float[Tensor, "*batch i d_c"]
    turned_key: Float[Tensor, "*batch i d_R"]


torch.serialization.add_safe_globals([LatentCache])  # torch.load accepts it


def decode_latent(
    x: Float[Tensor, "*batch n d"],
    W_Q: Float[Tensor, "h d d_k"],
    W_D: Float[Tensor, "d d_c"],
    W_UK: Float[Tensor, "h d_c d_k"],
    W_UV: Float[Tensor, "h d_c d_v"],
    W_O: Float[Tensor, "h d_v d"],
    W_QR: Float[Tensor, "h d d_R"],
    W_KR: Float[Tensor, "d d_R"],
    *,
    cache: LatentCache | None = None,
) -> tuple[Float[Tensor, "*batch n d"], LatentCache]:
    """MLA with decoupled RoPE and absorbed matrices, for the next n tokens:
    DeepSeek-AI (2024).

    Raises ValueError for an odd d_R, by `apply_rotary`, and RuntimeError for a cache
    with other widths or another batch.
    """
    past = 0 if cache is None else cache.latent.shape[-2]
    place = torch.arange(past, past + x.shape[-2], device=x.device)  # (n)
    new = LatentCache(x @ W_D, apply_rotary(x @ W_KR, place))
    if cache is not None:  # (*batch, past + n, d_c) and (*batch, past + n, d_R)
        new = LatentCache(
            *(torch.cat(pair, dim=-2) for pair in zip(cache, new))
        )
    x = x.unsqueeze(-3)  # (*batch, 1, n, d)
    query = x @ W_Q @ W_UK.mT  # (*batch, h, n, d_c)
    query = torch.cat([query, apply_rotary(x @ W_QR, place)], dim=-1)
    key = torch.cat(new, dim=-1).unsqueeze(-3)  # (*batch, 1, m, d_c + d_R)
    value = new.latent.unsqueeze(-3)  # (*batch, 1, m, d_c)
    scale = (W_Q.shape[-1] + W_KR.shape[-1]) ** -0.5
    mask = lower_right(x.shape[-2], key.shape[-2], device=x.device)  # (n, m)
    mixed = attention(query, key, value, attn_mask=mask, scale=scale)
    return (mixed @ W_UV @ W_O).sum(-3), new


# --8<-- [end:decoupled]


# --8<-- [start:whole]
def latent_attention(
    x: Float[Tensor, "*batch n d"],
    W_Q: Float[Tensor, "h d d_k"],
    W_D: Float[Tensor, "d d_c"],
    W_UK: Float[Tensor, "h d_c d_k"],
    W_UV: Float[Tensor, "h d_c d_v"],
    W_O: Float[Tensor, "h d_v d"],
    W_QR: Float[Tensor, "h d d_R"],
    W_KR: Float[Tensor, "d d_R"],
) -> Float[Tensor, "*batch n d"]:
    """The same for a prefill: makes all keys and values, without a cache.

    Raises ValueError for an odd d_R, by `apply_rotary`.
    """
    n, x = x.shape[-2], x.unsqueeze(-3)
    place = torch.arange(n, device=x.device)
    latent = x @ W_D  # (*batch, 1, n, d_c)
    turned_key = apply_rotary(x @ W_KR, place)  # (*batch, 1, n, d_R)
    key = latent @ W_UK  # (*batch, h, n, d_k)
    shared = turned_key.expand(*key.shape[:-1], -1)  # the same for all heads
    key = torch.cat([key, shared], dim=-1)
    query = torch.cat([x @ W_Q, apply_rotary(x @ W_QR, place)], dim=-1)
    heads = attention(query, key, latent @ W_UV, is_causal=True)
    return (heads @ W_O).sum(-3)  # (*batch, n, d)


# --8<-- [end:whole]
