"""Quantised keys and values: steps, bounds and rotations, against their definitions, and the errors of a trained model."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.attention.formula import attention
from snippets.order.rotary import apply_rotary
from snippets.serving.quantized import (
    channel_steps,
    hadamard_rotation,
    head_vectors,
    output_errors,
    quantize_channels,
    quantize_tokens,
    rotated_products,
    round_to_e4m3,
    score_error,
    stored_bits,
)
from snippets.together.text import in_blocks, parts
from snippets.together.trained import load_gpt


def trained(layer):
    """Queries, keys and values of the small GPT on some of the held-out text."""
    return head_vectors(load_gpt().double(), in_blocks(parts()[1])[0][:20], layer=layer)


def random(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 8))
def test_an_entry_moves_by_at_most_half_a_step_and_a_channel_has_few_levels(seed, bits):
    x = random(seed, 2, 9, 4) + 10 * random(seed + 1, 4)
    stored = quantize_channels(x, bits=bits)
    step = channel_steps(x, bits=bits)
    assert ((stored - x).abs() <= step.unsqueeze(-2) / 2 + 1e-9).all()
    assert max(len(column.unique()) for column in stored.mT.flatten(0, 1).mul(1e9).round()) <= 2**bits
    torch.testing.assert_close(stored.amax(-2), x.amax(-2))


def test_one_bit_keeps_the_nearer_end_of_the_range():
    x = torch.tensor([[0.0], [0.4], [0.6], [1.0]])
    assert quantize_channels(x, bits=1).flatten().tolist() == [0, 0, 1, 1]


def test_a_channel_without_a_range_stays():
    x = torch.tensor([[3.0, 1.0], [3.0, 2.0]])
    assert torch.equal(quantize_channels(x, bits=2), x)


def test_tokens_are_the_channels_of_the_transpose():
    x = random(0, 5, 4)
    for row, stored in zip(x, quantize_tokens(x, bits=3), strict=True):
        torch.testing.assert_close(stored, quantize_channels(row.unsqueeze(-1), bits=3).squeeze(-1))


@pytest.mark.parametrize("seed", range(5))
def test_a_score_stays_within_its_bound(seed):
    query, key = random(seed, 3, 8), random(seed + 9, 7, 8)
    stored = quantize_channels(key, bits=2)
    bound = query.abs() @ channel_steps(key, bits=2) / 2  # (n)
    assert ((query @ (stored - key).mT).abs() <= bound.unsqueeze(-1)).all()


def test_a_shift_of_a_channel_leaves_steps_per_channel_and_lengthens_steps_per_token():
    query, key = random(0, 3, 8), random(1, 7, 8)
    moved = key + torch.eye(8, dtype=torch.float64)[3] * 20
    errors = [score_error(query, one, way(one, bits=4)) for way in (quantize_channels, quantize_tokens) for one in (key, moved)]
    torch.testing.assert_close(errors[0], errors[1])
    assert errors[3] > 2 * errors[2]


@pytest.mark.parametrize("d", [1, 2, 8, 64])
def test_a_hadamard_rotation_is_orthogonal_with_entries_of_equal_size(d):
    rotation = hadamard_rotation(d).double()
    torch.testing.assert_close(rotation @ rotation.mT, torch.eye(d, dtype=torch.float64), atol=1e-6, rtol=0)
    torch.testing.assert_close(rotation.abs(), torch.full((d, d), d**-0.5, dtype=torch.float64), atol=1e-6, rtol=0)


@pytest.mark.parametrize("d", [0, 3, 24])
def test_other_widths_have_no_such_rotation(d):
    with pytest.raises(ValueError, match="power of two"):
        hadamard_rotation(d)


def test_a_rotation_changes_no_product():
    query, key = random(0, 2, 3, 8), random(1, 2, 5, 8)
    torch.testing.assert_close(rotated_products(query, key, hadamard_rotation(8).double()), query @ key.mT, atol=1e-6, rtol=1e-6)


def test_the_error_of_scores_is_a_root_mean_square():
    query, key, stored = random(0, 3, 4), random(1, 5, 4), random(2, 5, 4)
    errors = [((a @ b - a @ c) / 2).item() for a in query for b, c in zip(key, stored, strict=True)]
    assert score_error(query, key, stored).item() == pytest.approx((sum(e * e for e in errors) / len(errors)) ** 0.5)


def test_fp8_keeps_four_significant_bits_and_the_largest_number():
    x = random(0, 1000)
    stored = round_to_e4m3(x)
    big = x.abs() > x.abs().max() / 448 / 2**6  # above the numbers with fewer bits
    assert ((stored - x).abs() <= x.abs() / 16)[big].all() and ((stored - x).abs() > x.abs() / 40)[big].any()
    assert stored.abs().max().item() == pytest.approx(x.abs().max().item())


def test_bits_of_a_number_count_what_its_group_shares():
    assert stored_bits(4, 32) * 32 == 4 * 32 + 2 * 16


def test_vectors_are_those_of_the_models_own_cache():
    model, tokens = load_gpt().double(), in_blocks(parts()[1])[0][:3]
    _, caches = model(tokens)
    for layer, cache in enumerate(caches):
        query, key, value = head_vectors(model, tokens, layer=layer)
        torch.testing.assert_close(apply_rotary(key, torch.arange(key.shape[-2])), cache.key)
        torch.testing.assert_close(value, cache.value)
        assert query.shape[1] == 2 * key.shape[1]


def test_keys_have_far_channels_before_rope_and_lose_less_per_channel():
    query, key, value = trained(1)
    far = [(x.mean((0, 2)).abs() / x.std((0, 2))).max() for x in (key, value)]
    assert far[0] > 3 and far[1] < 1
    errors = output_errors(query, key, value, bits=4)
    channel, token, _ = errors["keys before RoPE"]
    assert channel < 0.6 * token
    assert errors["values"][0] > errors["values"][1]


def test_the_error_is_relative_to_the_outputs():
    query, key, value = trained(0)
    position = torch.arange(key.shape[-2])
    stored = quantize_tokens(value, bits=3)
    outputs = [
        attention(apply_rotary(query, position), apply_rotary(key, position), x, is_causal=True, enable_gqa=True) for x in (value, stored)
    ]
    expected = (outputs[1] - outputs[0]).norm() / outputs[0].norm()
    assert output_errors(query, key, value, bits=3)["values"][1] == pytest.approx(expected.item())
