"""Test the block against PyTorch's encoder layer, the counts of parameters and operations, and each part on tokens."""

from fractions import Fraction

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from snippets.around.transformer import (
    block_parameters,
    embed,
    encoder_arguments,
    encoder_block,
    feed_forward,
    linear_share,
    multi_head,
    one_hot,
)


def draw(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def theirs(d, heads, d_f, norm_first=False):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(d, heads, d_f, dropout=0, batch_first=True, norm_first=norm_first, dtype=torch.float64)
        for parameter in layer.parameters():  # biases start at zero and gains at one
            torch.nn.init.normal_(parameter, std=0.5)
    return layer


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize(("batch", "n", "d", "heads", "d_f"), [(2, 5, 8, 2, 32), (1, 1, 4, 4, 3), (3, 2, 6, 1, 1), (0, 3, 4, 2, 5)])
def test_block_agrees_with_pytorchs_layer_of_the_same_weights(batch, n, d, heads, d_f, norm_first):
    layer, X = theirs(d, heads, d_f, norm_first), draw(1, batch, n, d)
    ours = encoder_block(X, layer.state_dict(), num_heads=heads, norm_first=norm_first)
    assert ours.shape == X.shape
    if batch:
        torch.testing.assert_close(ours, layer(X))


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu", torch.nn.functional.silu])
@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_arguments_cover_all_options_beyond_the_weights(norm_first, activation, eps):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        options = dict(dropout=0.0, batch_first=True, dtype=torch.float64)
        layer = torch.nn.TransformerEncoderLayer(8, 2, 32, norm_first=norm_first, activation=activation, layer_norm_eps=eps, **options)
    X = 4 * draw(9, 2, 5, 8)
    torch.testing.assert_close(encoder_block(X, **encoder_arguments(layer)), layer(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_first": False}, "expected a layer with `batch_first=True`"),
        ({"bias": False}, "expected a layer with biases"),
        ({"dropout": 0.1}, "expected a layer with no dropout, or in eval mode"),
    ],
)
def test_unsupported_layer_is_rejected(options, message):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 32, **{"dropout": 0.0, "batch_first": True} | options)
    with pytest.raises(ValueError, match=message):
        encoder_arguments(layer)


def test_different_eps_are_rejected_and_inactive_dropout_is_accepted():
    layer = torch.nn.TransformerEncoderLayer(8, 2, 32, batch_first=True).eval()
    X = draw(10, 2, 5, 8).float()
    torch.testing.assert_close(encoder_block(X, **encoder_arguments(layer)), layer(X), atol=1e-5, rtol=1e-5)
    layer.norm2.eps = 0.1
    with pytest.raises(ValueError, match="expected a layer with one eps"):
        encoder_arguments(layer)


def test_large_activations_are_not_clipped():
    """Numbers above 6 pass through, which a ReLU6 would cut off."""
    layer, X = theirs(4, 2, 8), 20 * draw(11, 5, 4)
    hidden = layer.linear1(X)
    assert hidden.max() > 12
    torch.testing.assert_close(feed_forward(X, layer.state_dict()), layer.linear2(hidden.relu()))


def test_stacked_blocks_are_pytorchs_encoder():
    layer, X = theirs(8, 2, 16), draw(2, 2, 5, 8)
    encoder = torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
    ours = X
    for one in encoder.layers:
        ours = encoder_block(ours, one.state_dict(), num_heads=2)
    torch.testing.assert_close(ours, encoder(X))


def test_heads_that_do_not_divide_the_width_are_refused():
    weights = theirs(8, 2, 16).state_dict()
    with pytest.raises(ValueError, match=r"3 heads do not divide the 8 features"):
        multi_head(draw(3, 5, 8), weights, num_heads=3)
    with pytest.raises(ValueError, match="X has 1 features; the weights have 8"):
        encoder_block(draw(3, 5, 1), weights, num_heads=2, norm_first=True)


def test_feed_forward_layer_treats_tokens_independently():
    layer, X = theirs(6, 2, 9), draw(4, 5, 6)
    together = feed_forward(X, layer.state_dict())
    torch.testing.assert_close(together, torch.stack([layer.linear2(layer.linear1(x).relu()) for x in X]))
    jacobian = torch.autograd.functional.jacobian(lambda X: feed_forward(X, layer.state_dict()), X)  # (5, 6, 5, 6)
    off = ~torch.eye(5, dtype=torch.bool)
    assert not jacobian.transpose(1, 2)[off].any() and jacobian.transpose(1, 2)[~off].any()


def test_the_block_commutes_with_every_order():
    weights, X = theirs(4, 2, 8).state_dict(), draw(5, 4, 4)
    for seed in range(5):
        order = torch.randperm(4, generator=torch.Generator().manual_seed(seed))
        torch.testing.assert_close(encoder_block(X[order], weights, num_heads=2), encoder_block(X, weights, num_heads=2)[order])


@pytest.mark.parametrize("shape", [(4,), (2, 3), (0, 5)])
def test_the_embedding_is_a_product_with_one_hot_rows(shape):
    token = torch.randint(10, shape, generator=torch.Generator().manual_seed(6))
    table = draw(7, 10, 3)
    assert one_hot(token, vocabulary=10).sum(-1).eq(1).all()
    assert torch.equal(embed(token, table), one_hot(token, vocabulary=10).double() @ table)
    assert torch.equal(embed(token, table), torch.nn.Embedding.from_pretrained(table)(token))


@pytest.mark.parametrize(("d", "d_f"), [(1, 1), (8, 32), (12, 5), (768, 3072)])
def test_the_parameters_are_those_of_pytorch(d, d_f):
    with torch.device("meta"):
        layer = torch.nn.TransformerEncoderLayer(d, 1, d_f)
    assert block_parameters(d, d_f) == sum(parameter.numel() for parameter in layer.parameters())


@pytest.mark.parametrize(("n", "d"), [(3, 4), (24, 4), (50, 2)])
def test_the_share_of_the_linear_layers_is_that_of_pytorchs_operations(n, d):
    layer = theirs(d, 1, 4 * d).train()  # in training, the path without fused kernels
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        layer(draw(8, 1, n, d))
    operations = counter.get_flop_counts()["Global"]
    batched = sum(count for name, count in operations.items() if "bmm" in str(name))
    assert linear_share(n, d) == pytest.approx(1 - batched / sum(operations.values()))


def test_attending_costs_half_where_the_sequence_is_six_widths_long():
    assert linear_share(6 * 768, 768) == 0.5
    assert linear_share(1, 1) == float(Fraction(12, 14))


def test_token_outside_the_table_is_rejected():
    table = draw(12, 10, 4)
    for wrong in (-1, 10):
        token = torch.tensor([3, wrong])
        with pytest.raises(IndexError):
            embed(token, table)
        with pytest.raises(RuntimeError):
            one_hot(token, vocabulary=10)
    assert one_hot(torch.tensor([1]), vocabulary=2, dtype=torch.float16).dtype == torch.float16


def test_gradients_reach_the_layer_whose_weights_are_taken():
    layer, X = theirs(8, 2, 16), draw(13, 2, 5, 8)
    ours = torch.autograd.grad(encoder_block(X, **encoder_arguments(layer)).square().sum(), list(layer.parameters()))
    expected = torch.autograd.grad(layer(X).square().sum(), list(layer.parameters()))
    torch.testing.assert_close(ours, expected)


def test_error_names_all_unsupported_options():
    with pytest.raises(ValueError, match="a layer with `batch_first=True`, no dropout, or in eval mode"):
        encoder_arguments(torch.nn.TransformerEncoderLayer(8, 2, 32))


def test_numbers_in_the_text():
    assert block_parameters(768, 3072) == 7_087_872
    assert round(linear_share(768, 768), 2) == 0.86 and linear_share(4608, 768) == 0.5


def test_zero_output_matrices_make_a_pre_norm_block_the_identity_and_get_the_only_gradients():
    last = ("self_attn.out_proj", "linear2")
    weights = {name: one.clone() for name, one in theirs(8, 2, 16, norm_first=True).state_dict().items()}
    for name, weight in weights.items():
        if name.rsplit(".", 1)[0] in last:
            weight.zero_()
        weight.requires_grad_()
    X = draw(14, 2, 5, 8)
    Y = encoder_block(X, weights, num_heads=2, norm_first=True)
    assert torch.equal(Y, X)
    (Y * draw(15, 2, 5, 8)).sum().backward()
    moved = {name.rsplit(".", 1)[0] for name, weight in weights.items() if weight.grad is not None and weight.grad.any()}
    assert moved == set(last)


@pytest.mark.parametrize("place", ["dropout", "dropout1", "dropout2", "self_attn"])
def test_dropout_in_any_place_is_refused_in_training(place):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    encoder_arguments(layer)
    part = getattr(layer, place)
    setattr(part, "dropout" if place == "self_attn" else "p", 0.1)
    with pytest.raises(ValueError, match="expected a layer with no dropout, or in eval mode"):
        encoder_arguments(layer)
    encoder_arguments(layer.eval())
