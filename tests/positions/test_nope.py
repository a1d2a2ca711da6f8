"""The signal of a mark, what one and two causal layers say about order, and formats that limit the count."""

from itertools import permutations

import pytest
import torch

from snippets.attention.formula import attention
from snippets.positions.nope import causal_means, counting_errors, recovered_position, start_signal


def random(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("lead", [0.0, -1.0, 3.0])
def test_the_signal_is_the_weight_of_the_first_token(lead):
    signal = start_signal(50, lead=lead)
    for position in (1, 2, 50):
        scores = torch.zeros(position, dtype=torch.float64)
        scores[0] = lead
        torch.testing.assert_close(signal[position - 1], scores.softmax(-1)[0])
    assert (signal.diff() < 0).all()
    torch.testing.assert_close(recovered_position(signal, lead=lead), torch.arange(1, 51, dtype=torch.float64))


def test_equal_tokens_have_equal_outputs_in_any_number_of_layers():
    same = random(0, 1, 4).expand(7, 4)
    W_Q, W_K, W_V = random(1, 3, 4, 4)
    for _ in range(3):
        same = attention(same @ W_Q, same @ W_K, same @ W_V, is_causal=True)
        torch.testing.assert_close(same, same[:1].expand(7, 4))


def last_outputs(layers):
    """Return the last output for all orders of four tokens before a fifth, with random projections in each layer."""
    tokens, last, matrices = random(0, 4, 3), random(1, 1, 3), random(2, layers, 3, 3, 3)
    found = []
    for order in permutations(range(4)):
        x = torch.cat([tokens[list(order)], last])
        for W_Q, W_K, W_V in matrices:
            x = attention(x @ W_Q, x @ W_K, x @ W_V, is_causal=True)
        found.append(x[-1])
    return torch.stack(found)


def test_one_causal_layer_hides_the_order_of_earlier_tokens_and_two_do_not():
    one, two = last_outputs(1), last_outputs(2)
    torch.testing.assert_close(one, one[:1].expand_as(one))
    distances = torch.cdist(two, two) + torch.eye(24)
    assert distances.min() > 1e-4  # all 24 orders differ


@pytest.mark.parametrize("layers", [1, 2])
def test_layers_with_equal_scores_are_means(layers):
    x = random(3, 2, 6, 3)
    expected = x
    for _ in range(layers):
        expected = torch.stack([expected[:, : i + 1].mean(1) for i in range(6)], dim=1)
    torch.testing.assert_close(causal_means(x, layers=layers), expected)


def test_weights_after_two_layers_are_sums_of_reciprocals():
    weights = causal_means(torch.eye(6, dtype=torch.float64), layers=2)[-1]
    expected = [sum(1 / i for i in range(j, 7)) / 6 for j in range(1, 7)]
    assert weights.tolist() == pytest.approx(expected)
    assert expected == sorted(expected, reverse=True)


@pytest.mark.parametrize(("dtype", "first"), [(torch.bfloat16, 190), (torch.float16, 1464)])
def test_formats_limit_the_count(dtype, first):
    stored = start_signal(first + 1).to(dtype)
    assert stored[-1] == stored[-2] and len(stored[:-1].unique()) == first
    errors = counting_errors(stored)
    assert errors.abs().max() > 0.45 and errors[: first // 2].abs().max() < 0.5
    assert counting_errors(start_signal(2000).float()).abs().max() < 0.001


def test_an_error_of_the_signal_is_multiplied_by_the_position():
    for position in (10.0, 1000.0):
        signal = torch.tensor(1 / position * 1.01, dtype=torch.float64)
        assert position - recovered_position(signal).item() == pytest.approx(position * 0.01 / 1.01)
