"""The mean and variance of q.k: exactly on finite distributions, and on Gaussian draws within a band."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.scaling.variance import dot, draw, predicted_moments, predicted_moments_same, sample_moments
from tests.shapes import mutually_broadcastable_shapes

varied = settings(derandomize=True, deadline=None, max_examples=60)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def every(values, length):
    """Every vector of that length with entries from values, each once: (len(values)^length, length)."""
    return torch.tensor(list(itertools.product(values, repeat=length)), dtype=torch.float64)


def population_moments(q, k):
    """Mean and variance when the draws are all there is, so that the variance divides by their number."""
    mean, variance = sample_moments(q, k)
    draws = q.shape[-2]
    return mean.item(), variance.item() * (draws - 1) / draws


# Six equally likely values with the first five moments of a standard normal: Gauss-Hermite's three nodes, 1:4:1.
GAUSSIAN_TO_DEGREE_5 = (-math.sqrt(3), 0.0, 0.0, 0.0, 0.0, math.sqrt(3))


# The products


@given(mutually_broadcastable_shapes(signature="(d),(d)->()", max_side=4), st.integers(0, 99))
@varied
def test_dot(shapes, seed):
    q, k = random(seed, *shapes.input_shapes)
    assert dot(q, k).shape == shapes.result_shape
    torch.testing.assert_close(dot(q, k), torch.einsum("...d,...d->...", q, k))


# The moments, exactly


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize(("mu", "sigma"), [(0, 1), (1, 1), (-0.5, 2), (3, 0.25), (2, 0)])
def test_moments_of_independent_entries_are_exact(d, mu, sigma):
    # mu - sigma or mu + sigma, as likely: no Gaussian, for the law asks for mean and variance alone.
    pairs = every((mu - sigma, mu + sigma), 2 * d)
    assert population_moments(pairs[:, :d], pairs[:, d:]) == pytest.approx(predicted_moments(d, mu=mu, sigma=sigma))


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize(("mu", "sigma"), [(0, 1), (1, 1), (-0.5, 2)])
def test_moments_of_a_gaussian_with_itself_are_exact(d, mu, sigma):
    q = mu + sigma * every(GAUSSIAN_TO_DEGREE_5, d)
    assert population_moments(q, q) == pytest.approx(predicted_moments_same(d, mu=mu, sigma=sigma))


def test_of_repeated_entries_one_side_does_no_harm_and_both_sides_do():
    d = 3
    pairs = every((-1, 1), 2 * d)
    q, k = pairs[:, :d], pairs[:, d:]
    q1, k1 = q[:, :1].expand_as(q), k[:, :1].expand_as(k)
    assert population_moments(q1, k) == pytest.approx((0, d))
    assert population_moments(q1, k1) == pytest.approx((0, d**2))


# The moments, measured


def gaussian_moment(order, mu, sigma):
    """The mean of x^order for a Gaussian x."""
    return sum(
        math.comb(order, 2 * j) * mu ** (order - 2 * j) * sigma ** (2 * j) * math.prod(range(1, 2 * j, 2)) for j in range(order // 2 + 1)
    )


def bands(d, draws, raw):
    """Five standard errors of the sample mean and of the sample variance of a sum of d independent terms.

    raw(r) is the mean of the r-th power of a term. The mean's variance is var / draws. The variance's is close to
    (m4 - var^2) / draws, where m4 = k4 + 3 var^2 is the fourth central moment of the sum, and both var and k4, the
    fourth cumulant, are d times that of a term.
    """
    m1, m2, m3, m4 = (raw(order) for order in (1, 2, 3, 4))
    variance = m2 - m1**2
    fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    cumulant = fourth - 3 * variance**2
    return 5 * math.sqrt(d * variance / draws), 5 * math.sqrt((d * cumulant + 2 * (d * variance) ** 2) / draws)


@pytest.mark.parametrize("d", [1, 8, 64])
@pytest.mark.parametrize(("mu", "sigma"), [(0, 1), (1, 1), (-0.5, 2)])
@pytest.mark.parametrize("same", [False, True])
def test_measured_moments_lie_within_five_standard_errors(d, mu, sigma, same):
    draws = 20_000
    q, k = draw(2, draws, d, mu=mu, sigma=sigma, generator=torch.Generator().manual_seed(d))
    if same:
        mean, variance = sample_moments(q, q)
        predicted = predicted_moments_same(d, mu=mu, sigma=sigma)
        band = bands(d, draws, lambda r: gaussian_moment(2 * r, mu, sigma))
    else:
        mean, variance = sample_moments(q, k)
        predicted = predicted_moments(d, mu=mu, sigma=sigma)
        band = bands(d, draws, lambda r: gaussian_moment(r, mu, sigma) ** 2)
    assert abs(mean.item() - predicted[0]) < band[0]
    assert abs(variance.item() - predicted[1]) < band[1]


def test_sample_moments_are_those_of_each_batch():
    q, k = random(0, (2, 1, 50, 4), (3, 50, 4))
    mean, variance = sample_moments(q, k)
    assert mean.shape == variance.shape == (2, 3)
    products = (q[1, 0] * k[2]).sum(-1)
    torch.testing.assert_close(mean[1, 2], products.mean())
    torch.testing.assert_close(variance[1, 2], ((products - products.mean()) ** 2).sum() / 49)


def test_draw_repeats_with_its_seed_and_has_the_mean_and_deviation_asked_for():
    x, again, other = (draw(3, 4, mu=5, sigma=2, generator=torch.Generator().manual_seed(s)) for s in (0, 0, 1))
    assert x.shape == (3, 4) and x.dtype == torch.float64
    assert torch.equal(x, again) and not torch.equal(x, other)
    standard = draw(3, 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(x, 5 + 2 * standard)


# What the page says


def test_numbers_in_the_text():
    signs = [torch.tensor(entries).double() for entries in itertools.product((-1, 1), repeat=4)]
    products = torch.stack([dot(entries[:2], entries[2:]) for entries in signs])
    assert sorted(products.tolist()) == [-2] * 4 + [0] * 8 + [2] * 4 and products.var(correction=0).item() == 2
    unscaled, scaled = torch.tensor([[8.0, 0.0], [1.0, 0.0]]).softmax(-1).tolist()
    assert f"{unscaled[0]:.2%}" == "99.97%"
    assert [f"{weight:.0%}" for weight in scaled] == ["73%", "27%"]


@pytest.mark.parametrize(
    ("variance", "deviation"),
    [(1 / 3, "2.67"), (1 / 2, "4.00")],  # nn.Linear's queries and keys, and nn.MultiheadAttention's
)
def test_scores_at_pytorchs_default_initialisation(variance, deviation):
    d, d_k, tokens = 512, 64, 2000
    assert f"{math.sqrt(predicted_moments(d_k, sigma=math.sqrt(variance))[1]):.2f}" == deviation
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if variance < 0.4:
            weights = [torch.nn.Linear(d, d_k).weight.detach() for _ in range(2)]
        else:
            weights = [matrix[:d_k] for matrix in torch.nn.MultiheadAttention(d, d // d_k).in_proj_weight.detach().chunk(3)[:2]]
        for weight in weights:
            assert weight.var().item() * d == pytest.approx(variance, rel=0.03)
        query, key = (torch.randn(tokens, d) @ weight.mT for weight in weights)
    assert dot(query, key).std().item() == pytest.approx(float(deviation), rel=0.08)
