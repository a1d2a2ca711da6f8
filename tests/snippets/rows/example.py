"""Inputs for snippets/example."""

from tests.snippets.input_rows import Row, T

WEIGHTS, OTHERS, VALUES = T(2, 5, kind="weights"), T(5, kind="weights"), T(5, 6)

ROWS = {
    "tokens": {
        "merge_pair": [Row(["a", "b", "a"], ("a", "b"))],
        "learn_merges": [Row("abab", 2)],
        "tokenize": [Row("abab", [("a", "b")])],
        "table_gradient": [Row(T(2, 3, 5), T(2, 3, 4))],
    },
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
