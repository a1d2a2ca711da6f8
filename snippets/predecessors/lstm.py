"""A cell with gates, a block with a shortcut, and the gradient through each.

The cell agrees with PyTorch's, with the same weights:

--8<-- [start:example-lstm]
>>> import torch
>>> from snippets.predecessors.lstm import lstm_step
>>> theirs = torch.nn.LSTMCell(3, 4, dtype=torch.float64)
>>> x, h, c = (torch.randn(2, size, dtype=torch.float64) for size in (3, 4, 4))
>>> U, W = theirs.weight_ih.T, theirs.weight_hh.T
>>> bias = theirs.bias_ih + theirs.bias_hh
>>> ours = lstm_step(x, h, c, U, W, bias=bias)
>>> all(map(torch.allclose, ours, theirs(x, (h, c))))
True

--8<-- [end:example-lstm]

The derivative over T steps along the cell alone, for forget gates that stay at one value and for gates
that open over time:

--8<-- [start:example-gates]
>>> from snippets.predecessors.lstm import cell_path, gate, opening_gates
>>> for T in (1, 10, 100, 1000):
...     held = [cell_path(gate(z * torch.ones(T).double())).item() for z in (0, 2, 6)]
...     print("T {:4}   held at 0.50: {:.0e}   0.88: {:.0e}   0.9975: {:.0e}   opening: {:.3f}".format(
...         T, *held, cell_path(opening_gates(T)).item()))
T    1   held at 0.50: 5e-01   0.88: 9e-01   0.9975: 1e+00   opening: 0.750
T   10   held at 0.50: 1e-03   0.88: 3e-01   0.9975: 1e+00   opening: 0.545
T  100   held at 0.50: 8e-31   0.88: 3e-06   0.9975: 8e-01   opening: 0.505
T 1000   held at 0.50: 9e-302   0.88: 8e-56   0.9975: 8e-02   opening: 0.500

--8<-- [end:example-gates]

All paths together can increase a gradient, although the path along the cell cannot:

--8<-- [start:example-paths]
>>> from snippets.predecessors.lstm import cell_gradients
>>> for u in (0.0, 4.0):
...     along, full = cell_gradients(u)
...     print(f"recurrent weight {u:.0f}   along the cell {along:.2f}   all paths {full:.2f}")
recurrent weight 0   along the cell 0.50   all paths 0.50
recurrent weight 4   along the cell 0.50   all paths 2.50

--8<-- [end:example-paths]

The derivative of a residual block contains the identity:

--8<-- [start:example-residual]
>>> from snippets.predecessors.lstm import residual_block
>>> A, B = torch.zeros(3, 5), torch.ones(5, 3)  # (d, r), (r, d)
>>> jacobian = torch.autograd.functional.jacobian
>>> jacobian(lambda x: residual_block(x, A, B), torch.ones(3)).tolist()
[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]

--8<-- [end:example-residual]
"""

import torch
from jaxtyping import Float
from torch import Tensor


# --8<-- [start:cell]
def gate(z: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The logistic function, from 0 (closed) to 1 (open)."""
    return torch.sigmoid(z)


def lstm_step(
    x: Float[Tensor, "*batch p"],
    h: Float[Tensor, "*batch d"],
    c: Float[Tensor, "*batch d"],
    U: Float[Tensor, "p 4*d"],
    W: Float[Tensor, "d 4*d"],
    *,
    bias: Float[Tensor, " 4*d"] | float = 0.0,
) -> tuple[Float[Tensor, "*batch d"], Float[Tensor, "*batch d"]]:
    """The next output and the next cell: Gers, Schmidhuber and Cummins (2000).

    U and W hold, side by side, the input, forget, candidate and output parts,
    in PyTorch's order.
    """
    i, f, g, o = (h @ W + x @ U + bias).chunk(4, dim=-1)
    # The forget gate keeps, the input gate lets in.
    c = gate(f) * c + gate(i) * torch.tanh(g)
    return gate(o) * torch.tanh(c), c


# --8<-- [end:cell]


# --8<-- [start:gates]
def cell_path(f: Float[Tensor, "*batch T"]) -> Float[Tensor, "*batch"]:
    """The derivative along the cell, over all steps: a product of gates."""
    return f.prod(-1)


def opening_gates(
    T: int,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, " T"]:
    """T gates that open over time: 3/4, 8/9, 15/16 and so on."""
    return 1 - torch.arange(2.0, T + 2.0, dtype=dtype, device=device) ** -2


# --8<-- [end:gates]


# --8<-- [start:slopes]
def cell_gradients(u: float) -> tuple[float, float]:
    """The derivative of a cell by the old cell, along the cell and over all paths.

    The cell has one feature and is at 0, its output gate open, and the
    candidate reads the last output with weight u.
    """
    x = torch.zeros(1, dtype=torch.float64)
    before = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    W = torch.tensor([[0.0, 0.0, u, 0.0]], dtype=torch.float64)
    found = []
    for h in (torch.tanh(before).detach(), torch.tanh(before)):
        _, after = lstm_step(x, h, before, torch.zeros_like(W), W)
        found.append(torch.autograd.grad(after.sum(), before)[0].item())
    return found[0], found[1]


# --8<-- [end:slopes]


# --8<-- [start:residual]
def residual_block(
    x: Float[Tensor, "*batch d"],
    A: Float[Tensor, "d r"],
    B: Float[Tensor, "r d"],
) -> Float[Tensor, "*batch d"]:
    """The input plus the output of a small network."""
    return x + torch.tanh(x @ A) @ B


# --8<-- [end:residual]
