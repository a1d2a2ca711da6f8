"""Tests of cross-attention: shapes, order, a context of one row, the gate, the cache, and PyTorch's decoder layer."""

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from snippets.layers.cross import (
    context_cache,
    cross_attention,
    decoder_block,
    gated_cross_attention,
    odds_ratios,
    over_both,
    query_jacobian,
    read_context,
    reads_more,
)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def test_cross_attention_agrees_with_pytorch_on_the_projections():
    X, Z, W_Q, W_K, W_V = random(0, (2, 5, 6), (2, 3, 6), (6, 4), (6, 4), (6, 7))
    output = cross_attention(X, Z, W_Q, W_K, W_V)
    assert output.shape == (2, 5, 7)  # as many rows as queries
    torch.testing.assert_close(output, scaled_dot_product_attention(X @ W_Q, Z @ W_K, Z @ W_V))


def test_the_context_has_no_order_and_the_queries_keep_theirs():
    X, Z, W_Q, W_K, W_V = random(1, (5, 6), (4, 6), (6, 4), (6, 4), (6, 7))
    output = cross_attention(X, Z, W_Q, W_K, W_V)
    torch.testing.assert_close(cross_attention(X, Z[[2, 0, 3, 1]], W_Q, W_K, W_V), output)
    order = [4, 1, 0, 3, 2]
    torch.testing.assert_close(cross_attention(X[order], Z, W_Q, W_K, W_V), output[order])
    assert not torch.allclose(output[order], output)


def test_a_cache_of_the_context_serves_every_step():
    X, Z, W_Q, W_K, W_V = random(2, (5, 6), (4, 6), (6, 4), (6, 4), (6, 7))
    key, value = context_cache(Z, W_K, W_V)
    assert key.shape == (4, 4) and value.shape == (4, 7)
    steps = torch.cat([read_context(row, W_Q, key, value) for row in X.split(1)])
    torch.testing.assert_close(steps, cross_attention(X, Z, W_Q, W_K, W_V))


def test_one_row_of_context_gives_its_value_and_no_gradient_to_queries_and_keys():
    X, c, *weights = random(3, (5, 6), (1, 6), (6, 4), (6, 4), (6, 7))
    for weight in weights:
        weight.requires_grad_()
    output = cross_attention(X, c, *weights)
    torch.testing.assert_close(output, (c @ weights[2]).expand(5, 7))
    of_query, of_key, of_value = torch.autograd.grad(output.square().sum(), weights)
    assert of_query.abs().max() < 1e-12 and of_key.abs().max() < 1e-12 and of_value.abs().max() > 0.1


def test_the_slopes_are_those_of_autograd():
    query, key, value = random(4, (3, 4), (5, 4), (5, 2))
    slopes = torch.autograd.functional.jacobian(lambda q: scaled_dot_product_attention(q, key, value), query)
    torch.testing.assert_close(query_jacobian(query, key, value), slopes)
    assert slopes[0, :, 1].eq(0).all() and slopes[0, :, 0].abs().min() > 0


def test_odds_are_the_same_in_both_directions():
    (scores,) = random(5, (3, 4))
    there, back = odds_ratios(scores.softmax(1)), odds_ratios(scores.softmax(0))
    torch.testing.assert_close(there, back)
    expected = torch.exp(scores[0, 1] + scores[2, 3] - scores[0, 3] - scores[2, 1])
    torch.testing.assert_close(there[0, 1, 2, 3], expected)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_one_attention_is_a_gate_between_two(scale):
    s, A, t, B = random(6, (5,), (5, 3), (7,), (7, 3))
    both = over_both(scale * s, A, scale * t, B)
    torch.testing.assert_close(both, torch.softmax(scale * torch.cat([s, t]), 0) @ torch.cat([A, B]))
    torch.testing.assert_close(gated_cross_attention(scale * s, A, scale * t, B), both)
    assert not torch.allclose(s.softmax(0) @ A + t.softmax(0) @ B, over_both(s, A, t, B))


def test_block_agrees_with_pytorchs_decoder_layer():
    torch.manual_seed(0)
    layer = nn.TransformerDecoderLayer(12, 3, 24, batch_first=True, norm_first=True, dtype=torch.float64).eval()
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.4)
    x, context = random(7, (2, 5, 12), (2, 7, 12))
    causal = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
    output = decoder_block(x, context, layer)
    torch.testing.assert_close(output, layer(x, context, tgt_mask=causal))
    changed = x.clone()
    changed[:, 3] += 1
    torch.testing.assert_close(decoder_block(changed, context, layer)[:, :3], output[:, :3])


@pytest.mark.parametrize(("steps", "m"), [(1, 1), (7, 3), (13, 7), (1000, 400)])
def test_reads_are_counted(steps, m):
    assert reads_more(steps, m) == sum(own - m for own in range(1, steps + 1)) == steps * (steps + 1 - 2 * m) // 2


@pytest.mark.parametrize(
    ("train", "wrong"),
    [(False, {"norm_first": False}), (False, {"batch_first": False}), (True, {}), (True, {"dropout": 0.0, "norm_first": False})],
)
def test_unsupported_layer_is_rejected(train, wrong):
    given = {"batch_first": True, "norm_first": True} | wrong
    layer = nn.TransformerDecoderLayer(12, 3, 24, **given, dtype=torch.float64).train(train)
    with pytest.raises(ValueError, match="expected a layer with norm_first and batch_first, in eval mode"):
        decoder_block(*random(8, (2, 5, 12), (2, 7, 12)), layer)


def test_activation_is_taken_from_the_layer():
    torch.manual_seed(0)
    layer = nn.TransformerDecoderLayer(12, 3, 24, 0.1, "gelu", batch_first=True, norm_first=True, dtype=torch.float64).eval()
    x, context = random(9, (2, 5, 12), (2, 7, 12))
    causal = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
    torch.testing.assert_close(decoder_block(x, context, layer), layer(x, context, tgt_mask=causal))


def test_numbers_in_the_text():
    s, t = torch.zeros(2).double(), torch.tensor([2.0]).double().log()
    A, B = torch.tensor([[10.0], [10.0]]).double(), torch.tensor([[30.0]]).double()
    assert torch.cat([s, t]).softmax(0)[2].item() == pytest.approx(0.5)
    assert over_both(s, A, t, B).item() == pytest.approx(20) and gated_cross_attention(s, A, t, B).item() == pytest.approx(20)
    assert reads_more(799, 400) == 0


def test_equal_keys_give_the_query_no_gradient():
    query, key, value = random(10, (3, 4), (1, 4), (5, 2))
    assert query_jacobian(query, key.expand(5, 4), value).abs().max() < 1e-12
