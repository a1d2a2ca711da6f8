"""Linear attention as one step of learning, and softmax attention as one step of a memory.

One step of gradient descent, from a layer of zeros, on keys and their values:

--8<-- [start:example-step]
>>> import torch
>>> from snippets.kin.linear import sum_then_ask
>>> from snippets.kin.memory import ask_after_step
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.randn(3, 5, 4, generator=generator, dtype=torch.float64)
>>> nothing = torch.zeros(4, 4, dtype=torch.float64)
>>> learnt = ask_after_step(query, nothing, key, value, rate=1.0)
>>> torch.allclose(learnt, sum_then_ask(query, key, value))
True

--8<-- [end:example-step]

Three patterns are stored. The state starts as the first one, with noise on every entry:

--8<-- [start:example-recall]
>>> from snippets.kin.memory import energy, recall
>>> stored = torch.randn(3, 64, generator=generator, dtype=torch.float64)
>>> state = stored[0] + 0.8 * torch.randn(64, generator=generator, dtype=torch.float64)
>>> for step in range(3):
...     off = (state - stored[0]).norm().item()
...     level = energy(state, stored, 0.125).item()
...     print(f"step {step}   off by {off:.4f}   energy {level:9.4f}")
...     state = recall(state, stored, 0.125)
step 0   off by 6.1698   energy   -1.7895
step 1   off by 0.4424   energy  -20.4003
step 2   off by 0.0829   energy  -20.4703

--8<-- [end:example-recall]
"""

import torch
from torch import Tensor

from snippets.attention.formula import attention
from snippets.shapes import check_shapes


# --8<-- [start:step]
def loss(weight: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Half the sum of the squared errors of a linear layer that should give each key its value."""
    check_shapes("weight: d d_v, key: n d, value: n d_v", weight, key, value)
    return (key @ weight - value).square().sum(
        dim=(-2, -1)
    ) / 2  # (..., n, d_v), then (...)


def ask_after_step(
    query: Tensor, weight: Tensor, key: Tensor, value: Tensor, rate: float
) -> Tensor:
    """Take one step down the loss, then ask the layer."""
    check_shapes(
        "query: t d, weight: d d_v, key: n d, value: n d_v",
        query,
        weight,
        key,
        value,
    )
    slope = key.mT @ (key @ weight - value)  # (..., d, d_v)
    return query @ (weight - rate * slope)  # (..., t, d_v)


def attend_to_errors(
    query: Tensor, weight: Tensor, key: Tensor, value: Tensor, rate: float
) -> Tensor:
    """The same by linear attention: the scores weigh what the layer still gets wrong."""
    check_shapes(
        "query: t d, weight: d d_v, key: n d, value: n d_v",
        query,
        weight,
        key,
        value,
    )
    error = value - key @ weight  # (..., n, d_v)
    return query @ weight + rate * (query @ key.mT) @ error  # (..., t, d_v)


# --8<-- [end:step]


# --8<-- [start:memory]
def energy(state: Tensor, stored: Tensor, beta: float) -> Tensor:
    """Low where the state is short and near a stored pattern; beta is not zero."""
    check_shapes("state: d, stored: n d", state, stored)
    scores = beta * (stored @ state.unsqueeze(-1)).squeeze(-1)  # (..., n)
    return state.square().sum(dim=-1) / 2 - scores.logsumexp(dim=-1) / beta


def recall(state: Tensor, stored: Tensor, beta: float) -> Tensor:
    """One step down the energy: the state asks, and the patterns are keys and values."""
    return attention(
        torch.atleast_2d(state), stored, stored, scale=beta
    ).view_as(state)


# --8<-- [end:memory]
