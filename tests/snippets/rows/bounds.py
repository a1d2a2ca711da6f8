"""Inputs for snippets/bounds."""

import torch

from tests.snippets.input_rows import Row, T, sample

QUERY, KEY = T(2, 3, 4), T(2, 5, 4)  # n = 3, m = 5, d_k = 4
SCORES = T(2, 3, 5)
HEADS = T(2, 4, 3, 6)  # (batch, heads, n, d_k)
GAINS = {"query_gain": T(4), "key_gain": T(4)}


@sample
def dropped(dtype: torch.dtype, device: str) -> torch.Tensor:
    return torch.tensor([True, False, False, True, False], device=device)


ROWS = {
    "gated": {
        "gate_output": [
            Row(T(2, 3, 4), T(2, 3, 4), source="Qiu et al. (2025)"),
            Row(T(2, 3, 4), T(2, 3, 1), source="Qiu et al. (2025)"),
        ],
        "gated_attention": [
            Row(HEADS, T(2, 4, 5, 6), T(2, 4, 5, 3), logit=T(2, 4, 3, 3), attn_mask=T(3, 5, kind="keep")),
            Row(HEADS, T(2, 4, 5, 6), T(2, 4, 5, 3), logit=T(2, 4, 3, 1), is_causal=True),
        ],
        "gated_self_attention": [
            Row(T(2, 3, 4), T(4, 6), T(4, 6), T(4, 8), T(8, 4), T(4, 8), num_heads=2),
            Row(T(2, 3, 4), T(4, 6), T(4, 6), T(4, 8), T(8, 4), T(4, 2), num_heads=2),
        ],
    },
    "qknorm": {
        "cosine_scores": [
            Row(QUERY, KEY, scale=3.0, source="Henry et al. (2020)"),
            Row(T(3, 4), KEY, scale=1.0, source="Henry et al. (2020)"),
        ],
        "rms_scores": [Row(QUERY, KEY, **GAINS), Row(T(3, 4), KEY, **GAINS)],
        "gain_bound": [Row(T(4), T(4))],
        "bounded_weights": [Row(2.0, 5)],
        "needed_scale": [Row(5), Row(5, weight=0.9)],
    },
    "softcap": {
        "soft_cap": [Row(SCORES, cap=3.0, source="Gemma Team (2024)"), Row(T(), cap=3.0, source="Gemma Team (2024)")],
        "capped_weights": [Row(SCORES, cap=3.0), Row(SCORES, cap=3.0, attn_mask=T(3, 5, kind="keep"))],
        "capped_weights_wrong": [Row(SCORES, cap=3.0), Row(SCORES, cap=3.0, attn_mask=T(3, 5, kind="keep"))],
        "through_soft_cap": [Row(SCORES, SCORES, cap=3.0)],
    },
    "logn": {
        "leader_weight": [Row(1.0, 5, scale=2.0)],
        "logn_attention_weights": [Row(QUERY, KEY, trained_at=8), Row(T(3, 4), KEY, trained_at=8)],
        "logn_queries": [Row(QUERY, trained_at=8), Row(T(3, 4), trained_at=8)],
        "constant_scale": [Row(1.0, 5, weight=0.9)],
    },
    "sinks": {
        "attention_with_sink": [
            Row(HEADS, T(4, 5, 6), T(4, 5, 3), sink=T(4), source="OpenAI (2025)"),
            Row(HEADS, T(2, 4, 5, 6), T(2, 4, 5, 3), sink=T(4), attn_mask=T(3, 5, kind="keep"), source="OpenAI (2025)"),
            Row(HEADS, T(2, 4, 5, 6), T(2, 4, 5, 3), sink=T(4), is_causal=True, source="OpenAI (2025)"),
        ],
        "sink_gate": [Row(T(2, 4, 3), T(4, 1)), Row(T(), T())],
        "without_keys": [Row(T(3, 5, kind="weights"), dropped)],
    },
}
