"""Softmax turns scores into weights, and what does not commute with it.

--8<-- [start:example-softmax]
>>> import torch
>>> from snippets.softmax.distribution import gaps, softmax
>>> z = torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64)
>>> weights = softmax(z)
>>> weights.round(decimals=4).tolist(), weights.sum().item()
([0.042, 0.1142, 0.8438], 1.0)
>>> softmax(z + 1000).round(decimals=4).tolist()  # exp(1000) alone would overflow
[0.042, 0.1142, 0.8438]
>>> # differences between scores, read off the weights
>>> gaps(weights).round(decimals=4).tolist()
[[0.0, -1.0, -3.0], [1.0, 0.0, -2.0], [3.0, 2.0, 0.0]]

--8<-- [end:example-softmax]

The effective number of keys, for three rows of scores:

--8<-- [start:example-effective]
>>> from snippets.softmax.distribution import effective_keys
>>> scores = torch.tensor([[0.0, 0, 0], [0, 1, 3], [0, 0, 50]]).double()
>>> effective_keys(scores).round(decimals=2).tolist()
[3.0, 1.38, 1.0]

--8<-- [end:example-effective]

The scale belongs to the scores. If it is applied to the weights, rows do not sum to 1:

--8<-- [start:example-scale]
>>> from snippets.softmax.distribution import scaled_after_wrong, scaled_before
>>> scaled_before(z, d_k=16).sum().item()
1.0
>>> round(scaled_after_wrong(z, d_k=16).sum().item(), 6)
0.25

--8<-- [end:example-scale]

Rounding before softmax and after it, to whole numbers and to one place:

--8<-- [start:example-rounding]
>>> z = torch.tensor([0.0, 0.5], dtype=torch.float64)
>>> softmax(z.round()).tolist()
[0.5, 0.5]
>>> softmax(z).round(decimals=1).tolist()
[0.4, 0.6]

--8<-- [end:example-rounding]

In single precision: two scores whose difference is lost, and weights whose sum is not 1:

--8<-- [start:example-single]
>>> large = torch.tensor([2.0**24, 2.0**24 + 1], dtype=torch.float64)
>>> softmax(large).round(decimals=4).tolist(), softmax(large.float()).tolist()
([0.2689, 0.7311], [0.5, 0.5])
>>> third = softmax(torch.zeros(3))  # in single precision, added exactly
>>> f"{third.double().sum().item():.10f}"
'1.0000000298'

--8<-- [end:example-single]

The logarithm of a weight that is too small for single precision:

--8<-- [start:example-log]
>>> scores = torch.tensor([0.0, 200.0])
>>> softmax(scores).log().tolist()
[-inf, 0.0]
>>> torch.log_softmax(scores, dim=-1).tolist()
[-200.0, 0.0]

--8<-- [end:example-log]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import upcast


# --8<-- [start:softmax]
def softmax(scores: Float[Tensor, "*batch m"]) -> Float[Tensor, "*batch m"]:
    """Weights from scores. The largest score is subtracted first, so that no
    exponential overflows."""
    if not scores.shape[-1]:  # no scores, no largest score
        return scores
    gap = upcast(scores) - scores.amax(-1, keepdim=True)
    exps = torch.exp(gap)  # each from 0 to 1
    return (exps / exps.sum(-1, keepdim=True)).to(scores.dtype)


def gaps(weights: Float[Tensor, "*batch m"]) -> Float[Tensor, "*batch m m"]:
    """Every score minus every other score, computed from the weights."""
    logs = weights.log()
    return logs.unsqueeze(-1) - logs.unsqueeze(-2)


# --8<-- [end:softmax]


# --8<-- [start:effective]
def effective_keys(
    scores: Float[Tensor, "*batch m"],
) -> Float[Tensor, "*batch"]:
    """The number of equal weights with the same sum of squares: m if all weights
    are equal, 1 if one key has all the weight."""
    squares = torch.softmax(upcast(scores), dim=-1).square()
    return squares.sum(-1).reciprocal().to(scores.dtype)


# --8<-- [end:effective]


# --8<-- [start:scale]
def scaled_before(
    scores: Float[Tensor, "*batch m"], *, d_k: int
) -> Float[Tensor, "*batch m"]:
    """Weights from scaled scores."""
    return torch.softmax(scores / d_k**0.5, dim=-1)


# --8<-- [end:scale]


# --8<-- [start:scale-wrong]
def scaled_after_wrong(
    scores: Float[Tensor, "*batch m"], *, d_k: int
) -> Float[Tensor, "*batch m"]:
    """Wrong: the weights are scaled, and no longer sum to 1."""
    return torch.softmax(scores, dim=-1) / d_k**0.5


# --8<-- [end:scale-wrong]
