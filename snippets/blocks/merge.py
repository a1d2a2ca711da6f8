"""Softmax attention over keys that come in blocks, by states that merge.

Two blocks of one key each:

--8<-- [start:example-small]
>>> import torch
>>> from snippets.blocks.merge import merge_states, attention_state
>>> zero, log_two = torch.tensor([1.0, 2.0]).log()
>>> one = attention_state(zero[None], torch.ones(1, 1))
>>> two = attention_state(log_two[None], torch.ones(1, 1))
>>> for kept in (one, two, merge_states(one, two)):
...     print(f"reference {kept.reference.item():.3f}, sum {kept.total.item()}")
reference 0.000, sum 1.0
reference 0.693, sum 1.0
reference 0.693, sum 1.5

--8<-- [end:example-small]

The size of a state doesn't depend on the number of keys:

--8<-- [start:example-merge]
>>> import torch
>>> from snippets.blocks.merge import (
...     attention_state, merge_states, state_output)
>>> generator = torch.Generator().manual_seed(0)
>>> scores = torch.randn(2, 9, generator=generator, dtype=torch.float64)  # (n, m)
>>> # (m, d_v)
>>> value = torch.randn(9, 3, generator=generator, dtype=torch.float64)
>>> first = attention_state(scores[:, :4], value[:4])
>>> second = attention_state(scores[:, 4:], value[4:])
>>> [tuple(kept.shape) for kept in first]
[(2, 1), (2, 1), (2, 3)]
>>> expected = torch.softmax(scores, dim=-1) @ value
>>> torch.allclose(state_output(merge_states(first, second)), expected)
True
>>> torch.allclose((state_output(first) + state_output(second)) / 2, expected)
False

--8<-- [end:example-merge]

Blocks of any size give the same result:

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

Without a reference, large scores overflow. With the largest score as the reference, they don't:

--8<-- [start:example-large]
>>> scores = torch.tensor([1e4, 1e4, -1e4])
>>> value = torch.tensor([[1.0], [2.0], [4.0]])
>>> (scores.exp() @ value / scores.exp().sum()).tolist()
[nan]
>>> first = attention_state(scores[:1], value[:1])
>>> second = attention_state(scores[1:], value[1:])
>>> state_output(merge_states(first, second)).tolist()
[1.5]

--8<-- [end:example-large]

A fully masked block adds nothing, and a query without keys gets 0:

--8<-- [start:example-masked]
>>> nothing = attention_state(torch.full((2,), -torch.inf), torch.ones(2, 1))
>>> state_output(merge_states(nothing, attention_state(scores, value))).tolist()
[1.5]
>>> state_output(merge_states(nothing, nothing)).tolist()
[0.0]

--8<-- [end:example-masked]
"""

from functools import reduce
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import scores as scores_of
from snippets.attention.formula import share_heads, upcast
from snippets.attention.masks import Mask, mask_scores


# --8<-- [start:attention_state]
class AttentionState(NamedTuple):
    """What attention needs from a block of keys, for each query."""

    # The largest score, -inf for a query without keys.
    reference: Float[Tensor, "*batch n 1"]
    # The sum of exponentials of scores minus the reference.
    total: Float[Tensor, "*batch n 1"]
    # The sum of the values, each times its exponential.
    mixed: Float[Tensor, "*batch n d_v"]


def attention_state(
    scores: Float[Tensor, "*#batch n m"] | Float[Tensor, " m"],
    value: Float[Tensor, "*#batch m d_v"],
) -> AttentionState:
    """The state of a block of keys."""
    reference = scores.new_full((*scores.shape[:-1], 1), -torch.inf)
    if scores.shape[-1]:  # amax needs at least one key
        reference = scores.amax(-1, keepdim=True)
    terms = change_reference(1.0, scores, reference)  # at most 1
    return AttentionState(reference, terms.sum(-1, keepdim=True), terms @ value)


def state_output(kept: AttentionState) -> Float[Tensor, "*batch d_v"]:
    """Attention over the keys of a state; 0 where there is no key."""
    return kept.mixed / kept.total.masked_fill(kept.total == 0, 1)


# --8<-- [end:attention_state]


# --8<-- [start:merge]
def change_reference(
    sums: Float[Tensor, "*#shape"] | float,
    reference: Float[Tensor, "*#shape"],
    to: Float[Tensor, "*#shape"],
) -> Float[Tensor, "*shape"]:
    """Sums with one reference, converted to another."""
    return sums * torch.exp(reference - to.masked_fill(to == -torch.inf, 0))


def merge_states(
    first: AttentionState, second: AttentionState
) -> AttentionState:
    """The state of the keys of both, with the larger reference.

    Raises ValueError if the widths of the values differ.
    """
    d_v, other = first.mixed.shape[-1], second.mixed.shape[-1]
    if d_v != other:  # 1 would broadcast
        raise ValueError(f"d_v is {d_v} in first but {other} in second")
    to = torch.maximum(first.reference, second.reference)
    f, g = (
        change_reference(1.0, kept.reference, to) for kept in (first, second)
    )
    total = f * first.total + g * second.total
    return AttentionState(to, total, f * first.mixed + g * second.mixed)


# --8<-- [end:merge]


# --8<-- [start:attention]
def attention_in_blocks(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#shared m d_k"],
    value: Float[Tensor, "*#shared m d_v"],
    *,
    block_size: int,
    attn_mask: Mask | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Float[Tensor, "*batch n d_v"]:
    """Attention with one block of keys at a time: Rabe and Staats (2021).

    Raises ValueError if block_size is below 1, if the numbers of keys and
    values differ, or if is_causal is given together with a mask.
    """
    if block_size < 1:
        raise ValueError(f"block_size is {block_size}; expected at least 1 key")
    n, m, others = query.shape[-2], key.shape[-2], value.shape[-2]
    if m != others:
        raise ValueError(f"{m} keys but {others} values; expected as many")
    if is_causal and attn_mask is not None:
        raise ValueError(
            "attn_mask and is_causal are given; "
            "expected one: mask what is later, too"
        )
    if enable_gqa:
        key, value = share_heads(query, key), share_heads(query, value)
    places = torch.arange(max(n, m), device=query.device)
    keys, key_places = key.split(block_size, -2), places[:m].split(block_size)
    values = upcast(value).split(block_size, -2)
    masks = [None] * len(keys)
    if attn_mask is not None:  # it may have one column for all keys
        attn_mask = attn_mask.expand(*attn_mask.shape[:-1], m)
        masks = attn_mask.split(block_size, -1)

    def part(
        key: Tensor, value: Tensor, mask: Tensor | None, key_places: Tensor
    ) -> AttentionState:
        scores = scores_of(upcast(query), key, scale=scale)
        if is_causal:
            later = key_places > places[:n].unsqueeze(-1)
            scores = scores.masked_fill(later, -torch.inf)
        return attention_state(mask_scores(scores, attn_mask=mask), value)

    # One by one: a block's scores are freed before the next block.
    blocks = zip(keys, values, masks, key_places, strict=True)
    states = (part(*block) for block in blocks)
    return state_output(reduce(merge_states, states)).to(query.dtype)


# --8<-- [end:attention]


# --8<-- [start:two]
def over_all(
    scores: Float[Tensor, " m"],
    value: Float[Tensor, "m d_v"],
    more: Float[Tensor, " p"],
    more_value: Float[Tensor, "p d_v"],
) -> Float[Tensor, " d_v"]:
    """Attention of one query over two blocks of keys at once."""
    weights = torch.softmax(torch.cat([scores, more]), dim=-1)
    return weights @ torch.cat([value, more_value])


def over_two_blocks(
    scores: Float[Tensor, " m"],
    value: Float[Tensor, "m d_v"],
    more: Float[Tensor, " p"],
    more_value: Float[Tensor, "p d_v"],
) -> Float[Tensor, " d_v"]:
    """The same, from the states of both blocks.

    Raises ValueError if the widths of the values differ.
    """
    return state_output(
        merge_states(
            attention_state(scores, value), attention_state(more, more_value)
        )
    )


# --8<-- [end:two]


# --8<-- [start:attention_about_reference]
def attention_about_reference(
    scores: Float[Tensor, " m"],
    value: Float[Tensor, "m d_v"],
    reference: Float[Tensor, ""],
) -> Float[Tensor, " d_v"]:
    """Attention of one query, from sums with any reference."""
    terms = torch.exp(scores - reference)
    return terms @ value / terms.sum()


# --8<-- [end:attention_about_reference]


# --8<-- [start:averages]
def log_sum(scores: Float[Tensor, "*batch m"]) -> Float[Tensor, "*batch"]:
    """The logarithm of the sum of exponentials, from a state."""
    kept = attention_state(scores, scores.new_ones(scores.shape[-1], 1))
    return (kept.reference + kept.total.log()).squeeze(-1)


def merge_averages(
    first: Float[Tensor, "*batch d_v"],
    first_log: Float[Tensor, "*batch"],
    second: Float[Tensor, "*batch d_v"],
    second_log: Float[Tensor, "*batch"],
) -> Float[Tensor, "*batch d_v"]:
    """Attention over both blocks, from the output and log_sum of each.

    A block without keys has output 0 and log_sum -inf.
    Raises ValueError if the log_sums have an axis for features.
    """
    if not first_log.dim() == second_log.dim() == first.dim() - 1:
        raise ValueError("expected a log_sum for each output")
    # For two empty blocks the difference would be NaN.
    other_log = second_log.masked_fill(first_log == -torch.inf, 0)
    gap = (first_log - other_log).unsqueeze(-1)
    return torch.sigmoid(gap) * first + torch.sigmoid(-gap) * second


# --8<-- [end:averages]


# --8<-- [start:one-more]
def add_one_key(
    mixed: Float[Tensor, "*batch d_v"],
    total: Float[Tensor, "*#batch 1"] | Float[Tensor, ""],
    reference: Float[Tensor, "*#batch 1"] | Float[Tensor, ""],
    value: Float[Tensor, "*batch d_v"],
    score: Float[Tensor, "*#batch 1"] | Float[Tensor, ""],
) -> Float[Tensor, "*batch d_v"]:
    """The average after one more key: a step towards its value."""
    mean = state_output(AttentionState(reference, total, mixed))
    to = torch.maximum(reference, score)
    before, new = (
        change_reference(total, reference, to),
        change_reference(1.0, score, to),
    )
    share = state_output(
        AttentionState(to, before + new, new)
    )  # of the new key
    return mean + share * (value - mean)


# --8<-- [end:one-more]
