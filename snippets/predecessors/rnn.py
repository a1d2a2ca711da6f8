"""A recurrent network and attention, and how far a gradient reaches back in each.

The network, with the weights of PyTorch's own:

--8<-- [start:example-rnn]
>>> import torch
>>> from snippets.predecessors.rnn import rnn
>>> theirs = torch.nn.RNN(3, 4, batch_first=True, dtype=torch.float64)
>>> x = torch.randn(2, 5, 3, dtype=torch.float64)  # (batch, n, p)
>>> U, W = theirs.weight_ih_l0.T, theirs.weight_hh_l0.T  # (p, d), (d, d)
>>> bias = theirs.bias_ih_l0 + theirs.bias_hh_l0  # (d)
>>> states = rnn(x, torch.zeros(2, 4, dtype=torch.float64), U, W, bias=bias)
>>> torch.allclose(states, theirs(x)[0])
True

--8<-- [end:example-rnn]

The size of the derivative of the last state by the first, over T steps. W is an orthogonal matrix times
0.9, then times 1.5, without tanh (linear) and with it. In the last two columns a query attends to T
tokens: to all equally, or to the first with a score of 16.

--8<-- [start:example-reach]
>>> import torch
>>> from snippets.predecessors.rnn import attention_reach, linear_step, reach, rnn_step
>>> generator = torch.Generator().manual_seed(0)
>>> for T in (1, 4, 16, 64):
...     measured = [reach(rule, T=T, w=w, generator=generator, dtype=torch.float64).item()
...                 for rule in (linear_step, rnn_step) for w in (0.9, 1.5)]
...     looked = [attention_reach(T=T, score=score).item() for score in (0.0, 16.0)]
...     print("T {:2}   linear {:.0e} {:.0e}   tanh {:.0e} {:.0e}   attention {:.2f} {:.2f}".format(
...         T, *measured, *looked))
T  1   linear 9e-01 2e+00   tanh 9e-01 1e+00   attention 1.00 1.00
T  4   linear 7e-01 5e+00   tanh 3e-01 2e+00   attention 0.25 1.00
T 16   linear 2e-01 7e+02   tanh 2e-04 2e-01   attention 0.06 1.00
T 64   linear 1e-03 2e+11   tanh 2e-16 5e-07   attention 0.02 1.00

--8<-- [end:example-reach]

With an orthogonal matrix itself for W, without tanh and with it:

--8<-- [start:example-rotation]
>>> generator = torch.Generator().manual_seed(1)
>>> for T in (1, 4, 16, 64):
...     kept, squashed = (reach(rule, T=T, w=1.0, generator=generator).item()
...                       for rule in (linear_step, rnn_step))
...     print(f"T {T:2}   linear {kept:.2f}   tanh {squashed:.0e}")
T  1   linear 1.00   tanh 1e+00
T  4   linear 1.00   tanh 3e-01
T 16   linear 1.00   tanh 3e-03
T 64   linear 1.00   tanh 5e-14

--8<-- [end:example-rotation]
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention


# --8<-- [start:squash]
def squash(t: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The hyperbolic tangent."""
    return torch.tanh(t)


def squash_gradient(t: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Its derivative, written so that it does not cancel to 0."""
    return 4 * torch.sigmoid(2 * t) * torch.sigmoid(-2 * t)


# --8<-- [end:squash]


# --8<-- [start:step]
def linear_step(
    x: Float[Tensor, "*batch p"],
    h: Float[Tensor, "*batch d"],
    U: Float[Tensor, "p d"],
    W: Float[Tensor, "d d"],
    *,
    bias: Float[Tensor, " d"] | float = 0.0,
) -> Float[Tensor, "*batch d"]:
    """The sum of state h and token x, each multiplied by its matrix."""
    return h @ W + x @ U + bias


def rnn_step(
    x: Float[Tensor, "*batch p"],
    h: Float[Tensor, "*batch d"],
    U: Float[Tensor, "p d"],
    W: Float[Tensor, "d d"],
    *,
    bias: Float[Tensor, " d"] | float = 0.0,
) -> Float[Tensor, "*batch d"]:
    """One step of a recurrent network: the next state."""
    return torch.tanh(linear_step(x, h, U, W, bias=bias))


def rnn(
    x: Float[Tensor, "*batch n p"],
    h: Float[Tensor, "*batch d"],
    U: Float[Tensor, "p d"],
    W: Float[Tensor, "d d"],
    *,
    bias: Float[Tensor, " d"] | float = 0.0,
) -> Float[Tensor, "*batch n d"]:
    """All states, one after another."""
    states = []
    for token in x.unbind(-2):
        h = rnn_step(token, h, U, W, bias=bias)
        states.append(h)
    return torch.stack(states, dim=-2)


# --8<-- [end:step]


# --8<-- [start:reach]
def reach(
    rule: Callable[..., Float[Tensor, " d"]],
    *,
    T: int,
    w: float,
    d: int = 8,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, ""]:
    """The largest factor by which T steps multiply a change of the first state."""
    made = {"dtype": dtype, "device": device}
    orthogonal, _ = torch.linalg.qr(
        torch.randn(d, d, generator=generator, **made)
    )
    tokens = torch.randn(T, d, generator=generator, **made)
    one = torch.eye(d, **made)

    def last(h: Tensor) -> Tensor:
        for x in tokens:
            h = rule(x, h, one, w * orthogonal)
        return h

    start = torch.zeros(d, **made)
    gradient = torch.autograd.functional.jacobian(last, start)  # (d, d)
    return torch.linalg.matrix_norm(gradient, ord=2)


def attention_reach(
    *,
    T: int,
    score: float,
    d: int = 8,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, ""]:
    """The same for attention: of T tokens, the first has this score, others 0."""
    made = {"dtype": dtype, "device": device}
    query, value = torch.ones(1, 1, **made), torch.zeros(T, d, **made)
    key = torch.zeros(T, 1, **made)
    key[0] = score

    def output(value: Tensor) -> Tensor:
        return attention(query, key, value)[0]

    gradient = torch.autograd.functional.jacobian(output, value)  # (d, T, d)
    return torch.linalg.matrix_norm(gradient[:, 0], ord=2)


# --8<-- [end:reach]
