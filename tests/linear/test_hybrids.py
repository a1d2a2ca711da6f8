"""Bytes of hybrids against tensors, the length at which they pay, and the delta rule with a gate for each channel."""

import pytest
import torch

from snippets.linear.gates import gated_delta_step
from snippets.linear.hybrids import channel_delta_step, full_bytes, hybrid_bytes, state_in_tokens


@pytest.mark.parametrize("linear", [1, 3, 7])
def test_bytes_are_equal_where_a_state_is_as_large_as_a_cache(linear):
    token, state = 24, 24 * 50
    assert hybrid_bytes(50, 2, linear, token, state) == full_bytes(50, 2, linear, token)
    assert hybrid_bytes(49, 2, linear, token, state) > full_bytes(49, 2, linear, token)
    assert hybrid_bytes(51, 2, linear, token, state) < full_bytes(51, 2, linear, token)


@pytest.mark.parametrize("linear", [1, 3, 7])
def test_the_share_falls_to_that_of_the_full_layers(linear):
    shares = [hybrid_bytes(n, 3, linear, 16, 8192) / full_bytes(n, 3, linear, 16) for n in (10, 100, 1000, 10**6)]
    assert shares == sorted(shares, reverse=True) and all(share > 1 / (linear + 1) for share in shares)
    assert shares[-1] == pytest.approx(1 / (linear + 1), rel=0.01)


def test_a_state_is_worth_the_tokens_whose_keys_and_values_take_as_many_numbers():
    heads, kv_heads, width = 8, 2, 16
    tokens = int(state_in_tokens(heads, kv_heads, width=width))
    assert torch.zeros(heads, width, width).numel() == 2 * torch.zeros(kv_heads, tokens, width).numel()


def sample(*batch):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(*batch, *shape, generator=generator, dtype=torch.float64) for shape in ((4, 3), (1, 4), (1, 3), (1, 4))]


@pytest.mark.parametrize("batch", [(), (2,)])
def test_each_channel_decays_before_the_key_reads(batch):
    state, key, value, gate = sample(*batch)
    gate = gate.sigmoid()
    decayed = torch.diag_embed(gate.squeeze(-2)) @ state
    expected = decayed - 0.3 * key.mT @ (key @ decayed) + 0.3 * key.mT @ value
    torch.testing.assert_close(channel_delta_step(state, key, value, gate, beta=0.3), expected)


def test_equal_gates_are_gated_deltanet_and_others_are_not():
    state, key, value, gate = sample()
    same = torch.full_like(gate, 0.7)
    expected = gated_delta_step(state, key, value, alpha=0.7, beta=0.3)
    torch.testing.assert_close(channel_delta_step(state, key, value, same, beta=0.3), expected)
    assert not torch.allclose(channel_delta_step(state, key, value, gate, beta=0.3), expected)


def test_the_newest_value_is_stored_exactly_whatever_the_gates():
    state, key, value, gate = sample()
    rate = 1 / key.square().sum().item()
    torch.testing.assert_close(key @ channel_delta_step(state, key, value, gate.sigmoid(), beta=rate), value)
