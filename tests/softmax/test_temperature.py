"""Weights at temperatures hot and cold, what softmax maximises, and distillation against autograd."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.attention.masks import mask_scores, masked_softmax
from snippets.scaling.saturation import entropy
from snippets.softmax.distribution import softmax
from snippets.softmax.jacobian import variance
from snippets.softmax.temperature import distillation_gradient, distillation_loss, objective, sharpen, softmax_with_temperature
from tests.shapes import array_shapes

varied = settings(derandomize=True, deadline=None, max_examples=30)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@given(array_shapes(min_dims=1, max_dims=3, max_side=5), st.integers(0, 99), st.sampled_from([0.2, 1.0, 7.0]))
@varied
def test_weights_at_a_temperature_are_powers_of_the_weights(shape, seed, tau):
    (z,) = random(seed, shape)
    exps = (z / tau).exp()
    expected = exps / exps.sum(-1, keepdim=True)
    torch.testing.assert_close(softmax_with_temperature(z, tau=tau), expected)
    powers = z.softmax(-1) ** (1 / tau)
    torch.testing.assert_close(sharpen(z.softmax(-1), beta=1 / tau), powers / powers.sum(-1, keepdim=True))
    torch.testing.assert_close(sharpen(z.softmax(-1), beta=1 / tau), expected)


def test_sharpening_keeps_a_weight_of_zero():
    assert sharpen(torch.tensor([0.0, 0.2, 0.8]).double(), beta=2.0).tolist() == pytest.approx([0.0, 1 / 17, 16 / 17])


def test_sharpening_a_weight_of_zero_has_a_gradient():
    weights = torch.tensor([0.0, 0.2, 0.8], dtype=torch.float64)
    for beta in (0.0, 0.5, 2.0):
        gradient = torch.func.grad(lambda w: (sharpen(w, beta=beta) * torch.arange(3)).sum())(weights)
        expected = torch.func.grad(lambda w: (sharpen(w, beta=beta) * torch.arange(1, 3)).sum())(weights[1:])
        torch.testing.assert_close(gradient, torch.cat([torch.zeros(1), expected]))
    assert sharpen(weights, beta=0.0).tolist() == [0.0, 0.5, 0.5]  # equal weights, but for it


@pytest.mark.parametrize(
    ("scores", "leaders"),
    [
        ([1.0, 3.0, 2.0], [1]),
        ([3.0, 3.0, 2.0, 0.0], [0, 1]),
        ([5.0], [0]),
        ([0.0] * 3, [0, 1, 2]),
    ],
)
def test_hot_and_cold(scores, leaders):
    z = torch.tensor(scores, dtype=torch.float64)
    equal = torch.full_like(z, 1 / len(scores))
    torch.testing.assert_close(softmax_with_temperature(z, tau=1e9), equal, rtol=1e-8, atol=0)
    shared = torch.zeros_like(z)
    shared[leaders] = 1 / len(leaders)
    torch.testing.assert_close(softmax_with_temperature(z, tau=1e-3), shared, rtol=0, atol=1e-300)


@pytest.mark.parametrize("tau", [0.5, 3.0, 1e6])
@pytest.mark.parametrize("keys", [1, 2, 9])
def test_no_weight_is_further_from_an_equal_share_than_the_gap_allows(keys, tau):
    (z,) = random(keys, (50, keys))
    factor = ((z.amax(-1, keepdim=True) - z.amin(-1, keepdim=True)) / tau).exp()
    shares = keys * softmax_with_temperature(z, tau=tau)
    assert (shares <= factor * (1 + 1e-14)).all() and (shares * factor >= 1 - 1e-14).all()


@pytest.mark.parametrize("lead", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("keys", [1, 2, 9])
def test_a_leader_has_the_weight_that_its_lead_secures(lead, keys):
    (z,) = random(keys, (50, keys))
    z[:, 0] = z[:, 1:].amax(-1) + lead if keys > 1 else z[:, 0]
    bound = math.exp(lead) / (math.exp(lead) + keys - 1)
    assert (softmax(z)[:, 0] >= bound - 1e-15).all()
    tight = torch.zeros(keys, dtype=torch.float64)
    tight[0] = lead
    assert softmax(tight)[0].item() == pytest.approx(bound)


# Entropy and mean score


@pytest.mark.parametrize("beta", [0.0, 0.5, 3.0, -1.0])
def test_slopes_of_mean_score_entropy_and_perplexity_by_the_inverse_temperature(beta):
    (z,) = random(1, (6,))
    at = torch.tensor(beta, dtype=torch.float64)

    def mean(beta):
        return (torch.softmax(beta * z, -1) * z).sum()

    def spread(beta):
        return entropy(torch.softmax(beta * z, -1))

    weights = torch.softmax(at * z, -1)
    var = variance(weights, z)
    torch.testing.assert_close(torch.func.grad(mean)(at), var)
    torch.testing.assert_close(torch.func.grad(spread)(at), -at * var)
    torch.testing.assert_close(torch.func.grad(lambda beta: spread(beta).exp())(at), -at * var * spread(at).exp())


def test_the_objective_is_largest_at_softmax_where_it_is_logsumexp():
    (z,) = random(2, (4, 7))
    (others,) = random(3, (500, 4, 7))
    for tau in (1.0, 0.3, 4.0):
        best = objective(softmax_with_temperature(z, tau=tau), z, tau=tau)
        torch.testing.assert_close(best, tau * (z / tau).logsumexp(-1))
        assert (objective((2 * others).softmax(-1), z, tau=tau) < best).all()
    torch.testing.assert_close(objective(z.softmax(-1), z), z.logsumexp(-1))  # at temperature 1 unless told otherwise
    corners = torch.eye(7, dtype=torch.float64)
    torch.testing.assert_close(objective(corners, z[:1].expand(7, 7)), z[0])  # one key alone: its score, and no entropy


@pytest.mark.parametrize("t", [-2.0, -0.5, 0.0, 0.7])
def test_the_objective_falls_on_every_way_from_softmax_as_a_variance_says(t):
    z, x = random(4, (5,), (5,))
    at = torch.tensor(t, dtype=torch.float64)
    slope = torch.func.grad(lambda t: objective((z + t * x).softmax(-1), z))(at)
    torch.testing.assert_close(slope, -at * variance((z + at * x).softmax(-1), x))
    assert (slope * at).item() <= 0


def test_the_objective_of_masked_scores_is_finite_and_has_a_gradient():
    """A masked key has the weight 0 and the score -inf."""
    (z,) = random(7, (4, 4))
    z.requires_grad_()
    masked = mask_scores(z, is_causal=True)
    total = objective(masked_softmax(masked), masked)
    torch.testing.assert_close(total, masked.logsumexp(-1))
    (gradient,) = torch.autograd.grad(total.sum(), z)
    torch.testing.assert_close(gradient, masked.softmax(-1).detach())


def test_the_objective_has_the_scores_as_its_slope_by_the_weights_and_nothing_where_there_is_no_weight():
    weights, scores = torch.tensor([0.0, 0.2, 0.8]).double(), torch.tensor([-torch.inf, 3.0, 5.0]).double()
    for tau in (0.5, 2.0):
        slope = torch.func.grad(lambda w: objective(w, scores, tau=tau) - tau * entropy(w))(weights)
        torch.testing.assert_close(slope, torch.tensor([0.0, 3.0, 5.0]).double())


# Distillation


@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
@pytest.mark.parametrize("tau", [0.5, 1.0, 20.0])
def test_distillation_against_pytorch(tau, leading):
    student, teacher = random(5, (*leading, 4), (*leading, 4))
    student.requires_grad_()
    loss = distillation_loss(student, teacher, tau=tau)
    flat = [(number / tau).reshape(-1, 4) for number in (student, teacher)]
    expected = torch.nn.functional.cross_entropy(flat[0], flat[1].softmax(-1), reduction="none")
    torch.testing.assert_close(loss, expected.view(leading))
    (gradient,) = torch.autograd.grad(loss.sum(), student)
    torch.testing.assert_close(distillation_gradient(student, teacher, tau=tau).detach(), gradient)
    assert (distillation_gradient(teacher, teacher, tau=tau) == 0).all()


def test_distillation_at_a_high_temperature_compares_scores_less_their_means():
    student, teacher = random(6, (5, 3), (5, 3))
    gradient = 1e4**2 * distillation_gradient(student, teacher, tau=1e4)
    centred = (student - student.mean(-1, keepdim=True)) - (teacher - teacher.mean(-1, keepdim=True))
    torch.testing.assert_close(gradient, centred / 3, rtol=0, atol=1e-3)


def test_a_row_without_weights_stays_without():
    assert sharpen(torch.zeros(1, 3), beta=2.0).tolist() == [[0.0, 0.0, 0.0]]


def test_a_class_that_student_and_teacher_mask_adds_nothing_to_the_loss():
    student, teacher = random(31, (2, 4), (2, 4))
    keep = torch.tensor([True, False, True, True])
    student = student.requires_grad_()
    masked = [mask_scores(x, attn_mask=keep) for x in (student, teacher)]
    loss = distillation_loss(*masked, tau=2.0)
    torch.testing.assert_close(loss, distillation_loss(student[:, keep], teacher[:, keep], tau=2.0))
    (gradient,) = torch.autograd.grad(loss.sum(), student)
    torch.testing.assert_close(gradient, distillation_gradient(*masked, tau=2.0))


def test_numbers_in_the_text():
    z = torch.tensor([3.0, 3.0, 2.0, 0.0], dtype=torch.float64)
    assert softmax_with_temperature(z, tau=1.0).round(decimals=2).tolist() == [0.41, 0.41, 0.15, 0.02]
    assert softmax_with_temperature(z, tau=0.1).round(decimals=2).tolist() == [0.5, 0.5, 0, 0]
    assert (softmax_with_temperature(z, tau=100.0) - 0.25).abs().max() < 0.006


def test_a_temperature_keeps_the_tokens_of_top_k_and_can_change_those_of_top_p():
    def top_p(weights, p):  # the likeliest tokens that together reach p
        ordered, order = weights.sort(descending=True)
        return set(order[: int((ordered.cumsum(-1) < p).sum()) + 1].tolist())

    (z,) = random(8, (50,))
    weights = [softmax_with_temperature(3 * z, tau=tau) for tau in (0.5, 1.0, 2.0)]
    assert len({tuple(w.argsort(descending=True).tolist()) for w in weights}) == 1
    assert len({len(top_p(w, 0.9)) for w in weights}) == 3
