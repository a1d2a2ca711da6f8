"""Inputs for snippets/linear."""

from tests.snippets.sample import Row, T

KATHAROPOULOS = "Katharopoulos et al. (2020)"
QUERY, KEY, VALUE = T(2, 5, 4), T(2, 5, 4), T(5, 6)  # n = 5, r = 4, d_v = 6
STATE, TOKEN = T(2, 4, 6), (T(2, 1, 4), T(1, 6))

ROWS = {
    "attention": {
        "positive_features": [Row(T(2, 5, 4), source=KATHAROPOULOS)],
        "masked_product": [Row(QUERY, KEY, VALUE)],
        "running_state": [Row(QUERY, KEY, VALUE)],
        "store": [Row(KEY, VALUE)],
        "read": [Row(T(2, 3, 4), T(4, 6))],
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
}
