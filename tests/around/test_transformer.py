"""The block against PyTorch's encoder layer, the counts against its parameters and operations, and each part on tokens."""

from fractions import Fraction

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from snippets.around.transformer import block_parameters, embed, encoder_block, feed_forward, linear_share, multi_head, one_hot


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
def test_the_block_is_pytorchs_layer_weight_for_weight(batch, n, d, heads, d_f, norm_first):
    layer, X = theirs(d, heads, d_f, norm_first), draw(1, batch, n, d)
    ours = encoder_block(X, layer.state_dict(), heads, norm_first)
    assert ours.shape == X.shape
    if batch:
        torch.testing.assert_close(ours, layer(X))


def test_stacked_blocks_are_pytorchs_encoder():
    layer, X = theirs(8, 2, 16), draw(2, 2, 5, 8)
    encoder = torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
    ours = X
    for one in encoder.layers:
        ours = encoder_block(ours, one.state_dict(), heads=2)
    torch.testing.assert_close(ours, encoder(X))


def test_heads_that_do_not_divide_the_width_are_refused():
    weights = theirs(8, 2, 16).state_dict()
    with pytest.raises(ValueError, match=r"3 heads do not divide the 8 features of X \(5, 8\); expected a multiple"):
        multi_head(draw(3, 5, 8), weights, heads=3)
    with pytest.raises(ValueError, match=r"d is 6 in X \(5, 6\) but 8 in norm1.weight \(8,\)"):
        encoder_block(draw(3, 5, 6), weights, heads=2)


def test_the_feed_forward_layer_takes_every_token_alone():
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
        torch.testing.assert_close(encoder_block(X[order], weights, 2), encoder_block(X, weights, 2)[order])


@pytest.mark.parametrize("shape", [(4,), (2, 3), (0, 5)])
def test_the_embedding_is_a_product_with_one_hot_rows(shape):
    token = torch.randint(10, shape, generator=torch.Generator().manual_seed(6))
    table = draw(7, 10, 3)
    assert one_hot(token, 10).sum(-1).eq(1).all()
    assert torch.equal(embed(token, table), one_hot(token, 10).double() @ table)
    assert torch.equal(embed(token, table), torch.nn.Embedding.from_pretrained(table)(token))


def test_embed_refuses_what_is_no_table():
    with pytest.raises(ValueError, match=r"table \(3,\) has too few axes"):
        embed(torch.tensor([0]), torch.zeros(3))


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
