"""Fourth moment and characteristic function of q.k: exactly, by quadrature, and on draws within a stated band."""

import itertools
import math

import pytest
import torch

from snippets.scaling.normal import (
    characteristic_function,
    empirical_characteristic_function,
    excess_kurtosis,
    fourth_moment,
    normal_characteristic_function,
    predicted_excess_kurtosis,
    predicted_fourth_moment,
    scaled_dots,
)
from snippets.scaling.variance import dot

DRAWS = 50_000


def every_dot(d):
    """q.k for every q and k with entries from six values that share a standard normal's first five moments.

    They are Gauss-Hermite's three nodes in the ratio 1:4:1. The fourth moment of q.k asks no entry for more than its
    fourth power, so it comes out as for Gaussians, exactly.
    """
    values = (-math.sqrt(3), 0.0, 0.0, 0.0, 0.0, math.sqrt(3))
    pairs = torch.tensor(list(itertools.product(values, repeat=2 * d)), dtype=torch.float64)
    return dot(pairs[:, :d], pairs[:, d:])


@pytest.mark.parametrize("d", [1, 2, 3])
def test_fourth_moment_and_excess_kurtosis_are_exact(d):
    x = every_dot(d)
    assert fourth_moment(x).item() == pytest.approx(predicted_fourth_moment(d))
    assert excess_kurtosis(x).item() == pytest.approx(predicted_excess_kurtosis(d))


@pytest.mark.parametrize("d", [1, 2, 10, 1000])
def test_predicted_kurtosis_is_the_predicted_fourth_moment_over_the_squared_variance(d):
    assert predicted_fourth_moment(d) / d**2 - 3 == pytest.approx(predicted_excess_kurtosis(d))


def test_excess_kurtosis_of_known_cases_and_in_batches():
    coin = torch.tensor([-1.0, 1.0], dtype=torch.float64)  # fourth moment and variance are 1: 1 - 3
    assert excess_kurtosis(coin).item() == pytest.approx(-2)
    x = every_dot(1)
    batch = torch.stack([x, 3 * x + 7]).reshape(2, 1, -1)  # neither a shift nor a factor matters
    torch.testing.assert_close(excess_kurtosis(batch), torch.full((2, 1), 6.0, dtype=torch.float64))
    torch.testing.assert_close(fourth_moment(batch)[0, 0], x.pow(4).mean())


@pytest.mark.parametrize("d", [2, 16, 256])
def test_measured_fourth_moment_lies_within_five_standard_errors(d):
    # Given k, q.k is normal with variance |k|^2, whose r-th moment is d (d+2) ... (d+2r-2). So the mean of (q.k)^8 is
    # 105 d (d+2) (d+4) (d+6), and the variance of the measured fourth moment is (that - (3d^2+6d)^2) / DRAWS.
    x = scaled_dots(DRAWS, d, generator=torch.Generator().manual_seed(d))
    eighth = 105 * d * (d + 2) * (d + 4) * (d + 6)
    standard_error = math.sqrt((eighth - predicted_fourth_moment(d) ** 2) / DRAWS)
    assert abs(fourth_moment(x).item() * d**2 - predicted_fourth_moment(d)) < 5 * standard_error


@pytest.mark.parametrize("d", [1, 5, 50])
def test_scaled_dots_have_mean_0_and_variance_1(d):
    x = scaled_dots(DRAWS, d, generator=torch.Generator().manual_seed(d))
    assert x.shape == (DRAWS,)
    assert abs(x.mean().item()) < 5 / math.sqrt(DRAWS)
    # The variance of x^2 is its fourth moment, 3 + 6/d, less 1.
    assert abs(x.square().mean().item() - 1) < 5 * math.sqrt((2 + 6 / d) / DRAWS)


T = torch.linspace(-6, 6, 25, dtype=torch.float64)


@pytest.mark.parametrize("d", [1, 2, 7, 64])
def test_characteristic_function_by_quadrature(d):
    # Given k, the mean of exp(i t q k) over q is exp(-t^2 k^2 / 2); the trapezoid rule takes the mean over one k, to
    # rounding. The d terms of q.k are independent, and the scale divides t by sqrt(d).
    k = torch.linspace(-12, 12, 4001, dtype=torch.float64)
    density = torch.exp(-(k**2) / 2) / math.sqrt(2 * math.pi)
    one = torch.trapezoid(torch.exp(-((T[:, None] / math.sqrt(d)) ** 2) * k**2 / 2) * density, k)
    torch.testing.assert_close(characteristic_function(T, d=d), one**d, rtol=1e-10, atol=1e-12)
    normal = torch.trapezoid(torch.cos(T[:, None] * k) * density, k)
    torch.testing.assert_close(normal_characteristic_function(T), normal, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("d", [1, 10, 1000, 10**6])
def test_the_limit_is_approached_from_above_at_rate_1_over_d(d):
    # y - y^2/2 <= log(1 + y) <= y at y = t^2/d gives 0 <= log of the ratio <= t^4 / (4d).
    log_ratio = torch.log(characteristic_function(T, d=d)) - torch.log(normal_characteristic_function(T))
    assert (log_ratio >= -1e-9).all()
    assert (log_ratio <= T**4 / (4 * d) + 1e-9).all()


@pytest.mark.parametrize("d", [1, 4, 64])
def test_empirical_characteristic_function_lies_within_five_standard_errors(d):
    # With phi the function itself, cos(tx) has mean phi(t) and variance (1 + phi(2t)) / 2 - phi(t)^2; sin(tx) has mean
    # 0 and variance (1 - phi(2t)) / 2.
    x = scaled_dots(DRAWS, d, generator=torch.Generator().manual_seed(d))
    t = T[T != 0]
    measured = empirical_characteristic_function(x, t)
    phi, twice = characteristic_function(t, d=d), characteristic_function(2 * t, d=d)
    assert ((measured.real - phi).abs() < 5 * torch.sqrt(((1 + twice) / 2 - phi**2) / DRAWS)).all()
    assert (measured.imag.abs() < 5 * torch.sqrt((1 - twice) / 2 / DRAWS)).all()


def test_empirical_characteristic_function_of_few_points_in_batches():
    x = torch.tensor([[0.0, math.pi], [0.0, math.pi / 2]], dtype=torch.float64)
    t = torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)
    expected = torch.tensor([[1, 0, 1], [1, 0.5 + 0.5j, 0]], dtype=torch.complex128)
    torch.testing.assert_close(empirical_characteristic_function(x, t), expected)


# What the page says


def beyond(deviations, d):
    """The probability of a scaled dot product of Gaussian vectors this far from zero: given the query, it is normal."""
    squares = torch.linspace(1e-9, 12 * d + 200, 400_001, dtype=torch.float64)  # of the length of the query: chi-squared
    log_density = (d / 2 - 1) * squares.log() - squares / 2 - d / 2 * math.log(2) - math.lgamma(d / 2)
    tail = torch.erfc(deviations * math.sqrt(d) / (2 * squares).sqrt())
    return torch.trapezoid(log_density.exp() * tail, squares).item()


def test_numbers_in_the_text():
    normal = math.erfc(4 / math.sqrt(2))
    assert beyond(4, 2) == pytest.approx(math.exp(-4 * math.sqrt(2)), rel=1e-3)  # with two features it is Laplace's law
    assert f"{beyond(4, 2):.2%} {beyond(4, 64):.3%} {normal:.3%}" == "0.35% 0.012% 0.006%"
    assert 50 < beyond(4, 2) / normal < 60 and 1.9 < beyond(4, 64) / normal < 2.1
    assert f"{predicted_excess_kurtosis(2)} {predicted_excess_kurtosis(64):.2f}" == "3.0 0.09"


@pytest.mark.parametrize("d", [1, 2])
def test_entries_that_are_not_gaussian_can_have_the_same_fourth_moment(d):
    queries = torch.tensor(list(itertools.product([-3.0, *[0.0] * 16, 3.0], repeat=d)), dtype=torch.float64)
    keys = torch.tensor(list(itertools.product([-1.0, 1.0], repeat=d)), dtype=torch.float64)
    x = dot(queries[:, None], keys).flatten()
    assert fourth_moment(x).item() == pytest.approx(predicted_fourth_moment(d))
    assert excess_kurtosis(x).item() == pytest.approx(predicted_excess_kurtosis(d))


@pytest.mark.parametrize("d", [1, 2, 4])
def test_signs_have_an_excess_kurtosis_of_minus_two_over_the_width(d):
    signs = torch.tensor(list(itertools.product([-1.0, 1.0], repeat=2 * d)), dtype=torch.float64)
    assert excess_kurtosis(dot(signs[:, :d], signs[:, d:])).item() == pytest.approx(-2 / d)
