"""Bounds on weights against rows that attain them, and copies of a key against a bias."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.softmax.dilution import mean_with_bias, mean_with_copies, most_weight, needed_gap


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("n", [1, 2, 5, 1000])
@pytest.mark.parametrize("gap", [0.0, 1.0, 6.0])
def test_the_bound_holds_and_is_attained(gap, n):
    (z,) = random(n, (20, n))
    spread = z.amax(-1, keepdim=True) - z.amin(-1, keepdim=True)
    z = gap * z / spread.clamp(min=1e-300)
    assert (z.softmax(-1).amax(-1) <= most_weight(gap, n) + 1e-15).all()
    best = torch.zeros(n, dtype=torch.float64)
    best[0] = gap
    assert best.softmax(-1)[0].item() == pytest.approx(most_weight(gap, n))


def test_scores_within_bounds_have_gaps_of_twice_the_bound():
    (z,) = random(0, (100, 30))
    bound = z.abs().max().item()
    exact = math.exp(2 * bound) / (math.exp(2 * bound) + 29)
    assert most_weight(2 * bound, 30) == pytest.approx(exact)
    assert (z.softmax(-1) <= exact).all()


def test_the_bound_goes_to_zero_with_the_number_of_keys():
    bounds = [most_weight(5.0, 10**k) for k in range(9)]
    assert bounds == sorted(bounds, reverse=True) and bounds[0] == 1.0
    assert bounds[-1] == pytest.approx(math.exp(5) / 1e8, rel=1e-5)


@pytest.mark.parametrize("n", [2, 3, 100])
@pytest.mark.parametrize("weight", [0.01, 0.5, 0.99])
def test_the_needed_gap_gives_the_weight(weight, n):
    z = torch.zeros(n, dtype=torch.float64)
    z[0] = needed_gap(weight, n)
    assert z.softmax(-1)[0].item() == pytest.approx(weight)
    assert most_weight(needed_gap(weight, n), n) == pytest.approx(weight)


def test_leads_of_multiples_of_the_logarithm():
    others = 10**8
    lost, half, won = (most_weight(c * math.log(others), others + 1) for c in (0.5, 1.0, 2.0))
    assert half == pytest.approx(0.5)
    assert lost == pytest.approx(1 / (1 + 1e4)) and won == pytest.approx(1 - 1e-8)


# Copies


@pytest.mark.parametrize("copies", [1, 2, 7])
@pytest.mark.parametrize("others", [0, 1, 4])
def test_copies_of_a_key_against_a_loop_and_a_bias(copies, others):
    score, value, scores, values = random(copies + others, (), (), (others,), (others,))
    pairs = [(score, value)] * copies + list(zip(scores, values))
    total = sum(math.exp(s) for s, _ in pairs)
    expected = sum(math.exp(s) * v for s, v in pairs) / total
    torch.testing.assert_close(mean_with_copies(score, value, scores, values, copies=copies), expected)
    torch.testing.assert_close(mean_with_bias(score, value, scores, values, copies=copies), expected)


def test_the_bias_is_a_float_mask_for_merged_tokens():
    query, key, value = random(1, (3, 8), (4, 8), (4, 5))
    counts = torch.tensor([1, 3, 1, 2])
    repeated = scaled_dot_product_attention(query, key.repeat_interleave(counts, 0), value.repeat_interleave(counts, 0))
    merged = scaled_dot_product_attention(query, key, value, attn_mask=counts.double().log().expand(3, 4))
    torch.testing.assert_close(merged, repeated)
    for i in range(3):
        scores = key @ query[i] / 8**0.5
        rest = [0, 2, 3, 3]  # the third of three copies apart
        for feature in range(5):
            one = mean_with_copies(scores[1], value[1, feature], scores[rest], value[rest, feature], copies=3)
            torch.testing.assert_close(one, repeated[i, feature])


def test_numbers_in_the_text():
    assert [f"{100 * most_weight(4.0, n):.2f}" for n in (2, 101, 10_001, 1_000_001)] == ["98.20", "35.32", "0.54", "0.01"]
    assert f"{needed_gap(0.5, 1_000_001) - needed_gap(0.5, 101):.2f}" == f"{math.log(10_000):.2f}" == "9.21"
