"""Inputs for snippets/linear."""

import torch

from tests.snippets.input_rows import Row, T

KATHAROPOULOS = "Katharopoulos et al. (2020)"
QUERY, KEY, VALUE = T(2, 5, 4), T(2, 5, 4), T(5, 6)  # n = 5, r = 4, d_v = 6
STATE, TOKEN = T(2, 4, 6), (T(2, 1, 4), T(1, 6))

ROWS = {
    "attention": {
        "positive_features": [Row(T(2, 5, 4), source=KATHAROPOULOS)],
        "masked_product": [Row(QUERY, KEY, VALUE)],
        "running_state": [Row(QUERY, KEY, VALUE)],
        "write_state": [Row(KEY, VALUE)],
        "read_state": [Row(T(2, 3, 4), T(4, 6))],
        "nearest": [Row(T(2, 3, 6), T(5, 6), gives=torch.int64)],
        "cache_numbers": [Row(5, 4, 6)],
        "state_numbers": [Row(4, 6)],
        "recall_noise": [Row(KEY)],
    },
    "delta": {
        "squared_error": [Row(STATE, *TOKEN)],
        "delta_step": [Row(STATE, *TOKEN, beta=0.5)],
        "additive_step": [Row(STATE, *TOKEN, beta=0.5)],
        "delta_rule": [Row(QUERY, KEY, VALUE, T(2, 5), source="Schlag, Irie and Schmidhuber (2021)")],
    },
    "gates": {
        "gated_state": [Row(QUERY, KEY, VALUE, T(2, 5, 1)), Row(QUERY, KEY, VALUE, T(5, 4))],
        "decay_mask": [Row(T(2, 5, kind="positive"))],
        "gated_product": [Row(QUERY, KEY, VALUE, T(2, 5, kind="positive"))],
        "absorb_gates": [Row(QUERY, KEY, T(2, 5, 4, kind="positive"))],
        "weights_with_alibi": [Row(T(2, 5), slope=0.5, source="Press, Smith and Lewis (2022)")],
        "share_beyond": [Row(0.9, 5)],
        "half_life": [Row(0.9)],
        "gated_delta_step": [Row(STATE, *TOKEN, alpha=0.9, beta=0.5, source="Yang et al. (2025)")],
    },
    "duality": {
        "recurrence_matrix": [Row(T(2, 5))],
        "chunked_linear_attention": [Row(QUERY, KEY, VALUE, T(2, 5, kind="positive"), chunk=2)],
        "masked_multiplications": [Row(5, 4, 6)],
        "recurrent_multiplications": [Row(5, 4, 6)],
        "chunked_multiplications": [Row(5, 4, 6, chunk=2)],
        "best_chunk": [Row(4, 6, price=2.0)],
        "parallel_scan": [Row(T(5), T(5, 4, 6))],
    },
    "hybrids": {
        "full_bytes": [Row(5, 2, 3, 8)],
        "hybrid_bytes": [Row(5, 2, 3, 8, 24)],
        "state_in_tokens": [Row(8, 2, width=4)],
        "channel_delta_step": [Row(STATE, *TOKEN, T(2, 1, 4), beta=0.5, source="Kimi Team (2025)")],
    },
    "chunks": {
        "chunk_system": [Row(KEY, T(2, 5))],
        "solve_system": [Row(T(2, 5, 5), VALUE, T(2, 5))],
        "solve_chunk": [Row(KEY, VALUE, T(2, 5))],
        "read_chunk": [Row(QUERY, KEY, STATE, VALUE)],
        "product_of_steps": [Row(T(5, 4), T(5))],
        "chunked_delta_rule": [Row(QUERY, KEY, VALUE, T(2, 5), chunk=2, source="Yang, Wang, Zhang et al. (2024)")],
        "inverse_by_squaring": [Row(T(2, 5, 5))],
        "delta_multiplications": [Row(5, 4, 6)],
        "chunked_delta_multiplications": [Row(5, 4, 6, chunk=2)],
        "chunked_steps": [Row(5, chunk=2)],
    },
}
