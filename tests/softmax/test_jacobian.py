"""The Jacobian against automatic differentiation, its eigenvalues, and gradients without it."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.softmax.distribution import softmax
from snippets.softmax.jacobian import cross_entropy_gradient, largest_eigenvalue, softmax_jacobian, through_softmax, variance
from tests.shapes import array_shapes

varied = settings(derandomize=True, deadline=None, max_examples=30)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("keys", [1, 2, 5])
def test_the_jacobian_is_that_of_autograd(keys):
    (z,) = random(keys, (3, keys))
    expected = torch.func.vmap(torch.func.jacrev(lambda z: torch.softmax(z, -1)))(z)
    torch.testing.assert_close(softmax_jacobian(z.softmax(-1)), expected)


@given(array_shapes(min_dims=1, max_dims=3, max_side=5), st.integers(0, 99))
@varied
def test_both_ways_through_softmax_are_those_of_autograd(shape, seed):
    z, x = random(seed, shape, shape)
    weights = z.softmax(-1)
    found = through_softmax(weights, x)
    for way in (torch.autograd.functional.jvp, torch.autograd.functional.vjp):
        torch.testing.assert_close(found, way(lambda z: torch.softmax(z, -1), z, x)[1])
    torch.testing.assert_close(found, (softmax_jacobian(weights) @ x.unsqueeze(-1)).squeeze(-1))
    torch.testing.assert_close(found.sum(-1), torch.zeros(shape[:-1], dtype=torch.float64))


@given(array_shapes(min_dims=1, max_dims=3, max_side=5), st.integers(0, 99))
@varied
def test_the_quadratic_form_is_a_variance_and_a_mean_of_squared_gaps(shape, seed):
    z, x = random(seed, shape, shape)
    weights = z.softmax(-1)
    found = variance(weights, x)
    assert found.shape == shape[:-1] and (found >= 0).all()
    torch.testing.assert_close(found, torch.einsum("...i,...ij,...j->...", x, softmax_jacobian(weights), x))
    squares = (x.unsqueeze(-1) - x.unsqueeze(-2)).square()
    torch.testing.assert_close(found, torch.einsum("...i,...j,...ij->...", weights, weights, squares) / 2)
    torch.testing.assert_close(variance(weights, x + 3), found)
    assert (found <= x.square().sum(-1) / 2 + 1e-12).all()
    assert (found <= (x.amax(-1) - x.amin(-1)).square() / 4 + 1e-12).all()


@given(array_shapes(min_dims=1, max_dims=3, max_side=5), st.integers(0, 99))
@varied
def test_the_gradient_of_cross_entropy_is_that_of_autograd(shape, seed):
    z, y = random(seed, shape, shape)
    targets = y.softmax(-1)
    loss = lambda z: -(targets * torch.log_softmax(z, -1)).sum()  # noqa: E731
    torch.testing.assert_close(cross_entropy_gradient(z, targets), torch.func.grad(loss)(z))


def test_pytorchs_cross_entropy_has_this_gradient_for_a_class_and_for_targets_that_sum_to_one_only():
    (z,) = random(5, (4, 6))
    classes = torch.tensor([0, 3, 3, 5])
    grad = torch.func.grad(lambda z: torch.nn.functional.cross_entropy(z, classes, reduction="sum"))(z)
    torch.testing.assert_close(cross_entropy_gradient(z, torch.nn.functional.one_hot(classes, 6).double()), grad)
    doubled = 2 * torch.nn.functional.one_hot(classes, 6).double()  # rows that sum to two
    grad = torch.func.grad(lambda z: torch.nn.functional.cross_entropy(z, doubled, reduction="sum"))(z)
    assert not torch.allclose(cross_entropy_gradient(z, doubled), grad)


def test_numbers_in_the_text():
    """The weights 1/8, 2/8 and 5/8 of the page, and a largest weight of 0.99."""
    weights = torch.tensor([1.0, 2.0, 5.0], dtype=torch.float64) / 8
    assert (64 * softmax_jacobian(weights)).tolist() == [[7, -2, -5], [-2, 12, -10], [-5, -10, 15]]
    assert softmax_jacobian(weights)[2, 2].item() == pytest.approx(0.234, abs=5e-4)
    assert softmax_jacobian(weights)[2, 1].item() == pytest.approx(-0.156, abs=5e-4)
    assert softmax_jacobian(weights)[0, 2].item() == pytest.approx(-0.078, abs=5e-4)
    assert through_softmax(weights, torch.tensor([8.0, 0, 0], dtype=torch.float64)).tolist() == [0.875, -0.25, -0.625]
    two = softmax_jacobian(torch.tensor([0.5, 0.5], dtype=torch.float64))
    assert two.tolist() == [[0.25, -0.25], [-0.25, 0.25]] and (two @ torch.tensor([1.0, -1]).double()).tolist() == [0.5, -0.5]
    assert softmax_jacobian(torch.tensor([0.99, 0.01], dtype=torch.float64)).diagonal().tolist() == pytest.approx([0.0099, 0.0099])
    # With a largest weight of 0.99, the trace is largest if the rest is spread thinly.
    for others in (1, 2, 1000):
        saturated = torch.tensor([0.99] + [0.01 / others] * others, dtype=torch.float64)
        assert softmax_jacobian(saturated).trace().item() <= 0.02


def test_the_variance_of_a_worked_case():
    # Weights 1/4, 1/4, 1/2 and numbers 0, 4, 2: the mean is 2, the squared distances are 4, 4 and 0.
    weights = torch.tensor([0.25, 0.25, 0.5], dtype=torch.float64)
    assert variance(weights, torch.tensor([0.0, 4.0, 2.0], dtype=torch.float64)).item() == 2.0


# Eigenvalues


def test_steepest_is_a_half_for_two_equal_weights_and_one_over_n_for_n():
    for n in range(2, 8):
        assert largest_eigenvalue(torch.full((n,), 1 / n, dtype=torch.float64)).item() == pytest.approx(1 / n)
    assert largest_eigenvalue(torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64)).item() == pytest.approx(0.5)
    assert largest_eigenvalue(torch.ones(1, dtype=torch.float64)).item() == 0.0


def test_no_eigenvalue_is_negative_or_above_a_half_and_the_rank_is_one_less_than_the_number_of_keys():
    (z,) = random(3, (100, 6))
    weights = (3 * z).softmax(-1)
    eigenvalues = torch.linalg.eigvalsh(softmax_jacobian(weights))
    assert (eigenvalues[:, 0].abs() < 1e-12).all() and (eigenvalues[:, 1:] > 0).all() and (eigenvalues <= 0.5).all()
    torch.testing.assert_close(largest_eigenvalue(weights), eigenvalues[:, -1])
    torch.testing.assert_close(eigenvalues.sum(-1), 1 - weights.square().sum(-1))
    steps = torch.linspace(0, 2 * math.pi, 201, dtype=torch.float64)
    plane = torch.stack([steps.cos(), steps.sin()], -1)  # every direction for two scores
    two = torch.tensor([0.3, 0.7], dtype=torch.float64)
    assert variance(two, plane).max().item() == pytest.approx(largest_eigenvalue(two).item(), rel=1e-3)


def test_a_step_in_the_scores_moves_the_weights_by_at_most_half_its_length():
    z, step = random(4, (200, 5), (200, 5))
    moved = softmax(z + 3 * step) - softmax(z)
    assert (moved.norm(dim=-1) <= (3 * step).norm(dim=-1) / 2).all()
