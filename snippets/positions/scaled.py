"""RoPE for longer texts in Llama 3.1, and LongRoPE: divisors of the frequencies, and a factor on the scores.

Llama 3.1's head: how many of 64 pairs are kept, blended and divided by eight, and the same pairs under YaRN's borders:

--8<-- [start:example-counts]
>>> import torch
>>> from snippets.order.positions import frequencies
>>> from snippets.positions.scaled import count_pairs
>>> omega = frequencies(128, base=500000.0, dtype=torch.float64)
>>> count_pairs(omega, trained=8192, low=1.0, high=4.0)
(29, 6, 29)
>>> count_pairs(omega, trained=8192, low=1.0, high=32.0)
(19, 16, 29)

--8<-- [end:example-counts]

The divisors of some pairs' frequencies, first in Llama 3.1 and then with YaRN's ramp:

--8<-- [start:example-divisors]
>>> from snippets.positions.scaled import llama3_frequencies
>>> from snippets.positions.yarn import yarn_frequencies
>>> llama = llama3_frequencies(omega, s=8.0, trained=8192)
>>> yarn = yarn_frequencies(omega, s=8.0, trained=8192)
>>> for scaled in (llama, yarn):
...     print((omega / scaled)[[18, 22, 26, 29, 31, 33, 35]].round(decimals=2).tolist())
[1.0, 1.0, 1.0, 1.21, 2.03, 3.68, 8.0]
[1.0, 2.0, 3.64, 5.18, 6.22, 7.19, 8.0]
>>> same = yarn_frequencies(omega, s=8.0, trained=8192, start=1.0, end=4.0)
>>> torch.allclose(same, llama, rtol=1e-12)
True

--8<-- [end:example-divisors]

The factors on queries and keys, for a text 32 times as long as 4096 positions:

--8<-- [start:example-factors]
>>> import math
>>> from snippets.positions.scaled import longrope_attention_factor
>>> from snippets.positions.yarn import yarn_attention_factor
>>> round(longrope_attention_factor(32.0, trained=4096), 3)
1.19
>>> round(yarn_attention_factor(32.0), 3)
1.347
>>> [round(math.log(n), 2) for n in (4096, 32 * 4096)]  # the first is the lead
[8.32, 11.78]
>>> round(longrope_attention_factor(32.0, trained=4096) ** 2, 2)  # on scores
1.42

--8<-- [end:example-factors]

The angles of one pair with the frequency 1 and the factor 2, if the first four positions are not scaled:

--8<-- [start:example-first]
>>> from snippets.positions.scaled import longrope_angles
>>> one, two = torch.tensor([1.0]), torch.tensor([2.0])
>>> longrope_angles(torch.arange(8), one, two, unscaled=4).flatten().tolist()
[0.0, 1.0, 2.0, 3.0, 2.0, 2.5, 3.0, 3.5]

--8<-- [end:example-first]

A configuration's factors, checked: the pair with the largest one, and how many exceed the factor of the length:

--8<-- [start:example-check]
>>> from snippets.positions.scaled import longrope_frequencies
>>> factors = torch.tensor([1.07, 1.8, 9.93, 40.12], dtype=torch.float64)
>>> s, plain = 32.0, frequencies(8, dtype=torch.float64)
>>> divided = plain / longrope_frequencies(plain, factors)
>>> (divided > s).sum().item(), (divided.diff() < 0).sum().item()
(1, 0)

--8<-- [end:example-check]
"""

import math

import torch
from jaxtyping import Float, Real
from torch import Tensor

from snippets.positions.yarn import ramp, rotations


# --8<-- [start:llama]
def llama3_frequency(
    omega: Float[Tensor, "*#shape"],
    turns: Float[Tensor, "*#shape"],
    *,
    s: float,
    low: float,
    high: float,
) -> Float[Tensor, "*shape"]:
    """Frequencies as in Llama 3.1, from the rotations of each pair within the
    trained length: divided by s, blended, or kept."""
    place = (turns - low) / (high - low)
    blended = (1 - place) * omega / s + place * omega
    faster = torch.where(turns > high, omega, blended)
    return torch.where(turns < low, omega / s, faster)


def llama3_frequencies(
    omega: Float[Tensor, " h"],
    *,
    s: float,
    trained: int,
    low: float = 1.0,
    high: float = 4.0,
) -> Float[Tensor, " h"]:
    """The frequencies of Llama 3.1: Meta (2024).

    Configurations call low and high `low_freq_factor` and `high_freq_factor`,
    and s `factor`.
    """
    turns = rotations(omega, length=trained)
    return llama3_frequency(omega, turns, s=s, low=low, high=high)


def count_pairs(
    omega: Float[Tensor, " h"], *, trained: int, low: float, high: float
) -> tuple[int, int, int]:
    """How many pairs are kept, blended and divided."""
    turns = rotations(omega, length=trained)
    kept, divided = int((turns > high).sum()), int((turns < low).sum())
    return kept, len(omega) - kept - divided, divided


# --8<-- [end:llama]


# --8<-- [start:yarn]
def yarn_frequency(
    omega: Float[Tensor, "*#shape"],
    turns: Float[Tensor, "*#shape"],
    *,
    s: float,
    start: float,
    end: float,
) -> Float[Tensor, "*shape"]:
    """The same with the ramp of YaRN."""
    share = ramp(turns, start=start, end=end)
    return (1 - share) * omega / s + share * omega


# --8<-- [end:yarn]


# --8<-- [start:longrope]
def longrope_frequencies(
    omega: Float[Tensor, " h"], factors: Float[Tensor, " h"]
) -> Float[Tensor, " h"]:
    """Each frequency, divided by a factor of its own: Ding et al. (2024)."""
    return omega / factors


def longrope_angles(
    position: Real[Tensor, "*batch"],
    omega: Float[Tensor, " h"],
    factors: Float[Tensor, " h"],
    *,
    unscaled: int = 0,
) -> Float[Tensor, "*batch h"]:
    """The angles of all pairs, where the first positions are not scaled."""
    place = position.unsqueeze(-1)  # (*batch, 1)
    scaled = place * longrope_frequencies(omega, factors)
    return torch.where(place < unscaled, place * omega, scaled)


def longrope_attention_factor(s: float, *, trained: int) -> float:
    """LongRoPE's factor on queries and keys. It is 1 for an s of 1 or less."""
    return math.sqrt(1 + math.log(max(s, 1)) / math.log(trained))


# --8<-- [end:longrope]
