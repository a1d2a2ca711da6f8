"""The routing of DeepSeek-V3: who is chosen, with which weights, what the bias does, and what is counted."""

from itertools import permutations

import pytest
import torch
from torch.nn.functional import one_hot

from snippets.layers.experts import route_by_sigmoid
from snippets.layers.routing import (
    affinity_lead,
    balance_by_bias,
    choose_experts,
    deepseek_parameters,
    gate_jacobian,
    gate_sum,
    idle_weights,
    sigmoid_gate,
    total_affinity,
    uneven_affinity,
)
from snippets.together.routed import RoutedExperts, RoutedSizes


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


EXAMPLE = uneven_affinity(torch.randn(64, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64), lead=0.5)


def test_gate_and_choice_are_those_of_the_layer_in_the_decoder():
    torch.manual_seed(0)
    sizes = RoutedSizes(num_experts=8, k=3, d_ff=4, factor=2.5)
    layer = RoutedExperts(d=6, sizes=sizes).double()
    x, bias = random(1, (20, 6), (8,))
    layer.bias = bias
    logits = x @ layer.router.weight.mT
    expected, experts = layer.route(x)
    chosen = choose_experts(logits.sigmoid(), bias, k=3)
    assert chosen.equal(experts)
    torch.testing.assert_close(sigmoid_gate(logits.gather(-1, chosen), factor=2.5), expected)
    torch.testing.assert_close(gate_sum(logits.gather(-1, chosen), torch.tensor(2.5).double()), torch.full((20,), 2.5).double())


def test_gate_and_choice_are_those_of_the_page_before():
    logits, bias = random(2, (5, 8), (8,))
    gate, experts = route_by_sigmoid(logits, bias, k=2)
    chosen = choose_experts(logits.sigmoid(), bias, k=2)
    assert chosen.equal(experts)
    torch.testing.assert_close(sigmoid_gate(logits.gather(-1, chosen)), gate)


def test_the_jacobian_of_the_gate_is_that_of_autograd():
    (logits,) = random(3, (5,))
    torch.testing.assert_close(gate_jacobian(logits), torch.autograd.functional.jacobian(sigmoid_gate, logits))


def test_the_bias_gets_no_gradient_and_the_router_does():
    logits, bias = random(4, (5, 8), (8,))
    logits.requires_grad_()
    bias.requires_grad_()
    chosen = choose_experts(logits.sigmoid(), bias, k=2)
    gate = sigmoid_gate(logits.gather(-1, chosen))
    of_logits, of_bias = torch.autograd.grad(gate[:, 0].sum(), (logits, bias), allow_unused=True)
    assert of_bias is None and of_logits.abs().sum() > 0.1


def test_a_lead_of_one_in_bias_decides_every_choice():
    (logits,) = random(5, (200, 2))
    affinity = (9 * logits).sigmoid()
    for lead in (-1, 1):
        assert choose_experts(affinity, torch.tensor([0.0, lead]).double(), k=1).eq(lead > 0).all()


@pytest.mark.parametrize("k", [1, 2])
def test_a_shift_of_all_biases_changes_no_choice(k):
    logits, bias = random(6, (50, 6), (6,))
    assert choose_experts(logits.sigmoid(), bias, k=k).equal(choose_experts(logits.sigmoid(), bias + 3, k=k))


@pytest.mark.parametrize("k", [1, 2])
def test_small_steps_balance_the_example(k):
    loads, biases = balance_by_bias(EXAMPLE, k=k, rate=0.001, steps=300)
    assert loads.sum(-1).eq(64 * k).all() and loads[0].max() - loads[0].min() > 20
    assert loads[-1].eq(16 * k).all()
    assert biases[1].equal(-0.001 * (loads[0] - 16 * k).sign())


@pytest.mark.parametrize("seed", range(4))
def test_a_balanced_choice_by_biases_has_the_most_affinity_of_all_balanced_choices(seed):
    (logits,) = random(seed, (6, 3))
    affinity = (logits + torch.arange(3)).sigmoid()
    loads, biases = balance_by_bias(affinity, k=1, rate=0.0005, steps=2000)
    balanced = loads.eq(2).all(-1).nonzero().flatten()
    assert len(balanced)
    chosen = one_hot(choose_experts(affinity, biases[balanced[0]], k=1).squeeze(-1), 3).double()
    ways = [one_hot(torch.tensor(way), 3).double() for way in set(permutations([0, 0, 1, 1, 2, 2]))]
    assert total_affinity(chosen, affinity).item() == pytest.approx(max(total_affinity(way, affinity).item() for way in ways))


def test_the_lead_in_affinity_is_that_of_both_sums():
    D, A, S, b = random(7, (5, 3), (5, 3), (5, 3), (3,))
    torch.testing.assert_close(affinity_lead(D, A, S, b), total_affinity(D, S) - total_affinity(A, S))


def test_numbers_in_the_text():
    affinity = torch.tensor([0.9, 0.8, 0.5, 0.3]).double()
    gates = [sigmoid_gate(affinity[chosen].logit()) for chosen in ([0, 1], [0, 2])]
    assert [[round(one, 2) for one in gate.tolist()] for gate in gates] == [[0.53, 0.47], [0.64, 0.36]]
    biased = torch.tensor([0.9, 0.85])
    assert [round(one, 2) for one in (biased / biased.sum()).tolist()] == [0.51, 0.49]
    loads, _ = balance_by_bias(EXAMPLE, k=1, rate=0.001, steps=150)
    assert loads.eq(16).all(-1).nonzero()[0].item() == 117
    jumping, _ = balance_by_bias(EXAMPLE, k=1, rate=0.05, steps=150)
    assert {tuple(load) for load in jumping[-20:].int().tolist()} == {(13, 22, 21, 8), (20, 13, 11, 20)}
    alternating, _ = balance_by_bias(EXAMPLE, k=1, rate=0.01, steps=100)
    assert {tuple(load) for load in alternating[20:].int().tolist()} == {(16, 16, 15, 17), (16, 16, 17, 15)}
    assert 1 / (1 - torch.tensor(6.0).sigmoid().item()) == pytest.approx(404, abs=1)
    assert 2 * 500 * 0.001 == 1  # opposite steps until one expert overtakes any other


def test_weights_of_deepseek_v3_are_counted_part_by_part():
    d = 7168
    for k in (256, 8):
        attention = d * 1536 + 1536 * 128 * 192 + d * 576 + 512 * 128 * 256 + 128 * 128 * d + 1536 + 512
        expert = 3 * d * 2048
        dense = 3 * (attention + 2 * d + 3 * d * 18432)
        routed = 58 * (attention + 2 * d + (k + 1) * expert + 256 * d)
        assert deepseek_parameters(k=k) == dense + routed + 2 * 129280 * d + d
    assert deepseek_parameters(k=256) - deepseek_parameters(k=8) == 58 * idle_weights(256, 8, d, 2048)
    assert round(deepseek_parameters(k=256) / 1e9) == 671  # the report
    assert round((deepseek_parameters(k=8) - 129280 * d) / 1e9) == 37  # the report
