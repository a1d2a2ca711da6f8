"""Quantised keys and values: levels per channel or per token, rotations, FP8, and what they cost a trained model.

Three keys whose last channel is far from zero, rounded to four levels:

--8<-- [start:example-three]
>>> import torch
>>> from snippets.serving.quantized import quantize_channels, quantize_tokens
>>> key = torch.tensor(
...     [[0.1, 0.5, 30.0], [0.7, 0.2, 30.3], [0.4, 0.9, 30.9]])  # (m, d_k)
>>> for quantize in (quantize_tokens, quantize_channels):
...     stored = quantize(key, bits=2)
...     print([[round(x, 2) for x in row] for row in stored.tolist()])
[[0.1, 0.1, 30.0], [0.2, 0.2, 30.3], [0.4, 0.4, 30.9]]
[[0.1, 0.43, 30.0], [0.7, 0.2, 30.3], [0.5, 0.9, 30.9]]

--8<-- [end:example-three]

A rotation with entries of equal size spreads one large number over all features, and changes no score:

--8<-- [start:example-rotation]
>>> from snippets.serving.quantized import hadamard_rotation, rotated_products
>>> rotation = hadamard_rotation(4)  # (d_k, d_k)
>>> (torch.tensor([8.0, 0, 0, 0]) @ rotation).tolist()
[4.0, 4.0, 4.0, 4.0]
>>> (torch.ones(4) @ rotation).tolist()
[2.0, 0.0, 0.0, 0.0]
>>> generator = torch.Generator().manual_seed(0)
>>> query, key = torch.randn(2, 5, 4, generator=generator)  # (n, d_k) each
>>> rotated = rotated_products(query, key, rotation)  # (n, m)
>>> torch.allclose(rotated, query @ key.T, atol=1e-6)
True

--8<-- [end:example-rotation]

A number that all keys share changes no weight, so it need not be stored:

--8<-- [start:example-mean]
>>> from snippets.attention.formula import attention_weights
>>> shifted = key + 10 * torch.randn(4, generator=generator)  # (n, d_k)
>>> centred = shifted - shifted.mean(-2, keepdim=True)
>>> weights = attention_weights(query, shifted)
>>> torch.allclose(attention_weights(query, centred), weights, atol=1e-5)
True

--8<-- [end:example-mean]

Numbers in FP8, scaled so that the largest is 448:

--8<-- [start:example-fp8]
>>> from snippets.serving.quantized import round_to_e4m3
>>> round_to_e4m3(torch.tensor([0.001, 1.0, 1.1, 448.0])).tolist()
[0.001953125, 1.0, 1.125, 448.0]
>>> round_to_e4m3(torch.tensor([0.001, 1.0, 1.1, 448.0 * 512])).tolist()
[0.0, 1.0, 1.0, 229376.0]

--8<-- [end:example-fp8]

How far the channels of a trained model are from zero, in standard deviations:

--8<-- [start:example-offsets]
>>> from snippets.serving.quantized import head_vectors
>>> from snippets.together.text import in_blocks, parts
>>> from snippets.together.trained import load_gpt
>>> tokens, _ = in_blocks(parts()[1])  # (blocks, n), the held-out text
>>> vectors = head_vectors(load_gpt().double(), tokens, layer=1)
>>> for name, x in zip(("queries", "keys", "values"), vectors):
...     mean, deviation = x.mean((0, 2)), x.std((0, 2))  # (h, d_k) each
...     print(f"{name:8}{(mean.abs() / deviation).max():.1f}")
queries 4.4
keys    4.3
values  0.4

--8<-- [end:example-offsets]

What the outputs of its heads lose:

--8<-- [start:example-trained]
>>> from snippets.serving.quantized import output_errors
>>> for bits in (2, 8):
...     print(bits, "bits:     per channel, per token, per token and rotated")
...     for name, errors in output_errors(*vectors, bits=bits).items():
...         print(f"{name:16}", *(f"{100 * error:7.2f} %" for error in errors))
2 bits:     per channel, per token, per token and rotated
keys before RoPE   31.31 %   62.93 %   52.93 %
keys after RoPE    59.65 %   52.73 %   54.30 %
values             46.24 %   36.34 %   35.78 %
8 bits:     per channel, per token, per token and rotated
keys before RoPE    0.38 %    0.78 %    0.71 %
keys after RoPE     0.93 %    0.71 %    0.72 %
values              0.54 %    0.43 %    0.42 %

--8<-- [end:example-trained]

Bits of a number, with all that is stored:

--8<-- [start:example-bits]
>>> from snippets.serving.quantized import stored_bits
>>> for bits, group in ((2, 16), (2, 64), (4, 32), (8, 128)):
...     print(f"{bits} bits in groups of {group:3}: {stored_bits(bits, group)}")
2 bits in groups of  16: 4.0
2 bits in groups of  64: 2.5
4 bits in groups of  32: 5.0
8 bits in groups of 128: 8.25

--8<-- [end:example-bits]
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from snippets.around.transformer import embed
from snippets.attention.formula import attention, scores, upcast
from snippets.heads.split import split_heads
from snippets.order.rotary import apply_rotary
from snippets.together.gpt import GPT


# --8<-- [start:round]
def channel_steps(
    x: Float[Tensor, "*batch n d"], *, bits: int
) -> Float[Tensor, "*batch d"]:
    """The step between two levels for each channel: its range over the number
    of steps."""
    return (x.amax(-2) - x.amin(-2)) / (2**bits - 1)


def quantize_channels(
    x: Float[Tensor, "*batch n d"], *, bits: int
) -> Float[Tensor, "*batch n d"]:
    """Each number, rounded to the nearest of 2**bits levels that divide the
    range of its channel into equal steps."""
    exact = upcast(x)
    smallest = exact.amin(-2, keepdim=True)  # (*batch, 1, d)
    step = channel_steps(exact, bits=bits).unsqueeze(-2)
    level = ((exact - smallest) / step).round()
    # A channel without a range has no step.
    return (torch.where(step > 0, level * step, 0) + smallest).to(x.dtype)


def quantize_tokens(
    x: Float[Tensor, "*batch n d"], *, bits: int
) -> Float[Tensor, "*batch n d"]:
    """The same with the range of each token, over its channels."""
    return quantize_channels(x.mT, bits=bits).mT


# --8<-- [end:round]


# --8<-- [start:rotation]
def hadamard_rotation(
    d: int, *, device: torch.device | str | None = None
) -> Float[Tensor, "d d"]:
    """An orthogonal matrix whose entries are 1 / sqrt(d) and -1 / sqrt(d).

    Raises ValueError unless d is a power of two.
    """
    if d < 1 or d & (d - 1):
        raise ValueError(f"expected a power of two, found {d}")
    signs = torch.ones(1, 1, device=device)
    pair = torch.tensor([[1.0, 1.0], [1.0, -1.0]], device=device)
    while len(signs) < d:
        signs = torch.kron(signs, pair)
    return signs / d**0.5


def rotated_products(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    rotation: Float[Tensor, "d_k d_k"],
) -> Float[Tensor, "*batch n m"]:
    """Products of rotated queries with rotated keys: Ashkboos,
    Mohtashami et al. (2024)."""
    return (query @ rotation) @ (key @ rotation).mT


# --8<-- [end:rotation]


# --8<-- [start:error]
def score_error(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    stored: Float[Tensor, "*#batch m d_k"],
) -> Float[Tensor, ""]:
    """The root mean square of the errors of all scores, if keys are replaced by
    what is stored."""
    error = scores(upcast(query), upcast(stored) - upcast(key))
    return error.square().mean().sqrt().to(query.dtype)


# --8<-- [end:error]


# --8<-- [start:fp8]
def round_to_e4m3(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Numbers rounded to FP8, with one scale for all that makes the largest
    absolute value 448. Not all of them are zero."""
    exact = upcast(x)
    scale = 448 / exact.abs().amax()
    return ((exact * scale).to(torch.float8_e4m3fn).to(exact.dtype) / scale).to(
        x.dtype
    )


def stored_bits(bits: float, group: float) -> float:
    """Bits of a number, if each group shares a smallest number and a step of
    16 bits each."""
    return bits + 32 / group


# --8<-- [end:fp8]


# --8<-- [start:trained]
@torch.no_grad()
def head_vectors(
    model: GPT, tokens: Int[Tensor, "*batch n"], *, layer: int
) -> list[Float[Tensor, "*batch _ n d_k"]]:
    """Queries, keys and values of a layer before RoPE. There are fewer heads of
    keys and values than of queries."""
    x = embed(tokens, model.embedding)  # (*batch, n, d)
    for block in model.blocks[:layer]:
        x, _ = block(x)
    x, head = model.blocks[layer].norm_1(x), model.blocks[layer].attention
    return [
        split_heads(head.query(x), num_heads=head.num_heads),
        split_heads(head.key(x), num_heads=head.num_kv_heads),
        split_heads(head.value(x), num_heads=head.num_kv_heads),
    ]


def output_errors(
    query: Float[Tensor, "*batch h n d_k"],
    key: Float[Tensor, "*batch h_kv n d_k"],
    value: Float[Tensor, "*batch h_kv n d_k"],
    *,
    bits: int,
) -> dict[str, list[float]]:
    """How far the outputs of heads are from the exact ones, relative to their
    root mean square: with ranges per channel, per token, and per token after a
    rotation of groups of eight features. The inputs are those before RoPE."""
    position = torch.arange(key.shape[-2], device=key.device)  # (n)
    query, rotated = (apply_rotary(one, position) for one in (query, key))
    group = hadamard_rotation(8, device=key.device).to(key.dtype)
    rotation = torch.block_diag(*[group] * (key.shape[-1] // 8))
    ways = (
        lambda x: quantize_channels(x, bits=bits),
        lambda x: quantize_tokens(x, bits=bits),
        lambda x: quantize_tokens(x @ rotation, bits=bits) @ rotation.mT,
    )

    def output(key: Tensor, value: Tensor) -> Tensor:
        return attention(query, key, value, is_causal=True, enable_gqa=True)

    exact = output(rotated, value)
    found = {
        "keys before RoPE": [
            output(apply_rotary(way(key), position), value) for way in ways
        ],
        "keys after RoPE": [output(way(rotated), value) for way in ways],
        "values": [output(rotated, way(value)) for way in ways],
    }
    size = exact.square().mean()
    return {
        name: [
            ((one - exact).square().mean() / size).sqrt().item()
            for one in outputs
        ]
        for name, outputs in found.items()
    }


# --8<-- [end:trained]
