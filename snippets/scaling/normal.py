"""How close q.k / sqrt(d) is to a standard normal variable, for Gaussian entries.

The excess kurtosis, measured on 100,000 draws and predicted:

--8<-- [start:example-kurtosis]
>>> import torch
>>> from snippets.scaling.normal import (
...     excess_kurtosis, predicted_excess_kurtosis, scaled_dots)
>>> generator = torch.Generator().manual_seed(0)
>>> for d in (2, 8, 32):
...     x = scaled_dots(100_000, d, generator=generator)
...     measured, predicted = excess_kurtosis(x), predicted_excess_kurtosis(d)
...     print(f"d {d:2}   measured {measured:.2f}   predicted {predicted:.2f}")
d  2   measured 3.12   predicted 3.00
d  8   measured 0.78   predicted 0.75
d 32   measured 0.17   predicted 0.19

--8<-- [end:example-kurtosis]

The characteristic function where t is 1, measured on 20,000 draws and predicted, and its limit:

--8<-- [start:example-characteristic]
>>> from snippets.scaling.normal import (
...     characteristic_function, empirical_characteristic_function,
...     normal_characteristic_function)
>>> t = torch.tensor([1.0], dtype=torch.float64)
>>> for d in (1, 4, 16, 64):
...     x = scaled_dots(20_000, d, generator=generator)
...     measured = empirical_characteristic_function(x, t).real.item()
...     predicted = characteristic_function(t, d=d).item()
...     print(f"d {d:2}   measured {measured:.2f}   predicted {predicted:.4f}")
d  1   measured 0.70   predicted 0.7071
d  4   measured 0.64   predicted 0.6400
d 16   measured 0.61   predicted 0.6157
d 64   measured 0.61   predicted 0.6089
>>> print(f"limit {normal_characteristic_function(t).item():.4f}")
limit 0.6065

--8<-- [end:example-characteristic]

Entries of plus and minus one instead of Gaussian ones: the excess kurtosis is negative, and also tends to zero.

--8<-- [start:example-signs]
>>> from snippets.scaling.variance import dot, draw
>>> for d in (2, 8, 32):
...     q, k = draw(2, 100_000, d, generator=generator).sign()
...     print(f"d {d:2}   measured {excess_kurtosis(dot(q, k)):.2f}")
d  2   measured -1.01
d  8   measured -0.27
d 32   measured -0.05

--8<-- [end:example-signs]
"""

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from snippets.scaling.variance import dot, draw


# --8<-- [start:scaled-dots]
def scaled_dots(
    draws: int,
    d: int,
    *,
    generator: torch.Generator | None = None,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str | None = None,
) -> Float[Tensor, " draws"]:
    """Draws of q.k / sqrt(d), for independent standard normal entries."""
    q, k = draw(2, draws, d, generator=generator, dtype=dtype, device=device)
    return dot(q, k) * d**-0.5


# --8<-- [end:scaled-dots]


# --8<-- [start:fourth-moment]
def fourth_moment(x: Float[Tensor, "*batch draws"]) -> Float[Tensor, "*batch"]:
    """The mean fourth power over the draws."""
    return x.pow(4).mean(-1)


def predicted_fourth_moment(d: int) -> float:
    """The mean of (q.k)^4, before any scale."""
    return 3.0 * d**2 + 6.0 * d


# --8<-- [end:fourth-moment]


# --8<-- [start:kurtosis]
def excess_kurtosis(
    x: Float[Tensor, "*batch draws"],
) -> Float[Tensor, "*batch"]:
    """The fourth standardised moment over the draws, minus 3 for a normal variable."""
    centred = x - x.mean(-1, keepdim=True)
    return fourth_moment(centred) / centred.square().mean(-1).square() - 3


def predicted_excess_kurtosis(d: int) -> float:
    """The excess kurtosis of q.k, with or without the scale."""
    return 6.0 / d


# --8<-- [end:kurtosis]


# --8<-- [start:characteristic]
def characteristic_function(
    t: Float[Tensor, "*batch"], *, d: int
) -> Float[Tensor, "*batch"]:
    """The mean of `exp(i t x)` where x is `q.k / sqrt(d)`; real, by symmetry."""
    return (1 + t**2 / d) ** (-d / 2)


def normal_characteristic_function(
    t: Float[Tensor, "*batch"],
) -> Float[Tensor, "*batch"]:
    """The mean of exp(i t x) for a standard normal x."""
    return torch.exp(-(t**2) / 2)


# --8<-- [end:characteristic]


# --8<-- [start:empirical-characteristic]
def empirical_characteristic_function(
    x: Float[Tensor, "*batch draws"], t: Float[Tensor, " T"]
) -> Complex[Tensor, "*batch T"]:
    """The mean of exp(i t x) over the draws, at each t."""
    phase = t.unsqueeze(-1) * x.unsqueeze(-2)  # (*batch, T, draws)
    return torch.exp(1j * phase).mean(-1)


# --8<-- [end:empirical-characteristic]
