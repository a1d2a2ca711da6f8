"""Masks of positions, packed documents and skipped blocks, against each document alone, all scores, and FlexAttention."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention.flex_attention import create_block_mask

from snippets.attention.formula import attention
from snippets.attention.packing import (
    block_kinds,
    causal_blocks,
    count_blocks,
    cumulative_lengths,
    document_numbers,
    in_prefix,
    looks_back,
    masked_pairs_computed,
    packed_attention,
    prefix_pairs,
    same_document,
    skipping_attention,
    sum_blocks,
)


def grid(n):
    token = torch.arange(n)
    return token[:, None], token


def packed_mask(lengths):
    positions = grid(sum(lengths))
    return looks_back(*positions) & same_document(*positions, document_numbers(torch.tensor(lengths)))


def inputs(n, m, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(2, tokens, 4, generator=generator, dtype=torch.float64) for tokens in (n, m, m))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_packed_documents_have_the_outputs_that_each_has_alone(lengths):
    query, key, value = inputs(sum(lengths), sum(lengths))
    starts = cumulative_lengths(torch.tensor(lengths)).tolist()
    alone = [
        attention(*(x[:, start : start + length] for x in (query, key, value)), is_causal=True) for start, length in zip(starts, lengths)
    ]
    packed = packed_attention(query, key, value, starts=starts)
    torch.testing.assert_close(packed, torch.cat(alone, dim=1))
    torch.testing.assert_close(attention(query, key, value, attn_mask=packed_mask(lengths)), packed)


def test_documents_are_numbered_between_their_starts():
    lengths = torch.tensor([3, 0, 5])
    assert cumulative_lengths(lengths).tolist() == [0, 3, 3, 8]
    assert document_numbers(lengths).tolist() == [0] * 3 + [2] * 5


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 10), st.integers(0, 99))
def test_kinds_are_those_of_the_pairs_in_each_block(n, m, size, seed):
    mask = torch.rand(n, m, generator=torch.Generator().manual_seed(seed)) < 0.7
    kinds = block_kinds(mask, block_size=size)
    for row in range(-(-n // size)):
        for column in range(-(-m // size)):
            block = mask[row * size : (row + 1) * size, column * size : (column + 1) * size]
            assert kinds[row, column] == (2 if block.all() else 1 if block.any() else 0)
    assert count_blocks(mask, block_size=size) == tuple(int((kinds == kind).sum()) for kind in range(3))


def test_sums_of_blocks():
    numbers = torch.arange(15).view(3, 5)
    assert sum_blocks(numbers, block_size=2).tolist() == [[12, 20, 13], [21, 25, 14]]


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 10), st.integers(0, 99))
def test_skipped_blocks_change_no_output(n, m, size, seed):
    query, key, value = inputs(n, m, seed)
    mask = torch.rand(n, m, generator=torch.Generator().manual_seed(seed)) < 0.3
    found = skipping_attention(query, key, value, mask, block_size=size)
    torch.testing.assert_close(found, attention(query, key, value, attn_mask=mask))


def test_skipped_blocks_are_not_read():
    query, key, value = inputs(4, 4)
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    key[:, 2:] = value[:, 2:] = torch.nan
    found = skipping_attention(query, key, value, mask, block_size=2)
    assert found[:, :2].isfinite().all() and found[:, 2:].isnan().all()


@pytest.mark.parametrize("lengths", [[8], [3, 5], [2, 2, 4], [1, 6, 1]])
@pytest.mark.parametrize("size", [2, 4])
def test_blocks_are_those_of_flex_attention(lengths, size):
    document = document_numbers(torch.tensor(lengths))
    made = create_block_mask(
        lambda batch, head, query, key: looks_back(query, key) & same_document(query, key, document),
        *(None, None, 8, 8),
        device="cpu",
        BLOCK_SIZE=size,
    )
    kinds = block_kinds(packed_mask(lengths), block_size=size)
    assert made.kv_num_blocks[0, 0].tolist() == (kinds == 1).sum(-1).tolist()
    assert made.full_kv_num_blocks[0, 0].tolist() == (kinds == 2).sum(-1).tolist()


@pytest.mark.parametrize("blocks", [1, 2, 5])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_counts_of_a_causal_mask_are_those_of_its_blocks(blocks, size):
    mask = looks_back(*grid(blocks * size))
    computed = int((block_kinds(mask, block_size=size) > 0).sum())
    assert causal_blocks(blocks) == computed
    assert masked_pairs_computed(blocks, size) == computed * size**2 - int(mask.sum())


def test_tokens_of_a_prefix_see_each_other_and_no_later_token():
    mask = looks_back(*grid(5)) | in_prefix(*grid(5), prefix=3)
    expected = [[1, 1, 1, 0, 0]] * 3 + [[1, 1, 1, 1, 0], [1] * 5]
    assert mask.int().tolist() == expected and prefix_pairs(5, 3) == sum(map(sum, expected))
