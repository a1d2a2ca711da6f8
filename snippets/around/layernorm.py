"""Layer normalisation: centre each token, divide by its spread.

It is PyTorch's, without gain and bias:

--8<-- [start:example-layernorm]
>>> import torch
>>> from snippets.around.layernorm import layer_norm
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(2, 5, 8, generator=generator, dtype=torch.float64)  # (batch, n, d)
>>> theirs = torch.nn.LayerNorm(8, elementwise_affine=False, dtype=torch.float64)
>>> torch.allclose(layer_norm(X), theirs(X))
True
>>> torch.allclose(layer_norm(3 * X + 7, epsilon=0), layer_norm(X, epsilon=0))
True

--8<-- [end:example-layernorm]

What epsilon, here PyTorch's 0.00001, does to tokens that hardly vary:

--8<-- [start:example-epsilon]
>>> from snippets.around.layernorm import mean_square
>>> for size in (1.0, 0.1, 0.01, 0.001):
...     print(f"size {size:5}   mean square {mean_square(layer_norm(size * X[0, 0])):.4f}")
size   1.0   mean square 1.0000
size   0.1   mean square 0.9987
size  0.01   mean square 0.8830
size 0.001   mean square 0.0702

--8<-- [end:example-epsilon]

The slope takes two directions out of every gradient:

--8<-- [start:example-slope]
>>> x = X[0, 0]
>>> slope = torch.autograd.functional.jacobian(lambda x: layer_norm(x, epsilon=0), x)  # (d, d)
>>> torch.linalg.matrix_rank(slope).item()
6
>>> centred = x - x.mean()
>>> [torch.allclose(slope @ y, torch.zeros(8).double()) for y in (torch.ones(8).double(), centred)]
[True, True]

--8<-- [end:example-slope]

Where it stands in a stack decides whether the slope of what comes out by what comes in keeps an
identity. Here the blocks add nothing at all:

--8<-- [start:example-stack]
>>> from snippets.around.layernorm import post_norm, pre_norm
>>> nothing = torch.zeros_like
>>> for name, rule in (("after", post_norm), ("before", pre_norm)):
...     stack = lambda x: rule(rule(x, nothing), nothing)
...     slope = torch.autograd.functional.jacobian(stack, x)
...     print(f"normalised {name:6}   rank {torch.linalg.matrix_rank(slope, rtol=1e-3).item()}")
normalised after    rank 6
normalised before   rank 8

--8<-- [end:example-stack]
"""

from collections.abc import Callable

from torch import Tensor

from snippets.shapes import check_shapes


# --8<-- [start:layernorm]
def rms_norm(u: Tensor, epsilon: float = 1e-5) -> Tensor:
    """Each token divided by the root of its mean square (Zhang and Sennrich 2019)."""
    check_shapes("u: d", u)
    return u / (u.square().mean(-1, keepdim=True) + epsilon).sqrt()  # (..., d)


def layer_norm(x: Tensor, epsilon: float = 1e-5) -> Tensor:
    """The same of the centred token (Ba, Kiros and Hinton 2016)."""
    check_shapes("x: d", x)
    return rms_norm(x - x.mean(-1, keepdim=True), epsilon)  # (..., d)


def mean_square(y: Tensor) -> Tensor:
    """The mean of the squared features of each token."""
    return y.square().mean(-1)  # (..., d) -> (...)


# --8<-- [end:layernorm]


# --8<-- [start:stack]
def post_norm(x: Tensor, block: Callable[[Tensor], Tensor]) -> Tensor:
    """As in the first transformer: add, then normalise the sum."""
    return layer_norm(x + block(x))  # (..., d)


def pre_norm(x: Tensor, block: Callable[[Tensor], Tensor]) -> Tensor:
    """As in most since: normalise what the block sees, and add to what came in."""
    return x + block(layer_norm(x))  # (..., d)


# --8<-- [end:stack]
