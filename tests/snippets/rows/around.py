"""Inputs for snippets/around."""

import torch
from torch import nn

from tests.snippets.input_rows import Row, T, sample

W_1, W_2, v = T(4, 7), T(6, 7), T(7)  # d_q = 4, d_k = 6, r = 7
ZHANG, BA = "Zhang and Sennrich (2019)", "Ba, Kiros and Hinton (2016)"
BAHDANAU, LUONG = "Bahdanau, Cho and Bengio (2015)", "Luong, Pham and Manning (2015)"
X = T(2, 5, 8)


@sample
def theirs(dtype: torch.dtype, device: str) -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True, dtype=dtype, device=device)


@sample
def weights(dtype: torch.dtype, device: str) -> dict:
    return theirs(dtype, device).state_dict()


ROWS = {
    "additive": {
        "additive_scores": [
            Row(T(2, 3, 4), T(2, 5, 6), W_1, W_2, v, source=BAHDANAU),
            Row(T(3, 4), T(2, 5, 6), W_1, W_2, v, source=BAHDANAU),
        ],
        "concat_scores": [Row(T(2, 3, 4), T(2, 5, 6), T(10, 7), v), Row(T(3, 4), T(2, 5, 6), T(10, 7), v)],
        "plain_weights": [Row(T(4), T(5, 6), W_1, W_2, v)],
        "general_scores": [Row(T(2, 3, 4), T(2, 5, 6), T(4, 6), source=LUONG)],
    },
    "layernorm": {
        "rms_norm": [Row(X, source=ZHANG), Row(T(8), eps=0.1, source=ZHANG)],
        "layer_norm": [Row(X, source=BA), Row(T(8), eps=0.1, source=BA)],
        "mean_square": [Row(X)],
        "post_norm": [Row(X, torch.square)],
        "pre_norm": [Row(X, torch.square)],
    },
    "transformer": {
        "one_hot": [Row(T(2, 5, kind="whole"), vocabulary=3, dtype=torch.float64, gives=torch.float64)],
        "embed": [Row(T(2, 5, kind="whole"), T(10, 4))],
        "multi_head": [Row(X, weights, num_heads=2)],
        "feed_forward": [Row(X, weights), Row(X, weights, activation=torch.tanh)],
        "encoder_block": [Row(X, weights, num_heads=2), Row(X, weights, num_heads=4, norm_first=True, eps=0.1)],
        "encoder_arguments": [Row(theirs)],
        "block_parameters": [Row(8, 32)],
        "linear_share": [Row(5, 8)],
    },
}
