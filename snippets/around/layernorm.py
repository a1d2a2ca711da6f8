"""Layer normalisation: subtract each token's mean, divide by its standard deviation.

It agrees with PyTorch's layer without gain and bias:

--8<-- [start:example-layernorm]
>>> import torch
>>> from snippets.around.layernorm import layer_norm
>>> generator = torch.Generator().manual_seed(0)
>>> # (batch, n, d)
>>> X = torch.randn(2, 5, 8, generator=generator, dtype=torch.float64)
>>> theirs = torch.nn.LayerNorm(8, elementwise_affine=False, dtype=torch.float64)
>>> torch.allclose(layer_norm(X), theirs(X))
True
>>> torch.allclose(layer_norm(3 * X + 7, eps=0), layer_norm(X, eps=0))
True

--8<-- [end:example-layernorm]

The effect of eps (1e-5, as in nn.LayerNorm) on small tokens:

--8<-- [start:example-epsilon]
>>> from snippets.around.layernorm import mean_square
>>> for size in (1.0, 0.1, 0.01, 0.001):
...     y = layer_norm(size * X[0, 0])
...     print(f"size {size:5}   mean square {mean_square(y):.4f}")
size   1.0   mean square 1.0000
size   0.1   mean square 0.9987
size  0.01   mean square 0.8830
size 0.001   mean square 0.0702

--8<-- [end:example-epsilon]

The derivative maps two directions to zero:

--8<-- [start:example-slope]
>>> x = X[0, 0]
>>> def without_eps(x):
...     return layer_norm(x, eps=0)
>>> jacobian = torch.autograd.functional.jacobian(without_eps, x)  # (d, d)
>>> torch.linalg.matrix_rank(jacobian).item()
6
>>> centred = x - x.mean()
>>> ones, zeros = torch.ones(8).double(), torch.zeros(8).double()
>>> [torch.allclose(jacobian @ u, zeros) for u in (ones, centred)]
[True, True]

--8<-- [end:example-slope]

The derivative of a stack contains the identity if blocks normalise their input, but not if they
normalise the sum. Here the blocks add nothing:

--8<-- [start:example-stack]
>>> from snippets.around.layernorm import post_norm, pre_norm
>>> nothing = torch.zeros_like
>>> for name, rule in (("after", post_norm), ("before", pre_norm)):
...     twice = lambda x: rule(rule(x, nothing), nothing)
...     jacobian = torch.autograd.functional.jacobian(twice, x)
...     rank = torch.linalg.matrix_rank(jacobian, rtol=1e-3).item()
...     print(f"normalised {name:6}   rank {rank}")
normalised after    rank 6
normalised before   rank 8

--8<-- [end:example-stack]
"""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import upcast


# --8<-- [start:layernorm]
def rms_norm(
    u: Float[Tensor, "*batch d"], *, eps: float = 1e-5
) -> Float[Tensor, "*batch d"]:
    """Divide each token by the root of its mean square.

    From Zhang and Sennrich (2019). PyTorch's default for eps is another one:
    the machine epsilon of the dtype in which it computes.
    """
    wide = upcast(u)  # in fp16, 300 squared would be infinite
    spread = (wide.square().mean(-1, keepdim=True) + eps).sqrt()
    return (wide / spread).to(u.dtype)


def layer_norm(
    x: Float[Tensor, "*batch d"], *, eps: float = 1e-5
) -> Float[Tensor, "*batch d"]:
    """Centre each token, then divide: Ba, Kiros and Hinton (2016)."""
    wide = upcast(x)
    centred = wide - wide.mean(-1, keepdim=True)
    return rms_norm(centred, eps=eps).to(x.dtype)


def mean_square(y: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch"]:
    """The mean of the squared features of each token."""
    return upcast(y).square().mean(-1).to(y.dtype)


# --8<-- [end:layernorm]


# --8<-- [start:stack]
Block = Callable[[Float[Tensor, "*batch d"]], Float[Tensor, "*batch d"]]


def post_norm(
    x: Float[Tensor, "*batch d"], block: Block
) -> Float[Tensor, "*batch d"]:
    """Add, then normalise the sum, as in the first transformer."""
    return layer_norm(x + block(x))


def pre_norm(
    x: Float[Tensor, "*batch d"], block: Block
) -> Float[Tensor, "*batch d"]:
    """Normalise the block's input, then add its output, as in GPT-2."""
    return x + block(layer_norm(x))


# --8<-- [end:stack]
