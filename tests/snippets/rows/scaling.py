"""Inputs for snippets/scaling."""

from tests.snippets.input_rows import EVERY, Row, Seeded, T

ROWS = {
    "variance": {
        "dot": [Row(T(2, 3, 4), T(3, 4))],
        "draw": [Row(2, 3, generator=Seeded(), mu=1.0, sigma=2.0)],
        "sample_moments": [Row(T(2, 30, 4), T(30, 4))],
        "predicted_moments": [Row(4), Row(4, mu=1.0, sigma=2.0)],
        "predicted_moments_same": [Row(4), Row(4, mu=1.0, sigma=2.0)],
    },
    "normal": {
        "scaled_dots": [Row(20, 4, generator=Seeded())],
        "fourth_moment": [Row(T(2, 30))],
        "predicted_fourth_moment": [Row(4)],
        "excess_kurtosis": [Row(T(2, 30))],
        "predicted_excess_kurtosis": [Row(4)],
        "characteristic_function": [Row(T(3), d=4)],
        "normal_characteristic_function": [Row(T(3))],
        "empirical_characteristic_function": [Row(T(2, 30), T(3), formats=EVERY[:2])],
    },
    "saturation": {
        "two_key_weight": [Row(T(3)), Row(T())],
        "two_key_gradient": [Row(T(3)), Row(T())],
        "entropy": [Row(T(2, 3, 5, kind="weights")), Row(T(5, kind="weights"))],
        "weight_gradients": [Row(T(2, 3, 5, kind="weights"))],
        "concentration": [Row(T(2, 3, 4), T(2, 5, 4)), Row(T(3, 4), T(5, 4), scale=1.0)],
        "query_gradients": [Row(T(2, 3, 4), T(2, 5, 4), T(5, 6)), Row(T(3, 4), T(5, 4), T(5, 6), scale=1.0)],
    },
}
