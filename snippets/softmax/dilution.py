"""Many keys: a bound on every weight, and what copies of a key do.

--8<-- [start:example-thin]
>>> import torch
>>> from snippets.softmax.dilution import most_weight, needed_gap
>>> for n in (2, 101, 10_001, 1_000_001):
...     print(f"{n:7} keys   at most {most_weight(4.0, n):.4f} with a gap of 4,"
...           f"   a gap of {needed_gap(0.5, n):5.2f} for half the weight")
      2 keys   at most 0.9820 with a gap of 4,   a gap of  0.00 for half the weight
    101 keys   at most 0.3532 with a gap of 4,   a gap of  4.61 for half the weight
  10001 keys   at most 0.0054 with a gap of 4,   a gap of  9.21 for half the weight
1000001 keys   at most 0.0001 with a gap of 4,   a gap of 13.82 for half the weight

--8<-- [end:example-thin]

Three copies of a key, or one whose score is higher by log 3:

--8<-- [start:example-copies]
>>> from snippets.softmax.dilution import mean_with_bias, mean_with_copies
>>> score, value = torch.tensor(1.0), torch.tensor(10.0)
>>> scores, values = torch.tensor([2.0, 0.0]), torch.tensor([0.0, 1.0])
>>> for copies in (1, 3):
...     given = score, value, scores, values
...     print(f"{mean_with_copies(*given, copies=copies):.4f}",
...           f"{mean_with_bias(*given, copies=copies):.4f}")
2.5373 2.5373
4.9897 4.9897

--8<-- [end:example-copies]
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


# --8<-- [start:thin]
def most_weight(gap: float, n: int) -> float:
    """The largest possible weight among n keys whose scores differ by at most the
    gap."""
    return 1 / (1 + (n - 1) * math.exp(-gap))


def needed_gap(weight: float, n: int) -> float:
    """How far a score must be above n - 1 equal scores to have this weight."""
    return math.log((n - 1) * weight / (1 - weight))


# --8<-- [end:thin]


# --8<-- [start:copies]
def mean_with_copies(
    score: Float[Tensor, ""],
    value: Float[Tensor, ""],
    scores: Float[Tensor, " n"],
    values: Float[Tensor, " n"],
    *,
    copies: int,
) -> Float[Tensor, ""]:
    """An output, if one key and its value are repeated among others."""
    scores = torch.cat([score.expand(copies), scores])  # (copies + n)
    values = torch.cat([value.expand(copies), values])  # (copies + n)
    return torch.softmax(scores, dim=-1) @ values


def mean_with_bias(
    score: Float[Tensor, ""],
    value: Float[Tensor, ""],
    scores: Float[Tensor, " n"],
    values: Float[Tensor, " n"],
    *,
    copies: int,
) -> Float[Tensor, ""]:
    """The same with one copy of the key, whose score is raised by the logarithm of
    the number of copies."""
    score = score + math.log(copies)
    return mean_with_copies(score, value, scores, values, copies=1)


# --8<-- [end:copies]
