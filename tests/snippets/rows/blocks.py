"""Inputs for snippets/blocks."""

import torch

from snippets.blocks.merge import AttentionState
from tests.snippets.input_rows import Row, T, sample

SHARED = "with enable_gqa, keys may have fewer heads than queries"
QUERY, KEY, VALUE = T(2, 3, 4), T(2, 5, 4), T(2, 5, 6)  # n = 3, m = 5, d_k = 4, d_v = 6
OUTPUT, COLUMN = T(2, 3, 6), T(2, 3, 1)
MASKS = [T(3, 5, kind="keep"), T(3, 5), T(5, kind="keep"), T(2, 1, 5), None]
GROUPS = T(2, 4, 3, 4), T(2, 2, 5, 4), T(2, 2, 5, 6)
BLOCKS = "Rabe and Staats (2021)"


@sample
def kept(dtype: torch.dtype, device: str) -> AttentionState:
    return AttentionState(*(torch.ones(2, 3, width, dtype=dtype, device=device) for width in (1, 1, 6)))


def in_blocks(*inputs, **flags) -> Row:
    return Row(*inputs, **flags, block_size=2, loose=SHARED, source=BLOCKS)


ROWS = {
    "merge": {
        "attention_state": [Row(T(2, 3, 5), VALUE), Row(T(5), T(5, 6))],
        "state_output": [Row(kept)],
        "change_reference": [Row(COLUMN, COLUMN, COLUMN), Row(T(2, 3, 6), COLUMN, COLUMN), Row(1.0, T(2, 3, 5), COLUMN)],
        "merge_states": [Row(kept, kept)],
        "attention_in_blocks": [in_blocks(QUERY, KEY, VALUE, attn_mask=mask) for mask in MASKS]
        + [
            in_blocks(QUERY, KEY, VALUE, is_causal=True, scale=0.5),
            in_blocks(*GROUPS, enable_gqa=True),
            *(in_blocks(T(n, 4), T(m, 4), T(m, v)) for n, m, v in [(0, 5, 6), (3, 0, 6), (3, 5, 0)]),
        ],
        "over_all": [Row(T(3), T(3, 6), T(5), T(5, 6))],
        "over_two_blocks": [Row(T(3), T(3, 6), T(5), T(5, 6))],
        "attention_about_reference": [Row(T(5), T(5, 6), T())],
        "log_sum": [Row(T(2, 3, 5)), Row(T(5))],
        "merge_averages": [Row(OUTPUT, T(2, 3), OUTPUT, T(2, 3)), Row(T(6), T(), T(6), T())],
        "add_one_key": [
            Row(OUTPUT, T(2, 3, 1, kind="positive"), COLUMN, OUTPUT, COLUMN),
            Row(T(6), T(kind="positive"), T(), T(6), T()),
        ],
    },
    "backward": {
        "row_sums": [Row(OUTPUT, OUTPUT)],
        "score_gradients": [Row(T(2, 3, 5, kind="weights"), T(2, 3, 5), COLUMN)],
        "backward": [Row(QUERY, KEY, VALUE, OUTPUT), Row(QUERY, T(5, 4), T(5, 6), OUTPUT)],
        "through_weights": [Row(QUERY, KEY, VALUE, T(2, 3, 5, kind="weights"), OUTPUT, COLUMN)],
        "log_sums": [Row(QUERY, KEY)],
        "weights_again": [Row(QUERY, KEY, COLUMN)],
        "backward_in_blocks": [Row(QUERY, KEY, VALUE, OUTPUT, COLUMN, OUTPUT, block_size=2)],
    },
}
