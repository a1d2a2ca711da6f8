"""Test the layer against PyTorch's layer of the same weights: masks, widths, biases, and common mistakes."""

import math

import pytest
import torch
from torch import nn

from snippets.attention.formula import scores
from snippets.heads.module import MisnamedAttention, MultiHeadAttention, from_pytorch, one_head, swap_names, weights_of_heads
from snippets.inference.cache import KeyValueCache
from snippets.order.positions import frequencies
from snippets.order.rotary import apply_rotary, find_rotation


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def theirs(d=12, heads=3, seed=0, **options):
    layer = nn.MultiheadAttention(d, heads, batch_first=True, dtype=torch.float64, **options)
    generator = torch.Generator().manual_seed(seed)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, generator=generator)
    return layer


def ours(d=12, heads=3, seed=0, kind=MultiHeadAttention, **options):
    layer = kind(d, heads, **options).to(torch.float64)
    generator = torch.Generator().manual_seed(seed)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, generator=generator)
    return layer


def by_hand(layer, x, context):
    """The layer as a loop over the batch, the heads and the queries."""
    d_k = layer.query.out_features // layer.num_heads
    output = torch.zeros_like(x)
    for b in range(len(x)):
        query, key, value = layer.query(x[b]), layer.key(context[b]), layer.value(context[b])
        parts = []
        for h in range(layer.num_heads):
            columns = slice(h * d_k, (h + 1) * d_k)
            rows = []
            for q in query[:, columns]:
                e = torch.stack([torch.dot(q, k) / math.sqrt(d_k) for k in key[:, columns]]).exp()
                rows.append(e @ value[:, columns] / e.sum())
            parts.append(torch.stack(rows))
        output[b] = layer.output(torch.cat(parts, dim=-1))
    return output


@pytest.mark.parametrize(("batch", "n", "m", "d", "heads"), [(1, 1, 1, 1, 1), (2, 3, 5, 6, 3), (1, 4, 2, 4, 4), (2, 5, 1, 6, 1)])
def test_layer_agrees_with_a_loop_over_heads(batch, n, m, d, heads):
    layer, (x, context) = ours(d, heads), random(0, (batch, n, d), (batch, m, d))
    torch.testing.assert_close(layer(x, context=context), by_hand(layer, x, context))
    torch.testing.assert_close(layer(x), by_hand(layer, x, x))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("heads", [1, 3, 12])
def test_layer_agrees_with_pytorchs_layer_of_the_same_weights(bias, need_weights, heads):
    layer, (x, context) = theirs(heads=heads, bias=bias), random(1, (2, 5, 12), (2, 7, 12))
    copy = from_pytorch(layer)
    output, weights = layer(x, context, context, need_weights=need_weights, average_attn_weights=False)
    torch.testing.assert_close(copy(x, context=context), output)
    torch.testing.assert_close(copy(x), layer(x, x, x, need_weights=need_weights)[0])
    if need_weights:
        torch.testing.assert_close(copy.weights(x, context=context), weights)
        mask, causal = torch.arange(7) < 4, torch.ones(5, 5, dtype=torch.bool).tril()
        torch.testing.assert_close(
            copy.weights(x, context=context, attn_mask=mask), copy.weights(x, context=context, attn_mask=torch.where(mask, 0.0, -torch.inf))
        )
        assert (
            copy.weights(x, context=context, attn_mask=mask)[..., 4:].eq(0).all()
            and copy.weights(x, context=context, attn_mask=mask)[..., :4].gt(0).all()
        )
        torch.testing.assert_close(copy.weights(x, is_causal=True), layer(x, x, x, attn_mask=~causal, average_attn_weights=False)[1])
    assert sum(p.numel() for p in copy.parameters()) == sum(p.numel() for p in layer.parameters())


def test_the_copy_holds_each_weight_in_its_place():
    layer = theirs()
    copy = from_pytorch(layer)
    torch.testing.assert_close(torch.cat([copy.query.weight, copy.key.weight, copy.value.weight]), layer.in_proj_weight)
    torch.testing.assert_close(torch.cat([copy.query.bias, copy.key.bias, copy.value.bias]), layer.in_proj_bias)
    assert copy.output.weight.equal(layer.out_proj.weight) and copy.output.bias.equal(layer.out_proj.bias)
    assert copy.query.weight.data_ptr() != layer.in_proj_weight.data_ptr()
    assert not from_pytorch(layer.eval()).training


@pytest.mark.parametrize("need_weights", [True, False])
def test_masks_mean_the_opposite_of_pytorchs(need_weights):
    layer, (x, context) = theirs(), random(2, (2, 5, 12), (2, 7, 12))
    copy, generator = from_pytorch(layer), torch.Generator().manual_seed(0)
    keep = torch.rand(2, 3, 5, 7, generator=generator) < 0.6
    keep[..., 0] = True
    asked = dict(need_weights=need_weights)
    torch.testing.assert_close(
        copy(x, context=context, attn_mask=keep[0, 0]), layer(x, context, context, attn_mask=~keep[0, 0], **asked)[0]
    )
    torch.testing.assert_close(
        copy(x, context=context, attn_mask=keep), layer(x, context, context, attn_mask=~keep.flatten(0, 1), **asked)[0]
    )
    padding = keep[:, 0, 0]  # (batch, m)
    expected = layer(x, context, context, key_padding_mask=~padding, **asked)[0]
    torch.testing.assert_close(copy(x, context=context, attn_mask=padding[:, None, None]), expected)
    added = torch.randn(5, 7, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(copy(x, context=context, attn_mask=added), layer(x, context, context, attn_mask=added, **asked)[0])
    causal = torch.ones(5, 5, dtype=torch.bool).triu(1)
    torch.testing.assert_close(copy(x, is_causal=True), layer(x, x, x, attn_mask=causal, is_causal=True, **asked)[0])


def test_a_query_without_any_key_gets_the_bias_of_the_output():
    layer, (x,) = theirs(), random(3, (1, 2, 12))
    keep = torch.tensor([[True, True], [False, False]])
    output = from_pytorch(layer)(x, attn_mask=keep)
    torch.testing.assert_close(output[0, 1], layer.out_proj.bias)
    torch.testing.assert_close(output, layer(x, x, x, attn_mask=~keep, need_weights=False)[0])
    assert layer(x, x, x, attn_mask=~keep, need_weights=True)[0][0, 1].isnan().all()


def test_a_masked_key_is_as_good_as_none_however_low_the_other_scores():
    layer, (x, context) = ours(), random(4, (2, 5, 12), (2, 7, 12))
    keep = torch.tensor([True] * 4 + [False] * 3)
    for size in (1, 1e4):  # scores far below -10000 among them
        torch.testing.assert_close(layer(size * x, context=context, attn_mask=keep), layer(size * x, context=context[:, :4]))
    assert (scores(layer.query(1e4 * x), layer.key(context)) < -2e4).any()


@torch.no_grad()
def test_the_sizes_of_the_source():
    layer = MultiHeadAttention(512, 8)
    assert layer(torch.zeros(128, 64, 512)).shape == (128, 64, 512)
    x, context = (tensor.float() for tensor in random(5, (2, 64, 512), (2, 10, 512)))
    assert layer(x).shape == layer(x, context=context).shape == (2, 64, 512)
    assert layer.weights(x, context=context).shape == (2, 8, 64, 10)
    assert sum(p.numel() for p in layer.parameters()) == 4 * 512**2 + 4 * 512


def test_an_empty_batch_and_leading_axes():
    layer = ours()
    assert layer(torch.zeros(0, 5, 12, dtype=torch.float64)).shape == (0, 5, 12)
    x, context = random(6, (2, 3, 5, 12), (2, 3, 7, 12))
    torch.testing.assert_close(layer(x, context=context)[1, 2], layer(x[1, 2], context=context[1, 2]))


def test_dropout_is_on_weights_and_output_and_only_in_training():
    layer, (x,) = ours(dropout=0.5, output_dropout=0.5), random(7, (2, 5, 12))
    torch.testing.assert_close(layer.eval()(x), by_hand(layer, x, x))
    torch.manual_seed(0)
    output = layer.train()(x)
    assert 0.3 < output.eq(0).double().mean() < 0.7  # of the output, half is dropped
    layer.output = nn.Identity()
    layer.value = nn.Linear(12, 12).to(x)
    layer.value.weight.data.zero_()
    layer.value.bias.data.fill_(1)  # each output is then the sum of the weights kept, doubled, and half of these doubled again
    kept = layer.train()(x)
    sums = kept[kept != 0]
    assert sums.std() > 0.1 and not layer.eval()(x).sub(1).abs().max() > 1e-12


@pytest.mark.parametrize(("d", "heads"), [(12, 5), (12, 0), (12, -3), (4, 8)])
def test_heads_that_do_not_divide_the_width_are_refused(d, heads):
    with pytest.raises(ValueError, match=f"{heads} heads do not divide the width {d}"):
        MultiHeadAttention(d, heads)


@pytest.mark.parametrize("options", [{"kdim": 5, "vdim": 5}, {"add_bias_kv": True}, {"add_zero_attn": True}])
def test_layers_of_pytorch_that_do_more_are_refused(options):
    with pytest.raises(ValueError, match="expected a layer with one width, without bias_k, bias_v and add_zero_attn"):
        from_pytorch(theirs(**options))


@pytest.mark.parametrize("n", [2, 5])
def test_a_layer_that_takes_its_tokens_first_is_refused(n):
    """Its batch is our sequence: with as many of both, nothing else would say so."""
    layer = nn.MultiheadAttention(12, 3, dtype=torch.float64)
    with pytest.raises(ValueError, match="expected a layer with `batch_first=True`"):
        from_pytorch(layer)
    layer.batch_first = True
    (x,) = random(13, (2, n, 12))
    torch.testing.assert_close(from_pytorch(layer)(x), layer(x, x, x)[0])


def test_dropout_agrees_with_pytorch():
    layer, (x,) = theirs(dropout=0.4), random(14, (2, 5, 12))
    copy = from_pytorch(layer)
    results = []
    for one in (lambda: copy.train()(x), lambda: layer.train()(x, x, x)[0]):
        torch.manual_seed(0)
        results.append(one())
    torch.testing.assert_close(*results)
    assert not torch.allclose(results[0], copy.eval()(x))


def test_the_weights_alone_need_no_values():
    layer, (x,) = ours(), random(15, (2, 5, 12))
    expected = layer.weights(x)
    layer.value = layer.output = None
    assert layer.weights(x).equal(expected)


def test_one_head_agrees_with_pytorchs_attention():
    X, Z, W_Q, W_K, W_V = random(8, (2, 5, 6), (2, 7, 6), (6, 3), (6, 3), (6, 4))
    expected = nn.functional.scaled_dot_product_attention(X @ W_Q, Z @ W_K, Z @ W_V)
    torch.testing.assert_close(one_head(X, Z, W_Q, W_K, W_V), expected)


# The slips


def test_swapped_names_are_the_same_layer_with_its_parameters_swapped():
    right, (x, context) = ours(), random(9, (2, 5, 12), (2, 7, 12))
    wrong = ours(kind=MisnamedAttention)  # the same numbers under the same names
    assert all(a.equal(b) for a, b in zip(right.parameters(), wrong.parameters()))
    assert not torch.allclose(wrong(x, context=context), right(x, context=context))
    wrong.load_state_dict(swap_names(right.state_dict()))
    torch.testing.assert_close(wrong(x, context=context), right(x, context=context))
    assert swap_names(swap_names(right.state_dict())).keys() == right.state_dict().keys()


def test_training_from_swapped_parameters_stays_the_same():
    right, wrong, (x, target) = ours(), MisnamedAttention(12, 3).to(torch.float64), random(10, (2, 5, 12), (2, 5, 12))
    wrong.load_state_dict(swap_names(right.state_dict()))
    for _ in range(5):
        for layer in (right, wrong):
            layer.zero_grad()
            (layer(x) - target).square().mean().backward()
            with torch.no_grad():
                for parameter in layer.parameters():
                    parameter -= 0.1 * parameter.grad
    torch.testing.assert_close(wrong(x), right(x))
    torch.testing.assert_close(wrong.key.weight, right.query.weight)


def test_the_scale_of_the_whole_width_makes_scores_too_small_by_the_root_of_the_heads():
    query, key = random(11, (8, 2000, 16), (8, 2000, 16))  # 8 heads of width 16
    right, wrong = scores(query, key), scores(query, key, scale=(8 * 16) ** -0.5)
    torch.testing.assert_close(wrong, right / 8**0.5)
    assert right.var().item() == pytest.approx(1, rel=0.05) and wrong.var().item() == pytest.approx(1 / 8, rel=0.05)


@pytest.mark.parametrize("heads", [1, 2, 4, 12])
def test_no_number_of_heads_recovers_the_order(heads):
    layer, (x,) = ours(heads=heads), random(12, (2, 6, 12))
    order = torch.randperm(6, generator=torch.Generator().manual_seed(1))
    assert order.tolist() != list(range(6))
    torch.testing.assert_close(layer(x[:, order]), layer(x)[:, order])
    torch.testing.assert_close(layer(x, context=x[:, order]), layer(x))  # for queries of their own, the order of the context is nothing
    assert not torch.allclose(layer(x[:, order], is_causal=True), layer(x, is_causal=True)[:, order])


def test_numbers_in_the_text():
    assert f"{512**0.5:.1f} {(512 // 8) ** 0.5:g} {512 // 8}" == "22.6 8 64"


# Shared heads, widths of their own, rotation and a cache


def test_shared_heads_are_repeated_heads_of_a_width_of_their_own():
    layer, (x,) = ours(heads=4, num_kv_heads=2, d_k=5, bias=False), random(8, (2, 6, 12))
    query, key, value = (getattr(layer, name)(x).unflatten(-1, (-1, 5)).transpose(1, 2) for name in ("query", "key", "value"))
    assert query.shape[1] == 4 and key.shape[1] == 2
    mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
    torch.testing.assert_close(layer(x, is_causal=True), layer.output(mixed.transpose(1, 2).flatten(-2)))


@pytest.mark.parametrize("kv_heads", [0, 3])
def test_heads_of_keys_divide_those_of_queries(kv_heads):
    with pytest.raises(ValueError, match=f"{kv_heads} heads of keys do not divide 4 of queries"):
        MultiHeadAttention(12, 4, num_kv_heads=kv_heads)


def test_format_and_device_are_those_that_are_asked_for():
    layer = MultiHeadAttention(8, 2, dtype=torch.bfloat16, device="meta")
    assert {(parameter.dtype, parameter.device.type) for parameter in layer.parameters()} == {(torch.bfloat16, "meta")}


def test_queries_and_keys_are_rotated_and_values_are_not():
    layer, (x,) = ours(d=8, heads=2), random(9, (2, 6, 8))
    place = torch.arange(3, 9)
    rotation = find_rotation(place, frequencies(4, dtype=torch.float64))
    query, key, value = (getattr(layer, name)(x).unflatten(-1, (2, 4)).transpose(1, 2) for name in ("query", "key", "value"))
    weights = scores(apply_rotary(query, place), apply_rotary(key, place)).softmax(-1)
    torch.testing.assert_close(layer.weights(x, rotation=rotation), weights)
    torch.testing.assert_close(layer(x, rotation=rotation), layer.output((weights @ value).transpose(1, 2).flatten(-2)))


@pytest.mark.parametrize("shape", [(2, 6), (1,), (5,)])
def test_a_rotation_with_other_axes_is_rejected(shape):
    """A batch of as many texts as heads, and other numbers of tokens."""
    layer, (x,) = ours(d=8, heads=2), random(12, (2, 6, 8))
    rotation = find_rotation(torch.zeros(shape), frequencies(4, dtype=torch.float64))
    for call in (layer, layer.weights):
        with pytest.raises(ValueError, match=r"expected \(6, 2\), or before it an axis for each"):
            call(x, rotation=rotation)


@pytest.mark.parametrize("parts", [[7], [4, 1, 2], [1] * 7])
def test_with_a_cache_the_outputs_are_those_of_all_tokens_at_once(parts):
    layer, (x,) = ours(heads=4, num_kv_heads=2).requires_grad_(False), random(10, (2, 7, 12))
    cache = KeyValueCache(capacity=7)
    found = [layer(part, is_causal=True, cache=cache) for part in x.split(parts, dim=1)]
    torch.testing.assert_close(torch.cat(found, dim=1), layer(x, is_causal=True))
    assert cache.key.shape == (2, 2, 7, 3)


def test_a_mask_without_an_axis_for_the_heads_is_rejected():
    query, key = random(11, (2, 4, 3, 2), (2, 4, 5, 2))
    with pytest.raises(ValueError, match=r"attn_mask is \(2, 3, 5\), which has no axis for the heads; expected \(n, m\) or \(2, 1, 3, 5\)"):
        weights_of_heads(query, key, attn_mask=torch.ones(2, 3, 5, dtype=torch.bool), is_causal=False)
