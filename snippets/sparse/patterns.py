"""Attention that keeps some keys for each query, and what is lost with the others.

The error of keeping half of the keys is the dropped weight times the difference of two means:

--8<-- [start:example-error]
>>> import torch
>>> from snippets.sparse.patterns import dropping_error, top_k_mask
>>> generator = torch.Generator().manual_seed(0)
>>> scores = 2 * torch.randn(16, generator=generator, dtype=torch.float64)
>>> values = torch.randn(16, generator=generator, dtype=torch.float64)
>>> keep = top_k_mask(scores, k=8).double()
>>> weights = scores.softmax(-1)
>>> dropped = ((1 - keep) * weights).sum()
>>> kept_mean = (keep * weights * values).sum() / (keep * weights).sum()
>>> dropped_mean = ((1 - keep) * weights * values).sum() / dropped
>>> predicted = dropped * (dropped_mean - kept_mean)
>>> torch.allclose(dropping_error(scores, values, keep), predicted)
True
>>> print(f"dropped weight {dropped:.3f}   error {predicted:.3f}")
dropped weight 0.010   error 0.011

--8<-- [end:example-error]

One key leads by ten. The weight of all other keys together:

--8<-- [start:example-tail]
>>> from snippets.sparse.patterns import tail_weight
>>> gap = torch.tensor(10.0)
>>> for m in (100, 1_000, 22_026, 131_072):
...     print(f"{m:7,} keys, ten below: {tail_weight(gap, m=m):.3f} of the weight")
    100 keys, ten below: 0.005 of the weight
  1,000 keys, ten below: 0.043 of the weight
 22,026 keys, ten below: 0.500 of the weight
131,072 keys, ten below: 0.856 of the weight

--8<-- [end:example-tail]

When one score overtakes another, the output of top-k attention jumps:

--8<-- [start:example-jump]
>>> from snippets.sparse.patterns import top_k_attention
>>> query, value = torch.ones(1, 1), torch.tensor([[0.0], [1.0]])
>>> for second in (0.999, 1.001):
...     key = torch.tensor([[1.0], [second]])
...     sparse = top_k_attention(query, key, value, k=1)
...     full = top_k_attention(query, key, value, k=2)
...     print(f"top 1: {sparse.item():.3f}   both: {full.item():.3f}")
top 1: 0.000   both: 0.500
top 1: 1.000   both: 0.500

--8<-- [end:example-jump]

A block of four keys, chosen by the score of its mean key, and the best four keys:

--8<-- [start:example-blocks]
>>> from snippets.sparse.patterns import block_mask
>>> query = torch.randn(1, 8, generator=generator, dtype=torch.float64)
>>> key = torch.randn(16, 8, generator=generator, dtype=torch.float64)
>>> scores = query @ key.mT / 8**0.5
>>> weights = scores.softmax(-1)
>>> for keep in (block_mask(query, key, block_size=4, blocks=1),
...              top_k_mask(scores, k=4)):
...     print(f"kept {keep.sum()} keys, {weights[keep].sum():.2f} of the weight")
kept 4 keys, 0.44 of the weight
kept 4 keys, 0.53 of the weight

--8<-- [end:example-blocks]
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from snippets.attention.formula import attention, upcast
from snippets.attention.formula import scores as scores_of


# --8<-- [start:dropping_error]
def dropping_error(
    scores: Float[Tensor, "*#batch m"],
    values: Float[Tensor, "*#batch m"],
    keep: Float[Tensor, "*#batch m"],
) -> Float[Tensor, "*batch"]:
    """One feature of the output, minus the output from the kept keys alone.

    keep is 1 for kept keys and 0 for dropped ones.
    """
    weights = torch.softmax(scores, dim=-1)
    kept = keep * weights
    kept_mean = (kept * values).sum(-1) / kept.sum(-1)
    return (weights * values).sum(-1) - kept_mean


# --8<-- [end:dropping_error]


# --8<-- [start:tail]
def tail_weight(
    gap: Float[Tensor, "*shape"], *, m: int
) -> Float[Tensor, "*shape"]:
    """The weight of m keys that are all a gap below one other key."""
    return torch.sigmoid(math.log(m) - gap)


# --8<-- [end:tail]


# --8<-- [start:topk]
def top_k_mask(
    scores: Float[Tensor, "*batch m"], *, k: int
) -> Bool[Tensor, "*batch m"]:
    """True for the k keys with the largest scores."""
    keep = torch.zeros_like(scores, dtype=torch.bool)
    return keep.scatter(-1, scores.topk(k, dim=-1).indices, True)


def top_k_attention(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    k: int,
) -> Float[Tensor, "*batch n d_v"]:
    """Attention of each query to the k keys with its largest scores."""
    keep = top_k_mask(scores_of(upcast(query), key), k=k)
    return attention(query, key, value, attn_mask=keep)


# --8<-- [end:topk]


# --8<-- [start:blocks]
def block_mask(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    *,
    block_size: int,
    blocks: int,
) -> Bool[Tensor, "*batch n m"]:
    """True for the keys of the blocks whose mean keys have the largest scores.

    Raises RuntimeError if block_size does not divide the number of keys.
    """
    blocks_of_keys = upcast(key).unflatten(-2, (-1, block_size))
    mean_key = blocks_of_keys.mean(-2)  # (m / block_size, d_k)
    keep = top_k_mask(scores_of(upcast(query), mean_key), k=blocks)
    return keep.repeat_interleave(block_size, dim=-1)


# --8<-- [end:blocks]
