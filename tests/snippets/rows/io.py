"""Inputs for snippets/io."""

import torch

from snippets.io.flash import SlowMemory
from tests.snippets.sample import Row, T, sample

QUERY, KEY, VALUE = T(3, 4), T(5, 4), T(5, 6)


@sample
def memory(dtype: torch.dtype, device: str) -> SlowMemory:
    return SlowMemory()


ROWS = {
    "flash": {
        "SlowMemory.load": [Row(T(2, 3), of=Row())],
        "SlowMemory.store": [Row(T(2, 3), of=Row())],
        "plain_attention": [Row(QUERY, KEY, VALUE)],
        "flash_attention": [
            Row(QUERY, KEY, VALUE, block_size=2, source="Dao (2023)"),
            Row(QUERY, KEY, VALUE, block_size=2, is_causal=True, source="Dao (2023)"),
        ],
        "flash_tile": [Row(QUERY, KEY, VALUE, first=2, block_size=2, is_causal=True, memory=memory, gives="upcast")],
        "plain_moved": [Row(6, 4)],
        "tiled_moved": [Row(6, 4, 2)],
        "moved_ratio": [Row(6, 4, 2)],
        "causal_moved": [Row(6, 4, 2)],
        "multiplications_ratio": [Row(4, 2)],
    },
    "split": {
        "part": [Row(T(2, 3, 4), T(2, 5, 4), T(2, 5, 6), gives="upcast")],
        "merge": [Row(T(4, 2, 3, 6), T(4, 2, 3, 1))],
        "combine": [Row(T(4), T(4))],
        "attention_in_parts": [Row(T(2, 3, 4), T(2, 5, 4), T(2, 5, 6), parts=2, source="Dao et al. (2023)")],
        "numbers_held": [Row(9, 4, 6)],
        "numbers_sent": [Row(3, 6)],
        "sent_to_held": [Row(3, 4, 6)],
        "steps": [Row(64, 8)],
    },
}
