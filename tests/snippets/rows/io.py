"""Inputs for snippets/io."""

import torch

from snippets.io.flash import SlowMemory
from tests.snippets.input_rows import Row, T, sample

QUERY, KEY, VALUE = T(3, 4), T(5, 4), T(5, 6)

LIU = "Liu, Zaharia and Abbeel (2023)"


@sample
def held(dtype: torch.dtype, device: str) -> torch.Tensor:
    return torch.arange(6, device=device).view(3, 2)


@sample
def memory(dtype: torch.dtype, device: str) -> SlowMemory:
    return SlowMemory()


ROWS = {
    "flash": {
        "SlowMemory.load": [Row(T(2, 3), of=Row())],
        "SlowMemory.store": [Row(T(2, 3), of=Row())],
        "plain_attention": [Row(QUERY, KEY, VALUE, block_size=2)],
        "square_product": [Row(T(3, 4), T(4, 5), side=2, memory=memory)],
        "square_attention": [Row(QUERY, KEY, VALUE, side=2)],
        "flash_attention": [
            Row(QUERY, KEY, VALUE, block_size=2, source="Dao (2023)"),
            Row(QUERY, KEY, VALUE, block_size=2, is_causal=True, source="Dao (2023)"),
        ],
        "flash_tile": [Row(QUERY, KEY, VALUE, first=2, block_size=2, is_causal=True, memory=memory, gives="upcast")],
        "plain_moved": [Row(6, 4, 2)],
        "tiled_moved": [Row(6, 4, 2)],
        "moved_ratio": [Row(6, 4, 2)],
        "squares_moved": [Row(6, 4, 2)],
        "causal_moved": [Row(6, 4, 2)],
        "multiplications_ratio": [Row(4, 2)],
    },
    "split": {
        "partial_attention": [Row(T(2, 3, 4), T(2, 5, 4), T(2, 5, 6), gives="upcast")],
        "merge_outputs": [Row(T(4, 2, 3, 6), T(4, 2, 3, 1))],
        "merge_numbers": [Row(T(4), T(4))],
        "attention_in_parts": [
            Row(T(2, 3, 4), T(2, 5, 4), T(2, 5, 6), parts=2, source="Dao et al. (2023)"),
            Row(T(2, 4), T(5, 4), T(5, 6), size=2, source="Dao et al. (2023)"),
        ],
        "numbers_held": [Row(9, 4, 6)],
        "numbers_sent": [Row(3, 6)],
        "sent_to_held": [Row(3, 4, 6)],
        "sequential_steps": [Row(64, 8)],
    },
    "ring": {
        "in_order": [Row(12, 3, gives=torch.int64)],
        "contiguous": [Row(12, 3, gives=torch.int64)],
        "zigzag": [Row(12, 3, gives=torch.int64)],
        "striped": [Row(12, 3, gives=torch.int64)],
        "ring_attention": [
            Row(T(6, 4), T(6, 4), T(6, 5), held, source=LIU),
            Row(T(6, 4), T(6, 4), T(6, 5), held, is_causal=True, source=LIU),
        ],
        "step_pairs": [Row(held, gives=torch.int64)],
        "pairs_waited_for": [Row(3, 2)],
        "zigzag_pairs": [Row(3, 2)],
        "window_step_pairs": [Row(held, window=2, gives=torch.int64)],
        "tokens_to_hide": [Row(400.0, 5.0, 2), Row(400.0, 5.0, 2, sharing=4)],
    },
    "ulysses": {
        "all_to_all": [Row(T(3, 3, 2))],
        "tokens_to_heads": [Row(T(2, 4, 3, 5))],
        "heads_to_tokens": [Row(T(2, 2, 6, 5))],
        "attention_with_exchange": [Row(T(2, 4, 3, 5), T(2, 2, 3, 5), T(2, 2, 3, 6), is_causal=True, source="Jacobs et al. (2023)")],
        "ulysses_attention": [Row(T(4, 6, 5), T(2, 6, 5), T(2, 6, 7), devices=2)],
        "ring_bytes": [Row(3, 2, 4, 2, 2)],
        "gather_bytes": [Row(3, 2, 4, 2, 2)],
        "ulysses_bytes": [Row(3, 2, 4, 6, 3, 2)],
        "ulysses_bytes_with_copies": [Row(4, 2, 4, 8, 2, 2)],
        "ring_less_ulysses": [Row(3, 2, 4, 6, 3, 2)],
        "step_seconds": [Row(2, 4, 6, 100.0)],
        "ring_seconds": [Row(3, 4.0, 5.0)],
        "ulysses_seconds": [Row(3, 4.0, 5.0)],
        "tokens_for_equal_times": [Row(3, 6, 3, 2, 100.0, 10.0)],
    },
}
