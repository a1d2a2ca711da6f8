"""Compare every defined count with code that counts: a definition has no proof, so its title could promise what its formula does not count.

PyTorch counts the operations of products (two for each multiplication), and the entries and bytes of tensors.
"""

import json
import re
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from snippets.around.transformer import block_parameters
from snippets.attention.formula import attention
from snippets.heads.parameters import bias_count, weight_count
from snippets.inference.cache import attend
from snippets.inference.groups import grouped_attention, grouped_operations
from snippets.inference.latent import absorbed_operations, expanded_operations
from snippets.inference.memory import attention_intensity, bytes_per_token, step_intensity
from snippets.linear.attention import cache_numbers, positive_features, state_numbers, write_state
from snippets.linear.chunks import chunked_delta_multiplications, chunked_delta_rule, delta_multiplications
from snippets.linear.delta import delta_rule
from snippets.linear.duality import chunked_linear_attention, chunked_multiplications, masked_multiplications, recurrent_multiplications
from snippets.linear.gates import decay_mask, gated_state
from snippets.linear.hybrids import full_bytes, hybrid_bytes
from snippets.order.causal import cache_bytes
from snippets.order.cost import (
    attention_layer,
    operations,
    operations_with_cache,
    operations_without_cache,
    pair_operations,
    projection_operations,
)
from snippets.predecessors.linear import linear_multiplications, quadratic_multiplications, sum_then_ask, weigh_then_mix
from snippets.serving.roofline import counted_with_queries, intensity_with_queries, latent_intensity
from snippets.simplify.bilinear import merged_multiplications, merged_scores, split_multiplications, split_scores

GOLDEN = Path(__file__).with_name("golden.jsonl")
COUNTS = re.compile(r"^(the )?(operations|multiplications|bytes|numbers in|number of)\b", re.IGNORECASE)


def zeros(*shapes):
    return [torch.zeros(shape) for shape in shapes]


class ScalingCounter(TorchDispatchMode):
    """Count the multiplications of tensors entry by entry: one for each entry of the result."""

    total = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function is torch.ops.aten.mul.Tensor:
            self.total += result.numel()
        return result


def count_parameters(*layers):
    return sum(parameter.numel() for layer in layers for parameter in layer.parameters())


def head_layers(d, h, d_k, d_v):
    return nn.Linear(d, h * d_k), nn.Linear(d, h * d_k), nn.Linear(d, h * d_v), nn.Linear(h * d_v, d)


def count_generation(n, d, use_cache):
    """Count the operations of a layer that reads n tokens one by one."""
    X, W_Q, W_K, W_V, W_O = zeros((n, d), *[(d, d)] * 4)

    def generate():
        cache = None
        for i in range(n):
            if use_cache:
                output, cache = attend(X[i : i + 1], W_Q, W_K, W_V, cache=cache)
                output @ W_O
            else:
                attention_layer(X[: i + 1], W_Q, W_K, W_V, W_O, num_heads=1)

    return operations(generate)


def count_layer(n, d):
    return operations(attention_layer, *zeros((n, d), *[(d, d)] * 4), num_heads=2)


def count_grouped(n, d, h, h_kv):
    width = d // h * h_kv
    x, W_Q, W_K, W_V, W_O = zeros((n, d), (d, d), (d, width), (d, width), (d, d))
    return operations(lambda: grouped_attention(x, W_Q, W_K, W_V, num_heads=h, num_kv_heads=h_kv) @ W_O)


def count_latent(n, m, h, width, d_c, absorb):
    query, latent, W_UK, W_UV = zeros((h, n, width), (h, m, d_c), (h, d_c, width), (h, d_c, width))
    if absorb:
        return operations(lambda: ((query @ W_UK.mT) @ latent.mT @ latent) @ W_UV)
    return operations(lambda: (query @ (latent @ W_UK).mT) @ (latent @ W_UV))


def count_cache(layers, n, h_kv, d_k, dtype=torch.float16):
    key, value = (torch.zeros(layers, h_kv, n, d_k, dtype=dtype) for _ in range(2))
    return key.nbytes + value.nbytes


def count_step(batch, n, layers, h, h_kv, d_k, d, with_weights):
    """Count the operations of one decoding step, and divide by the bytes that it reads."""
    x, query, key, W = zeros((batch, d), (batch, h_kv, h // h_kv, d_k), (batch, h_kv, n, d_k), (d, d))

    def step():
        for _ in range(layers):
            if with_weights:
                x @ W
            query @ key.mT @ key  # any values of this shape take as many operations

    read = layers * (2 * key.nbytes + W.nbytes * with_weights)
    return operations(step) / read


def count_chunked(n, r, d_v, chunk):
    query, key, value, gate = zeros((n, r), (n, r), (n, d_v), (n,))
    decays = n // chunk * r * d_v  # of the state, once for each chunk
    return (
        operations(chunked_linear_attention, query, key, value, gate, chunk=chunk) / 2 + decays - r * d_v
    )  # one product only gives the state's shape


def count_delta(n, d_k, d_v, chunk=None):
    """Count those of products, and for chunks those of substitution: for each row of a system, one for each entry of the rows before it."""
    inputs = zeros((n, d_k), (n, d_k), (n, d_v), (n,))
    if chunk is None:
        return operations(delta_rule, *inputs) / 2 - d_k * d_v  # one product only gives the state's shape
    substitution = sum(row * (d_k + d_v) for _ in range(n // chunk) for row in range(chunk))
    return operations(chunked_delta_rule, *inputs, chunk=chunk) / 2 - d_k * d_v + substitution


def count_masked(n, r, d_v):
    query, key, value, gate = zeros((n, r), (n, r), (n, d_v), (n,))
    return operations(lambda: (decay_mask(gate) * (query @ key.mT)) @ value) / 2


def count_recurrent(n, r, d_v):
    query, key, value, gate = zeros((n, r), (n, r), (n, d_v), (n, 1))
    with ScalingCounter() as counter:
        gated_state(query, key, value, gate)
    return operations(gated_state, query, key, value, gate) / 2 + counter.total - r * d_v  # one product only gives the state's shape


def count_stack(n, blocks, layers):
    """Bytes that the layers of all blocks keep of a text: keys and values, or a state."""
    key, value = zeros((n, 5), (n, 6))
    kept = {"full": key.nbytes + value.nbytes, "linear": write_state(key, value).nbytes}
    return blocks * sum(kept[layer] for layer in layers)


def count_state(n, r, d_v):
    key, value = zeros((n, r), (n, d_v))
    return write_state(positive_features(key), value).numel()


def count_latent_step(new, cached, h, d_c, d_r):
    query, rows = zeros((h, new, d_c + d_r), (cached, d_c + d_r))
    work = operations(attention, query, rows, rows[:, :d_c])
    return work / (query.nbytes + rows.nbytes + h * new * d_c * rows.itemsize)


# Each count: what the formula gives, and what code counts, for sizes that all differ.
COUNTED = {
    "around/transformer#define-p-b": lambda: (
        block_parameters(6, 10),
        count_parameters(nn.TransformerEncoderLayer(6, 2, dim_feedforward=10)),
    ),
    "heads/parameters#define-n-b": lambda: (bias_count(7, 3, 4, 5), sum(layer.bias.numel() for layer in head_layers(7, 3, 4, 5))),
    "heads/parameters#define-n-w": lambda: (weight_count(7, 3, 4, 5), sum(layer.weight.numel() for layer in head_layers(7, 3, 4, 5))),
    "inference/cache#define-c-k": lambda: (operations_with_cache(5, 6), count_generation(5, 6, use_cache=True)),
    "inference/cache#define-c-u": lambda: (operations_without_cache(5, 6), count_generation(5, 6, use_cache=False)),
    "inference/groups#define-c-g": lambda: (grouped_operations(5, 24, 6, 2), count_grouped(5, 24, 6, 2)),
    "inference/latent#define-c-a": lambda: (absorbed_operations(3, 20, 2, 4, 7), count_latent(3, 20, 2, 4, 7, absorb=True)),
    "inference/latent#define-c-e": lambda: (expanded_operations(3, 20, 2, 4, 7), count_latent(3, 20, 2, 4, 7, absorb=False)),
    "inference/memory#define-b-t": lambda: (bytes_per_token(3, 2, 16, 2), count_cache(3, 1, 2, 16)),
    "inference/memory#define-rho-a": lambda: (
        attention_intensity(3, 9, num_heads=8, num_kv_heads=2, d_k=16, itemsize=4),
        count_step(3, 9, 5, 8, 2, 16, d=7, with_weights=False),
    ),
    "inference/memory#define-rho-s": lambda: (
        step_intensity(3, 9, 5 * 7**2, 5, num_heads=8, num_kv_heads=2, d_k=16, itemsize=4),
        count_step(3, 9, 5, 8, 2, 16, d=7, with_weights=True),
    ),
    "linear/attention#define-n-c": lambda: (cache_numbers(7, 4, 3), sum(x.numel() for x in zeros((7, 4), (7, 3)))),
    "linear/attention#define-n-s": lambda: (state_numbers(4, 3), count_state(7, 4, 3)),
    "linear/chunks#define-n-c": lambda: (chunked_delta_multiplications(12, 5, 3, chunk=4), count_delta(12, 5, 3, chunk=4)),
    "linear/chunks#define-n-r": lambda: (delta_multiplications(12, 5, 3), count_delta(12, 5, 3)),
    "linear/duality#define-n-c": lambda: (chunked_multiplications(12, 5, 3, chunk=4), count_chunked(12, 5, 3, chunk=4)),
    "linear/duality#define-n-q": lambda: (masked_multiplications(12, 5, 3), count_masked(12, 5, 3)),
    "linear/duality#define-n-r": lambda: (recurrent_multiplications(12, 5, 3), count_recurrent(12, 5, 3)),
    "linear/hybrids#define-b-f": lambda: (full_bytes(7, 2, 3, 4 * (5 + 6)), count_stack(7, 2, ["full"] * 4)),
    "linear/hybrids#define-b-h": lambda: (hybrid_bytes(7, 2, 3, 4 * (5 + 6), 4 * 5 * 6), count_stack(7, 2, ["linear"] * 3 + ["full"])),
    "order/causal#define-b-c": lambda: (cache_bytes(7, 3, 2, 16, 2), count_cache(3, 7, 2, 16)),
    "order/cost#define-c-a": lambda: (pair_operations(5, 6), count_layer(5, 6) - 4 * operations(torch.mm, *zeros((5, 6), (6, 6)))),
    "order/cost#define-c-k": lambda: (operations_with_cache(4, 3), count_generation(4, 3, use_cache=True)),
    "order/cost#define-c-p": lambda: (projection_operations(5, 6), 4 * operations(torch.mm, *zeros((5, 6), (6, 6)))),
    "order/cost#define-c-u": lambda: (operations_without_cache(4, 3), count_generation(4, 3, use_cache=False)),
    "predecessors/linear#define-c-l": lambda: (
        linear_multiplications(5, 4, 3, 2),
        operations(sum_then_ask, *zeros((5, 3), (4, 3), (4, 2))) / 2,
    ),
    "predecessors/linear#define-c-q": lambda: (
        quadratic_multiplications(5, 4, 3, 2),
        operations(weigh_then_mix, *zeros((5, 3), (4, 3), (4, 2))) / 2,
    ),
    "serving/roofline#define-rho-l": lambda: (latent_intensity(3, 11, 6, 8, 4, 4), count_latent_step(3, 11, 6, 8, 4)),
    "serving/roofline#define-rho-n": lambda: (
        intensity_with_queries(3, 11, 6, 2, 8, 4),
        counted_with_queries(*zeros((2, 3, 3, 8), (2, 11, 8), (2, 11, 8))),
    ),
    "simplify/bilinear#define-c-m": lambda: (merged_multiplications(5, 7), operations(merged_scores, *zeros((5, 7), (7, 7))) / 2),
    "simplify/bilinear#define-c-s": lambda: (split_multiplications(5, 7, 3), operations(split_scores, *zeros((5, 7), (7, 3), (7, 3))) / 2),
}


def test_all_defined_counts_are_compared():
    claims = (json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines())
    assert {name for name, claim in claims if claim["kind"] == "definition" and COUNTS.match(claim["title"])} == COUNTED.keys()


@pytest.mark.parametrize("name", COUNTED)
def test_count_is_what_code_counts(name):
    stated, counted = COUNTED[name]()
    assert stated == pytest.approx(counted, rel=1e-12) and counted > 0
