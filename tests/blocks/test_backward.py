"""Test the gradients by hand, for all keys and in blocks, against autograd, finite differences and fractions.

The computation in blocks never stores the matrix of weights.
"""

import math
from fractions import Fraction

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from snippets.attention.formula import attention, attention_weights, scores, upcast
from snippets.blocks.backward import (
    backward,
    backward_in_blocks,
    log_sums,
    row_sums,
    score_gradients,
    through_weights,
    weights_again,
)
from snippets.blocks.merge import attention_state

SHAPES = [
    ((5, 4), (7, 4), (7, 3)),
    ((1, 4), (7, 4), (7, 3)),
    ((5, 4), (1, 4), (1, 3)),
    ((1, 1), (1, 1), (1, 1)),
    ((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 2)),
    ((0, 5, 4), (0, 7, 4), (0, 7, 3)),
]
SHARED = [((2, 3, 5, 4), (6, 4), (3, 6, 2)), ((5, 4), (2, 6, 4), (6, 2)), ((3, 1, 5, 4), (2, 6, 4), (1, 1, 6, 2))]


def draw(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def case(shapes, seed=0):
    inputs = draw(seed, *shapes)
    (gradient,) = draw(seed + 100, attention(*inputs).shape)
    return *inputs, gradient


def by_autograd(function, query, key, value, gradient):
    inputs = [x.clone().requires_grad_() for x in (query, key, value)]
    return torch.autograd.grad(function(*inputs), inputs, gradient)


def in_blocks(query, key, value, gradient, block):
    return backward_in_blocks(query, key, value, attention(query, key, value), log_sums(query, key), gradient, block_size=block)


def agree(found, expected):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("function", [scaled_dot_product_attention, attention])
@pytest.mark.parametrize("shapes", SHAPES)
def test_gradients_by_hand_agree_with_autograd(shapes, function):
    tensors = case(shapes)
    agree(backward(*tensors), by_autograd(function, *tensors))


@pytest.mark.parametrize("shapes", SHARED)
def test_an_input_that_is_shared_along_leading_axes_gets_the_sum(shapes):
    tensors = case(shapes)
    expected = by_autograd(attention, *tensors)
    agree(backward(*tensors), expected)
    agree(in_blocks(*tensors, 4), expected)


@pytest.mark.parametrize("block", [1, 2, 3, 7, 99])
@pytest.mark.parametrize("shapes", SHAPES)
def test_gradients_in_blocks_agree_with_autograd(shapes, block):
    tensors = case(shapes)
    agree(in_blocks(*tensors, block), by_autograd(scaled_dot_product_attention, *tensors))


def test_finite_differences():
    *inputs, gradient = case(((2, 3), (4, 3), (4, 2)))
    step = 1e-6
    for which, found in enumerate(backward(*inputs, gradient)):
        for place in range(inputs[which].numel()):
            losses = []
            for sign in (1, -1):
                moved = [x.clone() for x in inputs]
                moved[which].view(-1)[place] += sign * step
                losses.append((gradient * attention(*moved)).sum().item())
            assert found.reshape(-1)[place].item() == pytest.approx((losses[0] - losses[1]) / (2 * step), abs=1e-8)


@pytest.mark.parametrize("peak", [30.0, 1e3, 1e5])
def test_peaked_scores_give_finite_slopes(peak):
    query, key, value, gradient = case(((5, 4), (7, 4), (7, 3)))
    tensors = peak * query, key, value, gradient
    expected = by_autograd(scaled_dot_product_attention, *tensors)
    agree(backward(*tensors), expected)
    agree(in_blocks(*tensors, 2), expected)
    assert all(x.isfinite().all() for x in expected) and expected[2].abs().max() > 0


def test_where_one_weight_takes_all_nothing_reaches_queries_and_keys():
    query, key, value, gradient = case(((5, 4), (7, 4), (7, 3)))
    d_query, d_key, d_value = backward(1e6 * query, key, value, gradient)
    for slope_of_scores in (d_query, d_key):  # dP - D is a difference of two sums, which a processor may add up in another order
        assert slope_of_scores.abs().max() < 1e-8  # of queries a million times as large
    torch.testing.assert_close(d_value, torch.nn.functional.one_hot((query @ key.mT).argmax(-1), 7).double().mT @ gradient)


# The pieces


def test_slopes_by_the_scores_in_fractions():
    # Weights 1/2, 1/4, 1/4 and gradients 8, 4, 0 by them: the mean is 5.
    weights, gradients = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)], [8, 4, 0]
    mean = sum(w * s for w, s in zip(weights, gradients))
    expected = [float(w * (s - mean)) for w, s in zip(weights, gradients)]
    weights, gradients = (torch.tensor([[float(x) for x in row]]) for row in (weights, gradients))
    assert row_sums(weights, gradients).tolist() == [[5.0]]
    assert score_gradients(weights, gradients, row_sums(weights, gradients)).tolist() == [expected]


def test_the_mean_is_that_from_the_output_and_rows_sum_to_zero():
    query, key, value, gradient = case(((2, 5, 4), (2, 7, 4), (2, 7, 3)))
    weights, weight_gradients = attention_weights(query, key), gradient @ value.mT
    means = row_sums(gradient, attention(query, key, value))
    torch.testing.assert_close(means, (weights * weight_gradients).sum(-1, keepdim=True))
    found = score_gradients(weights, weight_gradients, means)
    torch.testing.assert_close(found.sum(-1), torch.zeros(2, 5, dtype=torch.float64))
    variances = (weights * (weight_gradients - means).square()).sum(-1)
    assert (found.square().sum(-1) <= variances).all() and (found.abs().amax((-2, -1)) > 0.1).all()


def test_any_keys_get_their_rows_of_the_slopes_and_give_the_queries_their_share():
    query, key, value, gradient = case(((5, 4), (7, 4), (7, 3)))
    weights, means = attention_weights(query, key), row_sums(gradient, attention(query, key, value))
    d_query, d_key, d_value = by_autograd(attention, query, key, value, gradient)
    parts = [through_weights(query, key[some], value[some], weights[:, some], gradient, means) for some in (slice(3), slice(3, 7))]
    shares, keys, values = zip(*parts)
    agree((sum(shares), torch.cat(keys), torch.cat(values)), (d_query, d_key, d_value))
    assert all((share.abs().amax(-1) > 1e-3).all() for share in shares)


def test_keys_slopes_cancel_and_queries_and_keys_balance():
    query, key, value, gradient = case(((5, 4), (7, 4), (7, 3)))
    d_query, d_key, _ = backward(query, key, value, gradient)
    torch.testing.assert_close(d_key.sum(-2), torch.zeros(4, dtype=torch.float64))
    torch.testing.assert_close(query.mT @ d_query, d_key.mT @ key)
    shifted = backward(query, key, value + 3, gradient)
    agree(shifted[:2], (d_query, d_key))


def test_weights_again_are_those_of_all_keys():
    query, key = draw(1, (2, 5, 4), (2, 7, 4))
    saved = log_sums(query, key)
    torch.testing.assert_close(saved.exp(), (query @ key.mT / 2).exp().sum(-1, keepdim=True))
    torch.testing.assert_close(weights_again(query, key[:, 2:4], saved), attention_weights(query, key)[..., 2:4])


def test_the_state_of_the_way_forward_has_the_log_sums():
    query, key, value = draw(2, (2, 5, 4), (2, 7, 4), (2, 7, 3))
    kept = attention_state(scores(query, key), value)
    torch.testing.assert_close(kept.reference + kept.total.log(), log_sums(query, key))


def test_large_scores_do_not_overflow_the_log_sums():
    query, key = torch.tensor([[1e3]]).double(), torch.tensor([[1.0], [1.0], [-1.0]]).double()
    assert log_sums(query, key).item() == pytest.approx(1e3 + math.log(2), rel=1e-14)
    assert weights_again(query, key, log_sums(query, key)).tolist() == [[pytest.approx(0.5), pytest.approx(0.5), 0.0]]


# What is held


class Largest(TorchDispatchMode):
    """The most entries that any tensor has that an operation returns."""

    most = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.most = max([self.most, *(x.numel() for x in tree_leaves(result) if isinstance(x, torch.Tensor))])
        return result


def test_blocks_never_hold_the_matrix_of_weights():
    query, key, value, gradient = case(((40, 2), (60, 2), (60, 3)))
    output, saved = attention(query, key, value), log_sums(query, key)
    with Largest() as whole:
        backward(query, key, value, gradient)
    assert whole.most == 40 * 60
    with Largest() as blocks:
        backward_in_blocks(query, key, value, output, saved, gradient, block_size=5)
    assert blocks.most == 40 * 5


# Errors


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((5, 4), (7, 4), (7, 3), (5, 2)), r"\(5, 2\) and \(5, 3\) differ; expected one shape"),
        (((2, 5, 4), (7, 4), (7, 3), (5, 3)), r"\(5, 3\) and \(2, 5, 3\) differ; expected one shape \(\.\.\., n, p\)"),
    ],
)
def test_shapes_that_do_not_fit(shapes, message):
    with pytest.raises(ValueError, match=message):
        backward(*(torch.ones(shape) for shape in shapes))


def test_shapes_that_do_not_fit_in_blocks():
    query, key, value, gradient = case(((5, 4), (7, 4), (7, 3)))
    output, saved = attention(query, key, value), log_sums(query, key)
    for block in (0, -1):
        with pytest.raises(ValueError, match=f"block_size is {block}; expected at least 1 key"):
            backward_in_blocks(query, key, value, output, saved, gradient, block_size=block)
    for block in (2, 9):
        with pytest.raises((ValueError, RuntimeError)):
            backward_in_blocks(query, key[1:], value, output, saved, gradient, block_size=block)
    with pytest.raises(ValueError, match="differ; expected one shape"):
        backward_in_blocks(query, key, value, output, saved, gradient[:1], block_size=2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_in_half_formats_the_weights_again_are_rounded_once(dtype):
    query, key = (4 * x for x in draw(11, (5, 8), (300, 8)))
    query, key = query.to(dtype), key.to(dtype)
    saved = log_sums(upcast(query), key)
    assert saved.dtype == torch.float32
    again = weights_again(query, key, saved)
    assert again.dtype == dtype
    torch.testing.assert_close(again, attention_weights(query, key), atol=0, rtol=torch.finfo(dtype).eps)
    torch.testing.assert_close(again.float().sum(-1), torch.ones(5), atol=torch.finfo(dtype).eps / 2, rtol=1e-5)


def test_keys_without_values_are_refused_where_the_blocks_are_as_many():
    query, key, value, gradient = draw(12, (2, 4), (3, 4), (4, 2), (2, 2))
    with pytest.raises(ValueError, match="3 keys but 4 values"):
        backward_in_blocks(query, key, value, gradient, log_sums(query, key), gradient, block_size=4)


def test_numbers_in_the_text():
    query, key, value = torch.zeros(1, 1).double(), torch.zeros(2, 1).double(), torch.tensor([[1.0], [0]]).double()
    gradient = torch.ones(1, 1).double()
    weights, output = attention_weights(query, key), attention(query, key, value)
    assert weights.tolist() == [[0.5, 0.5]] and output.item() == 0.5 and (gradient @ value.T).tolist() == [[1, 0]]
    means = row_sums(gradient, output)
    assert means.item() == 0.5
    assert (weights * (gradient @ value.T - means)).tolist() == [[0.25, -0.25]]


def test_without_keys_the_logarithm_is_infinite_and_the_weights_are_not_numbers():
    masked = torch.full((1, 3), -math.inf)
    log = torch.logsumexp(masked, -1, keepdim=True)
    assert log.item() == -math.inf and (masked - log).exp().isnan().all()
