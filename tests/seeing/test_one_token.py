"""The steps of a token on its way through an encoder, and the stored numbers of the token "it"."""

import torch

from snippets.around.transformer import encoder_block, multi_head
from snippets.seeing.atlas import LAYER, read_atlas, stored_atlas
from snippets.seeing.measure import ORDERS
from snippets.seeing.one_token import (
    BlockSteps,
    OneToken,
    Order,
    block_steps,
    cosine_table,
    head_writes,
    shares_of_sum,
    stored_order,
    stored_token,
)
from tests.seeing.test_measure import HEADS, D, draw, small_encoder

GELU = {"activation": torch.nn.functional.gelu}


def test_the_steps_of_a_block_end_with_the_block_s_output():
    encoder, X = small_encoder(), draw(5, D, seed=1)
    steps = block_steps(encoder, X, block=1)
    assert isinstance(steps, BlockSteps) and steps.before is X
    torch.testing.assert_close(steps.after, encoder_block(X, encoder.blocks[1], num_heads=HEADS, eps=encoder.eps, **GELU))
    torch.testing.assert_close(steps.first_sum, X + steps.attention)
    torch.testing.assert_close(steps.second_sum, steps.first_norm + steps.feed_forward)


def test_the_writes_of_heads_and_the_bias_are_what_attention_adds():
    encoder, X = small_encoder(), draw(5, D, seed=1)
    parts = head_writes(encoder, X, block=1)
    assert parts.shape == (HEADS + 1, 5, D)
    torch.testing.assert_close(parts.sum(0), multi_head(X, encoder.blocks[1], num_heads=HEADS))
    torch.testing.assert_close(parts[-1, 2], encoder.blocks[1]["self_attn.out_proj.bias"])


def test_shares_of_a_sum_on_paper():
    parts = torch.tensor([[3.0, 0], [0, 4], [0, 0]])  # the sum (3, 4) has the squared length 25
    torch.testing.assert_close(shares_of_sum(parts), torch.tensor([9 / 25, 16 / 25, 0]))
    torch.testing.assert_close(shares_of_sum(draw(6, 4, seed=0)).sum(), torch.tensor(1.0).double())


def test_cosines_of_rows():
    rows = torch.tensor([[1.0, 0], [3, 4], [-2, 0]])
    torch.testing.assert_close(cosine_table(rows), torch.tensor([[1, 0.6, -1], [0.6, 1, -0.6], [-1, -0.6, 1]]))


def test_the_stored_numbers_of_a_token_fit_together():
    it = stored_token()
    assert isinstance(it, OneToken) and it.lengths.shape == (6, 7) and it.shares.shape == (13,)
    torch.testing.assert_close(it.lengths[1:, 0], it.lengths[:-1, -1])  # a block begins where the one before it ended
    before, attention, total, norm, feed_forward, second, _ = it.features
    torch.testing.assert_close(before + attention, total, atol=3e-4, rtol=0)  # the stored numbers are rounded
    torch.testing.assert_close(norm + feed_forward, second, atol=3e-4, rtol=0)
    assert it.cosines[0] == 1 and LAYER == 3
    torch.testing.assert_close(it.shares.sum(), torch.tensor(1.0).double(), atol=1e-3, rtol=0)


def test_the_stored_order_has_cosines_and_weights():
    order = stored_order()
    n = len(stored_atlas().tokens)
    assert isinstance(order, Order) and order.cosines.shape == (n, n) and order.shuffled.shape == (ORDERS, 2)
    assert torch.equal(order.cosines, order.cosines.T) and (order.cosines.diagonal() == 1).all()
    assert order.shuffled.min() >= 0 and order.shuffled.sum(-1).max() <= 1


def test_the_stored_numbers_are_small():
    found = read_atlas()
    assert sum(len(str(found[name])) for name in ("token", "order")) < 8_000
