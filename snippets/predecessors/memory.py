"""Linear attention as one step of training, and softmax attention as one step of a memory.

One step of gradient descent, from a layer of zeros, on keys and their values:

--8<-- [start:example-step]
>>> import torch
>>> from snippets.predecessors.linear import sum_then_ask
>>> from snippets.predecessors.memory import ask_after_step
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.randn(3, 5, 4, generator=generator, dtype=torch.float64)
>>> nothing = torch.zeros(4, 4, dtype=torch.float64)
>>> learnt = ask_after_step(query, nothing, key, value, rate=1.0)
>>> torch.allclose(learnt, sum_then_ask(query, key, value))
True

--8<-- [end:example-step]

Three patterns are stored. The state starts at the first one, with noise on each entry:

--8<-- [start:example-recall]
>>> from snippets.predecessors.memory import hopfield_energy, hopfield_step
>>> stored = torch.randn(3, 64, generator=generator, dtype=torch.float64)
>>> state = stored[0] + 0.8 * torch.randn(64, generator=generator, dtype=torch.float64)
>>> for step in range(3):
...     off = (state - stored[0]).norm().item()
...     level = hopfield_energy(state, stored, beta=0.125).item()
...     print(f"step {step}   off by {off:.4f}   energy {level:9.4f}")
...     state = hopfield_step(state, stored, beta=0.125)
step 0   off by 6.1698   energy   -1.7895
step 1   off by 0.4424   energy  -20.4003
step 2   off by 0.0829   energy  -20.4703

--8<-- [end:example-recall]
"""

from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention, upcast


# --8<-- [start:step]
def linear_layer_loss(
    weight: Float[Tensor, "*#batch d d_v"],
    key: Float[Tensor, "*#batch n d"],
    value: Float[Tensor, "*#batch n d_v"],
) -> Float[Tensor, "*batch"]:
    """Half the sum of the squared errors of a linear layer."""
    return (key @ weight - value).square().sum(dim=(-2, -1)) / 2


def ask_after_step(
    query: Float[Tensor, "*#batch t d"],
    weight: Float[Tensor, "*#batch d d_v"],
    key: Float[Tensor, "*#batch n d"],
    value: Float[Tensor, "*#batch n d_v"],
    *,
    rate: float,
) -> Float[Tensor, "*batch t d_v"]:
    """The layer's output for the queries after one gradient step."""
    gradient = key.mT @ (key @ weight - value)
    return query @ (weight - rate * gradient)


def attend_to_errors(
    query: Float[Tensor, "*#batch t d"],
    weight: Float[Tensor, "*#batch d d_v"],
    key: Float[Tensor, "*#batch n d"],
    value: Float[Tensor, "*#batch n d_v"],
    *,
    rate: float,
) -> Float[Tensor, "*batch t d_v"]:
    """The same by linear attention over the errors of the layer."""
    error = value - key @ weight
    return query @ weight + rate * (query @ key.mT) @ error


# --8<-- [end:step]


# --8<-- [start:memory]
def hopfield_energy(
    state: Float[Tensor, "*#batch d"],
    stored: Float[Tensor, "*#batch n d"],
    *,
    beta: float,
) -> Float[Tensor, "*batch"]:
    """Low if the state is short and near a stored pattern; beta is not zero."""
    x, patterns = upcast(state), upcast(stored)
    scores = beta * (patterns @ x.unsqueeze(-1)).squeeze(-1)
    level = x.square().sum(-1) / 2 - scores.logsumexp(-1) / beta
    return level.to(state.dtype)


def hopfield_step(
    state: Float[Tensor, "*#batch d"],
    stored: Float[Tensor, "*#batch n d"],
    *,
    beta: float,
) -> Float[Tensor, "*batch d"]:
    """One gradient step: the state is the query, patterns are keys and values."""
    query = state.unsqueeze(-2)
    return attention(query, stored, stored, scale=beta).squeeze(-2)


# --8<-- [end:memory]
