"""The scores, and the mean and variance of q.k: exactly on finite distributions, and on Gaussian draws within a band."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from snippets.scaling.variance import dot, draw, predicted_moments, predicted_moments_same, sample_moments, scores
from snippets.shapes import check_shapes

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


# The scores


@given(mutually_broadcastable_shapes(signature="(n,d),(m,d)->(n,m)", max_side=4), st.integers(0, 99))
@varied
def test_scores_are_scaled_dot_products(shapes, seed):
    query, key = random(seed, *shapes.input_shapes)
    expected = torch.einsum("...nd,...md->...nm", query, key)
    assert scores(query, key, scale=1.0).shape == shapes.result_shape
    torch.testing.assert_close(scores(query, key, scale=1.0), expected)
    torch.testing.assert_close(scores(query, key), expected / math.sqrt(query.shape[-1]))
    torch.testing.assert_close(scores(query, key, scale=-0.3), -0.3 * expected)


def test_scores_are_the_logits_of_pytorch():
    query, key = random(0, (2, 3, 5, 8), (2, 3, 7, 8))
    eye = torch.eye(7, dtype=torch.float64)  # values that show the weights
    weights = torch.nn.functional.scaled_dot_product_attention(query, key, eye.expand(2, 3, 7, 7))
    torch.testing.assert_close(scores(query, key).softmax(-1), weights)


@pytest.mark.parametrize(
    ("query", "key", "message"),
    [
        (
            (3, 4),
            (5, 6),
            r"d_k is 4 in query \(3, 4\) but 6 in key \(5, 6\); "
            r"expected query \(..., n, d_k\), key \(..., m, d_k\)",
        ),
        ((2, 3, 4), (3, 5, 4), r"the leading axes of query \(2, 3, 4\) and key \(3, 5, 4\) do not broadcast; expected"),
        ((4,), (5, 4), r"query \(4,\) has too few axes; expected"),
        ((3, 0), (5, 0), r"d_k is 0 in query \(3, 0\) and must be at least 1; expected"),
        ((3, 4), (0, 4), r"m is 0 in key \(0, 4\) and must be at least 1; expected"),
    ],
)
def test_scores_refuse_mismatched_shapes(query, key, message):
    with pytest.raises(ValueError, match=message):
        scores(torch.zeros(query), torch.zeros(key))


def test_check_shapes_accepts_what_broadcasts_and_refuses_a_wrong_number_of_tensors():
    check_shapes("A: n p, B: p", torch.zeros(3, 1, 2, 5), torch.zeros(4, 5))
    with pytest.raises(ValueError, match=r"n is 3 in A \(3, 2\) but 2 in A \(3, 2\); expected A \(..., n, n\)"):
        check_shapes("A: n n", torch.zeros(3, 2))
    with pytest.raises(ValueError, match="zip"):
        check_shapes("A: n n, B: n n", torch.zeros(2, 2))


@given(mutually_broadcastable_shapes(signature="(d),(d)->()", max_side=4), st.integers(0, 99))
@varied
def test_dot(shapes, seed):
    q, k = random(seed, *shapes.input_shapes)
    assert dot(q, k).shape == shapes.result_shape
    torch.testing.assert_close(dot(q, k), torch.einsum("...d,...d->...", q, k))


def test_dot_refuses_vectors_of_two_lengths():
    with pytest.raises(ValueError, match=r"d is 3 in q \(2, 3\) but 1 in k \(2, 1\); expected q \(..., d\), k"):
        dot(torch.zeros(2, 3), torch.zeros(2, 1))


# The moments, exactly


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize(("mu", "sigma"), [(0, 1), (1, 1), (-0.5, 2), (3, 0.25), (2, 0)])
def test_moments_of_independent_entries_are_exact(d, mu, sigma):
    # mu - sigma or mu + sigma, as likely: no Gaussian, for the law asks for mean and variance alone.
    pairs = every((mu - sigma, mu + sigma), 2 * d)
    assert population_moments(pairs[:, :d], pairs[:, d:]) == pytest.approx(predicted_moments(d, mu, sigma))


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize(("mu", "sigma"), [(0, 1), (1, 1), (-0.5, 2)])
def test_moments_of_a_gaussian_with_itself_are_exact(d, mu, sigma):
    q = mu + sigma * every(GAUSSIAN_TO_DEGREE_5, d)
    assert population_moments(q, q) == pytest.approx(predicted_moments_same(d, mu, sigma))


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
        predicted = predicted_moments_same(d, mu, sigma)
        band = bands(d, draws, lambda r: gaussian_moment(2 * r, mu, sigma))
    else:
        mean, variance = sample_moments(q, k)
        predicted = predicted_moments(d, mu, sigma)
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


def test_sample_moments_refuse_one_vector_against_many():
    with pytest.raises(ValueError, match=r"draws is 5 in q \(5, 4\) but 1 in k \(1, 4\)"):
        sample_moments(torch.zeros(5, 4), torch.zeros(1, 4))


def test_draw_repeats_with_its_seed_and_has_the_mean_and_deviation_asked_for():
    x, again, other = (draw(3, 4, mu=5, sigma=2, generator=torch.Generator().manual_seed(s)) for s in (0, 0, 1))
    assert x.shape == (3, 4) and x.dtype == torch.float64
    assert torch.equal(x, again) and not torch.equal(x, other)
    standard = draw(3, 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(x, 5 + 2 * standard)
