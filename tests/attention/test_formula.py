"""The five steps against loops and PyTorch, the number of axes, the block as a module, and the slip in its scale."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.formula import (
    SelfAttention,
    attention,
    attention_2d,
    attention_by_einsum,
    attention_steps,
    attention_weights,
    products_by_einsum,
    scores,
    scores_by_both_widths_wrong,
    self_attention,
    upcast,
)
from tests.shapes import mutually_broadcastable_shapes

varied = settings(derandomize=True, deadline=None, max_examples=60)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def by_loops(query, key, value, mask=None):
    """The five steps for matrices, in Python's own floats."""
    (n, d_k), (m, d_v) = query.shape, value.shape
    products = [[sum((query[i, a] * key[j, a]).item() for a in range(d_k)) for j in range(m)] for i in range(n)]
    scaled = [[product / math.sqrt(d_k) for product in row] for row in products]
    masked = [[x + (0 if mask is None else mask[i, j].item()) for j, x in enumerate(row)] for i, row in enumerate(scaled)]
    weights = [[math.exp(x) / sum(map(math.exp, row)) for x in row] for row in masked]
    output = [[sum(weight * value[j, b].item() for j, weight in enumerate(row)) for b in range(d_v)] for row in weights]
    return [torch.tensor(step, dtype=torch.float64) for step in (products, scaled, masked, weights, output)]


# The scores


@given(mutually_broadcastable_shapes(signature="(n,d),(m,d)->(n,m)", max_side=4), st.integers(0, 99))
@varied
def test_scores_are_scaled_dot_products(shapes, seed):
    query, key = random(seed, *shapes.input_shapes)
    expected = torch.einsum("...nd,...md->...nm", query, key)
    assert scores(query, key, scale=1.0).shape == shapes.result_shape
    torch.testing.assert_close(scores(query, key, scale=1.0), expected)
    torch.testing.assert_close(scores(query, key), expected / math.sqrt(query.shape[-1]))
    torch.testing.assert_close(scores(query, key, scale=-0.3), -0.3 * expected)


def test_scores_are_the_logits_of_pytorch():
    query, key = random(0, (2, 3, 5, 8), (2, 3, 7, 8))
    eye = torch.eye(7, dtype=torch.float64)  # values that show the weights
    weights = torch.nn.functional.scaled_dot_product_attention(query, key, eye.expand(2, 3, 7, 7))
    torch.testing.assert_close(scores(query, key).softmax(-1), weights)


def test_only_what_has_fewer_digits_than_single_precision_is_widened():
    found = {dtype: upcast(torch.ones(2, dtype=dtype)).dtype for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64)}
    assert list(found.values()) == [torch.float32] * 3 + [torch.float64]
    (x,) = random(0, (3, 4))
    assert upcast(x) is x and torch.equal(upcast(x.half()), x.half().float())


# Attention itself


@given(
    mutually_broadcastable_shapes(signature="(n,d),(m,d),(m,v)->(n,v)", max_side=4),
    st.integers(0, 99),
    st.sampled_from([None, 1.0, 0.3]),
)
@varied
def test_attention_is_that_of_pytorch(shapes, seed, scale):
    tensors = random(seed, *shapes.input_shapes)
    output = attention(*tensors, scale=scale)
    assert output.shape == shapes.result_shape
    # PyTorch asks for leading axes that are already broadcast.
    leading = shapes.result_shape[:-2]
    expanded = [tensor.expand(*leading, *tensor.shape[-2:]) for tensor in tensors]
    torch.testing.assert_close(output, scaled_dot_product_attention(*expanded, scale=scale))


@pytest.mark.parametrize("scale", [None, 1.0])
def test_attention_weights_are_distributions_over_the_keys(scale):
    query, key = random(0, (2, 5, 8), (2, 7, 8))
    weights = attention_weights(query, key, scale=scale)
    assert weights.shape == (2, 5, 7) and (weights > 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 5, dtype=torch.float64))
    eye = torch.eye(7, dtype=torch.float64).expand(2, 7, 7)  # values that show the weights
    torch.testing.assert_close(weights, scaled_dot_product_attention(query, key, eye, scale=scale))


# The steps


@pytest.mark.parametrize(("n", "m", "d_k", "d_v"), [(1, 1, 1, 1), (2, 3, 4, 5), (5, 2, 1, 3)])
@pytest.mark.parametrize("masked", [False, True])
def test_every_step_is_that_of_a_loop(n, m, d_k, d_v, masked):
    query, key, value, mask = random(0, (n, d_k), (m, d_k), (m, d_v), (n, m))
    mask = mask if masked else None
    for found, expected in zip(attention_steps(query, key, value, attn_mask=mask), by_loops(query, key, value, mask), strict=True):
        torch.testing.assert_close(found, expected)


@given(
    mutually_broadcastable_shapes(signature="(n,d),(m,d),(m,v)->(n,v)", max_side=4), st.integers(0, 99), st.sampled_from([None, 1.0, 0.3])
)
@varied
def test_the_last_step_is_attention_for_any_leading_axes(shapes, seed, scale):
    tensors = random(seed, *shapes.input_shapes)
    found = attention_steps(*tensors, scale=scale)
    assert found.output.shape == shapes.result_shape
    torch.testing.assert_close(found.output, attention(*tensors, scale=scale))
    torch.testing.assert_close(found.weights.sum(-1), torch.ones(found.weights.shape[:-1], dtype=torch.float64))


def test_a_mask_that_is_added_multiplies_the_exponentials():
    query, key, value, mask = random(1, (3, 4), (5, 4), (5, 2), (3, 5))
    factors = attention_steps(query, key, value).scaled.exp() * mask.exp()
    torch.testing.assert_close(attention_steps(query, key, value, attn_mask=mask).weights, factors / factors.sum(-1, keepdim=True))


def test_a_boolean_mask_keeps_what_is_true():
    query, key, value = random(2, (3, 4), (5, 4), (5, 2))
    keep = torch.tensor([True, False, True, True, False])
    torch.testing.assert_close(
        attention_steps(query, key, value, attn_mask=keep).output, attention_steps(query, key[keep], value[keep]).output
    )


# Axes


def test_two_axes_are_the_formula_as_written_and_pytorch():
    query, key, value = random(3, (5, 8), (7, 8), (7, 3))
    torch.testing.assert_close(attention_2d(query, key, value), by_loops(query, key, value)[-1])
    torch.testing.assert_close(attention_2d(query, key, value), scaled_dot_product_attention(query, key, value))


def test_batch_and_head_are_carried_along():
    query, key, value = random(4, (2, 4, 8, 16), (2, 4, 6, 16), (2, 4, 6, 3))  # (batch, head, token, feature)
    output = attention(query, key, value)
    assert output.shape == (2, 4, 8, 3)
    for b in range(2):
        torch.testing.assert_close(attention(query[b], key[b], value[b]), output[b])
        for h in range(4):
            torch.testing.assert_close(attention_2d(query[b, h], key[b, h], value[b, h]), output[b, h])


@pytest.mark.parametrize(("m", "d_k"), [(8, 16), (5, 4), (7, 64)])
def test_two_three_and_four_axes_agree_bit_by_bit_where_every_sum_is_exact(m, d_k):
    # Products of small integers, and a scale that is a power of two, are exact in any order; so are rows of weights
    # times values that pick one weight each. What is left is softmax, which sees the same scores in the same rows.
    generator = torch.Generator().manual_seed(m)
    query, key = torch.randint(-3, 4, (2, m, d_k), generator=generator).float()
    value = torch.eye(m)[torch.randperm(m, generator=generator)]
    flat = attention_2d(query, key, value)
    assert torch.equal(attention(query, key, value), flat)
    assert torch.equal(attention(query[None], key[None], value[None])[0], flat)
    assert torch.equal(attention(query[None, None], key[None, None], value[None, None])[0, 0], flat)


@pytest.mark.parametrize(("n", "d"), [(8, 16), (5, 7)])
def test_elsewhere_they_agree_within_rounding(n, d):
    generator = torch.Generator().manual_seed(0)
    query, key, value = torch.rand(3, n, d, generator=generator)
    flat = attention_2d(query, key, value)
    for batched in (
        attention(query[None], key[None], value[None])[0],
        attention(query[None, None], key[None, None], value[None, None])[0, 0],
    ):
        assert (batched - flat).abs().max() <= 8 * torch.finfo(torch.float32).eps


@pytest.mark.parametrize("sizes", [(2, 5, 7, 3, 4, 6), (1, 1, 1, 1, 1, 1), (0, 2, 3, 2, 4, 1)])
def test_einsum_is_pytorch_with_heads_and_tokens_swapped(sizes):
    b, n, m, h, d_k, d_v = sizes
    query, key, value = random(7, (b, n, h, d_k), (b, m, h, d_k), (b, m, h, d_v))
    expected = scaled_dot_product_attention(*(x.transpose(1, 2) for x in (query, key, value))).transpose(1, 2)
    torch.testing.assert_close(attention_by_einsum(query, key, value), expected)


def test_einsum_over_two_axes_is_the_formula_step_by_step():
    query, key, value = random(8, (5, 8), (7, 8), (7, 3))
    steps = attention_steps(query, key, value)
    torch.testing.assert_close(products_by_einsum(query, key), steps.products)
    torch.testing.assert_close(torch.einsum("nm,mv->nv", steps.weights, value), steps.output)


def test_key_transposed_is_for_matrices():
    with pytest.raises(ValueError, match="query has 3 axes, key 2 and value 2; expected 2 each"):
        attention_2d(torch.zeros(2, 3, 4), torch.zeros(3, 4), torch.zeros(3, 4))


@pytest.mark.parametrize(
    "call",
    {
        "matrices": lambda z: attention_2d(z(3, 4), z(3, 5), z(3, 4)),
        "one value for all keys": lambda z: attention(z(3, 4), z(5, 4), z(1, 2)),
        "fewer values than keys": lambda z: attention_steps(z(3, 4), z(3, 4), z(2, 4)),
        "the last matrix": lambda z: self_attention(z(3, 4), z(4, 2), z(4, 2), z(4, 2), z(4, 2)),
        "the input": lambda z: self_attention(z(3, 5), z(4, 2), z(4, 2), z(4, 2), z(2, 4)),
    }.items(),
    ids=lambda call: call[0],
)
def test_pytorch_refuses_shapes_that_do_not_fit(call):
    with pytest.raises(RuntimeError, match="multiplied|batch2"):
        call[1](torch.zeros)


# The block


@given(mutually_broadcastable_shapes(signature="(n,d),(d,k),(d,k),(d,v),(v,d)->(n,d)", max_side=4), st.integers(0, 99))
@varied
def test_self_attention_is_pytorch_between_four_matrices(shapes, seed):
    X, W_Q, W_K, W_V, W_O = random(seed, *shapes.input_shapes)
    output = self_attention(X, W_Q, W_K, W_V, W_O)
    assert output.shape == shapes.result_shape
    leading = shapes.result_shape[:-2]
    inner = [torch.einsum("...nd,...dk->...nk", X, W) for W in (W_Q, W_K, W_V)]
    inner = scaled_dot_product_attention(*(x.expand(*leading, *x.shape[-2:]) for x in inner))
    torch.testing.assert_close(output, torch.einsum("...nv,...vd->...nd", inner, W_O))


def test_the_module_holds_four_parameters_keeps_the_shape_and_stacks():
    generator = torch.Generator().manual_seed(0)
    blocks = [SelfAttention(6, 4, 3, generator=generator) for _ in range(3)]
    assert [tuple(w.shape) for w in blocks[0].parameters()] == [(6, 4), (6, 4), (6, 3), (3, 6)]
    for shape in ((1, 6), (5, 6), (2, 5, 6), (0, 5, 6)):
        assert torch.nn.Sequential(*blocks)(torch.zeros(shape)).shape == shape
    X = torch.randn(2, 5, 6, generator=generator)
    torch.testing.assert_close(blocks[0](X), self_attention(X, *blocks[0].parameters()))


def test_a_step_of_training_moves_every_parameter_and_lowers_the_loss():
    generator = torch.Generator().manual_seed(0)
    block = SelfAttention(6, 4, 3, generator=generator).double()
    X, target = torch.randn(2, 2, 5, 6, generator=generator, dtype=torch.float64)
    before = [w.detach().clone() for w in block.parameters()]
    optimiser = torch.optim.SGD(block.parameters(), lr=1e-3)
    losses = []
    for _ in range(2):
        optimiser.zero_grad()
        losses.append((block(X) - target).square().sum())
        losses[-1].backward()
        optimiser.step()
    assert losses[1] < losses[0]
    assert all(not torch.equal(new, old) for new, old in zip(block.parameters(), before, strict=True))


def test_the_gradients_are_right():
    X, *weights = random(5, (3, 4), (4, 2), (4, 2), (4, 3), (3, 4))
    assert torch.autograd.gradcheck(self_attention, tuple(x.requires_grad_() for x in (X, *weights)))


def test_projections_keep_the_variance_of_the_input():
    # The variance of 200 * 64 products has a standard deviation of about sqrt(2 / 64 + 2 / 200) over weights and input.
    generator = torch.Generator().manual_seed(0)
    block = SelfAttention(256, 64, 64, generator=generator)
    X = torch.randn(200, 256, generator=generator)
    for weight in (block.W_Q, block.W_K, block.W_V):
        assert (X @ weight).var().item() == pytest.approx(1, abs=0.2)


# The slip


@pytest.mark.parametrize("d_v", [1, 4, 9])
def test_the_slip_divides_the_scores_by_the_root_of_d_v_once_more(d_v):
    query, key, value = random(6, (2, 3, 5), (2, 4, 5), (2, 4, d_v))
    torch.testing.assert_close(scores_by_both_widths_wrong(query, key, value) * math.sqrt(d_v), attention_steps(query, key, value).scaled)
    changed = scores_by_both_widths_wrong(query, key, value).softmax(-1)
    assert torch.allclose(changed, attention_steps(query, key, value).weights) == (d_v == 1)


def test_without_features_the_formula_gives_the_mean():
    query, key, (value,) = torch.zeros(2, 0).double(), torch.zeros(5, 0).double(), random(31, (5, 3))
    torch.testing.assert_close(attention_2d(query, key, value), attention(query, key, value))


def test_heads_that_share_keys_and_values_are_those_of_pytorch():
    query, key, value = random(3, (2, 6, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4))
    mask = torch.ones(3, 5).tril().bool()
    found = attention(query, key, value, attn_mask=mask, enable_gqa=True)
    torch.testing.assert_close(found, scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True))
    weights = attention_weights(query, key, enable_gqa=True)
    torch.testing.assert_close(weights, attention_weights(query, key.repeat_interleave(3, dim=-3)))
    with pytest.raises(ValueError, match="4 heads of keys do not divide 6 of queries"):
        attention(query, *random(3, (2, 4, 5, 4), (2, 4, 5, 4)), enable_gqa=True)


@pytest.mark.parametrize("dtype", [torch.bool, torch.int8, torch.int64, torch.complex64])
def test_what_is_no_float_is_refused_as_pytorch_does(dtype):
    x = torch.ones(2, 3, dtype=dtype)
    for function in (upcast, lambda x: scores(x, x), lambda x: attention(x, x, x)):
        with pytest.raises(TypeError, match=f"expected floats, found {dtype}"):
            function(x)


@pytest.mark.parametrize("shapes", [[(6, 4), (2, 4)], [(8, 6, 4), (2, 4)], [(6, 4), (1, 2, 4)]])
def test_heads_that_share_have_an_axis(shapes):
    query, key = map(torch.ones, shapes)
    with pytest.raises(ValueError, match="expected heads, tokens and features"):
        attention(query, key, key, enable_gqa=True)


def test_numbers_in_the_text():
    """The example of the page: two queries and three keys, of which the first query may not see the last."""
    query, key = torch.tensor([[2.0, 0, 0, 0], [0, 2, 0, 0]]), torch.tensor([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 3, 0, 0]])
    steps = attention_steps(query, key, torch.tensor([[10.0], [20], [30]]), attn_mask=torch.tensor([[0, 0, -torch.inf], [0, 0, 0]]))
    assert steps.products[0].tolist() == [2, 2, 0] and steps.scaled.tolist() == [[1, 1, 0], [0, 1, 3]]
    assert steps.masked[0].tolist() == [1, 1, -torch.inf] and steps.weights[0].tolist() == [0.5, 0.5, 0]
    assert steps.output[0].item() == 15 and f"{steps.output[1].item():.2f}" == "28.02" and steps.weights[1].argmax() == 2


def test_formats_that_differ_are_named():
    x = torch.ones(1, 1)
    with pytest.raises(TypeError, match=r"query is torch.float32 and key torch.float64; expected one dtype"):
        attention(x, x.double(), x)
    with pytest.raises(TypeError, match=r"query is torch.float32 and value torch.float64; expected one dtype"):
        attention(x, x, x.double())
    with pytest.raises(TypeError, match=r"query is torch.float16 and value torch.float64; expected one dtype"):
        attention(x.half(), x.half(), x.double())


def test_steps_of_a_query_without_keys_are_zero():
    x = torch.ones(2, 1, requires_grad=True)
    steps = attention_steps(x, x, x, attn_mask=torch.tensor([[True, True], [False, False]]))
    assert steps.weights.tolist() == [[0.5, 0.5], [0, 0]] and steps.output.tolist() == [[1], [0]]
    steps.output.sum().backward()
    assert x.grad.isfinite().all()
