"""SwiGLU: a gate times a value.

The layer has three matrices:

--8<-- [start:example-layer]
>>> import torch
>>> from snippets.layers.swiglu import swiglu_layer
>>> generator = torch.Generator().manual_seed(0)
>>> W_g, W_u = torch.randn(2, 8, 20, generator=generator)  # (d, d_f) each
>>> W_d = torch.randn(20, 8, generator=generator)  # (d_f, d)
>>> x = torch.randn(8, generator=generator)  # (d,)
>>> y = swiglu_layer(x, W_g, W_u, W_d)
>>> tuple(y.shape)
(8,)

--8<-- [end:example-layer]

Factors for hidden units can move from the last matrix to the values, but not to the gate:

--8<-- [start:example-rescale]
>>> c = torch.tensor([0.5, -3.0]).repeat(10)  # (d_f,), none of them 0
>>> moved = swiglu_layer(x, W_g, W_u * c, W_d / c[:, None])
>>> torch.allclose(moved, y, atol=1e-3)
True
>>> moved = swiglu_layer(x, W_g * c, W_u, W_d / c[:, None])
>>> torch.allclose(moved, y, atol=1e-3)
False

--8<-- [end:example-rescale]

Near zero, a tenth of the token gives about a hundredth of the output:

--8<-- [start:example-quadratic]
>>> for size in (1.0, 0.1, 0.01, 0.001):
...     ratio = swiglu_layer(size / 10 * x, W_g, W_u, W_d).norm()
...     ratio = ratio / swiglu_layer(size * x, W_g, W_u, W_d).norm()
...     print(size, round(ratio.item(), 4))
1.0 0.0115
0.1 0.0111
0.01 0.0101
0.001 0.01

--8<-- [end:example-quadratic]

Gradient descent in small steps almost conserves the difference of two squared lengths:

--8<-- [start:example-conserved]
>>> from snippets.layers.swiglu import imbalance
>>> kinds = dict(generator=generator, dtype=torch.float64)
>>> weights = [torch.randn(8, 20, **kinds) / 3, torch.randn(8, 20, **kinds) / 3,
...            torch.randn(20, 8, **kinds) / 3]
>>> inputs, targets = torch.randn(2, 64, 8, **kinds)
>>> start = [weight.clone() for weight in weights]
>>> for step in range(500):
...     weights = [weight.requires_grad_() for weight in weights]
...     loss = (swiglu_layer(inputs, *weights) - targets).square().mean()
...     gradients = torch.autograd.grad(loss, weights)
...     weights = [(w - 0.01 * g).detach() for w, g in zip(weights, gradients)]
>>> moved = (weights[1] - start[1]).abs().max()
>>> drift = (imbalance(*weights[1:]) - imbalance(*start[1:])).abs().max()
>>> bool(moved > 0.1), bool(drift < 0.001)
(True, True)

--8<-- [end:example-conserved]

The largest differences of GELU from SiLU and from two of its approximations, between -5 and 5:

--8<-- [start:example-gelu]
>>> from torch.nn.functional import gelu, silu
>>> from snippets.layers.swiglu import swish
>>> z = torch.linspace(-5, 5, 1001, dtype=torch.float64)
>>> round((gelu(z) - silu(z)).abs().max().item(), 3)
0.193
>>> round((gelu(z) - swish(z, steepness=1.702)).abs().max().item(), 3)
0.02
>>> round((gelu(z) - gelu(z, approximate="tanh")).abs().max().item(), 4)
0.0005

--8<-- [end:example-gelu]

Widths, and how many more weights than in the plain layer:

--8<-- [start:example-count]
>>> from snippets.layers.swiglu import gated_width, extra_parameters
>>> [gated_width(d) for d in (768, 4096, 8192)]
[2048, 11008, 22016]
>>> [extra_parameters(d, gated_width(d)) for d in (768, 4096, 8192)]
[0, 1048576, 4194304]
>>> extra_parameters(4096, 4 * 4096)
67108864

--8<-- [end:example-count]
"""

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import silu


# --8<-- [start:swiglu_layer]
def swiglu_layer(
    x: Float[Tensor, "*batch d"],
    W_g: Float[Tensor, "d d_f"],
    W_u: Float[Tensor, "d d_f"],
    W_d: Float[Tensor, "d_f d"],
) -> Float[Tensor, "*batch d"]:
    """A gate times a value, projected back to d features: Shazeer (2020)."""
    return (silu(x @ W_g) * (x @ W_u)) @ W_d


# --8<-- [end:swiglu_layer]


# --8<-- [start:swiglu_jacobian]
def swiglu_jacobian(
    x: Float[Tensor, " d"],
    W_g: Float[Tensor, "d d_f"],
    W_u: Float[Tensor, "d d_f"],
    W_d: Float[Tensor, "d_f d"],
) -> Float[Tensor, "d d"]:
    """The derivative of each output with respect to each feature."""
    gate, value = x @ W_g, x @ W_u  # (d_f,)
    share = gate.sigmoid()
    derivative = share * (1 + gate * (1 - share))
    through_gate = (W_g * (derivative * value)) @ W_d  # (d, d)
    through_value = (W_u * silu(gate)) @ W_d
    return (through_gate + through_value).mT


# --8<-- [end:swiglu_jacobian]


# --8<-- [start:pulls]
def up_gradient_products(
    x: Float[Tensor, " d"],
    W_g: Float[Tensor, "d d_f"],
    W_u: Float[Tensor, "d d_f"],
    W_d: Float[Tensor, "d_f d"],
    gradient: Float[Tensor, " d"],
) -> Float[Tensor, " d_f"]:
    """For each hidden unit, its column of W_u times that column's gradient."""
    sent_back = silu(x @ W_g) * (W_d @ gradient)  # what reaches x W_u
    return (W_u * (x[:, None] * sent_back)).sum(0)


def down_gradient_products(
    x: Float[Tensor, " d"],
    W_g: Float[Tensor, "d d_f"],
    W_u: Float[Tensor, "d d_f"],
    W_d: Float[Tensor, "d_f d"],
    gradient: Float[Tensor, " d"],
) -> Float[Tensor, " d_f"]:
    """For each hidden unit, its row of W_d times that row's gradient."""
    hidden = silu(x @ W_g) * (x @ W_u)
    return (W_d * (hidden[:, None] * gradient)).sum(1)


def imbalance(
    W_u: Float[Tensor, "d d_f"], W_d: Float[Tensor, "d_f d"]
) -> Float[Tensor, " d_f"]:
    """For each hidden unit, the squared length of its column minus its row's."""
    return W_u.square().sum(0) - W_d.square().sum(1)


# --8<-- [end:pulls]


# --8<-- [start:swish]
def swish(
    z: Float[Tensor, "*shape"], *, steepness: float
) -> Float[Tensor, "*shape"]:
    """A number times a sigmoid of it. SiLU has steepness one."""
    return z * (steepness * z).sigmoid()


# --8<-- [end:swish]


# --8<-- [start:count]
def extra_parameters(d: int, width: int) -> int:
    """The weights of a gated layer of this width, minus those of a plain layer
    that is four times as wide as the model."""
    return 3 * d * width - 2 * d * (4 * d)


def gated_width(d: int, *, multiple: int = 256) -> int:
    """Eight thirds of d, rounded up to a multiple."""
    return -(-8 * d // (3 * multiple)) * multiple


# --8<-- [end:count]


# --8<-- [start:balance_lengths]
def balance_lengths(
    W_u: Float[Tensor, "d d_f"], W_d: Float[Tensor, "d_f d"]
) -> tuple[Float[Tensor, "d d_f"], Float[Tensor, "d_f d"]]:
    """The same layer, rescaled so that each column is as long as its row."""
    c = (W_d.norm(dim=1) / W_u.norm(dim=0)).sqrt()  # (d_f,)
    return W_u * c, W_d / c[:, None]


# --8<-- [end:balance_lengths]
