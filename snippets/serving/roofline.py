"""Operations of attention for each byte, and what a machine can do in the time of a byte.

Keys that meet the queries of several heads and tokens, and queries that meet many keys:

--8<-- [start:example-both]
>>> from snippets.serving.roofline import intensity_with_queries, queries_per_key
>>> sizes = dict(num_heads=32, num_kv_heads=8, itemsize=2)
>>> for new, cached in ((1, 8192), (8, 8192), (512, 8192), (8192, 8192)):
...     u = queries_per_key(new, 32, 8)
...     rho = intensity_with_queries(new, cached, d_k=128, **sizes)
...     print(f"{new:4} new tokens  {u:6.0f} queries for each key"
...           f"  {rho:7.1f} operations for each byte")
   1 new tokens       4 queries for each key      4.0 operations for each byte
   8 new tokens      32 queries for each key     31.9 operations for each byte
 512 new tokens    2048 queries for each key   1638.4 operations for each byte
8192 new tokens   32768 queries for each key   6553.6 operations for each byte

--8<-- [end:example-both]

Decoding one token after 32,768 others, on six machines (in bf16, two bytes a number):

--8<-- [start:example-machines]
>>> from snippets.serving.models import models
>>> from snippets.serving.roofline import MACHINES, model_intensity, ridge
>>> names = "Llama 3.1 8B", "Qwen3 235B-A22B", "DeepSeek-V3"
>>> step = dict(new=1, cached=32_768, itemsize=2)
>>> rows = [model_intensity(models()[name], **step) for name in names]
>>> print(" " * 10, "ridge".rjust(6), " ", *(name.rjust(15) for name in names))
            ridge      Llama 3.1 8B Qwen3 235B-A22B     DeepSeek-V3
>>> for machine in MACHINES:
...     most = ridge(machine.flops, machine.bandwidth)
...     print(f"{machine.name:10} {most:6.1f}  ",
...           *(f"{min(rho / most, 1):15.0%}" for rho in rows))
A100 SXM    156.0                3%             10%            100%
H100 SXM    295.2                1%              5%             81%
H200 SXM    206.0                2%              8%            100%
B200 SXM    281.2                1%              6%             85%
MI300X      246.6                2%              6%             97%
TPU v6e     560.4                1%              3%             43%

--8<-- [end:example-machines]

New tokens at once, from which on an H100 computes longer than it reads:

--8<-- [start:example-at-ridge]
>>> from snippets.serving.roofline import new_tokens_at_ridge
>>> for cached in (300, 1024, 32_768):
...     new = new_tokens_at_ridge(cached, 32, 8, needed=295.2)
...     print(f"after {cached:6} tokens: {new:7.1f}")
after    300 tokens:  4612.5
after   1024 tokens:   103.7
after  32768 tokens:    74.5

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
    cached: int,
    num_heads: int,
    num_kv_heads: int,
    d_k: int,
    itemsize: int,
) -> float:
    """Operations of attention, over bytes of keys, values, queries and outputs."""
    work = new * num_heads * (4 * cached * d_k)  # scores and mixing
    numbers = 2 * cached * num_kv_heads * d_k + 2 * new * num_heads * d_k
    return work / (numbers * itemsize)


# --8<-- [end:intensity]


# --8<-- [start:latent]
def latent_intensity(
    new: int, cached: int, num_heads: int, d_c: int, d_r: int, itemsize: int
) -> float:
    """The same for the absorbed form of MLA: one latent row for each token."""
    work = new * num_heads * cached * (2 * (d_c + d_r) + 2 * d_c)
    numbers = cached * (d_c + d_r) + new * num_heads * (2 * d_c + d_r)
    return work / (numbers * itemsize)


# --8<-- [end:latent]


# --8<-- [start:machines]
class Machine(NamedTuple):
    """Dense bf16 operations and bytes of memory that a machine does each second."""

    name: str
    flops: float
    bandwidth: float


MACHINES = (
    Machine("A100 SXM", 312e12, 2e12),
    Machine("H100 SXM", 989.4e12, 3.352e12),
    Machine("H200 SXM", 989e12, 4.8e12),
    Machine("B200 SXM", 2250e12, 8e12),
    Machine("MI300X", 1307e12, 5.3e12),
    Machine("TPU v6e", 918e12, 1.638e12),
)


def ridge(flops: float, bandwidth: float) -> float:
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
    """The intensity of a model's attention in a layer that keeps all tokens."""
    if model.latent:
        d_c, d_r = model.latent
        return latent_intensity(new, cached, model.heads, d_c, d_r, itemsize)
    kv_heads = model.full_kv_heads or model.kv_heads
    width = model.full_head_width or model.head_width
    return intensity_with_queries(
        new, cached, model.heads, kv_heads, width, itemsize
    )


# --8<-- [end:model]


# --8<-- [start:at-ridge]
def new_tokens_at_ridge(
    cached: int, num_heads: int, num_kv_heads: int, needed: float
) -> float:
    """How many new tokens let computing take as long as reading. `needed` is half
    the ridge times the bytes of a number, and less than the cached tokens."""
    queries = needed * cached / (cached - needed)
    return queries / (num_heads / num_kv_heads)


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
