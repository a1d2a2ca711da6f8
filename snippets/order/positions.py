"""Sines and cosines of positions, as the first Transformer added them to its tokens.

--8<-- [start:example-encoding]
>>> import torch
>>> from snippets.order.positions import encoding, frequencies
>>> frequencies(6).tolist() == [1.0, 10000 ** (-1 / 3), 10000 ** (-2 / 3)]
True
>>> encoding(3, 4)  # (n, d): sines in even columns, cosines in odd ones, counted from 0
tensor([[ 0.0000,  1.0000,  0.0000,  1.0000],
        [ 0.8415,  0.5403,  0.0100,  1.0000],
        [ 0.9093, -0.4161,  0.0200,  0.9998]], dtype=torch.float64)

--8<-- [end:example-encoding]

A shift of the position is a turn of each pair, the same turn for every position:

--8<-- [start:example-shift]
>>> from snippets.order.positions import shift
>>> PE = encoding(100, 32)
>>> torch.allclose(shift(PE[:93], 7), PE[7:])
True

--8<-- [end:example-shift]

The product of two encodings depends on their distance alone, and not on its sign:

--8<-- [start:example-product]
>>> PE = encoding(100, 512)
>>> G = PE @ PE.mT
>>> [round(G[50, 50 + k].item(), 2) for k in (-9, -3, 0, 3, 9)]
[179.46, 211.75, 256.0, 211.75, 179.46]
>>> torch.allclose(G[10, 13], G[80, 77])
True

--8<-- [end:example-product]

How it falls with the distance, and how often it rises on the way:

--8<-- [start:example-decay]
>>> [round(G[0, k].item(), 1) for k in range(12)]
[256.0, 249.1, 231.7, 211.7, 196.7, 189.6, 188.2, 187.9, 185.0, 179.5, 173.8, 170.4]
>>> (G[0, 1:] > G[0, :-1]).sum().item()  # of 99 steps
13

--8<-- [end:example-decay]

The longest of 256 waves, in turns of 2 pi, and as a length:

--8<-- [start:example-longest]
>>> from snippets.order.positions import longest_wave
>>> [round(longest_wave(256, 10000.0, turn), 1) for turn in (1.0, 2 * torch.pi)]
[9646.6, 60611.5]

--8<-- [end:example-longest]

Without positions a layer cannot tell an order from another; with them it can:

--8<-- [start:example-order]
>>> import torch
>>> from snippets.order.permutation import layer
>>> from snippets.order.positions import encoding
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(6, 4, generator=generator, dtype=torch.float64)
>>> A, M = torch.randn(2, 1, 4, 4, generator=generator, dtype=torch.float64)
>>> PE = encoding(6, 4)
>>> torch.allclose(layer(X.flip(0), A, M).mean(0), layer(X, A, M).mean(0))
True
>>> torch.allclose(layer(X.flip(0) + PE, A, M).mean(0), layer(X + PE, A, M).mean(0))
False

--8<-- [end:example-order]
"""

import torch
from torch import Tensor

from snippets.shapes import check_shapes


# --8<-- [start:encoding]
def frequencies(d: int, base: float = 10000.0) -> Tensor:
    """One frequency for each pair of features, from 1 down, each a fixed part of the one before."""
    if d < 2 or d % 2:
        raise ValueError(
            f"d is {d}; expected an even number, for pairs of features"
        )
    return base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)  # (d / 2)


def waves(position: Tensor, omega: Tensor) -> tuple[Tensor, Tensor]:
    """The cosines and the sines of a position, one of each for every frequency."""
    angle = (
        torch.as_tensor(position).unsqueeze(-1) * omega
    )  # (...) (h) -> (..., h)
    return torch.cos(angle), torch.sin(angle)


def encoding(n: int, d: int, base: float = 10000.0) -> Tensor:
    """The encodings of positions 0, 1, ...: sine and cosine of the first frequency, and so on."""
    cosines, sines = waves(
        torch.arange(n), frequencies(d, base)
    )  # (n, d / 2) each
    return torch.stack([sines, cosines], dim=-1).flatten(
        -2
    )  # (n, d / 2, 2) -> (n, d)


# --8<-- [end:encoding]


# --8<-- [start:shift]
def shift(PE: Tensor, k: float, base: float = 10000.0) -> Tensor:
    """The encodings of positions that are k further on, from the encodings alone."""
    check_shapes("PE: n d", PE)
    cosines, sines = waves(k, frequencies(PE.shape[-1], base))  # (d / 2) each
    sine, cosine = PE[..., 0::2], PE[..., 1::2]  # (..., n, d / 2) each
    turned = cosines * sine + sines * cosine, cosines * cosine - sines * sine
    return torch.stack(turned, dim=-1).flatten(-2)  # (..., n, d)


# --8<-- [end:shift]


# --8<-- [start:product]
def encoding_product(p: Tensor, r: Tensor, omega: Tensor) -> Tensor:
    """The dot product of the encodings of two positions."""
    (cos_p, sin_p), (cos_r, sin_r) = waves(p, omega), waves(r, omega)
    return (sin_p * sin_r + cos_p * cos_r).sum(-1)  # (..., h) -> (...)


# --8<-- [end:product]


# --8<-- [start:longest]
def longest_wave(h: int, base: float, turn: float) -> float:
    """The length of the longest of h waves: a full turn over the last frequency."""
    return turn * base ** ((h - 1) / h)


# --8<-- [end:longest]
