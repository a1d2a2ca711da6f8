"""The pieces that the claims about the small GPT speak of: rows with a cache, and a tied head.

Scores with keys that were turned once and kept are those with keys turned anew by distance:

--8<-- [start:example-kept]
>>> import torch
>>> from snippets.order.positions import frequencies
>>> from snippets.together.pieces import scores_by_distance, scores_from_cache
>>> generator = torch.Generator().manual_seed(0)
>>> q_1, q_2 = torch.randn(2, 4, generator=generator, dtype=torch.float64)  # (d_k / 2) each
>>> K_1, K_2 = torch.randn(2, 6, 4, generator=generator, dtype=torch.float64)  # (t, d_k / 2)
>>> numbers = q_1, q_2, K_1, K_2, torch.tensor(6), torch.arange(6), frequencies(8)
>>> torch.allclose(scores_from_cache(*numbers), scores_by_distance(*numbers))
True

--8<-- [end:example-kept]

A token that comes later changes an old row by nothing if it is masked, and else changes it:

--8<-- [start:example-old]
>>> import torch
>>> from snippets.together.pieces import old_row
>>> generator = torch.Generator().manual_seed(1)
>>> K, V = torch.randn(2, 6, 4, generator=generator, dtype=torch.float64)  # (t, d)
>>> query, key, value = torch.randn(3, 4, generator=generator, dtype=torch.float64)
>>> masked, seen = (old_row(query, K, V, key, value, masked) for masked in (True, False))
>>> alone = torch.softmax(K @ query, dim=-1) @ V
>>> torch.allclose(masked, alone), torch.allclose(seen, alone)
(True, False)

--8<-- [end:example-old]
"""

import torch
from torch import Tensor

from snippets.attention.formula import attention
from snippets.order.rotary import turn


# --8<-- [start:old]
def old_row(
    query: Tensor, K: Tensor, V: Tensor, key: Tensor, value: Tensor, masked: bool = True
) -> Tensor:
    """The row of an old query after one more token has come, with a mask on it or without."""
    keys, values = torch.cat([K, key[None]]), torch.cat([V, value[None]])  # (m + 1, d_k), ...
    mask = torch.ones(1, len(keys), dtype=torch.bool)
    mask[:, -1] = not masked
    return attention(query[None], keys, values, attn_mask=mask, scale=1.0)[0]  # (d_v)


# --8<-- [end:old]


# --8<-- [start:kept]
def turned(first: Tensor, second: Tensor, position: Tensor, omega: Tensor) -> Tensor:
    """Both halves of queries or keys, turned by their positions."""
    return torch.cat(turn(first, second, position, omega), dim=-1)  # (..., 2 h)


def scores_from_cache(
    q_1: Tensor, q_2: Tensor, K_1: Tensor, K_2: Tensor, s: Tensor, places: Tensor, omega: Tensor
) -> Tensor:
    """The scores of a query at s. Every key was turned once, by its own position, and kept."""
    kept = turned(K_1, K_2, places, omega)  # (t, 2 h): this is in the cache
    return kept @ turned(q_1, q_2, s, omega)  # (t)


def scores_by_distance(
    q_1: Tensor, q_2: Tensor, K_1: Tensor, K_2: Tensor, s: Tensor, places: Tensor, omega: Tensor
) -> Tensor:
    """The same from keys as they were before turning, turned anew by their distances."""
    keys = turned(K_1, K_2, places - s, omega)  # (t, 2 h)
    return keys @ torch.cat([q_1, q_2])  # (t)


# --8<-- [end:kept]


# --8<-- [start:tied]
def tied_logits(u: Tensor, E: Tensor, W: Tensor) -> Tensor:
    """What a model says that looks u up in a table, maps by W, and compares with the table."""
    return u @ E @ W @ E.T  # (N) (N, d) (d, d) (d, N) -> (N)


def tied_slopes(u: Tensor, E: Tensor, W: Tensor) -> Tensor:
    """The derivative of each logit by each entry of the table, by autograd."""
    return torch.func.jacrev(tied_logits, argnums=1)(u, E, W)  # (N, N, d)


# --8<-- [end:tied]
