"""Inputs for snippets/seeing."""

import torch

from snippets.seeing.recall import LENGTH, FixedHead, Recall, load
from tests.snippets.input_rows import EVERY, Row, Seeded, T, sample
from tests.snippets.rows.together import encoder

ROWS_OF_TOKENS, ANSWERS = T(2, LENGTH, kind="whole"), T(2, kind="whole")
NUMBERS = "it needs the numbers themselves"


@sample
def model(dtype: torch.dtype, device: str) -> Recall:
    return load("attention").to(device, dtype)


def stored() -> dict[str, list]:
    return {name: value.tolist() for name, value in load("attention").state_dict().items()}


GIVEN = [T(LENGTH, LENGTH, kind="weights"), None]

ROWS = {
    "atlas": {
        "previous_token_weight": [Row(T(2, 5, 5, kind="weights"))],
        "first_token_weight": [Row(T(2, 5, 5, kind="weights"))],
        "squares_of_parts": [Row(T(2, 4, 4))],
        "symmetric_share": [Row(T(2, 4, 4))],
        "shared_squares": [Row(T(2, 5, 4))],
        "own_squares": [Row(T(2, 5, 4))],
        "effective_rank": [Row(T(2, 4, 3), formats=EVERY[:2])],
        "score_deviation": [Row(T(2, 5, 4), T(2, 3, 4))],
        "read_atlas": [Row()],
        "stored_atlas": [Row()],
        "stored_head": [Row()],
    },
    "measure": {
        "measure_heads": [Row(encoder, [T(5, 4), T(5, 4)], formats=EVERY[:2])],
        "measure_pruning": [Row(encoder, T(1, 5, kind="whole"), T(1, 5, kind="keep"), gives=torch.float32, not_on_meta=NUMBERS)],
        "read_head": [Row(encoder, T(1, 5, kind="whole"), [T(5, 4), T(5, 4)], words=["a"] * 5, block=0, head=1)],
        "follow_token": [Row(encoder, [T(5, 4)] * 3, token=1, block=0)],
        "hash_model": [Row(needs_models=True)],
        "measure_order": [Row(needs_models=True)],
        "measure": [Row(needs_models=True)],
    },
    "one_token": {
        "block_steps": [Row(encoder, T(5, 4), block=0)],
        "head_writes": [Row(encoder, T(5, 4), block=0)],
        "shares_of_sum": [Row(T(3, 4))],
        "cosine_table": [Row(T(5, 4))],
        "stored_token": [Row()],
        "stored_order": [Row()],
    },
    "heads": {
        "second_head": [Row(T(5, 5), T(2, 5, 5), T(5, 4), T(4, 4), T(4, 4))],
        "other_weights": [Row(T(5, kind="weights"), T(5, 2), formats=EVERY[:2], not_on_meta=NUMBERS)],
        "head_weights": [Row(model, ROWS_OF_TOKENS), Row(model, T(LENGTH, kind="whole"))],
        "read_association": [Row(T(2, 5, 5), T(2, 5, kind="whole"))],
        "uniform_weights": [Row(4)],
        "replacements": [Row(T(3, 5, 5))],
    },
    "recall": {
        "held_out_pairs": [Row()],
        "draw_cases": [Row(3, held_out=True, generator=Seeded(), device=sample(lambda dtype, device: device), not_on_meta=NUMBERS)],
        "spell": [Row(T(4, kind="whole"), not_on_meta=NUMBERS)],
        "read": [Row("a c p")],
        "Head.weights": [Row(T(2, 5, 4), of=Row(4, 3))],
        "Head.forward": [Row(T(2, 5, 4), of=Row(4, 3)), Row(T(2, 5, 4), weights=T(5, 5), of=Row(4, 3))],
        "FixedHead.weights": [Row(T(2, LENGTH, 4), of=Row(4, 3))],
        "Recall.forward": [
            Row(ROWS_OF_TOKENS, of=Row()),
            Row(ROWS_OF_TOKENS, weights=GIVEN, of=Row(head=FixedHead, d=4)),
        ],
        "restore": [Row(stored(), kind="attention")],
        "load": [Row("attention")],
        "accuracy": [Row(model, ROWS_OF_TOKENS, ANSWERS, not_on_meta=NUMBERS)],
        "fixed_mixing": [Row(T(5, 6), T(2, 6, 4), T(4, 3))],
        "match_weight": [Row(T(2), T(2, 5)), Row(T(), T(5))],
        "recall_by_hand": [Row(T(2, 5, 4), T(4), beta=2.0), Row(T(5, 4), T(2, 4), beta=2.0)],
    },
    "train": {
        "train": [Row("attention", 2)],
        "record": [Row("fixed mixing", steps=2)],
    },
}
