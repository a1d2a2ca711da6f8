"""The printed case to its four places, and error bars that hold for every input that rounds to the printed ones."""

import itertools
import math
from decimal import ROUND_HALF_EVEN, Decimal

import pytest
import torch

from snippets.attention.basic import basic_attention
from snippets.attention.worked import (
    DIGITS,
    FINER,
    OUTPUTS,
    SCORES,
    TOKENS,
    WEIGHTS,
    case,
    error_bounds,
    least_weight,
    places_off,
    score_bound,
)

HALF = DIGITS / 2


def results(X):
    return X @ X.mT, torch.softmax(X @ X.mT, -1), basic_attention(X)


def decimals(tensor):
    """Each number as it is printed with four places, computed in decimal arithmetic."""
    return [str(Decimal(x).quantize(Decimal("1.0000"), ROUND_HALF_EVEN) + 0) for x in tensor.flatten().tolist()]


def test_inputs_that_round_to_the_printed_ones_give_every_printed_figure():
    assert decimals(FINER) == decimals(TOKENS)
    for found, printed in zip(results(FINER), (SCORES, WEIGHTS, OUTPUTS), strict=True):
        assert decimals(found) == decimals(printed)


def test_the_printed_inputs_give_the_weights_and_miss_the_rest_by_one_in_the_last_place():
    scores, weights, outputs = results(TOKENS)
    assert decimals(weights) == decimals(WEIGHTS)
    assert places_off(scores, SCORES) == 1 and places_off(outputs, OUTPUTS) == 1 and places_off(weights, WEIGHTS) == 0


def test_what_was_printed_lies_within_the_bounds():
    for found, printed, bound in zip(results(TOKENS), (SCORES, WEIGHTS, OUTPUTS), error_bounds(TOKENS, half=HALF), strict=True):
        assert ((found - printed).abs() <= bound + HALF).all()  # the printed figure is rounded itself


def test_the_bounds_hold_at_corners_and_inside():
    bounds = error_bounds(TOKENS, half=HALF)
    generator = torch.Generator().manual_seed(0)
    shape = (500, *TOKENS.shape)
    signs = torch.randint(0, 2, shape, generator=generator).double() * 2 - 1
    for moves in (HALF * signs, HALF * (2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1)):
        moved = results(TOKENS + moves)
        for before, after, bound in zip(results(TOKENS), moved, bounds, strict=True):
            assert ((after - before).abs() <= bound * (1 + 1e-9) + 1e-14).all()


def test_the_bound_of_a_score_is_reached_and_not_exceeded_at_any_corner():
    x, y, half = [0.7, -0.2], [0.4, -1.5], 0.25
    moves = list(itertools.product((-half, half), repeat=4))
    worst = max(abs(sum((a + e) * (b + f) - a * b for a, e, b, f in zip(x, (p, q), y, (r, s)))) for p, q, r, s in moves)
    assert score_bound(torch.tensor(x), torch.tensor(y), half=half).item() == pytest.approx(worst, rel=1e-6)


def test_bounds_grow_with_the_error_and_vanish_without_one():
    for bound in error_bounds(TOKENS, half=0.0):
        assert (bound == 0).all()
    for small, large in zip(error_bounds(TOKENS, half=HALF), error_bounds(TOKENS, half=2 * HALF), strict=True):
        assert (small < large).all()


def test_the_weight_bound_is_the_stated_factor():
    score, weight, _ = error_bounds(TOKENS, half=HALF)
    delta = score.amax(-1, keepdim=True)
    torch.testing.assert_close(weight, (torch.exp(2 * delta) - 1) * torch.softmax(TOKENS @ TOKENS.mT, -1), rtol=1e-6, atol=0)


def test_a_case_is_two_sequences_of_three_rows():
    rows = [[10.0 * i + k for k in range(4)] for i in range(6)]
    assert case(*rows).tolist() == [rows[:3], rows[3:]]


def test_places_off_counts_units_of_the_fourth_place():
    one = torch.tensor([1.00004, -0.5], dtype=torch.float64)
    assert places_off(one, torch.tensor([1.0, -0.5])) == 0
    assert places_off(one, torch.tensor([1.0001, -0.5])) == 1
    assert places_off(one, torch.tensor([1.0, -0.5007])) == 7


def test_the_unscaled_scores_that_reach_25_9_print_a_weight_of_one():
    W_Q, W_K = torch.randn(2, 4, 4, generator=torch.Generator().manual_seed(227), dtype=torch.float64)
    scores = (TOKENS @ W_Q) @ (TOKENS @ W_K).mT
    assert f"{scores.max():.1f}" == "25.9"
    assert f"{scores.softmax(-1).flatten()[scores.argmax()]:.4f}" == "1.0000"


def test_the_whole_row_of_unscaled_scores_number_by_number():
    """The row that the page prints, by sums over its entries: products with both matrices, then products of the two."""
    W_Q, W_K = torch.randn(2, 4, 4, generator=torch.Generator().manual_seed(227), dtype=torch.float64).tolist()
    rows = {}
    for b, sequence in enumerate(TOKENS.tolist()):
        Q, K = ([[sum(x[a] * W[a][k] for a in range(4)) for k in range(4)] for x in sequence] for W in (W_Q, W_K))
        rows |= {(b, i): [sum(q * k for q, k in zip(query, key)) for key in K] for i, query in enumerate(Q)}
    row = max(rows.values(), key=max)
    assert [f"{score:.1f}" for score in row] == ["-23.6", "-4.6", "25.9"]
    exponentials = [math.exp(score) for score in row]
    assert [f"{one / sum(exponentials):.4f}" for one in exponentials] == ["0.0000", "0.0000", "1.0000"]


def test_unscaled_scores_that_reach_25_9_are_usual():
    """How large the largest of all scores gets under random matrices, and what it then weighs: 2000 draws."""
    W_Q, W_K = torch.randn(2, 2000, 1, 4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    scores = (TOKENS @ W_Q) @ (TOKENS @ W_K).mT
    largest = scores.flatten(1).amax(1)
    reach = largest >= 25.9
    assert 0.1 < reach.double().mean() < 0.3  # nothing rare, and not what most draws do
    weight = scores.softmax(-1).flatten(1).gather(1, scores.flatten(1).argmax(1, keepdim=True))[:, 0]
    assert (weight[reach] >= 0.99995).double().mean() > 0.9  # 1.0000, to four places


@pytest.mark.parametrize(("gap", "others"), [(0.0, 1), (2.0, 3), (10.0, 2), (0.5, 50)])
def test_the_least_weight_is_reached_when_all_others_trail_by_just_the_gap(gap, others):
    scores = torch.tensor([gap] + [0.0] * others, dtype=torch.float64)
    least = least_weight(torch.tensor(gap, dtype=torch.float64), others=others)
    torch.testing.assert_close(scores.softmax(-1)[0], least)
    scores[1] -= 1
    assert scores.softmax(-1)[0] > least
    assert least.item() == pytest.approx(math.exp(gap) / (math.exp(gap) + others))
