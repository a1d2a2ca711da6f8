"""ALiBi: decays, slopes, and one more feature, against a bias that is added."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.positions.alibi import alibi_weights, decay, decayed_weights, one_more_feature, slopes, with_alibi


def random(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_with_equal_contents_each_step_costs_one_factor():
    weights = alibi_weights(torch.zeros(9, dtype=torch.float64), torch.arange(9), slope=0.3)
    torch.testing.assert_close(weights[1:] / weights[:-1], torch.full((8,), math.exp(-0.3), dtype=torch.float64))
    torch.testing.assert_close(decay(torch.tensor([0.0, 1, 2]), slope=0.3), torch.tensor([1.0, math.exp(-0.3), math.exp(-0.6)]))


def test_alibi_is_weights_times_a_decay():
    scores, distance = random(0, 4, 7), torch.arange(7.0).flip(0)
    found = decayed_weights(scores.softmax(-1), distance, slope=0.7)
    torch.testing.assert_close(found, alibi_weights(scores, distance, slope=0.7))
    torch.testing.assert_close(found, torch.softmax(scores - 0.7 * distance, -1))
    torch.testing.assert_close(found.sum(-1), torch.ones(4).double())


def test_a_key_far_back_can_win():
    weights = alibi_weights(torch.tensor([5.0, 0]), torch.tensor([32.0, 0]), slope=0.125)
    assert weights[0] > weights[1]


@pytest.mark.parametrize("num_heads", [1, 8, 16])
def test_slopes_fall_by_equal_ratios_to_one_in_256(num_heads):
    found = slopes(num_heads, dtype=torch.float64)
    assert found.shape == (num_heads,)
    assert found[-1].item() == pytest.approx(1 / 256)
    torch.testing.assert_close(found, found[0] ** torch.arange(1, num_heads + 1))


def test_other_numbers_of_heads_fill_up_with_slopes_between():
    found = slopes(6, dtype=torch.float64)
    assert found.tolist() == [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]
    twelve = slopes(12, dtype=torch.float64)
    assert torch.equal(twelve[:8], slopes(8, dtype=torch.float64))
    torch.testing.assert_close(twelve[8:], 2 ** -torch.tensor([0.5, 1.5, 2.5, 3.5], dtype=torch.float64))
    with pytest.raises(ValueError, match="at least 1"):
        slopes(0)


def test_slopes_are_where_they_are_asked_to_be():
    assert slopes(3, dtype=torch.float16).dtype == torch.float16
    assert slopes(3).dtype == torch.get_default_dtype()
    assert slopes(3, device="meta").device.type == "meta"


@pytest.mark.parametrize("start", [0, 5000])
def test_one_more_feature_is_a_bias_by_distance(start):
    Q, K, V = random(1, 3, 2, 4, 6, 8)  # (batch, heads, n, d_k)
    place, slope = torch.arange(start, start + 6), torch.tensor([0.5, 0.25, 0.1, 0.01], dtype=torch.float64)
    q, k = with_alibi(Q, K, place, slope)
    bias = -slope[:, None, None] * (place[:, None] - place)
    bias = bias.masked_fill(place > place[:, None], -torch.inf)
    expected = scaled_dot_product_attention(Q, K, V, attn_mask=bias)
    torch.testing.assert_close(scaled_dot_product_attention(q, k, V, is_causal=True, scale=8**-0.5), expected)
    assert not torch.allclose(scaled_dot_product_attention(Q, K, V, is_causal=True), expected)


def test_a_cached_key_keeps_its_feature():
    K, slope = random(2, 2, 9, 4), torch.tensor([0.5, 0.1], dtype=torch.float64)
    whole = with_alibi(K, K, torch.arange(9), slope)[1]
    first = with_alibi(K[:, :5], K[:, :5], torch.arange(5), slope)[1]
    assert torch.equal(whole[:, :5], first)


def test_places_may_be_bytes():
    K, slope, place = random(2, 2, 9, 4), torch.tensor([0.5, 0.1], dtype=torch.float64), torch.arange(9)
    assert torch.equal(with_alibi(K, K, place.to(torch.uint8), slope)[1], with_alibi(K, K, place, slope)[1])


def test_the_weights_of_one_head():
    Q, K = random(3, 2, 5, 4)
    place = torch.arange(5)
    expected = torch.softmax(Q @ K.mT / 2 - 0.3 * (place[:, None] - place), -1)
    torch.testing.assert_close(one_more_feature(Q, K, place, slope=0.3), expected)
    mirrored = torch.softmax(Q @ K.mT / 2 - 0.3 * (place[:, None] - place).abs(), -1)
    assert not torch.allclose(mirrored, expected)


@pytest.mark.parametrize(("dtype", "atol"), [(torch.bfloat16, 0.02), (torch.float16, 0.003)])
def test_in_sixteen_bits_far_places_are_told_apart(dtype, atol):
    n = 4096
    Q, K, V = random(4, 3, 4, n, 16).to(dtype)
    Q, place, slope = Q[:, -2:], torch.arange(n), slopes(4, dtype=torch.float64)
    q, k = with_alibi(Q, K, place, slope.to(dtype))
    bias = -slope[:, None, None] * (n - 1 - place)
    expected = scaled_dot_product_attention(Q.double(), K.double(), V.double(), attn_mask=bias)
    found = scaled_dot_product_attention(q, k, V, scale=16**-0.5)
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=atol)


def test_numbers_in_the_text():
    """The example with a slope of one eighth: weights, and the factors of 1 and of 32 steps."""
    distance = torch.tensor([32.0, 2, 1, 0])
    for lead, expected in ((0.0, ["0.007", "0.291", "0.329", "0.373"]), (5.0, ["0.505", "0.145", "0.164", "0.186"])):
        weights = alibi_weights(torch.tensor([lead, 0, 0, 0]), distance, slope=0.125)
        assert [f"{weight:.3f}" for weight in weights.tolist()] == expected
    assert [f"{math.exp(-steps / 8):.2g}" for steps in (1, 32)] == ["0.88", "0.018"]


def test_two_pieces_of_a_position_are_exact_up_to_65791():
    """The limit that the page names: from 257 times 256 on, bf16 rounds the first piece."""
    place = torch.arange(65_793)
    first, rest = place // 256 * 256, place % 256
    exact = (first.bfloat16().long() == first) & (rest.bfloat16().long() == rest)
    assert exact[:65_792].all() and not exact[65_792]
