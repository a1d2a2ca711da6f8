"""Inputs for snippets/layers."""

import torch
from torch import nn

from tests.snippets.input_rows import Row, Seeded, T, sample

X, Z = T(2, 3, 4), T(2, 5, 4)  # n = 3, m = 5, d = 4
W_Q, W_K, W_V = T(4, 6), T(4, 6), T(4, 7)
GATED = T(4, 8), T(4, 8), T(8, 4)
ROUTER = "Shazeer et al. (2017)"
WITH_BIAS = "Wang et al. (2024)"
DEEPSEEK = "DeepSeek-AI, V3 (2024)"
SCORES = T(3), T(3, 2), T(5), T(5, 2)
SENT = "which tokens an expert gets is said by numbers"


@sample
def decoder_layer(dtype: torch.dtype, device: str) -> nn.TransformerDecoderLayer:
    return nn.TransformerDecoderLayer(4, 2, 8, batch_first=True, norm_first=True, dtype=dtype, device=device).eval()


ROWS = {
    "cross": {
        "context_cache": [Row(Z, W_K, W_V), Row(T(5, 4), W_K, W_V)],
        "read_context": [Row(X, W_Q, T(2, 5, 6), T(2, 5, 7)), Row(T(3, 4), W_Q, T(5, 6), T(5, 7))],
        "cross_attention": [
            Row(X, Z, W_Q, W_K, W_V, source="Vaswani et al. (2017)"),
            Row(T(3, 4), T(5, 4), W_Q, W_K, W_V, source="Vaswani et al. (2017)"),
        ],
        "query_jacobian": [Row(T(3, 4), T(5, 4), T(5, 2))],
        "odds_ratios": [Row(T(3, 4, kind="weights"))],
        "over_both": [Row(*SCORES)],
        "gated_cross_attention": [Row(*SCORES, source="He et al. (2022)")],
        "decoder_block": [Row(X, Z, decoder_layer)],
        "reads_more": [Row(7, 3)],
    },
    "residual": {
        "stream": [Row(T(2, 4), T(2, 3, 4), source="Elhage et al. (2021)"), Row(T(4), T(3, 4), source="Elhage et al. (2021)")],
        "stream_logits": [Row(T(2, 4), T(2, 3, 4), T(4, 7))],
        "logit_parts": [Row(T(2, 4), T(2, 3, 4), T(4, 7)), Row(T(4), T(3, 4), T(4, 7))],
        "relu_block": [Row(X, T(4, 8), T(8, 4))],
        "turned_weights": [Row(T(4, 8), T(8, 4), T(4, 4), source="Ashkboos et al. (2024)")],
        "random_stack": [Row(T(4), count=3, generator=Seeded()), Row(T(4), count=3, scale=0.5, generator=Seeded())],
        "cosines": [Row(T(5, 4))],
        "squared_cosine": [Row(stream=3.0, write=1.0)],
        "direct_and_indirect_effect": [Row(X, T(4, 4), T(4, 4))],
    },
    "swiglu": {
        "swiglu_layer": [Row(X, *GATED, source="Shazeer (2020)"), Row(T(4), *GATED, source="Shazeer (2020)")],
        "swiglu_jacobian": [Row(T(4), *GATED)],
        "up_gradient_products": [Row(T(4), *GATED, T(4))],
        "down_gradient_products": [Row(T(4), *GATED, T(4))],
        "imbalance": [Row(*GATED[1:])],
        "swish": [Row(T(2, 3), steepness=1.702)],
        "extra_parameters": [Row(6, 16)],
        "gated_width": [Row(768), Row(768, multiple=1)],
        "balance_lengths": [Row(*GATED[1:])],
    },
    "head": {
        "token_losses": [Row(T(2, 7)), Row(T(7))],
        "logit_gradients": [Row(T(7))],
        "feature_gradients": [Row(T(4), T(7, 4))],
        "winners": [Row(T(7, 4), T(9, 4), not_on_meta="how many tokens win depends on the numbers", gives=torch.int64)],
        "centred_logs": [Row(T(2, 3, 4), T(7, 4)), Row(T(3, 4), T(7, 4))],
        "table_share": [Row(50257, 768, 12)],
    },
    "experts": {
        "route": [Row(T(2, 3, 8), k=2, source=ROUTER), Row(T(8), k=2, divide=False, source=ROUTER)],
        "mixture": [
            Row(T(5, 6), T(6, 4), T(4, 6, 3), k=2, not_on_meta=SENT),
            Row(T(5, 6), T(6, 4), T(4, 6, 3), k=1, divide=False, not_on_meta=SENT),
        ],
        "softmax_then_choose": [Row(T(2), T(6))],
        "choose_then_softmax": [Row(T(2), T(6))],
        "balance_loss": [Row(T(4), T(4), source="Fedus, Zoph and Shazeer (2022)")],
        "balance_of_tokens": [Row(T(5, 4, kind="weights"), T(5, 4, kind="weights"))],
        "scaled_load_covariance": [Row(T(4), T(4))],
        "balance_gradients": [Row(T(5, 4), T(4))],
        "route_by_sigmoid": [Row(T(2, 3, 8), T(8), k=2, source=WITH_BIAS)],
        "updated_bias": [Row(T(4), T(4), rate=0.001, source=WITH_BIAS)],
        "mixtral_parameters": [Row(k=2, source="Jiang et al. (2024)")],
    },
    "routing": {
        "choose_experts": [Row(T(2, 3, 8), T(8), k=2, source=WITH_BIAS), Row(T(8), T(8), k=2, source=WITH_BIAS)],
        "sigmoid_gate": [Row(T(2, 3, 8), factor=2.5, source=DEEPSEEK), Row(T(8), source=DEEPSEEK)],
        "gate_sum": [Row(T(2, 8), T()), Row(T(8), T())],
        "gate_jacobian": [Row(T(5))],
        "balance_by_bias": [Row(T(6, 4), k=2, rate=0.01, steps=3, not_on_meta="which tokens an expert gets depends on the numbers")],
        "uneven_affinity": [Row(T(6, 4), lead=0.5)],
        "total_affinity": [Row(T(5, 3), T(5, 3))],
        "affinity_lead": [Row(T(5, 3), T(5, 3), T(5, 3), T(3))],
        "idle_weights": [Row(256, 8, 7168, 2048)],
        "deepseek_parameters": [Row(k=8)],
    },
    "vision": {
        "class_output": [Row(T(), T(2), T(5), T(5, 2), source="Dosovitskiy et al. (2021)")],
        "mean_pool": [Row(T(5, 5), T(5, 2))],
        "repeat_rows": [Row(T(5), times=3), Row(T(5, 2), times=3)],
        "score_among_copies": [Row(T(), times=3), Row(T(5), times=1)],
        "resize_positions": [Row(T(3, 3, 4), rows=5, columns=6), Row(T(3, 3, 4), rows=6, columns=6, corners=False)],
        "squared_length": [Row(T(4), T(4), t=0.5)],
        "multiplications": [Row(196, 768)],
        "times_the_cost": [Row(196, 768)],
    },
}
