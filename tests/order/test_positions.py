"""Sines and cosines of positions against the formula in the paper, entry by entry, and what shifts and products make of them."""

import math

import pytest
import torch

from snippets.order.positions import encoding_product, frequencies, longest_wave, shift_encoding, sinusoidal_encoding, waves


@pytest.mark.parametrize("base", [10000.0, 100.0])
@pytest.mark.parametrize(("n", "d"), [(1, 2), (5, 4), (20, 12)])
def test_every_entry_is_that_of_the_paper(n, d, base):
    PE = sinusoidal_encoding(n, d, base=base, dtype=torch.float64)
    assert PE.shape == (n, d)
    for position in range(n):
        for i in range(d // 2):
            angle = position / base ** (2 * i / d)
            assert PE[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-12)
            assert PE[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-12)


def test_frequencies_are_a_geometric_series_from_one():
    omega = frequencies(8, base=16.0, dtype=torch.float64)
    torch.testing.assert_close(omega, torch.tensor([1, 1 / 2, 1 / 4, 1 / 8], dtype=torch.float64))


@pytest.mark.parametrize("d", [-2, 0, 1, 7])
def test_features_come_in_pairs(d):
    with pytest.raises(ValueError, match=f"d is {d}; expected an even number"):
        frequencies(d)


@pytest.mark.parametrize("base", [10000.0, 100.0])
@pytest.mark.parametrize("k", [0, 1, 7, 30, -4, 0.5])
def test_a_shift_turns_the_encodings(k, base):
    PE = sinusoidal_encoding(80, 16, base=base, dtype=torch.float64)
    if k == 0.5:  # twice half a place is a place
        halfway = shift_encoding(PE, k=k, base=base)
        assert not torch.allclose(halfway, PE)
        torch.testing.assert_close(shift_encoding(halfway, k=k, base=base)[:-1], PE[1:])
        return
    first, last = max(0, -k), min(80, 80 - k)
    torch.testing.assert_close(shift_encoding(PE[first:last], k=k, base=base), PE[first + k : last + k])


def test_a_shift_is_one_orthogonal_matrix_for_all_positions():
    R = shift_encoding(torch.eye(8, dtype=torch.float64), k=5)  # each row is where a unit vector goes
    torch.testing.assert_close(R @ R.T, torch.eye(8, dtype=torch.float64))
    PE = sinusoidal_encoding(30, 8, dtype=torch.float64)
    torch.testing.assert_close(PE[:25] @ R, PE[5:])
    blocks = torch.block_diag(*[torch.ones(2, 2)] * 4).bool()
    assert (R[~blocks] == 0).all()


def test_products_depend_on_the_distance_alone_and_not_on_its_sign():
    omega = frequencies(32, dtype=torch.float64)
    PE = sinusoidal_encoding(50, 32, dtype=torch.float64)
    place = torch.arange(50)
    products = PE @ PE.T
    expected = torch.cos((place[:, None] - place)[..., None] * omega).sum(-1)
    torch.testing.assert_close(products, expected)
    torch.testing.assert_close(encoding_product(place[:, None], place, omega), products)
    torch.testing.assert_close(products.diagonal(), torch.full((50,), 16.0, dtype=torch.float64))
    torch.testing.assert_close(products, products.T)


def test_waves_of_one_position_and_of_many():
    omega = torch.tensor([1.0, 0.5], dtype=torch.float64)
    cosines, sines = waves(torch.tensor(3), omega)
    assert cosines.tolist() == pytest.approx([math.cos(3), math.cos(1.5)])
    assert sines.tolist() == pytest.approx([math.sin(3), math.sin(1.5)])
    assert waves(torch.zeros(4, 5), omega)[0].shape == (4, 5, 2)


@pytest.mark.parametrize("d", [2, 6, 512])
def test_the_longest_wave_is_a_turn_over_the_last_frequency(d):
    length = longest_wave(d // 2, 10000.0, 2 * math.pi)
    assert length == pytest.approx(2 * math.pi / frequencies(d, dtype=torch.float64)[-1].item())
    assert length == pytest.approx(2 * math.pi * 10000 ** ((d - 2) / d))
    assert length < 2 * math.pi * 10000


def test_the_longest_wave_of_512_features_to_the_printed_place():
    assert f"{longest_wave(256, 10000.0, 1.0):.1f}" == "9646.6"


def test_shift_needs_pairs():
    with pytest.raises(ValueError, match="d is 5; expected an even number"):
        shift_encoding(torch.zeros(3, 5), k=1)


HALVES = [torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, *HALVES])
def test_tokens_with_positions_keep_their_format(dtype):
    X = torch.zeros(5, 8, dtype=dtype)
    PE = sinusoidal_encoding(5, 8, dtype=dtype)
    assert PE.dtype == (X + PE).dtype == shift_encoding(X + PE, k=1).dtype == dtype
    assert sinusoidal_encoding(5, 8).dtype == frequencies(8).dtype == torch.get_default_dtype()


@pytest.mark.parametrize("dtype", HALVES)
def test_in_half_precision_an_encoding_is_rounded_once(dtype):
    """From single precision; in bfloat16 itself the places beyond 256 would run together."""
    PE = sinusoidal_encoding(1000, 16)
    assert torch.equal(sinusoidal_encoding(1000, 16, dtype=dtype), PE.to(dtype))
    torch.testing.assert_close(shift_encoding(PE.to(dtype), k=300), shift_encoding(PE.to(dtype).float(), k=300).to(dtype), rtol=0, atol=0)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_encodings_are_made_where_they_are_asked_for(device):
    PE = sinusoidal_encoding(5, 8, device=device)
    assert PE.device.type == frequencies(8, device=device).device.type == shift_encoding(PE, k=1).device.type == device


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("base", [10000.0, 500000.0])
def test_frequencies_in_half_formats_are_the_others_rounded(dtype, base):
    assert torch.equal(frequencies(8, base=base, dtype=dtype), frequencies(8, base=base, dtype=torch.float32).to(dtype))


def test_numbers_in_the_text():
    """The example with the frequencies 1 and 0.1."""
    PE = sinusoidal_encoding(100, 4, base=100.0, dtype=torch.float64)
    products = (PE[:-1] * PE[1:]).sum(-1)
    assert {f"{products[k].item():.4f}" for k in (0, 1, 80)} == {"1.5353"} == {f"{PE[1, 1::2].sum().item():.4f}"}
    assert [f"{x:.4f}" for x in PE[1].tolist()] == ["0.8415", "0.5403", "0.0998", "0.9950"]
    assert f"{longest_wave(256, 10000.0, 1.0):.0f}" == "9647"
    odd = torch.arange(257, 1000, 2)
    assert not (odd.bfloat16().int() == odd).any()
