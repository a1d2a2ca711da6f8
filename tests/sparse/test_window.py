"""A sliding window against loops: its mask, its pairs, its cache, and what a stack of windows passes on."""

import pytest
import torch

from snippets.attention.formula import attention
from snippets.sparse.window import (
    distance_shares,
    distance_shares_with_shortcut,
    pairs_saved,
    rolling_attention,
    tokens_within_reach,
    window_mask,
    window_pairs,
)

sizes = pytest.mark.parametrize(("n", "window"), [(1, 1), (5, 1), (7, 3), (4, 4), (3, 9)])


@sizes
def test_a_query_sees_itself_and_those_just_before(n, window):
    mask = window_mask(n, window)
    for i in range(n):
        assert mask[i].nonzero().flatten().tolist() == list(range(max(0, i - window + 1), i + 1))


@sizes
def test_pairs_are_those_of_the_mask(n, window):
    assert window_pairs(n, window) == window_mask(n, window).sum().item()
    assert pairs_saved(n, window) == (window_mask(n, n) & ~window_mask(n, window)).sum().item()


@sizes
def test_a_rolling_cache_gives_what_the_mask_gives(n, window):
    generator = torch.Generator().manual_seed(n)
    query, key, value = torch.randn(3, 2, n, 4, generator=generator, dtype=torch.float64)
    expected = attention(query, key, value, attn_mask=window_mask(n, window))
    torch.testing.assert_close(rolling_attention(query, key, value, window=window), expected)


def test_a_rolling_cache_leaves_its_inputs_alone():
    key = torch.randn(5, 2, generator=torch.Generator().manual_seed(0))
    kept = key.clone()
    rolling_attention(key, key, key, window=2)
    assert torch.equal(key, kept)


def test_a_window_holds_a_token():
    with pytest.raises(ValueError, match="window is 0; expected at least 1"):
        rolling_attention(*torch.zeros(3, 2, 4), window=0)


@pytest.mark.parametrize(("layers", "window"), [(0, 3), (1, 4), (3, 3), (5, 2)])
def test_shares_are_those_of_a_product_of_bands(layers, window):
    reach = tokens_within_reach(layers=layers, window=window)
    band = window_mask(2 * reach, window).double() / window
    stack = torch.linalg.matrix_power(band, layers)
    stack_with_shortcut = torch.linalg.matrix_power((band + torch.eye(2 * reach)) / 2, layers)
    shares = distance_shares(layers=layers, window=window)
    assert shares.shape == (reach,) and shares.min() > 0
    torch.testing.assert_close(shares, stack[-1].flip(0)[:reach])
    assert stack[-1].flip(0)[reach:].eq(0).all()
    torch.testing.assert_close(distance_shares_with_shortcut(layers=layers, window=window), stack_with_shortcut[-1].flip(0)[:reach])


def test_mean_and_variance_of_the_distance():
    shares, layers, window = distance_shares(layers=6, window=5), 6, 5
    distance = torch.arange(len(shares))
    mean = (shares * distance).sum()
    assert mean.item() == pytest.approx(layers * (window - 1) / 2)
    assert (shares * (distance - mean) ** 2).sum().item() == pytest.approx(layers * (window**2 - 1) / 12)


def test_what_is_made_is_made_where_it_is_asked_for():
    assert window_mask(3, 2, device="meta").device.type == "meta"
    assert distance_shares(layers=2, window=2, device="meta").device.type == "meta"
    assert distance_shares_with_shortcut(layers=2, window=2, device="meta").device.type == "meta"


def test_a_mask_has_a_window_too():
    for window in (0, -1):
        with pytest.raises(ValueError, match=f"window is {window}; expected at least 1"):
            window_mask(4, window)


@pytest.mark.parametrize("n", [[3, 5, 5], [5, 3, 5], [5, 5, 3], [7, 5, 5]])
def test_a_rolling_cache_has_a_key_for_each_query(n):
    with pytest.raises(ValueError, match="expected as many queries, keys and values"):
        rolling_attention(*(torch.zeros(2, tokens, 4) for tokens in n), window=3)


def test_a_rolling_cache_is_for_generation():
    query, key, value = torch.randn(3, 2, 5, 4, generator=torch.Generator().manual_seed(3)).requires_grad_().unbind()
    assert not rolling_attention(query, key, value, window=3).requires_grad


def test_numbers_in_the_text():
    assert distance_shares(layers=2, window=2).tolist() == [0.25, 0.5, 0.25]
    kept, saved = window_pairs(8192, 4096), pairs_saved(8192, 4096)
    assert round(saved / (kept + saved), 2) == 0.25
    kept, saved = window_pairs(131_072, 4096), pairs_saved(131_072, 4096)
    assert round(saved / (kept + saved), 2) == 0.94
    assert tokens_within_reach(layers=32, window=4096) == 131_041 == 32 * 4096 - 31
    assert tokens_within_reach(layers=32, window=64) == 2017  # a reach of 2016 and the token itself


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_more_of_a_token_bypasses_the_layers_the_nearer_is_what_arrives(share):
    layers, window = 5, 4
    n = tokens_within_reach(layers=layers, window=window) + 3
    layer = (1 - share) * window_mask(n, window).double() / window + share * torch.eye(n).double()
    arrives = torch.linalg.matrix_power(layer, layers)[-1].flip(0)
    mean = (arrives * torch.arange(n)).sum().item()
    assert mean == pytest.approx((1 - share) * layers * (window - 1) / 2)
