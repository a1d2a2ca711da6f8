"""Inputs for snippets/predecessors."""

import torch

from snippets.predecessors.rnn import rnn_step
from tests.snippets.input_rows import EVERY, Row, Seeded, T

KATHAROPOULOS, CHOROMANSKI = "Katharopoulos et al. (2020)", "Choromanski et al. (2021)"
LSTM = "Gers, Schmidhuber and Cummins (2000)"
QUERY, KEY, VALUE = T(2, 3, 4), T(2, 5, 4), T(5, 6)  # n = 3, m = 5, d_k = 4, d_v = 6
CELL = T(2, 3), T(2, 4), T(2, 4), T(3, 16), T(4, 16)  # x, h, c, U, W
STEP = T(3, 4), T(4, 4)  # U, W
LEARNER = T(2, 3, 4), T(4, 6), T(2, 5, 4), T(2, 5, 6)  # queries, weight, keys, values

ROWS = {
    "linear": {
        "jacobian": [Row(torch.sin, T(2, 3))],
        "weigh_then_mix": [Row(QUERY, KEY, VALUE)],
        "sum_then_ask": [Row(QUERY, KEY, VALUE)],
        "exponentials": [Row(QUERY, KEY, gives="upcast")],
        "kernel_attention": [Row(QUERY, KEY, VALUE)],
        "linear_attention": [Row(QUERY, KEY, VALUE)],
        "causal_scan": [Row(T(2, 5, 4), KEY, VALUE, source=KATHAROPOULOS)],
        "quadratic_multiplications": [Row(3, 5, 4, 6)],
        "linear_multiplications": [Row(3, 5, 4, 6)],
        "squared_distances": [Row(QUERY, KEY)],
        "gaussian_weights": [Row(QUERY, KEY)],
        "random_features": [Row(T(2, 3, 4), T(7, 4), source=CHOROMANSKI), Row(T(4), T(7, 4), source=CHOROMANSKI)],
    },
    "lstm": {
        "gate": [Row(T(2, 3))],
        "lstm_step": [Row(*CELL, source=LSTM), Row(*CELL, bias=T(16), source=LSTM)],
        "cell_path": [Row(T(2, 3))],
        "opening_gates": [Row(5)],
        "cell_gradients": [Row(4.0)],
        "residual_block": [Row(T(2, 3), T(3, 5), T(5, 3))],
    },
    "memory": {
        "linear_layer_loss": [Row(*LEARNER[1:])],
        "ask_after_step": [Row(*LEARNER, rate=0.5)],
        "attend_to_errors": [Row(*LEARNER, rate=0.5)],
        "hopfield_energy": [Row(T(7, 4), T(5, 4), beta=0.5), Row(T(4), T(5, 4), beta=0.5)],
        "hopfield_step": [Row(T(7, 4), T(5, 4), beta=0.5), Row(T(7, 4), T(7, 5, 4), beta=0.5)],
    },
    "rnn": {
        "squash": [Row(T(2, 3))],
        "squash_gradient": [Row(T(2, 3))],
        "linear_step": [Row(T(2, 3), T(2, 4), *STEP), Row(T(3), T(4), *STEP, bias=T(4))],
        "rnn_step": [Row(T(2, 3), T(2, 4), *STEP), Row(T(3), T(4), *STEP, bias=T(4))],
        "rnn": [Row(T(2, 5, 3), T(2, 4), *STEP), Row(T(5, 3), T(4), *STEP, bias=T(4))],
        "reach": [Row(rnn_step, T=3, w=0.9, generator=Seeded(), formats=EVERY[:2])],
        "attention_reach": [Row(T=3, score=1.0, formats=EVERY[:2])],
    },
}
