"""Speculative decoding: a draft model guesses, and the target model accepts or rejects.

Three tokens, and a draft that differs from the target:

--8<-- [start:example-draws]
>>> import torch
>>> from snippets.serving.speculative import (
...     acceptance_rate, accepts_guess, drawn_distribution, leftover)
>>> target = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)  # (N,)
>>> draft = torch.tensor([0.7, 0.2, 0.1], dtype=torch.float64)
>>> round(acceptance_rate(target, draft).item(), 3)
0.8
>>> [round(one, 3) for one in leftover(target, draft).tolist()]
[0.0, 0.5, 0.5]
>>> [round(one, 3) for one in drawn_distribution(target, draft).tolist()]
[0.5, 0.3, 0.2]

--8<-- [end:example-draws]

Many draws, each a guess of the draft that the target may correct:

--8<-- [start:example-many]
>>> generator = torch.Generator().manual_seed(0)
>>> guesses = draft.multinomial(100_000, True, generator=generator)
>>> other = leftover(target, draft).multinomial(
...     100_000, True, generator=generator)
>>> chance = torch.rand(100_000, dtype=torch.float64, generator=generator)
>>> accepted = accepts_guess(guesses, target, draft, chance)
>>> drawn = torch.where(accepted, guesses, other)
>>> [round(one, 2) for one in (drawn.bincount() / drawn.numel()).tolist()]
[0.5, 0.3, 0.2]

--8<-- [end:example-many]

Tokens of a step, if each guess is accepted with the same probability:

--8<-- [start:example-tokens]
>>> from snippets.serving.speculative import expected_tokens, speed
>>> for rate in (0.5, 0.8, 0.9):
...     print(rate, *(f"{expected_tokens(rate, guesses + 1):6.2f}"
...                   for guesses in (1, 2, 4, 8)))
0.5   1.50   1.75   1.94   2.00
0.8   1.80   2.44   3.36   4.33
0.9   1.90   2.71   4.10   6.13
>>> [round(speed(0.5, guesses, 0.2), 2) for guesses in (1, 2, 4, 8)]
[1.25, 1.25, 1.08, 0.77]

--8<-- [end:example-tokens]

The number of guesses with the largest speed, if a guess takes a tenth of a step:

--8<-- [start:example-best]
>>> for rate in (0.05, 0.3, 0.6, 0.9):
...     speeds = [speed(rate, guesses, 0.1) for guesses in range(30)]
...     best = max(speeds)
...     count = speeds.index(best)
...     print(f"rate {rate:4}   {count:2} guesses   speed {best:.2f}")
rate 0.05    0 guesses   speed 1.00
rate  0.3    1 guesses   speed 1.18
rate  0.6    3 guesses   speed 1.67
rate  0.9   10 guesses   speed 3.43

--8<-- [end:example-best]
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


# --8<-- [start:overlap]
def acceptance_rate(
    target: Float[Tensor, "*batch N"], draft: Float[Tensor, "*batch N"]
) -> Float[Tensor, "*batch"]:
    """How often a guess of the draft is accepted."""
    return torch.minimum(target, draft).sum(-1)


def leftover(
    target: Float[Tensor, "*batch N"], draft: Float[Tensor, "*batch N"]
) -> Float[Tensor, "*batch N"]:
    """The distribution of the token that replaces a rejected guess. NaN if the
    two distributions are equal, because then no guess is rejected."""
    missing = target - torch.minimum(target, draft)
    return missing / missing.sum(-1, keepdim=True)


def drawn_distribution(
    target: Float[Tensor, "*batch N"], draft: Float[Tensor, "*batch N"]
) -> Float[Tensor, "*batch N"]:
    """The distribution of what is drawn: accepted guesses and replacements. NaN
    if the two distributions are equal."""
    rejected = 1 - acceptance_rate(target, draft).unsqueeze(-1)
    return torch.minimum(target, draft) + rejected * leftover(target, draft)


# --8<-- [end:overlap]


# --8<-- [start:draw]
def accepts_guess(
    guess: Int[Tensor, " n"],
    target: Float[Tensor, " N"],
    draft: Float[Tensor, " N"],
    chance: Float[Tensor, " n"],
) -> Bool[Tensor, " n"]:
    """Which guesses the target accepts, by numbers drawn uniformly from 0 to 1:
    Leviathan, Kalman and Matias (2023)."""
    return chance * draft[guess] < target[guess]


# --8<-- [end:draw]


# --8<-- [start:tokens]
def expected_tokens(rate: float, tokens: int) -> float:
    """Expected tokens of a step that yields `tokens` of them if all guesses are
    accepted. The rate is less than 1."""
    return (1 - rate**tokens) / (1 - rate)


def speed(rate: float, guesses: int, cost: float) -> float:
    """Expected tokens in the time of one step of the target. A guess takes
    `cost` such steps."""
    return expected_tokens(rate, guesses + 1) / (1 + guesses * cost)


# --8<-- [end:tokens]
