"""How far off attention may be in a format, from its inputs alone.

Half the distance from 1 to the next larger number, and the smallest and the largest number above 0:

--8<-- [start:example-formats]
>>> import torch
>>> from snippets.associativity.tolerance import smallest, unit_roundoff
>>> for dtype in (torch.float32, torch.float16, torch.bfloat16):
...     print(f"{dtype}   {unit_roundoff(dtype):.1e}   {smallest(dtype):.1e}   {torch.finfo(dtype).max:.1e}")
torch.float32   6.0e-08   1.4e-45   3.4e+38
torch.float16   4.9e-04   6.0e-08   6.6e+04
torch.bfloat16   3.9e-03   9.2e-41   3.4e+38

--8<-- [end:example-formats]

The exponential, at every number of the two half formats; 2 would be one unit in the last place:

--8<-- [start:example-exponential]
>>> from snippets.associativity.tolerance import exponential_error
>>> for dtype in (torch.float16, torch.bfloat16):
...     numbers = torch.arange(-(2**15), 2**15, dtype=torch.int16).view(dtype)  # every pattern of 16 bits
...     print(f"{dtype}   {exponential_error(numbers):.1f}")
torch.float16   1.0
torch.bfloat16   1.0

--8<-- [end:example-exponential]

Random attention: the largest bound, and the largest error as a share of its bound:

--8<-- [start:example-share]
>>> from snippets.associativity.tolerance import attention_error, attention_error_bound
>>> generator = torch.Generator().manual_seed(0)
>>> numbers = [torch.randn(64, 16, generator=generator) for _ in range(3)]
>>> for dtype, sums in ((torch.float32, torch.float32), (torch.float16, torch.float16),
...                     (torch.float16, torch.float32), (torch.bfloat16, torch.float32)):
...     query, key, value = (number.to(dtype) for number in numbers)
...     error = attention_error(query, key, value)
...     bound = attention_error_bound(query, key, value, sums)
...     few = (error / bound).max().item() < 0.05
...     print(f"{dtype}, sums in {sums}:   {bound.max():.1e}   less than 5 %: {few}")
torch.float32, sums in torch.float32:   3.1e-05   less than 5 %: True
torch.float16, sums in torch.float16:   2.9e-01   less than 5 %: True
torch.float16, sums in torch.float32:   3.9e-02   less than 5 %: True
torch.bfloat16, sums in torch.float32:   3.5e-01   less than 5 %: True

--8<-- [end:example-share]

A slip that no reader sees: one more rounding, to a format with fewer digits. The bound does:

--8<-- [start:example-slip]
>>> query, key, value = numbers
>>> bound = attention_error_bound(query, key, value)
>>> attention_error(query, key, value).gt(bound).any().item()
False
>>> attention_error(query, key.half().float(), value, exact=(query, key, value)).gt(bound).any().item()
True

--8<-- [end:example-slip]

The largest number of half precision is 65504. A score may exceed it before it is divided, and then the bound is infinite:

--8<-- [start:example-overflow]
>>> from snippets.attention.formula import attention
>>> query = key = torch.full((1, 64), 32.0, dtype=torch.float16)  # the score is 8192, but 65536 comes first
>>> value = torch.ones(1, 1, dtype=torch.float16)
>>> attention(query, key, value).item(), attention_error_bound(query, key, value).item()
(nan, inf)

--8<-- [end:example-overflow]
"""

import torch
from torch import Tensor

from snippets.associativity.rounding import gamma
from snippets.attention.formula import attention, attention_weights, scores
from snippets.shapes import check_shapes


# --8<-- [start:format]
def unit_roundoff(dtype: torch.dtype) -> float:
    """The largest relative error of one rounding: half the distance from 1 to the next number."""
    return torch.finfo(dtype).eps / 2


def smallest(dtype: torch.dtype) -> float:
    """The smallest positive number: a result that underflows is off by no more."""
    return torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps


def growth(n: int, dtype: torch.dtype) -> float:
    """The factor by which n roundings make a number larger or smaller at most."""
    return 1 + gamma(n, dtype)


# --8<-- [end:format]


# --8<-- [start:exponential]
def exponential_error(x: Tensor) -> float:
    """The largest relative error of torch.exp at the numbers x, in roundings; in range only."""
    exact = x.double().exp()
    info = torch.finfo(x.dtype)
    normal = (exact >= info.smallest_normal) & (exact <= info.max)
    error = (x.exp().double() - exact).abs() / exact
    return error[normal].max().item() / unit_roundoff(x.dtype)


# --8<-- [end:exponential]


# --8<-- [start:scores]
def score_error_bound(
    query: Tensor, key: Tensor, sums: torch.dtype | None = None
) -> Tensor:
    """How far the scores may be off, entry by entry, if sums are taken in the format `sums`."""
    check_shapes("query: n d_k, key: m d_k", query, key)
    dtype, d_k = query.dtype, query.shape[-1]
    magnitude = scores(query.double().abs(), key.double().abs())  # (..., n, m)
    # A product and d_k - 1 additions; then rounding the sum and the scale, and multiplying by it.
    factor = growth(d_k, sums or dtype) * growth(3, dtype)
    return (factor - 1) * magnitude + factor * (d_k + 2) * smallest(dtype)


# --8<-- [end:scores]


# --8<-- [start:weights]
def weight_factor(
    query: Tensor, key: Tensor, sums: torch.dtype | None = None
) -> Tensor:
    """The factor by which the weights of each query may be too large or too small."""
    dtype, m = query.dtype, key.shape[-2]
    off = score_error_bound(query, key, sums).amax(
        -1, keepdim=True
    )  # (..., n, 1)
    exact = scores(query.double(), key.double())  # (..., n, m)
    spread = (
        exact.amax(-1, keepdim=True) - exact.amin(-1, keepdim=True) + 2 * off
    )
    epsilon = (
        off + unit_roundoff(dtype) * spread
    )  # subtracting the largest score rounds, too
    # m - 1 additions; one unit, 2 roundings, for an exponential, above and below; the division.
    rounded = (
        growth(m, sums or dtype) * growth(6, dtype) / (1 - m * smallest(dtype))
    )
    return torch.exp(2 * epsilon) * rounded  # (..., n, 1)


# --8<-- [end:weights]


# --8<-- [start:bound]
def attention_error_bound(
    query: Tensor, key: Tensor, value: Tensor, sums: torch.dtype | None = None
) -> Tensor:
    """How far attention in the format of its inputs may be off, entry by entry.

    `sums` is the format that sums are taken in, the inputs' own unless given. Infinite where a
    step may overflow.
    """
    check_shapes("query: n d_k, key: m d_k, value: m d_v", query, key, value)
    dtype, (m, d_k), largest = (
        query.dtype,
        key.shape[-2:],
        torch.finfo(query.dtype).max,
    )
    magnitude = value.double().abs()
    factor = (
        weight_factor(query, key, sums)
        * growth(m, sums or dtype)
        * growth(1, dtype)
    )
    output = (
        attention_weights(query.double(), key.double()) @ magnitude
    )  # (..., n, d_v)
    lost = (3 * magnitude.sum(-2, keepdim=True) + m + 1) * smallest(
        dtype
    )  # by underflow
    bound = (factor - 1) * output + factor * lost
    dot = scores(query.double().abs(), key.double().abs(), scale=1.0).amax(
        -1, keepdim=True
    )
    fits = (dot * growth(d_k + 3, sums or dtype) <= largest) & (
        output + bound <= largest
    )
    return torch.where(fits, bound, torch.inf)


# --8<-- [end:bound]


# --8<-- [start:error]
def attention_error(
    query: Tensor, key: Tensor, value: Tensor, exact=None
) -> Tensor:
    """How far attention comes out from the same in double precision, of inputs `exact` if given."""
    doubled = (number.double() for number in exact or (query, key, value))
    return (
        attention(query, key, value).double() - attention(*doubled)
    ).abs()  # (..., n, d_v)


# --8<-- [end:error]
