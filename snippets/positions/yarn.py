"""YaRN: a ramp between PI and unchanged RoPE, and a factor on queries and keys.

How many of 64 pairs, trained on 4096 positions, are interpolated fully, not at all, and partly:

--8<-- [start:example-ramp]
>>> import torch
>>> from snippets.order.positions import frequencies
>>> from snippets.positions.yarn import ramp, rotations, yarn_frequencies
>>> omega = frequencies(128, dtype=torch.float64)
>>> share = ramp(rotations(omega, length=4096), start=1.0, end=32.0)
>>> [(share == 0).sum().item(), (share == 1).sum().item()]
[18, 21]
>>> [((0 < share) & (share < 1)).sum().item()]
[25]
>>> scaled = yarn_frequencies(omega, s=16.0, trained=4096)
>>> (omega / scaled)[[0, 20, 30, 40, 46, 63]].round(decimals=2).tolist()
[1.0, 1.0, 3.39, 10.57, 16.0, 16.0]

--8<-- [end:example-ramp]

The same pairs with the ramp above, and with a ramp that is straight over pairs:

--8<-- [start:example-by-pair]
>>> import torch
>>> from snippets.order.positions import frequencies
>>> from snippets.positions.yarn import yarn_frequencies, yarn_frequencies_by_pair
>>> omega = frequencies(128, dtype=torch.float64)
>>> scaled = yarn_frequencies(omega, s=16.0, trained=4096)
>>> other = yarn_frequencies_by_pair(128, s=16.0, trained=4096)
>>> for divided in (omega / scaled, omega / other):
...     print(divided[[20, 25, 30, 33, 40, 46]].round(decimals=2).tolist())
[1.0, 1.75, 3.39, 4.93, 10.57, 16.0]
[1.0, 1.22, 1.56, 1.88, 3.59, 16.0]

--8<-- [end:example-by-pair]

The attention code does not change, only its inputs:

--8<-- [start:example-yarn]
>>> from torch.nn.functional import scaled_dot_product_attention
>>> from snippets.order.rotary import apply_rotary
>>> from snippets.positions.yarn import apply_yarn, yarn_attention_factor
>>> generator = torch.Generator().manual_seed(0)
>>> Q, K, V = torch.randn(3, 8, 128, generator=generator, dtype=torch.float64)
>>> place = torch.arange(8)
>>> q, k = (apply_yarn(x, place, s=16.0, trained=4096) for x in (Q, K))
>>> output = scaled_dot_product_attention(q, k, V, is_causal=True)
>>> [round(yarn_attention_factor(16.0) ** power, 4) for power in (1, 2)]
[1.2773, 1.6314]
>>> round((q[0] @ k[0] / (Q[0] @ K[0])).item(), 4)  # at position 0
1.6314

--8<-- [end:example-yarn]

One score leads 4000 others by ten, then 64,000 others, with and without a factor on scores:

--8<-- [start:example-leader]
>>> from math import log
>>> from snippets.positions.yarn import weight_of_lead
>>> lead, s = 10.0, 16.0
>>> [round(weight_of_lead(lead, others), 3) for others in (4000, 64000)]
[0.846, 0.256]
>>> round(weight_of_lead(lead * (1 + log(s) / lead), 64000), 3)
0.846
>>> round(weight_of_lead(lead * yarn_attention_factor(s) ** 2, 64000), 3)
0.995
>>> [yarn_attention_factor(s) ** 2 > 1 + log(s) / lead for lead in (10, 5, 4)]
[True, True, False]

--8<-- [end:example-leader]
"""

import math

import torch
from jaxtyping import Float, Real
from torch import Tensor

from snippets.attention.formula import attention_weights, upcast
from snippets.order.positions import frequencies
from snippets.order.rotary import align_positions, apply_rotation, find_rotation


# --8<-- [start:ramp]
def rotations(
    omega: Float[Tensor, " h"], *, length: int | float
) -> Float[Tensor, " h"]:
    """The rotations that each pair completes within a length."""
    return omega * length / (2 * math.pi)


def ramp(
    rotations: Float[Tensor, "*shape"], *, start: float, end: float
) -> Float[Tensor, "*shape"]:
    """0 up to the start, 1 from the end on, and a straight line in between."""
    return ((rotations - start) / (end - start)).clamp(0, 1)


def yarn_frequencies(
    omega: Float[Tensor, " h"],
    *,
    s: float,
    trained: int,
    start: float = 1.0,
    end: float = 32.0,
) -> Float[Tensor, " h"]:
    """Slow pairs divided by s, fast ones kept: Peng et al. (2024)."""
    share = ramp(rotations(omega, length=trained), start=start, end=end)
    return (1 - share) * omega / s + share * omega


# --8<-- [end:ramp]


# --8<-- [start:by-pair]
def yarn_frequencies_by_pair(
    d_k: int,
    *,
    s: float,
    trained: int,
    start: float = 1.0,
    end: float = 32.0,
    truncate: bool = True,
    base: float = 10000.0,
    device: torch.device | str | None = None,
) -> Float[Tensor, " {d_k//2}"]:
    """As the authors' code has it: the ramp is straight over pairs.

    Checkpoints call start `beta_slow` and end `beta_fast`. With truncate, the
    ramp begins and ends at whole pairs.
    Raises ValueError for an odd d_k, by `frequencies`.
    """
    omega = frequencies(d_k, base=base, dtype=torch.float64, device=device)
    first, last = (  # the pairs, from 0, with so many rotations
        d_k * math.log(trained / (2 * math.pi * often)) / (2 * math.log(base))
        for often in (end, start)
    )
    if truncate:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, d_k - 1)
    pair = torch.arange(d_k // 2, dtype=omega.dtype, device=omega.device)
    width = last - first or 0.001
    share = 1 - ((pair - first) / width).clamp(0, 1)
    return (1 - share) * omega / s + share * omega


# --8<-- [end:by-pair]


# --8<-- [start:temperature]
def yarn_attention_factor(s: float) -> float:
    """YaRN's factor on queries and keys, a law that was fitted.

    It is 1 for an s of 1 or less.
    """
    return 0.1 * math.log(max(s, 1)) + 1


def weights_at_temperature(
    Q: Float[Tensor, "*#batch n d_k"],
    K: Float[Tensor, "*#batch m d_k"],
    *,
    temperature: float,
) -> Float[Tensor, "*batch n m"]:
    """Weights at a temperature: queries and keys are divided by its root."""
    root = math.sqrt(temperature)
    return attention_weights(Q / root, K / root)


# --8<-- [end:temperature]


# --8<-- [start:rotary]
def apply_yarn(
    x: Float[Tensor, "*#batch d_k"],
    position: Real[Tensor, "*#batch"] | int,
    *,
    s: float,
    trained: int,
    start: float = 1.0,
    end: float = 32.0,
    truncate: bool = True,
    attention_factor: float | None = None,
    base: float = 10000.0,
    by_pair: bool = True,
    token_axis: int = -2,
) -> Float[Tensor, "*batch d_k"]:
    """RoPE with YaRN's frequencies and factor: Peng et al. (2024).

    The frequencies are those of `yarn_frequencies_by_pair`, as in checkpoints,
    or without by_pair those of `yarn_frequencies`, as in the paper. Queries and
    keys are multiplied by the attention factor, by default that of s.
    Raises ValueError as `apply_rotary` does.
    """
    d_k, dtype, device = x.shape[-1], upcast(x).dtype, x.device
    how = {"s": s, "trained": trained, "start": start, "end": end}
    if by_pair:
        omega = yarn_frequencies_by_pair(
            d_k, truncate=truncate, base=base, device=device, **how
        ).to(dtype)
    else:
        plain = frequencies(d_k, base=base, dtype=dtype, device=device)
        omega = yarn_frequencies(plain, **how)
    place = align_positions(x, position, token_axis=token_axis)
    if attention_factor is None:
        attention_factor = yarn_attention_factor(s)
    rotation = find_rotation(place, omega, factor=attention_factor)
    return apply_rotation(x, rotation)


# --8<-- [end:rotary]


# --8<-- [start:leader]
def weight_of_lead(lead: float, others: int | float) -> float:
    """The weight of a score that leads so many equal others."""
    return math.exp(lead) / (math.exp(lead) + others)


# --8<-- [end:leader]
