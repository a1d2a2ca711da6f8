r"""Sliding-window attention: a mask, a rolling cache, and how far a stack sees.

A window of three, for six tokens:

--8<-- [start:example-mask]
>>> from snippets.sparse.window import window_mask
>>> print(*window_mask(6, 3).int().tolist(), sep="\n")  # a row for each query
[1, 0, 0, 0, 0, 0]
[1, 1, 0, 0, 0, 0]
[1, 1, 1, 0, 0, 0]
[0, 1, 1, 1, 0, 0]
[0, 0, 1, 1, 1, 0]
[0, 0, 0, 1, 1, 1]

--8<-- [end:example-mask]

The pairs that a window of 4,096 keeps, and the share of a causal mask's pairs that it saves:

--8<-- [start:example-pairs]
>>> from snippets.sparse.window import pairs_saved, window_pairs
>>> for n in (4096, 8192, 32768, 131072):
...     kept, saved = window_pairs(n, 4096), pairs_saved(n, 4096)
...     print(f"{n:6} tokens   {kept:11,} pairs   saved {saved / (kept + saved):.3f}")
  4096 tokens     8,390,656 pairs   saved 0.000
  8192 tokens    25,167,872 pairs   saved 0.250
 32768 tokens   125,831,168 pairs   saved 0.766
131072 tokens   528,484,352 pairs   saved 0.938

--8<-- [end:example-pairs]

A cache with one entry per place in the window, overwritten in turn, gives the same outputs:

--8<-- [start:example-cache]
>>> import torch
>>> from snippets.attention.formula import attention
>>> from snippets.sparse.window import rolling_attention
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.randn(
...     3, 2, 10, 4, generator=generator, dtype=torch.float64)
>>> rolled = rolling_attention(query, key, value, window=3)
>>> expected = attention(query, key, value, attn_mask=window_mask(10, 3))
>>> torch.allclose(rolled, expected)
True

--8<-- [end:example-cache]

Two layers with a window of two and equal weights. Then 32 layers with a window of 64:

--8<-- [start:example-shares]
>>> from snippets.sparse.window import distance_shares
>>> distance_shares(layers=2, window=2).tolist()  # at distance 0, 1, 2
[0.25, 0.5, 0.25]
>>> shares = distance_shares(layers=32, window=64)
>>> distance = torch.arange(len(shares))
>>> mean = (shares * distance).sum()
>>> spread = (shares * (distance - mean) ** 2).sum().sqrt()
>>> print(f"tokens {len(shares)}   mean {mean:.0f}   spread {spread:.1f}")
tokens 2017   mean 1008   spread 104.5
>>> far = shares[1500:].sum()
>>> print(f"beyond 1500: {far:.1e}   the farthest: {shares[-1]:.1e}")
beyond 1500: 5.7e-07   the farthest: 1.6e-58

--8<-- [end:example-shares]

The tokens within reach of 32 layers with a window of 4,096, and the product of both numbers:

--8<-- [start:example-reach]
>>> from snippets.sparse.window import tokens_within_reach
>>> tokens_within_reach(layers=32, window=4096)
131041
>>> 32 * 4096
131072

--8<-- [end:example-reach]

With a residual connection, the mean distance is smaller:

--8<-- [start:example-shortcut]
>>> from snippets.sparse.window import distance_shares_with_shortcut
>>> shares = distance_shares_with_shortcut(layers=32, window=64)
>>> print(f"tokens {len(shares)}   mean {(shares * distance).sum():.0f}")
tokens 2017   mean 504

--8<-- [end:example-shortcut]
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import pad

from snippets.attention.formula import attention


# --8<-- [start:mask]
def window_mask(
    n: int,
    window: int,
    *,
    m: int | None = None,
    device: torch.device | str | None = None,
) -> Bool[Tensor, "n m"]:
    """True where a query attends: to its own token and the window - 1 before it.

    The queries are the last n of m tokens, or all of them if m is not given.
    Raises ValueError for a window below 1.
    """
    if window < 1:
        raise ValueError(f"window is {window}; expected at least 1")
    m = n if m is None else m
    every = torch.ones(n, m, dtype=torch.bool, device=device)
    return every.tril(m - n).triu(m - n + 1 - window)


# --8<-- [end:mask]


# --8<-- [start:pairs]
def window_pairs(n: int, window: int) -> int:
    """Pairs of a query and a key that a window keeps among n tokens."""
    return sum(min(place, window) for place in range(1, n + 1))


def pairs_saved(n: int, window: int) -> int:
    """Pairs that a causal mask keeps and a window doesn't."""
    return n * (n + 1) // 2 - window_pairs(n, window)


# --8<-- [end:pairs]


# --8<-- [start:cache]
@torch.no_grad()
def rolling_attention(
    query: Float[Tensor, "*batch n d_k"],
    key: Float[Tensor, "*shared n d_k"],
    value: Float[Tensor, "*shared n d_v"],
    *,
    window: int,
    enable_gqa: bool = False,
) -> Float[Tensor, "*batch n d_v"]:
    """Token by token, with a cache of at most window entries.

    With enable_gqa, heads may share keys and values; see `share_heads`.
    For generation: without gradients, because entries are overwritten.
    Raises ValueError if window is below 1, or if the numbers of tokens
    differ.
    """
    if window < 1:
        raise ValueError(f"window is {window}; expected at least 1")
    if not query.shape[-2] == key.shape[-2] == value.shape[-2]:
        raise ValueError("expected as many queries, keys and values")
    keys, values = key[..., :window, :].clone(), value[..., :window, :].clone()
    outputs = query.new_empty(*query.shape[:-1], value.shape[-1])
    for t in range(query.shape[-2]):
        slot, held = t % window, min(t + 1, window)
        keys[..., slot, :] = key[..., t, :]  # overwrite the oldest entry
        values[..., slot, :] = value[..., t, :]
        outputs[..., t : t + 1, :] = attention(
            query[..., t : t + 1, :],
            keys[..., :held, :],
            values[..., :held, :],
            enable_gqa=enable_gqa,
        )
    return outputs


# --8<-- [end:cache]


# --8<-- [start:shares]
def distance_shares(
    *, layers: int, window: int, device: torch.device | str | None = None
) -> Float[Tensor, " reach"]:
    """The share that reaches a token from each distance, with equal weights.

    Without layers it is the token itself; each layer averages over a window.
    """
    shares = torch.ones(1, dtype=torch.float64, device=device)
    for _ in range(layers):
        around = pad(shares, (window - 1, window - 1))
        shares = around.unfold(0, window, 1).mean(-1)  # (reach + window - 1)
    return shares


# --8<-- [end:shares]


# --8<-- [start:reach]
def tokens_within_reach(*, layers: int, window: int) -> int:
    """How many tokens can influence an output, including its own."""
    return layers * (window - 1) + 1


# --8<-- [end:reach]


# --8<-- [start:shortcut]
def distance_shares_with_shortcut(
    *, layers: int, window: int, device: torch.device | str | None = None
) -> Float[Tensor, " reach"]:
    """The same, if half of each token bypasses each layer."""
    shares = torch.ones(1, dtype=torch.float64, device=device)
    for _ in range(layers):
        around = pad(shares, (window - 1, window - 1))
        stays = pad(shares, (0, window - 1))
        shares = (stays + around.unfold(0, window, 1).mean(-1)) / 2
    return shares


# --8<-- [end:shortcut]
