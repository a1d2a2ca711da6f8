"""Inputs for snippets/sparse."""

import torch

from tests.snippets.input_rows import Row, T, sample

NUMBERS = "how many layers it takes is a number, and depends on what the mask holds"


@sample
def near(dtype: torch.dtype, device: str) -> torch.Tensor:
    return torch.ones(5, 5, dtype=torch.bool, device=device)


ROWS = {
    "learned": {
        "missed_weight": [Row(T(2, 3), T(2, 5))],
        "selection_error": [Row(T(2, 3), T(2, 3), T(2, 5), T(2, 5))],
        "mean_key_scores": [Row(T(2, 3, 4), T(2, 6, 4), block_size=2, source="Lu et al. (2025)")],
        "index_scores": [Row(T(2, 2, 3, 4), T(2, 5, 4), T(2, 3, 2), source="DeepSeek-AI, V3.2 (2025)")],
        "select_keys": [Row(T(2, 5, 5), k=2, gives=torch.bool)],
        "gated_branches": [Row(T(3, 2, 5, 4), T(3, 2, 5), source="Yuan et al. (2025)")],
        "indexed_multiplications": [Row(9, 4, 2.0, 3.0)],
        "scores_of_query": [Row(64, 4, 8)],
    },
    "window": {
        "window_mask": [Row(5, 3, gives=torch.bool)],
        "window_pairs": [Row(5, 3)],
        "pairs_saved": [Row(5, 3)],
        "rolling_attention": [Row(T(2, 5, 4), T(2, 5, 4), T(2, 5, 6), window=3, loose="query heads may share keys and values")],
        "distance_shares": [Row(layers=2, window=3)],
        "tokens_within_reach": [Row(layers=2, window=3)],
        "distance_shares_with_shortcut": [Row(layers=2, window=3)],
    },
    "local": {
        "cache_entries": [Row(9, 5, 4)],
        "cache_fraction": [Row(9, 5, 4)],
        "local_global_mask": [Row(5, window=2, num_global=1, gives=torch.bool)],
        "hops": [Row(near, not_on_meta=NUMBERS)],
        "global_pairs": [Row(5, 2)],
        "paths": [Row(1, 2, 4, gives=torch.int64)],
        "document_mask": [Row(T(2, 5, kind="whole"), gives=torch.bool)],
    },
    "patterns": {
        "dropping_error": [Row(T(2, 5), T(2, 5), T(5, kind="positive"))],
        "tail_weight": [Row(T(2, 3), m=9), Row(T(), m=9)],
        "top_k_mask": [Row(T(2, 3, 5), k=2, gives=torch.bool)],
        "top_k_attention": [Row(T(2, 3, 4), T(2, 5, 4), T(2, 5, 6), k=2)],
        "block_mask": [Row(T(2, 3, 4), T(2, 6, 4), block_size=2, blocks=1, gives=torch.bool)],
    },
}
