"""Vision transformers: class token, mean pooling, and images of other sizes.

Mean pooling, and the mean of the values:

--8<-- [start:example-pool]
>>> import torch
>>> from snippets.layers.vision import mean_pool
>>> generator = torch.Generator().manual_seed(0)
>>> kinds = dict(generator=generator, dtype=torch.float64)
>>> S, V = 2 * torch.randn(9, 9, **kinds), torch.randn(9, 3, **kinds)
>>> torch.allclose(mean_pool(S, V), S.softmax(-1).mean(0) @ V)
True
>>> torch.allclose(mean_pool(S, V), V.mean(0))
False

--8<-- [end:example-pool]

Four copies of each patch. Attention among the patches is the same as before, but the class token's output changes:

--8<-- [start:example-copies]
>>> from snippets.layers.vision import class_output, repeat_rows
>>> scores = torch.randn(9, **kinds)
>>> many = repeat_rows(scores, times=4), repeat_rows(V, times=4)
>>> torch.allclose(many[0].softmax(0) @ many[1], scores.softmax(0) @ V)
True
>>> own_score, own = torch.tensor(2.0).double(), torch.randn(3, **kinds)
>>> before = class_output(own_score, own, scores, V)
>>> torch.allclose(class_output(own_score, own, *many), before)
False

--8<-- [end:example-copies]

The class token's score, raised so that four times the patches make no difference:

--8<-- [start:example-lifted]
>>> from snippets.layers.vision import score_among_copies
>>> once = class_output(own_score, own, scores, V)
>>> raised = score_among_copies(own_score, times=4)
>>> torch.allclose(class_output(raised, own, *many), once)
True

--8<-- [end:example-lifted]

A table of positions for 14 by 14 patches, enlarged. With aligned corners, old rows stay where both grids meet. PyTorch's default keeps only the corners:

--8<-- [start:example-resize]
>>> from snippets.layers.vision import resize_positions
>>> table = torch.randn(14, 14, 64, **kinds)  # (rows, columns, d)
>>> larger = resize_positions(table, rows=27, columns=27)
>>> torch.allclose(larger[::2, ::2], table)
True
>>> other = resize_positions(table, rows=28, columns=28, corners=False)
>>> gaps = torch.cdist(other.flatten(0, 1), table.flatten(0, 1)).min(1).values
>>> int((gaps < 1e-3).sum())  # only the four corners
4
>>> lengths = larger.square().sum(-1)
>>> [round(part.mean().item()) for part in (
...     lengths[::2, ::2], lengths[1::2, ::2], lengths[1::2, 1::2])]
[65, 33, 17]

--8<-- [end:example-resize]

The factor that twice the side costs ViT-B/16, from 224 pixels on:

--8<-- [start:example-cost]
>>> from snippets.layers.vision import times_the_cost
>>> for side in (224, 448, 896, 14336):
...     print(side, round(times_the_cost((side // 16) ** 2, 768), 1))
224 4.5
448 5.7
896 8.9
14336 15.9

--8<-- [end:example-cost]

From 224 pixels to 384, in patches of 16:

--8<-- [start:example-sides]
>>> import math
>>> before, after = [(side // 16) ** 2 for side in (224, 384)]
>>> before, after, round(math.log(after / before), 2)
(196, 576, 1.08)

--8<-- [end:example-sides]
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import interpolate


# --8<-- [start:class]
def class_output(
    score: Float[Tensor, ""],
    own: Float[Tensor, " d_v"],
    scores: Float[Tensor, " n"],
    values: Float[Tensor, "n d_v"],
) -> Float[Tensor, " d_v"]:
    """The class token's output, from itself and all patches:
    Dosovitskiy et al. (2021)."""
    weights = torch.cat([score[None], scores]).softmax(-1)  # (1 + n,)
    return weights @ torch.cat([own[None], values])


def repeat_rows(
    x: Float[Tensor, "n ..."], *, times: int
) -> Float[Tensor, "many ..."]:
    """Each row several times."""
    return x.repeat_interleave(times, dim=0)


# --8<-- [end:class]


# --8<-- [start:score_among_copies]
def score_among_copies(
    score: Float[Tensor, "*shape"], *, times: int
) -> Float[Tensor, "*shape"]:
    """The score that a token needs among several times as many others."""
    return score + math.log(times)


# --8<-- [end:score_among_copies]


# --8<-- [start:pool]
def mean_pool(
    S: Float[Tensor, "n n"], V: Float[Tensor, "n d_v"]
) -> Float[Tensor, " d_v"]:
    """The mean of all patches' outputs."""
    return (S.softmax(-1) @ V).mean(0)


# --8<-- [end:pool]


# --8<-- [start:resize]
def resize_positions(
    table: Float[Tensor, "a b d"],
    *,
    rows: int,
    columns: int,
    corners: bool = True,
) -> Float[Tensor, "rows columns d"]:
    """A table for another grid, by bilinear interpolation. With corners, the
    corners of both grids coincide."""
    image = table.movedim(-1, 0)[None]  # (1, d, a, b)
    resized = interpolate(
        image, (rows, columns), mode="bilinear", align_corners=corners
    )
    return resized[0].movedim(0, -1)


def squared_length(
    u: Float[Tensor, " d"],
    w: Float[Tensor, " d"],
    *,
    t: float | Float[Tensor, ""],
) -> Float[Tensor, ""]:
    """The squared length of the row at the fraction t between two others."""
    return ((1 - t) * u + t * w).square().sum()


# --8<-- [end:resize]


# --8<-- [start:cost]
def multiplications(n: int, d: int) -> int:
    """The multiplications of a block: linear layers, scores and mixing."""
    return 12 * n * d**2 + 2 * n**2 * d


def times_the_cost(n: int, d: int) -> float:
    """The factor by which twice as many pixels along each side multiply this."""
    return multiplications(4 * n, d) / multiplications(n, d)


# --8<-- [end:cost]
