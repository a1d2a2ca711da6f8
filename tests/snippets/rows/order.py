"""Inputs for snippets/order."""

import torch

from snippets.order.causal import Cache
from snippets.order.cost import attention_layer
from snippets.order.rotary import Rotation
from tests.snippets.input_rows import Row, T, sample

VASWANI, SU, SHAW = "Vaswani et al. (2017)", "Su et al. (2021)", "Shaw, Uszkoreit and Vaswani (2018)"
PROJECTIONS = T(4, 3), T(4, 3), T(4, 6)  # d = 4, d_k = 3, d_v = 6
SQUARES = [T(4, 4)] * 4
PLACES, NUMBER, PAIRS, OMEGA = T(5, kind="real"), T(kind="real"), T(2, 3), T(3)
POSITIONS = T(5, kind="position")


@sample
def rotation(dtype: torch.dtype, device: str) -> Rotation:
    wide = torch.promote_types(dtype, torch.float32)
    return Rotation(*(torch.ones(5, 4, dtype=wide, device=device) for _ in range(2)))


@sample
def one_rotation(dtype: torch.dtype, device: str) -> Rotation:
    return Rotation(*(one[0] for one in rotation(dtype, device)))


@sample
def whole_places(dtype: torch.dtype, device: str) -> torch.Tensor:
    return torch.arange(5, device=device)


@sample
def trained(dtype: torch.dtype, device: str) -> torch.Tensor:
    return torch.ones(4, 4, dtype=dtype, device=device, requires_grad=True)


@sample
def cache(dtype: torch.dtype, device: str) -> Cache:
    return Cache(torch.ones(2, 5, 3, dtype=dtype, device=device), torch.ones(2, 5, 6, dtype=dtype, device=device))


ROWS = {
    "permutation": {
        "reorder": [Row(T(3, 3), T(2, 3, 4))],
        "sequence": [Row(T(4), T(4), T(3, 4)), Row(T(2, 4), T(2, 4), T(2, 0, 4))],
        "merged_self_attention": [Row(T(2, 5, 4), T(3, 4, 4), T(3, 4, 4))],
        "output_of_one_query": [Row(T(3, 4), T(2, 5, 4), T(3, 4, 4))],
    },
    "positions": {
        "frequencies": [Row(6), Row(6, base=100.0)],
        "waves": [Row(PLACES, T(3)), Row(whole_places, T(3)), Row(NUMBER, T(3))],
        "sinusoidal_encoding": [Row(5, 6, source=VASWANI), Row(5, 6, base=100.0, source=VASWANI)],
        "shift_encoding": [Row(T(2, 5, 6), k=2), Row(T(5, 6), k=0.5, base=100.0)],
        "encoding_product": [Row(PLACES, NUMBER, T(3)), Row(NUMBER, whole_places, T(3))],
        "longest_wave": [Row(4, 100.0, 6.28)],
    },
    "rotary": {
        "rotate_pairs": [Row(PAIRS, PAIRS, T(2, kind="real"), OMEGA), Row(OMEGA, OMEGA, whole_places, OMEGA)],
        "find_rotation": [Row(T(3, 5, kind="position"), T(3, kind="position"), gives="upcast")],
        "reject_half": [Row()],
        "apply_rotation": [Row(T(2, 5, 8), one_rotation)],
        "rotate": [Row(T(2, 5, 8), rotation), Row(T(2, 5, 9), rotation, interleaved=True)],
        "rotated_score": [Row(*[PAIRS] * 4, NUMBER, NUMBER, OMEGA), Row(*[OMEGA] * 4, NUMBER, whole_places, OMEGA)],
        "apply_rotary": [Row(T(2, 5, 6), POSITIONS, source=SU), Row(T(6), whole_places, base=100.0, source=SU)],
        "align_positions": [Row(T(2, 5, 6), whole_places), Row(T(2, 5, 3, 6), whole_places, token_axis=-3)],
        "apply_rotary_interleaved": [Row(T(2, 5, 6), POSITIONS), Row(T(6), whole_places, base=100.0)],
        "interleave": [Row(T(2, 5, 6))],
        "mean_cosine": [Row(PLACES, T(3)), Row(whole_places, T(3))],
        "clipped_bias": [Row(T(5), n=3, m=6, source=SHAW), Row(T(1), n=3, m=0, source=SHAW)],
    },
    "causal": {
        "kept_weights": [Row(T(4), T(5, 4), T(5, kind="positive"))],
        "kept_mean": [Row(T(4), T(5, 4), T(5, kind="positive"))],
        "token_gradients": [Row(T(4), T(5, 4), T(5, kind="positive"))],
        "decode_step": [Row(T(2, 1, 4), *PROJECTIONS), Row(T(2, 1, 4), *PROJECTIONS, cache=cache)],
        "window_outputs": [Row(T(2, 3, 5), T(5, 6), keep=2)],
        "causal_pairs": [Row(4)],
        "marker_share": [Row(4)],
        "cache_bytes": [Row(5, 2, 3, 4, 2)],
    },
    "cost": {
        "attention_layer": [Row(T(2, 5, 4), *SQUARES, num_heads=2), Row(T(5, 4), *SQUARES, num_heads=1, is_causal=True)],
        "training_step": [Row(T(2, 5, 4), trained, *[T(4, 4)] * 3, num_heads=2)],
        "operations": [Row(attention_layer, *[trained] * 5, num_heads=2)],
        "projection_operations": [Row(5, 4)],
        "pair_operations": [Row(5, 4)],
        "forward_operations": [Row(5, 4)],
        "backward_of_product": [Row(2, 3, 4)],
        "doubling_ratio": [Row(5, 4)],
        "excess_of_pairs": [Row(5, 4)],
        "weights_held": [Row(5, 2)],
        "weights_per_output": [Row(5, 4)],
        "operations_without_cache": [Row(5, 4)],
        "step_operations": [Row(5, 4)],
        "operations_with_cache": [Row(5, 4)],
    },
}
