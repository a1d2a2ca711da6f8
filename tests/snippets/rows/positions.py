"""Inputs for snippets/positions."""

import torch

from tests.snippets.input_rows import Row, T

CHEN, DING, ESSER = "Chen et al. (2023)", "Ding et al. (2024)", "Esser et al. (2024)"
META, PENG = "Meta (2024)", "Peng et al. (2024)"
PRESS, WANG = "Press, Smith and Lewis (2022)", "Wang, Bai et al. (2024)"
PLACES, NUMBER, OMEGA = T(5, kind="real"), T(kind="real"), T(3)
POSITIONS = T(5, kind="position")

ROWS = {
    "rope": {
        "score_by_distance": [Row(T(5, 3), OMEGA, T(2, 5, 3), OMEGA, PLACES, OMEGA), Row(*[OMEGA] * 4, NUMBER, OMEGA)],
        "aimed_key": [Row(T(2, 5, 6), distance=3)],
        "rotary_weights": [Row(T(2, 5, 6), T(5, 6))],
        "to_halves": [Row(T(4, 8), num_heads=2)],
        "apply_partial_rotary": [Row(T(2, 5, 6), POSITIONS, width=4), Row(T(6), POSITIONS, width=6, base=100.0)],
    },
    "interpolation": {
        "ntk_base": [Row(10000.0, 4.0, d_k=6)],
        "scale_of_base": [Row(10000.0, 1e6, d_k=6)],
        "interpolated_rotary": [Row(T(2, 5, 6), POSITIONS, s=4.0, source=CHEN), Row(T(6), POSITIONS, s=2.0, base=100.0, source=CHEN)],
        "neighbour_distance": [Row(OMEGA)],
    },
    "yarn": {
        "rotations": [Row(OMEGA, length=4096)],
        "ramp": [Row(PLACES, start=1.0, end=32.0)],
        "yarn_frequencies": [Row(OMEGA, s=4.0, trained=64, source=PENG), Row(OMEGA, s=4.0, trained=64, start=0.5, end=2.0, source=PENG)],
        "yarn_frequencies_by_pair": [Row(8, s=4.0, trained=4096), Row(6, s=2.0, trained=64, start=0.5, end=2.0, base=100.0)],
        "yarn_attention_factor": [Row(4.0)],
        "weights_at_temperature": [Row(T(2, 3, 4), T(5, 4), temperature=0.5)],
        "apply_yarn": [
            Row(T(2, 5, 6), POSITIONS, s=4.0, trained=64, source=PENG),
            Row(T(6), POSITIONS, s=4.0, trained=8, base=100.0, source=PENG),
        ],
        "weight_of_lead": [Row(3.0, 20)],
    },
    "nope": {
        "start_signal": [Row(5), Row(5, lead=2.0)],
        "recovered_position": [Row(T(5, kind="weights")), Row(T(2, 5, kind="weights"), lead=2.0)],
        "causal_means": [Row(T(2, 5, 6), layers=2), Row(T(5, 6), layers=1)],
        "counting_errors": [Row(T(5, kind="weights"), gives=torch.float64)],
    },
    "alibi": {
        "decay": [Row(PLACES, slope=0.5)],
        "alibi_weights": [Row(T(2, 5), PLACES, slope=0.5, source=PRESS), Row(PLACES, T(2, 5, kind="real"), slope=0.5, source=PRESS)],
        "decayed_weights": [Row(T(2, 5, kind="weights"), PLACES, slope=0.5)],
        "slopes": [Row(6, source=PRESS), Row(8, source=PRESS)],
        "with_alibi": [Row(T(2, 3, 4, 6), T(2, 3, 5, 6), PLACES, T(3))],
        "one_more_feature": [Row(T(4, 6), T(5, 6), PLACES, slope=0.5)],
    },
    "scaled": {
        "llama3_frequency": [Row(OMEGA, OMEGA, s=8.0, low=-2.0, high=2.0), Row(T(5, 3), OMEGA, s=8.0, low=-2.0, high=2.0)],
        "llama3_frequencies": [
            Row(T(40), s=8.0, trained=64, source=META),
            Row(T(40), s=8.0, trained=64, low=0.5, high=8.0, source=META),
        ],
        "count_pairs": [Row(T(40), trained=64, low=1.0, high=8.0, not_on_meta="it counts numbers")],
        "yarn_frequency": [Row(OMEGA, OMEGA, s=8.0, start=-2.0, end=2.0)],
        "longrope_frequencies": [Row(OMEGA, OMEGA, source=DING)],
        "longrope_angles": [Row(PLACES, OMEGA, OMEGA), Row(PLACES, OMEGA, OMEGA, unscaled=2)],
        "longrope_attention_factor": [Row(8.0, trained=4096)],
    },
    "images": {
        "grid_angles": [Row(T(5, 2, kind="real"), T(3, 2))],
        "grid_rotation": [Row(T(5, 2, kind="position"), T(3, 2, kind="position"), gives="upcast")],
        "axial_frequencies": [Row(12), Row(12, axes=3, base=100.0)],
        "grid_positions": [Row(2, 3), Row(2, 3, 4)],
        "grid_score": [Row(*[T(5, 3)] * 4, *[T(5, 2, kind="real")] * 2, T(3, 2)), Row(*[OMEGA] * 4, *[T(2, kind="real")] * 2, T(3, 2))],
        "grid_weights": [Row(T(2, 3), T(2, 4)), Row(T(3), T(4))],
        "section_frequencies": [Row((2, 3, 3), base=1e6, source=WANG)],
        "segment_positions": [Row([2, (1, 2, 3), 2])],
        "joint_attention": [Row(T(2, 3, 4), T(2, 5, 4), T(3, 4, 6), T(3, 4, 6), source=ESSER)],
        "project_by_kind": [Row(T(2, 5, 4), T(2, 5), T(4, 6), T(4, 6))],
        "text_share": [Row(T(2, 3), T(2, 5))],
        "joint_output": [Row(T(2, 3), T(2, 3, 6), T(2, 5), T(2, 5, 6))],
    },
}
