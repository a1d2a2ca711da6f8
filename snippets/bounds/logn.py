"""Log-n scaling: scores times the logarithm of the number of keys.

One key leads all others by a gap of 5. At a fixed scale its weight falls as keys are added:

--8<-- [start:example-fixed]
>>> import math
>>> from snippets.bounds.logn import leader_weight
>>> for n in (10, 1000, 100_000, 10_000_000):
...     print(f"{n:8} keys   gap 5 at a fixed scale: {leader_weight(5.0, n, scale=1.0):.4f}")
      10 keys   gap 5 at a fixed scale: 0.9428
    1000 keys   gap 5 at a fixed scale: 0.1293
  100000 keys   gap 5 at a fixed scale: 0.0015
10000000 keys   gap 5 at a fixed scale: 0.0000

--8<-- [end:example-fixed]

At a scale of log n the weight rises if the gap is above one, and falls if it is below one:

--8<-- [start:example]
>>> for n in (10, 1000, 100_000, 10_000_000):
...     found = [leader_weight(gap, n, scale=math.log(n)) for gap in (0.5, 1.0, 1.5)]
...     print(f"{n:8} keys   gap 0.5: {found[0]:.4f}   1: {found[1]:.4f}   1.5: {found[2]:.4f}")
      10 keys   gap 0.5: 0.2600   1: 0.5263   1.5: 0.7784
    1000 keys   gap 0.5: 0.0307   1: 0.5003   1.5: 0.9694
  100000 keys   gap 0.5: 0.0032   1: 0.5000   1.5: 0.9968
10000000 keys   gap 0.5: 0.0003   1: 0.5000   1.5: 0.9997

--8<-- [end:example]

A model trained with 1,024 keys, at that length and at longer ones:

--8<-- [start:example-trained]
>>> import torch
>>> from snippets.bounds.logn import logn_attention_weights
>>> gap = 1.2 * math.log(1024)  # the score of one key; the others have 0
>>> for n in (1024, 8192, 131072):
...     query, key = torch.ones(1, 1), torch.zeros(n, 1)  # d_k = 1
...     key[0] = gap
...     plain = logn_attention_weights(query, key, trained_at=n)
...     scaled = logn_attention_weights(query, key, trained_at=1024)
...     print(f"{n:6} keys   plain {plain[0, 0]:.3f}   with log n {scaled[0, 0]:.3f}")
  1024 keys   plain 0.800   with log n 0.800
  8192 keys   plain 0.333   with log n 0.858
131072 keys   plain 0.030   with log n 0.914

--8<-- [end:example-trained]

The scale that keeps the weight of the first key:

--8<-- [start:example-constant]
>>> from snippets.bounds.logn import constant_scale
>>> for n in (16, 1024, 131072):
...     scale = constant_scale(1.0, n, weight=0.9)
...     print(f"{n:6} keys   scale {scale:.2f}   weight {leader_weight(1.0, n, scale=scale):.2f}")
    16 keys   scale 4.91   weight 0.90
  1024 keys   scale 9.13   weight 0.90
131072 keys   scale 13.98   weight 0.90

--8<-- [end:example-constant]

Under a causal mask each query has its own number of keys. The last query sees all of them:

--8<-- [start:example-causal]
>>> from snippets.attention.formula import attention_weights
>>> from snippets.bounds.logn import logn_queries
>>> generator = torch.Generator().manual_seed(0)
>>> query, key = torch.randn(2, 6, 4, generator=generator, dtype=torch.float64)
>>> causal = attention_weights(
...     logn_queries(query, trained_at=1024), key, is_causal=True)
>>> last = logn_attention_weights(query[-1:], key, trained_at=1024)
>>> torch.allclose(causal[-1:], last)
True

--8<-- [end:example-causal]
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention_weights, upcast


# --8<-- [start:leader]
def leader_weight(gap: float, n: int, *, scale: float) -> float:
    """The weight of a key whose score leads n - 1 equal ones by the gap."""
    return 1 / (1 + (n - 1) * math.exp(-scale * gap))


# --8<-- [end:leader]


# --8<-- [start:attention]
def logn_attention_weights(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    *,
    trained_at: int,
) -> Float[Tensor, "*batch n m"]:
    """The weights of scores times log m / log trained_at, for m keys.

    With trained_at keys they are the weights of attention.
    Raises ValueError if trained_at is below 2, where its logarithm is 0.
    """
    if trained_at < 2:
        raise ValueError(
            f"trained_at is {trained_at}; expected 2 keys at least"
        )
    m, d_k = key.shape[-2:]
    scale = math.log(m) / math.log(trained_at) / math.sqrt(d_k)
    return attention_weights(query, key, scale=scale)


# --8<-- [end:attention]


# --8<-- [start:causal]
def logn_queries(
    query: Float[Tensor, "*batch n d_k"], *, trained_at: int, offset: int = 0
) -> Float[Tensor, "*batch n d_k"]:
    """Queries that give any causal attention kernel log-n scaling.

    Each is multiplied by log m / log trained_at, for the m keys that it sees:
    its own and those of all earlier tokens. With a cache, offset is the number
    of tokens before the first query.
    Raises ValueError if trained_at is below 2, where its logarithm is 0.
    """
    if trained_at < 2:
        raise ValueError(
            f"trained_at is {trained_at}; expected 2 keys at least"
        )
    seen = offset + torch.arange(
        1, query.shape[-2] + 1, device=query.device
    )  # (n)
    scales = seen.log() / math.log(trained_at)
    return (upcast(query) * scales[:, None]).to(query.dtype)


# --8<-- [end:causal]


# --8<-- [start:constant]
def constant_scale(gap: float, n: int, *, weight: float) -> float:
    """The scale that gives this weight to a key that leads n - 1 equal ones."""
    return math.log((n - 1) * weight / (1 - weight)) / gap


# --8<-- [end:constant]
