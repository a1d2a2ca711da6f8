"""The head.

--8<-- [start:example]
--8<-- [end:example]
"""

import torch
from jaxtyping import Float
from torch import Tensor


# --8<-- [start:loss]
def losses(z: Float[Tensor, "*batch N"]) -> Float[Tensor, "*batch N"]:
    """The cross-entropy of each token that could come."""
    return torch.logsumexp(z, -1, keepdim=True) - z


def errors(z: Float[Tensor, " N"]) -> Float[Tensor, "N N"]:
    """[g, i]: the slope of the loss by logit i, where token g came."""
    same = torch.eye(len(z), dtype=z.dtype, device=z.device)
    return z.softmax(-1) - same


def pulls(
    x: Float[Tensor, " d"], U: Float[Tensor, "N d"]
) -> Float[Tensor, "N d"]:
    """[g, a]: the slope of the loss by feature a, where token g came."""
    return (U @ x).softmax(-1) @ U - U


# --8<-- [end:loss]


# --8<-- [start:share]
def table_share(N: int, d: int, layers: int) -> float:
    """The table of N tokens among the weights of a tied model."""
    return N * d / (N * d + layers * 12 * d**2)


# --8<-- [end:share]
