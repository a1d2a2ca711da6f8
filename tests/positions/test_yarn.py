"""Tests of YaRN: the ramp and its ends, the factor on queries and keys, and the weight of the largest score."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.formula import attention_weights
from snippets.order.positions import frequencies
from snippets.order.rotary import apply_rotary, rotate_pairs
from snippets.positions.yarn import (
    apply_yarn,
    ramp,
    rotations,
    weight_of_lead,
    weights_at_temperature,
    yarn_attention_factor,
    yarn_frequencies,
    yarn_frequencies_by_pair,
)

OMEGA = frequencies(128, dtype=torch.float64)


def test_turns_are_lengths_over_wave_lengths():
    assert rotations(torch.tensor([1.0, 0.5]), length=4 * math.pi).tolist() == pytest.approx([2.0, 1.0])


def test_the_ramp_is_flat_straight_and_flat():
    found = ramp(torch.tensor([-3.0, 1, 2, 4, 5, 99]), start=1.0, end=5.0)
    assert found.tolist() == [0, 0, 0.25, 0.75, 1, 1]


def test_yarn_equals_pi_and_rope_at_the_ends_of_the_ramp():
    found, often = yarn_frequencies(OMEGA, s=8.0, trained=2048), rotations(OMEGA, length=2048)
    slow, fast = often < 1, often > 32
    assert slow.any() and fast.any() and (~slow & ~fast).any()
    torch.testing.assert_close(found[slow], OMEGA[slow] / 8)
    torch.testing.assert_close(found[fast], OMEGA[fast])
    between = (OMEGA / found)[~slow & ~fast]
    assert ((between > 1) & (between < 8)).all()


def test_the_ends_of_the_ramp_can_be_chosen():
    assert torch.equal(yarn_frequencies(OMEGA, s=4.0, trained=64, start=1e6, end=2e6), OMEGA / 4)
    assert torch.equal(yarn_frequencies(OMEGA, s=4.0, trained=64, start=-2.0, end=-1.0), OMEGA)


def test_a_ramp_over_pairs_has_the_same_ends_and_interpolates_less_between():
    by_turns, by_pair = yarn_frequencies(OMEGA, s=16.0, trained=4096), yarn_frequencies_by_pair(128, s=16.0, trained=4096)
    assert torch.equal(by_pair[:21], OMEGA[:21])
    torch.testing.assert_close(by_pair[46:], OMEGA[46:] / 16)
    assert (by_pair[22:46] > by_turns[22:46]).all()
    share = (by_pair / OMEGA - 1 / 16) / (15 / 16)
    torch.testing.assert_close(share[20:47].diff(), torch.full((26,), -1 / 26, dtype=torch.float64))


def test_half_way_the_factor_stays_below_two():
    half = torch.tensor([16.5 * 2 * math.pi / 4096], dtype=torch.float64)  # 16.5 rotations, in the middle of 1 and 32
    for s in (2.0, 4.0, 1000.0):
        assert (half / yarn_frequencies(half, s=s, trained=4096)).item() == pytest.approx(2 * s / (s + 1))


def test_a_temperature_needs_no_change_to_attention():
    generator = torch.Generator().manual_seed(0)
    Q, K = torch.randn(2, 5, 8, generator=generator, dtype=torch.float64)
    expected = torch.softmax(Q @ K.mT / math.sqrt(8) / 0.6, dim=-1)
    torch.testing.assert_close(weights_at_temperature(Q, K, temperature=0.6), expected)
    assert not torch.allclose(attention_weights(Q, K), expected)


def test_scores_get_the_square_of_the_factor():
    generator = torch.Generator().manual_seed(1)
    Q, K = torch.randn(2, 6, 16, generator=generator, dtype=torch.float64)
    how = {"s": 16.0, "trained": 10**9, "base": 50.0, "by_pair": False}  # so long that no pair is interpolated
    place = torch.arange(6)
    scores = apply_yarn(Q, place, **how) @ apply_yarn(K, place, **how).mT
    plain = apply_rotary(Q, place, base=50.0) @ apply_rotary(K, place, base=50.0).mT
    torch.testing.assert_close(scores, yarn_attention_factor(16.0) ** 2 * plain)
    assert yarn_attention_factor(1.0) == 1 and yarn_attention_factor(math.exp(10)) == pytest.approx(2)


def test_without_a_longer_text_yarn_is_rope():
    (x,) = torch.randn(1, 6, 8, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    torch.testing.assert_close(apply_yarn(x, torch.arange(6), s=1.0, trained=64), apply_rotary(x, torch.arange(6)))


def test_one_position_for_all_tokens():
    (x,) = torch.randn(1, 6, 8, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    expected = apply_yarn(x, torch.full((6,), 5), s=4.0, trained=64)
    torch.testing.assert_close(apply_yarn(x, 5, s=4.0, trained=64), expected)


def test_fused_attention_takes_what_yarn_makes():
    x = torch.randn(3, 6, 8, generator=torch.Generator().manual_seed(3)).half()
    q, k = (apply_yarn(y, torch.arange(6), s=4.0, trained=64) for y in x[:2])
    assert scaled_dot_product_attention(q, k, x[2]).dtype == torch.float16


def test_a_leader_keeps_its_weight():
    scores = torch.cat([torch.tensor([3.0]), torch.zeros(20)]).double()
    assert weight_of_lead(3.0, 20) == pytest.approx(torch.softmax(scores, 0)[0].item())
    for s in (2, 7):
        assert weight_of_lead(3.0 * (1 + math.log(s) / 3.0), 20 * s) == pytest.approx(weight_of_lead(3.0, 20))


def test_an_odd_width_is_refused():
    with pytest.raises(ValueError, match="d is 5; expected an even number"):
        apply_yarn(torch.zeros(2, 5), torch.arange(2), s=2.0, trained=8)


def huggingface(d_k, s, trained, base=10000.0, beta_fast=32, beta_slow=1, truncate=True):
    """The frequencies as the code of transformers has them, loop by loop."""

    def pair_of(often):
        return d_k * math.log(trained / (often * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair_of(beta_fast), pair_of(beta_slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, d_k - 1)
    found = []
    for i in range(d_k // 2):
        kept = 1 - min(max((i - low) / (high - low if high != low else 0.001), 0), 1)
        found.append(base ** (-2 * i / d_k) * (kept + (1 - kept) / s))
    return torch.tensor(found, dtype=torch.float64)


@pytest.mark.parametrize(("d_k", "base"), [(64, 10000.0), (4, 100.0), (64, 2.0)])
@pytest.mark.parametrize("trained", [7, 16, 64, 128, 4096, 10**6])
def test_at_any_length_the_ramp_over_pairs_is_that_of_most_code(trained, d_k, base):
    found = yarn_frequencies_by_pair(d_k, s=4.0, trained=trained, base=base)
    torch.testing.assert_close(found, huggingface(d_k, 4.0, trained, base))


def test_the_factor_of_a_text_that_is_no_longer_is_one():
    assert [yarn_attention_factor(s) for s in (0, 0.5, 1.0)] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("d_k", [64, 6])
def test_a_model_whose_ramp_is_over_pairs_can_be_turned(d_k):
    x = torch.randn(7, d_k, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    place = torch.arange(9000, 9007)
    angle = place[:, None] * huggingface(d_k, 4.0, 2048)
    first, second = x.chunk(2, dim=-1)
    turned = torch.cat([first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()], -1)
    found = apply_yarn(x, place, s=4.0, trained=2048)
    torch.testing.assert_close(found, yarn_attention_factor(4.0) * turned)
    assert not torch.allclose(apply_yarn(x, place, s=4.0, trained=2048, by_pair=False), found)


@pytest.mark.parametrize("truncate", [True, False])
@pytest.mark.parametrize(("s", "base", "fast", "slow"), [(40.0, 10000.0, 32.0, 1.0), (8.0, 500000.0, 16.0, 2.0)])
def test_options_of_checkpoints(s, base, fast, slow, truncate):
    how = {"s": s, "trained": 4096, "start": slow, "end": fast, "truncate": truncate, "base": base}
    omega = huggingface(64, s, 4096, base, fast, slow, truncate)
    torch.testing.assert_close(yarn_frequencies_by_pair(64, **how), omega)
    place, x = torch.arange(9000, 9003), torch.randn(3, 64, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    first, second = x.chunk(2, dim=-1)
    for factor in (1.0, 2.0):
        expected = factor * torch.cat(rotate_pairs(first, second, place, omega), dim=-1)
        torch.testing.assert_close(apply_yarn(x, place, attention_factor=factor, **how), expected)


def test_numbers_in_the_text():
    """The pairs of the example, factors for a text 16 times as long, and a leader's weight."""
    found = rotations(frequencies(128, dtype=torch.float64), length=4096)
    assert [(found < 1).sum().item(), (found >= 32).sum().item(), ((found > 1) & (found < 32)).sum().item()] == [18, 21, 25]
    assert [f"{yarn_attention_factor(16.0) ** power:.2f}" for power in (1, 2)] == ["1.28", "1.63"]
    assert [f"{100 * weight_of_lead(10.0, others):.1f}" for others in (4000, 64000)] == ["84.6", "25.6"]
    assert [yarn_attention_factor(16.0) ** 2 > 1 + math.log(16) / lead for lead in (10, 5, 4)] == [True, True, False]


def test_under_partial_rope_the_factor_scales_the_rotated_part_alone():
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 24, generator=generator, dtype=torch.float64)
    factor = yarn_attention_factor(16.0) ** 2
    score = torch.cat([apply_yarn(q[:16], 0, s=16.0, trained=64), q[16:]]) @ torch.cat([apply_yarn(k[:16], 0, s=16.0, trained=64), k[16:]])
    torch.testing.assert_close(score, factor * (q[:16] @ k[:16]) + q[16:] @ k[16:])
    assert not torch.isclose(score, factor * (q @ k))
