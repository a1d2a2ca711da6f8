"""Test the reference against our attention and PyTorch's, the source's numbers, and the effect of the mistake on weights and padding."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.formula import attention, attention_weights
from snippets.attention.reference import Reference, attention_by_size_wrong, pad, scale_by_size_wrong, scores_by_size_wrong


def uniform(seed=0, shape=(2, 4, 8, 16), dtype=torch.float32):
    return torch.rand(3, *shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.mark.parametrize("masked", [False, True])
def test_the_reference_in_evaluation_is_attention(masked):
    query, key, value = uniform(dtype=torch.float64)
    mask = torch.ones(8, 8, dtype=torch.bool).tril() if masked else None
    output = Reference(temperature=4.0).eval()(query, key, value, attn_mask=mask)
    torch.testing.assert_close(output, attention(query, key, value, attn_mask=mask))
    torch.testing.assert_close(output, scaled_dot_product_attention(query, key, value, attn_mask=mask))


def test_the_reference_in_training_drops_a_tenth_of_the_weights_and_scales_the_rest():
    # Values that show the weights. Of 40,960 weights, a tenth is dropped, give or take 5 standard deviations of 61.
    query, key, _ = uniform(shape=(10, 64, 8, 16), dtype=torch.float64)
    eye = torch.eye(8, dtype=torch.float64).expand(10, 64, 8, 8)
    torch.manual_seed(0)
    weights = Reference(temperature=4.0)(query, key, eye)
    plain = attention_weights(query, key)
    kept = weights != 0
    torch.testing.assert_close(weights[kept], plain[kept] / 0.9)
    assert abs((~kept).sum().item() - 4096) < 5 * 61


@pytest.mark.parametrize("seed", range(5))
def test_numbers_of_the_source(seed):
    # The mean of 1024 values of variance 1/12, averaged: its standard deviation is below sqrt(1/12) / sqrt(1024 / 8) = 0.026.
    query, key, value = uniform(seed)
    temperature = math.sqrt(4 * 8 * 16)
    theirs = Reference(temperature).eval()(query, key, value)
    ours = attention_by_size_wrong(query, key, value)
    assert theirs.mean().item() == pytest.approx(0.5, abs=0.1)
    assert abs((ours - theirs).mean().item()) < 1e-8
    assert (ours - theirs).abs().max().item() < 1e-6


def test_mean_difference_of_the_source_is_typical():
    drawn = [uniform(seed) for seed in range(200)]
    differences = torch.stack([attention_by_size_wrong(*one) - Reference(math.sqrt(512)).eval()(*one) for one in drawn]).double()
    low, high = differences.flatten(1).mean(1).abs().quantile(torch.tensor([0.01, 0.99], dtype=torch.float64))
    assert low <= 1e-9 <= high


def test_the_mean_does_not_tell_the_slip_but_the_largest_difference_does():
    for seed in range(5):
        right, slip = attention(*uniform(seed)), attention_by_size_wrong(*uniform(seed))
        assert abs((right - slip).mean().item()) < 0.005 < 0.03 < (right - slip).abs().max().item()


def test_the_slip_is_the_size_of_k_for_one_element_of_the_batch():
    query, key, value = uniform(dtype=torch.float64)
    assert scale_by_size_wrong(key) == 512**-0.5
    right = query @ key.mT / 4
    torch.testing.assert_close(scores_by_size_wrong(query, key, num_heads=4), right / math.sqrt(4 * 8))
    torch.testing.assert_close(attention_by_size_wrong(query, key, value), (right / math.sqrt(32)).softmax(-1) @ value)


@pytest.mark.parametrize("shape", [(2, 1, 3, 4), (2, 4, 8, 16), (1, 8, 2, 5)])
def test_the_slip_keeps_weights_within_the_bound_of_an_equal_share(shape):
    query, key, _ = uniform(shape=shape, dtype=torch.float64)
    scores = scores_by_size_wrong(query, key, num_heads=shape[1])
    g = scores.abs().amax(-1, keepdim=True).exp()  # every exponential is between 1/g and g
    weights, share = scores.softmax(-1), 1 / shape[2]
    assert (weights <= g**2 * share * (1 + 1e-12)).all()
    assert (share <= g**2 * weights * (1 + 1e-12)).all()


def test_with_the_slip_weights_flatten_as_heads_and_keys_grow():
    spread = []
    for heads in (1, 4, 16, 64, 256):
        query, key, _ = uniform(shape=(1, 1, 8, 16), dtype=torch.float64)
        weights = scores_by_size_wrong(query, key, num_heads=heads).softmax(-1)
        spread.append((weights - 1 / 8).abs().max().item())
    assert all(later < 0.6 * earlier for earlier, later in zip(spread, spread[1:]))


@pytest.mark.parametrize("extra", [0, 1, 8, 100])
def test_masked_padding_moves_the_slip_only(extra):
    query, key, value = uniform(dtype=torch.float64)
    longer, values, mask = pad(key, value, extra=extra)
    assert longer.shape == values.shape == (2, 4, 8 + extra, 16) and mask.sum() == 8
    assert (longer[..., 8:, :] == 0).all() and torch.equal(longer[..., :8, :], key) and torch.equal(values[..., :8, :], value)
    torch.testing.assert_close(attention(query, longer, values, attn_mask=mask), attention(query, key, value))
    moved = attention(query, longer, values, attn_mask=mask, scale=scale_by_size_wrong(longer))
    assert torch.allclose(moved, attention_by_size_wrong(query, key, value)) == (extra == 0)


# What the page says


def test_numbers_in_the_text():
    key = torch.zeros(2, 4, 8, 16)
    assert f"{1 / scale_by_size_wrong(key):.1f} {16**0.5:g} {4 * 8 * 16} {4 * 8}" == "22.6 4 512 32"
