"""Inputs for snippets/inference."""

import torch

from snippets.inference.latent import LatentCache
from snippets.order.causal import Cache
from tests.snippets.input_rows import Row, T, sample

PROJECTIONS = T(4, 3), T(4, 3), T(4, 6)  # d = 4, d_k = 3, d_v = 6
X, LATENT = T(2, 5, 4), [T(4, 3), T(4, 7), T(7, 3), T(7, 6), T(6, 4)]  # d = 4, d_k = 3, d_c = 7, d_v = 6
LAYER = [T(2, 4, 3), T(4, 7), T(2, 7, 3), T(2, 7, 6), T(2, 6, 4), T(2, 4, 2), T(4, 2)]  # the same, and h = 2, d_R = 2
HEADS = {"num_heads": 4, "num_kv_heads": 2, "d_k": 8, "itemsize": 2}
AINSLIE, DEEPSEEK = "Ainslie et al. (2023)", "DeepSeek-AI (2024)"


@sample
def cache(dtype: torch.dtype, device: str) -> Cache:
    return Cache(torch.ones(2, 7, 3, dtype=dtype, device=device), torch.ones(2, 7, 6, dtype=dtype, device=device))


@sample
def latent_cache(dtype: torch.dtype, device: str) -> LatentCache:
    return LatentCache(*(torch.ones(2, 3, width, dtype=dtype, device=device) for width in (7, 2)))


ROWS = {
    "cache": {
        "masked_output": [Row(T(5), T(5, 6), T(5, kind="positive"))],
        "KeyValueCache.append": [Row(T(2, 3, 4), T(2, 3, 6), of=Row(capacity=5))],
        "attend": [Row(X, *PROJECTIONS), Row(X, *PROJECTIONS, cache=cache), Row(T(2, 1, 4), *PROJECTIONS, cache=cache)],
        "output_jacobians": [Row(T(3, 4), T(5, 4), T(5, 6))],
        "saving": [Row(5, 4)],
        "last_output_after_dropping": [Row(T(5), forget=2), Row(T(1), forget=0)],
        "trace_of_dropped_token": [Row(T(), T(), T())],
        "decode_operations": [Row(3, 2, 4)],
        "prefill_in_chunks": [Row(X, *PROJECTIONS, size=2)],
        "chunked_pairs": [Row(3, 2)],
    },
    "memory": {
        "bytes_per_token": [Row(2, 3, 4, 2)],
        "six_models": [Row()],
        "weights_less_cache": [Row(5, 4, 2, 2)],
        "attention_intensity": [Row(3, 5, **HEADS)],
        "weights_intensity": [Row(3, 100, 2)],
        "step_intensity": [Row(3, 5, 100, 2, **HEADS)],
        "prefill_intensity": [Row(5, 4, 2)],
        "shared_intensity": [Row(3, 5, 2, **HEADS)],
        "counted_intensity": [Row(T(2, 4, 1, 3), T(2, 4, 5, 3), T(2, 4, 5, 6))],
    },
    "groups": {
        "grouped_attention": [
            Row(X, T(4, 8), T(4, 4), T(4, 4), num_heads=4, num_kv_heads=2),
            Row(X, T(4, 8), T(4, 2), T(4, 2), num_heads=4, num_kv_heads=1, is_causal=True),
        ],
        "repeat_heads": [Row(T(4, 6), num_kv_heads=2, times=3)],
        "grouped_operations": [Row(5, 4, 4, 2)],
        "grouped_parameters": [Row(4, 4, 2)],
        "pool_heads": [Row(T(4, 12), num_heads=6, groups=2, source=AINSLIE)],
        "pooling_error": [Row(T(2, 3, 4), T(2, 5, 4), T(5, 4))],
        "squared_distance_to_shared": [Row(T(3, 5), T(5))],
        "squared_distance_to_mean": [Row(T(3, 5))],
        "shared_gradient": [Row(T(3, 5), T(3, 5), T(3, 4), T(3, 4), T(5, 4))],
        "align": [Row(T(6, 4), T(6, 4), formats=(torch.float64, torch.float32))],
    },
    "latent": {
        "latent_head": [Row(X, T(2, 3, 4), *LATENT)],
        "absorbed_head": [Row(X, T(2, 3, 4), *LATENT)],
        "expanded_operations": [Row(3, 5, 2, 4, 6)],
        "absorbed_operations": [Row(3, 5, 2, 4, 6)],
        "absorbed_intensity": [Row(5, 2, 4, 2, 2)],
        "saved_by_input": [Row(8, 4, 2)],
        "decoupled_scores": [Row(T(2, 3, 7), T(2, 5, 7), T(2, 3, 2), T(2, 5, 2))],
        "decode_latent": [Row(X, *LAYER, source=DEEPSEEK), Row(X, *LAYER, cache=latent_cache, source=DEEPSEEK)],
        "latent_attention": [Row(X, *LAYER)],
    },
}
