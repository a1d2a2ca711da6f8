"""Inputs for snippets/attention."""

import torch

from tests.snippets.input_rows import EVERY, Row, Seeded, T

VASWANI, HALF = "Vaswani et al. (2017)", 0.5
SHARED = "with enable_gqa, keys may have fewer heads than queries"
QUERY, KEY, VALUE = T(2, 3, 4), T(2, 5, 4), T(5, 6)  # n = 3, m = 5, d_k = 4, d_v = 6
MASKS = [T(3, 5, kind="keep"), T(3, 5), T(5, kind="keep"), T(2, 1, 5), None]
PROJECTIONS = T(4, 3), T(4, 3), T(4, 6)
GROUPS = T(2, 4, 3, 4), T(2, 2, 5, 4)

ROWS = {
    "formula": {
        "scores": [Row(QUERY, KEY, source=VASWANI), Row(T(3, 4), T(2, 5, 4), scale=HALF, source=VASWANI)],
        "upcast": [Row(T(2, 3), gives="upcast"), Row(T(), gives="upcast")],
        "attention_weights": [Row(QUERY, KEY, attn_mask=mask, loose=SHARED, source=VASWANI) for mask in MASKS]
        + [
            Row(QUERY, KEY, is_causal=True, scale=HALF, loose=SHARED, source=VASWANI),
            Row(*GROUPS, enable_gqa=True, loose=SHARED, source=VASWANI),
        ],
        "attention": [Row(QUERY, KEY, VALUE, attn_mask=mask, loose=SHARED, source=VASWANI) for mask in MASKS]
        + [
            Row(QUERY, KEY, VALUE, is_causal=True, scale=HALF, loose=SHARED, source=VASWANI),
            Row(*GROUPS, T(2, 2, 5, 6), enable_gqa=True, loose=SHARED, source=VASWANI),
            *(Row(T(n, 4), T(m, 4), T(m, v), loose=SHARED, source=VASWANI) for n, m, v in [(0, 5, 6), (3, 0, 6), (3, 5, 0)]),
        ],
        "share_heads": [Row(*GROUPS, source="Ainslie et al. (2023)")],
        "attention_2d": [Row(T(3, 4), T(5, 4), T(5, 6))],
        "products_by_einsum": [Row(T(3, 4), T(5, 4))],
        "attention_by_einsum": [Row(T(2, 3, 2, 4), T(2, 5, 2, 4), T(2, 5, 2, 6))],
        "attention_steps": [Row(QUERY, KEY, VALUE), Row(QUERY, KEY, VALUE, attn_mask=T(3, 5), scale=HALF)],
        "self_attention": [Row(T(2, 5, 4), *PROJECTIONS, T(6, 4))],
        "SelfAttention.forward": [Row(T(2, 5, 8), of=Row(8, 3, 6))],
        "scores_by_both_widths_wrong": [Row(QUERY, KEY, VALUE)],
    },
    "masks": {
        "mask_scores": [Row(T(2, 3, 5), attn_mask=mask) for mask in MASKS] + [Row(T(2, 3, 5), is_causal=True)],
        "masked_softmax": [Row(T(2, 3, 5)), Row(T(5))],
        "padding_mask": [Row(T(3, kind="whole"), m=5)],
        "filled_weights": [Row(T(2, 3, 5), T(5, kind="keep"), constant=-1e4)],
        "added_weights": [Row(T(2, 3, 5), T(5, kind="keep"), constant=-1e4)],
        "infinite_weights": [Row(T(2, 3, 5), T(5, kind="keep")), Row(T(5), T(2, 5, kind="positive"))],
        "deleted_weights": [Row(T(2, 3, 5), T(5, kind="keep"), not_on_meta="the kept keys are gathered")],
        "renormalised_weights": [Row(T(2, 3, 5), T(5, kind="keep")), Row(T(2, 3, 5), T(3, 5, kind="positive"))],
        "lower_right": [Row(2, 4)],
        "weights_by_distance": [
            Row(T(2, 3, 5), T(3, kind="places"), T(5, kind="places"), slope=HALF, source="Press, Smith and Lewis (2022)")
        ],
        "weights_by_place": [Row(T(2, 3, 5), T(5, kind="places"), slope=HALF)],
    },
    "packing": {
        "looks_back": [Row(T(3, 1, kind="whole"), T(5, kind="whole"), gives=torch.bool)],
        "same_document": [Row(T(2, 1, kind="whole"), T(2, kind="whole"), T(3, kind="whole"), gives=torch.bool)],
        "in_prefix": [Row(T(3, 1, kind="whole"), T(5, kind="whole"), prefix=2, gives=torch.bool)],
        "cumulative_lengths": [Row(T(3, kind="whole"), gives=torch.int64)],
        "document_numbers": [Row(T(3, kind="whole"), gives=torch.int64, not_on_meta="the lengths are the size of the result")],
        "packed_attention": [Row(T(2, 5, 4), T(2, 5, 4), T(2, 5, 6), starts=[0, 2, 5])],
        "sum_blocks": [Row(T(3, 5, kind="whole"), block_size=2, gives=torch.int64)],
        "block_kinds": [Row(T(3, 5, kind="keep"), block_size=2, gives=torch.int64)],
        "count_blocks": [Row(T(3, 5, kind="keep"), block_size=2, not_on_meta="it counts")],
        "skipping_attention": [Row(QUERY, KEY, T(2, 5, 6), T(3, 5, kind="keep"), block_size=2, not_on_meta="blocks are left out")],
        "causal_blocks": [Row(4)],
        "masked_pairs_computed": [Row(4, 3)],
        "prefix_pairs": [Row(5, 3)],
    },
    "basic": {
        "basic_attention": [Row(T(2, 5, 4))],
        "own_gradient": [Row(T(), T())],
        "project_rows": [Row(T(2, 5, 4), T(4, 3))],
        "project_columns": [Row(T(3, 4), T(2, 5, 4))],
        "average_values": [Row(T(2, 5, 4), *PROJECTIONS)],
        "average_without_values": [Row(T(2, 5, 4), *PROJECTIONS[:2])],
    },
    "dropout": {
        "dropout": [Row(T(2, 3, 5, kind="weights"), p=0.1, generator=Seeded(), source="Srivastava et al. (2014)")],
        "multiplier_variance": [Row(0.1)],
        "row_sum_variance": [Row(T(2, 3, 5, kind="weights"), variance=0.1)],
    },
    "reference": {
        "Reference.forward": [
            Row(QUERY, KEY, VALUE, of=Row(2.0, dropout=0.0)),
            Row(QUERY, KEY, VALUE, attn_mask=T(3, 5, kind="keep"), of=Row(2.0, dropout=0.0), formats=EVERY[:2]),
        ],
        "scale_by_size_wrong": [Row(T(2, 4, 5, 3))],
        "scores_by_size_wrong": [Row(QUERY, KEY, num_heads=4)],
        "attention_by_size_wrong": [Row(T(2, 4, 3, 4), T(2, 4, 5, 4), T(2, 4, 5, 6))],
        "pad": [Row(T(2, 5, 4), T(2, 5, 6), extra=2)],
    },
    "worked": {
        "case": [Row(*([1.0, 2.0] for _ in range(6)))],
        "places_off": [Row(T(2, 3), T(2, 3), not_on_meta="it gives a number of Python's")],
        "score_bound": [Row(T(2, 4), T(2, 4), half=HALF)],
        "error_bounds": [Row(T(2, 3, 4), half=0.01)],
        "least_weight": [Row(T(3), others=2)],
    },
}
