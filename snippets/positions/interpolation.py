"""Longer texts than a model was trained on: PI, and NTK-aware scaling.

Positions divided by four give the scores of a text a quarter as long:

--8<-- [start:example-interpolated]
>>> import torch
>>> from snippets.order.rotary import apply_rotary
>>> from snippets.positions.interpolation import interpolated_rotary
>>> generator = torch.Generator().manual_seed(0)
>>> query, key = torch.randn(2, 64, generator=generator, dtype=torch.float64)
>>> p, r = torch.tensor(2000), torch.tensor(1997)
>>> q, k = (interpolated_rotary(x, 4 * at, s=4.0) for x, at in ((query, p), (key, r)))
>>> torch.allclose(q @ k, apply_rotary(query, p) @ apply_rotary(key, r))
True

--8<-- [end:example-interpolated]

The bases for four and eight times the length, and the divisors of the frequencies:

--8<-- [start:example-base]
>>> import torch
>>> from snippets.order.positions import frequencies
>>> from snippets.positions.interpolation import ntk_base, scale_of_base
>>> [round(ntk_base(10000.0, s, d_k=128)) for s in (1.0, 4.0, 8.0)]
[10000, 40890, 82685]
>>> before = frequencies(10, dtype=torch.float64)
>>> after = frequencies(10, base=ntk_base(10000.0, 16.0, d_k=10), dtype=torch.float64)
>>> (before / after).round(decimals=6).tolist()
[1.0, 2.0, 4.0, 8.0, 16.0]
>>> round(scale_of_base(10000.0, 1e6, d_k=128), 1)
93.1

--8<-- [end:example-base]

How far a pair of length 1 moves from one position to the next, at four times the length: the
fastest, a middle one and the slowest of 64 pairs.

--8<-- [start:example-neighbours]
>>> from snippets.positions.interpolation import neighbour_distance
>>> plain = frequencies(128, dtype=torch.float64)
>>> base = ntk_base(10000.0, 4.0, d_k=128)
>>> methods = {
...     "plain": plain,
...     "PI": plain / 4,
...     "NTK": frequencies(128, base=base, dtype=torch.float64),
... }
>>> for name, omega in methods.items():
...     print(name, [f"{x:.6f}" for x in neighbour_distance(omega)[[0, 32, 63]]])
plain ['0.958851', '0.010000', '0.000115']
PI ['0.249349', '0.002500', '0.000029']
NTK ['0.958851', '0.004945', '0.000029']

--8<-- [end:example-neighbours]
"""

import torch
from jaxtyping import Float, Real
from torch import Tensor

from snippets.attention.formula import upcast
from snippets.order.rotary import align_positions, apply_rotary


# --8<-- [start:ntk]
def ntk_base(base: float, s: float, *, d_k: int) -> float:
    """The base of RoPE that divides its slowest frequency by s.

    Raises ValueError for a d_k below 4, with fewer than two pairs.
    """
    if d_k < 4:
        raise ValueError(f"d_k is {d_k}; expected two pairs of features")
    return base * s ** (d_k / (d_k - 2))


def scale_of_base(base: float, new: float, *, d_k: int) -> float:
    """The inverse: the factor s that a new base corresponds to.

    Raises ValueError for a d_k below 2.
    """
    if d_k < 2:
        raise ValueError(f"d_k is {d_k}; expected a pair of features")
    return (new / base) ** ((d_k - 2) / d_k)


# --8<-- [end:ntk]


# --8<-- [start:interpolated]
def interpolated_rotary(
    x: Float[Tensor, "*#batch d_k"],
    position: Real[Tensor, "*#batch"] | int,
    *,
    s: float,
    base: float = 10000.0,
    token_axis: int = -2,
) -> Float[Tensor, "*batch d_k"]:
    """RoPE under PI, which divides positions by s: Chen et al. (2023).

    Raises ValueError as `apply_rotary` does.
    """
    place = align_positions(x, position, token_axis=token_axis)
    place = place.to(upcast(x).dtype) / s
    return apply_rotary(x, place, base=base)


# --8<-- [end:interpolated]


# --8<-- [start:neighbours]
def neighbour_distance(omega: Float[Tensor, " h"]) -> Float[Tensor, " h"]:
    """How far a pair of length 1 moves from one position to the next."""
    return 2 * torch.sin(omega / 2).abs()


# --8<-- [end:neighbours]
