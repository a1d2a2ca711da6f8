"""RoPE on two or more axes, for images and video, and attention over text and image tokens.

A query and a key in an image, moved together, and after rows and columns are exchanged:

--8<-- [start:example-moved]
>>> import torch
>>> from snippets.order.rotary import rotate
>>> from snippets.positions.images import axial_frequencies, grid_rotation
>>> generator = torch.Generator().manual_seed(0)
>>> kinds = dict(generator=generator, dtype=torch.float64)
>>> query, key = torch.randn(2, 1, 64, **kinds)  # (n, d_k) each
>>> W = axial_frequencies(64, dtype=torch.float64)  # (pairs, axes)
>>> def score(x, y):  # positions: (row, column)
...     at = [grid_rotation(torch.tensor([one]), W) for one in (x, y)]
...     return round((rotate(query, at[0]) @ rotate(key, at[1]).mT).item(), 3)
>>> score((2, 3), (4, 8)), score((7, 1), (9, 6))
(-4.409, -4.409)
>>> score((3, 2), (8, 4))
4.437

--8<-- [end:example-moved]

Positions of two text tokens, an image of two rows and three columns, and two more text tokens:

--8<-- [start:example-segments]
>>> from snippets.positions.images import segment_positions
>>> segment_positions([2, (1, 2, 3), 2]).mT
tensor([[0, 1, 2, 2, 2, 2, 2, 2, 5, 6],
        [0, 1, 2, 2, 2, 3, 3, 3, 5, 6],
        [0, 1, 2, 3, 4, 2, 3, 4, 5, 6]])

--8<-- [end:example-segments]

M-RoPE on text is RoPE:

--8<-- [start:example-text]
>>> from snippets.order.rotary import apply_rotary
>>> from snippets.positions.images import section_frequencies
>>> Q = torch.randn(5, 128, **kinds)
>>> W = section_frequencies((16, 24, 24), base=1e6, dtype=torch.float64)
>>> rotated = rotate(Q, grid_rotation(segment_positions([5]), W))
>>> torch.allclose(rotated, apply_rotary(Q, torch.arange(5), base=1e6))
True

--8<-- [end:example-text]

Weights on a grid, for keys that all have the same features. With axial frequencies they are products of a
weight for the row and one for the column, so the matrix has rank 1:

--8<-- [start:example-rank]
>>> from snippets.positions.images import grid_positions
>>> place = grid_positions(7, 7)
>>> axial = axial_frequencies(64, dtype=torch.float64)
>>> mixed = torch.randn(32, 2, **kinds)
>>> for W in (axial, mixed):
...     q = rotate(query, grid_rotation(torch.tensor([[3, 3]]), W))
...     k = rotate(key.expand(49, 64), grid_rotation(place, W))
...     weights = (q @ k.mT / 8).softmax(-1).view(7, 7)
...     print(torch.linalg.matrix_rank(weights, rtol=1e-9).item())
1
7

--8<-- [end:example-rank]

Joint attention, and ordinary self-attention with the same projections:

--8<-- [start:example-joint]
>>> from snippets.attention.formula import attention
>>> from snippets.positions.images import joint_attention
>>> text, image = torch.randn(3, 16, **kinds), torch.randn(9, 16, **kinds)
>>> first, second = torch.randn(2, 3, 16, 8, **kinds)  # W_Q, W_K, W_V
>>> for projections in (first, second):
...     parts = joint_attention(text, image, first, projections)
...     Q, K, V = torch.cat([text, image]) @ first
...     print(torch.allclose(torch.cat(parts), attention(Q, K, V)))
True
False

--8<-- [end:example-joint]
"""

import torch
from jaxtyping import Float, Int, Real
from torch import Tensor

from snippets.attention.formula import attention
from snippets.order.positions import frequencies
from snippets.order.rotary import Rotation, reject_half


# --8<-- [start:rotation]
def grid_angles(
    position: Real[Tensor, "*batch a"], W: Float[Tensor, "h a"]
) -> Float[Tensor, "*batch h"]:
    """The angle of each pair, at positions with a number for each axis, by a
    frequency for each pair and axis."""
    return position.to(W.dtype) @ W.mT


def grid_rotation(
    position: Real[Tensor, "*batch a"], W: Float[Tensor, "h a"]
) -> Rotation:
    """The rotation by these angles, for `rotate`.

    Raises TypeError for positions or frequencies in half precision.
    """
    reject_half(position=position, W=W)
    angle = grid_angles(position, W)
    return Rotation(torch.cos(angle), torch.sin(angle))


def axial_frequencies(
    d_k: int,
    *,
    axes: int = 2,
    base: float = 10000.0,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, "pairs {axes}"]:
    """The frequencies of axial RoPE: as many pairs for each axis, with the same
    frequencies.

    Raises ValueError if twice the axes does not divide d_k.
    """
    if d_k % (2 * axes):
        raise ValueError(f"d_k is {d_k}; expected a multiple of {2 * axes}")
    omega = frequencies(d_k // axes, base=base, dtype=dtype, device=device)
    return torch.block_diag(*[omega.unsqueeze(-1)] * axes)


def grid_positions(
    *sizes: int, device: torch.device | str | None = None
) -> Int[Tensor, "n a"]:
    """The positions of all cells of a grid, in reading order: (row, column), or
    (frame, row, column)."""
    axes = (torch.arange(size, device=device) for size in sizes)
    return torch.cartesian_prod(*axes)


# --8<-- [end:rotation]


# --8<-- [start:score]
def grid_score(
    q_1: Float[Tensor, "*#batch h"],
    q_2: Float[Tensor, "*#batch h"],
    k_1: Float[Tensor, "*#batch h"],
    k_2: Float[Tensor, "*#batch h"],
    x: Real[Tensor, "*#batch a"],
    y: Real[Tensor, "*#batch a"],
    W: Float[Tensor, "h a"],
) -> Float[Tensor, "*batch"]:
    """The score of a query at x with a key at y, without the scale."""
    angle = grid_angles(x, W)
    cosines, sines = torch.cos(angle), torch.sin(angle)
    a_1, a_2 = q_1 * cosines - q_2 * sines, q_1 * sines + q_2 * cosines
    angle = grid_angles(y, W)
    cosines, sines = torch.cos(angle), torch.sin(angle)
    b_1, b_2 = k_1 * cosines - k_2 * sines, k_1 * sines + k_2 * cosines
    return (a_1 * b_1 + a_2 * b_2).sum(-1)


# --8<-- [end:score]


# --8<-- [start:product]
def grid_weights(
    rows: Float[Tensor, "*#batch a"], columns: Float[Tensor, "*#batch b"]
) -> Float[Tensor, "*batch a b"]:
    """The weights of all cells of a grid whose scores are a number for the row
    plus a number for the column."""
    scores = rows.unsqueeze(-1) + columns.unsqueeze(-2)  # (*batch, a, b)
    return scores.flatten(-2).softmax(-1).view_as(scores)


# --8<-- [end:product]


# --8<-- [start:sections]
def section_frequencies(
    sections: tuple[int, ...],
    *,
    base: float = 10000.0,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, "pairs axes"]:
    """The frequencies of M-RoPE: one series for all pairs, and a section of
    pairs for each axis: Wang, Bai et al. (2024)."""
    d_k = 2 * sum(sections)
    omega = frequencies(d_k, base=base, dtype=dtype, device=device)
    return torch.block_diag(*omega.unsqueeze(-1).split(list(sections)))


def segment_positions(
    segments: list[int | tuple[int, int, int]],
    *,
    device: torch.device | str | None = None,
) -> Int[Tensor, "n 3"]:
    """The positions (frame, row, column) of text tokens, given by their number,
    and of images or videos, given by their frames, rows and columns."""
    parts, start = [], 0
    for size in segments:
        if isinstance(size, int):
            text = torch.arange(start, start + size, device=device)
            parts.append(text.unsqueeze(-1).expand(size, 3))
            start += size
        else:
            parts.append(start + grid_positions(*size, device=device))
            start += max(size)
    return torch.cat(parts)


# --8<-- [end:sections]


# --8<-- [start:joint]
def joint_attention(
    text: Float[Tensor, "*batch n d"],
    image: Float[Tensor, "*batch m d"],
    for_text: Float[Tensor, "3 d d_k"],
    for_image: Float[Tensor, "3 d d_k"],
) -> tuple[Float[Tensor, "*batch n d_k"], Float[Tensor, "*batch m d_k"]]:
    """One head of joint attention: text and image tokens have their own W_Q, W_K
    and W_V, and attend in one sequence: Esser et al. (2024)."""
    Q, K, V = (
        torch.cat([text @ one, image @ other], dim=-2)
        for one, other in zip(for_text, for_image)
    )  # (*batch, n + m, d_k) each
    output = attention(Q, K, V)
    n = text.shape[-2]
    return output[..., :n, :], output[..., n:, :]


def project_by_kind(
    X: Float[Tensor, "*#batch n d"],
    is_text: Float[Tensor, "*#batch n"],
    for_text: Float[Tensor, "d d_k"],
    for_image: Float[Tensor, "d d_k"],
) -> Float[Tensor, "*batch n d_k"]:
    """One projection for text tokens and another one for image tokens, which may
    come in any order: is_text is 1 or 0."""
    kind = is_text.unsqueeze(-1)  # (*batch, n, 1)
    return kind * (X @ for_text) + (1 - kind) * (X @ for_image)


# --8<-- [end:joint]


# --8<-- [start:share]
def text_share(
    text: Float[Tensor, "*batch n"], image: Float[Tensor, "*batch m"]
) -> Float[Tensor, "*batch"]:
    """The weight of all text keys together, from the scores of both."""
    n = text.shape[-1]
    return torch.cat([text, image], dim=-1).softmax(-1)[..., :n].sum(-1)


def joint_output(
    text: Float[Tensor, "*#batch n"],
    V: Float[Tensor, "*#batch n d_v"],
    image: Float[Tensor, "*#batch m"],
    U: Float[Tensor, "*#batch m d_v"],
) -> Float[Tensor, "*batch d_v"]:
    """The output of one query, from the scores and values of text and image."""
    weights = torch.cat([text, image], dim=-1).softmax(-1)  # (*batch, n + m)
    return (weights.unsqueeze(-2) @ torch.cat([V, U], dim=-2)).squeeze(-2)


# --8<-- [end:share]
