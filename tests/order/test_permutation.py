"""Test a layer of attention under every permutation of its tokens, against PyTorch's own, with and without a causal mask."""

from itertools import permutations

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.formula import attention
from snippets.order.permutation import merged_self_attention, output_of_one_query, reorder, sequence


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def matrices(n):
    """Every permutation matrix."""
    return torch.eye(n, dtype=torch.float64)[torch.tensor(list(permutations(range(n))))]  # (n!, n, n)


@pytest.mark.parametrize("heads", [1, 2, 5])
def test_the_layer_is_a_sum_of_pytorchs_heads(heads):
    X, A, M = random(heads, (2, 6, 4), (heads, 4, 4), (heads, 4, 4))
    expected = sum(scaled_dot_product_attention(X @ A[k], X, X @ M[k], scale=1.0) for k in range(heads))
    torch.testing.assert_close(merged_self_attention(X, A, M), expected)


@pytest.mark.parametrize("heads", [1, 3])
def test_the_layer_moves_with_its_tokens_in_every_order(heads):
    X, A, M = random(heads, (5, 3), (heads, 3, 3), (heads, 3, 3))
    every = matrices(5)
    torch.testing.assert_close(merged_self_attention(reorder(every, X), A, M), reorder(every, merged_self_attention(X, A, M)))


def test_no_query_notices_the_order_of_keys_and_values():
    query, key, value = random(0, (2, 4), (4, 4), (4, 3))
    every = matrices(4)
    expected = scaled_dot_product_attention(query, key, value).expand(24, 2, 3)
    torch.testing.assert_close(attention(query, every @ key, every @ value), expected)
    apart = attention(query, every @ key, value)  # reordered keys alone
    assert not torch.allclose(apart, expected)


def test_a_query_of_its_own_and_a_mean_are_invariant_and_the_outputs_are_not():
    X, Q, A, M = random(1, (4, 3), (2, 3), (2, 3, 3), (2, 3, 3))
    every = matrices(4)
    assert output_of_one_query(Q, X, M).shape == (3,)
    torch.testing.assert_close(output_of_one_query(Q, reorder(every, X), M), output_of_one_query(Q, X, M).expand(24, 3))
    Y = merged_self_attention(reorder(every, X), A, M)
    torch.testing.assert_close(Y.mean(-2), merged_self_attention(X, A, M).mean(-2).expand(24, 3))
    assert sum(torch.allclose(y, merged_self_attention(X, A, M)) for y in Y) == 1  # the identity's alone


def test_output_for_a_token_among_others():
    X, A, M = random(2, (4, 3), (2, 3, 3), (2, 3, 3))
    torch.testing.assert_close(sequence(X[0], X[1], X[2:]), X)
    torch.testing.assert_close(torch.stack([output_of_one_query(x @ A, X, M) for x in X]), merged_self_attention(X, A, M))


def test_single_token():
    X, A, M = random(3, (1, 3), (2, 3, 3), (2, 3, 3))
    torch.testing.assert_close(merged_self_attention(X, A, M), X @ M.sum(0))
    assert merged_self_attention(X.expand(0, 1, 3), A, M).shape == (0, 1, 3)


def test_reorder_puts_at_each_place_the_token_that_the_row_names():
    X = torch.tensor([[10.0], [20.0], [30.0]])
    assert reorder(torch.eye(3)[[2, 0, 1]], X).flatten().tolist() == [30.0, 10.0, 20.0]


def test_a_causal_layer_does_not_move_with_its_tokens():
    (X,) = random(4, (4, 3))
    every = matrices(4)
    Y = scaled_dot_product_attention(X, X, X, is_causal=True)
    moved = reorder(every, X)
    outputs = scaled_dot_product_attention(moved, moved, moved, is_causal=True)
    agree = [torch.allclose(y, Pi @ Y) for y, Pi in zip(outputs, every)]
    assert sum(agree) == 1 and agree[0]
    torch.testing.assert_close(attention(moved, moved, moved, is_causal=True), outputs)


def test_numbers_in_the_text():
    """Without a mask, the tokens 0 and 1 give 0.5 and 0.7311, in either order."""
    for order in ([0.0, 1.0], [1.0, 0.0]):
        x = torch.tensor(order)[:, None]
        assert [round(value, 4) for value in attention(x, x, x).flatten().tolist()] == [{0: 0.5, 1: 0.7311}[token] for token in order]


def test_numbers_of_the_three_tokens():
    """The tokens 0, 1 and 2, as they come and in the order 2, 0, 1."""
    Pi = torch.tensor([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    x = torch.tensor([[0.0], [1.0], [2.0]])
    moved = reorder(Pi, x)
    assert moved.flatten().tolist() == [2, 0, 1]
    assert (x @ x.T).tolist() == [[0, 0, 0], [0, 1, 2], [0, 2, 4]]
    assert (moved @ moved.T).tolist() == [[4, 0, 2], [0, 0, 0], [2, 0, 1]]
    assert [round(100 * one) for one in (x @ x.T).softmax(-1)[1].tolist()] == [9, 24, 67]
    assert [round(one, 2) for one in attention(x, x, x).flatten().tolist()] == [1.0, 1.58, 1.85]
    assert [round(one, 2) for one in attention(moved, moved, moved).flatten().tolist()] == [1.85, 1.0, 1.58]
