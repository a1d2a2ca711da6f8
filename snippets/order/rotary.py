"""Rotary positions: queries and keys turned by their places, so that scores know distances.

--8<-- [start:example-relative]
>>> import torch
>>> from snippets.order.positions import frequencies
>>> from snippets.order.rotary import rotate
>>> generator = torch.Generator().manual_seed(0)
>>> query, key = torch.randn(2, 8, generator=generator, dtype=torch.float64)  # (d_k)
>>> def score(s, t):
...     return (rotate(query, s) @ rotate(key, t)).item()
>>> [round(score(s, s + 5), 6) for s in (0, 3, 1000)]
[-2.007486, -2.007486, -2.007486]
>>> round(score(0, -5), 6)
7.557688

--8<-- [end:example-relative]

Two layouts: a pair of features may stand side by side, or half the width apart. The scores are
the same if queries and keys keep to one layout, and only then:

--8<-- [start:example-layouts]
>>> from snippets.order.rotary import interleave, rotate_interleaved
>>> Q, K = torch.randn(2, 5, 8, generator=generator, dtype=torch.float64)  # (n, d_k)
>>> place = torch.arange(5)
>>> halves = rotate(Q, place) @ rotate(K, place).mT
>>> sides = rotate_interleaved(interleave(Q), place) @ rotate_interleaved(interleave(K), place).mT
>>> mixed = rotate_interleaved(Q, place) @ rotate(K, place).mT
>>> torch.allclose(sides, halves), torch.allclose(mixed, halves)
(True, False)

--8<-- [end:example-layouts]

One frequency does not decay with distance at all, and many do not decay steadily:

--8<-- [start:example-decay]
>>> from snippets.order.rotary import mean_cosine
>>> [round(mean_cosine(k, frequencies(2)).item(), 2) for k in (0, 3, 6)]
[1.0, -0.99, 0.96]
>>> [round(mean_cosine(k, frequencies(64)).item(), 2) for k in (0, 3, 6, 12, 50, 100, 200)]
[1.0, 0.8, 0.74, 0.67, 0.49, 0.56, 0.36]
>>> curve = mean_cosine(torch.arange(200), frequencies(64))
>>> (curve[1:] > curve[:-1]).sum().item()  # of 199 steps, how many go up
82

--8<-- [end:example-decay]

With a bias by distance that stays the same from some distance on, what is far has no order:

--8<-- [start:example-clipped]
>>> from snippets.order.rotary import clipped_bias
>>> clipped_bias(torch.tensor([1, 2, 3, 4, 5]), n=4, m=6)  # for distances -2, -1, 0, 1, 2
tensor([[3, 4, 5, 5, 5, 5],
        [2, 3, 4, 5, 5, 5],
        [1, 2, 3, 4, 5, 5],
        [1, 1, 2, 3, 4, 5]])

--8<-- [end:example-clipped]
"""

import torch
from torch import Tensor

from snippets.order.positions import frequencies, waves


# --8<-- [start:turn]
def turn(
    first: Tensor, second: Tensor, position: Tensor, omega: Tensor
) -> tuple[Tensor, Tensor]:
    """Every pair of a number in first and one in second, turned by position times frequency."""
    cosines, sines = waves(position, omega)  # (..., h) each
    return (
        first * cosines - second * sines,
        first * sines + second * cosines,
    )  # (..., h) each


def turned_score(
    q_1: Tensor,
    q_2: Tensor,
    k_1: Tensor,
    k_2: Tensor,
    s: Tensor,
    t: Tensor,
    omega: Tensor,
) -> Tensor:
    """The score of a query at position s with a key at position t, without the scale."""
    (a_1, a_2), (b_1, b_2) = turn(q_1, q_2, s, omega), turn(k_1, k_2, t, omega)
    return (a_1 * b_1 + a_2 * b_2).sum(-1)  # (..., h) -> (...)


# --8<-- [end:turn]


# --8<-- [start:layouts]
def rotate(x: Tensor, position: Tensor, base: float = 10000.0) -> Tensor:
    """Queries or keys turned by position; a pair is a feature and the one half the width on."""
    omega = frequencies(x.shape[-1], base)
    return torch.cat(
        turn(*x.chunk(2, dim=-1), position, omega), dim=-1
    )  # (..., d_k)


def rotate_interleaved(
    x: Tensor, position: Tensor, base: float = 10000.0
) -> Tensor:
    """The same where a pair is two features that stand side by side."""
    omega = frequencies(x.shape[-1], base)
    return torch.stack(
        turn(x[..., 0::2], x[..., 1::2], position, omega), dim=-1
    ).flatten(-2)


def interleave(x: Tensor) -> Tensor:
    """From the first layout to the second: the two halves, feature by feature in turn."""
    return torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)  # (..., d_k)


# --8<-- [end:layouts]


# --8<-- [start:decay]
def mean_cosine(distance: Tensor, omega: Tensor) -> Tensor:
    """The score of a vector with itself at a distance, if all pairs are of one length, in all 1."""
    return waves(distance, omega)[0].mean(-1)  # (...) -> (...)


# --8<-- [end:decay]


# --8<-- [start:clipped]
def clipped_bias(table: Tensor, n: int, m: int) -> Tensor:
    """A bias for each query and key, by distance; beyond its reach, the table's ends."""
    if table.dim() != 1 or table.shape[0] % 2 == 0:
        raise ValueError(
            f"table is {tuple(table.shape)}; expected (2 * reach + 1)"
        )
    reach = table.shape[0] // 2
    distance = torch.arange(m) - torch.arange(n).unsqueeze(-1)  # (n, m)
    return table[distance.clamp(-reach, reach) + reach]  # (n, m)


# --8<-- [end:clipped]
