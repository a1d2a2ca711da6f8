"""Masks as functions of two positions, packed documents, and attention that leaves out blocks without an allowed pair.

Texts of three, five and two tokens, packed into one row of ten:

--8<-- [start:example-packed]
>>> import torch
>>> from snippets.attention.formula import attention
>>> from snippets.attention.packing import (
...     cumulative_lengths, document_numbers, looks_back, packed_attention,
...     same_document)
>>> lengths = torch.tensor([3, 5, 2])
>>> cumulative_lengths(lengths)
tensor([ 0,  3,  8, 10])
>>> document = document_numbers(lengths)
>>> document
tensor([0, 0, 0, 1, 1, 1, 1, 1, 2, 2])
>>> position = torch.arange(10)
>>> query, key = position[:, None], position  # (n, 1) and (n,)
>>> mask = looks_back(query, key) & same_document(query, key, document)
>>> generator = torch.Generator().manual_seed(0)
>>> Q, K, V = torch.randn(3, 10, 8, generator=generator, dtype=torch.float64)
>>> alone = packed_attention(Q, K, V, starts=[0, 3, 8, 10])
>>> torch.allclose(attention(Q, K, V, attn_mask=mask), alone)
True

--8<-- [end:example-packed]

The blocks of a causal mask and of a document mask:

--8<-- [start:example-blocks]
>>> from snippets.attention.packing import block_kinds, count_blocks
>>> block_kinds(looks_back(query, key), block_size=2)
tensor([[1, 0, 0, 0, 0],
        [2, 1, 0, 0, 0],
        [2, 2, 1, 0, 0],
        [2, 2, 2, 1, 0],
        [2, 2, 2, 2, 1]])
>>> count_blocks(mask, block_size=2)  # skipped, partial, full
(16, 8, 1)

--8<-- [end:example-blocks]

The same blocks by FlexAttention, which takes such a function of positions, after those of batch and head:

--8<-- [start:example-flex]
>>> from torch.nn.attention.flex_attention import create_block_mask
>>> def documents(batch, head, query, key):
...     return looks_back(query, key) & same_document(query, key, document)
>>> blocks = create_block_mask(
...     documents, None, None, 10, 10, device="cpu", BLOCK_SIZE=2)
>>> [kind.sum().item() for kind in (  # partial, full
...     blocks.kv_num_blocks, blocks.full_kv_num_blocks)]
[8, 1]

--8<-- [end:example-flex]

Attention that computes no score of a skipped block:

--8<-- [start:example-skipping]
>>> from snippets.attention.packing import skipping_attention
>>> skipping = skipping_attention(Q, K, V, mask, block_size=2)
>>> torch.allclose(skipping, alone)
True

--8<-- [end:example-skipping]

Two masks of 64 tokens with the same number of allowed pairs, in blocks of 8:

--8<-- [start:example-speed]
>>> from snippets.attention.packing import count_blocks
>>> token = torch.arange(64)
>>> near = token[:, None] // 8 == token // 8  # the same block
>>> far = token[:, None] % 8 == token % 8  # the same place in a block
>>> for seen in (near, far):
...     print(seen.sum().item(), "pairs", count_blocks(seen, block_size=8))
512 pairs (56, 0, 8)
512 pairs (0, 64, 0)

--8<-- [end:example-speed]

A prefix of four tokens, which see each other:

--8<-- [start:example-prefix]
>>> from snippets.attention.packing import in_prefix, prefix_pairs
>>> token = torch.arange(6)
>>> back = looks_back(token[:, None], token)
>>> mask = back | in_prefix(token[:, None], token, prefix=4)
>>> mask.int()
tensor([[1, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1, 1]], dtype=torch.int32)
>>> prefix_pairs(6, 4) == mask.sum().item()
True

--8<-- [end:example-prefix]

How many pairs are computed for one allowed pair of a causal mask of 4,096 tokens, by the size of the blocks:

--8<-- [start:example-sizes]
>>> from snippets.attention.packing import causal_blocks
>>> from snippets.order.causal import causal_pairs
>>> for size in (16, 64, 128, 512):
...     computed = causal_blocks(4096 // size) * size**2
...     print(f"{size:3}   {computed / causal_pairs(4096):.3f}")
 16   1.004
 64   1.015
128   1.031
512   1.125

--8<-- [end:example-sizes]
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from snippets.attention.formula import attention


# --8<-- [start:predicates]
def looks_back(
    query: Int[Tensor, "*#shape"], key: Int[Tensor, "*#shape"]
) -> Bool[Tensor, "*shape"]:
    """Whether the key is at the query's position or before it."""
    return key <= query


def same_document(
    query: Int[Tensor, "*#shape"],
    key: Int[Tensor, "*#shape"],
    document: Int[Tensor, " n"],
) -> Bool[Tensor, "*shape"]:
    """Whether both positions belong to one document, by the number of the
    document at each position."""
    return document[query] == document[key]


def in_prefix(
    query: Int[Tensor, "*#shape"],
    key: Int[Tensor, "*#shape"],
    *,
    prefix: int,
) -> Bool[Tensor, "*shape"]:
    """Whether both positions are among the first `prefix` ones."""
    return (query < prefix) & (key < prefix)


# --8<-- [end:predicates]


# --8<-- [start:documents]
def cumulative_lengths(
    lengths: Int[Tensor, " documents"],
) -> Int[Tensor, " starts"]:
    """Where each document starts, and at last where the row ends."""
    return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])


def document_numbers(
    lengths: Int[Tensor, " documents"],
) -> Int[Tensor, " n"]:
    """The number of the document at each position of the row."""
    numbers = torch.arange(len(lengths), device=lengths.device)
    return numbers.repeat_interleave(lengths)


def packed_attention(
    query: Float[Tensor, "*batch n d_k"],
    key: Float[Tensor, "*batch n d_k"],
    value: Float[Tensor, "*batch n d_v"],
    *,
    starts: Sequence[int],
) -> Float[Tensor, "*batch n d_v"]:
    """Causal attention of each document alone, one after the other."""
    outputs = []
    for start, end in pairwise(starts):
        rows = [x[..., start:end, :] for x in (query, key, value)]
        outputs.append(attention(*rows, is_causal=True))
    return torch.cat(outputs, dim=-2)


# --8<-- [end:documents]


# --8<-- [start:blocks]
def sum_blocks(
    numbers: Int[Tensor, "n m"], *, block_size: int
) -> Int[Tensor, "blocks_n blocks_m"]:
    """The sum of each block. Blocks at the end may be smaller."""
    for axis in (0, 1):
        parts = numbers.split(block_size, axis)
        numbers = torch.stack([part.sum(axis) for part in parts], axis)
    return numbers


def block_kinds(
    mask: Bool[Tensor, "n m"], *, block_size: int
) -> Int[Tensor, "blocks_n blocks_m"]:
    """The kind of each block: 0 skipped, 1 partial, 2 full."""
    kept = sum_blocks(mask.long(), block_size=block_size)
    pairs = sum_blocks(torch.ones_like(mask).long(), block_size=block_size)
    return (kept > 0).long() + (kept == pairs)


def count_blocks(
    mask: Bool[Tensor, "n m"], *, block_size: int
) -> tuple[int, int, int]:
    """How many blocks are skipped, partial and full."""
    kinds = block_kinds(mask, block_size=block_size)
    skipped, partial, full = kinds.flatten().bincount(minlength=3).tolist()
    return skipped, partial, full


# --8<-- [end:blocks]


# --8<-- [start:skipping]
def skipping_attention(
    query: Float[Tensor, "*batch n d_k"],
    key: Float[Tensor, "*batch m d_k"],
    value: Float[Tensor, "*batch m d_v"],
    mask: Bool[Tensor, "n m"],
    *,
    block_size: int,
) -> Float[Tensor, "*batch n d_v"]:
    """Attention without the scores of skipped blocks. A query without keys
    gets 0."""
    computed = block_kinds(mask, block_size=block_size) > 0
    outputs = []
    for rows, own, wanted in zip(
        query.split(block_size, -2), mask.split(block_size), computed
    ):
        # Keys of this row of blocks; the last block may be smaller.
        keys = wanted.repeat_interleave(block_size)[: key.shape[-2]]
        outputs.append(
            attention(
                rows,
                key[..., keys, :],
                value[..., keys, :],
                attn_mask=own[:, keys],
            )
        )
    return torch.cat(outputs, dim=-2)


# --8<-- [end:skipping]


# --8<-- [start:counts]
def causal_blocks(blocks: int) -> int:
    """Blocks that are computed for a causal mask, `blocks` in a row: those whose
    first key is not after their last query."""
    block = torch.arange(blocks)
    return looks_back(block[:, None], block).sum().item()


def masked_pairs_computed(blocks: int, block_size: int) -> int:
    """Masked pairs in the computed blocks of a causal mask: all of them are in
    the blocks on the diagonal."""
    token = torch.arange(block_size)
    return blocks * (~looks_back(token[:, None], token)).sum().item()


def prefix_pairs(n: int, prefix: int) -> int:
    """Pairs that a causal mask with a prefix keeps, counted."""
    token = torch.arange(n)
    query, key = token[:, None], token
    mask = looks_back(query, key) | in_prefix(query, key, prefix=prefix)
    return mask.sum().item()


# --8<-- [end:counts]
