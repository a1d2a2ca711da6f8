"""PI and NTK-aware scaling: scores that stay, frequencies at both ends and in between, and what neighbours lose."""

import pytest
import torch

from snippets.order.positions import frequencies
from snippets.order.rotary import apply_rotary, rotate_pairs
from snippets.positions.interpolation import interpolated_rotary, neighbour_distance, ntk_base, scale_of_base


def omega(d_k, base):
    return frequencies(d_k, base=base, dtype=torch.float64)


@pytest.mark.parametrize("s", [1.0, 4.0, 2.5])
def test_under_pi_a_long_text_has_the_scores_of_a_short_one(s):
    generator = torch.Generator().manual_seed(0)
    Q, K = torch.randn(2, 6, 8, generator=generator, dtype=torch.float64)
    place = torch.arange(6, dtype=torch.float64)
    long = interpolated_rotary(Q, s * place, s=s, base=500.0) @ interpolated_rotary(K, s * place, s=s, base=500.0).mT
    torch.testing.assert_close(long, apply_rotary(Q, place, base=500.0) @ apply_rotary(K, place, base=500.0).mT)


@pytest.mark.parametrize(("d_k", "base", "s"), [(4, 9.0, 4.0), (64, 10000.0, 8.0), (128, 500000.0, 1.5)])
def test_a_new_base_divides_by_equal_ratios_from_one_to_s(d_k, base, s):
    ratio = omega(d_k, base) / omega(d_k, ntk_base(base, s, d_k=d_k))
    torch.testing.assert_close(ratio, torch.logspace(0, 1, d_k // 2, base=s, dtype=torch.float64))


def test_the_factor_of_a_base_is_the_way_back():
    assert scale_of_base(100.0, ntk_base(100.0, 7.0, d_k=10), d_k=10) == pytest.approx(7.0)
    assert ntk_base(9.0, 4.0, d_k=4) == pytest.approx(144.0)


def test_one_pair_has_no_slower_one():
    with pytest.raises(ValueError, match="d_k is 2; expected two pairs"):
        ntk_base(100.0, 4.0, d_k=2)
    with pytest.raises(ValueError, match="d_k is 0; expected a pair"):
        scale_of_base(100.0, 200.0, d_k=0)


def test_neighbours_are_as_far_apart_as_one_turn():
    fast = omega(10, 100.0)
    first, second = rotate_pairs(torch.ones(5).double(), torch.zeros(5).double(), torch.tensor(1), fast)
    torch.testing.assert_close(neighbour_distance(fast), torch.hypot(first - 1, second))
    torch.testing.assert_close(neighbour_distance(-fast), neighbour_distance(fast))


def test_pi_shrinks_squares_by_nearly_the_square_of_the_factor():
    ratio = neighbour_distance(omega(128, 1e4)) ** 2 / neighbour_distance(omega(128, 1e4) / 16) ** 2
    assert 230 < ratio.min() < ratio.max() < 256.001


@pytest.mark.parametrize("s", [3.0, 4.0])
def test_places_are_divided_in_the_format_of_what_is_turned(s):
    x = torch.randn(7, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    place = torch.arange(5000, 5007)
    expected = apply_rotary(x, place.double() / s)
    torch.testing.assert_close(interpolated_rotary(x, place, s=s), expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(interpolated_rotary(x[0], 5000, s=s), expected[0], rtol=0, atol=1e-12)


def test_numbers_in_the_text():
    """The fastest and the slowest of 64 pairs between neighbours, plain and under PI by four; bases; and Code Llama's factor."""
    plain = neighbour_distance(omega(128, 10000.0))[[0, -1]].tolist()
    by_pi = neighbour_distance(omega(128, 10000.0) / 4)[[0, -1]].tolist()
    assert [f"{plain[0]:.2f}", f"{by_pi[0]:.2f}", f"{plain[1]:.6f}", f"{by_pi[1]:.6f}"] == ["0.96", "0.25", "0.000115", "0.000029"]
    assert round(ntk_base(10000.0, 4.0, d_k=128)) == 40890 and round(scale_of_base(10000.0, 1e6, d_k=128), 1) == 93.1
