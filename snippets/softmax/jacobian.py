"""The Jacobian of softmax, by its matrix and without it.

--8<-- [start:example-through]
>>> import torch
>>> from snippets.softmax.jacobian import softmax_jacobian, through_softmax
>>> z = torch.tensor([1.0, 2.0, 5.0], dtype=torch.float64).log()
>>> weights = torch.softmax(z, dim=-1)
>>> (64 * softmax_jacobian(weights)).round().tolist()
[[7.0, -2.0, -5.0], [-2.0, 12.0, -10.0], [-5.0, -10.0, 15.0]]
>>> gradient = torch.tensor([8.0, 0.0, 0.0], dtype=torch.float64)
>>> (8 * through_softmax(weights, gradient)).round(decimals=6).tolist()
[7.0, -2.0, -5.0]
>>> z.requires_grad = True  # autograd agrees
>>> torch.softmax(z, dim=-1).backward(gradient)
>>> (8 * z.grad).round(decimals=6).tolist()
[7.0, -2.0, -5.0]

--8<-- [end:example-through]

Its eigenvalues lie between 0 and a half. Two equal weights have the half:

--8<-- [start:example-eigenvalues]
>>> from snippets.softmax.jacobian import steepest
>>> for scores in ([0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 3.0], [0.0, 0.0, 9.0]):
...     weights = torch.softmax(torch.tensor(scores, dtype=torch.float64), dim=-1)
...     least = torch.linalg.eigvalsh(softmax_jacobian(weights))[0].abs().item()
...     print(scores, f"{least:.4f} to {steepest(weights).item():.4f}")
[0.0, 0.0] 0.0000 to 0.5000
[0.0, 0.0, 0.0] 0.0000 to 0.3333
[0.0, 1.0, 3.0] 0.0000 to 0.2173
[0.0, 0.0, 9.0] 0.0000 to 0.0004

--8<-- [end:example-eigenvalues]
"""

import torch
from torch import Tensor


# --8<-- [start:jacobian]
def softmax_jacobian(weights: Tensor) -> Tensor:
    """The derivative of each weight by each score."""
    outer = weights.unsqueeze(-1) * weights.unsqueeze(-2)  # (..., m, m)
    return torch.diag_embed(weights) - outer  # (..., m) -> (..., m, m)


# --8<-- [end:jacobian]


# --8<-- [start:through]
def through_softmax(weights: Tensor, change: Tensor) -> Tensor:
    """The Jacobian times a vector, without the Jacobian.

    A change of the scores gives that of the weights; a gradient by the weights, that by the scores.
    """
    mean = (weights * change).sum(-1, keepdim=True)  # (..., 1)
    return weights * (change - mean)  # (..., m) (..., m) -> (..., m)


# --8<-- [end:through]


# --8<-- [start:variance]
def variance(weights: Tensor, x: Tensor) -> Tensor:
    """The variance of the numbers x under the weights."""
    mean = (weights * x).sum(-1, keepdim=True)  # (..., 1)
    return (weights * (x - mean).square()).sum(-1)  # (..., m) (..., m) -> (...)


def steepest(weights: Tensor) -> Tensor:
    """The largest variance of any x of length 1: the largest eigenvalue of the Jacobian."""
    return torch.linalg.eigvalsh(softmax_jacobian(weights))[
        ..., -1
    ]  # (..., m) -> (...)


# --8<-- [end:variance]
