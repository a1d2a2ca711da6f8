"""The delta rule against automatic differentiation, what it stores and leaves unchanged, and when it equals linear attention."""

import pytest
import torch

from snippets.linear.attention import masked_product
from snippets.linear.delta import additive_step, delta_rule, delta_step, squared_error


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def sample(seed=0):
    return random(seed, (4, 3), (1, 4), (1, 3))  # state, key, value


def test_a_step_is_gradient_descent_on_the_newest_token():
    state, key, value = sample()
    slope = torch.func.grad(squared_error)(state, key, value)
    torch.testing.assert_close(delta_step(state, key, value, beta=0.3), state - 0.3 * slope)
    assert squared_error(state, key, value) == pytest.approx(0.5 * (key @ state - value).norm().item() ** 2)


def test_linear_attention_descends_the_product_and_not_the_error():
    state, key, value = sample(1)
    slope = torch.func.grad(lambda s: -(key @ s * value).sum())(state)
    torch.testing.assert_close(additive_step(state, key, value, beta=0.3), state - 0.3 * slope)
    at_zero = torch.func.grad(squared_error)(torch.zeros_like(state), key, value)
    torch.testing.assert_close(additive_step(state, key, value, beta=0.3), state - 0.3 * at_zero)
    assert not torch.allclose(additive_step(state, key, value, beta=0.3), delta_step(state, key, value, beta=0.3))


def test_the_newest_value_is_read_back_and_the_old_one_is_gone():
    state, key, value = sample(2)
    rate = 1 / key.square().sum().item()
    torch.testing.assert_close(key @ delta_step(state, key, value, beta=rate), value)
    torch.testing.assert_close(key @ delta_step(5 * state, key, value, beta=rate), value)
    halfway = key @ delta_step(state, key, value, beta=rate / 2)
    torch.testing.assert_close(halfway, (key @ state + value) / 2)


def test_what_is_at_a_right_angle_stays():
    state, key, value = sample(3)
    (query,) = random(4, (2, 4))
    query = query - query @ key.mT @ key / key.square().sum()
    torch.testing.assert_close(query @ delta_step(state, key, value, beta=0.7), query @ state)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_a_sequence_is_its_steps(batch):
    query, key, value, beta = random(5, (*batch, 6, 4), (*batch, 6, 4), (6, 3), (*batch, 6))
    state = torch.zeros(*batch, 4, 3, dtype=torch.float64)
    outputs = delta_rule(query, key, value, beta)
    for i in range(6):
        k, v, b = key[..., i : i + 1, :], value[i : i + 1], beta[..., i, None, None]
        state = (torch.eye(4, dtype=torch.float64) - b * k.mT @ k) @ state + b * k.mT @ v
        torch.testing.assert_close(outputs[..., i : i + 1, :], query[..., i : i + 1, :] @ state)


def test_keys_at_right_angles_make_it_linear_attention_and_others_do_not():
    query, key, value = random(6, (4, 6), (4, 6), (4, 3))
    apart = torch.linalg.qr(key.mT).Q.mT
    ones = torch.ones(4, dtype=torch.float64)
    torch.testing.assert_close(delta_rule(query, apart, value, ones), masked_product(query, apart, value))
    key = torch.nn.functional.normalize(key, dim=-1)
    assert not torch.allclose(delta_rule(query, key, value, ones), masked_product(query, key, value))


def test_a_rate_above_twice_the_usual_one_grows():
    state, key, value = sample(7)
    usual = 1 / key.square().sum().item()
    before = squared_error(state, key, value)
    assert squared_error(delta_step(state, key, value, beta=1.9 * usual), key, value) < before
    assert squared_error(delta_step(state, key, value, beta=2.1 * usual), key, value) > before


def test_no_step_with_a_rate_up_to_two_and_a_key_of_length_one_increases_the_error():
    state, key, value = sample(8)
    key = torch.nn.functional.normalize(key, dim=-1)
    before = squared_error(state, key, value)
    for beta in torch.linspace(0, 2, 21).tolist():
        assert squared_error(delta_step(state, key, value, beta=beta), key, value) <= before * (1 + 1e-9)


def test_no_tokens_are_refused():
    with pytest.raises(ValueError, match="non-empty"):
        delta_rule(torch.zeros(0, 4), torch.zeros(0, 4), torch.zeros(0, 3), torch.zeros(0))


@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize("n", [1, 4, 9])
def test_numbers_of_tokens_that_differ_are_refused(which, n):
    shapes = [(5, 4), (5, 4), (5, 3), (5,)]
    shapes[which] = (n, *shapes[which][1:])
    with pytest.raises(ValueError, match="zip"):
        delta_rule(*map(torch.zeros, shapes))
