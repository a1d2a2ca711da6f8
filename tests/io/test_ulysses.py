"""Test Ulysses against attention on one device, and its counts against the tensors that change devices."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.io.ring import tokens_to_hide
from snippets.io.ulysses import (
    all_to_all,
    attention_with_exchange,
    gather_bytes,
    heads_to_tokens,
    ring_bytes,
    ring_less_ulysses,
    ring_seconds,
    step_seconds,
    tokens_for_equal_times,
    tokens_to_heads,
    ulysses_attention,
    ulysses_bytes,
    ulysses_bytes_with_copies,
    ulysses_seconds,
)


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(("heads", "kv_heads", "devices"), [(6, 6, 3), (8, 4, 2), (8, 4, 4), (4, 1, 1)])
def test_exchange_gives_what_one_device_gives(heads, kv_heads, devices, is_causal):
    query, key, value = numbers(heads, 12, 4), numbers(kv_heads, 12, 4, seed=1), numbers(kv_heads, 12, 5, seed=2)
    expected = scaled_dot_product_attention(query, key, value, is_causal=is_causal, enable_gqa=True)
    torch.testing.assert_close(ulysses_attention(query, key, value, devices=devices, is_causal=is_causal), expected)


def test_each_device_gets_its_heads_of_all_tokens():
    x = numbers(3, 6, 2, 4)  # three devices, six heads, two tokens on each
    whole = x.transpose(0, 1).flatten(1, 2)  # (h, n, d)
    received = tokens_to_heads(x)
    for device in range(3):
        assert received[device].equal(whole[2 * device : 2 * device + 2])
    assert heads_to_tokens(received).equal(x)


def test_exchange_twice_gives_back_what_was_sent():
    parts = numbers(3, 3, 2)
    assert all_to_all(parts)[0, 2].equal(parts[2, 0])
    assert all_to_all(all_to_all(parts)).equal(parts)


@pytest.mark.parametrize(("heads", "devices", "tokens"), [(6, 4, 8), (6, 3, 8)])
def test_devices_divide_the_heads_and_the_tokens(heads, devices, tokens):
    x = torch.zeros(heads, tokens, 2)
    with pytest.raises(RuntimeError):
        ulysses_attention(x, x, x, devices=devices)


def sent_bytes(parts):
    """Bytes that device 0 sends to other devices when it gives part s to device s."""
    return sum(part.nbytes for part in parts[0, 1:])


@pytest.mark.parametrize(("devices", "heads", "kv_heads"), [(2, 8, 4), (4, 8, 4), (4, 4, 4)])
def test_bytes_of_an_exchange_are_those_of_its_tensors(devices, heads, kv_heads):
    tokens, width = 3, 5
    shares = [torch.zeros(devices, h, tokens, width).unflatten(1, (devices, -1)) for h in (heads, kv_heads, kv_heads)]
    back = torch.zeros(devices, heads // devices, devices * tokens, width).unflatten(2, (devices, -1)).transpose(1, 2)
    sent = sum(map(sent_bytes, [*shares, back]))
    sizes = devices, tokens, width, heads, kv_heads, 4
    assert ulysses_bytes(*sizes) == ulysses_bytes_with_copies(*sizes) == sent
    assert ring_less_ulysses(*sizes) == ring_bytes(devices, tokens, width, kv_heads, 4) - sent


def test_bytes_of_a_ring_are_those_of_its_pieces():
    devices, tokens, width, kv_heads = 4, 3, 5, 2
    pieces = [torch.zeros(2, kv_heads, tokens, width) for _ in range(devices)]
    held, sent = {0}, 0
    for step in range(1, devices):
        sent += pieces[1 - step].nbytes  # device 0 passes on what it holds
        held.add(-step % devices)
    assert held == set(range(devices))
    assert ring_bytes(devices, tokens, width, kv_heads, 4) == gather_bytes(devices, tokens, width, kv_heads, 4) == sent


def test_copied_heads_are_sent_to_each_device():
    devices, tokens, width, heads, kv_heads = 8, 3, 5, 8, 2
    queries = torch.zeros(devices, heads // devices, tokens, width)
    one_head = torch.zeros(2, 1, tokens, width)
    sent = (devices - 1) * (2 * queries[0].nbytes + one_head.nbytes)
    assert ulysses_bytes_with_copies(devices, tokens, width, heads, kv_heads, 4) == sent


def test_at_the_limits_both_take_the_same_time():
    speed, link = 400e12, 50e9
    tokens = tokens_for_equal_times(8, 32, 8, 2, speed, link)
    assert tokens == pytest.approx(750)

    def both(count):
        computing = step_seconds(count, 128, 32, speed)
        ring, ulysses = ring_bytes(8, count, 128, 8, 2), ulysses_bytes(8, count, 128, 32, 8, 2)
        return ring_seconds(8, computing, ring / link), ulysses_seconds(8, computing, ulysses / link)

    assert both(500)[1] < both(500)[0] and both(1000)[0] < both(1000)[1] and both(2500)[0] < both(2500)[1]
    assert both(750)[0] == pytest.approx(both(750)[1])
    hidden = int(tokens_to_hide(speed, link, 2, sharing=4))
    assert both(hidden)[0] == pytest.approx(8 * step_seconds(hidden, 128, 32, speed))


def test_exchange_keeps_the_scale_it_is_given():
    query, key, value = (numbers(2, 2, 3, 4, seed=seed) for seed in range(3))
    output = attention_with_exchange(query, key, value, scale=1.0)
    whole = [x.transpose(0, 1).flatten(1, 2) for x in (query, key, value)]
    expected = scaled_dot_product_attention(*whole, scale=1.0)
    torch.testing.assert_close(output.transpose(0, 1).flatten(1, 2), expected)
