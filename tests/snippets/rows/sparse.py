"""Inputs for snippets/sparse."""

import torch

from tests.snippets.sample import Row, T

ROWS = {
    "window": {
        "window_mask": [Row(5, 3, gives=torch.bool)],
        "window_pairs": [Row(5, 3)],
        "pairs_saved": [Row(5, 3)],
        "rolling_attention": [Row(T(2, 5, 4), T(2, 5, 4), T(2, 5, 6), window=3)],
        "distance_shares": [Row(layers=2, window=3)],
        "tokens_within_reach": [Row(layers=2, window=3)],
        "distance_shares_with_shortcut": [Row(layers=2, window=3)],
    },
}
