"""Inputs for snippets/serving."""

import torch

from snippets.serving.models import models
from tests.snippets.input_rows import Row, T

LLAMA, MLA, WINDOWS = (models()[name] for name in ("Llama 3.1 8B", "DeepSeek-V3", "gpt-oss-20b"))

ROWS = {
    "models": {
        "models": [Row()],
        "source_addresses": [Row(LLAMA)],
        "cache_parts": [Row(LLAMA)],
        "cached_numbers": [Row(LLAMA, tokens=5)],
        "fitting_sequences": [Row(80.0, 16.0, 3.0)],
        "reading_time": [Row(16.0, 3.0, sequences=4, bandwidth=7.0)],
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
