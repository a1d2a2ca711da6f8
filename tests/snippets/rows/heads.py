"""Inputs for snippets/heads."""

import torch
from torch import nn

from tests.snippets.input_rows import Row, T, sample

QUERY, KEY, VALUE = T(2, 3, 4), T(2, 5, 4), T(5, 6)  # n = 3, m = 5, d_k = 4, d_v = 6
X, CONTEXT, LAYER = T(2, 3, 8), T(2, 5, 8), Row(8, 2)  # two heads of width 4
FIXED = T(3, 5, kind="weights"), T(5, 4), T(4, 6)  # P, X, W
HEADS = T(2, 3, 5, kind="weights"), T(5, 4), T(2, 4, 6)


@sample
def theirs(dtype: torch.dtype, device: str) -> nn.MultiheadAttention:
    return nn.MultiheadAttention(8, 2, batch_first=True, dtype=dtype, device=device)


@sample
def state(dtype: torch.dtype, device: str) -> dict:
    return {"query.weight": torch.ones(2, 2, dtype=dtype, device=device), "key.weight": torch.zeros(2, 2, dtype=dtype, device=device)}


def masks(n: int, m: int) -> list:
    """A mask for each way in which one may broadcast to (batch, heads, n, m), and none."""
    return [None, T(n, m, kind="keep"), T(2, 2, n, m), T(2, 1, 1, m, kind="keep"), T(m, kind="keep")]


LAYERS = [Row(X, of=LAYER), Row(X, is_causal=True, of=LAYER)] + [Row(X, context=CONTEXT, attn_mask=mask, of=LAYER) for mask in masks(3, 5)]

ROWS = {
    "split": {
        "split_heads": [Row(X, num_heads=2), Row(T(3, 8), num_heads=4)],
        "split_heads_wrong": [Row(X, num_heads=2)],
        "combine_heads": [Row(T(2, 2, 3, 4)), Row(T(2, 3, 4))],
        "project_fused": [Row(X, T(8, 6), num_heads=2)],
        "project_each": [Row(X, T(8, 6), num_heads=2)],
        "combine_and_project": [Row(T(5, 2, 3, 4), T(2, 4, 6))],
        "project_and_add": [Row(T(5, 2, 3, 4), T(2, 4, 6))],
        "sum_of_heads": [Row(T(2, 3, 5), T(2, 3, 5), VALUE)],
        "one_wide_head": [Row(T(2, 3, 5), T(2, 3, 5), VALUE)],
    },
    "module": {
        "one_head": [Row(X, CONTEXT, T(8, 4), T(8, 4), T(8, 6))],
        "MultiHeadAttention.project": [Row(X, CONTEXT, of=LAYER)],
        "MultiHeadAttention.queries_and_keys": [Row(X, CONTEXT, None, of=LAYER)],
        "MultiHeadAttention.weights": LAYERS,
        "MultiHeadAttention.forward": LAYERS,
        "weights_of_heads": [Row(T(2, 4, 3, 2), T(2, 2, 5, 2), attn_mask=None, is_causal=True)],
        "from_pytorch": [Row(theirs)],
        "MisnamedAttention.project": [Row(X, CONTEXT, of=LAYER)],
        "swap_names": [Row(state)],
    },
    "parameters": {
        "weights_with_biases": [
            Row(QUERY, KEY),
            Row(QUERY, KEY, query_bias=T(4), key_bias=T(4)),
            Row(QUERY, KEY, query_bias=T(1, 4), key_bias=T(5, 4)),
        ],
        "folded_bias": [Row(T(3), T(3, 6), T(6))],
        "without_idle_biases": [Row(theirs)],
        "weight_count": [Row(8, 2, 4, 4)],
        "bias_count": [Row(8, 2, 4, 4)],
    },
    "nothing": {
        "softmax_with_sink": [Row(T(2, 4, 3, 5), T(4)), Row(T(2, 4, 3, 5), T()), Row(T(5), T())],
        "softmax_plus_one": [Row(T(2, 3, 5)), Row(T(5))],
        "attention_or_nothing": [
            Row(QUERY, KEY, VALUE),
            Row(QUERY, KEY, VALUE, attn_mask=T(3, 5, kind="keep"), scale=0.5),
            Row(QUERY, KEY, VALUE, is_causal=True),
        ],
        "attention_with_zero_key": [Row(QUERY, KEY, VALUE), Row(QUERY, KEY, VALUE, scale=0.5)],
    },
    "patches": {
        "grid": [Row(T(2, 3, 4, 6), patch_size=2)],
        "patchify": [Row(T(2, 3, 4, 6), patch_size=2), Row(T(1, 4, 4), patch_size=4)],
        "patchify_wrong": [Row(T(2, 3, 4, 6), patch_size=2)],
        "assemble": [Row(T(2, 3, 2, 2, 3, 2))],
        "unpatchify": [Row(T(2, 6, 12), patch_size=2, width=6)],
        "embed_patches": [Row(T(2, 3, 4, 6), T(5, 3, 2, 2))],
        "embed_by_convolution": [Row(T(2, 3, 4, 6), T(5, 3, 2, 2)), Row(T(3, 4, 6), T(5, 3, 2, 2))],
        "project_patches": [Row(T(2, 5, 4), T(4, 3))],
        "patch_attention_steps": [Row(T(2, 5, 4), T(4, 3), T(4, 3), T(4, 6), T(6, 4))],
    },
    "kronecker": {
        "head": [Row(T(2, 3, 5, kind="weights"), T(5, 4), T(4, 6))],
        "kronecker": [Row(T(2, 3), T(4, 5))],
        "by_rows": [Row(*FIXED)],
        "by_columns": [Row(*FIXED)],
        "heads": [Row(*HEADS)],
        "heads_matrix": [Row(HEADS[0], HEADS[2])],
        "heads_by_rows": [Row(*HEADS)],
        "rearranged": [Row(T(6, 20), n=2, m=4, d=5, p=3)],
    },
}
