"""The delta rule, one token at a time, and linear attention's update for comparison.

A step agrees with automatic differentiation of the error on the newest token:

--8<-- [start:example-gradient]
>>> import torch
>>> from snippets.linear.delta import additive_step, delta_step, squared_error
>>> generator = torch.Generator().manual_seed(0)
>>> state = torch.randn(4, 3, generator=generator, dtype=torch.float64)  # (d_k, d_v)
>>> key = torch.randn(1, 4, generator=generator, dtype=torch.float64)
>>> value = torch.randn(1, 3, generator=generator, dtype=torch.float64)
>>> gradient = torch.func.grad(squared_error)(state, key, value)
>>> torch.allclose(delta_step(state, key, value, beta=0.1), state - 0.1 * gradient)
True
>>> torch.allclose(additive_step(state, key, value, beta=0.1), state - 0.1 * gradient)
False

--8<-- [end:example-gradient]

One key with three values, one after another:

--8<-- [start:example-overwrite]
>>> import torch
>>> from snippets.linear.delta import additive_step, delta_step
>>> key = torch.tensor([[3.0, 4.0]])  # of length 5
>>> delta = additive = torch.zeros(2, 1)
>>> for value in (10.0, 20.0, 30.0):
...     new = torch.tensor([[value]])
...     delta = delta_step(delta, key, new, beta=1 / 25)
...     additive = additive_step(additive, key, new, beta=1 / 25)
...     print(f"wrote {value:.0f}   delta rule reads {(key @ delta).item():.0f}"
...           f"   linear attention {(key @ additive).item():.0f}")
wrote 10   delta rule reads 10   linear attention 10
wrote 20   delta rule reads 20   linear attention 30
wrote 30   delta rule reads 30   linear attention 60

--8<-- [end:example-overwrite]

The delta rule over a whole text:

--8<-- [start:example-sequence]
>>> from snippets.linear.attention import masked_product
>>> from snippets.linear.delta import delta_rule
>>> query, key, value = torch.randn(  # (n, d) each
...     3, 4, 6, generator=generator, dtype=torch.float64)
>>> rate = 1 / key.square().sum(-1)  # (n)
>>> read_back = delta_rule(key, key, value, rate)  # each token reads with its own key
>>> torch.allclose(read_back, value)
True
>>> apart = torch.linalg.qr(key.mT).Q.mT  # keys at right angles, of length 1
>>> found = delta_rule(query, apart, value, torch.ones(4, dtype=torch.float64))
>>> torch.allclose(found, masked_product(query, apart, value))
True

--8<-- [end:example-sequence]

By hand, for a key of length 5 and a value of 10:

--8<-- [start:example-hand]
>>> key, value = torch.tensor([[3.0, 4.0]]), torch.tensor([[10.0]])
>>> state = delta_step(torch.zeros(2, 1), key, value, beta=0.04)
>>> [round(x, 4) for x in state.flatten().tolist()]
[1.2, 1.6]

--8<-- [end:example-hand]

Is the number of ones even? A one swaps the two rows, and a zero changes nothing:

--8<-- [start:example-parity]
>>> swap = torch.tensor([[1.0, -1.0]])  # of squared length 2
>>> def parity(bits):
...     state = torch.tensor([[1.0], [0.0]])  # even
...     for bit in bits:
...         state = delta_step(state, swap, torch.zeros(1, 1), beta=float(bit))
...     return "even" if state[0] == 1 else "odd"
>>> parity([1, 0, 1, 1]), parity([1, 0, 1, 1, 1, 0, 0])
('odd', 'even')

--8<-- [end:example-parity]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import upcast


# --8<-- [start:step]
def squared_error(
    state: Float[Tensor, "*#batch d_k d_v"],
    key: Float[Tensor, "*#batch 1 d_k"],
    value: Float[Tensor, "*#batch 1 d_v"],
) -> Float[Tensor, "*batch"]:
    """Half the squared length of the error of what the key reads."""
    return (key @ state - value).square().sum(dim=(-2, -1)) / 2


def delta_step(
    state: Float[Tensor, "*#batch d_k d_v"],
    key: Float[Tensor, "*#batch 1 d_k"],
    value: Float[Tensor, "*#batch 1 d_v"],
    *,
    beta: float,
) -> Float[Tensor, "*batch d_k d_v"]:
    """Read with the key, and write the difference to the value."""
    return state + beta * key.mT @ (value - key @ state)


def additive_step(
    state: Float[Tensor, "*#batch d_k d_v"],
    key: Float[Tensor, "*#batch 1 d_k"],
    value: Float[Tensor, "*#batch 1 d_v"],
    *,
    beta: float,
) -> Float[Tensor, "*batch d_k d_v"]:
    """Write the value without reading first: linear attention."""
    return state + beta * key.mT @ value


# --8<-- [end:step]


# --8<-- [start:sequence]
def delta_rule(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch n d_k"],
    value: Float[Tensor, "*#batch n d_v"],
    beta: Float[Tensor, "*#batch n"],
) -> Float[Tensor, "*batch n d_v"]:
    """DeltaNet's layer, token by token: Schlag, Irie and Schmidhuber (2021).

    Normalise the keys: with longer ones the state may grow without bound.
    Raises ValueError without tokens, and for numbers of tokens that differ.
    """
    wide = [upcast(x) for x in (query, key, value, beta.unsqueeze(-1))]
    state = upcast(torch.zeros_like(key[..., :1, :].mT @ value[..., :1, :]))
    rows = (x.unsqueeze(-2).unbind(-3) for x in wide)  # (*batch, 1, d) each
    outputs = []
    for q, k, v, b in zip(*rows, strict=True):
        error = v - k @ state  # (*batch, 1, d_v)
        state = state + b * k.mT @ error
        outputs.append(q @ state)
    return torch.cat(outputs, dim=-2).to(query.dtype)


# --8<-- [end:sequence]
