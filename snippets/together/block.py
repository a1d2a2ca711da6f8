"""A block of a published model, from the parts of this site, and its parameters.

--8<-- [start:example-block]
>>> import torch
>>> from snippets.order.positions import frequencies
>>> from snippets.order.rotary import find_rotation
>>> from snippets.together.block import (
...     block_of_parts, modern_block_parameters, random_weights)
>>> generator = torch.Generator().manual_seed(0)
>>> sizes = dict(d=32, d_f=48, num_heads=4, num_kv_heads=2, d_k=8)
>>> weights = random_weights(**sizes, generator=generator)
>>> counted = sum(one.numel() for one in weights)
>>> counted, modern_block_parameters(*sizes.values(), 4) + 2 * 8
(7824, 7824)
>>> x = torch.randn(5, 32, generator=generator)  # (n, d)
>>> rotation = find_rotation(torch.arange(5), frequencies(8))
>>> heads = dict(num_heads=4, num_kv_heads=2, rotation=rotation)
>>> y = block_of_parts(x, weights, **heads)  # (n, d)
>>> larger = weights._replace(W_O=100 * weights.W_O, W_d=100 * weights.W_d)
>>> torch.allclose(block_of_parts(x, larger, **heads), y, atol=1e-3)
True
>>> bare = larger._replace(after_1=None, after_2=None)  # no norm after a part
>>> bool(block_of_parts(x, bare, **heads).norm() > 20 * y.norm())
True

--8<-- [end:example-block]

Parameters of published models, part by part, and of all blocks together:

--8<-- [start:example-count]
>>> from snippets.together.block import model_parts
>>> for name in ("Llama 3.1 8B", "Qwen3-8B", "Gemma 2 9B", "Gemma 2 27B"):
...     parts = model_parts(name)
...     print(f"{name:12}", f"{sum(parts.values()):14,}",
...           f"{sum(parts.values()) - parts['embedding']:14,}",
...           f"{parts['norms']:8,}")
Llama 3.1 8B  8,030,261,248  6,979,588,096  266,240
Qwen3-8B      8,190,735,360  6,946,075,648  308,224
Gemma 2 9B    9,242,164,736  8,324,201,984  605,696
Gemma 2 27B  27,227,718,144 26,047,480,320  852,480

--8<-- [end:example-count]

Gemma 2 9B with two norms and with four in each block:

--8<-- [start:example-which]
>>> from snippets.together.block import stack_parameters
>>> for norms in (2, 4):
...     print(norms, f"{stack_parameters(42, 3584, 14336, 16, 8, 256, norms):,}")
2 8,323,900,928
4 8,324,201,984

--8<-- [end:example-which]

Shares of the parameters, in percent:

--8<-- [start:example-shares]
>>> for name in ("Llama 3.1 8B", "Llama 3.1 405B", "Gemma 2 9B"):
...     parts = model_parts(name)
...     print(f"{name:14}", *(f"{part} {100 * count / sum(parts.values()):.3f}"
...                           for part, count in parts.items()))
Llama 3.1 8B   embedding 13.084 attention 16.714 feed-forward 70.199 norms 0.003
Llama 3.1 405B embedding 1.036 attention 17.709 feed-forward 81.254 norms 0.001
Gemma 2 9B     embedding 9.932 attention 20.014 feed-forward 70.048 norms 0.007

--8<-- [end:example-shares]
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.around.layernorm import rms_norm
from snippets.attention.formula import attention
from snippets.heads.split import combine_heads, split_heads
from snippets.layers.swiglu import swiglu_layer
from snippets.order.rotary import Rotation, rotate
from snippets.serving.models import models


# --8<-- [start:weights]
class BlockWeights(NamedTuple):
    """The parameters of a block. A gain of None means that there is no norm."""

    W_Q: Float[Tensor, "d h*d_k"]
    W_K: Float[Tensor, "d h_kv*d_k"]
    W_V: Float[Tensor, "d h_kv*d_k"]
    W_O: Float[Tensor, "h*d_k d"]
    W_g: Float[Tensor, "d d_f"]
    W_u: Float[Tensor, "d d_f"]
    W_d: Float[Tensor, "d_f d"]
    before_1: Float[Tensor, " d"] | None
    before_2: Float[Tensor, " d"] | None
    query: Float[Tensor, " d_k"] | None = None  # QK-norm
    key: Float[Tensor, " d_k"] | None = None
    after_1: Float[Tensor, " d"] | None = None  # sandwich norm
    after_2: Float[Tensor, " d"] | None = None


def random_weights(
    *,
    d: int,
    d_f: int,
    num_heads: int,
    num_kv_heads: int,
    d_k: int,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> BlockWeights:
    """A block with all of these norms, with random parameters."""
    kinds = dict(generator=generator, dtype=dtype, device=device)
    width, shared = num_heads * d_k, num_kv_heads * d_k
    shapes = [(d, width), (d, shared), (d, shared), (width, d)]
    shapes += [(d, d_f), (d, d_f), (d_f, d)]
    matrices = [torch.randn(s, **kinds) * s[0] ** -0.5 for s in shapes]
    gains = [torch.rand(n, **kinds) + 0.5 for n in (d, d, d_k, d_k, d, d)]
    return BlockWeights(*matrices, *gains)


# --8<-- [end:weights]


# --8<-- [start:block]
def norm_if_any(
    x: Float[Tensor, "*batch d"], gain: Float[Tensor, " d"] | None
) -> Float[Tensor, "*batch d"]:
    """RMSNorm with this gain, or x itself if there is none."""
    return x if gain is None else rms_norm(x, eps=1e-6) * gain


def block_of_parts(
    x: Float[Tensor, "*batch n d"],
    weights: BlockWeights,
    *,
    rotation: Rotation,
    num_heads: int,
    num_kv_heads: int,
) -> Float[Tensor, "*batch n d"]:
    """Causal grouped attention, then SwiGLU, each with its norms.

    Raises ValueError for a rotation of another number of tokens, and
    RuntimeError for weights of another width.
    """
    read = norm_if_any(x, weights.before_1)
    query = split_heads(read @ weights.W_Q, num_heads=num_heads)
    key = split_heads(read @ weights.W_K, num_heads=num_kv_heads)
    value = split_heads(read @ weights.W_V, num_heads=num_kv_heads)
    query = rotate(norm_if_any(query, weights.query), rotation)
    key = rotate(norm_if_any(key, weights.key), rotation)
    heads = attention(query, key, value, is_causal=True, enable_gqa=True)
    x = x + norm_if_any(combine_heads(heads) @ weights.W_O, weights.after_1)
    read = norm_if_any(x, weights.before_2)
    write = swiglu_layer(read, weights.W_g, weights.W_u, weights.W_d)
    return x + norm_if_any(write, weights.after_2)


# --8<-- [end:block]


# --8<-- [start:count]
def modern_block_parameters(
    d: int, d_f: int, num_heads: int, num_kv_heads: int, d_k: int, norms: int
) -> int:
    """The parameters of a block without biases and without QK-norm."""
    attention = 2 * d * ((num_heads + num_kv_heads) * d_k)
    return attention + 3 * d * d_f + norms * d


def stack_parameters(
    num_layers: int,
    d: int,
    d_f: int,
    num_heads: int,
    num_kv_heads: int,
    d_k: int,
    norms: int,
) -> int:
    """The parameters of all blocks, and of the norm after the last one."""
    block = modern_block_parameters(d, d_f, num_heads, num_kv_heads, d_k, norms)
    return num_layers * block + d


# --8<-- [end:count]


# --8<-- [start:models]
TABLES = {  # rows of a table, and tables: the head may be the embedding
    "Llama 3.1 8B": (128_256, 2),
    "Llama 3.1 70B": (128_256, 2),
    "Llama 3.1 405B": (128_256, 2),
    "Qwen3-8B": (151_936, 2),
    "Qwen3-32B": (151_936, 2),
    "Gemma 2 9B": (256_128, 1),
    "Gemma 2 27B": (256_128, 1),
}


def model_parts(name: str) -> dict[str, int]:
    """The parameters of each part of a model in models.toml, in all layers. The
    first is the embedding, with the head if it has a table of its own."""
    model, (rows, tables) = models()[name], TABLES[name]
    d, L, d_k = model.width, model.layers, model.head_width
    norms = 4 if "before and after" in model.norms else 2
    gains = 2 * d_k if "QK-norm" in model.norms else 0
    return {
        "embedding": tables * rows * d,
        "attention": L * 2 * d * (model.heads + model.kv_heads) * d_k,
        "feed-forward": L * 3 * d * model.inner,
        "norms": L * (norms * d + gains) + d,
    }


# --8<-- [end:models]
