"""A block of the site's parts against PyTorch's, what its norms bound, and its parameters against published counts."""

import pytest
import torch
from torch.nn.functional import rms_norm, scaled_dot_product_attention, silu

from snippets.order.positions import frequencies
from snippets.order.rotary import apply_rotary, find_rotation
from snippets.serving.models import models
from snippets.together.block import (
    TABLES,
    BlockWeights,
    block_of_parts,
    model_parts,
    modern_block_parameters,
    norm_if_any,
    random_weights,
    stack_parameters,
)

SIZES = {"d": 16, "d_f": 24, "num_heads": 4, "num_kv_heads": 2, "d_k": 6}
HEADS = {"num_heads": 4, "num_kv_heads": 2, "rotation": find_rotation(torch.arange(5), frequencies(6).double())}


@pytest.fixture
def weights():
    return random_weights(**SIZES, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.fixture
def x():
    return torch.randn(3, 5, 16, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def published(weights, kind):
    if kind == "Llama":
        return weights._replace(query=None, key=None, after_1=None, after_2=None)
    if kind == "Qwen3":
        return weights._replace(after_1=None, after_2=None)
    return weights


@pytest.mark.parametrize("kind", ["Llama", "Qwen3", "sandwich"])
def test_the_block_is_that_of_pytorchs_functions(weights, x, kind):
    w = published(weights, kind)

    def norm(u, gain):
        return u if gain is None else rms_norm(u, u.shape[-1:], gain, eps=1e-6)

    read = norm(x, w.before_1)
    query, key, value = ((read @ W).unflatten(-1, (-1, 6)).transpose(1, 2) for W in (w.W_Q, w.W_K, w.W_V))
    query, key = norm(query, w.query), norm(key, w.key)
    query, key = (apply_rotary(one, torch.arange(5)) for one in (query, key))
    heads = scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True).transpose(1, 2).flatten(-2)
    y = x + norm(heads @ w.W_O, w.after_1)
    read = norm(y, w.before_2)
    y = y + norm((silu(read @ w.W_g) * (read @ w.W_u)) @ w.W_d, w.after_2)
    torch.testing.assert_close(block_of_parts(x, w, **HEADS), y)


def test_with_norms_after_the_parts_the_last_matrices_may_grow(weights, x):
    larger = weights._replace(W_O=1000 * weights.W_O, W_d=1000 * weights.W_d)
    torch.testing.assert_close(block_of_parts(x, larger, **HEADS), block_of_parts(x, weights, **HEADS), rtol=1e-4, atol=1e-4)
    bare, bare_larger = (published(one, "Qwen3") for one in (weights, larger))
    assert block_of_parts(x, bare_larger, **HEADS).norm() > 100 * block_of_parts(x, bare, **HEADS).norm()


def test_a_block_lengthens_the_stream_by_at_most_its_two_norms(weights, x):
    larger = weights._replace(W_O=1000 * weights.W_O, W_d=1000 * weights.W_d)
    most = sum(gain.abs().max() * 16**0.5 for gain in (weights.after_1, weights.after_2))
    grown = block_of_parts(x, larger, **HEADS).norm(dim=-1) - x.norm(dim=-1)
    assert (grown <= most).all() and grown.max() > 0


def test_qk_norm_hides_the_size_of_the_query_matrix(weights, x):
    larger = weights._replace(W_Q=1000 * weights.W_Q)
    torch.testing.assert_close(block_of_parts(x, larger, **HEADS), block_of_parts(x, weights, **HEADS), rtol=1e-4, atol=1e-4)
    bare, bare_larger = (published(one, "Llama") for one in (weights, larger))
    assert (block_of_parts(x, bare_larger, **HEADS) - block_of_parts(x, bare, **HEADS)).abs().max() > 0.1


def test_norms_are_missing_unless_given(weights, x):
    bare = BlockWeights(*weights[:9])
    torch.testing.assert_close(block_of_parts(x, bare, **HEADS), block_of_parts(x, published(weights, "Llama"), **HEADS))


def test_no_gain_means_no_norm(x):
    assert norm_if_any(x, None) is x
    torch.testing.assert_close(
        norm_if_any(x, torch.full((16,), 3.0).double()).square().mean(-1), torch.full((3, 5), 9.0).double(), rtol=1e-3, atol=0
    )


@pytest.mark.parametrize("norms", [2, 4])
def test_parameters_are_those_of_the_weights(weights, norms):
    kept = published(weights, "Llama") if norms == 2 else weights._replace(query=None, key=None)
    counted = sum(one.numel() for one in kept if one is not None)
    assert modern_block_parameters(*SIZES.values(), norms) == counted
    assert stack_parameters(3, *SIZES.values(), norms) == 3 * counted + 16


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("Llama 3.1 8B", 8_030_261_248),
        ("Llama 3.1 70B", 70_553_706_496),
        ("Llama 3.1 405B", 405_853_388_800),
        ("Qwen3-8B", 8_190_735_360),
        ("Gemma 2 9B", 917_962_752 + 8_324_201_984),
        ("Gemma 2 27B", 1_180_237_824 + 26_047_480_320),
    ],
)
def test_counts_are_the_published_ones(name, count):
    assert sum(model_parts(name).values()) == count


@pytest.mark.parametrize("name", [name for name in TABLES if not name.startswith("Qwen3")])
def test_parts_without_the_embedding_are_the_stack(name):
    model, parts = models()[name], model_parts(name)
    norms = 4 if name.startswith("Gemma") else 2
    stack = stack_parameters(model.layers, model.width, model.inner, model.heads, model.kv_heads, model.head_width, norms)
    assert sum(parts.values()) - parts["embedding"] == stack


def test_numbers_in_the_text():
    parts = model_parts("Qwen3-8B")
    assert parts["norms"] == 308_224 and f"{100 * parts['norms'] / sum(parts.values()):.3f}" == "0.004"
    assert round((sum(parts.values()) - parts["embedding"]) / 1e9, 2) == 6.95 and round(sum(parts.values()) / 1e9, 1) == 8.2
    llama = models()["Llama 3.1 8B"]
    saved = llama.layers * 2 * llama.width * (llama.heads - llama.kv_heads) * llama.head_width
    assert round(saved / 1e9, 2) == 0.81
    assert 8_324_201_984 - (sum(model_parts("Gemma 2 9B").values()) - 917_962_752) == 0
    assert 42 * 2 * 3584 == 301_056
    for name, share in (("Llama 3.1 8B", 13.1), ("Llama 3.1 405B", 1.0)):
        parts = model_parts(name)
        assert round(100 * parts["embedding"] / sum(parts.values()), 1) == share
