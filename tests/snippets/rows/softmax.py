"""Inputs for snippets/softmax."""

from tests.snippets.input_rows import Row, T

SCORES, WEIGHTS = T(2, 3, 5), T(2, 3, 5, kind="weights")
MARTINS, PETERS = "Martins and Astudillo (2016)", "Peters, Niculae and Martins (2019)"
COPIED = T(), T(), T(3), T(3)

ROWS = {
    "axes": {
        "batched_product": [Row(T(2, 3, 4), T(4, 5)), Row(T(3, 4), T(2, 4, 5))],
        "swap_last_axes": [Row(SCORES)],
        "sums": [Row(SCORES, dim=1), Row(SCORES, dim=-1)],
        "normalised_axes": [Row(WEIGHTS, not_on_meta="it compares numbers")],
        "mix_values": [Row(SCORES, T(5, 6)), Row(T(3, 5), T(2, 5, 6), dim=-2)],
    },
    "dilution": {
        "most_weight": [Row(2.0, 5)],
        "needed_gap": [Row(0.5, 5)],
        "mean_with_copies": [Row(*COPIED, copies=3)],
        "mean_with_bias": [Row(*COPIED, copies=3)],
    },
    "distribution": {
        "softmax": [Row(SCORES), Row(T(5))],
        "gaps": [Row(WEIGHTS)],
        "effective_keys": [Row(SCORES), Row(T(5))],
        "scaled_before": [Row(SCORES, d_k=4)],
        "scaled_after_wrong": [Row(SCORES, d_k=4)],
    },
    "entmax": {
        "sparsemax": [Row(SCORES, source=MARTINS), Row(T(5), source=MARTINS)],
        "through_sparsemax": [Row(WEIGHTS, T(5)), Row(T(5, kind="weights"), SCORES)],
        "entmax": [Row(SCORES, alpha=1.5, source=PETERS), Row(T(5), alpha=1.25, source=PETERS)],
        "sigmoid_weights": [Row(SCORES, source="Ramapuram et al. (2024)")],
        "relu_weights": [Row(SCORES, source="Wortsman et al. (2023)")],
    },
    "jacobian": {
        "softmax_jacobian": [Row(WEIGHTS)],
        "through_softmax": [Row(WEIGHTS, T(5)), Row(T(5, kind="weights"), SCORES)],
        "variance": [Row(WEIGHTS, T(5))],
        "cross_entropy_gradient": [Row(SCORES, T(5, kind="weights")), Row(T(5), WEIGHTS)],
        "largest_eigenvalue": [Row(WEIGHTS)],
    },
    "temperature": {
        "softmax_with_temperature": [Row(SCORES, tau=2.0)],
        "sharpen": [Row(WEIGHTS, beta=2.0)],
        "objective": [Row(WEIGHTS, T(5)), Row(T(5, kind="weights"), SCORES, tau=2.0)],
        "distillation_loss": [Row(SCORES, T(5), tau=2.0)],
        "distillation_gradient": [Row(SCORES, T(5), tau=2.0)],
    },
}
