"""Attention sinks: a key without a value, a gate, and what is left when keys are dropped."""

import pytest
import torch

from snippets.attention.formula import attention, attention_weights, scores
from snippets.bounds.sinks import attention_with_sink, sink_gate, without_keys
from snippets.heads.nothing import attention_or_nothing


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def test_a_sink_is_one_more_key_whose_value_is_zero():
    query, key, value, sink = random(0, (2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6), (3,))
    logits = torch.cat([scores(query, key), sink[None, :, None, None].expand(2, 3, 5, 1)], dim=-1)
    values = torch.cat([value, torch.zeros(2, 3, 1, 6, dtype=torch.float64)], dim=-2)
    torch.testing.assert_close(attention_with_sink(query, key, value, sink=sink), logits.softmax(-1) @ values)


def test_a_sink_of_zero_is_softmax_plus_one_and_one_of_minus_infinity_is_none():
    query, key, value = random(1, (3, 5, 4), (3, 7, 4), (3, 7, 6))
    zero, none = torch.zeros(3, dtype=torch.float64), torch.full((3,), -torch.inf, dtype=torch.float64)
    torch.testing.assert_close(attention_with_sink(query, key, value, sink=zero), attention_or_nothing(query, key, value))
    torch.testing.assert_close(attention_with_sink(query, key, value, sink=none), attention(query, key, value))


@pytest.mark.parametrize("is_causal", [False, True])
def test_the_gate_after_attention_is_the_sink_within(is_causal):
    query, key, value, sink = random(2, (2, 3, 5, 4), (2, 3, 5, 4), (2, 3, 5, 6), (3,))
    keep = torch.ones(5, 5, dtype=torch.bool).tril() if is_causal else torch.ones(5, 5, dtype=torch.bool)
    log_sum = scores(query, key).masked_fill(~keep, -torch.inf).logsumexp(-1)
    gate = sink_gate(log_sum, sink[:, None])
    assert ((gate > 0) & (gate < 1)).all()
    expected = gate[..., None] * attention(query, key, value, is_causal=is_causal)
    torch.testing.assert_close(attention_with_sink(query, key, value, sink=sink, is_causal=is_causal), expected)
    torch.testing.assert_close(attention_with_sink(query, key, value, sink=sink, attn_mask=keep), expected)


def test_each_head_has_its_own_sink():
    query, key, value = random(3, (2, 5, 4), (2, 7, 4), (2, 7, 6))
    sink = torch.tensor([-torch.inf, 100.0], dtype=torch.float64)
    found = attention_with_sink(query, key, value, sink=sink)
    torch.testing.assert_close(found[0], attention(query, key, value)[0])
    assert found[1].abs().max() < 1e-30


def test_a_gate_opens_with_the_number_of_keys():
    log_sums = torch.tensor([1.0, 10, 1000, 1e6], dtype=torch.float64).log()
    gates = sink_gate(log_sums, torch.tensor(3.0, dtype=torch.float64))
    assert gates.diff().gt(0).all() and gates[0] < 0.1 and gates[-1] > 0.99


def test_weights_without_keys_are_those_of_attention_without_them():
    query, key = random(4, (3, 5, 4), (3, 7, 4))
    dropped = torch.tensor([True, False, False, True, False, False, False])
    found = without_keys(attention_weights(query, key), dropped)
    torch.testing.assert_close(found[..., ~dropped], attention_weights(query, key[:, ~dropped]))
    assert found[..., dropped].eq(0).all()


def test_what_stays_grows_by_one_factor():
    weights = torch.tensor([0.9, 0.06, 0.04], dtype=torch.float64)
    found = without_keys(weights, torch.tensor([True, False, False]))
    torch.testing.assert_close(found[1:], 10 * weights[1:])
