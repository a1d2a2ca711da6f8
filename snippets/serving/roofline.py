"""Operations of attention for each byte, and what a machine can do in the time of a byte.

New tokens at the end of a text of 8,192 tokens, with a causal mask:

--8<-- [start:example-both]
>>> from snippets.serving.roofline import (
...     intensity_with_queries, kept_pairs, queries_per_key)
>>> sizes = dict(num_heads=32, num_kv_heads=8, d_k=128, itemsize=2)
>>> for new in (1, 8, 512, 8192):
...     u = queries_per_key(new, 32, 8)
...     rho = intensity_with_queries(new, 8192, **sizes)
...     rho *= kept_pairs(new, 8192 - new)  # without what the mask hides
...     print(f"{new:4} new tokens  {u:6.0f} queries for each key"
...           f"  {rho:7.1f} operations for each byte")
   1 new tokens       4 queries for each key      4.0 operations for each byte
   8 new tokens      32 queries for each key     31.9 operations for each byte
 512 new tokens    2048 queries for each key   1587.3 operations for each byte
8192 new tokens   32768 queries for each key   3277.2 operations for each byte

--8<-- [end:example-both]

Decoding one token after 32,768 others, on six machines (in bf16, two bytes a number):

--8<-- [start:example-machines]
>>> from snippets.serving.models import models
>>> from snippets.serving.roofline import MACHINES, model_intensity, ridge_point
>>> names = "Llama 3.1 8B", "Qwen3-235B-A22B", "DeepSeek-V3"
>>> step = dict(new=1, cached=32_768, itemsize=2)
>>> rows = [model_intensity(models()[name], **step) for name in names]
>>> print(" " * 10, "ridge".rjust(6), " ", *(name.rjust(15) for name in names))
            ridge      Llama 3.1 8B Qwen3-235B-A22B     DeepSeek-V3
>>> for machine in MACHINES:
...     most = ridge_point(machine.flops, machine.bandwidth)
...     print(f"{machine.name:10} {most:6.1f}  ",
...           *(f"{min(rho / most, 1):15.0%}" for rho in rows))
A100 80GB   156.0                3%             10%            100%
H100 SXM    295.2                1%              5%             81%
H200 SXM    206.0                2%              8%            100%
B200 SXM    281.2                1%              6%             85%
MI300X      246.6                2%              6%             97%
TPU v6e     560.4                1%              3%             43%

--8<-- [end:example-machines]

The fewest new tokens with which an H100 computes as long as it reads:

--8<-- [start:example-at-ridge]
>>> from snippets.serving.roofline import fewest_tokens_at_ridge
>>> llama = models()["Llama 3.1 8B"]
>>> for cached in (0, 300, 1024, 32_768):
...     new = fewest_tokens_at_ridge(
...         llama, cached=cached, itemsize=2, needed=295.2)
...     print(f"after {cached:6} tokens: {new:3}")
after      0 tokens: 737
after    300 tokens: 290
after   1024 tokens: 107
after  32768 tokens:  75

--8<-- [end:example-at-ridge]

The same operations and bytes, counted on tensors:

--8<-- [start:example-counted]
>>> import torch
>>> from snippets.serving.roofline import counted_with_queries
>>> query = torch.zeros(2, 4, 3, 16)  # (h_kv, h / h_kv, s, d_k)
>>> key, value = torch.zeros(2, 2, 50, 16)  # (h_kv, n, d_k)
>>> counted_with_queries(query, key, value)
4.838709677419355
>>> intensity_with_queries(3, 50, 8, 2, 16, itemsize=4)
4.838709677419355

--8<-- [end:example-counted]
"""

from itertools import count
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention
from snippets.order.cost import operations
from snippets.serving.models import Model


# --8<-- [start:intensity]
def queries_per_key(new: int, num_heads: int, num_kv_heads: int) -> float:
    """How many queries meet each key that is read."""
    return new * num_heads / num_kv_heads


def intensity_with_queries(
    new: int,
    keys: int,
    num_heads: int,
    num_kv_heads: int,
    d_k: int,
    itemsize: int,
) -> float:
    """Operations of attention, over bytes of keys, values, queries and outputs.
    Each new token attends to all keys."""
    work = new * num_heads * (4 * keys * d_k)  # scores and mixing
    numbers = 2 * keys * num_kv_heads * d_k + 2 * new * num_heads * d_k
    return work / (numbers * itemsize)


def kept_pairs(new: int, cached: int) -> float:
    """The share of pairs of a new token and a key that a causal mask keeps. The
    keys are those of the tokens in the cache and of the new ones."""
    return (cached + (new + 1) / 2) / (cached + new)


# --8<-- [end:intensity]


# --8<-- [start:latent]
def latent_intensity(
    new: int, keys: int, num_heads: int, d_c: int, d_r: int, itemsize: int
) -> float:
    """The same for the absorbed form of MLA: one latent row for each token."""
    work = new * num_heads * keys * (2 * (d_c + d_r) + 2 * d_c)
    numbers = keys * (d_c + d_r) + new * num_heads * (2 * d_c + d_r)
    return work / (numbers * itemsize)


# --8<-- [end:latent]


# --8<-- [start:machines]
class Machine(NamedTuple):
    """Dense bf16 operations and bytes of memory that a machine does each second."""

    name: str
    flops: float
    bandwidth: float


MACHINES = (
    Machine("A100 80GB", 312e12, 2e12),
    Machine("H100 SXM", 989.4e12, 3.352e12),
    Machine("H200 SXM", 989e12, 4.8e12),
    Machine("B200 SXM", 2250e12, 8e12),
    Machine("MI300X", 1307e12, 5.3e12),
    Machine("TPU v6e", 918e12, 1.638e12),
)


def ridge_point(flops: float, bandwidth: float) -> float:
    """Operations that a machine can do in the time in which it reads a byte."""
    return flops / bandwidth


# --8<-- [end:machines]


# --8<-- [start:model]
def attended_queries(model: Model, *, new: int) -> float:
    """How many queries meet each key of a layer that keeps all tokens. With MLA,
    a row counts as the mean of a key and a value, which differ in width."""
    if model.latent:
        d_c, d_r = model.latent
        return new * model.heads * (2 * d_c + d_r) / (d_c + d_r)
    return queries_per_key(
        new, model.heads, model.full_kv_heads or model.kv_heads
    )


def model_intensity(
    model: Model, *, new: int, cached: int, itemsize: int
) -> float:
    """The intensity of a model's causal attention in a layer that keeps all
    tokens. If an indexer selects rows, its work and its choice are ignored."""
    keys = cached + new
    if model.latent:
        d_c, d_r = model.latent
        rho = latent_intensity(new, keys, model.heads, d_c, d_r, itemsize)
    else:
        kv_heads = model.full_kv_heads or model.kv_heads
        width = model.full_head_width or model.head_width
        rho = intensity_with_queries(
            new, keys, model.heads, kv_heads, width, itemsize
        )
    return rho * kept_pairs(new, cached)


# --8<-- [end:model]


# --8<-- [start:at-ridge]
def fewest_tokens_at_ridge(
    model: Model, *, cached: int, itemsize: int, needed: float
) -> int:
    """The fewest new tokens with at least the needed operations for each byte."""
    return next(
        new
        for new in count(1)
        if needed
        <= model_intensity(model, new=new, cached=cached, itemsize=itemsize)
    )


# --8<-- [end:at-ridge]


# --8<-- [start:counted]
def counted_with_queries(
    query: Float[Tensor, "kv_heads group s d_k"],
    key: Float[Tensor, "kv_heads n d_k"],
    value: Float[Tensor, "kv_heads n d_k"],
) -> float:
    """Operations as PyTorch counts them, over the bytes of the tensors."""
    keys, values = (
        part.unsqueeze(1).expand(-1, query.size(1), -1, -1)
        for part in (key, value)
    )  # (kv_heads, group, n, d_k)
    work = operations(attention, query, keys, values)
    return work / (2 * query.nbytes + key.nbytes + value.nbytes)


# --8<-- [end:counted]
