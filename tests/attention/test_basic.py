"""Attention without parameters against loops, the two conventions, forgotten values, zero gradients, and false statements about symmetry."""

import math

import mpmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.basic import average_values, average_without_values, basic_attention, own_gradient, project_columns, project_rows
from snippets.attention.formula import attention, attention_weights
from tests.shapes import mutually_broadcastable_shapes

varied = settings(derandomize=True, deadline=None, max_examples=60)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def by_loops(tokens, mixed):
    """w'_ij = x_i . x_j, w = softmax over j, y_i = sum over j of w_ij times the j-th row that is mixed."""
    outputs = []
    for x in tokens.tolist():
        raw = [math.exp(sum(a * b for a, b in zip(x, other))) for other in tokens.tolist()]
        outputs.append([sum(w * row[k] for w, row in zip(raw, mixed.tolist())) / sum(raw) for k in range(mixed.shape[-1])])
    return torch.tensor(outputs, dtype=torch.float64)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 4), (3, 1), (5, 4)])
def test_basic_attention_is_that_of_a_loop(n, d):
    (X,) = random(n, (n, d))
    torch.testing.assert_close(basic_attention(X), by_loops(X, X))
    torch.testing.assert_close(basic_attention(X), scaled_dot_product_attention(X, X, X, scale=1.0))


def test_basic_attention_of_one_token_is_that_token_and_of_no_batch_is_nothing():
    (X,) = random(0, (2, 1, 4))
    torch.testing.assert_close(basic_attention(X), X)
    assert basic_attention(torch.zeros(0, 3, 4)).shape == (0, 3, 4)


def test_a_token_may_attend_more_to_another_than_to_itself():
    X = torch.tensor([[1.0, 0.0], [2.0, 0.0]], dtype=torch.float64)
    weights = attention_weights(X, X, scale=1.0)
    expected = torch.tensor([[1 / (1 + math.e), math.e / (1 + math.e)], [1 / (1 + math.e**2), 1 / (1 + math.e**-2)]])
    torch.testing.assert_close(weights, expected.double(), rtol=1e-6, atol=1e-6)
    assert weights[0].round(decimals=2).tolist() == [0.27, 0.73]


@given(st.integers(0, 99))
@varied
def test_of_tokens_of_one_length_each_attends_most_to_itself(seed):
    (X,) = random(seed, (6, 3))
    X = X / X.norm(dim=-1, keepdim=True)
    weights = attention_weights(X, X, scale=1.0)
    assert (weights.argmax(-1) == torch.arange(6)).all()


@given(st.integers(0, 99))
@varied
def test_the_weight_of_a_token_for_itself_beside_one_other(seed):
    x, y = random(seed, (4,), (4,))
    weight = attention_weights(x[None], torch.stack([x, y]), scale=1.0)[0, 0]
    torch.testing.assert_close(weight, torch.sigmoid(-x @ (y - x)))


@pytest.mark.parametrize("far", [0, 1, -3, 40])
@pytest.mark.parametrize("near", [0.0, 0.3, -0.5])
def test_the_slope_of_the_first_output_by_its_own_token(near, far):
    """Against central differences in 40 digits; and at zero, where it is a quarter of the square and a half."""

    def output(x):
        tokens = [[x], [mpmath.mpf(far)]]
        raw = [mpmath.exp(x * other) for (other,) in tokens]
        return sum(w * row for w, (row,) in zip(raw, tokens)) / sum(raw)

    with mpmath.workdps(40):
        step = mpmath.mpf(10) ** -12
        by_differences = (output(near + step) - output(near - step)) / (2 * step)
    found = own_gradient(*torch.tensor([near, far], dtype=torch.float64)).item()
    assert found == pytest.approx(float(by_differences), rel=1e-12)
    if near == 0:
        assert found == far**2 / 4 + 0.5


def test_one_matrix_for_queries_and_keys_makes_scores_symmetric_but_not_weights():
    X, W = random(1, (4, 3), (3, 2))
    shared = X @ W
    torch.testing.assert_close(shared @ shared.mT, (shared @ shared.mT).mT)
    weights = attention_weights(shared, shared, scale=1.0)
    assert not torch.allclose(weights, weights.mT)


@given(mutually_broadcastable_shapes(signature="(n,d),(d,k)->(n,k)", max_side=4), st.integers(0, 99))
@varied
def test_rows_from_the_left_are_columns_from_the_right(shapes, seed):
    X, W = random(seed, *shapes.input_shapes)
    expected = torch.einsum("...nd,...dk->...nk", X, W)
    assert project_rows(X, W).shape == shapes.result_shape
    torch.testing.assert_close(project_rows(X, W), expected)
    torch.testing.assert_close(project_columns(W.mT, X), expected)
    if W.dim() == 2:
        torch.testing.assert_close(torch.nn.functional.linear(X, W.mT), expected)


def test_values_are_averaged_and_the_slip_averages_tokens():
    X, W_Q, W_K, W_V = random(2, (5, 4), (4, 3), (4, 3), (4, 2))
    weights = torch.softmax(X @ W_Q @ W_K.mT @ X.mT, -1)
    torch.testing.assert_close(average_values(X, W_Q, W_K, W_V), weights @ X @ W_V)
    torch.testing.assert_close(average_without_values(X, W_Q, W_K), weights @ X)
    torch.testing.assert_close(average_values(X, W_Q, W_K, torch.eye(4).double()), average_without_values(X, W_Q, W_K))


def test_swapping_queries_and_keys_changes_the_output():
    query, key, value = (torch.tensor(x, dtype=torch.float64)[:, None] for x in ([1, 1], [1, 0], [1, 0]))
    torch.testing.assert_close(attention(query, key, value), torch.full((2, 1), 1 / (1 + math.exp(-1)), dtype=torch.float64))
    torch.testing.assert_close(attention(key, query, value), torch.full((2, 1), 0.5, dtype=torch.float64))


def test_no_tokens_are_no_columns():
    assert project_columns(torch.ones(3, 4), torch.zeros(2, 0, 4)).shape == (2, 0, 3)


def test_a_zero_output_matrix_gives_zero_gradients_to_all_projections_and_a_key_bias_never_has_one():
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(8, num_heads=2, batch_first=True, dtype=torch.float64)
    (x,) = random(3, (3, 5, 8))

    def largest():
        layer.zero_grad()
        (layer(x, x, x)[0] - 1).square().sum().backward()
        q, k, v = layer.in_proj_bias.grad.chunk(3)
        found = [*layer.in_proj_weight.grad.chunk(3), q, v, k, layer.out_proj.weight.grad, layer.out_proj.bias.grad]
        return [grad.abs().max().item() for grad in found]

    *projections, key_bias, weight, bias = largest()
    assert min(*projections, weight, bias) > 1e-3 and key_bias < 1e-12
    torch.nn.init.zeros_(layer.out_proj.weight)
    *projections, key_bias, weight, bias = largest()
    assert max(*projections, key_bias) == 0 and min(weight, bias) > 1e-3


def test_numbers_in_the_text():
    X = torch.tensor([[1.0, 0.0], [2.0, 0.0]], dtype=torch.float64)
    assert (X @ X.mT).tolist() == [[1, 2], [2, 4]]
    assert attention_weights(X, X, scale=1.0).round(decimals=2).tolist() == [[0.27, 0.73], [0.12, 0.88]]
    assert basic_attention(X)[0].round(decimals=2).tolist() == [1.73, 0]
