"""Test grouped heads against a loop over heads and PyTorch, pooled heads, and heads that agree up to a change of basis."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.formula import attention_weights
from snippets.inference.groups import (
    align,
    grouped_attention,
    grouped_operations,
    grouped_parameters,
    pool_heads,
    pooling_error,
    repeat_heads,
    shared_gradient,
    squared_distance_to_mean,
    squared_distance_to_shared,
)
from snippets.inference.memory import bytes_per_token
from snippets.order.cost import forward_operations
from snippets.serving.models import models


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def projections(num_kv_heads, seed=0):
    return random(seed, (2, 5, 6), (6, 24), (6, 4 * num_kv_heads), (6, 4 * num_kv_heads))  # 6 heads of width 4


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("num_kv_heads", [1, 2, 3, 6])
def test_grouped_attention_is_a_loop_over_heads(num_kv_heads, causal):
    x, W_Q, W_K, W_V = projections(num_kv_heads)
    heads = []
    for head in range(6):
        own, shared = slice(4 * head, 4 * head + 4), head // (6 // num_kv_heads)
        theirs = slice(4 * shared, 4 * shared + 4)
        heads.append(scaled_dot_product_attention(x @ W_Q[:, own], x @ W_K[:, theirs], x @ W_V[:, theirs], is_causal=causal))
    found = grouped_attention(x, W_Q, W_K, W_V, num_heads=6, num_kv_heads=num_kv_heads, is_causal=causal)
    torch.testing.assert_close(found, torch.cat(heads, -1))


@pytest.mark.parametrize("num_kv_heads", [1, 2, 3, 6])
def test_repeated_projections_are_those_of_mha(num_kv_heads):
    x, W_Q, W_K, W_V = projections(num_kv_heads, seed=1)
    wide = [repeat_heads(W, num_kv_heads=num_kv_heads, times=6 // num_kv_heads) for W in (W_K, W_V)]
    assert wide[0].shape == (6, 24)
    torch.testing.assert_close(
        grouped_attention(x, W_Q, *wide, num_heads=6, num_kv_heads=6),
        grouped_attention(x, W_Q, W_K, W_V, num_heads=6, num_kv_heads=num_kv_heads),
    )


def test_heads_that_do_not_divide_are_refused():
    x, W_Q, W_K, W_V = projections(6)
    with pytest.raises(ValueError, match="do not divide"):
        grouped_attention(x, W_Q, W_K[:, :16], W_V[:, :16], num_heads=6, num_kv_heads=4)
    with pytest.raises(RuntimeError):
        repeat_heads(W_K, num_kv_heads=5, times=2)
    with pytest.raises(RuntimeError):
        pool_heads(W_K, num_heads=6, groups=4)


def test_pooling_undoes_repetition():
    (W,) = random(2, (6, 8))
    torch.testing.assert_close(pool_heads(repeat_heads(W, num_kv_heads=2, times=3), num_heads=6, groups=2), W)


def test_pooling_takes_the_mean_of_neighbours():
    W = torch.tensor([[0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0]])  # four heads of width 2
    assert pool_heads(W, num_heads=4, groups=2).tolist() == [[1.0, 2.0, 11.0, 12.0]]


def test_pooling_moves_scores_by_half_the_gap():
    query, key, other = random(3, (3, 4), (5, 4), (5, 4))
    torch.testing.assert_close(pooling_error(query, key, other), query @ (other - key).T / 2)
    assert pooling_error(query, key, key).abs().max() < 1e-12


def test_opposite_heads_agree_and_pool_to_equal_weights():
    query, key = random(4, (3, 4), (5, 4))
    torch.testing.assert_close(attention_weights(-query, -key), attention_weights(query, key))
    pooled = pool_heads(torch.cat([key, -key], -1), num_heads=2, groups=1)
    torch.testing.assert_close(attention_weights(query, pooled), torch.full((3, 5), 0.2).double())


def test_mean_is_the_nearest_head():
    heads, shared = random(5, (4, 7), (7,))
    nearest = squared_distance_to_mean(heads)
    torch.testing.assert_close(nearest, sum((row - heads.mean(0)).square().sum() for row in heads))
    torch.testing.assert_close(squared_distance_to_shared(heads, shared), nearest + 4 * (shared - heads.mean(0)).square().sum())


@pytest.mark.parametrize("num_kv_heads", [1, 2, 4])
def test_counts_are_those_of_the_four_projections(num_kv_heads):
    n, d, h = 10, 16, 4
    widths = [d, num_kv_heads * (d // h), num_kv_heads * (d // h), d]
    assert grouped_parameters(d, h, num_kv_heads) == sum(d * width for width in widths)
    assert grouped_operations(n, d, h, num_kv_heads) == sum(2 * n * d * width for width in widths) + 4 * n**2 * d
    assert grouped_operations(n, d, h, h) == forward_operations(n, d)


def test_a_shared_key_gets_the_sum_of_both_gradients():
    first, second, Q, Y, K = random(6, (3, 5), (3, 5), (3, 4), (3, 4), (5, 4))
    torch.testing.assert_close(shared_gradient(first, second, Q, Y, K), first.T @ Q + second.T @ Y)


def test_training_unties_the_copies_of_a_shared_key():
    first, second, Q, Y, K = random(9, (3, 5), (3, 5), (3, 4), (3, 4), (5, 4))
    copies = [K.clone().requires_grad_() for _ in range(2)]
    loss = (first * (Q @ copies[0].T)).sum() + (second * (Y @ copies[1].T)).sum()
    loss.backward()
    assert not torch.allclose(copies[0].grad, copies[1].grad)
    torch.testing.assert_close(copies[0].grad + copies[1].grad, shared_gradient(first, second, Q, Y, K))


def test_numbers_in_the_text():
    h, d = 32, 4096
    assert grouped_parameters(d, h, 8) / grouped_parameters(d, h, h) == 0.625
    assert grouped_operations(4096, d, h, 8) / grouped_operations(4096, d, h, h) == 0.75
    first = torch.tensor([[1.0, 0], [0, 0]])  # what two heads of width one compare: first features, and second features
    assert torch.linalg.matrix_rank(torch.cat([first, first.flip(0, 1)])).item() == 2
    pair = models()["Llama 3.1 8B"], models()["Llama 2 7B"]
    sizes = [bytes_per_token(one.layers, one.kv_heads, one.head_width, 2) / 1024 for one in pair]
    assert sizes == [128, 512]
    assert pair[0].heads == pair[1].heads == 32


def test_aligned_twins_may_be_pooled():
    W_Q, W_K, turn = random(7, (6, 4), (6, 4), (4, 4))
    turn = torch.linalg.qr(turn).Q
    back = align(W_K @ turn, W_K)
    torch.testing.assert_close(back, turn.T)
    torch.testing.assert_close((W_Q @ turn @ back) @ (W_K @ turn @ back).T, W_Q @ W_K.T)


def test_align_is_nearer_than_other_rotations():
    W, target, *turns = random(8, (6, 4), (6, 4), *[(4, 4)] * 20)
    found = align(W, target)
    torch.testing.assert_close(found @ found.T, torch.eye(4).double())
    nearest = (W @ found - target).norm()
    assert all((W @ torch.linalg.qr(turn).Q - target).norm() >= nearest for turn in turns)
