"""A worked example of basic self-attention, printed to four places, and how much its last place means.

Recomputed from the printed inputs, some numbers differ by one in the last place:

--8<-- [start:example-printed]
>>> import torch
>>> from snippets.attention.formula import attention_steps
>>> from snippets.attention.worked import (
...     FINER, OUTPUTS, SCORES, TOKENS, WEIGHTS, places_off)
>>> def compare(X):
...     found = attention_steps(X, X, X, scale=1.0)[2:]  # scores, weights, output
...     printed = SCORES, WEIGHTS, OUTPUTS
...     return [places_off(*pair) for pair in zip(found, printed)]
>>> compare(TOKENS)
[1, 0, 1]

--8<-- [end:example-printed]

Inputs with six places that round to the printed ones reproduce all of them:

--8<-- [start:example-finer]
>>> places_off(FINER, TOKENS)
0
>>> compare(FINER)
[0, 0, 0]

--8<-- [end:example-finer]

How far results can be off if inputs are off by half a unit of the fourth place:

--8<-- [start:example-bounds]
>>> from snippets.attention.worked import error_bounds
>>> score, weight, output = error_bounds(TOKENS, half=0.5e-4)
>>> for name, bound in zip(("scores", "weights", "outputs"), (score, weight, output)):
...     print(f"{name:7}   off by at most {bound.max():.1e}")
scores    off by at most 4.9e-04
weights   off by at most 9.9e-04
outputs   off by at most 2.3e-03

--8<-- [end:example-bounds]

The same tokens with random projections and without the scale. The largest score gets all the weight:

--8<-- [start:example-unscaled]
>>> from snippets.attention.worked import least_weight
>>> from snippets.attention.formula import scores as scores_of
>>> generator = torch.Generator().manual_seed(227)
>>> W_Q, W_K = torch.randn(2, 4, 4, generator=generator, dtype=torch.float64)
>>> scores = scores_of(TOKENS @ W_Q, TOKENS @ W_K, scale=1.0)  # (batch, n, n)
>>> place = (scores == scores.max()).nonzero()[0]
>>> row = scores[place[0], place[1]]
>>> cases = {"unscaled": 1, "scaled": 4**0.5,
...          "scaled, projections of variance 1 / d": 4**0.5 * 4}
>>> for name, divisor in cases.items():
...     print(name, [round(score, 1) for score in (row / divisor).tolist()],
...           [f"{weight:.4f}" for weight in (row / divisor).softmax(-1)])
unscaled [-23.6, -4.6, 25.9] ['0.0000', '0.0000', '1.0000']
scaled [-11.8, -2.3, 12.9] ['0.0000', '0.0000', '1.0000']
scaled, projections of variance 1 / d [-2.9, -0.6, 3.2] ['0.0020', '0.0215', '0.9765']

--8<-- [end:example-unscaled]

A lead of eleven over each of two others is enough for four places:

--8<-- [start:example-lead]
>>> for gap in torch.tensor([5.0, 10.0, 11.0, 15.0], dtype=torch.float64):
...     print(f"lead {gap:2.0f}   weight at least {least_weight(gap, others=2):.4f}")
lead  5   weight at least 0.9867
lead 10   weight at least 0.9999
lead 11   weight at least 1.0000
lead 15   weight at least 1.0000

--8<-- [end:example-lead]

"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention_weights

DIGITS = 1e-4  # one unit of the last printed place


# --8<-- [start:printed]
def case(
    *rows: list[float],
    dtype: torch.dtype = torch.float64,
    device: torch.device | str | None = None,
) -> Float[Tensor, "2 3 k"]:
    """Two sequences of three tokens each, row by row: six rows of k numbers."""
    return torch.tensor(rows, dtype=dtype, device=device).unflatten(0, (2, 3))


TOKENS = case(  # (batch, n, d)
    [0.2688, 0.3804, -1.7762, 0.8495],
    [-0.1935, -0.3447, -0.3844, 0.7467],
    [1.3795, -0.3551, 0.0151, -1.9090],
    [-0.3196, 1.8688, -0.8605, 0.5735],
    [-0.2754, -0.9110, -0.9624, -1.8642],
    [1.0176, -2.2407, -0.6599, 1.0171],
)
SCORES = case(  # (batch, n, n), unscaled
    [4.0935, 1.1339, -1.4127],
    [1.1339, 0.8616, -1.5759],
    [-1.4127, -1.5759, 5.6737],
    [4.6638, -1.8554, -3.3616],
    [-1.8554, 5.3073, 0.5000],
    [-3.3616, 0.5000, 7.5263],
)
WEIGHTS = case(  # (batch, n, n)
    [0.9471, 0.0491, 0.0038],
    [0.5470, 0.4166, 0.0364],
    [0.0008, 0.0007, 0.9985],
    [0.9982, 0.0015, 0.0003],
    [0.0008, 0.9911, 0.0081],
    [0.0000, 0.0009, 0.9991],
)
OUTPUTS = case(  # (batch, n, d)
    [0.2504, 0.3420, -1.7010, 0.8338],
    [0.1166, 0.0516, -1.1312, 0.7063],
    [1.3775, -0.3544, 0.0133, -1.9048],
    [-0.3191, 1.8633, -0.8606, 0.5700],
    [-0.2650, -0.9196, -0.9599, -1.8390],
    [1.0164, -2.2395, -0.6602, 1.0146],
)

FINER = case(  # six places; found by search among the inputs that round to the printed ones
    [0.268816, 0.380406, -1.776211, 0.849488],
    [-0.193532, -0.344677, -0.384374, 0.746729],
    [1.379512, -0.355059, 0.015087, -1.909025],
    [-0.319631, 1.868778, -0.860471, 0.573471],
    [-0.275416, -0.911011, -0.962416, -1.864216],
    [1.017611, -2.240720, -0.659884, 1.017121],
)
# --8<-- [end:printed]


# --8<-- [start:places]
def places_off(
    found: Float[Tensor, "*shape"], expected: Float[Tensor, "*shape"]
) -> int:
    """The largest difference after rounding, in units of the fourth place."""
    units = (found / DIGITS).round() - (expected / DIGITS).round()
    return int(units.abs().max())


# --8<-- [end:places]


# --8<-- [start:bounds]
def score_bound(
    x: Float[Tensor, "*#batch d"], y: Float[Tensor, "*#batch d"], *, half: float
) -> Float[Tensor, "*batch"]:
    """How far x.y can move if every entry of both moves by at most `half`."""
    return half * (x.abs() + y.abs()).sum(-1) + x.shape[-1] * half**2


def error_bounds(
    X: Float[Tensor, "*batch n d"], *, half: float
) -> tuple[
    Float[Tensor, "*batch n n"],
    Float[Tensor, "*batch n n"],
    Float[Tensor, "*batch n d"],
]:
    """How far scores, weights and outputs of basic attention can move with X."""
    score = score_bound(X.unsqueeze(-2), X.unsqueeze(-3), half=half)
    factor = torch.expm1(2 * score.amax(-1, keepdim=True))  # (*batch, n, 1)
    weight = factor * attention_weights(X, X, scale=1.0)
    return score, weight, weight @ X.abs() + half


# --8<-- [end:bounds]


# --8<-- [start:least]
def least_weight(
    gap: Float[Tensor, "*batch"], *, others: int
) -> Float[Tensor, "*batch"]:
    """The smallest weight of a score that leads each of the others by the gap."""
    return 1 / (1 + others * torch.exp(-gap))


# --8<-- [end:least]
