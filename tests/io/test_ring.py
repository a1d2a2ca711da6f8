"""Test a ring of devices against attention on one device, and count each device's pairs in the mask."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.io.ring import (
    contiguous,
    in_order,
    pairs_waited_for,
    ring_attention,
    step_pairs,
    striped,
    tokens_to_hide,
    window_step_pairs,
    zigzag,
    zigzag_pairs,
)
from snippets.sparse.window import window_mask


def test_places_in_equal_parts():
    assert in_order(6, 3).tolist() == [[0, 1], [2, 3], [4, 5]]
    for parts in (4, 0):
        with pytest.raises(ValueError, match=f"6 tokens; expected a multiple of {parts}"):
            in_order(6, parts)


assignments = pytest.mark.parametrize("assign", [contiguous, zigzag, striped])


@assignments
@pytest.mark.parametrize(("n", "devices"), [(12, 3), (8, 1), (8, 4)])
def test_each_token_has_one_device(assign, n, devices):
    places = assign(n, devices)
    assert places.shape == (devices, n // devices)
    assert sorted(places.flatten().tolist()) == list(range(n))
    assert places.sort().values.equal(places)


def test_tokens_held_by_each_device():
    assert contiguous(8, 2).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert zigzag(8, 2).tolist() == [[0, 1, 6, 7], [2, 3, 4, 5]]
    assert striped(8, 2).tolist() == [[0, 2, 4, 6], [1, 3, 5, 7]]


@assignments
@pytest.mark.parametrize("is_causal", [False, True])
def test_a_ring_gives_what_one_device_gives(assign, is_causal):
    generator = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, 12, 4, generator=generator, dtype=torch.float64)
    expected = scaled_dot_product_attention(query, key, value, is_causal=is_causal)
    torch.testing.assert_close(ring_attention(query, key, value, assign(12, 3), is_causal=is_causal), expected)


def in_mask(places, mask):
    """Pairs of each step and device, taken from a mask."""
    p = len(places)
    return torch.tensor([[mask[places[r]][:, places[(r - step) % p]].sum() for r in range(p)] for step in range(p)])


@assignments
@pytest.mark.parametrize(("n", "devices"), [(12, 3), (16, 4), (6, 1)])
def test_pairs_are_those_of_the_mask(assign, n, devices):
    places = assign(n, devices)
    assert step_pairs(places).equal(in_mask(places, window_mask(n, n)))
    for window in (1, 3, n):
        assert window_step_pairs(places, window=window).equal(in_mask(places, window_mask(n, window)))


@pytest.mark.parametrize(("devices", "chunk"), [(1, 1), (3, 2), (5, 4)])
def test_zigzag_is_fair_in_every_step(devices, chunk):
    n = 2 * devices * chunk
    pairs = step_pairs(zigzag(n, devices))
    assert pairs.eq(pairs[:, :1]).all() and pairs[1:].eq(2 * chunk**2).all()
    assert zigzag_pairs(devices, chunk) == pairs.sum() == n * (n + 1) // 2


@pytest.mark.parametrize(("devices", "tokens"), [(1, 4), (3, 2), (4, 5)])
def test_plain_ring_waits_for_the_last_device(devices, tokens):
    pairs = step_pairs(contiguous(devices * tokens, devices))
    assert pairs_waited_for(devices, tokens) == pairs[:, -1].sum() == devices * tokens**2 - tokens * (tokens - 1) // 2


def test_tokens_to_hide_makes_both_times_equal():
    speed, link, bytes_each, sharing, d = 3e12, 2e9, 2, 4, 8
    c = tokens_to_hide(speed, link, bytes_each, sharing=sharing)
    assert 4 * c**2 * d * sharing / speed == pytest.approx(2 * c * d * bytes_each / link)


def test_half_precision_keeps_its_format():
    query, key, value = torch.randn(3, 6, 4, generator=torch.Generator().manual_seed(1)).bfloat16()
    output = ring_attention(query, key, value, contiguous(6, 3))
    assert output.dtype == torch.bfloat16
    torch.testing.assert_close(output, scaled_dot_product_attention(query, key, value))


@pytest.mark.parametrize("shapes", [[(12, 12, 8)] * 3, [(14, 8)] * 3, [(12, 8), (12, 8), (14, 8)], [(12, 8), (14, 8), (12, 8)]])
def test_each_token_of_a_matrix_has_a_place(shapes):
    with pytest.raises(ValueError, match="expected matrices of 12 rows, one for each place"):
        ring_attention(*map(torch.zeros, shapes), contiguous(12, 3))


@pytest.mark.parametrize(("assign", "n", "parts"), [(contiguous, 13, 3), (striped, 13, 3), (zigzag, 9, 6), (contiguous, 4, 0)])
def test_devices_divide_the_tokens(assign, n, parts):
    devices = parts // 2 if assign is zigzag else parts
    with pytest.raises(ValueError, match=f"{n} tokens; expected a multiple of {parts}"):
        assign(n, devices)
