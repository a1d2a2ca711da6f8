"""Counts of operations against PyTorch's counter, and what follows from them, in exact fractions."""

import itertools
from fractions import Fraction

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

from snippets.order.cost import (
    attention_layer,
    backward_of_product,
    doubling_ratio,
    excess_of_pairs,
    forward_operations,
    operations,
    operations_with_cache,
    operations_without_cache,
    pair_operations,
    projection_operations,
    step_operations,
    training_step,
    weights_held,
    weights_per_output,
)


def random(seed, *shapes, grad=False):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_(grad) for shape in shapes]


@pytest.mark.parametrize("heads", [1, 2, 6])
@pytest.mark.parametrize("is_causal", [False, True])
def test_the_layer_is_pytorchs(heads, is_causal):
    x, W_Q, W_K, W_V, W_O = random(heads, (2, 5, 12), *[(12, 12)] * 4)
    module = nn.MultiheadAttention(12, heads, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([W_Q, W_K, W_V], dim=1).T)
        module.out_proj.weight.copy_(W_O.T)
    blocked = ~torch.ones(5, 5, dtype=torch.bool).tril() if is_causal else None  # here True blocks
    expected, _ = module(x, x, x, attn_mask=blocked, need_weights=False)
    torch.testing.assert_close(attention_layer(x, W_Q, W_K, W_V, W_O, num_heads=heads, is_causal=is_causal), expected)


@pytest.mark.parametrize(("n", "d"), [(1, 4), (7, 4), (5, 12), (40, 8)])
def test_forward_is_what_pytorch_counts_whatever_the_heads(n, d):
    x, *W = random(0, (n, d), *[(d, d)] * 4)
    for heads in (1, 2, 4):
        for is_causal in (False, True):  # the full square is computed either way
            assert operations(attention_layer, x, *W, num_heads=heads, is_causal=is_causal) == forward_operations(n, d)
    assert operations(lambda: [x @ w for w in W]) == projection_operations(n, d)
    assert operations(lambda: (x @ x.T) @ x) == pair_operations(n, d)
    batch = x.expand(3, n, d)
    assert operations(attention_layer, batch, *W, num_heads=2) == 3 * forward_operations(n, d)


@pytest.mark.parametrize(("n", "d"), [(1, 4), (7, 4), (5, 12)])
def test_training_costs_three_times_as_much(n, d):
    for heads in (1, 4):
        tensors = random(0, (n, d), *[(d, d)] * 4, grad=True)
        assert operations(training_step, *tensors, num_heads=heads) == 3 * forward_operations(n, d)
        assert all(tensor.grad is not None for tensor in tensors)


@pytest.mark.parametrize(("n", "m", "p"), [(1, 1, 1), (2, 3, 5), (7, 4, 4)])
def test_the_way_back_through_a_product(n, m, p):
    A, B = random(0, (n, m), (m, p), grad=True)
    assert operations(lambda: A @ B) == 2 * n * m * p
    C = A @ B
    assert operations(lambda: C.sum().backward()) == backward_of_product(n, m, p)


def test_pairs_exceed_the_projections_exactly_beyond_twice_the_width():
    for n, d in itertools.product(range(1, 40), range(1, 16)):
        assert excess_of_pairs(n, d) == pair_operations(n, d) - projection_operations(n, d)
        assert (excess_of_pairs(n, d) > 0) == (n > 2 * d)
        assert (excess_of_pairs(n, d) == 0) == (n == 2 * d)


def test_twice_the_words_cost_between_two_and_four_times_as_much():
    for n, d in itertools.product((1, 10, 1000), (1, 64, 512)):
        ratio = Fraction(forward_operations(2 * n, d), forward_operations(n, d))
        assert 2 < ratio < 4 and ratio == 2 + Fraction(2 * n, n + 2 * d)
        assert doubling_ratio(n, d) == pytest.approx(float(ratio))


def test_weights_are_those_of_the_layer():
    heads, n, d_k = 4, 10, 3
    query, key, value = random(0, *[(heads, n, d_k)] * 3)
    weights = (query @ key.mT).softmax(-1)
    assert weights_held(n, heads) == weights.numel()
    assert weights_per_output(n, d_k) == weights.numel() / (weights @ value).numel()


def test_one_by_one_with_and_without_a_cache():
    assert operations_with_cache(1, 8) == operations_without_cache(1, 8) == forward_operations(1, 8)
    for n, d in itertools.product((1, 2, 9, 30), (1, 4, 8)):
        assert operations_without_cache(n, d) == Fraction(4 * n * (n + 1) * d**2) + Fraction(2 * n * (n + 1) * (2 * n + 1) * d, 3)
        assert operations_with_cache(n, d) == 8 * n * d**2 + 2 * n * (n + 1) * d


def test_a_step_with_a_cache_is_what_pytorch_counts():
    d, i = 6, 5
    x, W_Q, W_K, W_V, W_O, key, value = random(0, (1, d), *[(d, d)] * 4, (i - 1, d), (i - 1, d))

    def step():
        keys, values = torch.cat([key, x @ W_K]), torch.cat([value, x @ W_V])
        return (x @ W_Q @ keys.T).softmax(-1) @ values @ W_O

    assert operations(step) == step_operations(i, d)


def test_heads_that_do_not_divide_the_width_are_refused():
    x, *W = random(0, (3, 4), *[(4, 4)] * 4)
    with pytest.raises(RuntimeError, match="unflatten"):
        attention_layer(x, *W, num_heads=3)


def test_numbers_in_the_text():
    """The example of width 512, memory, generation, and the products of FlashAttention's backward pass."""
    assert [round(count(64, 512) / 1e6) for count in (projection_operations, pair_operations)] == [134, 8]
    assert round(projection_operations(64, 512) / 4 / 1e6) == 34 and round(pair_operations(64, 512) / 2 / 1e6) == 4
    with FlopCounterMode(display=False) as counter:
        torch.ones(2, 3) @ torch.ones(3, 2)
    assert counter.get_total_flops() == 24
    assert [round(count(1024, 512) / 1e9, 1) for count in (projection_operations, pair_operations)] == [2.1, 2.1]
    shares = [round(100 * pair_operations(n, 512) / forward_operations(n, 512), 1) for n in (64, 65536)]
    assert shares == [5.9, 98.5]
    assert [round(doubling_ratio(n, 512), 2) for n in (64, 1024, 65536)] == [2.12, 3.0, 3.97]
    whole = forward_operations(4096, 512)
    assert round(operations_without_cache(4096, 512) / whole) == 1502 and round(operations_with_cache(4096, 512) / whole, 2) == 0.6
    shape = (1, 1, 10, 4)
    back, there = sdpa_backward_flop_count(shape, shape, shape, shape), sdpa_flop_count(shape, shape, shape)
    assert (back, there) == (5 * 2 * 10**2 * 4, 2 * 2 * 10**2 * 4)
