"""Vision.

--8<-- [start:example]
--8<-- [end:example]
"""

import torch
from jaxtyping import Float
from torch import Tensor


# --8<-- [start:class]
def class_output(
    score: Float[Tensor, ""],
    own: Float[Tensor, " d_v"],
    scores: Float[Tensor, " n"],
    values: Float[Tensor, "n d_v"],
) -> Float[Tensor, " d_v"]:
    """What the class token gets from itself and from all patches."""
    weights = torch.cat([score[None], scores]).softmax(-1)
    return weights @ torch.cat([own[None], values])


def mean_pool(
    S: Float[Tensor, "n n"], V: Float[Tensor, "n d_v"]
) -> Float[Tensor, " d_v"]:
    """The mean of what all patches get."""
    return (S.softmax(-1) @ V).mean(0)


# --8<-- [end:class]


# --8<-- [start:table]
def squared_length(
    u: Float[Tensor, " d"], w: Float[Tensor, " d"], t: Float[Tensor, ""]
) -> Float[Tensor, ""]:
    """Of the row that lies between two others."""
    return ((1 - t) * u + t * w).square().sum()


# --8<-- [end:table]


# --8<-- [start:cost]
def multiplications(n: int, d: int) -> int:
    """Of one block: all linear layers, scores and mixing."""
    return 12 * n * d**2 + 2 * n**2 * d


def times_the_cost(n: int, d: int) -> float:
    """What twice as many pixels along each side multiply this by."""
    return multiplications(4 * n, d) / multiplications(n, d)


# --8<-- [end:cost]
