"""Mixture of experts: the gate in both orders, who learns, what the balancing loss is, and what is counted."""

import pytest
import torch
from torch.nn.functional import one_hot
from torch.utils._python_dispatch import TorchDispatchMode

from snippets.layers.experts import (
    balance_gradients,
    balance_loss,
    balance_of_tokens,
    choose_then_softmax,
    mixtral_parameters,
    mixture,
    route,
    route_by_sigmoid,
    scaled_load_covariance,
    softmax_then_choose,
    updated_bias,
)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("k", [1, 2, 8])
def test_both_orders_give_one_gate(k):
    (logits,) = random(0, (8,))
    order = logits.argsort(descending=True)
    chosen, others = logits[order[:k]], logits[order[k:]]
    gate = softmax_then_choose(chosen, others)
    torch.testing.assert_close(gate, choose_then_softmax(chosen, others))
    torch.testing.assert_close(gate, torch.softmax(logits, 0)[order[:k]] / torch.softmax(logits, 0)[order[:k]].sum())
    found, which = route(logits, k=k)
    assert which.equal(order[:k])
    torch.testing.assert_close(found, gate)
    kept, _ = route(logits, k=k, divide=False)
    torch.testing.assert_close(kept, logits.softmax(0)[order[:k]])
    assert (kept.sum() < 1 - 1e-3) == (k < 8)


@pytest.mark.parametrize("divide", [True, False])
def test_the_mixture_is_a_sum_over_chosen_experts(divide):
    x, router, experts = random(1, (5, 6), (6, 4), (4, 6, 3))
    gate, chosen = route(x @ router, k=2, divide=divide)
    rows = [sum(gate[t, c] * (x[t] @ experts[chosen[t, c]]) for c in range(2)) for t in range(5)]
    torch.testing.assert_close(mixture(x, router, experts, k=2, divide=divide), torch.stack(rows))


def test_with_one_expert_a_divided_gate_teaches_the_router_nothing():
    x, router, experts = random(2, (5, 6), (6, 4), (4, 6, 3))
    router.requires_grad_()
    sizes = []
    for divide in (True, False):
        (slope,) = torch.autograd.grad(mixture(x, router, experts, k=1, divide=divide).square().sum(), router)
        sizes.append(slope.abs().max().item())
    assert sizes[0] < 1e-12 < 1e-2 < sizes[1]


def test_experts_that_are_not_chosen_get_no_gradient():
    (logits,) = random(3, (6,))
    logits.requires_grad_()
    gate, chosen = route(logits, k=2)
    (slope,) = torch.autograd.grad(gate[0], logits)
    assert slope[chosen].abs().min() > 1e-3
    others = torch.ones(6, dtype=torch.bool)
    others[chosen] = False
    assert slope[others].eq(0).all()


def test_the_loss_is_one_and_a_covariance():
    z, counts = random(4, (50, 6), (6,))
    P, f = z.softmax(1).mean(0), counts.abs() / counts.abs().sum()
    torch.testing.assert_close(balance_loss(f, P), 1 + scaled_load_covariance(f, P))
    torch.testing.assert_close(scaled_load_covariance(f, P), 36 * torch.cov(torch.stack([f, P]), correction=0)[0, 1])
    even = torch.full((6,), 1 / 6, dtype=torch.float64)
    for load in (even, f, one_hot(torch.tensor(2), 6).double()):
        torch.testing.assert_close(balance_loss(load, even), torch.tensor(1.0, dtype=torch.float64))
    assert balance_loss(P, P) > 1


def test_the_loss_can_be_small_and_the_load_bad():
    losses = {}
    for n in (3, 4, 5, 100):
        p = torch.full((n, 2), 0.5, dtype=torch.float64)
        p[:, 0] += 1e-9
        p[-1] = torch.tensor([0.0, 1.0])
        sent = one_hot(p.argmax(1), 2).double()
        assert sent.mean(0)[1] == 1 / n
        losses[n] = balance_of_tokens(sent, p).item()
        assert losses[n] < 1
    assert min(losses, key=losses.get) == 4 and losses[4] == pytest.approx(7 / 8, abs=1e-6) and losses[100] > 0.98


def test_the_gradients_of_the_loss_are_those_of_autograd():
    Z, counts = random(5, (5, 4), (4,))
    f = counts.abs() / counts.abs().sum()
    Z.requires_grad_()
    (slope,) = torch.autograd.grad(balance_loss(f, Z.softmax(1).mean(0)), Z)
    torch.testing.assert_close(balance_gradients(Z.detach(), f), slope)


def test_mixtrals_weights_are_counted_part_by_part():
    for k in (1, 2, 8):
        parts = [4096 * 4096, 4096 * 1024, 4096 * 1024, 4096 * 4096, 4096 * 8, 4096, 4096, *[4096 * 14336] * (3 * k)]
        assert mixtral_parameters(k=k) == 32 * sum(parts) + 2 * 32000 * 4096 + 4096


@pytest.mark.parametrize("divide", [False, True])
def test_no_weights_are_copied_for_a_token(divide):
    x, router, experts = random(7, (50, 6), (6, 4), (4, 6, 5))
    largest = []

    class Largest(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            largest.append(result.numel() if isinstance(result, torch.Tensor) else 0)
            return result

    with Largest():
        mixture(x, router, experts, k=2, divide=divide)
    assert max(largest) <= x.numel()


def test_an_expert_without_tokens_adds_nothing_and_gradients_are_right():
    x, experts = random(8, (5, 3), (4, 3, 2))
    x = x.abs()
    router = torch.tensor([[9.0, 8.0, -9.0, -8.0]], dtype=torch.float64).expand(3, 4).contiguous().requires_grad_()
    experts.requires_grad_()
    gate, chosen = route(x @ router, k=2)
    assert set(chosen.flatten().tolist()) == {0, 1}
    expected = torch.einsum("nd,nkdv,nk->nv", x, experts[chosen], gate)
    torch.testing.assert_close(mixture(x, router, experts, k=2), expected)
    assert torch.autograd.gradcheck(lambda router, experts: mixture(x, router, experts, k=2), (router, experts))


def test_a_mixture_runs_under_autocast():
    generator = torch.Generator().manual_seed(0)
    given = [torch.randn(shape, generator=generator) for shape in ((5, 6), (6, 4), (4, 6, 7))]
    with torch.autocast("cpu", torch.bfloat16):
        found = mixture(*given, k=2)
    assert found.dtype == torch.float32 and found.shape == (5, 7)


def test_the_sigmoid_gate_is_chosen_with_the_bias_and_computed_without_it():
    (logits,) = random(9, (50, 6))
    bias = torch.tensor([0, 0, 0, 0, 0, 2.0]).double()
    gate, chosen = route_by_sigmoid(logits, bias, k=2)
    assert (chosen == 5).any(-1).all()  # sigmoids are below 1
    scores = logits.sigmoid().gather(1, chosen)
    torch.testing.assert_close(gate, scores / scores.sum(1, keepdim=True))
    same, others = route_by_sigmoid(logits, bias + 7, k=2)
    assert torch.equal(gate, same) and torch.equal(chosen, others)
    plain, largest = route_by_sigmoid(logits, 0 * bias, k=2)
    assert torch.equal(largest, logits.topk(2).indices) and not torch.allclose(plain, route(logits, k=2)[0])


def test_the_bias_goes_down_where_the_load_is_above_its_mean():
    bias, load = torch.tensor([1.0, 2, 3, 4]), torch.tensor([0.5, 0.25, 0.15, 0.1])
    assert updated_bias(bias, load, rate=0.5).tolist() == [0.5, 2, 3.5, 4.5]


def test_numbers_in_the_text():
    def percent(weights):
        return [round(100 * one) for one in weights.tolist()]

    logits = torch.tensor([2.0, 1, 0, -1]).double()
    assert percent(logits.softmax(0)) == [64, 24, 9, 3]
    assert percent(route(logits, k=2)[0]) == percent(softmax_then_choose(logits[:2], logits[2:])) == [73, 27]
    pair = torch.tensor([1.0, 0]).double()
    assert percent(pair.sigmoid() / pair.sigmoid().sum()) == [59, 41] and percent(pair.softmax(0)) == [73, 27]
    three = torch.tensor([2.0, 1, 0]).double()
    assert percent(three.softmax(0)) == percent((three + 5).softmax(0)) == [67, 24, 9]
    none = torch.zeros(3).double()
    assert percent(route_by_sigmoid(three, none, k=3)[0]) == [42, 35, 24] and percent(route_by_sigmoid(three + 5, none, k=3)[0]) == [
        33,
        33,
        33,
    ]
    # Eight tokens, each with two of eight experts: an expert is used unless all eight tokens choose two of the other seven.
    assert round(8 * (1 - (21 / 28) ** 8), 1) == 7.2


def test_an_expert_with_less_than_the_mean_load_can_be_pushed_down():
    p, f = torch.tensor([[0.9, 0.1, 1e-9]]).double(), torch.tensor([0.1, 0.3, 0.6]).double()
    assert f[1] < f.mean() and balance_gradients(p.log(), f)[0, 1] > 0
