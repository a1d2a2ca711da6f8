"""QK-norm: what bounds the scores, and what that leaves of the weights."""

import math

import pytest
import torch

from snippets.attention.formula import scores
from snippets.bounds.qknorm import bounded_weights, cosine_scores, gain_bound, needed_scale, rms_scores


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def test_scores_are_cosines_times_the_scale():
    query, key = random(0, (2, 5, 4), (2, 7, 4))
    lengths = query.norm(dim=-1)[..., :, None] * key.norm(dim=-1)[..., None, :]
    torch.testing.assert_close(cosine_scores(query, key, scale=3.0), 3 * query @ key.mT / lengths)


def test_no_score_exceeds_the_scale_and_a_query_reaches_it_with_itself():
    (query,) = random(1, (6, 4))
    found = cosine_scores(query, 100 * query, scale=3.0)
    assert found.abs().max() <= 3 + 1e-12
    torch.testing.assert_close(found.diagonal(), torch.full((6,), 3.0, dtype=torch.float64))
    torch.testing.assert_close(cosine_scores(query, -query, scale=3.0), -found)


def test_lengths_drop_out():
    query, key = random(2, (5, 4), (7, 4))
    torch.testing.assert_close(cosine_scores(9 * query, key / 7, scale=2.0), cosine_scores(query, key, scale=2.0))
    assert not torch.allclose(scores(9 * query, key / 7), scores(query, key))


def test_a_query_of_zeros_has_scores_of_zero():
    (key,) = random(3, (7, 4))
    assert cosine_scores(torch.zeros(1, 4, dtype=torch.float64), key, scale=2.0).eq(0).all()


def test_after_rmsnorm_only_products_of_gains_count_and_bound_the_scores():
    query, key, query_gain, key_gain = random(4, (5, 16), (7, 16), (16,), (16,))
    found = rms_scores(query, key, query_gain=query_gain, key_gain=key_gain)
    one = torch.ones_like(key_gain)
    torch.testing.assert_close(rms_scores(query, key, query_gain=query_gain * key_gain, key_gain=one), found)
    assert found.abs().max() <= gain_bound(query_gain, key_gain)


def test_the_bound_of_gains_is_nearly_reached_by_a_query_with_itself():
    (query,) = random(5, (5, 16))
    gain = torch.full((16,), 3.0, dtype=torch.float64)
    found = rms_scores(query, query, query_gain=gain, key_gain=gain)
    assert gain_bound(gain, -gain) == pytest.approx(9 * 4)
    torch.testing.assert_close(found.diagonal(), torch.full((5,), 36.0, dtype=torch.float64), rtol=1e-3, atol=0)  # but for eps


@pytest.mark.parametrize("n", [1, 2, 9, 1000])
@pytest.mark.parametrize("bound", [0.0, 0.5, 3.0])
def test_weights_of_bounded_scores_stay_between_two_bounds_that_are_reached(n, bound):
    least, most = bounded_weights(bound, n)
    generator = torch.Generator().manual_seed(n)
    weights = (bound * (2 * torch.rand(100, n, generator=generator, dtype=torch.float64) - 1)).softmax(-1)
    assert least <= weights.min() + 1e-12 and weights.max() <= most + 1e-12
    ahead = torch.full((n,), -bound, dtype=torch.float64)
    ahead[0] = bound
    assert ahead.softmax(-1)[0].item() == pytest.approx(most)
    assert (-ahead).softmax(-1)[0].item() == pytest.approx(least)


@pytest.mark.parametrize("weight", [0.1, 0.5, 0.9])
def test_the_needed_scale_allows_just_that_weight(weight):
    assert bounded_weights(needed_scale(1000, weight=weight), 1000)[1] == pytest.approx(weight)


def test_half_the_weight_asks_for_half_the_logarithm():
    assert needed_scale(101) == pytest.approx(math.log(100) / 2)
