"""Softmax against PyTorch's, differences read off weights, outputs within their values, and what does not commute with softmax."""

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.simplify.softmax import matrix_after
from snippets.softmax.distribution import effective_keys, gaps, scaled_after_wrong, scaled_before, softmax
from tests.shapes import array_shapes

varied = settings(derandomize=True, deadline=None, max_examples=30)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@given(array_shapes(min_dims=1, max_dims=4, max_side=5), st.integers(0, 99), st.sampled_from([0.0, 1.0, 30.0, 700.0]))
@varied
def test_softmax_is_that_of_pytorch(shape, seed, scale):
    (z,) = random(seed, shape)
    weights = softmax(scale * z)
    torch.testing.assert_close(weights, torch.softmax(scale * z, -1))
    assert (weights >= 0).all() and (weights <= 1).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(shape[:-1], dtype=torch.float64))


def test_softmax_does_not_overflow_and_ignores_a_shift():
    z = torch.tensor([0.0, math.log(3.0)], dtype=torch.float64)
    for shift in (0.0, 1e4, -1e4):
        torch.testing.assert_close(softmax(z + shift), torch.tensor([0.25, 0.75], dtype=torch.float64))
    assert softmax(torch.tensor([7.0])).tolist() == [1.0]
    assert softmax(torch.tensor([1.0, -torch.inf, 1.0])).tolist() == [0.5, 0.0, 0.5]
    assert softmax(torch.zeros(0, 3)).shape == (0, 3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_in_half_precision_softmax_is_rounded_once(dtype):
    (z,) = random(3, (20, 50))
    z = z.to(dtype)
    assert torch.equal(softmax(z), softmax(z.float()).to(dtype))
    torch.testing.assert_close(softmax(z), torch.softmax(z, -1), rtol=2 * torch.finfo(dtype).eps, atol=0)
    assert effective_keys(torch.zeros(5000, dtype=dtype)).item() == torch.tensor(5000.0, dtype=dtype).item()  # the squares underflow


@given(array_shapes(min_dims=1, max_dims=3, max_side=5), st.integers(0, 99))
@varied
def test_gaps_of_scores_are_read_off_the_weights(shape, seed):
    (z,) = random(seed, shape)
    found = gaps(torch.softmax(z + 5, -1))
    assert found.shape == (*shape, shape[-1])
    expected = torch.stack([torch.stack([z[..., j] - z[..., k] for k in range(shape[-1])], -1) for j in range(shape[-1])], -2)
    torch.testing.assert_close(found, expected)


# Outputs


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_outputs_lie_between_the_values_in_every_direction(scale):
    S, V, u = random(0, (2, 50, 6), (2, 6, 3), (3, 20))
    along_outputs, along_values = matrix_after(scale * S, V) @ u, V @ u  # (2, 50, 20), (2, 6, 20)
    slack = 1e-12
    assert (along_outputs <= along_values.amax(-2, keepdim=True) + slack).all()
    assert (along_outputs >= along_values.amin(-2, keepdim=True) - slack).all()
    one = matrix_after(scale * S[..., :1], V[:, :1])  # one key: its value
    torch.testing.assert_close(one, V[:, :1].expand_as(one))


# The effective number


@pytest.mark.parametrize(
    ("exponentials", "expected"),
    [
        ([1, 1, 1, 1], Fraction(4)),
        ([1], Fraction(1)),
        ([1, 3], Fraction(16, 10)),
        ([1, 2, 5], Fraction(64, 30)),
    ],
)
def test_effective_keys_are_exact_fractions(exponentials, expected):
    z = torch.tensor(exponentials, dtype=torch.float64).log()
    assert effective_keys(z).item() == pytest.approx(float(expected))
    assert expected == Fraction(sum(exponentials) ** 2, sum(e * e for e in exponentials))


def test_effective_keys_lie_between_one_and_the_number_of_keys():
    (z,) = random(1, (200, 9))
    found = effective_keys(20 * z)
    assert found.shape == (200,) and (found > 1 - 1e-12).all() and (found < 9).all()
    torch.testing.assert_close(found, 1 / torch.softmax(20 * z, -1).pow(2).sum(-1))
    assert effective_keys(torch.tensor([0.0, 900.0])).item() == 1.0


# Scaling and rounding


@pytest.mark.parametrize("d_k", [1, 4, 64])
def test_scaled_weights_sum_to_the_scale_and_scaled_scores_give_weights(d_k):
    (z,) = random(2, (3, 5))
    exps = (z / math.sqrt(d_k)).exp()
    torch.testing.assert_close(scaled_before(z, d_k=d_k), exps / exps.sum(-1, keepdim=True))
    torch.testing.assert_close(scaled_after_wrong(z, d_k=d_k), z.exp() / (math.sqrt(d_k) * z.exp().sum(-1, keepdim=True)))
    torch.testing.assert_close(scaled_after_wrong(z, d_k=d_k).sum(-1), torch.full((3,), d_k**-0.5, dtype=torch.float64))
    assert torch.allclose(scaled_before(z, d_k=d_k), scaled_after_wrong(z, d_k=d_k)) == (d_k == 1)


def test_rounding_does_not_commute_with_softmax():
    z = torch.tensor([0.0, 0.5], dtype=torch.float64)
    assert softmax(z.round()).round(decimals=1).tolist() == [0.5, 0.5]
    assert softmax(z).round(decimals=1).tolist() == [0.4, 0.6]


def test_single_precision_loses_a_gap_and_a_sum():
    large = torch.tensor([2.0**24, 2.0**24 + 1], dtype=torch.float64)
    assert large.float()[0] == large.float()[1]
    assert softmax(large.float()).tolist() == [0.5, 0.5]
    assert softmax(large)[1].item() == pytest.approx(1 / (1 + math.exp(-1)))
    third = Fraction(softmax(torch.zeros(3))[0].item())
    assert 3 * third - 1 == Fraction(1, 2**25)


def test_no_scores_have_no_weights():
    assert softmax(torch.zeros(3, 0)).shape == (3, 0)


def test_numbers_in_the_text():
    z = torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64)
    assert [f"{x:.2f}" for x in z.exp()] == ["1.00", "2.72", "20.09"] and f"{z.exp().sum():.2f}" == "23.80"
    assert [round(100 * w) for w in softmax(z).tolist()] == [4, 11, 84]
    assert f"{(softmax(z) * torch.tensor([10.0, 20.0, 30.0]).double()).sum():.2f}" == "28.02"
    torch.testing.assert_close(softmax(z + 1000), softmax(z))
    assert softmax(10 * z)[2] > 0.999999
    # Choosing the largest score has the gradient zero; softmax does not.
    chosen = torch.func.grad(lambda z: (torch.nn.functional.one_hot(z.argmax(), 3) * torch.arange(3.0)).sum())(z)
    assert (chosen == 0).all() and (torch.func.grad(lambda z: (softmax(z) * torch.tensor([1.0, 5, 2])).sum())(z) != 0).all()
    third = softmax(torch.zeros(3))
    assert all(Fraction(w) > Fraction(1, 3) for w in third.tolist())  # all rounded up
