"""Test that some biases have no effect, in PyTorch's layer and ours, and count the parameters."""

import pytest
import torch
from torch import nn

from snippets.attention.formula import attention, attention_weights
from snippets.heads.parameters import bias_count, folded_bias, weight_count, weights_with_biases, without_idle_biases


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def layer(d=12, heads=3, seed=0, **options):
    made = nn.MultiheadAttention(d, heads, batch_first=True, dtype=torch.float64, **options)
    generator = torch.Generator().manual_seed(seed)
    for parameter in made.parameters():
        nn.init.normal_(parameter, generator=generator)
    return made


def test_a_key_bias_does_nothing_and_a_query_bias_does():
    query, key, bias = random(0, (2, 5, 4), (2, 7, 4), (4,))
    plain = weights_with_biases(query, key)
    torch.testing.assert_close(plain, torch.softmax(query @ key.mT / 2, -1))
    torch.testing.assert_close(weights_with_biases(query, key, key_bias=bias), plain)
    with_query_bias = weights_with_biases(query, key, query_bias=bias)
    torch.testing.assert_close(with_query_bias, torch.softmax((query + bias) @ key.mT / 2, -1))
    assert not torch.allclose(with_query_bias, plain)
    torch.testing.assert_close(weights_with_biases(query, key, query_bias=bias, key_bias=bias), with_query_bias)


def test_with_one_key_no_bias_does_anything():
    query, key, bias = random(1, (5, 4), (1, 4), (4,))
    assert weights_with_biases(query, key, query_bias=bias, key_bias=bias).eq(1).all()


def test_a_key_bias_that_is_turned_with_position_does_something():
    query, key, bias = random(2, (5, 2), (2, 2), (2,))
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)  # a right angle
    turned = torch.stack([bias, bias @ turn])
    assert not torch.allclose(weights_with_biases(query, key, key_bias=turned), attention_weights(query, key))


def test_the_gradient_of_a_key_bias_is_zero_but_for_rounding():
    theirs, (x, context) = layer(), random(3, (2, 5, 12), (2, 7, 12))
    theirs(x, context, context)[0].square().sum().backward()
    query, key, value = theirs.in_proj_bias.grad.chunk(3)
    assert key.abs().max() < 1e-8 < 1e-2 < min(query.abs().max(), value.abs().max())
    query, key = theirs.in_proj_weight.detach()[:12] @ x.mT, theirs.in_proj_weight.detach()[12:24] @ context.mT
    biases = [bias.requires_grad_() for bias in random(9, (12,), (12,))]
    weights = weights_with_biases(query.mT, key.mT, query_bias=biases[0], key_bias=biases[1])
    of_query, of_key = torch.autograd.grad(weights.square().sum(), biases)
    assert of_key.abs().max() < 1e-12 < 1e-6 < of_query.abs().max()


@pytest.mark.parametrize("heads", [1, 3, 12])
@pytest.mark.parametrize("is_causal", [False, True])
def test_pytorchs_layer_without_the_idle_biases_gives_the_same(heads, is_causal):
    theirs, (x,) = layer(heads=heads), random(4, (2, 5, 12))
    before = {name: value.clone() for name, value in theirs.state_dict().items()}
    leaner = without_idle_biases(theirs)
    mask = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64) if is_causal else None
    torch.testing.assert_close(leaner(x, x, x, attn_mask=mask)[0], theirs(x, x, x, attn_mask=mask)[0])
    query, key, value = leaner.in_proj_bias.chunk(3)
    assert query.equal(before["in_proj_bias"][:12]) and not key.any() and not value.any()
    assert all(value.equal(theirs.state_dict()[name]) for name, value in before.items())  # the layer itself is unchanged


def test_a_value_bias_folds_into_the_output_bias():
    query, key, value, b_V, W_O, b_O = random(5, (2, 5, 4), (2, 7, 4), (2, 7, 3), (3,), (3, 6), (6,))
    expected = attention(query, key, value + b_V) @ W_O + b_O
    torch.testing.assert_close(attention(query, key, value) @ W_O + folded_bias(b_V, W_O, b_O), expected)


def test_value_bias_does_not_fold_if_a_query_has_no_key():
    query, key, value, b_V = random(6, (2, 4), (3, 4), (3, 3), (1, 3))
    mask = torch.tensor([[True, True, False], [False, False, False]])
    with_bias, without = (attention(query, key, v, attn_mask=mask) for v in (value + b_V, value))
    torch.testing.assert_close(with_bias[0], without[0] + b_V[0])
    assert with_bias[1].eq(0).all()


@pytest.mark.parametrize(("d", "heads"), [(1, 1), (12, 1), (12, 3), (12, 12), (512, 8)])
def test_the_counts_are_those_of_pytorch(d, heads):
    width = d // heads
    weights, biases = weight_count(d, heads, width, width), bias_count(d, heads, width, width)
    assert (weights, biases) == (4 * d**2, 4 * d)
    for bias, count in ((True, weights + biases), (False, weights)):
        assert sum(p.numel() for p in nn.MultiheadAttention(d, heads, bias=bias).parameters()) == count


def test_the_counts_of_heads_of_other_widths():
    d, heads, d_k, d_v = 10, 3, 4, 7
    layers = [nn.Linear(d, heads * d_k), nn.Linear(d, heads * d_k), nn.Linear(d, heads * d_v), nn.Linear(heads * d_v, d)]
    assert weight_count(d, heads, d_k, d_v) == sum(layer.weight.numel() for layer in layers)
    assert bias_count(d, heads, d_k, d_v) == sum(layer.bias.numel() for layer in layers)


@pytest.mark.parametrize("heads", [1, 3])
def test_of_a_layer_without_biases_none_is_idle(heads):
    theirs, (x,) = layer(heads=heads, bias=False), random(7, (2, 5, 12))
    leaner = without_idle_biases(theirs)
    assert leaner is not theirs and leaner.in_proj_bias is None
    assert leaner(x, x, x)[0].equal(theirs(x, x, x)[0])


@pytest.mark.parametrize("option", ["add_bias_kv", "add_zero_attn"])
def test_where_one_key_has_no_bias_that_of_the_others_is_not_idle(option):
    theirs, (x,) = layer(**{option: True}), random(8, (2, 5, 12))
    without = layer(**{option: True})
    with torch.no_grad():
        without.in_proj_bias[12:24] = 0
    assert not torch.allclose(without(x, x, x)[0], theirs(x, x, x)[0])
    with pytest.raises(ValueError, match="expected a layer without bias_k and add_zero_attn"):
        without_idle_biases(theirs)
