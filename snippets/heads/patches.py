"""Attention among the patches of an image.

The pixels of each patch become a row; patches are in reading order:

--8<-- [start:example-cut]
>>> import torch
>>> from snippets.heads.patches import patchify, unpatchify
>>> image = torch.arange(16.0).view(1, 4, 4)  # (C, H, W)
>>> image.tolist()
[[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0]]]
>>> patches = patchify(image, patch_size=2)
>>> patches.tolist()
[[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0], [8.0, 9.0, 12.0, 13.0], [10.0, 11.0, 14.0, 15.0]]
>>> unpatchify(patches, patch_size=2, width=4).equal(image)
True
>>> patchify(image, patch_size=3)
Traceback (most recent call last):
ValueError: a patch_size of 3 does not divide image (1, 4, 4); expected image (..., C, H, W)

--8<-- [end:example-cut]

A reshape alone gives the right shape, but strips instead of squares:

--8<-- [start:example-wrong]
>>> from snippets.heads.patches import patchify_wrong
>>> image = torch.arange(16.0).view(1, 4, 4)
>>> patchify_wrong(image, patch_size=2).tolist()
[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0]]

--8<-- [end:example-wrong]

An image of 224 by 224 pixels, in patches of 16:

--8<-- [start:example-embed]
>>> from snippets.heads.patches import embed_by_convolution, embed_patches
>>> generator = torch.Generator().manual_seed(0)
>>> image = torch.randn(3, 224, 224, generator=generator)  # (C, H, W)
>>> kernel = torch.randn(64, 3, 16, 16, generator=generator)  # (d, C, p, p)
>>> embedded = embed_patches(image, kernel)
>>> tuple(patchify(image, patch_size=16).shape), tuple(embedded.shape)
((196, 768), (14, 14, 64))
>>> torch.allclose(embedded, embed_by_convolution(image, kernel), atol=1e-3)
True

--8<-- [end:example-embed]

Attention among the patches, with all shapes:

--8<-- [start:example-steps]
>>> from snippets.heads.patches import patch_attention_steps
>>> X = embedded.flatten(0, 1)  # (N, d)
>>> sizes = (64, 16), (64, 16), (64, 16), (16, 64)  # of W_Q, W_K, W_V, W_O
>>> matrices = [torch.randn(size, generator=generator) / size[0] ** 0.5 for size in sizes]
>>> for name, tensor in zip("Q K V S P O Y".split(), patch_attention_steps(X, *matrices)):
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
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import conv2d

from snippets.attention.formula import scores


# --8<-- [start:cut]
def grid(
    image: Float[Tensor, "*batch C H W"], *, patch_size: int
) -> Float[Tensor, "*batch C a p b p"]:
    """The image, with its rows and columns split into patches.

    Raises ValueError if patch_size does not divide H and W.
    """
    height, width = image.shape[-2:]
    if patch_size < 1 or height % patch_size or width % patch_size:
        raise ValueError(
            f"a patch_size of {patch_size} does not divide image "
            f"{tuple(image.shape)}; expected image (..., C, H, W)"
        )
    rows = image.unflatten(-1, (-1, patch_size))  # (*batch, C, H, b, p)
    return rows.unflatten(-3, (-1, patch_size))


def patchify(
    image: Float[Tensor, "*batch C H W"], *, patch_size: int
) -> Float[Tensor, "*batch N pixels"]:
    """The patches of an image, each flattened: channel by channel, row by row.

    Raises ValueError if patch_size does not divide H and W.
    """
    cut = grid(image, patch_size=patch_size)
    rows = cut.movedim((-4, -2), (-5, -4))  # (*batch, a, b, C, p, p)
    return rows.flatten(-3).flatten(-3, -2)


# --8<-- [end:cut]


# --8<-- [start:join]
def assemble(
    grid: Float[Tensor, "*batch C a p b p"],
) -> Float[Tensor, "*batch C a*p b*p"]:
    """The image, put together again."""
    return grid.flatten(-2).flatten(-3, -2)


def unpatchify(
    patches: Float[Tensor, "*batch N pixels"], *, patch_size: int, width: int
) -> Float[Tensor, "*batch C H W"]:
    """The image, from its flattened patches.

    Raises ValueError if patch_size does not divide the width, and
    RuntimeError if the patches do not fill whole rows.
    """
    if patch_size < 1 or width < 1 or width % patch_size:
        raise ValueError(
            f"a patch_size of {patch_size} does not divide the width {width}"
        )
    square = -1, patch_size, patch_size
    rows = patches.unflatten(-1, square)  # (*batch, N, C, p, p)
    rows = rows.unflatten(-4, (-1, width // patch_size))
    return assemble(rows.movedim((-5, -4), (-4, -2)))


# --8<-- [end:join]


# --8<-- [start:wrong]
def patchify_wrong(
    image: Float[Tensor, "*batch C H W"], *, patch_size: int
) -> Float[Tensor, "*batch N pixels"]:
    """Wrong: the right shape, but the rows are not patches.

    Raises RuntimeError if the pixels do not fill whole rows.
    """
    pixels = image.shape[-3] * patch_size**2
    return image.reshape(*image.shape[:-3], -1, pixels)


# --8<-- [end:wrong]


# --8<-- [start:embed]
def embed_patches(
    image: Float[Tensor, "*batch C H W"], kernel: Float[Tensor, "d C p p"]
) -> Float[Tensor, "*batch a b d"]:
    """Each flattened patch, multiplied by a matrix: the flattened kernels.

    Raises ValueError if the kernels' side does not divide H and W.
    """
    patch_size = kernel.shape[-1]
    patches = patchify(image, patch_size=patch_size)
    tokens = patches @ kernel.flatten(1).mT  # (*batch, N, d)
    return tokens.unflatten(-2, (-1, image.shape[-1] // patch_size))


def embed_by_convolution(
    image: Float[Tensor, "*batch C H W"], kernel: Float[Tensor, "d C p p"]
) -> Float[Tensor, "*batch a b d"]:
    """The same by a convolution with the side of a patch as its stride.

    As in PyTorch, the image has at most one batch axis.
    Raises ValueError if the kernels' side does not divide H and W.
    """
    patch_size = kernel.shape[-1]
    grid(image, patch_size=patch_size)  # rejects what conv2d would crop
    return conv2d(image, kernel, stride=patch_size).movedim(-3, -1)


# --8<-- [end:embed]


# --8<-- [start:steps]
def project_patches(
    X: Float[Tensor, "*#batch N d"], W: Float[Tensor, "*#batch d d_k"]
) -> Float[Tensor, "*batch N d_k"]:
    """A layer without bias or activation."""
    return X @ W


def patch_attention_steps(
    X: Float[Tensor, "*#batch N d"],
    W_Q: Float[Tensor, "*#batch d d_k"],
    W_K: Float[Tensor, "*#batch d d_k"],
    W_V: Float[Tensor, "*#batch d d_v"],
    W_O: Float[Tensor, "*#batch d_v d"],
) -> tuple[Float[Tensor, "*batch N _"], ...]:
    """One head on embedded patches X: Q, K, V, S, P, O and the output Y."""
    Q, K, V = (project_patches(X, W) for W in (W_Q, W_K, W_V))
    S = scores(Q, K)  # (*batch, N, N)
    P = torch.softmax(S, dim=-1)  # (*batch, N, N)
    O = P @ V  # (*batch, N, d_v)
    return Q, K, V, S, P, O, project_patches(O, W_O)


# --8<-- [end:steps]
