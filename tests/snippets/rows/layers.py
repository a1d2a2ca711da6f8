"""Inputs for snippets/layers."""

import torch
from torch import nn

from tests.snippets.sample import Row, T, sample

X, Z = T(2, 3, 4), T(2, 5, 4)  # n = 3, m = 5, d = 4
W_Q, W_K, W_V = T(4, 6), T(4, 6), T(4, 7)
SCORES = T(3), T(3, 2), T(5), T(5, 2)


@sample
def decoder_layer(dtype: torch.dtype, device: str) -> nn.TransformerDecoderLayer:
    return nn.TransformerDecoderLayer(4, 2, 8, batch_first=True, norm_first=True, dtype=dtype, device=device).eval()


ROWS = {
    "cross": {
        "context_cache": [Row(Z, W_K, W_V), Row(T(5, 4), W_K, W_V)],
        "read_context": [Row(X, W_Q, T(2, 5, 6), T(2, 5, 7)), Row(T(3, 4), W_Q, T(5, 6), T(5, 7))],
        "cross_attention": [Row(X, Z, W_Q, W_K, W_V, source="Vaswani et al. (2017)"), Row(T(3, 4), T(5, 4), W_Q, W_K, W_V)],
        "query_gradients": [Row(T(3, 4), T(5, 4), T(5, 2))],
        "odds_ratios": [Row(T(3, 4, kind="weights"))],
        "over_both": [Row(*SCORES)],
        "gated": [Row(*SCORES, source="He et al. (2022)")],
        "decoder_block": [Row(X, Z, decoder_layer)],
        "reads_more": [Row(7, 3)],
    },
}
