"""Sparsemax and entmax against their definitions and published numbers, gradients against autograd, and sums of the other weights."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.softmax.entmax import entmax, relu_weights, sigmoid_weights, sparsemax, through_sparsemax
from tests.shapes import array_shapes

varied = settings(derandomize=True, deadline=None, max_examples=30)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [2 * torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def assert_optimal(loss, weights):
    """Assert that no weights have a smaller convex loss: no step from these weights towards a single key lowers it."""
    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1], dtype=weights.dtype))
    assert (weights >= 0).all()
    (gradient,) = torch.autograd.grad(loss(start := weights.clone().requires_grad_()).sum(), start)
    assert (gradient >= (gradient * weights).sum(-1, keepdim=True) - 1e-6).all()


@given(array_shapes(min_dims=1, max_dims=3, max_side=6), st.integers(0, 99))
@varied
def test_sparsemax_is_the_nearest_distribution(shape, seed):
    (z,) = random(seed, shape)
    assert_optimal(lambda weights: (weights - z).square(), sparsemax(z))


@given(array_shapes(min_dims=1, max_dims=3, max_side=6), st.sampled_from([1.1, 1.5, 2.0, 3.0]), st.integers(0, 99))
@varied
def test_entmax_has_the_largest_sum_of_mean_score_and_entropy(shape, alpha, seed):
    (z,) = random(seed, shape)

    def loss(weights):
        entropy = (weights - weights**alpha) / (alpha * (alpha - 1))  # by Tsallis
        return -(weights * z) - entropy

    found = entmax(z, alpha=alpha)
    if alpha <= 2:  # the derivative at zero is finite
        assert_optimal(loss, found)
    torch.testing.assert_close(found.sum(-1), torch.ones(shape[:-1], dtype=z.dtype))


def test_numbers_are_those_of_the_published_package():
    z = torch.tensor([-2.0, 0.0, 0.5])  # the example of https://github.com/deep-spin/entmax
    torch.testing.assert_close(sparsemax(z), torch.tensor([0.0, 0.25, 0.75]))
    torch.testing.assert_close(entmax(z, alpha=1.5), torch.tensor([0.0, 0.3260, 0.6740]), atol=5e-5, rtol=0)


def test_entmax_contains_sparsemax_and_tends_to_softmax():
    (z,) = random(0, (5, 7))
    torch.testing.assert_close(entmax(z, alpha=2.0), sparsemax(z))
    torch.testing.assert_close(entmax(z, alpha=1.0001), z.softmax(-1), atol=1e-3, rtol=0)


@pytest.mark.parametrize(("alpha", "enough"), [(1.5, 2.0), (2.0, 1.0)])
def test_one_key_has_all_the_weight_from_a_lead_on(alpha, enough):
    def weights(lead):
        return entmax(torch.tensor([lead, 0.0, 0.0], dtype=torch.float64), alpha=alpha)

    whole = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)
    torch.testing.assert_close(weights(enough), whole, atol=1e-9, rtol=0)
    assert torch.equal(weights(enough + 0.1) > 0, whole > 0) and (weights(enough - 0.1) > 0).all()
    assert (torch.tensor([5.0, 0.0, 0.0]).softmax(-1) > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_of_sparsemax_is_that_of_autograd(seed):
    z, v = random(seed, (4, 6), (4, 6))
    found = through_sparsemax(sparsemax(z), v)
    for way in (torch.autograd.functional.jvp, torch.autograd.functional.vjp):
        torch.testing.assert_close(found, way(sparsemax, z, v)[1])
    torch.testing.assert_close(found, (sparsemax(z + 1e-7 * v) - sparsemax(z - 1e-7 * v)) / 2e-7, atol=1e-6, rtol=0)
    assert not found[sparsemax(z) == 0].any()


def test_a_third_key_changes_the_ratio_of_two_weights_of_sparsemax_but_not_of_softmax():
    ratios = []
    for third in (0.0, 1.5):
        z = torch.tensor([2.0, 1.5, third], dtype=torch.float64)
        ratios.append([(weights[0] / weights[1]).item() for weights in (sparsemax(z), z.softmax(-1))])
    assert ratios[0] == pytest.approx([3.0, math.exp(0.5)]) and ratios[1] == pytest.approx([4.0, math.exp(0.5)])


@pytest.mark.parametrize(("lead", "ratio"), [(1.0, 0.37), (10.0, 0.00005)])
def test_a_key_that_is_behind_keeps_a_softmax_weight(lead, ratio):
    weights = torch.tensor([lead, 0.0], dtype=torch.float64).softmax(-1)
    assert (weights[1] / weights[0]).item() == pytest.approx(ratio, rel=0.1)


@pytest.mark.parametrize(("tau", "alpha"), [(0.5, 2.0), (0.25, 1.5)])
def test_the_temperature_from_which_one_key_is_left(tau, alpha):
    z = torch.tensor([2.0, 1.5, 0.0], dtype=torch.float64)
    assert [(entmax(z / (tau * factor), alpha=alpha) > 1e-9).sum().item() for factor in (0.99, 1.01)] == [1, 2]


def test_sigmoid_weights_do_not_compete():
    (z,) = random(0, (8,))
    jacobian = torch.autograd.functional.jacobian(sigmoid_weights, z)
    s = sigmoid_weights(z)
    torch.testing.assert_close(jacobian, (s * (1 - s)).diag())
    torch.testing.assert_close(s, z.exp() / (8 + z.exp()))


@pytest.mark.parametrize("score", [-1.0, 0.0, 1.0])
def test_the_sum_of_equal_sigmoid_weights_tends_to_the_exponential(score):
    sums = [sigmoid_weights(torch.full((n,), score, dtype=torch.float64)).sum().item() for n in (1, 10, 100, 10**6)]
    assert sums == sorted(sums) and sums[-1] == pytest.approx(math.exp(score), rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_sums_of_sigmoid_and_relu_weights_are_bounded(seed):
    (z,) = random(seed, (10, 50))
    assert (sigmoid_weights(z).sum(-1) <= z.exp().mean(-1)).all()
    torch.testing.assert_close(relu_weights(z).sum(-1), z.clamp(min=0).mean(-1))
    assert (relu_weights(z).sum(-1) <= z.abs().amax(-1)).all()
