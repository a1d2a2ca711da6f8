"""Test softmax plus one against its formula, an extra zero key, and PyTorch's option for it."""

from fractions import Fraction

import pytest
import torch
from torch import nn

from snippets.heads.nothing import attention_or_nothing, attention_with_zero_key, softmax_plus_one, softmax_with_sink


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("shape", [(1,), (7,), (2, 5, 7), (0, 3)])
def test_softmax_plus_one_is_its_formula(shape):
    (z,) = random(0, shape)
    torch.testing.assert_close(softmax_plus_one(z), z.exp() / (1 + z.exp().sum(-1, keepdim=True)))


def test_exact_weights():
    z = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64).log()
    expected = [float(Fraction(k, 1 + 7)) for k in (1, 2, 4)]
    assert softmax_plus_one(z).tolist() == pytest.approx(expected, rel=1e-15)
    sink = torch.tensor(3.0, dtype=torch.float64).log()
    assert softmax_with_sink(z, sink).tolist() == pytest.approx([k / 10 for k in (1, 2, 4)], rel=1e-15)


def test_a_sink_of_its_own_for_each_head():
    z, sink = random(1, (2, 3, 5, 7), (3,))
    expected = z.exp() / (sink.exp()[:, None, None] + z.exp().sum(-1, keepdim=True))
    torch.testing.assert_close(softmax_with_sink(z, sink), expected)
    torch.testing.assert_close(softmax_with_sink(z, sink), softmax_plus_one(z - sink[:, None, None]))


def test_softmax_plus_one_neither_overflows_nor_underflows_early():
    z = torch.tensor([1000.0, 1000.0], dtype=torch.float64)
    assert softmax_plus_one(z).tolist() == [0.5, 0.5]
    assert softmax_plus_one(-z).tolist() == [0.0, 0.0]
    tiny = softmax_plus_one(torch.tensor([-700.0], dtype=torch.float64))
    assert tiny.item() == pytest.approx(9.859676543759770e-305, rel=1e-12)


def test_every_weight_is_that_of_softmax_times_one_factor():
    (z,) = random(2, (4, 6))
    ratio = softmax_plus_one(z) / z.softmax(-1)
    torch.testing.assert_close(ratio, softmax_plus_one(z).sum(-1, keepdim=True).expand(4, 6))
    assert (ratio < 1).all()


def test_a_row_that_is_masked_throughout_gets_nothing_and_finite_gradients():
    z = torch.full((2, 3), -torch.inf, dtype=torch.float64)
    z[0, 0] = 0
    z.requires_grad_()
    weights = softmax_plus_one(z)
    assert weights.tolist() == [[0.5, 0, 0], [0, 0, 0]]
    weights.square().sum().backward()
    assert z.grad.isfinite().all()


@pytest.mark.parametrize(("leading", "n", "m", "d_k", "d_v"), [((), 1, 1, 1, 1), ((2,), 5, 7, 4, 3), ((2, 3), 1, 4, 2, 2)])
@pytest.mark.parametrize("scale", [None, 1.0])
def test_both_forms_of_attention_agree_with_a_loop(leading, n, m, d_k, d_v, scale):
    query, key, value = random(3, (*leading, n, d_k), (*leading, m, d_k), (*leading, m, d_v))
    factor = d_k**-0.5 if scale is None else scale
    e = (torch.einsum("...nk,...mk->...nm", query, key) * factor).exp()
    expected = torch.einsum("...nm,...mv->...nv", e, value) / (1 + e.sum(-1, keepdim=True))
    torch.testing.assert_close(attention_or_nothing(query, key, value, scale=scale), expected)
    torch.testing.assert_close(attention_with_zero_key(query, key, value, scale=scale), expected)


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_softmax_plus_one_agrees_with_the_option_of_pytorchs_layer(heads):
    layer = nn.MultiheadAttention(8, heads, batch_first=True, add_zero_attn=True, dtype=torch.float64)
    x, context = random(4, (2, 5, 8), (2, 7, 8))
    nn.init.normal_(layer.in_proj_bias, generator=torch.Generator().manual_seed(0))  # the extra key is zero all the same
    parts = [
        (tensor @ W.T + b).unflatten(-1, (heads, -1)).transpose(1, 2)
        for tensor, W, b in zip((x, context, context), layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3))
    ]
    combined = attention_or_nothing(*parts).transpose(1, 2).flatten(2)
    torch.testing.assert_close(layer.out_proj(combined), layer(x, context, context)[0])


def test_mismatched_shapes_are_refused():
    with pytest.raises((ValueError, RuntimeError)):
        attention_or_nothing(torch.zeros(3, 4), torch.zeros(5, 6), torch.zeros(5, 2))
    with pytest.raises((ValueError, RuntimeError)):
        attention_with_zero_key(torch.zeros(3, 4), torch.zeros(5, 4), torch.zeros(6, 2))


def test_sinks_are_laid_on_heads_and_not_on_queries():
    """As many queries as heads, so that a wrong axis would not be refused; as in gpt-oss, they stand beside the scores of their head."""
    z, sink = random(5, (2, 3, 3, 7), (3,))
    beside = torch.cat([z, sink.reshape(1, -1, 1, 1).expand(2, -1, 3, 1)], dim=-1)
    torch.testing.assert_close(softmax_with_sink(z, sink), beside.softmax(-1)[..., :-1])


def test_masked_keys_get_no_weight():
    query, key, value = random(6, (2, 5, 4), (2, 7, 4), (2, 7, 3))
    keep = torch.arange(7) < 4
    expected = attention_or_nothing(query, key[:, :4], value[:, :4])
    torch.testing.assert_close(attention_or_nothing(query, key, value, attn_mask=keep), expected)
    assert attention_or_nothing(query, key, value, attn_mask=keep & False).eq(0).all()
    first = attention_or_nothing(query, key, value, is_causal=True)[:, :1]
    torch.testing.assert_close(first, attention_or_nothing(query[:, :1], key[:, :1], value[:, :1]))


def test_the_weights_have_the_format_of_the_scores():
    scores, sink = torch.zeros(2, 3, dtype=torch.bfloat16), torch.zeros(())
    assert softmax_with_sink(scores, sink).dtype == torch.bfloat16


# What the page says


def test_numbers_in_the_text():
    ten = softmax_plus_one(torch.zeros(10, dtype=torch.float64))
    torch.testing.assert_close(ten, torch.full_like(ten, 1 / 11))
    level = -torch.tensor(10.0, dtype=torch.float64).log()
    assert f"{level:.1f}" == "-2.3"
    assert softmax_plus_one(level.expand(10)).sum().item() == pytest.approx(0.5)
