"""Learned sparsity: scores that select keys, by the mean key of a block or by an indexer, and what a selection misses.

Eight keys in two blocks. The mean key of the first has the larger score, and the largest score is in the second:

--8<-- [start:example-blocks]
>>> import torch
>>> from snippets.sparse.learned import mean_key_scores, missed_weight
>>> query = torch.tensor([[2.0]], dtype=torch.float64)  # (n, d_k)
>>> key = torch.tensor([2.0, 2, 2, 2, 4, 1, 1, 1], dtype=torch.float64)[:, None]
>>> mean_key_scores(query, key, block_size=4).tolist()
[[4.0, 3.5]]
>>> scores = (query @ key.mT)[0]
>>> scores.tolist()
[4.0, 4.0, 4.0, 4.0, 8.0, 2.0, 2.0, 2.0]
>>> round(missed_weight(scores[:4], scores[4:]).item(), 2)
0.93

--8<-- [end:example-blocks]

Missed weight, error and bound, for one feature of the values:

--8<-- [start:example-error]
>>> import torch
>>> from snippets.sparse.learned import missed_weight, selection_error
>>> generator = torch.Generator().manual_seed(0)
>>> scores = 2 * torch.randn(64, generator=generator, dtype=torch.float64)
>>> values = 2 * torch.rand(64, generator=generator, dtype=torch.float64) - 1
>>> order = scores.argsort(descending=True)
>>> for k in (4, 16, 48):
...     kept, missed = order[:k], order[k:]
...     weight = missed_weight(scores[kept], scores[missed])
...     error = selection_error(
...         scores[kept], values[kept], scores[missed], values[missed])
...     print(f"{k:2} keys   missed {weight:.3f}   error {abs(error):.3f}"
...           f"   at most {2 * weight * values.abs().max():.3f}")
 4 keys   missed 0.269   error 0.019   at most 0.524
16 keys   missed 0.051   error 0.012   at most 0.100
48 keys   missed 0.002   error 0.000   at most 0.004

--8<-- [end:example-error]

An indexer with two heads selects three keys for each query, and attention sees these keys alone:

--8<-- [start:example-indexer]
>>> from snippets.attention.formula import attention
>>> from snippets.sparse.learned import index_scores, select_keys
>>> generator = torch.Generator().manual_seed(1)
>>> query, key, value = torch.randn(3, 6, 8, generator=generator)
>>> index_query = torch.randn(2, 6, 4, generator=generator)  # two heads
>>> index_key = torch.randn(6, 4, generator=generator)  # one head
>>> head_weights = torch.randn(6, 2, generator=generator)
>>> mask = select_keys(index_scores(index_query, index_key, head_weights), k=3)
>>> mask.sum(-1)
tensor([1, 2, 3, 3, 3, 3])
>>> attention(query, key, value, attn_mask=mask).shape
torch.Size([6, 8])

--8<-- [end:example-indexer]

Multiplications of the scores and of the weighted values for one pair, with the sizes of DeepSeek-V3.2: an indexer of 64 heads
of width 128, and attention of 128 heads to latent rows of 576 numbers, of which 512 are also values:

--8<-- [start:example-deepseek]
>>> from snippets.sparse.learned import indexed_multiplications
>>> indexer, attention = 64 * 128, 128 * (576 + 512)
>>> attention / indexer
17.0
>>> 2048 * attention // indexer  # keys at which both parts are equal
34816
>>> for n in (2_048, 32_768, 131_072, 1_048_576):
...     sparse = indexed_multiplications(n, 2048, indexer, attention)
...     dense = indexed_multiplications(n, n, 0, attention)
...     print(f"{n:9,} tokens: {sparse / dense:.2f} of the dense attention")
    2,048 tokens: 1.06 of the dense attention
   32,768 tokens: 0.18 of the dense attention
  131,072 tokens: 0.09 of the dense attention
1,048,576 tokens: 0.06 of the dense attention

--8<-- [end:example-deepseek]

The scores of one query, if it sees 16 blocks of a text of 65,536 tokens:

--8<-- [start:example-sizes]
>>> from snippets.sparse.learned import scores_of_query
>>> for size in (16, 64, 256, 1024):
...     print(f"{size:4} {scores_of_query(65_536, 16, size):6,.0f}")
  16  4,352
  64  2,048
 256  4,352
1024 16,448

--8<-- [end:example-sizes]
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from snippets.sparse.patterns import top_k_mask


# --8<-- [start:error]
def missed_weight(
    kept_scores: Float[Tensor, "*batch m"],
    missed_scores: Float[Tensor, "*batch n"],
) -> Float[Tensor, "*batch"]:
    """The weight of the missed keys in attention to all keys."""
    scores = torch.cat([kept_scores, missed_scores], dim=-1)
    return scores.softmax(-1)[..., kept_scores.shape[-1] :].sum(-1)


def selection_error(
    kept_scores: Float[Tensor, "*batch m"],
    kept_values: Float[Tensor, "*batch m"],
    missed_scores: Float[Tensor, "*batch n"],
    missed_values: Float[Tensor, "*batch n"],
) -> Float[Tensor, "*batch"]:
    """One feature of the output from all keys, minus that from the kept ones."""
    scores = torch.cat([kept_scores, missed_scores], dim=-1)
    values = torch.cat([kept_values, missed_values], dim=-1)
    kept = (kept_scores.softmax(-1) * kept_values).sum(-1)
    return (scores.softmax(-1) * values).sum(-1) - kept


# --8<-- [end:error]


# --8<-- [start:blocks]
def mean_key_scores(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    *,
    block_size: int,
) -> Float[Tensor, "*batch n blocks"]:
    """The score of each block's mean key: Lu et al. (2025).

    Raises RuntimeError if block_size does not divide the number of keys.
    """
    mean_key = key.unflatten(-2, (-1, block_size)).mean(-2)
    return query @ mean_key.mT


# --8<-- [end:blocks]


# --8<-- [start:indexer]
def index_scores(
    query: Float[Tensor, "*batch heads n d_i"],
    key: Float[Tensor, "*batch m d_i"],
    head_weights: Float[Tensor, "*batch n heads"],
) -> Float[Tensor, "*batch n m"]:
    """A score for each pair: a weighted sum over the indexer's heads of the
    positive parts of products. All heads share the keys: DeepSeek-AI, V3.2
    (2025)."""
    positive = torch.relu(query @ key.unsqueeze(-3).mT)  # (*batch, heads, n, m)
    return torch.einsum("...hnm,...nh->...nm", positive, head_weights)


def select_keys(
    scores: Float[Tensor, "*batch n n"], *, k: int
) -> Bool[Tensor, "*batch n n"]:
    """True for the k keys with the largest scores, up to each query's position.
    Earlier queries than the k-th see all keys so far."""
    n = scores.shape[-1]
    back = torch.ones(n, n, dtype=torch.bool, device=scores.device).tril()
    seen = scores.masked_fill(~back, -torch.inf)
    return top_k_mask(seen, k=min(k, n)) & back


# --8<-- [end:indexer]


# --8<-- [start:gates]
def gated_branches(
    outputs: Float[Tensor, "branches *batch n d_v"],
    gates: Float[Tensor, "branches *batch n"],
) -> Float[Tensor, "*batch n d_v"]:
    """The sum of the branches' outputs, each times its gate: Yuan et al.
    (2025)."""
    return (gates.unsqueeze(-1) * outputs).sum(0)


# --8<-- [end:gates]


# --8<-- [start:counts]
def indexed_multiplications(
    n: int, k: int, indexer: float, attention: float
) -> float:
    """Multiplications for n tokens under a causal mask: those of the indexer for
    all pairs, and those of attention to at most k keys of each token."""
    keys = torch.arange(1, n + 1)
    pairs, selected = keys.sum().item(), keys.clamp(max=k).sum().item()
    return indexer * pairs + attention * selected


def scores_of_query(n: int, blocks: int, block_size: int) -> float:
    """Scores of a query that compares all mean keys of n tokens, and then all
    keys of some blocks."""
    return n / block_size + blocks * block_size


# --8<-- [end:counts]
