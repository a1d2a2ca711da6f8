"""Test what users of attention code have reported as bugs: numbers at length and at scale, masks and positions of ambiguous shapes, caches."""

import io

import pytest
import torch
from torch import nn
from torch.export import Dim, export
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.formula import attention, attention_2d, attention_by_einsum, attention_steps, scores, upcast
from snippets.blocks.merge import attention_in_blocks
from snippets.bounds.logn import logn_queries
from snippets.bounds.sinks import attention_with_sink
from snippets.heads.module import MultiHeadAttention
from snippets.inference.latent import LatentCache
from snippets.io.flash import flash_attention, square_attention
from snippets.io.split import attention_in_parts, merge_outputs
from snippets.layers.experts import mixture
from snippets.linear.attention import masked_product, running_state
from snippets.linear.delta import delta_rule
from snippets.linear.duality import chunked_linear_attention
from snippets.linear.gates import gated_product, gated_state
from snippets.order.causal import Cache
from snippets.order.rotary import apply_rotary, apply_rotary_interleaved
from snippets.positions.interpolation import interpolated_rotary
from snippets.positions.rope import apply_partial_rotary
from snippets.positions.yarn import apply_yarn
from snippets.predecessors.linear import causal_scan
from snippets.softmax.temperature import distillation_loss, softmax_with_temperature
from snippets.sparse.patterns import block_mask, top_k_attention
from snippets.sparse.window import rolling_attention, window_mask
from snippets.together.gpt import RMSNorm

HALVES = torch.float16, torch.bfloat16


def random(seed, *shapes, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]


# Half precision, at length and at scale


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("n", [1000, 4096])
def test_state_counts_beyond_256_tokens(n, dtype):
    x = torch.ones(n, 1, dtype=dtype)
    found = {
        "masked_product": masked_product(x, x, x),
        "running_state": running_state(x, x, x)[0],
        "gated_product": gated_product(x, x, x, x[:, 0]),
        "gated_state": gated_state(x, x, x, x),
        "chunked": chunked_linear_attention(x, x, x, x[:, 0], chunk=16),
    }
    assert {name: y[-1].item() for name, y in found.items()} == dict.fromkeys(found, n)


@pytest.mark.parametrize("dtype", HALVES)
def test_state_of_4096_tokens_is_as_exact_as_one_rounding(dtype):
    query, key, value, gate = random(0, (4096, 8), (4096, 8), (4096, 4), (4096,), dtype=dtype)
    query, key, gate = query.softmax(-1), key.softmax(-1), torch.sigmoid(gate + 8)
    wide = [x.double() for x in (query, key, value, gate)]
    for function in (
        lambda q, k, v, g: running_state(q, k, v)[0],
        lambda q, k, v, g: gated_state(q, k, v, g.unsqueeze(-1)),
        lambda q, k, v, g: delta_rule(q, k, v, g),
        lambda q, k, v, g: causal_scan(q, k, v),
    ):
        found, expected = function(query, key, value, gate), function(*wide)
        assert found.dtype == dtype
        torch.testing.assert_close(found.double(), expected, rtol=torch.finfo(dtype).eps, atol=1e-4)


def test_products_beyond_the_range_of_fp16():
    x = torch.full((1, 4), 200.0).half()
    head = x[None, :, None]  # (batch, n, heads, d)
    found = attention(x, x, x), attention_2d(x, x, x), attention_steps(x, x, x).output, attention_by_einsum(head, head, head)
    assert all(torch.equal(y.flatten(), x.flatten()) for y in found)
    assert scores(upcast(x), x).item() == 80000
    assert scores(x, x).isinf().item()  # the format of the query has no 80000


@pytest.mark.parametrize("dtype", HALVES)
def test_keys_are_chosen_by_scores_that_are_not_rounded(dtype):
    query = torch.full((1, 4), 300.0).to(dtype)
    key = torch.tensor([[300.0] * 4, [302.0] * 4]).to(dtype)
    value = torch.eye(2, dtype=dtype)
    assert top_k_attention(query, key, value, k=1).tolist() == [[0, 1]] == attention(query, key, value).tolist()
    assert block_mask(query, key, block_size=1, blocks=1).tolist() == [[False, True]]
    means = torch.tensor([[256.0], [256.0], [256.0], [258.0]]).to(dtype)  # bf16 has no 257
    assert block_mask(torch.ones(1, 1).to(dtype), means, block_size=2, blocks=1).tolist() == [[False, False, True, True]]
    wide = torch.tensor([[256.0], [257.0]])
    assert top_k_attention(torch.ones(1, 1).to(dtype), wide, torch.eye(2), k=1).tolist() == [[0, 1]]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("tau", [1e-5, 1e-3, 1.0, 1e4])
def test_temperatures_in_half_precision(dtype, tau):
    (z,) = random(1, (3, 5), dtype=dtype)
    found = softmax_with_temperature(z, tau=tau)
    torch.testing.assert_close(found, torch.softmax(z.double() / tau, -1).to(dtype))
    assert distillation_loss(z, z, tau=tau).isfinite().all()


@pytest.mark.parametrize("dtype", HALVES)
def test_gain_in_fp32_does_not_change_the_format(dtype):
    norm = RMSNorm(4)
    (x,) = random(2, (3, 4), dtype=dtype)
    nn.init.uniform_(norm.gain, 0.5, 1.5, generator=torch.Generator().manual_seed(0))
    assert norm(x).dtype == dtype
    torch.testing.assert_close(norm(x), (nn.functional.rms_norm(x.double(), (4,), eps=1e-5) * norm.gain).to(dtype))


def test_experts_are_chosen_by_logits_that_are_not_rounded():
    x, router = random(3, (2048, 64), (64, 8), dtype=torch.bfloat16)
    (experts,) = random(4, (8, 64, 1), dtype=torch.bfloat16)
    found, exact = mixture(x, router, experts, k=2), mixture(x.float(), router.float(), experts.float(), k=2)
    torch.testing.assert_close(found.float(), exact, rtol=0.02, atol=0.2)


# Ambiguous shapes


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_mask_without_an_axis_for_heads_is_rejected(heads):
    layer = MultiHeadAttention(4, num_heads=heads).double()
    (x,) = random(5, (2, 2, 4))
    mask = torch.tensor([[[True, False], [True, True]], [[True, True], [False, True]]])  # (batch, n, m)
    with pytest.raises(ValueError, match=r"attn_mask is \(2, 2, 2\), which has no axis for the heads; expected \(n, m\) or \(2, 1, 2, 2\)"):
        layer(x, attn_mask=mask)
    assert not torch.allclose(layer(x, attn_mask=mask[:, None]), layer(x))
    assert layer(x[0], attn_mask=mask[:1]).shape == (2, 4)  # without a batch, the first axis is that of the heads


ROTATIONS = {
    "halves": apply_rotary,
    "interleaved": apply_rotary_interleaved,
    "interpolated": lambda x, position, **how: interpolated_rotary(x, position, s=2.0, **how),
    "partial": lambda x, position, **how: apply_partial_rotary(x, position, width=2, **how),
    "yarn": lambda x, position, **how: apply_yarn(x, position, s=2.0, trained=16, **how),
}


@pytest.mark.parametrize("name", ROTATIONS)
def test_axis_of_the_tokens_can_be_chosen(name):
    rotate = ROTATIONS[name]
    (x,) = random(6, (3, 2, 2, 4))  # (b, n, h, d), with as many tokens as heads
    position = torch.arange(2)
    torch.testing.assert_close(rotate(x, position, token_axis=-3), rotate(x.transpose(1, 2), position).transpose(1, 2))
    own = torch.arange(6).view(3, 2)  # (b, n)
    torch.testing.assert_close(rotate(x, own[..., None], token_axis=-3), rotate(x.transpose(1, 2), own[:, None]).transpose(1, 2))


@pytest.mark.parametrize("name", ROTATIONS)
def test_positions_without_an_axis_for_heads_are_rejected(name):
    (x,) = random(7, (2, 2, 3, 4))  # (b, h, n, d), with as many texts as heads
    position = torch.arange(6).view(2, 3)
    with pytest.raises(ValueError, match=r"position is \(2, 3\) for x \(2, 2, 3, 4\); expected \(n\) or \(2, 1, 3\)"):
        ROTATIONS[name](x, position)
    found = ROTATIONS[name](x, position[:, None])
    torch.testing.assert_close(found[1], ROTATIONS[name](x[1], position[1]))


@pytest.mark.parametrize("name", ROTATIONS)
@pytest.mark.parametrize("dtype", HALVES)
def test_positions_in_half_precision_are_rejected(name, dtype):
    with pytest.raises(TypeError, match="expected integers, fp32 or fp64"):
        ROTATIONS[name](torch.ones(1, 4), torch.tensor([257.0]).to(dtype))


# Offsets: the queries are the last of the tokens


def test_last_token_sees_the_whole_context():
    layer = MultiHeadAttention(4, num_heads=2).double()
    (x,) = random(8, (2, 5, 4))
    for n in range(1, 6):
        torch.testing.assert_close(layer(x[:, -n:], context=x, is_causal=True), layer(x, is_causal=True)[:, -n:])


@pytest.mark.parametrize("past", [0, 1, 4])
@pytest.mark.parametrize("block_size", [1, 2, 8])
def test_flash_attention_with_earlier_tokens(past, block_size):
    query, key, value = random(9, (7, 4), (7, 4), (7, 3))
    found = flash_attention(query[past:], key, value, block_size=block_size, is_causal=True, offset=past)
    torch.testing.assert_close(found, scaled_dot_product_attention(query, key, value, is_causal=True)[past:])


def test_logn_scaling_with_earlier_tokens():
    (query,) = random(10, (8, 2))
    for past in range(8):
        torch.testing.assert_close(logn_queries(query[past:], trained_at=4, offset=past), logn_queries(query, trained_at=4)[past:])


@pytest.mark.parametrize("window", [1, 3, 9])
def test_window_with_earlier_tokens(window):
    whole = window_mask(6, window)
    for n in range(7):
        assert torch.equal(window_mask(n, window, m=6), whole[6 - n :])


@pytest.mark.parametrize("window", [1, 3, 9])
def test_rolling_cache_of_shared_heads(window):
    query, key, value = random(11, (2, 4, 7, 3), (2, 2, 7, 3), (2, 2, 7, 5))
    found = rolling_attention(query, key, value, window=window, enable_gqa=True)
    torch.testing.assert_close(found, attention(query, key, value, attn_mask=window_mask(7, window), enable_gqa=True))


# Rows without keys


def test_no_sink_and_no_key_give_zero():
    x = torch.ones(1, 2, 1, requires_grad=True)
    mask = torch.tensor([[True, True], [False, False]])
    found = attention_with_sink(x, x, x, sink=torch.tensor([-torch.inf]), attn_mask=mask)
    assert found.flatten().tolist() == [1, 0]
    found.sum().backward()
    assert x.grad.isfinite().all()


def test_merging_empty_parts_has_finite_gradients():
    outputs = torch.zeros(3, 1, 2, dtype=torch.float64, requires_grad=True)
    log_sums = torch.full((3, 1, 1), -torch.inf, dtype=torch.float64, requires_grad=True)
    output, log_sum = merge_outputs(outputs, log_sums)
    assert output.eq(0).all() and log_sum.item() == -torch.inf
    output.sum().backward()
    assert outputs.grad.isfinite().all() and log_sums.grad.isfinite().all()


def test_flash_attention_and_blocks_without_keys():
    query, key = torch.ones(3, 2), torch.ones(0, 2)
    assert flash_attention(query, key, key, block_size=2).eq(0).all() and attention(query, key, key).eq(0).all()
    assert attention_in_blocks(query, key, key, block_size=2).eq(0).all()
    assert attention_in_parts(query, key, key, parts=1).eq(0).all()


# Compilers and files


def test_positions_as_numbers_compile_twice_at_most():
    torch._dynamo.reset()
    step = torch.compile(lambda x, p: apply_rotary(x, p), backend="eager", fullgraph=True)
    x = torch.randn(1, 1, 1, 4, generator=torch.Generator().manual_seed(0))
    for position in range(12):
        torch.testing.assert_close(step(x, position), apply_rotary(x, position))
    torch._dynamo.reset()


class Step(nn.Module):
    """One step of decoding with shared heads."""

    def forward(self, query, key, new):
        key = torch.cat([key, new], -2)
        return attention(query, key, key, enable_gqa=True)


def test_step_with_shared_heads_can_be_exported():
    inputs = random(12, (2, 4, 1, 4), (2, 2, 5, 4), (2, 2, 1, 4))
    program = export(Step(), tuple(inputs), dynamic_shapes=(None, {2: Dim("past", min=2, max=64)}, None))
    query, key, new = random(13, (2, 4, 1, 4), (2, 2, 9, 4), (2, 2, 1, 4))
    torch.testing.assert_close(program.module()(query, key, new), Step()(query, key, new))


@pytest.mark.parametrize("kind", [Cache, LatentCache])
def test_saved_cache_can_be_loaded(kind):
    file, cache = io.BytesIO(), kind(*random(14, (2, 3), (2, 4)))
    torch.save(cache, file)
    file.seek(0)
    found = torch.load(file, weights_only=True)
    # A figure that was drawn in this process may have imported the module again, and registered a class of the same name.
    assert (type(found).__qualname__, found._fields) == (kind.__qualname__, kind._fields)
    assert all(torch.equal(*pair) for pair in zip(found, cache, strict=True))


# Sizes of zero, and batches of the values only


def test_products_by_square_tiles_without_features():
    query, key, value = random(15, (3, 0), (4, 0), (4, 2))
    torch.testing.assert_close(square_attention(query, key, value, side=2), value.mean(0).expand(3, 2))


@pytest.mark.parametrize("function", [attention_in_parts, attention_in_blocks, flash_attention])
def test_values_may_have_batches_that_queries_lack(function):
    query, key, value = random(16, (2, 3, 4), (2, 5, 4), (3, 2, 5, 6))
    how = {"parts": 2} if function is attention_in_parts else {"block_size": 2}
    torch.testing.assert_close(function(query, key, value, **how), attention(query, key, value))
