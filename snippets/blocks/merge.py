"""Softmax attention over keys that come in blocks, by states that merge.

What is kept of a block does not grow with the block:

--8<-- [start:example-merge]
>>> import torch
>>> from snippets.blocks.merge import average, merge, state
>>> generator = torch.Generator().manual_seed(0)
>>> scores = torch.randn(2, 9, generator=generator, dtype=torch.float64)  # (n, m)
>>> value = torch.randn(9, 3, generator=generator, dtype=torch.float64)  # (m, d_v)
>>> first, second = state(scores[:, :4], value[:4]), state(scores[:, 4:], value[4:])
>>> [tuple(kept.shape) for kept in first]
[(2, 1), (2, 1), (2, 3)]
>>> expected = torch.softmax(scores, dim=-1) @ value
>>> torch.allclose(average(merge(first, second)), expected)
True
>>> torch.allclose((average(first) + average(second)) / 2, expected)
False

--8<-- [end:example-merge]

No block is too short or too long, and none needs to be there at once:

--8<-- [start:example-blocks]
>>> from torch.nn.functional import scaled_dot_product_attention
>>> from snippets.blocks.merge import attention_in_blocks
>>> query, key, value = torch.randn(3, 2, 10, 4, generator=generator)
>>> expected = scaled_dot_product_attention(query, key, value)
>>> for size in (1, 3, 10, 99):
...     output = attention_in_blocks(query, key, value, block_size=size)
...     print(size, torch.allclose(output, expected, atol=1e-6))
1 True
3 True
10 True
99 True

--8<-- [end:example-blocks]

Without a reference, large scores overflow. With the largest for reference, none does:

--8<-- [start:example-large]
>>> scores, value = torch.tensor([1e4, 1e4, -1e4]), torch.tensor([[1.0], [2.0], [4.0]])
>>> (scores.exp() @ value / scores.exp().sum()).tolist()
[nan]
>>> average(merge(state(scores[:1], value[:1]), state(scores[1:], value[1:]))).tolist()
[1.5]

--8<-- [end:example-large]

A block that is masked throughout adds nothing, and a query without any key gets 0:

--8<-- [start:example-masked]
>>> nothing = state(torch.full((2,), -torch.inf), torch.ones(2, 1))
>>> average(merge(nothing, state(scores, value))).tolist()
[1.5]
>>> average(merge(nothing, nothing)).tolist()
[0.0]

--8<-- [end:example-masked]
"""

from functools import reduce
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import scores as scores_of
from snippets.attention.formula import upcast
from snippets.attention.masks import Mask, mask_scores
from snippets.shapes import check_shapes


# --8<-- [start:state]
class State(NamedTuple):
    """All that attention needs of a block of keys, for each query."""

    reference: (
        Tensor  # (..., n, 1): the largest score, -inf for a query without keys
    )
    total: Tensor  # (..., n, 1): the sum of the exponentials of score less reference
    mixed: Tensor  # (..., n, d_v): the sum of the values, each times its exponential


def state(scores: Tensor, value: Tensor) -> State:
    """The state of a block of keys. For one query, scores may be (m) and not (..., n, m)."""
    reference = scores.new_full((*scores.shape[:-1], 1), -torch.inf)
    if scores.shape[-1]:  # of no keys there is no largest
        reference = scores.amax(-1, keepdim=True)  # (..., n, 1)
    terms = move(1, scores, reference)  # (..., n, m), none above 1
    return State(reference, terms.sum(-1, keepdim=True), terms @ value)


def average(kept: State) -> Tensor:
    """Attention over the keys of a state: (..., n, d_v); 0 where there is no key."""
    return kept.mixed / kept.total.masked_fill(kept.total == 0, 1)


# --8<-- [end:state]


# --8<-- [start:merge]
def move(sums: Tensor | float, reference: Tensor, to: Tensor) -> Tensor:
    """Sums of exponentials about one reference, as they are about another."""
    return sums * torch.exp(reference - to.masked_fill(to == -torch.inf, 0))


def merge(first: State, second: State) -> State:
    """The state of the keys of both, about the larger reference."""
    d_v, other = first.mixed.shape[-1], second.mixed.shape[-1]
    if d_v != other:  # 1 would broadcast
        raise ValueError(f"d_v is {d_v} in first but {other} in second")
    to = torch.maximum(first.reference, second.reference)  # (..., n, 1)
    f, g = (move(1, kept.reference, to) for kept in (first, second))
    total = f * first.total + g * second.total  # (..., n, 1)
    return State(to, total, f * first.mixed + g * second.mixed)


# --8<-- [end:merge]


# --8<-- [start:attention]
def attention_in_blocks(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    block_size: int,
    attn_mask: Mask | None = None,
    scale: float | None = None,
) -> Float[Tensor, "*batch n d_v"]:
    """Attention with some keys at a time: Milakov and Gimelshein (2018).

    Raises ValueError for a block_size below 1, and where there are more keys
    than values, or fewer.
    """
    if block_size < 1:
        raise ValueError(f"block_size is {block_size}; expected at least 1 key")
    keys = key.split(block_size, -2)
    values = upcast(value).split(block_size, -2)
    masks = [None] * len(keys)
    if attn_mask is not None:  # it may have one column for all keys
        attn_mask = attn_mask.expand(*attn_mask.shape[:-1], key.shape[-2])
        masks = attn_mask.split(block_size, -1)

    def part(key: Tensor, value: Tensor, mask: Tensor | None) -> State:
        scores = scores_of(
            upcast(query), key, scale=scale
        )  # (*batch, n, block)
        return state(mask_scores(scores, attn_mask=mask), value)

    # One by one: a block's scores are gone before the next.
    states = (part(*block) for block in zip(keys, values, masks, strict=True))
    return average(reduce(merge, states)).to(query.dtype)


# --8<-- [end:attention]


# --8<-- [start:two]
def over_all(
    scores: Tensor, value: Tensor, more: Tensor, more_value: Tensor
) -> Tensor:
    """Attention of one query over two blocks of keys, (m) and (p), at once."""
    check_shapes("scores: m, value: m d_v", scores, value)
    check_shapes("more: p, more_value: p d_v", more, more_value)
    weights = torch.softmax(torch.cat([scores, more]), dim=-1)  # (m + p)
    return weights @ torch.cat([value, more_value])  # (d_v)


def over_two_blocks(
    scores: Tensor, value: Tensor, more: Tensor, more_value: Tensor
) -> Tensor:
    """The same, each block by itself, and merged: (d_v)."""
    return average(merge(state(scores, value), state(more, more_value)))


# --8<-- [end:two]


# --8<-- [start:about]
def about(scores: Tensor, value: Tensor, reference: Tensor) -> Tensor:
    """Attention of one query, from sums about any reference."""
    check_shapes("scores: m, value: m d_v", scores, value)
    terms = torch.exp(scores - reference)  # (m)
    return terms @ value / terms.sum()  # (d_v)


# --8<-- [end:about]


# --8<-- [start:averages]
def log_sum(scores: Tensor) -> Tensor:
    """The logarithm of the sum of exponentials, by a state: `(..., m) -> (...)`."""
    kept = state(scores, scores.new_ones(scores.shape[-1], 1))
    return (kept.reference + kept.total.log()).squeeze(-1)


def merge_averages(
    first: Tensor, first_log: Tensor, second: Tensor, second_log: Tensor
) -> Tensor:
    """Attention over both blocks, from outputs (..., d_v) and log_sum (...) of each."""
    check_shapes("first: d_v, second: d_v", first, second)
    gap = (first_log - second_log).unsqueeze(-1)  # (..., 1)
    return torch.sigmoid(gap) * first + torch.sigmoid(-gap) * second


# --8<-- [end:averages]


# --8<-- [start:one-more]
def one_more(
    mixed: Tensor,
    total: Tensor,
    reference: Tensor,
    value: Tensor,
    score: Tensor,
) -> Tensor:
    """The average after one more key: a step towards its value; score (..., 1)."""
    check_shapes("mixed: d_v, value: d_v", mixed, value)
    to = torch.maximum(reference, score)
    before, new = move(total, reference, to), move(1, score, to)
    return mixed / total + new / (before + new) * (value - mixed / total)


# --8<-- [end:one-more]
