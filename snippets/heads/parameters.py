"""Which biases of attention do something, and how many parameters there are.

PyTorch's layer with random biases, and the same layer with two of them set to zero:

--8<-- [start:example-fold]
>>> import torch
>>> from torch import nn
>>> from snippets.heads.parameters import without_idle_biases
>>> generator = torch.Generator().manual_seed(0)
>>> layer = nn.MultiheadAttention(16, 4, batch_first=True, dtype=torch.float64)
>>> for parameter in layer.parameters():
...     _ = nn.init.normal_(parameter, generator=generator)
>>> x = torch.randn(2, 5, 16, generator=generator, dtype=torch.float64)  # (batch, n, d)
>>> leaner = without_idle_biases(layer)
>>> torch.allclose(layer(x, x, x)[0], leaner(x, x, x)[0])
True
>>> [bool(bias.any()) for bias in leaner.in_proj_bias.chunk(3)]  # query, key, value
[True, False, False]

--8<-- [end:example-fold]

A bias that does nothing gets no gradient, up to rounding:

--8<-- [start:example-gradient]
>>> layer(x, x, x)[0].square().sum().backward()
>>> [bool(gradient.abs().max() > 1e-6) for gradient in layer.in_proj_bias.grad.chunk(3)]
[True, False, True]

--8<-- [end:example-gradient]

The number of heads does not change the number of parameters:

--8<-- [start:example-count]
>>> from snippets.heads.parameters import bias_count, weight_count
>>> for heads in (1, 2, 8, 32):
...     d_k = d_v = 512 // heads
...     found = sum(p.numel() for p in nn.MultiheadAttention(512, heads).parameters())
...     weights, biases = weight_count(512, heads, d_k, d_v), bias_count(512, heads, d_k, d_v)
...     print(f"heads {heads:2}   weights {weights:,}   biases {biases:,}   PyTorch {found:,}")
heads  1   weights 1,048,576   biases 2,048   PyTorch 1,050,624
heads  2   weights 1,048,576   biases 2,048   PyTorch 1,050,624
heads  8   weights 1,048,576   biases 2,048   PyTorch 1,050,624
heads 32   weights 1,048,576   biases 2,048   PyTorch 1,050,624

--8<-- [end:example-count]
"""

import copy

import torch
from jaxtyping import Float
from torch import Tensor, nn

from snippets.attention.formula import attention_weights


# --8<-- [start:biases]
def weights_with_biases(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    *,
    query_bias: Float[Tensor, "#n d_k"] | Float[Tensor, " d_k"] | None = None,
    key_bias: Float[Tensor, "#m d_k"] | Float[Tensor, " d_k"] | None = None,
) -> Float[Tensor, "*batch n m"]:
    """The weights if a bias is added to every query and another to every key."""
    if query_bias is not None:
        query = query + query_bias
    if key_bias is not None:
        key = key + key_bias
    return attention_weights(query, key)


# --8<-- [end:biases]


# --8<-- [start:fold]
def folded_bias(
    value_bias: Float[Tensor, " d_v"],
    W_O: Float[Tensor, "d_v d"],
    output_bias: Float[Tensor, " d"],
) -> Float[Tensor, " d"]:
    """The bias of the output with the bias of the values folded in."""
    return value_bias @ W_O + output_bias


@torch.no_grad()
def without_idle_biases(layer: nn.MultiheadAttention) -> nn.MultiheadAttention:
    """The same function without biases of keys and values, if dropout is off and
    no query has all its keys masked.

    Raises ValueError for a layer with an extra key that has no such bias, since
    the bias of the others then changes the weights.
    """
    if layer.bias_k is not None or layer.add_zero_attn:
        raise ValueError("expected a layer without bias_k and add_zero_attn")
    layer = copy.deepcopy(layer)
    if layer.in_proj_bias is None:
        return layer  # it has no biases at all
    _, key_bias, value_bias = layer.in_proj_bias.chunk(3)  # views: (d,) each
    output = layer.out_proj
    output.bias.copy_(folded_bias(value_bias, output.weight.mT, output.bias))
    key_bias.zero_()
    value_bias.zero_()
    return layer


# --8<-- [end:fold]


# --8<-- [start:count]
def weight_count(d: int, num_heads: int, d_k: int, d_v: int) -> int:
    """The number of weights for queries, keys, values and the output."""
    return num_heads * (2 * d * d_k + d * d_v) + num_heads * d_v * d


def bias_count(d: int, num_heads: int, d_k: int, d_v: int) -> int:
    """The number of their biases."""
    return num_heads * (2 * d_k + d_v) + d


# --8<-- [end:count]
