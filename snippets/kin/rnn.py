"""A recurrent network, and how far a gradient reaches back in it, beside attention.

One step, with the weights of PyTorch's own network copied across:

--8<-- [start:example-rnn]
>>> import torch
>>> from snippets.kin.rnn import run
>>> theirs = torch.nn.RNN(3, 4, batch_first=True, dtype=torch.float64)
>>> x = torch.randn(2, 5, 3, dtype=torch.float64)  # (batch, n, p)
>>> U, W = theirs.weight_ih_l0.T, theirs.weight_hh_l0.T  # (p, d), (d, d)
>>> bias = theirs.bias_ih_l0 + theirs.bias_hh_l0  # (d)
>>> states = run(x, torch.zeros(2, 4, dtype=torch.float64), U, W, bias)
>>> torch.allclose(states, theirs(x)[0])
True

--8<-- [end:example-rnn]

The size of the slope of the last state by the first, over T steps. W is w times a rotation. In the
last two columns a query attends to T tokens: to all equally, or to the first with a score of 16.
The network's columns have a w of 0.9 and of 1.5, without tanh and with it:

--8<-- [start:example-reach]
>>> from snippets.kin.rnn import attention_reach, linear_step, reach, step
>>> generator = torch.Generator().manual_seed(0)
>>> for T in (1, 4, 16, 64):
...     measured = [reach(T, w, rule, generator).item()
...                 for rule in (linear_step, step) for w in (0.9, 1.5)]
...     looked = [attention_reach(T, score).item() for score in (0.0, 16.0)]
...     print("T {:2}   linear {:.0e} {:.0e}   tanh {:.0e} {:.0e}   attention {:.2f} {:.2f}".format(
...         T, *measured, *looked))
T  1   linear 9e-01 2e+00   tanh 9e-01 1e+00   attention 1.00 1.00
T  4   linear 7e-01 5e+00   tanh 3e-01 2e+00   attention 0.25 1.00
T 16   linear 2e-01 7e+02   tanh 2e-04 2e-01   attention 0.06 1.00
T 64   linear 1e-03 2e+11   tanh 2e-16 5e-07   attention 0.02 1.00

--8<-- [end:example-reach]
"""

from collections.abc import Callable

import torch
from torch import Tensor

from snippets.attention.formula import attention
from snippets.shapes import check_shapes


# --8<-- [start:squash]
def squash(t: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return torch.tanh(t)  # (...) -> (...)


def squash_slope(t: Tensor) -> Tensor:
    """Its derivative; unlike 1 - tanh(t)^2 it does not cancel to 0 where tanh rounds to 1."""
    return torch.cosh(t).square().reciprocal()  # (...) -> (...)


# --8<-- [end:squash]


# --8<-- [start:step]
def linear_step(
    x: Tensor, h: Tensor, U: Tensor, W: Tensor, bias: Tensor | float = 0.0
) -> Tensor:
    """The state h and the token x, each through its matrix, added."""
    check_shapes("x: p, h: d, U: p d, W: d d", x, h, U, W)
    return h @ W + x @ U + bias  # (..., d)


def step(
    x: Tensor, h: Tensor, U: Tensor, W: Tensor, bias: Tensor | float = 0.0
) -> Tensor:
    """One step of a recurrent network: the next state."""
    return torch.tanh(linear_step(x, h, U, W, bias))  # (..., d)


def run(
    x: Tensor, h: Tensor, U: Tensor, W: Tensor, bias: Tensor | float = 0.0
) -> Tensor:
    """All states, one after the other: no step can begin before the last has ended."""
    states = []
    for token in x.unbind(-2):  # (..., p)
        h = step(token, h, U, W, bias)
        states.append(h)
    return torch.stack(states, dim=-2)  # (..., n, p) -> (..., n, d)


# --8<-- [end:step]


# --8<-- [start:reach]
def reach(
    T: int, w: float, rule: Callable, generator: torch.Generator, d: int = 8
) -> Tensor:
    """The largest factor by which T steps stretch a change of the first state."""
    rotation, _ = torch.linalg.qr(
        torch.randn(d, d, generator=generator, dtype=torch.float64)
    )
    tokens = torch.randn(T, d, generator=generator, dtype=torch.float64)
    one = torch.eye(d, dtype=torch.float64)

    def last(h: Tensor) -> Tensor:
        for x in tokens:
            h = rule(x, h, one, w * rotation)
        return h

    start = torch.zeros(d, dtype=torch.float64)
    slope = torch.autograd.functional.jacobian(last, start)  # (d, d)
    return torch.linalg.matrix_norm(slope, ord=2)


def attention_reach(T: int, score: float, d: int = 8) -> Tensor:
    """The same for attention to T tokens, of which the first has this score and the others 0."""
    key = torch.zeros(T, 1, dtype=torch.float64)
    key[0] = score
    query = torch.ones(1, 1, dtype=torch.float64)
    value = torch.zeros(T, d, dtype=torch.float64)
    slope = torch.autograd.functional.jacobian(
        lambda v: attention(query, key, v)[0], value
    )
    return torch.linalg.matrix_norm(
        slope[:, 0], ord=2
    )  # (d, T, d), of which (d, d)


# --8<-- [end:reach]
