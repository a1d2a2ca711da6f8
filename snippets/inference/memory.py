"""Bytes of a cache, and operations for each byte that is read.

The cache of published models, for each token and for 8,192 tokens, at two bytes a number:

--8<-- [start:example-models]
>>> from snippets.inference.memory import bytes_per_token, six_models
>>> for model in six_models():
...     token = bytes_per_token(
...         model.layers, model.kv_heads, model.head_width, itemsize=2)
...     whole = token * 8192 / 2**30
...     print(f"{model.name:15}  layers {model.layers}"
...           f"  heads {model.heads:2}/{model.kv_heads:2}"
...           f"  {token // 1024:4} KiB per token"
...           f"  {whole:5.2f} GiB for 8,192")
GPT-3 175B       layers 96  heads 96/96  4608 KiB per token  36.00 GiB for 8,192
Llama 2 7B       layers 32  heads 32/32   512 KiB per token   4.00 GiB for 8,192
Llama 2 70B      layers 80  heads 64/ 8   320 KiB per token   2.50 GiB for 8,192
Mistral 7B v0.1  layers 32  heads 32/ 8   128 KiB per token   1.00 GiB for 8,192
Llama 3.1 8B     layers 32  heads 32/ 8   128 KiB per token   1.00 GiB for 8,192
Llama 3.1 70B    layers 80  heads 64/ 8   320 KiB per token   2.50 GiB for 8,192

--8<-- [end:example-models]

Sequences of 2,048 tokens whose cache is as large as the weights of GPT-3's layers:

--8<-- [start:example-six]
>>> from snippets.inference.memory import weights_less_cache
>>> gpt = six_models()[0]
>>> d = gpt.width
>>> 6 * d  # tokens
73728
>>> [weights_less_cache(batch * 2048, d, gpt.layers, itemsize=2)
...  for batch in (35, 36, 37)]
[9663676416, 0, -9663676416]

--8<-- [end:example-six]

Operations for each byte read, in a decoding step of a model with the sizes of Llama 2 7B:

--8<-- [start:example-intensity]
>>> from snippets.inference.memory import (
...     attention_intensity, step_intensity, weights_intensity)
>>> heads = dict(num_heads=32, num_kv_heads=32, d_k=128, itemsize=2)
>>> weights = 12 * 4096**2 * 32
>>> for batch in (1, 16, 256, 4096):
...     a = attention_intensity(batch, 4096, **heads)
...     b = weights_intensity(batch, weights, itemsize=2)
...     c = step_intensity(batch, 4096, weights, layers=32, **heads)
...     print(f"batch {batch:4}   attention {a:.0f}   weights {b:4.0f}"
...           f"   both {c:.2f}")
batch    1   attention 1   weights    1   both 1.00
batch   16   attention 1   weights   16   both 5.09
batch  256   attention 1   weights  256   both 6.84
batch 4096   attention 1   weights 4096   both 6.99

--8<-- [end:example-intensity]

A prefix that all sequences share:

--8<-- [start:example-shared]
>>> from snippets.inference.memory import shared_intensity
>>> for batch in (1, 8, 64, 512):
...     ratio = shared_intensity(batch, 4000, 100, **heads)
...     print(f"batch {batch:3}   {ratio:5.2f}")
batch   1    1.00
batch   8    6.83
batch  64   25.23
batch 512   38.03

--8<-- [end:example-shared]

The same ratio, measured on tensors:

--8<-- [start:example-counted]
>>> import torch
>>> from snippets.inference.memory import counted_intensity
>>> for batch, n in ((1, 64), (8, 64), (8, 512)):
...     query = torch.zeros(batch, 8, 1, 16)  # (B, h, 1, d_k)
...     key, value = torch.zeros(2, batch, 8, n, 16)  # (B, h, n, d_k)
...     print(counted_intensity(query, key, value))
0.5
0.5
0.5

--8<-- [end:example-counted]
"""

from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention
from snippets.order.cost import operations
from snippets.serving.models import Model, models


# --8<-- [start:bytes]
def bytes_per_token(
    layers: int, num_kv_heads: int, d_k: int, itemsize: int
) -> int:
    """A key and a value in each layer and head."""
    return 2 * layers * num_kv_heads * d_k * itemsize


# --8<-- [end:bytes]


# --8<-- [start:models]
def six_models() -> list[Model]:
    """Published models with different caches."""
    names = (
        "GPT-3 175B",
        "Llama 2 7B",
        "Llama 2 70B",
        "Mistral 7B v0.1",
        "Llama 3.1 8B",
        "Llama 3.1 70B",
    )
    return [models()[name] for name in names]


# --8<-- [end:models]


# --8<-- [start:six]
def weights_less_cache(tokens: int, d: int, layers: int, itemsize: int) -> int:
    """Bytes of layers of 12 d^2 weights, less the bytes of a cache of MHA."""
    weights = 12 * d**2 * layers * itemsize
    return weights - tokens * bytes_per_token(layers, 1, d, itemsize)


# --8<-- [end:six]


# --8<-- [start:intensity]
def attention_intensity(
    batch: int,
    n: int,
    num_heads: int,
    num_kv_heads: int,
    d_k: int,
    itemsize: int,
) -> float:
    """Operations with cached keys and values, over their bytes; one token each."""
    work = batch * num_heads * (4 * n * d_k)  # scores and mixing
    return work / (batch * num_kv_heads * (2 * n * d_k) * itemsize)


def weights_intensity(batch: int, weights: int, itemsize: int) -> float:
    """Operations with weights, over their bytes."""
    return batch * (2 * weights) / (weights * itemsize)


def step_intensity(
    batch: int,
    n: int,
    weights: int,
    layers: int,
    num_heads: int,
    num_kv_heads: int,
    d_k: int,
    itemsize: int,
) -> float:
    """All operations of a step, over all bytes of weights and caches."""
    work = 2 * batch * weights + 4 * batch * n * layers * num_heads * d_k
    numbers = weights + 2 * batch * n * layers * num_kv_heads * d_k
    return work / (numbers * itemsize)


# --8<-- [end:intensity]


# --8<-- [start:prefill]
def prefill_intensity(n: int, d_k: int, itemsize: int) -> float:
    """Operations of attention with n queries in one head, over the bytes of its
    inputs and its output."""
    return (4 * n**2 * d_k) / (4 * n * d_k * itemsize)


# --8<-- [end:prefill]


# --8<-- [start:shared]
def shared_intensity(
    batch: int,
    shared: int,
    own: int,
    num_heads: int,
    num_kv_heads: int,
    d_k: int,
    itemsize: int,
) -> float:
    """The intensity of attention if all sequences begin with the same tokens, which
    are read only once."""
    work = batch * (shared + own) * num_heads * (4 * d_k)
    numbers = (shared + batch * own) * num_kv_heads * (2 * d_k)
    return work / (numbers * itemsize)


# --8<-- [end:shared]


# --8<-- [start:counted]
def counted_intensity(
    query: Float[Tensor, "*batch heads 1 d_k"],
    key: Float[Tensor, "*batch heads m d_k"],
    value: Float[Tensor, "*batch heads m d_v"],
) -> float:
    """Operations of a step as PyTorch counts them, over the bytes of the cache."""
    work = operations(attention, query, key, value)
    return work / (key.nbytes + value.nbytes)


# --8<-- [end:counted]
