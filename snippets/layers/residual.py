"""The residual stream: the input, plus everything that was written to it.

The contribution of each write to each logit:

--8<-- [start:example-attribution]
>>> import torch
>>> from snippets.layers.residual import logit_parts, stream_logits
>>> generator = torch.Generator().manual_seed(0)
>>> x = torch.randn(8, generator=generator)  # (d,)
>>> writes = torch.randn(4, 8, generator=generator)  # (L, d)
>>> W = torch.randn(8, 10, generator=generator)  # (d, N)
>>> said = logit_parts(x, writes, W)  # a row for what came in, one for each write
>>> tuple(said.shape)
(5, 10)
>>> torch.allclose(said.sum(0), stream_logits(x, writes, W), atol=1e-6)
True

--8<-- [end:example-attribution]

The direct effect of a write, and the effect of a later block that reads it:

--8<-- [start:example-ablation]
>>> from snippets.layers.residual import direct_and_indirect_effect
>>> M, T = torch.randn(2, 8, 8, generator=generator)  # two linear blocks
>>> x = torch.randn(8, generator=generator)
>>> direct, later = direct_and_indirect_effect(x, M, T)
>>> with_it = x @ (torch.eye(8) + M) @ (torch.eye(8) + T)
>>> without = x @ (torch.eye(8) + T)
>>> torch.allclose(direct + later, with_it - without, atol=1e-4)
True
>>> bool(later.norm() > direct.norm())
True

--8<-- [end:example-ablation]

Rotate the stream, and the weights that read it and write to it:

--8<-- [start:example-rotation]
>>> from snippets.layers.residual import relu_block, turned_weights
>>> x = torch.randn(8, generator=generator)
>>> A = torch.randn(8, 32, generator=generator)
>>> B = torch.randn(32, 8, generator=generator)
>>> R, _ = torch.linalg.qr(torch.randn(8, 8, generator=generator))
>>> there = relu_block(x @ R, *turned_weights(A, B, R))
>>> torch.allclose(there, relu_block(x, A, B) @ R, atol=1e-5)
True

--8<-- [end:example-rotation]

A stack of 64 blocks with random weights: cosines between the stream before and after a write, and variances:

--8<-- [start:example-depth]
>>> from snippets.layers.residual import cosines, random_stack
>>> x = torch.randn(256, generator=generator)
>>> states = random_stack(x, count=64, generator=generator)  # (65, 256)
>>> [round(c, 2) for c in cosines(states)[[0, 7, 63]].tolist()]
[0.74, 0.96, 0.99]
>>> variance = states.square().mean(-1)
>>> [round(v) for v in variance[[0, 8, 64]].tolist()]
[1, 8, 63]

--8<-- [end:example-depth]

Each write divided by the root of the number of writes:

--8<-- [start:example-scaled]
>>> for count in (16, 64, 256):
...     size = dict(count=count, scale=count**-0.5)
...     states = random_stack(x, **size, generator=generator)
...     print(count, round(states[-1].square().mean().item(), 1))
16 2.2
64 1.9
256 2.0

--8<-- [end:example-scaled]

The first, the third and the hundredth write, if the input and all writes have variance one:

--8<-- [start:example-predicted]
>>> from snippets.layers.residual import squared_cosine
>>> [round(squared_cosine(stream=float(k), write=1.0), 3) for k in (1, 3, 100)]
[0.5, 0.75, 0.99]

--8<-- [end:example-predicted]

Without one write: subtract its row, or recompute everything:

--8<-- [start:example-missing]
>>> from snippets.layers.residual import stream
>>> x = torch.randn(8, generator=generator)
>>> writes = torch.randn(4, 8, generator=generator)
>>> W = torch.randn(8, 10, generator=generator)
>>> others = writes[[0, 2, 3]]
>>> less_its_row = stream_logits(x, writes, W) - logit_parts(x, writes, W)[2]
>>> anew = stream_logits(x, others, W)
>>> torch.allclose(less_its_row, anew)
False
>>> both = writes, others
>>> old, new = (stream(x, some).square().mean().sqrt() for some in both)
>>> torch.allclose(less_its_row * old / new, anew, atol=1e-5)
True

--8<-- [end:example-missing]
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cosine_similarity

from snippets.around.layernorm import rms_norm


# --8<-- [start:stream]
def stream(
    x: Float[Tensor, "*batch d"], writes: Float[Tensor, "*batch L d"]
) -> Float[Tensor, "*batch d"]:
    """The input plus all writes: Elhage et al. (2021)."""
    return x + writes.sum(-2)


def stream_logits(
    x: Float[Tensor, "*batch d"],
    writes: Float[Tensor, "*batch L d"],
    W: Float[Tensor, "d N"],
) -> Float[Tensor, "*batch N"]:
    """The logits, from the normalised stream."""
    return rms_norm(stream(x, writes), eps=0) @ W


def logit_parts(
    x: Float[Tensor, "*batch d"],
    writes: Float[Tensor, "*batch L d"],
    W: Float[Tensor, "d N"],
) -> Float[Tensor, "*batch one_more N"]:
    """The summands of each logit: one for the input, one for each write."""
    size = stream(x, writes).square().mean(-1).sqrt()  # (*batch,)
    every = torch.cat([x[..., None, :], writes], -2)  # (*batch, L + 1, d)
    return (every @ W) / size[..., None, None]


# --8<-- [end:stream]


# --8<-- [start:rotation]
def relu_block(
    x: Float[Tensor, "*batch d"],
    A: Float[Tensor, "d d_f"],
    B: Float[Tensor, "d_f d"],
) -> Float[Tensor, "*batch d"]:
    """Read the normalised stream, and add to it."""
    return x + (rms_norm(x) @ A).relu() @ B


def turned_weights(
    A: Float[Tensor, "d d_f"],
    B: Float[Tensor, "d_f d"],
    R: Float[Tensor, "d d"],
) -> tuple[Float[Tensor, "d d_f"], Float[Tensor, "d_f d"]]:
    """Weights for a stream that is rotated by R: Ashkboos et al. (2024)."""
    return R.mT @ A, B @ R


# --8<-- [end:rotation]


# --8<-- [start:depth]
def random_stack(
    x: Float[Tensor, " d"],
    *,
    count: int,
    scale: float = 1.0,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "states d"]:
    """The stream before the first and after each of `count` random blocks, whose
    writes have variance about one, times the scale."""
    d, states = len(x), [x]
    for _ in range(count):
        A, B = torch.randn(2, d, d, generator=generator).to(x)
        read = rms_norm(states[-1]) @ (A / d**0.5)  # of variance one
        write = read.relu() @ (B * (2 / d) ** 0.5)
        states.append(states[-1] + scale * write)
    return torch.stack(states)


def cosines(
    states: Float[Tensor, "states d"],
) -> Float[Tensor, "*writes"]:
    """Cosines between the stream before and after each write."""
    return cosine_similarity(states[:-1], states[1:], dim=-1)


# --8<-- [end:depth]


# --8<-- [start:ablation]
def direct_and_indirect_effect(
    x: Float[Tensor, "*batch d"],
    M: Float[Tensor, "d d"],
    T: Float[Tensor, "d d"],
) -> tuple[Float[Tensor, "*batch d"], Float[Tensor, "*batch d"]]:
    """The effect of the first of two linear blocks: its write, and what the
    second block makes of it."""
    return x @ M, x @ M @ T


# --8<-- [end:ablation]


# --8<-- [start:predicted]
def squared_cosine(*, stream: float, write: float) -> float:
    """Between a stream before and after a write, from their variances."""
    return stream / (stream + write)


# --8<-- [end:predicted]
