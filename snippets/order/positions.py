"""Sines and cosines of positions, as the first Transformer added them to its tokens.

--8<-- [start:example-encoding]
>>> import torch
>>> from snippets.order.positions import frequencies, sinusoidal_encoding
>>> frequencies(6, base=1000.0)
tensor([1.0000, 0.1000, 0.0100])
>>> # (n, d): a sine in column 0, its cosine in column 1, and so on
>>> sinusoidal_encoding(3, 4, base=100.0)
tensor([[ 0.0000,  1.0000,  0.0000,  1.0000],
        [ 0.8415,  0.5403,  0.0998,  0.9950],
        [ 0.9093, -0.4161,  0.1987,  0.9801]])

--8<-- [end:example-encoding]

A shift rotates each pair by an angle that is the same at every position:

--8<-- [start:example-shift]
>>> from snippets.order.positions import shift_encoding
>>> PE = sinusoidal_encoding(100, 32, dtype=torch.float64)
>>> torch.allclose(shift_encoding(PE[:93], k=7), PE[7:])
True

--8<-- [end:example-shift]

The dot product of two encodings depends only on their distance, and not on its sign:

--8<-- [start:example-product]
>>> PE = sinusoidal_encoding(100, 512, dtype=torch.float64)
>>> G = PE @ PE.mT
>>> [round(G[50, 50 + k].item(), 2) for k in (-9, -3, 0, 3, 9)]
[179.46, 211.75, 256.0, 211.75, 179.46]
>>> torch.allclose(G[10, 13], G[80, 77])
True

--8<-- [end:example-product]

How it decreases with the distance, and how often it increases on the way:

--8<-- [start:example-decay]
>>> [round(G[0, k].item(), 1) for k in range(8)]
[256.0, 249.1, 231.7, 211.7, 196.7, 189.6, 188.2, 187.9]
>>> (G[0, 1:] > G[0, :-1]).sum().item()  # of 99 steps
13

--8<-- [end:example-decay]

The longest of 256 waves, in multiples of 2 pi and in positions:

--8<-- [start:example-longest]
>>> from snippets.order.positions import longest_wave
>>> [round(longest_wave(256, 10000.0, turn), 1)
...  for turn in (1.0, 2 * torch.pi)]
[9646.6, 60611.5]

--8<-- [end:example-longest]

Without positions, a layer cannot distinguish two orders; with them it can:

--8<-- [start:example-order]
>>> import torch
>>> from snippets.order.permutation import merged_self_attention
>>> from snippets.order.positions import sinusoidal_encoding
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(6, 4, generator=generator, dtype=torch.float64)
>>> A, M = torch.randn(2, 1, 4, 4, generator=generator, dtype=torch.float64)
>>> def mean_output(tokens):
...     return merged_self_attention(tokens, A, M).mean(0)
>>> PE = sinusoidal_encoding(6, 4, dtype=torch.float64)
>>> torch.allclose(mean_output(X.flip(0)), mean_output(X))
True
>>> torch.allclose(mean_output(X.flip(0) + PE), mean_output(X + PE))
False

--8<-- [end:example-order]
"""

import torch
from jaxtyping import Float, Real
from torch import Tensor

from snippets.attention.formula import upcast


# --8<-- [start:encoding]
def frequencies(
    d: int,
    *,
    base: float = 10000.0,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, " half"]:
    """One frequency for each pair of features, decreasing from 1 by equal ratios.

    Raises ValueError for an odd d, or one below 2.
    """
    if d < 2 or d % 2:
        raise ValueError(
            f"d is {d}; expected an even number, for pairs of features"
        )
    dtype = dtype or torch.get_default_dtype()
    wide = torch.promote_types(dtype, torch.float32)  # or one with more digits
    even = torch.arange(0, d, 2, dtype=wide, device=device)
    return (base ** (even / -d)).to(dtype)


def waves(
    position: Real[Tensor, "*shape"], omega: Float[Tensor, " h"]
) -> tuple[Float[Tensor, "*shape h"], Float[Tensor, "*shape h"]]:
    """The cosines and sines of positions, one of each per frequency."""
    angle = position.unsqueeze(-1) * omega
    return torch.cos(angle), torch.sin(angle)


def sinusoidal_encoding(
    n: int,
    d: int,
    *,
    base: float = 10000.0,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, "{n} {d}"]:
    """For each position a sine, its cosine, the next sine, and so on.

    Positions count from 0: Vaswani et al. (2017), section 3.5.
    """
    dtype = dtype or torch.get_default_dtype()
    single = torch.promote_types(
        dtype, torch.float32
    )  # or one with more digits
    omega = frequencies(d, base=base, dtype=single, device=device)
    cosines, sines = waves(torch.arange(n, device=device), omega)
    return torch.stack([sines, cosines], dim=-1).flatten(-2).to(dtype)


# --8<-- [end:encoding]


# --8<-- [start:shift]
def shift_encoding(
    PE: Float[Tensor, "*batch n d"], *, k: int | float, base: float = 10000.0
) -> Float[Tensor, "*batch n d"]:
    """The encodings of positions k further on, computed from the encodings.

    Raises ValueError for an odd d, by `frequencies`.
    """
    wide = upcast(PE)
    omega = frequencies(
        PE.shape[-1], base=base, dtype=wide.dtype, device=PE.device
    )
    cosines, sines = torch.cos(k * omega), torch.sin(k * omega)
    sine, cosine = wide[..., 0::2], wide[..., 1::2]  # (*batch, n, d / 2) each
    rotated = cosines * sine + sines * cosine, cosines * cosine - sines * sine
    return torch.stack(rotated, dim=-1).flatten(-2).to(PE.dtype)


# --8<-- [end:shift]


# --8<-- [start:product]
def encoding_product(
    p: Real[Tensor, "*#shape"],
    r: Real[Tensor, "*#shape"],
    omega: Float[Tensor, " h"],
) -> Float[Tensor, "*shape"]:
    """The dot product of the encodings of two positions."""
    (cos_p, sin_p), (cos_r, sin_r) = waves(p, omega), waves(r, omega)
    return (sin_p * sin_r + cos_p * cos_r).sum(-1)


# --8<-- [end:product]


# --8<-- [start:longest]
def longest_wave(h: int, base: float, turn: float) -> float:
    """The longest of h wavelengths: a full circle over the last frequency."""
    return turn * base ** ((h - 1) / h)


# --8<-- [end:longest]
