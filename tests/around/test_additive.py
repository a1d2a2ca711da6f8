"""Test additive, concatenated and general scores against loops and PyTorch's layers, and the effect of tanh."""

import math

import pytest
import torch

from snippets.around.additive import additive_scores, concat_scores, general_scores, plain_weights
from snippets.attention.formula import scores


def draw(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize(("n", "m", "d_q", "d_k", "r"), [(1, 1, 1, 1, 1), (3, 5, 4, 6, 2), (2, 1, 3, 3, 7)])
def test_both_forms_agree_with_a_loop(n, m, d_q, d_k, r):
    query, key, W_1, W_2, v = draw(0, (n, d_q), (m, d_k), (d_q, r), (d_k, r), (r,))
    expected = torch.zeros(n, m, dtype=torch.float64)
    for i in range(n):
        for j in range(m):
            for a in range(r):
                inside = sum(query[i, b] * W_1[b, a] for b in range(d_q)) + sum(key[j, b] * W_2[b, a] for b in range(d_k))
                expected[i, j] += v[a] * math.tanh(inside)
    torch.testing.assert_close(additive_scores(query, key, W_1, W_2, v), expected)
    torch.testing.assert_close(concat_scores(query, key, torch.cat([W_1, W_2]), v), expected)


@pytest.mark.parametrize("lead", [(), (2,), (0,), (3, 2)])
def test_leading_axes(lead):
    query, key, W_1, W_2, v = draw(1, (*lead, 3, 4), (*lead, 5, 6), (4, 7), (6, 7), (7,))
    added = additive_scores(query, key, W_1, W_2, v)
    assert added.shape == (*lead, 3, 5)
    torch.testing.assert_close(concat_scores(query, key, torch.cat([W_1, W_2]), v), added)


def test_concatenation_is_a_linear_layer_of_pytorch():
    query, key, v = draw(2, (3, 4), (5, 6), (7,))
    layer = torch.nn.Linear(10, 7, bias=False, dtype=torch.float64)
    pairs = torch.cat([query.unsqueeze(1).expand(3, 5, 4), key.unsqueeze(0).expand(3, 5, 6)], dim=-1)
    W = layer.weight.T
    torch.testing.assert_close(additive_scores(query, key, W[:4], W[4:], v), torch.tanh(layer(pairs)) @ v)


def test_without_tanh_the_query_drops_out():
    q, other, K, W_1, W_2, v = draw(3, (4,), (4,), (5, 6), (4, 7), (6, 7), (7,))
    weights = plain_weights(q, K, W_1, W_2, v)
    torch.testing.assert_close(weights, (K @ W_2 @ v).softmax(-1))
    torch.testing.assert_close(weights, plain_weights(other, K, W_1, W_2, v))
    gradient = torch.autograd.functional.jacobian(lambda q: plain_weights(q, K, W_1, W_2, v), q)
    torch.testing.assert_close(gradient, torch.zeros(5, 4, dtype=torch.float64))


def test_with_tanh_the_query_matters():
    # Two keys at 0 and log 2: for a query of 0 the scores are 0 and 3/5, for one of log 2 they are 3/5 and 15/17.
    one = torch.ones(1, 1, dtype=torch.float64)
    points = torch.tensor([[0.0], [math.log(2)]], dtype=torch.float64)
    expected = torch.tensor([[0, 3 / 5], [3 / 5, 15 / 17]], dtype=torch.float64)
    torch.testing.assert_close(additive_scores(points, points, one, one, one[0]), expected)


@pytest.mark.parametrize("factor", [1.0, 1e3, 1e6])
def test_additive_scores_are_bounded(factor):
    query, key, W_1, W_2, v = draw(4, (3, 4), (5, 6), (4, 7), (6, 7), (7,))
    largest = additive_scores(factor * query, factor * key, W_1, W_2, v).abs().max()
    assert largest <= v.abs().sum() <= (7 * v @ v).sqrt()


def test_a_large_query_cannot_tell_keys_apart():
    key, W_1, W_2, v = draw(5, (5, 6), (4, 7), (6, 7), (7,))
    weights = additive_scores(torch.full((1, 4), 1e3).double(), key, W_1, W_2, v).softmax(-1)
    torch.testing.assert_close(weights, torch.full((1, 5), 0.2, dtype=torch.float64))


def test_general_scores_are_those_of_projections():
    query, key, W_Q, W_K = draw(6, (2, 3, 4), (2, 5, 6), (4, 7), (6, 7))
    torch.testing.assert_close(general_scores(query, key, W_Q @ W_K.T), scores(query @ W_Q, key @ W_K, scale=1.0))
    bilinear = torch.nn.Bilinear(4, 6, 1, bias=False, dtype=torch.float64)
    expected = torch.stack([bilinear(query[0, i], key[0, j]) for i in range(3) for j in range(5)]).view(3, 5)
    torch.testing.assert_close(general_scores(query[0], key[0], bilinear.weight[0]), expected)


def test_a_query_alone_is_compared_with_a_batch_of_keys():
    query, key, W_1, W_2, v = draw(7, (3, 4), (2, 5, 6), (4, 7), (6, 7), (7,))
    added = additive_scores(query, key, W_1, W_2, v)
    assert added.shape == (2, 3, 5)
    torch.testing.assert_close(concat_scores(query, key, torch.cat([W_1, W_2]), v), added)


def test_numbers_in_the_text():
    """One feature, keys 0 and 2, and a vector with the entry 3."""
    one, key = torch.ones(1, 1, dtype=torch.float64), torch.tensor([[0.0], [2.0]], dtype=torch.float64)
    query = torch.tensor([[0.0], [6.0]], dtype=torch.float64)
    found = additive_scores(query, key, one, one, 3 * one[0])
    assert f"{found[0, 1].item():.2f}" == "2.89" and [f"{x:.0%}" for x in found.softmax(-1)[:, 1].tolist()] == ["95%", "50%"]
    assert (query @ key.mT).softmax(-1)[1, 1] > 0.9999
