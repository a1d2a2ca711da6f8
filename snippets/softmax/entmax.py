"""Other ways to turn scores into weights: sparsemax, entmax, sigmoid and ReLU.

Three scores, weighed in five ways:

--8<-- [start:example-ways]
>>> import torch
>>> from snippets.softmax.entmax import (
...     entmax, relu_weights, sigmoid_weights, sparsemax)
>>> scores = torch.tensor([2.0, 1.5, 0.0])
>>> ways = {
...     "softmax": scores.softmax(-1),
...     "entmax 1.5": entmax(scores, alpha=1.5),
...     "sparsemax": sparsemax(scores),
...     "sigmoid": sigmoid_weights(scores),
...     "ReLU": relu_weights(scores),
... }
>>> for name, weights in ways.items():
...     print(f"{name:10}", *(f"{weight:.2f}" for weight in weights),
...           f"  sum {weights.sum():.2f}")
softmax    0.57 0.35 0.08   sum 1.00
entmax 1.5 0.67 0.33 0.00   sum 1.00
sparsemax  0.75 0.25 0.00   sum 1.00
sigmoid    0.71 0.60 0.25   sum 1.56
ReLU       0.67 0.50 0.00   sum 1.17

--8<-- [end:example-ways]

Keys that keep a weight among a thousand random scores, by the size of the scores:

--8<-- [start:example-kept]
>>> generator = torch.Generator().manual_seed(0)
>>> random = torch.randn(1000, generator=generator, dtype=torch.float64)
>>> for size in (0.25, 1.0, 4.0):
...     kept = [int((weights > 0).sum()) for weights in (
...         (size * random).softmax(-1),
...         entmax(size * random, alpha=1.5),
...         sparsemax(size * random))]
...     print(f"scores times {size:4}: softmax {kept[0]:4}"
...           f"   entmax 1.5 {kept[1]:3}   sparsemax {kept[2]:3}")
scores times 0.25: softmax 1000   entmax 1.5 147   sparsemax  15
scores times  1.0: softmax 1000   entmax 1.5  23   sparsemax   6
scores times  4.0: softmax 1000   entmax 1.5   6   sparsemax   2

--8<-- [end:example-kept]

The gradient of sparsemax by autograd and by the formula:

--8<-- [start:example-gradient]
>>> from snippets.softmax.entmax import through_sparsemax
>>> z = scores.clone().requires_grad_()
>>> values = torch.tensor([1.0, 3.0, 9.0])
>>> (sparsemax(z) @ values).backward()
>>> z.grad.tolist(), through_sparsemax(sparsemax(scores), values).tolist()
([-1.0, 1.0, 0.0], [-1.0, 1.0, 0.0])

--8<-- [end:example-gradient]
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


# --8<-- [start:sparsemax]
def sparsemax(
    scores: Float[Tensor, "*batch n"],
) -> Float[Tensor, "*batch n"]:
    """Return the weights nearest to the scores: Martins and Astudillo (2016)."""
    largest_first = scores.sort(dim=-1, descending=True).values
    kept = torch.arange(1, scores.shape[-1] + 1).to(scores)  # 1 to n keys
    thresholds = (largest_first.cumsum(-1) - 1) / kept
    return (scores - thresholds.amax(-1, keepdim=True)).relu()


# --8<-- [end:sparsemax]


# --8<-- [start:backward]
def through_sparsemax(
    weights: Float[Tensor, "*#batch n"], vector: Float[Tensor, "*#batch n"]
) -> Float[Tensor, "*batch n"]:
    """Return the Jacobian of sparsemax at these weights, times a vector: the vector
    less its mean over the support, and zero elsewhere."""
    support = (weights > 0).to(vector.dtype)
    mean = (support * vector).sum(-1, keepdim=True) / support.sum(
        -1, keepdim=True
    )
    return support * (vector - mean)


# --8<-- [end:backward]


# --8<-- [start:entmax]
def entmax(
    scores: Float[Tensor, "*batch n"], *, alpha: float
) -> Float[Tensor, "*batch n"]:
    """Return the weights of entmax, for alpha above one: Peters, Niculae and
    Martins (2019). Find the threshold by halving an interval."""
    scaled = (alpha - 1) * scores
    high = scaled.amax(-1, keepdim=True)  # (*batch, 1): the sum is 0 here,
    low = high - 1  # and at least 1 here
    for _ in range(60):
        middle = (low + high) / 2
        powers = (scaled - middle).relu() ** (1 / (alpha - 1))
        enough = powers.sum(-1, keepdim=True) >= 1
        low, high = (
            torch.where(enough, middle, low),
            torch.where(enough, high, middle),
        )
    return (scaled - low).relu() ** (1 / (alpha - 1))


# --8<-- [end:entmax]


# --8<-- [start:pointwise]
def sigmoid_weights(
    scores: Float[Tensor, "*batch n"],
) -> Float[Tensor, "*batch n"]:
    """Return the sigmoid of each score, less the logarithm of the number of keys:
    Ramapuram et al. (2024)."""
    return torch.sigmoid(scores - math.log(scores.shape[-1]))


def relu_weights(
    scores: Float[Tensor, "*batch n"],
) -> Float[Tensor, "*batch n"]:
    """Return the positive scores divided by the number of keys: Wortsman et al.
    (2023)."""
    return scores.relu() / scores.shape[-1]


# --8<-- [end:pointwise]
