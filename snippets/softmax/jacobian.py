"""The Jacobian of softmax, as a matrix and applied without building the matrix.

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
>>> z.requires_grad = True  # autograd gives the same
>>> torch.softmax(z, dim=-1).backward(gradient)
>>> (8 * z.grad).round(decimals=6).tolist()
[7.0, -2.0, -5.0]

--8<-- [end:example-through]

The gradient of cross-entropy, for targets that sum to 1:

--8<-- [start:example-cross-entropy]
>>> from snippets.softmax.jacobian import cross_entropy_gradient
>>> targets = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64)
>>> (8 * cross_entropy_gradient(z, targets)).tolist()
[1.0, 2.0, -3.0]
>>> z.grad = None
>>> torch.nn.functional.cross_entropy(z, targets).backward()
>>> (8 * z.grad).round(decimals=6).tolist()
[1.0, 2.0, -3.0]

--8<-- [end:example-cross-entropy]

The eigenvalues lie between 0 and a half. With two equal weights, the largest is a half:

--8<-- [start:example-eigenvalues]
>>> from snippets.softmax.jacobian import largest_eigenvalue
>>> for scores in ([0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 3.0], [0.0, 0.0, 9.0]):
...     weights = torch.softmax(torch.tensor(scores, dtype=torch.float64), dim=-1)
...     least = torch.linalg.eigvalsh(softmax_jacobian(weights))[0].abs().item()
...     print(scores, f"{least:.4f} to {largest_eigenvalue(weights).item():.4f}")
[0.0, 0.0] 0.0000 to 0.5000
[0.0, 0.0, 0.0] 0.0000 to 0.3333
[0.0, 1.0, 3.0] 0.0000 to 0.2173
[0.0, 0.0, 9.0] 0.0000 to 0.0004

--8<-- [end:example-eigenvalues]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import upcast


# --8<-- [start:jacobian]
def softmax_jacobian(
    weights: Float[Tensor, "*batch m"],
) -> Float[Tensor, "*batch m m"]:
    """The derivative of each weight with respect to each score."""
    outer = weights.unsqueeze(-1) * weights.unsqueeze(-2)
    return torch.diag_embed(weights) - outer


# --8<-- [end:jacobian]


# --8<-- [start:through]
def through_softmax(
    weights: Float[Tensor, "*#batch m"], change: Float[Tensor, "*#batch m"]
) -> Float[Tensor, "*batch m"]:
    """The Jacobian times a vector, without building the Jacobian.

    It turns a change of the scores into the change of the weights, and a
    gradient with respect to the weights into one with respect to the scores.
    """
    mean = (weights * change).sum(-1, keepdim=True)
    return weights * (change - mean)


# --8<-- [end:through]


# --8<-- [start:cross-entropy]
def cross_entropy_gradient(
    scores: Float[Tensor, "*#batch m"], targets: Float[Tensor, "*#batch m"]
) -> Float[Tensor, "*batch m"]:
    """The gradient of the cross-entropy with respect to the scores.

    The targets of each row must sum to 1.
    """
    return torch.softmax(scores, dim=-1) - targets


# --8<-- [end:cross-entropy]


# --8<-- [start:variance]
def variance(
    weights: Float[Tensor, "*#batch m"], x: Float[Tensor, "*#batch m"]
) -> Float[Tensor, "*batch"]:
    """The variance of the numbers x under the weights."""
    mean = (weights * x).sum(-1, keepdim=True)
    return (weights * (x - mean).square()).sum(-1)


def largest_eigenvalue(
    weights: Float[Tensor, "*batch m"],
) -> Float[Tensor, "*batch"]:
    """The largest eigenvalue of the Jacobian: the largest variance of any x of
    length 1."""
    eigenvalues = torch.linalg.eigvalsh(softmax_jacobian(upcast(weights)))
    return eigenvalues[..., -1].to(weights.dtype)


# --8<-- [end:variance]
