"""Attention between the patches of an image.

The pixels of each patch become a row, patches in reading order:

--8<-- [start:example-cut]
>>> import torch
>>> from snippets.heads.patches import cut, cut_wrongly, join
>>> image = torch.arange(16).view(1, 4, 4)  # (C, H, W)
>>> image.tolist()
[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]]
>>> patches = cut(image, side=2)
>>> patches.tolist()
[[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
>>> join(patches, side=2, width=4).equal(image)
True
>>> cut(image, side=3)
Traceback (most recent call last):
ValueError: a side of 3 does not divide image (1, 4, 4); expected image (..., C, H, W)

--8<-- [end:example-cut]

A reshape alone has the right shape too, but gives strips in place of squares:

--8<-- [start:example-wrong]
>>> image = torch.arange(16).view(1, 4, 4)
>>> cut_wrongly(image, side=2).tolist()
[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]

--8<-- [end:example-wrong]

An image as large as those of the first vision transformer:

--8<-- [start:example-embed]
>>> from snippets.heads.patches import embed_by_convolution, embed_patches
>>> generator = torch.Generator().manual_seed(0)
>>> image = torch.randn(3, 224, 224, generator=generator)  # (C, H, W)
>>> kernel = torch.randn(64, 3, 16, 16, generator=generator)  # (d, C, p, p)
>>> embedded = embed_patches(image, kernel)
>>> tuple(cut(image, 16).shape), tuple(embedded.shape)
((196, 768), (14, 14, 64))
>>> torch.allclose(embedded, embed_by_convolution(image, kernel), atol=1e-3)
True

--8<-- [end:example-embed]

The four steps, with every shape:

--8<-- [start:example-steps]
>>> from snippets.heads.patches import steps
>>> X = embedded.flatten(0, 1)  # (N, d)
>>> sizes = (64, 16), (64, 16), (64, 16), (16, 64)  # of W_Q, W_K, W_V, W_O
>>> matrices = [torch.randn(size, generator=generator) / size[0] ** 0.5 for size in sizes]
>>> for name, tensor in zip("Q K V S P O Y".split(), steps(X, *matrices)):
...     print(name, tuple(tensor.shape))
Q (196, 16)
K (196, 16)
V (196, 16)
S (196, 196)
P (196, 196)
O (196, 16)
Y (196, 64)

--8<-- [end:example-steps]
"""

import torch
from torch import Tensor
from torch.nn.functional import conv2d

from snippets.attention.formula import scores
from snippets.shapes import check_shapes


# --8<-- [start:cut]
def grid(image: Tensor, side: int) -> Tensor:
    """The image with its rows and columns counted by patch, and by pixel within a patch."""
    check_shapes("image: C H W", image)
    if side < 1 or image.shape[-2] % side or image.shape[-1] % side:
        raise ValueError(
            f"a side of {side} does not divide image {tuple(image.shape)}; "
            "expected image (..., C, H, W)"
        )
    return image.unflatten(-1, (-1, side)).unflatten(
        -3, (-1, side)
    )  # (..., C, a, p, b, p)


def cut(image: Tensor, side: int) -> Tensor:
    """The patches of an image, each flattened: channel by channel, row by row."""
    rows = grid(image, side).movedim((-4, -2), (-5, -4))  # (..., a, b, C, p, p)
    return rows.flatten(-3).flatten(-3, -2)  # (..., a * b, C * p * p)


# --8<-- [end:cut]


# --8<-- [start:join]
def assemble(grid: Tensor) -> Tensor:
    """The image again."""
    check_shapes("grid: C a p b p", grid)
    return grid.flatten(-2).flatten(
        -3, -2
    )  # (..., C, a, p, b, p) -> (..., C, a * p, b * p)


def join(patches: Tensor, side: int, width: int) -> Tensor:
    """The image again from its flattened patches."""
    rows = patches.unflatten(-1, (-1, side, side))  # (..., N, C, p, p)
    rows = rows.unflatten(-4, (-1, width // side))  # (..., a, b, C, p, p)
    return assemble(
        rows.movedim((-5, -4), (-4, -2))
    )  # (..., C, a, p, b, p) -> (..., C, H, W)


# --8<-- [end:join]


# --8<-- [start:wrong]
def cut_wrongly(image: Tensor, side: int) -> Tensor:
    """The slip: as many rows and columns as there should be, but not of patches."""
    return image.reshape(
        *image.shape[:-3], -1, image.shape[-3] * side**2
    )  # (..., N, C * p * p)


# --8<-- [end:wrong]


# --8<-- [start:embed]
def embed_patches(image: Tensor, kernel: Tensor) -> Tensor:
    """Each patch flattened and multiplied by a matrix: the kernels, flattened alike."""
    check_shapes("image: C H W, kernel: d C p p", image, kernel)
    side = kernel.shape[-1]
    tokens = (
        cut(image, side) @ kernel.flatten(1).mT
    )  # (..., N, C p p) (C p p, d) -> (..., N, d)
    return tokens.unflatten(-2, (-1, image.shape[-1] // side))  # (..., a, b, d)


def embed_by_convolution(image: Tensor, kernel: Tensor) -> Tensor:
    """The same by a convolution that moves on by the side of a patch. At most one axis leads."""
    check_shapes("image: C H W, kernel: d C p p", image, kernel)
    return conv2d(image, kernel, stride=kernel.shape[-1]).movedim(
        -3, -1
    )  # (..., a, b, d)


# --8<-- [end:embed]


# --8<-- [start:steps]
def project(X: Tensor, W: Tensor) -> Tensor:
    """A layer without bias or activation."""
    check_shapes("X: N d, W: d d_k", X, W)
    return X @ W  # (..., N, d) (d, d_k) -> (..., N, d_k)


def steps(
    X: Tensor, W_Q: Tensor, W_K: Tensor, W_V: Tensor, W_O: Tensor
) -> tuple[Tensor, ...]:
    """One head on embedded patches X, without a mask or another context."""
    Q, K, V = (
        project(X, W) for W in (W_Q, W_K, W_V)
    )  # (..., N, d_k) twice, (..., N, d_v)
    S = scores(Q, K)  # (..., N, N)
    P = torch.softmax(S, dim=-1)  # (..., N, N)
    O = P @ V  # (..., N, d_v)
    return Q, K, V, S, P, O, project(O, W_O)  # the last: (..., N, d)


# --8<-- [end:steps]
