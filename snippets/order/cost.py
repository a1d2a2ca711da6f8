"""Operations of a layer of attention, by formula and as PyTorch counts them.

A multiplication and an addition are two operations. The count does not depend on the number of heads:

--8<-- [start:example-forward]
>>> import torch
>>> from snippets.order.cost import attention_layer, forward_operations, operations
>>> generator = torch.Generator().manual_seed(0)
>>> n, d = 20, 32
>>> x, *W = torch.randn(5, d, d, generator=generator)
>>> x = x[:n]
>>> [operations(attention_layer, x, *W, num_heads=h) for h in (1, 4, 32)]
[215040, 215040, 215040]
>>> forward_operations(n, d)
215040
>>> # no fewer: the full square is computed
>>> operations(attention_layer, x, *W, num_heads=4, is_causal=True)
215040

--8<-- [end:example-forward]

The backward pass costs twice as much, so a training step costs three forward passes:

--8<-- [start:example-backward]
>>> from snippets.order.cost import training_step
>>> x, *W = (tensor.requires_grad_() for tensor in (x, *W))
>>> step = operations(training_step, x, *W, num_heads=4)
>>> step == 3 * forward_operations(n, d)
True

--8<-- [end:example-backward]

At a width of 512, doubling a short text costs a little more than twice as much:

--8<-- [start:example-doubling]
>>> from snippets.order.cost import doubling_ratio, pair_operations
>>> for n in (64, 256, 1024, 4096, 65536):
...     share = pair_operations(n, 512) / forward_operations(n, 512)
...     ratio = doubling_ratio(n, 512)
...     print(f"{n:6} tokens   share of pairs {share:.3f}   twice {ratio:.3f}")
    64 tokens   share of pairs 0.059   twice 2.118
   256 tokens   share of pairs 0.200   twice 2.400
  1024 tokens   share of pairs 0.500   twice 3.000
  4096 tokens   share of pairs 0.800   twice 3.600
 65536 tokens   share of pairs 0.985   twice 3.969

--8<-- [end:example-doubling]

Memory: the number of weights of 65,536 tokens, for 16 heads of width 64:

--8<-- [start:example-memory]
>>> from snippets.order.cost import weights_held, weights_per_output
>>> weights_held(65536, 16), weights_per_output(65536, 64)
(68719476736, 1024.0)
>>> weights_held(65536, 16) * 2 / 2**30  # in 16 bits, GiB
128.0

--8<-- [end:example-memory]

Tokens generated one by one, with and without stored keys and values:

--8<-- [start:example-cache]
>>> from snippets.order.cost import (
...     operations_with_cache, operations_without_cache)
>>> for n in (1, 16, 256, 4096):
...     whole = forward_operations(n, 512)
...     kept = operations_with_cache(n, 512) / whole
...     anew = operations_without_cache(n, 512) / whole
...     print(f"{n:4} tokens   with {kept:.2f}   without {anew:7.2f}   of one pass")
   1 tokens   with 1.00   without    1.00   of one pass
  16 tokens   with 0.99   without    8.46   of one pass
 256 tokens   with 0.90   without  119.97   of one pass
4096 tokens   with 0.60   without 1502.37   of one pass

--8<-- [end:example-cache]
"""

from collections.abc import Callable
from typing import Any

from jaxtyping import Float
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.flop_counter import FlopCounterMode


# --8<-- [start:layer]
def attention_layer(
    x: Float[Tensor, "*batch n d"],
    W_Q: Float[Tensor, "d d"],
    W_K: Float[Tensor, "d d"],
    W_V: Float[Tensor, "d d"],
    W_O: Float[Tensor, "d d"],
    *,
    num_heads: int,
    is_causal: bool = False,
) -> Float[Tensor, "*batch n d"]:
    """Self-attention with several heads: three projections, attention, one more.

    Raises RuntimeError if the number of heads does not divide d.
    """
    query, key, value = (  # (*batch, heads, n, d / heads) each
        (x @ W).unflatten(-1, (num_heads, -1)).transpose(-3, -2)
        for W in (W_Q, W_K, W_V)
    )
    output = scaled_dot_product_attention(
        query, key, value, is_causal=is_causal
    )
    return output.transpose(-3, -2).flatten(-2) @ W_O


def training_step(
    x: Float[Tensor, "*batch n d"],
    *weights: Float[Tensor, "d d"],
    num_heads: int,
) -> None:
    """Forward and backward."""
    attention_layer(x, *weights, num_heads=num_heads).sum().backward()


# --8<-- [end:layer]


# --8<-- [start:operations]
def operations(function: Callable, *args: Any, **kwargs: Any) -> int:
    """Floating-point operations in matrix products, as PyTorch counts them."""
    # The counter does not see into the fused kernels of the CPU.
    counter = FlopCounterMode(display=False)
    with sdpa_kernel(SDPBackend.MATH), counter:
        function(*args, **kwargs)
    return counter.get_total_flops()


# --8<-- [end:operations]


# --8<-- [start:formulas]
def projection_operations(n: int, d: int) -> int:
    """To queries, keys, values and output: four products (n, d) (d, d)."""
    return 8 * n * d**2


def pair_operations(n: int, d: int) -> int:
    """Scores and mixing: (n, d_k) (d_k, n) and (n, n) (n, d_k), in d / d_k heads."""
    return 4 * n**2 * d


def forward_operations(n: int, d: int) -> int:
    """A forward pass over n tokens of width d, with any number of heads."""
    return projection_operations(n, d) + pair_operations(n, d)


def backward_of_product(n: int, m: int, p: int) -> int:
    """For A B, (n, m) (m, p): a product with B transposed, and one with A
    transposed."""
    return 2 * n * p * m + 2 * m * n * p


# --8<-- [end:formulas]


# --8<-- [start:ratios]
def doubling_ratio(n: int, d: int) -> float:
    """The cost of 2n tokens divided by the cost of n tokens."""
    return forward_operations(2 * n, d) / forward_operations(n, d)


def excess_of_pairs(n: int, d: int) -> int:
    """Operations of scores and mixing minus those of the projections."""
    return pair_operations(n, d) - projection_operations(n, d)


# --8<-- [end:ratios]


# --8<-- [start:memory]
def weights_held(n: int, num_heads: int) -> int:
    """The number of weights, if all are held at once."""
    return num_heads * n**2


def weights_per_output(n: int, d_k: int) -> float:
    """The number of weights for each number of the heads' output."""
    return n / d_k


# --8<-- [end:memory]


# --8<-- [start:cache]
def operations_without_cache(n: int, d: int) -> int:
    """n tokens one by one, each with a forward pass over all tokens so far."""
    return sum(forward_operations(i, d) for i in range(1, n + 1))


def step_operations(i: int, d: int) -> int:
    """Token i, with stored keys and values of all earlier tokens."""
    return 8 * d**2 + 4 * i * d


def operations_with_cache(n: int, d: int) -> int:
    """n tokens one by one, with stored keys and values."""
    return sum(step_operations(i, d) for i in range(1, n + 1))


# --8<-- [end:cache]
