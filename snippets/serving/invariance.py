"""Sums and attention in parts: how many parts there are, and whether this depends on the batch.

Four numbers in one, two and four parts, in fp32:

--8<-- [start:example-parts]
>>> import torch
>>> from snippets.serving.invariance import sum_in_parts
>>> terms = torch.tensor([16_777_216.0, 1, 1, -16_777_216])  # fp32
>>> [sum_in_parts(terms, parts=parts).item() for parts in (1, 2, 4)]
[0.0, 1.0, 0.0]

--8<-- [end:example-parts]

The token with the largest logit, if the first logit is this sum:

--8<-- [start:example-argmax]
>>> other = torch.tensor(0.5)
>>> for parts in (1, 2):
...     logits = torch.stack([sum_in_parts(terms, parts=parts), other])
...     print(logits.tolist(), "token", logits.argmax().item())
[0.0, 0.5] token 1
[1.0, 0.5] token 0

--8<-- [end:example-argmax]

A difference in the last bit of fp32, before and after rounding to bf16:

--8<-- [start:example-bf16]
>>> near = torch.tensor([1 + 2.0**-8, 2.0**-24, 2.0**-24, 2.0**-24])
>>> one, two = (sum_in_parts(near, parts=parts) for parts in (1, 2))
>>> (two - one).item() == 2.0**-23
True
>>> one.bfloat16().item(), two.bfloat16().item()
(1.0, 1.0078125)

--8<-- [end:example-bf16]

The first sequence of a batch, with a fixed number of workers and with a fixed size of the parts:

--8<-- [start:example-batch]
>>> from snippets.serving.invariance import decode_by_size, decode_by_workers
>>> generator = torch.Generator().manual_seed(0)
>>> query = torch.randn(8, 64, generator=generator)  # (B, d_k)
>>> key, value = torch.randn(2, 8, 512, 64, generator=generator)  # (B, m, d)
>>> alone = decode_by_workers(query[:1], key[:1], value[:1], workers=16)
>>> batch = decode_by_workers(query, key, value, workers=16)
>>> torch.equal(batch[0], alone[0]), torch.allclose(batch[0], alone[0], atol=1e-6)
(False, True)
>>> alone = decode_by_size(query[:1], key[:1], value[:1], size=64)
>>> batch = decode_by_size(query, key, value, size=64)
>>> torch.equal(batch[0], alone[0])
True

--8<-- [end:example-batch]

In which of two rows the largest logit is safe:

--8<-- [start:example-safe]
>>> from snippets.serving.invariance import is_safe
>>> logits = torch.tensor([[5.0, 4.9, 1.0], [5.0, 4.999, 1.0]])
>>> is_safe(logits, bound=0.01)
tensor([ True, False])

--8<-- [end:example-safe]

A part of zeros, added to four others:

--8<-- [start:example-zeros]
>>> terms = torch.randn(64, generator=generator)
>>> padded = torch.cat([terms, torch.zeros(16)])
>>> torch.equal(sum_in_parts(padded, size=16), sum_in_parts(terms, size=16))
True

--8<-- [end:example-zeros]
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from snippets.io.split import attention_in_parts


# --8<-- [start:sums]
def add_in_order(terms: Float[Tensor, "*batch m"]) -> Float[Tensor, "*batch"]:
    """The sum, added from the first term to the last and rounded each time."""
    total = terms[..., 0]
    for term in terms[..., 1:].unbind(-1):
        total = total + term
    return total


def sum_in_parts(
    terms: Float[Tensor, "*batch m"], *, parts: int = 1, size: int | None = None
) -> Float[Tensor, "*batch"]:
    """The sum of as many parts of equal size, up to one term more, or of parts
    with `size` terms each, up to the last."""
    if size:
        pieces = terms.split(size, dim=-1)
    else:
        pieces = terms.tensor_split(parts, dim=-1)
    return add_in_order(torch.stack([add_in_order(p) for p in pieces], -1))


# --8<-- [end:sums]


# --8<-- [start:decode]
def decode_by_workers(
    query: Float[Tensor, "B d_k"],
    key: Float[Tensor, "B m d_k"],
    value: Float[Tensor, "B m d_v"],
    *,
    workers: int,
) -> Float[Tensor, "B d_v"]:
    """One query for each sequence, whose keys are split so that all workers
    have a part."""
    parts = max(1, workers // len(query))
    outputs = [
        attention_in_parts(q[None], k, v, parts=parts)
        for q, k, v in zip(query, key, value)
    ]
    return torch.cat(outputs)


def decode_by_size(
    query: Float[Tensor, "B d_k"],
    key: Float[Tensor, "B m d_k"],
    value: Float[Tensor, "B m d_v"],
    *,
    size: int,
) -> Float[Tensor, "B d_v"]:
    """One query for each sequence, whose keys are split into parts of one
    size: He et al. (2025)."""
    outputs = [
        attention_in_parts(q[None], k, v, size=size)
        for q, k, v in zip(query, key, value)
    ]
    return torch.cat(outputs)


# --8<-- [end:decode]


# --8<-- [start:bits]
def last_bits(
    x: Float[Tensor, "*batch"], *, count: int
) -> Int[Tensor, "*batch count"]:
    """The last bits of numbers in fp32, or rounded to it; the last one is at
    the right."""
    places = torch.arange(count - 1, -1, -1, device=x.device)
    return (
        x.float().contiguous().view(torch.int32).unsqueeze(-1) >> places
    ) & 1


# --8<-- [end:bits]


# --8<-- [start:safe]
def is_safe(
    logits: Float[Tensor, "*batch N"], *, bound: float
) -> Bool[Tensor, "*batch"]:
    """Whether the largest logit remains the largest in each computation with
    errors up to the bound, as these logits have."""
    first, second = logits.topk(2, dim=-1).values.unbind(-1)
    return first - second > 4 * bound


# --8<-- [end:safe]
