"""Attention dropout: exact means and variances over all outcomes, measured ones, and how to switch it off in PyTorch."""

import itertools
import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.dropout import dropout, multiplier_variance, row_sum_variance


def outcomes(weights, p):
    """(probability, the row after dropout) for every pattern of kept weights."""
    for kept in itertools.product((0, 1), repeat=len(weights)):
        chance = math.prod(1 - p if k else p for k in kept)
        yield chance, [w * k / (1 - p) for w, k in zip(weights, kept)]


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("weights", [[1.0], [0.25] * 4, [0.7, 0.2, 0.1]])
def test_mean_and_variance_of_the_row_sum_over_all_outcomes(weights, p):
    rows = list(outcomes(weights, p))
    assert sum(chance for chance, _ in rows) == pytest.approx(1)
    for k, weight in enumerate(weights):
        assert sum(chance * row[k] for chance, row in rows) == pytest.approx(weight)
    mean = sum(chance * sum(row) for chance, row in rows)
    variance = sum(chance * sum(row) ** 2 for chance, row in rows) - mean**2
    assert mean == pytest.approx(1)
    found = row_sum_variance(torch.tensor(weights, dtype=torch.float64), variance=multiplier_variance(p))
    assert found.item() == pytest.approx(variance, abs=1e-12)


def test_the_multiplier_has_the_stated_variance():
    for p in (0.0, 0.1, 0.5, 0.9):
        assert multiplier_variance(p) == pytest.approx((1 - p) * (1 / (1 - p)) ** 2 - 1)
    assert multiplier_variance(0.1) == pytest.approx(1 / 9)


def test_each_weight_is_dropped_or_scaled_and_about_p_are_dropped():
    # 5 standard deviations of the number dropped out of 60,000.
    weights = torch.rand(20_000, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 0.1
    dropped = dropout(weights, p=0.1, generator=torch.Generator().manual_seed(1))
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], weights[kept] / 0.9)
    assert abs((~kept).sum().item() - 6000) < 5 * math.sqrt(60_000 * 0.1 * 0.9)
    together = (~kept).all(-1).double().mean().item()  # independent: all three of a row with probability p cubed
    assert together == pytest.approx(0.001, abs=5 * math.sqrt(0.001 / 20_000))


def test_rows_no_longer_sum_to_one():
    row = torch.full((1000, 8), 1 / 8, dtype=torch.float64)
    sums = dropout(row, p=0.1, generator=torch.Generator().manual_seed(0)).sum(-1)
    # The sum is a multiple of 1/8 over 0.9, and 1 is none.
    assert not torch.isclose(sums, torch.ones(1000, dtype=torch.float64)).any()
    assert sums.mean().item() == pytest.approx(1, abs=5 * math.sqrt(1 / 9 / 8 / 1000))


def test_without_dropout_nothing_changes():
    weights = torch.rand(3, 4, generator=torch.Generator().manual_seed(0))
    assert torch.equal(dropout(weights, p=0.0), weights)


@pytest.mark.parametrize("p", [-0.1, 1.0, 2.0])
def test_a_probability_that_is_none_or_leaves_nothing_is_refused(p):
    with pytest.raises(ValueError, match=f"p is {p}; expected a probability below 1"):
        dropout(torch.ones(2), p=p)


def test_pytorch_drops_weights_in_the_same_way():
    torch.manual_seed(0)
    x, eye = torch.zeros(1, 1000, 4), torch.eye(1000)[None]  # equal weights, and values that show them
    weights = scaled_dot_product_attention(x, x, eye, dropout_p=0.25)
    levels = weights.unique()
    torch.testing.assert_close(levels, torch.tensor([0.0, 1 / 1000 / 0.75]))
    # A million weights; 5 standard deviations.
    assert (weights == 0).double().mean().item() == pytest.approx(0.25, abs=5 * math.sqrt(0.25 * 0.75 / 1e6))
    sums = weights.sum(-1)
    assert sums.var().item() == pytest.approx(multiplier_variance(0.25) / 1000, rel=5 * math.sqrt(2 / 1000))


def test_the_function_drops_when_asked_and_the_module_only_in_training():
    torch.manual_seed(0)
    x = torch.rand(1, 4, 6)
    assert not torch.allclose(scaled_dot_product_attention(x, x, x, dropout_p=0.5), scaled_dot_product_attention(x, x, x))
    module = torch.nn.MultiheadAttention(6, num_heads=1, dropout=0.5, batch_first=True)
    assert not torch.allclose(module(x, x, x)[0], module(x, x, x)[0])
    module.eval()
    torch.testing.assert_close(module(x, x, x)[0], module(x, x, x)[0])


def test_with_probability_0_no_weight_is_dropped_not_even_by_the_smallest_number(monkeypatch):
    weights = torch.ones(3)
    monkeypatch.setattr(torch, "rand", lambda shape, **more: torch.zeros(shape))
    assert dropout(weights, p=0.0).tolist() == [1.0, 1.0, 1.0] and dropout(weights, p=0.5).tolist() == [0.0, 0.0, 0.0]


def test_numbers_in_the_text():
    equal, one_key = torch.full((8,), 1 / 8, dtype=torch.float64), torch.tensor([0.93] + [0.01] * 7, dtype=torch.float64)
    sums = [kept / 8 / 0.9 for kept in range(9)]
    assert (f"{sums[8]:.2f}", f"{sums[7]:.2f}") == ("1.11", "0.97") and 1 not in sums
    nu = multiplier_variance(0.1)
    assert [f"{row_sum_variance(row, variance=nu).item():.3f}" for row in (equal, one_key)] == ["0.014", "0.096"]
    assert {sum(row) for _, row in outcomes([0.5, 0.5], 0.5)} == {0, 1, 2}


def test_the_modules_weights_in_training_have_been_through_dropout():
    torch.manual_seed(0)
    x = torch.rand(1, 4, 6)
    module = torch.nn.MultiheadAttention(6, num_heads=1, dropout=0.5, batch_first=True)
    assert not torch.allclose(module(x, x, x)[1].sum(-1), torch.ones(1, 4))
    torch.testing.assert_close(module.eval()(x, x, x)[1].sum(-1), torch.ones(1, 4))
