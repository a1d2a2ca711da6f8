"""Draws of speculative decoding against the target's distribution, and tokens of a step against a simulation."""

import pytest
import torch

from snippets.serving.speculative import acceptance_rate, accepts_guess, drawn_distribution, expected_tokens, leftover, speed


def distributions(seed, *shape):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, *shape, generator=generator, dtype=torch.float64).mul(2).softmax(-1)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_drawn_has_the_targets_distribution(seed):
    target, draft = distributions(seed, 3, 7)
    torch.testing.assert_close(drawn_distribution(target, draft), target)


@pytest.mark.parametrize("seed", range(5))
def test_the_rate_is_one_less_half_the_absolute_differences(seed):
    target, draft = distributions(seed, 3, 7)
    torch.testing.assert_close(acceptance_rate(target, draft), 1 - (target - draft).abs().sum(-1) / 2)


def test_a_replacement_is_a_token_that_the_draft_guesses_too_rarely():
    target, draft = distributions(0, 9)
    found = leftover(target, draft)
    assert found.sum().item() == pytest.approx(1) and ((found > 0) == (target > draft)).all()


def test_many_draws_are_distributed_like_the_target():
    target, draft = distributions(1, 5)
    generator = torch.Generator().manual_seed(2)
    guesses, other = (one.multinomial(200_000, True, generator=generator) for one in (draft, leftover(target, draft)))
    chance = torch.rand(200_000, dtype=torch.float64, generator=generator)
    drawn = torch.where(accepts_guess(guesses, target, draft, chance), guesses, other)
    assert (drawn.bincount(minlength=5) / drawn.numel() - target).abs().max() < 0.006  # more than five standard deviations


def test_a_draft_that_equals_the_target_is_never_corrected():
    target, _ = distributions(3, 5)
    chance = torch.rand(500, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert accepts_guess(torch.arange(5).repeat(100), target, target, chance).all()


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("guesses", [1, 3])
def test_tokens_of_a_step_are_those_of_a_simulation(rate, guesses):
    generator = torch.Generator().manual_seed(0)
    accepted = (torch.rand(100_000, guesses, generator=generator) < rate).long()  # (steps, guesses)
    mean = (1 + accepted.cumprod(-1).sum(-1)).double().mean().item()  # those before the first rejection, and one of the target
    assert mean == pytest.approx(expected_tokens(rate, guesses + 1), abs=0.03)


def test_a_guess_that_costs_nothing_and_is_right_saves_a_step():
    assert speed(0.5, 3, 0.25) == pytest.approx((1 + 0.5 + 0.25 + 0.125) / 1.75)
    assert speed(0.0, 1, 0.0) == 1 and speed(0.999999, 1, 0.0) == pytest.approx(2, rel=1e-5)
