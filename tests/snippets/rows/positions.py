"""Inputs for snippets/positions."""

from tests.snippets.sample import Row, T

CHEN = "Chen et al. (2023)"
PLACES, NUMBER, OMEGA = T(5, kind="real"), T(kind="real"), T(3)

ROWS = {
    "rope": {
        "score_by_distance": [Row(T(5, 3), OMEGA, T(2, 5, 3), OMEGA, PLACES, OMEGA), Row(*[OMEGA] * 4, NUMBER, OMEGA)],
        "aimed_key": [Row(T(2, 5, 6), distance=3)],
        "to_halves": [Row(T(4, 8), num_heads=2)],
        "apply_partial_rotary": [Row(T(2, 5, 6), PLACES, turned=4), Row(T(6), PLACES, turned=6, base=100.0)],
    },
    "interpolation": {
        "ntk_base": [Row(10000.0, 4.0, d_k=6)],
        "scale_of_base": [Row(10000.0, 1e6, d_k=6)],
        "interpolated_rotary": [Row(T(2, 5, 6), PLACES, s=4.0, source=CHEN), Row(T(6), PLACES, s=2.0, base=100.0, source=CHEN)],
        "neighbour_distance": [Row(OMEGA)],
    },
}
