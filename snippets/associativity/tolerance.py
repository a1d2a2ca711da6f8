"""A bound on the rounding error of attention, computed from its inputs.

The unit roundoff, the smallest and the largest positive number of each format:

--8<-- [start:example-formats]
>>> import torch
>>> from snippets.associativity.tolerance import smallest, unit_roundoff
>>> for dtype in (torch.float32, torch.float16, torch.bfloat16):
...     largest = torch.finfo(dtype).max
...     print(f"{dtype}   {unit_roundoff(dtype):.1e}   {smallest(dtype):.1e}   "
...           f"{largest:.1e}")
torch.float32   6.0e-08   1.4e-45   3.4e+38
torch.float16   4.9e-04   6.0e-08   6.6e+04
torch.bfloat16   3.9e-03   9.2e-41   3.4e+38

--8<-- [end:example-formats]

The error of the exponential in roundings, at every number of the two half formats; 2 would be one unit in the last place:

--8<-- [start:example-exponential]
>>> from snippets.associativity.tolerance import exponential_error
>>> every = torch.arange(-(2**15), 2**15, dtype=torch.int16)  # every 16 bits
>>> for dtype in (torch.float16, torch.bfloat16):
...     numbers = every.view(dtype)
...     print(f"{dtype}   {exponential_error(numbers):.1f}")
torch.float16   1.0
torch.bfloat16   1.0

--8<-- [end:example-exponential]

Random attention: the largest bound, and the bound for code that rounds each step to the format of the inputs:

--8<-- [start:example-share]
>>> import torch
>>> from snippets.associativity.tolerance import (
...     attention_error, attention_error_bound)
>>> generator = torch.Generator().manual_seed(0)
>>> numbers = [torch.randn(64, 16, generator=generator) for _ in range(3)]
>>> for dtype in (torch.float32, torch.float16, torch.bfloat16):
...     inputs = [number.to(dtype) for number in numbers]
...     bound = attention_error_bound(*inputs)
...     holds = bool((attention_error(*inputs) <= bound).all())
...     each = attention_error_bound(*inputs, steps=dtype, sums=torch.float32)
...     print(f"{dtype}   holds: {holds}   at most {bound.max():.1e}   "
...           f"each step rounded {each.max():.1e}")
torch.float32   holds: True   at most 3.1e-05   each step rounded 3.1e-05
torch.float16   holds: True   at most 8.3e-04   each step rounded 3.9e-02
torch.bfloat16   holds: True   at most 6.4e-03   each step rounded 3.5e-01

--8<-- [end:example-share]

The share of the bound that the largest error uses, for more and more keys:

--8<-- [start:example-used]
>>> for keys in (2, 64, 1024):
...     drawn = [torch.randn(rows, 16, generator=generator)
...              for rows in (32, keys, keys)]
...     half = [number.half() for number in drawn]
...     share = attention_error(*half).max() / attention_error_bound(*half).max()
...     print(f"{keys:4} keys, fp16   share used {share:.1f}")
   2 keys, fp16   share used 0.8
  64 keys, fp16   share used 0.3
1024 keys, fp16   share used 0.1

--8<-- [end:example-used]

One more rounding, to a format with fewer digits, exceeds the bound:

--8<-- [start:example-slip]
>>> query, key, value = numbers
>>> bound = attention_error_bound(query, key, value)
>>> error = attention_error(query, key, value)
>>> bool((error > bound).any())
False
>>> rounded = key.half().float()
>>> error = attention_error(query, rounded, value, exact=numbers)
>>> bool((error > bound).any())
True

--8<-- [end:example-slip]

The largest number of half precision is 65504. A dot product can exceed it before it is scaled. If each step is
rounded to half precision, the bound is infinite; in single precision nothing overflows:

--8<-- [start:example-overflow]
>>> query = key = torch.full((1, 64), 32.0, dtype=torch.float16)
>>> value = torch.ones(1, 1, dtype=torch.float16)
>>> (query @ key.mT).item(), (query @ key.mT / 8).item()  # 65536, and 8192
(inf, inf)
>>> attention_error_bound(query, key, value, steps=torch.float16).item()
inf
>>> f"{attention_error_bound(query, key, value).item():.0e}"
'7e-02'

--8<-- [end:example-overflow]
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.associativity.rounding import gamma
from snippets.attention.formula import (
    attention,
    attention_weights,
    scores,
    upcast,
)


# --8<-- [start:format]
def unit_roundoff(dtype: torch.dtype) -> float:
    """The largest relative error of one rounding: half the distance from 1 to the
    next number."""
    return torch.finfo(dtype).eps / 2


def smallest(dtype: torch.dtype) -> float:
    """The smallest positive number: the largest error of a result that underflows."""
    return torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps


def growth(n: int, dtype: torch.dtype) -> float:
    """The largest factor by which n roundings can change a number."""
    return 1 + gamma(n, dtype)


# --8<-- [end:format]


# --8<-- [start:exponential]
def exponential_error(x: Float[Tensor, "*shape"]) -> Float[Tensor, ""]:
    """The largest relative error of torch.exp at x, in roundings; in range only."""
    exact = x.double().exp()
    info = torch.finfo(x.dtype)
    normal = (exact >= info.smallest_normal) & (exact <= info.max)
    error = (x.exp().double() - exact).abs() / exact / unit_roundoff(x.dtype)
    return torch.where(normal, error, 0).amax()


# --8<-- [end:exponential]


# --8<-- [start:scores]
def score_error_bound(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    *,
    steps: torch.dtype | None = None,
    sums: torch.dtype | None = None,
) -> Float[Tensor, "*batch n m"]:
    """A bound on the errors of the scores, entry by entry; in double precision.

    Every step is rounded to the format `steps`. The default is single precision,
    or the inputs' format if it has more digits. Sums are computed in the format
    `sums`, by default that of the steps.
    """
    steps = steps or upcast(query).dtype
    d_k = query.shape[-1]
    magnitude = scores(query.double().abs(), key.double().abs())
    # A product and d_k - 1 additions; then rounding the sum and the scale, and
    # multiplying by it.
    factor = growth(d_k, sums or steps) * growth(3, steps)
    return (factor - 1) * magnitude + factor * (d_k + 2) * smallest(steps)


# --8<-- [end:scores]


# --8<-- [start:weights]
def weight_factor(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    *,
    steps: torch.dtype | None = None,
    sums: torch.dtype | None = None,
) -> Float[Tensor, "*batch n 1"]:
    """The factor by which the weights of a query can be too large or too small."""
    steps = steps or upcast(query).dtype
    m = key.shape[-2]
    off = score_error_bound(query, key, steps=steps, sums=sums)
    off = off.amax(-1, keepdim=True)  # (*batch, n, 1)
    exact = scores(query.double(), key.double())
    spread = exact.amax(-1, keepdim=True) - exact.amin(-1, keepdim=True)
    # Subtracting the largest score rounds, too.
    epsilon = off + unit_roundoff(steps) * (spread + 2 * off)
    # m - 1 additions; one unit, 2 roundings, for an exponential, above and
    # below; the division.
    rounded = growth(m, sums or steps) * growth(6, steps)
    return torch.exp(2 * epsilon) * rounded / (1 - m * smallest(steps))


# --8<-- [end:weights]


# --8<-- [start:bound]
def attention_error_bound(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    steps: torch.dtype | None = None,
    sums: torch.dtype | None = None,
) -> Float[Tensor, "*batch n d_v"]:
    """A bound on the errors of attention, entry by entry; in double precision.

    `steps` and `sums` are as for the scores. The output is rounded once more, to
    the format of the inputs. The bound is infinite if a step may overflow.
    """
    steps = steps or upcast(query).dtype
    sums, (m, d_k) = sums or steps, key.shape[-2:]
    magnitude = value.double().abs()
    factor = weight_factor(query, key, steps=steps, sums=sums)
    factor = factor * growth(m, sums) * growth(1, steps)
    output = attention_weights(query.double(), key.double()) @ magnitude
    lost = (3 * magnitude.sum(-2, keepdim=True) + m + 1) * smallest(steps)
    bound = (factor - 1) * output + factor * lost  # what underflows is lost
    if steps != query.dtype:
        bound = one_more_rounding(bound, output, dtype=query.dtype)
    sizes = scores(query.double().abs(), key.double().abs(), scale=1.0)
    largest = sizes.amax(-1, keepdim=True) * growth(d_k + 3, sums)
    fits = (largest <= torch.finfo(steps).max) & (
        output + bound <= torch.finfo(query.dtype).max
    )
    return torch.where(fits, bound, torch.inf)


def one_more_rounding(
    bound: Float[Tensor, "*shape"],
    size: Float[Tensor, "*shape"],
    *,
    dtype: torch.dtype,
) -> Float[Tensor, "*shape"]:
    """The bound after one more rounding, to dtype.

    The size bounds the absolute value of the exact result.
    """
    return bound + unit_roundoff(dtype) * (size + bound) + smallest(dtype)


# --8<-- [end:bound]


# --8<-- [start:error]
def attention_error(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    exact: Sequence[Float[Tensor, "..."]] | None = None,
) -> Float[Tensor, "*batch n d_v"]:
    """The difference between attention and the same in double precision.

    If `exact` is given, double precision uses these inputs.
    """
    doubled = (number.double() for number in exact or (query, key, value))
    computed = attention(query, key, value).double()
    return (computed - attention(*doubled)).abs()


# --8<-- [end:error]
