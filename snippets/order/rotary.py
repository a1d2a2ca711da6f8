"""RoPE: queries and keys are rotated by their positions, so that scores depend on distances.

--8<-- [start:example-relative]
>>> import torch
>>> from snippets.order.rotary import apply_rotary
>>> generator = torch.Generator().manual_seed(0)
>>> # (d_k)
>>> query, key = torch.randn(2, 8, generator=generator, dtype=torch.float64)
>>> def score(s, t):
...     at = torch.tensor(s), torch.tensor(t)
...     return (apply_rotary(query, at[0]) @ apply_rotary(key, at[1])).item()
>>> [round(score(s, s + 5), 6) for s in (0, 3, 1000)]
[-2.007486, -2.007486, -2.007486]
>>> round(score(0, -5), 6)
7.557688

--8<-- [end:example-relative]

Two layouts: a pair of features may be neighbours, or half the width apart. The scores agree if
queries and keys use the same layout:

--8<-- [start:example-layouts]
>>> from snippets.order.rotary import apply_rotary_interleaved, interleave
>>> # (n, d_k)
>>> Q, K = torch.randn(2, 5, 8, generator=generator, dtype=torch.float64)
>>> place = torch.arange(5)
>>> halves = apply_rotary(Q, place) @ apply_rotary(K, place).mT
>>> q, k = (apply_rotary_interleaved(interleave(x), place) for x in (Q, K))
>>> sides = q @ k.mT
>>> mixed = apply_rotary_interleaved(Q, place) @ apply_rotary(K, place).mT
>>> torch.allclose(sides, halves), torch.allclose(mixed, halves)
(True, False)

--8<-- [end:example-layouts]

A single frequency does not decay with distance, and many do not decay steadily:

--8<-- [start:example-decay]
>>> from snippets.order.positions import frequencies
>>> from snippets.order.rotary import mean_cosine
>>> one, many = (frequencies(d, dtype=torch.float64) for d in (2, 64))
>>> mean_cosine(torch.tensor([0, 3, 6]), one).round(decimals=2).tolist()
[1.0, -0.99, 0.96]
>>> distance = torch.tensor([0, 3, 6, 12, 50, 100, 200])
>>> mean_cosine(distance, many).round(decimals=2).tolist()
[1.0, 0.8, 0.74, 0.67, 0.49, 0.56, 0.36]
>>> curve = mean_cosine(torch.arange(200), many)
>>> (curve[1:] > curve[:-1]).sum().item()  # of 199 steps, how many go up
82

--8<-- [end:example-decay]

A bias by distance that stays the same from some distance on:

--8<-- [start:example-clipped]
>>> from snippets.order.rotary import clipped_bias
>>> table = torch.tensor([1.0, 2, 3, 4, 5])  # for distances -2, -1, 0, 1, 2
>>> clipped_bias(table, n=4, m=6)
tensor([[3., 4., 5., 5., 5., 5.],
        [2., 3., 4., 5., 5., 5.],
        [1., 2., 3., 4., 5., 5.],
        [1., 1., 2., 3., 4., 5.]])

--8<-- [end:example-clipped]
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Real
from torch import Tensor

from snippets.attention.formula import upcast
from snippets.order.positions import frequencies, waves


# --8<-- [start:pairs]
def rotate_pairs(
    first: Float[Tensor, "*#batch h"],
    second: Float[Tensor, "*#batch h"],
    position: Real[Tensor, "*#batch"],
    omega: Float[Tensor, " h"],
) -> tuple[Float[Tensor, "*batch h"], Float[Tensor, "*batch h"]]:
    """Each pair of numbers from first and second, rotated by position times
    frequency."""
    cosines, sines = waves(position, omega)
    return first * cosines - second * sines, first * sines + second * cosines


def rotated_score(
    q_1: Float[Tensor, "*#batch h"],
    q_2: Float[Tensor, "*#batch h"],
    k_1: Float[Tensor, "*#batch h"],
    k_2: Float[Tensor, "*#batch h"],
    s: Real[Tensor, "*#batch"],
    t: Real[Tensor, "*#batch"],
    omega: Float[Tensor, " h"],
) -> Float[Tensor, "*batch"]:
    """The score of a query at position s with a key at t, without the scale."""
    a_1, a_2 = rotate_pairs(q_1, q_2, s, omega)
    b_1, b_2 = rotate_pairs(k_1, k_2, t, omega)
    return (a_1 * b_1 + a_2 * b_2).sum(-1)


# --8<-- [end:pairs]


# --8<-- [start:once]
class Rotation(NamedTuple):
    """The cosines and sines of all angles, computed once for all layers."""

    cosines: Float[Tensor, "*batch n pairs"]
    sines: Float[Tensor, "*batch n pairs"]


def reject_half(**given: Real[Tensor, "..."]) -> None:
    """Raises TypeError for fp16 and bf16: in bf16, there is no 257."""
    for name, x in given.items():
        if x.is_floating_point() and x.itemsize < 4:
            raise TypeError(
                f"{name} is {x.dtype}; expected integers, fp32 or fp64"
            )


def find_rotation(
    position: Real[Tensor, "*batch n"],
    omega: Float[Tensor, " pairs"],
    *,
    factor: float = 1.0,
) -> Rotation:
    """The rotation at each position, for one frequency per pair of features.

    The factor multiplies the rotated features, as YaRN and LongRoPE do.
    Raises TypeError for positions or frequencies in half precision.
    """
    reject_half(position=position, omega=omega)
    cosines, sines = waves(position, omega)
    return Rotation(factor * cosines, factor * sines)


def rotate(
    x: Float[Tensor, "*#batch n d_k"],
    rotation: Rotation,
    *,
    interleaved: bool = False,
) -> Float[Tensor, "*batch n d_k"]:
    """Queries or keys, rotated: as many pairs of features, from the first on,
    as the rotation has angles. The other features stay as they are.

    The rotation is that of positions (n), or has an axis for each of x, such as
    (b, 1, n) for x of (b, h, n, d_k). Raises ValueError for any other, for
    another number of tokens, and for more features than x has.
    """
    axes, shape = rotation.cosines.dim(), rotation.cosines.shape
    if 2 < axes < x.dim() or shape[-2:-1] != x.shape[-2:-1]:
        raise ValueError(
            f"the rotation is {tuple(shape)} for x {tuple(x.shape)}; expected "
            f"{(*x.shape[-2:-1], shape[-1])}, or before it an axis for each "
            "that x has, with 1 for what is shared"
        )
    return apply_rotation(x, rotation, interleaved=interleaved)


def apply_rotation(
    x: Float[Tensor, "*#batch d_k"],
    rotation: Rotation,
    *,
    interleaved: bool = False,
) -> Float[Tensor, "*batch d_k"]:
    """The same for any axes that broadcast, as those of `align_positions`.

    Raises ValueError for a rotation of more features than x has.
    """
    cosines, sines = rotation
    width = 2 * cosines.shape[-1]
    if width > x.shape[-1]:
        raise ValueError(
            f"the rotation is for {width} features; x has {x.shape[-1]}"
        )
    wide = upcast(x[..., :width])
    if interleaved:
        first, second = wide[..., 0::2], wide[..., 1::2]
    else:
        first, second = wide.tensor_split(2, dim=-1)
    pairs = first * cosines - second * sines, first * sines + second * cosines
    if interleaved:
        rotated = torch.stack(pairs, dim=-1).flatten(-2)
    else:
        rotated = torch.cat(pairs, dim=-1)
    rest = x[..., width:].expand(*rotated.shape[:-1], -1)
    return torch.cat([rotated.to(x.dtype), rest], dim=-1)


# --8<-- [end:once]


# --8<-- [start:layouts]
def align_positions(
    x: Float[Tensor, "... d_k"],
    position: Real[Tensor, "..."] | int,
    *,
    token_axis: int = -2,
) -> Real[Tensor, "..."]:
    """The positions with the axes of x: one number, (n), or an axis for each of
    x but the last, so that positions (b, n) are not read as (heads, n).

    Raises ValueError for any other number of axes, and TypeError for positions
    in half precision.
    """
    if isinstance(position, int):
        return torch.full((), position, device=x.device)
    reject_half(position=position)
    position = position.to(x.device)
    if position.dim() in (0, x.dim() - 1) or x.dim() == 1:
        return position
    *batch, n = position.shape
    after = [1] * (-2 - token_axis)  # axes between the tokens and the features
    before = [1] * (x.dim() - 1 - position.dim() - len(after))
    if batch:
        raise ValueError(
            f"position is {tuple(position.shape)} for x {tuple(x.shape)}; "
            f"expected (n) or {(*batch, *before, n, *after)}"
        )
    return position.reshape(*before, n, *after)


def apply_rotary(
    x: Float[Tensor, "*#batch d_k"],
    position: Real[Tensor, "*#batch"] | int,
    *,
    base: float = 10000.0,
    token_axis: int = -2,
) -> Float[Tensor, "*batch d_k"]:
    """RoPE: queries or keys, rotated by their positions: Su et al. (2021).

    A pair is a feature and the one half the width further on. Positions that
    differ within a batch are (b, 1, n) for x of (b, h, n, d_k). For x of
    (b, n, h, d_k), the axis of the tokens is -3. Angles have the precision of
    fp32, or of a more precise x: at 100,000, fp32 is off by some thousandths.
    Raises ValueError for an odd d_k, by `frequencies`, and for positions
    that could be read in two ways, by `align_positions`; TypeError for
    positions in half precision.
    """
    place = align_positions(x, position, token_axis=token_axis)
    omega = frequencies(
        x.shape[-1], base=base, dtype=upcast(x).dtype, device=x.device
    )
    return apply_rotation(x, find_rotation(place, omega))


def apply_rotary_interleaved(
    x: Float[Tensor, "*#batch d_k"],
    position: Real[Tensor, "*#batch"] | int,
    *,
    base: float = 10000.0,
    token_axis: int = -2,
) -> Float[Tensor, "*batch d_k"]:
    """The same for pairs of neighbouring features.

    Raises ValueError and TypeError as `apply_rotary` does.
    """
    place = align_positions(x, position, token_axis=token_axis)
    omega = frequencies(
        x.shape[-1], base=base, dtype=upcast(x).dtype, device=x.device
    )
    return apply_rotation(x, find_rotation(place, omega), interleaved=True)


def interleave(x: Float[Tensor, "*batch d_k"]) -> Float[Tensor, "*batch d_k"]:
    """From the first layout to the second: features of both halves, in turn.

    Raises RuntimeError for an odd d_k.
    """
    return torch.stack(x.tensor_split(2, dim=-1), dim=-1).flatten(-2)


# --8<-- [end:layouts]


# --8<-- [start:decay]
def mean_cosine(
    distance: Real[Tensor, "*shape"], omega: Float[Tensor, " h"]
) -> Float[Tensor, "*shape"]:
    """The score of a vector of length 1 with itself at a distance, if all its
    pairs have the same length."""
    return waves(distance, omega)[0].mean(-1)


# --8<-- [end:decay]


# --8<-- [start:clipped]
def clipped_bias(
    table: Float[Tensor, " size"], *, n: int, m: int
) -> Float[Tensor, "{n} {m}"]:
    """A bias for each query and key by their distance, clipped to the table.

    Clipped as in Shaw, Uszkoreit and Vaswani (2018).
    Raises ValueError for a table of even length.
    """
    if len(table) % 2 == 0:
        raise ValueError(
            f"table is {tuple(table.shape)}; expected (2 * reach + 1)"
        )
    reach, place = len(table) // 2, torch.arange(max(n, m), device=table.device)
    distance = place[:m] - place[:n].unsqueeze(-1)  # (n, m)
    return table[distance.clamp(-reach, reach) + reach]


# --8<-- [end:clipped]
