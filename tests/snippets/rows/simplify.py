"""Inputs for snippets/simplify."""

from tests.snippets.input_rows import EVERY, Row, T

BOTH = EVERY[:2]  # LAPACK has no half formats
RANK = "the rank depends on the numbers"
X, W_Q, W_K, P = T(2, 5, 4), T(4, 3), T(4, 3), T(5, 5, kind="weights")
SQUARES = T(2, 3, 3), T(3, 3), T(3, 3)

ROWS = {
    "attempts": {
        "unscaled_scores": [Row(X, W_Q, W_K)],
        "commuted_merge_wrong": [Row(*SQUARES)],
        "solve_for_scores": [
            Row(*SQUARES, formats=BOTH, not_on_meta=RANK),
            Row(T(3, 3), T(3, 2), T(2, 3, 2), formats=BOTH, not_on_meta=RANK),
        ],
        "least_squares_for_scores": [
            Row(X, W_Q, W_K, formats=BOTH),
            Row(T(2, 4), T(3, 4, 3), W_K, formats=BOTH),
        ],
        "another_solution": [Row(X, T(2, 4, 3), T(4, 3), formats=BOTH)],
        "score_residual": [Row(X, T(4, 5), W_Q, W_K)],
    },
    "bilinear": {
        "split_scores": [Row(X, W_Q, W_K), Row(X, W_Q, W_K, scale=0.5)],
        "merge_projections": [Row(W_Q, W_K), Row(T(2, 4, 3), W_K, scale=0.5)],
        "merged_scores": [Row(X, T(4, 4))],
        "change_gauge": [Row(W_Q, T(2, 4, 3), T(3, 3), formats=BOTH, not_on_meta=RANK)],
        "split_output": [Row(P, X, T(4, 3), T(3, 4))],
        "merged_output": [Row(P, X, T(4, 4))],
        "split_multiplications": [Row(5, 4, 3)],
        "merged_multiplications": [Row(5, 4)],
        "merging_saves": [Row(5, 4, 3)],
    },
    "softmax": {
        "matrix_after": [Row(T(2, 3, 5), T(5, 4))],
        "matrix_inside": [Row(T(2, 3, 5), T(5, 4))],
        "rank_one_scores": [Row(T(2, 3), T(5))],
    },
}
