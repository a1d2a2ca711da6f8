"""Inputs for snippets/associativity."""

import torch

from tests.snippets.input_rows import Row, T, sample

DOUBLE = torch.float64
THREE = T(2, 3, 4), T(4, 5), T(2, 5, 6)
QUERY, KEY, VALUE = T(2, 3, 4), T(2, 5, 4), T(5, 6)


def fixed(spec: T):
    """One whose shape no test changes: it goes with another's."""
    return sample(lambda dtype, device: spec.make(dtype, device, torch.Generator().manual_seed(0)))


PAIRED = [fixed(spec) for spec in (QUERY, KEY, VALUE)]

ROWS = {
    "products": {
        "grouped_left": [Row(*THREE)],
        "grouped_right": [Row(*THREE)],
        "scalar_placements": [Row(*THREE[:2], c=0.5)],
        "split_scale": [Row(QUERY, KEY)],
    },
    "rounding": {
        "gamma": [Row(4, dtype=torch.float16)],
        "rounding_bound": [Row(*THREE, gives=DOUBLE)],
        "grouping_gap": [Row(*THREE, gives=DOUBLE)],
        "divide_after": [Row(*THREE[:2], c=3.0)],
        "divide_first": [Row(*THREE[:2], c=3.0)],
    },
    "tolerance": {
        "unit_roundoff": [Row(dtype=torch.float16)],
        "smallest": [Row(dtype=torch.float16)],
        "growth": [Row(4, dtype=torch.float16)],
        "exponential_error": [Row(T(2, 3), gives=DOUBLE)],
        "score_error_bound": [Row(QUERY, KEY, gives=DOUBLE), Row(QUERY, KEY, steps=torch.float16, sums=torch.float32, gives=DOUBLE)],
        "weight_factor": [Row(QUERY, KEY, gives=DOUBLE), Row(QUERY, KEY, steps=torch.float16, sums=torch.float32, gives=DOUBLE)],
        "attention_error_bound": [Row(QUERY, KEY, VALUE, gives=DOUBLE), Row(QUERY, KEY, VALUE, steps=torch.float16, gives=DOUBLE)],
        "one_more_rounding": [Row(T(2, 3, kind="positive"), T(2, 3), dtype=torch.float16)],
        "attention_error": [Row(QUERY, KEY, VALUE, gives=DOUBLE), Row(*PAIRED, exact=PAIRED, gives=DOUBLE)],
    },
}
