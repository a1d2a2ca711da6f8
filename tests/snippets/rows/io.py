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
}
