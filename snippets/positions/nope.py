"""No positional encoding: how a causal mask alone lets a model count.

Equal scores, and a mark on the first token:

--8<-- [start:example-signal]
>>> import torch
>>> from snippets.positions.nope import recovered_position, start_signal
>>> signal = start_signal(5)
>>> [round(x, 4) for x in signal.tolist()]
[1.0, 0.5, 0.3333, 0.25, 0.2]
>>> [round(x, 4) for x in recovered_position(signal).tolist()]
[1.0, 2.0, 3.0, 4.0, 5.0]
>>> [round(x, 4) for x in start_signal(5, lead=2.0).tolist()]
[1.0, 0.8808, 0.787, 0.7112, 0.6488]

--8<-- [end:example-signal]

Two orders of the same tokens, through one layer and through two:

--8<-- [start:example-orders]
>>> from snippets.positions.nope import causal_means
>>> for order in ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]):
...     tokens = torch.tensor(order, dtype=torch.float64).unsqueeze(-1)  # (3, 1)
...     one, two = (causal_means(tokens, layers=k)[-1].item() for k in (1, 2))
...     print(f"last output: one layer {one:.4f}, two layers {two:.4f}")
last output: one layer 0.3333, two layers 0.6111
last output: one layer 0.3333, two layers 0.2778

--8<-- [end:example-orders]

The first position that is stored as the same number as the next one:

--8<-- [start:example-formats]
>>> from snippets.positions.nope import counting_errors
>>> for dtype in (torch.bfloat16, torch.float16, torch.float32):
...     stored = start_signal(2000).to(dtype)
...     same = (stored[1:] == stored[:-1]).nonzero().flatten() + 1
...     error = counting_errors(stored).abs().max()
...     print(dtype, same[:1].tolist(), f"largest error {error:.4f}")
torch.bfloat16 [190] largest error 7.1926
torch.float16 [1464] largest error 0.9394
torch.float32 [] largest error 0.0001

--8<-- [end:example-formats]
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention


# --8<-- [start:signal]
def start_signal(
    n: int,
    *,
    lead: float = 0.0,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str | None = None,
) -> Float[Tensor, " {n}"]:
    """Return the weight of the first token at each position of a causal layer. All
    scores are equal, except that the first token's score leads by `lead`."""
    mark = torch.eye(n, 1, dtype=dtype, device=device)  # (n, 1): 1, 0, 0, ...
    query = torch.ones_like(mark)
    return attention(query, lead * mark, mark, is_causal=True).squeeze(-1)


def recovered_position(
    signal: Float[Tensor, "*batch"], *, lead: float = 0.0
) -> Float[Tensor, "*batch"]:
    """Return the positions, counted from 1, at which the signal has these
    values."""
    return 1 + math.exp(lead) * (1 / signal - 1)


# --8<-- [end:signal]


# --8<-- [start:means]
def causal_means(
    tokens: Float[Tensor, "*batch n d"], *, layers: int
) -> Float[Tensor, "*batch n d"]:
    """Return the outputs of causal layers with equal scores. Each layer replaces a
    token by the mean of all tokens up to it."""
    for _ in range(layers):
        zeros = torch.zeros_like(tokens)
        tokens = attention(zeros, zeros, tokens, is_causal=True)
    return tokens


# --8<-- [end:means]


# --8<-- [start:errors]
def counting_errors(stored: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """Return how far the positions recovered from a stored signal are from the true
    ones, in fp64."""
    positions = torch.arange(1, len(stored) + 1, device=stored.device)
    return recovered_position(stored.double()) - positions


# --8<-- [end:errors]
