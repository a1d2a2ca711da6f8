"""Selections of keys against attention to all keys, and counts against loops over the pairs."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from snippets.attention.formula import attention
from snippets.sparse.learned import (
    gated_branches,
    index_scores,
    indexed_multiplications,
    mean_key_scores,
    missed_weight,
    scores_of_query,
    select_keys,
    selection_error,
)


def numbers(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 99))
def test_the_error_is_at_most_twice_the_missed_weight_times_the_largest_value(m, n, seed):
    scores, values = numbers(seed, 2, m + n)
    weight = missed_weight(scores[:m], scores[m:])
    error = selection_error(scores[:m], values[:m], scores[m:], values[m:])
    query, key = torch.ones(1, 1, dtype=torch.float64), scores[:, None]
    whole = attention(query, key, values[:, None], scale=1.0)[0, 0]
    kept = attention(query, key[:m], values[:m, None], scale=1.0)[0, 0]
    torch.testing.assert_close(error, whole - kept)
    torch.testing.assert_close(weight, scores.softmax(-1)[m:].sum())
    assert error.abs() <= 2 * weight * values.abs().max() + 1e-12


def test_the_score_of_a_mean_key_is_the_mean_of_the_scores_of_its_block():
    query, key = numbers(0, 3, 4), numbers(1, 6, 4)
    found = mean_key_scores(query, key, block_size=2)
    torch.testing.assert_close(found, (query @ key.mT).unflatten(-1, (3, 2)).mean(-1))


@given(st.integers(1, 6), st.integers(0, 99))
def test_a_block_has_at_least_the_weight_of_equal_scores(size, seed):
    query, key = numbers(seed, 1, 4), numbers(seed + 1, size, 4)
    mean = mean_key_scores(query, key, block_size=size).item()
    assert (query @ key.mT).exp().sum().item() >= size * torch.tensor(mean).exp().item() * (1 - 1e-5)


def test_index_scores_are_sums_over_heads_of_positive_parts():
    query, key, weights = numbers(0, 2, 3, 4), numbers(1, 5, 4), numbers(2, 3, 2)
    found = index_scores(query, key, weights)
    for t in range(3):
        for s in range(5):
            parts = [weights[t, h] * max(0, (query[h, t] @ key[s]).item()) for h in range(2)]
            assert found[t, s].item() == pytest.approx(float(sum(parts)))


def test_a_query_selects_its_largest_scores_among_the_keys_so_far():
    scores = numbers(0, 6, 6)
    mask = select_keys(scores, k=2)
    for t in range(6):
        best = set(scores[t, : t + 1].topk(min(2, t + 1)).indices.tolist())
        assert set(mask[t].nonzero().flatten().tolist()) == best
    assert torch.equal(select_keys(scores, k=9), torch.ones(6, 6, dtype=torch.bool).tril())


def test_gates_multiply_branches():
    outputs, gates = numbers(0, 3, 5, 4), numbers(1, 3, 5)
    expected = sum(gates[branch, :, None] * outputs[branch] for branch in range(3))
    torch.testing.assert_close(gated_branches(outputs, gates), expected)


@pytest.mark.parametrize("k", [1, 3, 9])
def test_multiplications_are_those_of_a_loop_over_tokens(k):
    expected = sum(2.0 * keys + 5.0 * min(keys, k) for keys in range(1, 8))
    assert indexed_multiplications(7, k, 2.0, 5.0) == expected


def test_scores_of_a_query_are_those_of_mean_keys_and_of_kept_blocks():
    key = numbers(0, 24, 4)
    means = mean_key_scores(numbers(1, 1, 4), key, block_size=4).numel()
    assert scores_of_query(24, 3, 4) == means + 3 * 4
