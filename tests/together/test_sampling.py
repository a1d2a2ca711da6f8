"""Top-k, top-p and drawing, against sets that are counted here."""

import math

import pytest
import torch

from snippets.together.sampling import keep_likeliest, moved_probability, reject_limits, sample

LOGITS = torch.tensor([0.3, 0.1, 0.4, 0.2], dtype=torch.float64).log()


def kept(logits, **how):
    return (keep_likeliest(logits, **how) > -torch.inf).nonzero().flatten().tolist()


@pytest.mark.parametrize(("top_k", "expected"), [(1, [2]), (2, [0, 2]), (4, [0, 1, 2, 3]), (9, [0, 1, 2, 3])])
def test_top_k_keeps_the_k_largest(top_k, expected):
    assert kept(LOGITS, top_k=top_k) == expected


@pytest.mark.parametrize(
    ("top_p", "expected"), [(0.1, [2]), (0.39, [2]), (0.5, [0, 2]), (0.75, [0, 2, 3]), (0.95, [0, 1, 2, 3]), (1, [0, 1, 2, 3])]
)
def test_top_p_keeps_the_fewest_that_are_likely_enough(top_p, expected):
    assert kept(LOGITS, top_p=top_p) == expected


def test_top_p_of_one_keeps_all():
    """Of 128,256 probabilities, those of the first few thousand may add up to 1 in fp32."""
    logits = 3 * torch.randn(128_256, generator=torch.Generator().manual_seed(0))
    assert keep_likeliest(logits, top_p=1.0).equal(logits)


def test_top_p_sees_what_top_k_has_kept():
    assert kept(LOGITS, top_p=0.5) == [0, 2]
    assert kept(LOGITS, top_k=2, top_p=0.5) == [2]  # 0.4 of 0.7 is more than half


def test_kept_logits_are_unchanged_and_each_row_is_for_itself():
    logits = torch.randn(3, 2, 50, generator=torch.Generator().manual_seed(0))
    found = keep_likeliest(logits, top_k=7, top_p=0.9)
    keep = found > -torch.inf
    assert torch.equal(found[keep], logits[keep])
    for row, one in zip(found.flatten(0, 1), logits.flatten(0, 1)):
        assert torch.equal(row, keep_likeliest(one, top_k=7, top_p=0.9))


def test_in_half_precision_many_small_probabilities_still_add_up():
    logits = torch.zeros(4096, dtype=torch.bfloat16)
    assert len(kept(logits, top_p=0.5)) == 2048


@pytest.mark.parametrize(
    ("how", "message"),
    [({"top_k": 0}, "top_k is 0; expected at least 1"), ({"top_p": 0.0}, "top_p is 0.0"), ({"top_p": 1.5}, "top_p is 1.5")],
)
def test_what_would_keep_nothing_is_rejected(how, message):
    with pytest.raises(ValueError, match=message):
        keep_likeliest(LOGITS, **how)
    for temperature in (0.0, 1.0):
        with pytest.raises(ValueError, match=message):
            sample(LOGITS, temperature=temperature, **how)
    with pytest.raises(ValueError, match=message):
        reject_limits(**{"top_k": None, "top_p": None} | how)


@pytest.mark.parametrize("temperature", [-1, math.nan, math.inf])
def test_a_temperature_below_zero_or_not_finite_is_rejected(temperature):
    with pytest.raises(ValueError, match=f"temperature is {temperature}; expected 0 or more"):
        sample(LOGITS, temperature=temperature)


@pytest.mark.parametrize("temperature", [1e-38, 1e-45, 5e-324])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_at_a_tiny_temperature_the_likeliest_is_drawn(temperature, dtype):
    logits = torch.tensor([[10.0, 30.0, -torch.inf], [-10.0, -30.0, -20.0]], dtype=dtype)
    assert sample(logits, temperature=temperature).tolist() == [1, 0]


def test_drawn_tokens_have_the_kept_probabilities():
    generator = torch.Generator().manual_seed(0)
    tokens = sample(LOGITS.expand(20_000, 4), top_p=0.75, generator=generator)
    shares = tokens.bincount(minlength=4) / len(tokens)
    torch.testing.assert_close(shares, torch.tensor([3, 0, 4, 2]) / 9, atol=0.02, rtol=0)


def test_the_temperature_comes_before_top_p():
    """At a low temperature, one token is likely enough."""
    generator = torch.Generator().manual_seed(0)
    tokens = sample(LOGITS.expand(500, 4), temperature=0.1, top_p=0.9, generator=generator)
    assert tokens.unique().tolist() == [2]


def test_temperature_zero_takes_the_likeliest():
    assert sample(LOGITS.expand(2, 3, 4), temperature=0).tolist() == [[2] * 3] * 2


def test_kept_tokens_gain_what_the_dropped_ones_lose():
    p = torch.tensor([0.4, 0.3, 0.2])
    torch.testing.assert_close(moved_probability(p), torch.tensor(0.1))
