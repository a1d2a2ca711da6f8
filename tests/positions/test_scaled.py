"""Llama 3.1's frequencies case by case and against YaRN's, and LongRoPE's angles and factor."""

import math

import pytest
import torch

from snippets.order.positions import frequencies
from snippets.positions.scaled import (
    count_pairs,
    llama3_frequencies,
    llama3_frequency,
    longrope_angles,
    longrope_attention_factor,
    longrope_frequencies,
    yarn_frequency,
)
from snippets.positions.yarn import rotations, yarn_frequencies

OMEGA = frequencies(128, base=500_000.0, dtype=torch.float64)


def scaled_by_wavelength(frequency, s=8, low=1, high=4, trained=8192):
    """Scale one frequency by cases of its wavelength, in the words of Llama 3.1's release."""
    wavelength = 2 * math.pi / frequency
    if wavelength < trained / high:
        return frequency
    if wavelength > trained / low:
        return frequency / s
    smooth = (trained / wavelength - low) / (high - low)
    return (1 - smooth) * frequency / s + smooth * frequency


def test_frequencies_follow_the_three_cases():
    expected = [scaled_by_wavelength(one) for one in OMEGA.tolist()]
    torch.testing.assert_close(llama3_frequencies(OMEGA, s=8.0, trained=8192), torch.tensor(expected, dtype=torch.float64))


def test_counts_are_those_of_changed_and_divided_frequencies():
    scaled = llama3_frequencies(OMEGA, s=8.0, trained=8192)
    kept, blended, divided = count_pairs(OMEGA, trained=8192, low=1.0, high=4.0)
    assert kept == (scaled == OMEGA).sum() and divided == (scaled == OMEGA / 8).sum() and kept + blended + divided == 64


@pytest.mark.parametrize(("low", "high"), [(1.0, 4.0), (0.5, 32.0)])
def test_with_the_same_borders_yarn_has_the_same_frequencies(low, high):
    llama = llama3_frequencies(OMEGA, s=8.0, trained=8192, low=low, high=high)
    torch.testing.assert_close(llama, yarn_frequencies(OMEGA, s=8.0, trained=8192, start=low, end=high))
    turns = rotations(OMEGA, length=8192)
    torch.testing.assert_close(llama, yarn_frequency(OMEGA, turns, s=8.0, start=low, end=high))


def test_the_blend_is_continuous_at_both_borders():
    omega = torch.ones(3, dtype=torch.float64)
    for border, expected in ((1.0, 1 / 8), (4.0, 1.0)):
        near = border + torch.tensor([-1e-9, 0.0, 1e-9], dtype=torch.float64)
        found = llama3_frequency(omega, near, s=8.0, low=1.0, high=4.0)
        torch.testing.assert_close(found, torch.full_like(found, expected), rtol=1e-8, atol=0)


def test_longrope_divides_each_frequency_and_leaves_the_first_positions():
    factors = torch.linspace(1, 40, 64, dtype=torch.float64)
    torch.testing.assert_close(longrope_frequencies(OMEGA, factors) * factors, OMEGA)
    angles = longrope_angles(torch.arange(6), OMEGA, factors, unscaled=3)
    torch.testing.assert_close(angles[:3], torch.arange(3).unsqueeze(-1) * OMEGA)
    torch.testing.assert_close(angles[3:], torch.arange(3, 6).unsqueeze(-1) * OMEGA / factors)


def test_the_factor_squared_is_a_quotient_of_logarithms():
    assert longrope_attention_factor(32.0, trained=4096) ** 2 == pytest.approx(math.log(32 * 4096) / math.log(4096))
    assert longrope_attention_factor(0.5, trained=4096) == longrope_attention_factor(1.0, trained=4096) == 1
