"""The two-key weight and its slope, entropy, and what the scale does to the weights."""

import math

import pytest
import torch
from hypothesis import settings

from snippets.attention.formula import attention_weights
from snippets.scaling.saturation import concentration, entropy, query_gradients, two_key_gradient, two_key_weight, weight_gradients

varied = settings(derandomize=True, deadline=None, max_examples=60)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


# Two keys


GAPS = torch.linspace(-40, 40, 161, dtype=torch.float64)


def test_two_key_weight_is_the_softmax_of_two_scores():
    scores = torch.stack([GAPS + 3, torch.full_like(GAPS, 3)], dim=-1)  # only the gap matters
    torch.testing.assert_close(two_key_weight(GAPS), torch.softmax(scores, -1)[..., 0])


def test_two_key_gradient_is_the_derivative_and_a_quarter_of_a_squared_hyperbolic_secant():
    slope = torch.func.vmap(torch.func.grad(lambda gap: torch.softmax(torch.stack([gap, 0 * gap]), -1)[0]))(GAPS)
    torch.testing.assert_close(two_key_gradient(GAPS), slope, rtol=1e-9, atol=1e-15)
    torch.testing.assert_close(two_key_gradient(GAPS), torch.cosh(GAPS / 2) ** -2 / 4, rtol=1e-12, atol=0)


def test_two_key_gradient_is_at_most_a_quarter_tends_to_0_and_does_not_cancel():
    assert two_key_gradient(torch.zeros(())).item() == 0.25
    assert (two_key_gradient(GAPS) <= 0.25).all()
    far = torch.tensor([40.0, 400.0, -400.0], dtype=torch.float64)
    torch.testing.assert_close(two_key_gradient(far), torch.exp(-far.abs()), rtol=1e-12, atol=0)


# Entropy and slopes


def test_entropy_of_equal_weights_of_one_key_and_of_any_row():
    assert entropy(torch.full((2, 3, 8), 1 / 8)).tolist() == [[pytest.approx(math.log(8))] * 3] * 2
    assert entropy(torch.eye(4)).tolist() == [0.0] * 4
    (z,) = random(0, (2, 5, 7))
    weights = z.softmax(-1)
    torch.testing.assert_close(entropy(weights), torch.distributions.Categorical(weights).entropy())


def test_the_gradients_are_the_diagonal_of_the_jacobian_of_the_softmax():
    (z,) = random(0, (6,))
    jacobian = torch.func.jacrev(lambda z: torch.softmax(z, -1))(z)
    torch.testing.assert_close(weight_gradients(z.softmax(-1)), jacobian.diagonal())


# With the scale and without


def test_entropy_has_finite_gradients_beside_weights_of_zero():
    weights = torch.tensor([0.25, 0.75, 0.0], dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(entropy(weights), weights)
    torch.testing.assert_close(gradient, torch.tensor([math.log(4) - 1, math.log(4 / 3) - 1, 0], dtype=torch.float64))


def test_concentration_takes_means_of_largest_weight_and_entropy_and_the_median_of_the_slopes():
    # Three queries of one feature against keys 0 and log 3: weights (1/2, 1/2) twice, and (1/4, 3/4).
    query = torch.tensor([[0.0], [0.0], [1.0]], dtype=torch.float64)
    key = torch.tensor([[1.0], [3.0]], dtype=torch.float64).log()
    largest, spread, slope = concentration(query, key)
    assert largest == pytest.approx((1 / 2 + 1 / 2 + 3 / 4) / 3)
    assert spread == pytest.approx((2 * math.log(2) + math.log(4) - 0.75 * math.log(3)) / 3)
    assert slope == pytest.approx(2 * 1 / 4)
    assert concentration(query, key, scale=2.0)[0] == pytest.approx((1 / 2 + 1 / 2 + 9 / 10) / 3)


def test_the_scale_keeps_the_weights_apart_from_d_k_and_without_it_they_saturate():
    # Weights of scaled Gaussian scores depend on d_k only by way of a kurtosis of 6/d_k. Each mean is over 1000
    # queries of entropies in [0, log 16], so its standard error is below log(16) / 2 / sqrt(1000) = 0.044 nats.
    measured = {}
    for d_k in (16, 256):
        query, key = random(d_k, (1000, 1, d_k), (1000, 16, d_k))
        measured[d_k] = concentration(query, key), concentration(query, key, scale=1.0)
    (scaled_16, unscaled_16), (scaled_256, unscaled_256) = measured[16], measured[256]
    assert abs(scaled_16[1] - scaled_256[1]) < 5 * 0.044
    assert unscaled_256[1] < unscaled_16[1] - 5 * 0.044 < scaled_16[1] - 10 * 0.044
    assert unscaled_256[0] > 0.9 > 0.3 > scaled_256[0]
    assert unscaled_256[2] < 0.05 < 0.8 < scaled_256[2]


@pytest.mark.parametrize("scale", [None, 1.0])
def test_query_gradients_are_those_of_the_formula(scale):
    query, key, value = random(0, (2, 3, 4), (2, 5, 4), (2, 5, 6))
    weights = attention_weights(query, key, scale=scale)  # (2, 3, 5)
    summed = value.sum(-1).unsqueeze(-2)  # (2, 1, 5)
    score_gradient = weights * (summed - (weights * summed).sum(-1, keepdim=True))  # (2, 3, 5)
    expected = (score_gradient @ key).norm(dim=-1) * (4**-0.5 if scale is None else scale)
    torch.testing.assert_close(query_gradients(query, key, value, scale=scale), expected)
    assert not query.requires_grad and query.grad is None


def test_query_gradients_are_found_where_gradients_are_off():
    query, key, value = random(31, (2, 4), (5, 4), (5, 3))
    expected = query_gradients(query, key, value)
    with torch.no_grad():
        assert torch.equal(query_gradients(query, key, value), expected)


# What the page says


def test_numbers_in_the_text():
    at = {gap: two_key_gradient(torch.tensor(float(gap), dtype=torch.float64)).item() for gap in (0, 4, 16)}
    assert (at[0], f"{at[4]:.3f}", f"{at[16]:.7f}") == (0.25, "0.018", "0.0000001")
    assert f"{math.log(16):.2f}" == "2.77"
    assert (two_key_gradient(GAPS) <= torch.exp(-GAPS.abs())).all()
    query, *keys = random(5, *[(20_000, 128)] * 3)
    first, second = ((query * key).sum(-1) for key in keys)
    assert (first - second).std().item() == pytest.approx(16, rel=0.05)
