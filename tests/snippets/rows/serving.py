"""Inputs for snippets/serving."""

import torch

from snippets.serving.models import models
from tests.snippets.input_rows import EVERY, Row, T
from tests.snippets.rows.together import model

LLAMA, MLA, WINDOWS = (models()[name] for name in ("Llama 3.1 8B", "DeepSeek-V3", "gpt-oss-20b"))
HEADS = T(2, 4, 5, 8), T(2, 2, 5, 8), T(2, 2, 5, 8)  # four heads of queries, two of keys and values

ROWS = {
    "quantized": {
        "channel_steps": [Row(T(2, 5, 4), bits=3)],
        "quantize_channels": [Row(T(2, 5, 4), bits=3)],
        "quantize_tokens": [Row(T(2, 5, 4), bits=3)],
        "hadamard_rotation": [Row(4)],
        "rotated_products": [Row(T(2, 3, 4), T(2, 5, 4), T(4, 4), source="Ashkboos, Mohtashami et al. (2024)")],
        "score_error": [Row(T(2, 3, 4), T(2, 5, 4), T(2, 5, 4))],
        "round_to_e4m3": [Row(T(2, 5, 4))],
        "stored_bits": [Row(3.0, 5.0)],
        "head_vectors": [Row(model, T(3, 5, kind="whole"), layer=1)],
        "output_errors": [
            Row(*HEADS, bits=3, formats=EVERY[:2], not_on_meta="it needs the numbers themselves", loose="query heads share keys and values")
        ],
    },
    "models": {
        "models": [Row()],
        "source_addresses": [Row(LLAMA)],
        "cached_numbers": [Row(LLAMA, tokens=5)],
        "cache_bytes_per_token": [Row(WINDOWS, tokens=200, itemsize=2)],
    },
    "speculative": {
        "acceptance_rate": [Row(T(2, 5, kind="weights"), T(2, 5, kind="weights"))],
        "leftover": [Row(T(2, 5, kind="weights"), T(2, 5, kind="weights"))],
        "drawn_distribution": [Row(T(2, 5, kind="weights"), T(2, 5, kind="weights"))],
        "accepts_guess": [
            Row(
                T(3, kind="whole"),
                T(5, kind="weights"),
                T(5, kind="weights"),
                T(3, kind="weights"),
                gives=torch.bool,
                source="Leviathan, Kalman and Matias (2023)",
            )
        ],
        "expected_tokens": [Row(0.5, 3)],
        "speed": [Row(0.5, 3, 0.1)],
    },
    "roofline": {
        "queries_per_key": [Row(2, 4, 2)],
        "intensity_with_queries": [Row(2, 5, 4, 2, 8, 2)],
        "latent_intensity": [Row(2, 5, 4, 8, 2, 2)],
        "kept_pairs": [Row(3, 5)],
        "fewest_tokens_at_ridge": [Row(LLAMA, cached=50, itemsize=2, needed=7.0)],
        "ridge_point": [Row(6.0, 2.0)],
        "attended_queries": [Row(LLAMA, new=2), Row(MLA, new=2)],
        "model_intensity": [Row(LLAMA, new=2, cached=5, itemsize=2), Row(MLA, new=2, cached=5, itemsize=2)],
        "counted_with_queries": [Row(T(2, 3, 4, 8), T(2, 5, 8), T(2, 5, 8))],
    },
}
