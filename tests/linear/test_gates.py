"""Gates: the recurrence against a mask of products, channels in queries and keys, ALiBi, horizons, and the gated delta rule."""

import math

import pytest
import torch

from snippets.linear.attention import masked_product
from snippets.linear.delta import delta_step
from snippets.linear.gates import (
    absorb_gates,
    decay_mask,
    gated_delta_step,
    gated_product,
    gated_state,
    half_life,
    share_beyond,
    weights_with_alibi,
)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def tokens(seed, n=6):
    query, key, value, gate = random(seed, (2, n, 4), (2, n, 4), (n, 3), (2, n))
    return query, key, value, gate.sigmoid()


def test_numbers_in_the_text():
    assert decay_mask(torch.tensor([1.0, 0.9, 0.9]).double())[2].tolist() == pytest.approx([0.81, 0.9, 1])
    assert share_beyond(0.5, 2) == 0.25  # three quarters within the horizon
    assert round(share_beyond(0.999, 1000), 2) == round(math.exp(-1), 2) == 0.37
    assert share_beyond(0.999, 3000) == pytest.approx(0.05, abs=0.001)
    assert (round(half_life(0.9), 1), round(half_life(0.99))) == (6.6, 69)


def test_the_mask_holds_products_of_the_gates_since():
    _, _, _, gate = tokens(0)
    mask = decay_mask(gate)
    for i in range(6):
        for j in range(6):
            expected = gate[:, j + 1 : i + 1].prod(-1) if j <= i else torch.zeros(2, dtype=torch.float64)
            torch.testing.assert_close(mask[:, i, j], expected)


@pytest.mark.parametrize("n", [1, 2, 6])
def test_the_recurrence_is_the_masked_product(n):
    query, key, value, gate = tokens(n, n)
    torch.testing.assert_close(gated_state(query, key, value, gate.unsqueeze(-1)), gated_product(query, key, value, gate))
    torch.testing.assert_close(gated_product(query, key, value, torch.ones_like(gate)), masked_product(query, key, value))


def test_gates_for_each_channel_go_into_queries_and_keys():
    query, key, value, _ = tokens(3)
    gates = random(4, (2, 6, 4))[0].sigmoid()
    expected = gated_state(query, key, value, gates)
    torch.testing.assert_close(masked_product(*absorb_gates(query, key, gates), value), expected)
    one = gates.clone()
    one[:] = gates[..., :1]
    torch.testing.assert_close(gated_state(query, key, value, one), gated_product(query, key, value, gates[..., 0]))
    assert not torch.allclose(expected, gated_product(query, key, value, gates[..., 0]))


def test_alibi_is_a_gate_on_exponentials():
    (scores,) = random(5, (3, 7))
    weights = weights_with_alibi(scores, slope=0.3)
    powers = torch.tensor([math.exp(-0.3) ** (6 - j) for j in range(7)], dtype=torch.float64)
    expected = scores.exp() * powers
    torch.testing.assert_close(weights, expected / expected.sum(-1, keepdim=True))


def test_the_share_beyond_is_what_a_sum_leaves():
    weights = [0.1 * 0.9**age for age in range(2000)]
    for count in (0, 1, 10, 50):
        assert share_beyond(0.9, count) == pytest.approx(sum(weights[count:]))
    assert share_beyond(0.9, 7) / 2 == pytest.approx(0.9 ** (7 + half_life(0.9)))


def test_a_gated_step_decays_and_then_corrects():
    state, key, value, query = random(6, (4, 3), (1, 4), (1, 3), (2, 4))
    rate = 1 / key.square().sum().item()
    stepped = gated_delta_step(state, key, value, alpha=0.6, beta=rate)
    torch.testing.assert_close(stepped, delta_step(0.6 * state, key, value, beta=rate))
    torch.testing.assert_close(key @ stepped, value)
    query = query - query @ key.mT @ key * rate
    torch.testing.assert_close(query @ stepped, 0.6 * query @ state)
    torch.testing.assert_close(gated_delta_step(state, key, value, alpha=1.0, beta=0.2), delta_step(state, key, value, beta=0.2))


def test_no_tokens_are_refused():
    with pytest.raises(ValueError, match="non-empty"):
        gated_state(torch.zeros(0, 4), torch.zeros(0, 4), torch.zeros(0, 3), torch.zeros(0, 1))


@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize("n", [1, 4, 9])
def test_numbers_of_tokens_that_differ_are_refused(which, n):
    shapes = [(5, 4), (5, 4), (5, 3), (5, 1)]
    shapes[which] = (n, *shapes[which][1:])
    with pytest.raises(ValueError, match="zip"):
        gated_state(*map(torch.ones, shapes))
    with pytest.raises(ValueError, match="expected as many queries, keys, values and gates"):
        gated_product(*map(torch.ones, [*shapes[:3], shapes[3][:1]]))


@pytest.mark.parametrize("least", [0.0, 1e-45, -0.5])
def test_a_gate_may_be_nothing(least):
    query, key, value, gate = (x.float() for x in tokens(7))
    gate[:, [0, 2, 3]] = least
    mask = decay_mask(gate)
    assert mask[0, 2].tolist() == pytest.approx([gate[0, 1:3].prod().item(), gate[0, 2].item(), 1, 0, 0, 0])
    torch.testing.assert_close(gated_product(query, key, value, gate), gated_state(query, key, value, gate.unsqueeze(-1)))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_in_half_precision_a_mask_is_rounded_once(dtype):
    generator = torch.Generator().manual_seed(8)
    gate = (0.9 + 0.1 * torch.rand(512, generator=generator)).to(dtype)
    assert torch.equal(decay_mask(gate), decay_mask(gate.float()).to(dtype))
    query, key, value = torch.randn(3, 512, 4, generator=generator).to(dtype)
    wide = gated_product(*(x.float() for x in (query, key, value, gate)))
    assert torch.equal(gated_product(query, key, value, gate), wide.to(dtype))


def test_the_gradient_of_a_mask_is_right_at_a_gate_of_nothing():
    gate = torch.tensor([0.5, 0.0, 0.9, 0.0, 0.7], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(decay_mask, gate)
