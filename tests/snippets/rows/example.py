"""Inputs for snippets/example."""

from tests.snippets.input_rows import Row, T

WEIGHTS, OTHERS, VALUES = T(2, 5, kind="weights"), T(5, kind="weights"), T(5, 6)

ROWS = {
    "integers": {
        "tokens": [Row()],
        "projections": [Row()],
        "project_tokens": [Row(T(2, 5, 4), T(4, 3))],
    },
    "closed": {
        "closed_weights": [Row()],
        "closed_outputs": [Row()],
    },
    "rounding": {
        "to_places": [Row(T(2, 3), places=1)],
        "output_gap": [Row(WEIGHTS, OTHERS, VALUES)],
        "gap_bound": [Row(WEIGHTS, OTHERS, VALUES)],
    },
}
