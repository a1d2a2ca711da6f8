"""Mean and variance of the dot product of a query and a key, and the scale that undoes the growth.

Measured on 20,000 pairs whose entries are all independent, with mean 0 and variance 1:

--8<-- [start:example]
>>> import torch
>>> from snippets.scaling.variance import draw, predicted_moments, sample_moments
>>> generator = torch.Generator().manual_seed(0)
>>> for d in (1, 4, 16, 64, 256):
...     q, k = draw(2, 20_000, d, generator=generator)
...     mean, variance = sample_moments(q, k)
...     predicted = predicted_moments(d)
...     print(f"d {d:3}   mean {mean:5.2f}   variance {variance:5.1f}   "
...           f"predicted {predicted}")
d   1   mean  0.02   variance   1.0   predicted (0.0, 1.0)
d   4   mean -0.03   variance   3.9   predicted (0.0, 4.0)
d  16   mean  0.02   variance  16.2   predicted (0.0, 16.0)
d  64   mean -0.00   variance  64.5   predicted (0.0, 64.0)
d 256   mean -0.12   variance 255.3   predicted (0.0, 256.0)

--8<-- [end:example]

The scores are these dot products, of every query with every key, times the scale:

--8<-- [start:example-scores]
>>> import torch
>>> from snippets.attention.formula import scores
>>> from snippets.scaling.variance import draw
>>> generator = torch.Generator().manual_seed(1)
>>> query = draw(8, 100, 64, generator=generator)  # (head, n, d_k)
>>> key = draw(8, 200, 64, generator=generator)  # (head, m, d_k)
>>> scaled, unscaled = scores(query, key), scores(query, key, scale=1.0)
>>> tuple(scaled.shape)
(8, 100, 200)
>>> round(scaled.std().item(), 1), round(unscaled.std().item(), 1)
(1.0, 8.0)
>>> scores(query[0], key[0, :, :32])
Traceback (most recent call last):
RuntimeError: mat1 and mat2 shapes cannot be multiplied (100x64 and 32x200)

--8<-- [end:example-scores]

What each assumption is for, where d is 16:

--8<-- [start:example-failures]
>>> from snippets.scaling.variance import predicted_moments_same
>>> generator = torch.Generator().manual_seed(0)
>>> q, k = draw(2, 20_000, 16, generator=generator)
>>> q1, k1 = q[:, :1].expand_as(q), k[:, :1].expand_as(k)  # one number, 16 times over
>>> cases = {"independent": (q, k), "k is q": (q, q), "mean 1": (q + 1, k + 1),
...          "q repeats": (q1, k), "both repeat": (q1, k1)}
>>> for name, pair in cases.items():
...     mean, variance = sample_moments(*pair)
...     print(f"{name:11}   mean {mean:5.2f}   variance {variance:5.1f}")
independent   mean  0.01   variance  16.2
k is q        mean 15.98   variance  32.3
mean 1        mean 16.01   variance  49.2
q repeats     mean -0.02   variance  16.2
both repeat   mean -0.04   variance 251.3
>>> predicted_moments_same(16), predicted_moments(16, mu=1.0)
((16.0, 32.0), (16.0, 48.0))

--8<-- [end:example-failures]
"""

import torch
from jaxtyping import Float
from torch import Tensor


# --8<-- [start:dot]
def dot(
    q: Float[Tensor, "*#batch d"], k: Float[Tensor, "*#batch d"]
) -> Float[Tensor, "*batch"]:
    """The dot product of each query with the key in the same place."""
    return (q * k).sum(-1)


# --8<-- [end:dot]


# --8<-- [start:draw]
def draw(
    *shape: int,
    generator: torch.Generator | None = None,
    mu: float = 0.0,
    sigma: float = 1.0,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str | None = None,
) -> Float[Tensor, "*shape"]:
    """Independent Gaussian entries of mean mu and standard deviation sigma."""
    standard = torch.randn(
        *shape, generator=generator, dtype=dtype, device=device
    )
    return mu + sigma * standard


# --8<-- [end:draw]


# --8<-- [start:sample-moments]
def sample_moments(
    q: Float[Tensor, "*#batch draws d"], k: Float[Tensor, "*#batch draws d"]
) -> tuple[Float[Tensor, "*batch"], Float[Tensor, "*batch"]]:
    """Mean and variance of q.k, measured over the draws."""
    products = dot(q, k)  # (*batch, draws)
    return products.mean(-1), products.var(-1)


# --8<-- [end:sample-moments]


# --8<-- [start:predicted]
def predicted_moments(
    d: int, *, mu: float = 0.0, sigma: float = 1.0
) -> tuple[float, float]:
    """Mean and variance of q.k: independent entries of mean mu, variance sigma^2."""
    return d * mu**2, d * sigma**2 * (sigma**2 + 2 * mu**2)


# --8<-- [end:predicted]


# --8<-- [start:predicted-same]
def predicted_moments_same(
    d: int, *, mu: float = 0.0, sigma: float = 1.0
) -> tuple[float, float]:
    """Mean and variance of q.q, the entries of q being independent Gaussians."""
    return d * (mu**2 + sigma**2), 2 * d * sigma**2 * (sigma**2 + 2 * mu**2)


# --8<-- [end:predicted-same]
