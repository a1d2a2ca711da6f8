"""Log-n scaling: the threshold, and the layer that moves it to the length of training."""

import math

import pytest
import torch

from snippets.attention.formula import attention_weights
from snippets.bounds.logn import constant_scale, leader_weight, logn_attention_weights, logn_queries


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("n", [1, 2, 50])
@pytest.mark.parametrize("scale", [0.0, 1.0, 2.5])
def test_the_leaders_weight_is_softmaxs(n, scale):
    scores = torch.full((n,), 3.0, dtype=torch.float64)
    scores[0] += 1.2
    assert leader_weight(1.2, n, scale=scale) == pytest.approx((scale * scores).softmax(-1)[0].item())


@pytest.mark.parametrize("excess", [0.1, 0.5, 1.0])
def test_both_bounds_hold_for_others_of_any_scores(excess):
    for seed, n in enumerate((2, 10, 1000)):
        (noise,) = random(seed, n - 1)
        above = torch.cat([torch.zeros(1), -1 - excess - noise.abs()])
        below = torch.cat([torch.zeros(1), excess - 1 + noise.abs()])
        assert (math.log(n) * above).softmax(-1)[0] >= 1 - n**-excess
        assert (math.log(n) * below).softmax(-1)[0] <= n**-excess + 1e-12


def test_at_the_length_of_training_nothing_changes_and_beyond_it_weights_sharpen():
    query, key = random(3, (2, 5, 4), (2, 64, 4))
    torch.testing.assert_close(logn_attention_weights(query, key, trained_at=64), attention_weights(query, key))
    torch.testing.assert_close(logn_attention_weights(query, key, trained_at=8), attention_weights(2 * query, key))  # log 64 is twice log 8


def test_scaled_queries_under_a_causal_mask_give_each_row_its_own_scale():
    query, key = random(4, (2, 7, 4), (2, 7, 4))
    found = attention_weights(logn_queries(query, trained_at=16), key, is_causal=True)
    for i in range(7):
        alone = logn_attention_weights(query[:, i : i + 1], key[:, : i + 1], trained_at=16)
        torch.testing.assert_close(found[:, i : i + 1, : i + 1], alone)


def test_a_training_length_without_a_logarithm_is_refused():
    x = torch.zeros(3, 4)
    with pytest.raises(ValueError, match="trained_at is 1; expected 2 keys at least"):
        logn_queries(x, trained_at=1)
    with pytest.raises(ValueError, match="trained_at is 1; expected 2 keys at least"):
        logn_attention_weights(x, x, trained_at=1)


@pytest.mark.parametrize("n", [2, 17, 4096])
def test_the_constant_scale_holds_the_weight(n):
    assert leader_weight(0.7, n, scale=constant_scale(0.7, n, weight=0.8)) == pytest.approx(0.8)


# What the page says


def logn_weight(behind):
    """The weight of a first key at a scale of log n, if the others are that far behind."""
    scores = -torch.cat([torch.zeros(1, dtype=torch.float64), behind.double()])
    return (math.log(len(scores)) * scores).softmax(-1)[0].item()


def test_numbers_in_the_text():
    assert [f"{leader_weight(5.0, n, scale=1.0):.2%}" for n in (10, 1000, 100_000)] == ["94.28%", "12.93%", "0.15%"]
    counts = {gap: 1000**-gap for gap in (1.5, 0.5, 1)}
    assert (f"{counts[1.5]:.5f}", f"{999 * counts[1.5]:.2f}") == ("0.00003", "0.03")
    assert (f"{counts[0.5]:.2f}", f"{999 * counts[0.5]:.0f}") == ("0.03", "32")
    assert counts[1] == 1 / 1000
    assert f"{math.log(1024):.1f}" == "6.9"


def test_a_runner_up_does_not_decide_and_many_keys_as_close_do():
    n = 100_000
    assert f"{n**-0.99:.5f}" == "0.00001"
    one_close = torch.full((n - 1,), 100.0)
    one_close[0] = 0.99
    assert f"{logn_weight(one_close):.4f}" == "1.0000"
    assert logn_weight(torch.full((n - 1,), 0.99)) < n**-0.01 < 0.9
    two_behind = [torch.full((n - 1,), 2.0) for n in (100, 10_000, 1_000_000)]
    for behind in two_behind:
        behind[0] = 0.99
    assert sorted(map(logn_weight, two_behind)) == list(map(logn_weight, two_behind))
    assert logn_weight(two_behind[-1]) > 0.9999
