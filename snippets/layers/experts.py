"""Experts.

--8<-- [start:example]
--8<-- [end:example]
"""

import torch
from jaxtyping import Float
from torch import Tensor


# --8<-- [start:orders]
def softmax_then_choose(
    chosen: Float[Tensor, " k"], others: Float[Tensor, " m"]
) -> Float[Tensor, " k"]:
    """Softmax over all logits, then the chosen ones, divided by their sum."""
    p = torch.cat([chosen, others]).softmax(-1)[: len(chosen)]
    return p / p.sum()


def choose_then_softmax(
    chosen: Float[Tensor, " k"], others: Float[Tensor, " m"]
) -> Float[Tensor, " k"]:
    """Softmax over the logits of the chosen experts alone."""
    return chosen.softmax(-1)


# --8<-- [end:orders]


# --8<-- [start:balance]
def balance_loss(
    f: Float[Tensor, " N"], P: Float[Tensor, " N"]
) -> Float[Tensor, ""]:
    """The number of experts, times the sum of load times mean probability:
    Fedus, Zoph and Shazeer (2022)."""
    return len(f) * (f * P).sum()


def surplus(
    f: Float[Tensor, " N"], P: Float[Tensor, " N"]
) -> Float[Tensor, ""]:
    """N squared times the covariance of load and probability over experts."""
    return len(f) * ((f - f.mean()) * (P - P.mean())).sum()


def balance_gradients(
    Z: Float[Tensor, "n N"], f: Float[Tensor, " N"]
) -> Float[Tensor, "n N"]:
    """The slope of the loss by each logit of the router."""
    n, N = Z.shape
    p = Z.softmax(-1)
    return N / n * p * (f - p @ f[:, None])


# --8<-- [end:balance]
