"""One step of learning and one step of a memory, against autograd, PyTorch's attention and a loop."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.predecessors.linear import sum_then_ask
from snippets.predecessors.memory import ask_after_step, attend_to_errors, hopfield_energy, hopfield_step, linear_layer_loss


def draw(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize(("t", "n", "d", "d_v"), [(1, 1, 1, 1), (3, 5, 4, 2), (2, 7, 3, 6)])
def test_one_step_of_learning_by_autograd_is_linear_attention(t, n, d, d_v):
    query, key, value, weight = draw(n, (t, d), (n, d), (n, d_v), (d, d_v))
    learner = torch.nn.Linear(d, d_v, bias=False, dtype=torch.float64)  # PyTorch's weight is ours transposed
    for start in (torch.zeros_like(weight), weight):
        learner.weight.data.copy_(start.mT)
        by_torch = (learner(key) - value).square().sum() / 2
        torch.testing.assert_close(linear_layer_loss(start, key, value), by_torch.detach())
        learner.weight.grad = None
        by_torch.backward()
        torch.optim.SGD(learner.parameters(), lr=0.1).step()
        expected = learner(query).detach()
        torch.testing.assert_close(ask_after_step(query, start, key, value, rate=0.1), expected)
        torch.testing.assert_close(attend_to_errors(query, start, key, value, rate=0.1), expected)
    torch.testing.assert_close(ask_after_step(query, torch.zeros_like(weight), key, value, rate=1.0), sum_then_ask(query, key, value))


def test_a_layer_that_makes_no_error_learns_nothing():
    query, key, weight = draw(0, (2, 3), (4, 3), (3, 5))
    torch.testing.assert_close(attend_to_errors(query, weight, key, key @ weight, rate=10.0), query @ weight)


def test_problems_beside_one_another_are_learnt_each_on_its_own():
    query, key, value, weight = draw(1, (6, 2, 3), (6, 4, 3), (6, 4, 5), (3, 5))
    together = ask_after_step(query, weight, key, value, rate=0.5)
    for k in range(6):
        torch.testing.assert_close(together[k], ask_after_step(query[k], weight, key[k], value[k], rate=0.5))
    assert linear_layer_loss(weight, key, value).shape == (6,)


@pytest.mark.parametrize("beta", [0.1, 1.0, 5.0, -2.0])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 4), (5, 3)])
def test_a_step_down_the_energy_by_autograd_is_attention(n, d, beta):
    state, stored = draw(n + d, (d,), (n, d))
    by_loop = (
        sum(x * x for x in state.tolist()) / 2
        - math.log(sum(math.exp(beta * sum(a * b for a, b in zip(row, state.tolist()))) for row in stored.tolist())) / beta
    )
    assert hopfield_energy(state, stored, beta=beta).item() == pytest.approx(by_loop, rel=1e-12)
    slope = torch.func.grad(hopfield_energy)(state, stored, beta=beta)
    torch.testing.assert_close(hopfield_step(state, stored, beta=beta), state - slope)
    by_torch = scaled_dot_product_attention(state[None], stored, stored, scale=beta)[0]
    torch.testing.assert_close(hopfield_step(state, stored, beta=beta), by_torch)


def test_the_energy_of_what_scores_very_high_is_a_number():
    stored = torch.tensor([[1e4, 0.0], [0.0, 1.0]], dtype=torch.float64)
    assert hopfield_energy(stored[0], stored, beta=1.0).item() == pytest.approx(1e8 / 2 - 1e8)


def test_many_states_are_recalled_at_once():
    state, stored = draw(2, (7, 4), (5, 4))
    together = hopfield_step(state, stored, beta=0.7)
    for k in range(7):
        torch.testing.assert_close(together[k], hopfield_step(state[k], stored, beta=0.7))
    torch.testing.assert_close(hopfield_energy(state, stored, beta=0.7), torch.stack([hopfield_energy(s, stored, beta=0.7) for s in state]))


@pytest.mark.parametrize("seed", range(5))
def test_no_step_raises_the_energy_and_a_clear_pattern_is_found(seed):
    state, stored = draw(seed, (64,), (6, 64))
    state = stored[0] + 0.3 * state
    levels = []
    for _ in range(8):
        levels.append(hopfield_energy(state, stored, beta=1.0).item())
        state = hopfield_step(state, stored, beta=1.0)
    assert all(later <= earlier + 1e-9 for earlier, later in zip(levels, levels[1:]))
    torch.testing.assert_close(state, stored[0])


def test_each_state_may_have_patterns_of_its_own():
    state, stored = draw(3, (6, 4), (6, 5, 4))
    together, levels = hopfield_step(state, stored, beta=0.7), hopfield_energy(state, stored, beta=0.7)
    assert together.shape == (6, 4) and levels.shape == (6,)
    for k in range(6):
        torch.testing.assert_close(together[k], hopfield_step(state[k], stored[k], beta=0.7))
        torch.testing.assert_close(levels[k], hopfield_energy(state[k], stored[k], beta=0.7))


def test_the_energy_of_a_large_state_is_a_number_in_half_precision():
    state = torch.full((4,), 150.0, dtype=torch.float16)  # the sum of its squares is above 65504
    assert hopfield_energy(state, state[None] / 2, beta=1.0).item() == 0


def test_numbers_in_the_text():
    """The distances of the example, from the same seed as on the page."""
    generator = torch.Generator().manual_seed(0)
    torch.randn(3, 5, 4, generator=generator, dtype=torch.float64)
    stored = torch.randn(3, 64, generator=generator, dtype=torch.float64)
    state, found = stored[0] + 0.8 * torch.randn(64, generator=generator, dtype=torch.float64), []
    for _ in range(3):
        found.append(f"{(state - stored[0]).norm().item():.2f}")
        state = hopfield_step(state, stored, beta=1 / 8)
    assert found == ["6.17", "0.44", "0.08"]
