"""Gated attention: what a gate of the output does and does not change."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.attention.formula import attention
from snippets.bounds.gated import gate_output, gated_attention, gated_self_attention
from snippets.heads.split import combine_heads, split_heads


def random(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("gates", [1, 3])
def test_the_gate_multiplies_the_output(gates):
    query, key, value, logit = random(0, 2, 4, 6), random(1, 2, 5, 6), random(2, 2, 5, 3), random(3, 2, 4, gates)
    expected = attention(query, key, value) / (1 + (-logit).exp())
    torch.testing.assert_close(gated_attention(query, key, value, logit=logit), expected)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.floats(-12, 4))
def test_a_low_logit_bounds_the_output_whatever_the_scores(seed, logit):
    query, key, value = 10 * random(seed, 4, 6), random(seed + 1, 5, 6), random(seed + 2, 5, 3)
    output = gated_attention(query, key, value, logit=torch.full((4, 1), logit, dtype=torch.float64))
    assert (output.abs() <= torch.tensor(logit).exp() * value.abs().max() + 1e-12).all()


def test_a_gate_leaves_the_direction_and_a_mask_hides_keys():
    query, key, value = random(0, 4, 6), random(1, 4, 6), random(2, 4, 3)
    output = gated_attention(query, key, value, logit=random(3, 4, 1), is_causal=True)
    torch.testing.assert_close(
        torch.cosine_similarity(output, attention(query, key, value, is_causal=True)), torch.ones(4, dtype=torch.float64)
    )
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    torch.testing.assert_close(gated_attention(query, key, value, logit=random(3, 4, 1), attn_mask=mask), output)


def test_a_large_logit_opens_the_gate_and_minus_infinity_closes_it():
    output = random(0, 2, 3)
    torch.testing.assert_close(gate_output(output, torch.full((2, 1), 60.0, dtype=torch.float64)), output)
    assert not gate_output(output, torch.full((2, 1), -torch.inf, dtype=torch.float64)).any()


@pytest.mark.parametrize("gates", [4, 12])
def test_the_layer_gates_each_head_by_its_own_token(gates):
    X, W_Q, W_K, W_V, W_O = random(0, 2, 5, 8), random(1, 8, 16), random(2, 8, 16), random(3, 8, 12), random(4, 12, 8)
    W_G = random(5, 8, gates)
    heads = [split_heads(X @ W, num_heads=4) for W in (W_Q, W_K, W_V)]
    gate = torch.sigmoid(X @ W_G)  # (batch, n, gates)
    plain = combine_heads(attention(*heads, is_causal=True))  # (batch, n, 12)
    expected = (plain * gate.repeat_interleave(12 // gates, -1)) @ W_O
    torch.testing.assert_close(gated_self_attention(X, W_Q, W_K, W_V, W_O, W_G, num_heads=4), expected)


def test_the_first_token_alone_is_a_linear_unit_with_a_gate():
    X, W_Q, W_K, W_V, W_O, W_G = random(0, 1, 8), *(random(seed, 8, 8) for seed in range(1, 6))
    expected = (X @ W_V * torch.sigmoid(X @ W_G)) @ W_O
    torch.testing.assert_close(gated_self_attention(X, W_Q, W_K, W_V, W_O, W_G, num_heads=2), expected)
