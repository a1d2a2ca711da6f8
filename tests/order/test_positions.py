"""Sines and cosines of positions against the formula in the paper, entry by entry, and what shifts and products make of them."""

import math

import pytest
import torch

from snippets.order.positions import encoding, encoding_product, frequencies, longest_wave, shift, waves


@pytest.mark.parametrize(("n", "d"), [(1, 2), (5, 4), (20, 12)])
def test_every_entry_is_that_of_the_paper(n, d):
    PE = encoding(n, d)
    assert PE.shape == (n, d)
    for position in range(n):
        for i in range(d // 2):
            angle = position / 10000 ** (2 * i / d)
            assert PE[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-12)
            assert PE[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-12)


def test_frequencies_are_a_geometric_series_from_one():
    omega = frequencies(8, base=16.0)
    torch.testing.assert_close(omega, torch.tensor([1, 1 / 2, 1 / 4, 1 / 8], dtype=torch.float64))


@pytest.mark.parametrize("d", [-2, 0, 1, 7])
def test_features_come_in_pairs(d):
    with pytest.raises(ValueError, match=f"d is {d}; expected an even number"):
        frequencies(d)


@pytest.mark.parametrize("k", [0, 1, 7, 30, -4])
def test_a_shift_turns_the_encodings(k):
    PE = encoding(80, 16)
    first, last = max(0, -k), min(80, 80 - k)
    torch.testing.assert_close(shift(PE[first:last], k), PE[first + k : last + k])


def test_a_shift_is_one_orthogonal_matrix_for_all_positions():
    R = shift(torch.eye(8, dtype=torch.float64), 5)  # each row is where a unit vector goes
    torch.testing.assert_close(R @ R.T, torch.eye(8, dtype=torch.float64))
    PE = encoding(30, 8)
    torch.testing.assert_close(PE[:25] @ R, PE[5:])
    blocks = torch.block_diag(*[torch.ones(2, 2)] * 4).bool()
    assert (R[~blocks] == 0).all()


def test_products_depend_on_the_distance_alone_and_not_on_its_sign():
    omega = frequencies(32)
    PE = encoding(50, 32)
    place = torch.arange(50)
    products = PE @ PE.T
    expected = torch.cos((place[:, None] - place)[..., None] * omega).sum(-1)
    torch.testing.assert_close(products, expected)
    torch.testing.assert_close(encoding_product(place[:, None], place, omega), products)
    torch.testing.assert_close(products.diagonal(), torch.full((50,), 16.0, dtype=torch.float64))
    torch.testing.assert_close(products, products.T)


def test_waves_of_one_position_and_of_many():
    omega = torch.tensor([1.0, 0.5], dtype=torch.float64)
    cosines, sines = waves(3, omega)
    assert cosines.tolist() == pytest.approx([math.cos(3), math.cos(1.5)])
    assert sines.tolist() == pytest.approx([math.sin(3), math.sin(1.5)])
    assert waves(torch.zeros(4, 5), omega)[0].shape == (4, 5, 2)


@pytest.mark.parametrize("d", [2, 6, 512])
def test_the_longest_wave_is_a_turn_over_the_last_frequency(d):
    length = longest_wave(d // 2, 10000.0, 2 * math.pi)
    assert length == pytest.approx(2 * math.pi / frequencies(d)[-1].item())
    assert length == pytest.approx(2 * math.pi * 10000 ** ((d - 2) / d))
    assert length < 2 * math.pi * 10000


def test_the_longest_wave_of_512_features_to_the_printed_place():
    assert f"{longest_wave(256, 10000.0, 1.0):.1f}" == "9646.6"


def test_shift_needs_pairs():
    with pytest.raises(ValueError, match="d is 5; expected an even number"):
        shift(torch.zeros(3, 5), 1)
    with pytest.raises(ValueError, match=r"PE \(4,\) has too few axes"):
        shift(torch.zeros(4), 1)
