"""Soft-capping: what it keeps of scores, and masks before it and after."""

import inspect
import math

import pytest
import torch
from torch.nn.attention.flex_attention import flex_attention

from snippets.attention.masks import mask_scores, masked_softmax
from snippets.bounds.qknorm import bounded_weights
from snippets.bounds.softcap import capped_weights, capped_weights_wrong, soft_cap, through_soft_cap


def random(seed, *shape):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("cap", [0.5, 5.0])
def test_scores_stay_below_the_cap_and_in_their_order(cap):
    scores = 2 * random(0, 200).sort().values
    found = soft_cap(scores, cap=cap)
    assert found.abs().max() < cap and found.diff().ge(0).all()
    assert found.diff().le(scores.diff() + 1e-12).all()  # closer together than before
    torch.testing.assert_close(soft_cap(-scores, cap=cap), -found)


def test_half_the_cap_is_reached_at_half_the_logarithm_of_three():
    score = torch.log(torch.tensor(3.0, dtype=torch.float64)) / 2 * 7
    assert soft_cap(score, cap=7.0).item() == pytest.approx(3.5)


def test_a_wide_cap_does_nothing():
    scores = random(1, 50)
    torch.testing.assert_close(soft_cap(scores, cap=1e6), scores)
    assert not torch.allclose(soft_cap(scores, cap=1.0), scores)


def test_infinite_scores_reach_the_cap():
    assert soft_cap(torch.tensor([-torch.inf, torch.inf]), cap=3.0).tolist() == [-3, 3]


def test_the_gradient_needs_the_capped_scores_alone():
    scores, upstream = random(2, 3, 5).requires_grad_(), random(3, 3, 5)
    capped = soft_cap(scores, cap=1.5)
    (expected,) = torch.autograd.grad(capped, scores, upstream)
    torch.testing.assert_close(through_soft_cap(upstream, capped.detach(), cap=1.5), expected)


def test_masked_keys_have_no_weight_and_a_row_without_keys_is_zero():
    scores, keep = random(4, 2, 3, 5), torch.ones(3, 5, dtype=torch.bool).tril()
    keep[0] = False
    found = capped_weights(scores, cap=2.0, attn_mask=keep)
    torch.testing.assert_close(found, masked_softmax(mask_scores(2 * torch.tanh(scores / 2), attn_mask=keep)))
    assert found[..., ~keep].eq(0).all() and found[:, 0].eq(0).all()
    torch.testing.assert_close(found[:, 1:].sum(-1), torch.ones(2, 2, dtype=torch.float64))


def test_a_mask_before_the_cap_lets_keys_through():
    scores, keep = random(5, 3, 5), torch.ones(3, 5, dtype=torch.bool).tril()
    found = capped_weights_wrong(scores, cap=2.0, attn_mask=keep)
    floor = 1 / (1 + 4 * torch.e ** (2 * 2))  # what each of five keys with scores up to 2 has at least
    assert found[~keep].min() >= floor
    torch.testing.assert_close(capped_weights_wrong(scores, cap=2.0), capped_weights(scores, cap=2.0))


def test_the_ceiling_of_a_lead():
    scores = torch.tensor([1e6, -1e6, -1e6, -1e6], dtype=torch.float64)[None]
    assert capped_weights(scores, cap=1.0)[0, 0].item() == pytest.approx(1 / (1 + 3 * torch.e**-2))


def test_the_sign_of_a_cap_makes_no_difference():
    scores = torch.randn(5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert torch.equal(soft_cap(scores, cap=-3.0), soft_cap(scores, cap=3.0))


# What the page says


def test_numbers_in_the_text():
    assert f"{bounded_weights(50.0, 10**6)[1]:.4f}" == "1.0000"
    assert f"{bounded_weights(2.0, 100)[1]:.0%}" == "36%"
    assert f"{math.log(3) / 2:.2f}" == "0.55"
    scores, mask = torch.tensor([[0.0, 9.0]]), torch.tensor([[0.0, -torch.inf]])
    small, large = (capped_weights_wrong(scores, cap=cap, attn_mask=mask)[0, 1].item() for cap in (2.0, 50.0))
    assert 0.1 < small < 0.13 and f"{large:.0e}" == "2e-22"


def test_what_the_practice_box_says_of_pytorch():
    assert "score_mod" in inspect.signature(flex_attention).parameters
    assert "softcap" not in torch.nn.functional.scaled_dot_product_attention.__doc__.lower()
