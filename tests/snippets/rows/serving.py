"""Inputs for snippets/serving."""

import torch

from snippets.serving.models import models
from snippets.serving.paged import PagedCache
from tests.snippets.input_rows import EVERY, Row, T, sample
from tests.snippets.rows.together import model

LLAMA, MLA, WINDOWS = (models()[name] for name in ("Llama 3.1 8B", "DeepSeek-V3", "gpt-oss-20b"))
HEADS = T(2, 4, 5, 8), T(2, 2, 5, 8), T(2, 2, 5, 8)  # four heads of queries, two of keys and values


@sample
def filled_cache(dtype: torch.dtype, device: str) -> PagedCache:
    cache = PagedCache(2, 2)
    cache.append(*torch.ones(2, 3, dtype=dtype, device=device), name="A")
    return cache


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
    "paged": {
        "gather_pages": [Row(T(5, 2, 4), T(3, kind="whole"))],
        "paged_attention": [
            Row(T(2, 4), T(5, 2, 4), T(5, 2, 6), T(3, kind="whole"), source="Kwon et al. (2023)"),
            Row(T(2, 4), T(5, 2, 4), T(5, 2, 6), T(3, kind="whole"), length=5, source="Kwon et al. (2023)"),
        ],
        "attention_by_pages": [Row(T(2, 4), T(5, 2, 4), T(5, 2, 6), T(3, kind="whole"), length=5)],
        "mean_through_table": [Row(T(3, 5), T(5), T(5))],
        "exchange_pages": [Row(T(2, 4), T(2, 4), T(3, 2, 4))],
        "through_exchanged_table": [Row(T(4), T(5, 2, 4), T(5, 2, 6))],
        "PagedCache.append": [Row(T(4), T(6), name="A", of=Row(pages=2, size=2))],
        "PagedCache.share": [Row("A", "B", tokens=1, of=filled_cache)],
        "PagedCache.release": [Row("A", of=filled_cache)],
        "separate_bytes": [Row(3, 5, 2, 4)],
        "shared_bytes": [Row(3, 5, 2, 4)],
        "bytes_saved_by_sharing": [Row(3, 5, 2, 4)],
        "average_empty": [Row(4)],
        "pairs_after_prefix": [Row(5, 2)],
        "pairs_saved_by_prefix": [Row(5, 2)],
        "overhead_bytes": [Row(5, 2, 8, 4)],
        "next_layer_input": [Row(T(4), T(4))],
        "mean_with_empty_places_wrong": [Row(T(4), T(4), empty=2)],
    },
    "invariance": {
        "add_in_order": [Row(T(2, 5))],
        "sum_in_parts": [Row(T(2, 5), parts=2), Row(T(2, 5), size=2)],
        "decode_by_workers": [Row(T(2, 4), T(2, 5, 4), T(2, 5, 6), workers=4)],
        "decode_by_size": [Row(T(2, 4), T(2, 5, 4), T(2, 5, 6), size=2, source="He et al. (2025)")],
        "last_bits": [Row(T(2, 3), count=5, gives=torch.int32)],
        "is_safe": [Row(T(2, 5), bound=0.1, gives=torch.bool)],
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
