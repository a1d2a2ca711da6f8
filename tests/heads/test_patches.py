"""Patches against loops over pixels, the embedding against PyTorch's convolution and unfold, the steps against its attention."""

import pytest
import torch
from torch.nn import Conv2d
from torch.nn.functional import scaled_dot_product_attention, unfold

from snippets.heads.module import MultiHeadAttention
from snippets.heads.patches import (
    assemble,
    embed_by_convolution,
    embed_patches,
    grid,
    patch_attention_steps,
    patchify,
    patchify_wrong,
    project_patches,
    unpatchify,
)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


SIZES = [((), 1, 1, 1, 1), ((), 3, 2, 4, 2), ((2,), 1, 3, 2, 3), ((0,), 2, 2, 2, 2)]  # leading axes, C, a, b, p


@pytest.mark.parametrize(("leading", "C", "a", "b", "p"), SIZES)
def test_a_patch_holds_its_pixels_channel_by_channel_row_by_row(leading, C, a, b, p):
    (image,) = random(0, (*leading, C, a * p, b * p))
    patches = patchify(image, patch_size=p)
    assert patches.shape == (*leading, a * b, C * p * p)
    for r in range(a):
        for s in range(b):
            square = image[..., r * p : (r + 1) * p, s * p : (s + 1) * p]
            assert patches[..., r * b + s, :].equal(square.flatten(-3))


@pytest.mark.parametrize(("C", "a", "b", "p"), [(1, 1, 1, 1), (3, 2, 4, 2), (2, 3, 1, 3)])
def test_patchify_is_unfold(C, a, b, p):
    (image,) = random(1, (2, C, a * p, b * p))
    torch.testing.assert_close(patchify(image, patch_size=p), unfold(image, p, stride=p).mT)


@pytest.mark.parametrize(("leading", "C", "a", "b", "p"), SIZES)
def test_patches_join_to_the_image(leading, C, a, b, p):
    (image,) = random(2, (*leading, C, a * p, b * p))
    assert unpatchify(patchify(image, patch_size=p), patch_size=p, width=b * p).equal(image)
    assert assemble(grid(image, patch_size=p)).equal(image)
    assert grid(image, patch_size=p).shape == (*leading, C, a, p, b, p)


@pytest.mark.parametrize(("C", "a", "b", "p", "d"), [(1, 1, 1, 1, 1), (3, 2, 4, 2, 5), (2, 3, 1, 3, 4)])
def test_the_embedding_is_pytorchs_convolution_with_the_side_as_its_stride(C, a, b, p, d):
    layer = Conv2d(C, d, p, stride=p, bias=False, dtype=torch.float64)
    (image,) = random(3, (2, C, a * p, b * p))
    expected = layer(image).permute(0, 2, 3, 1)
    torch.testing.assert_close(embed_patches(image, layer.weight), expected)
    torch.testing.assert_close(embed_by_convolution(image, layer.weight), expected)
    torch.testing.assert_close(embed_by_convolution(image[0], layer.weight), expected[0])


def test_another_order_of_the_pixels_with_the_matrix_in_that_order_changes_nothing():
    image, kernel = random(4, (3, 4, 6), (5, 3, 2, 2))
    patches, matrix = patchify(image, patch_size=2), kernel.flatten(1).mT  # (6, 12), (12, 5)
    order = torch.randperm(12, generator=torch.Generator().manual_seed(0))
    embedded = embed_patches(image, kernel).flatten(0, 1)
    torch.testing.assert_close(patches[:, order] @ matrix[order], embedded)
    assert not torch.allclose(patches[:, order] @ matrix, embedded)


def test_a_reshape_in_place_of_the_cut_gives_other_pixels():
    (image,) = random(5, (2, 3, 4, 4))
    assert patchify_wrong(image, patch_size=2).shape == patchify(image, patch_size=2).shape
    assert not patchify_wrong(image, patch_size=2).equal(patchify(image, patch_size=2))
    # It is right only by accident: for one channel in patches of one pixel, or a single patch.
    assert patchify_wrong(image[:, :1], patch_size=1).equal(patchify(image[:, :1], patch_size=1)) and patchify_wrong(
        image, patch_size=4
    ).equal(patchify(image, patch_size=4))


def test_the_steps_are_attention():
    X, W_Q, W_K, W_V, W_O = random(6, (2, 9, 6), (6, 3), (6, 3), (6, 4), (4, 6))
    Q, K, V, S, P, O, Y = patch_attention_steps(X, W_Q, W_K, W_V, W_O)
    torch.testing.assert_close(S, torch.einsum("bnd,dk,ek,bme->bnm", X, W_Q, W_K, X) / 3**0.5)
    torch.testing.assert_close(P, scaled_dot_product_attention(Q, K, torch.eye(9, dtype=torch.float64).expand(2, 9, 9)))
    torch.testing.assert_close(O, scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V))
    torch.testing.assert_close(Y, O @ W_O)
    assert V.equal(X @ W_V) and Q.equal(project_patches(X, W_Q))


def test_the_steps_are_our_layer_with_one_head_and_no_bias():
    layer, (X,) = MultiHeadAttention(6, 1, bias=False).double(), random(7, (2, 9, 6))
    matrices = [part.weight.T for part in (layer.query, layer.key, layer.value, layer.output)]
    torch.testing.assert_close(patch_attention_steps(X, *matrices)[-1], layer(X))


def test_a_black_patch_attends_to_all_alike_and_brings_nothing():
    X, W_Q, W_K, W_V, W_O = random(8, (9, 6), (6, 3), (6, 3), (6, 4), (4, 6))
    X[2] = 0
    _, _, V, _, P, O, _ = patch_attention_steps(X, W_Q, W_K, W_V, W_O)
    torch.testing.assert_close(P[2], torch.full((9,), 1 / 9, dtype=torch.float64))
    torch.testing.assert_close(O[2], V.mean(0))
    assert V[2].eq(0).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda z: patchify(z(3, 4, 4), patch_size=3),
            r"a patch_size of 3 does not divide image \(3, 4, 4\); expected image \(..., C, H, W\)",
        ),
        (lambda z: patchify(z(3, 4, 6), patch_size=4), r"a patch_size of 4 does not divide image \(3, 4, 6\)"),
        (lambda z: patchify(z(3, 4, 4), patch_size=0), r"a patch_size of 0 does not divide"),
        (lambda z: unpatchify(patchify(z(1, 4, 4), patch_size=2), patch_size=2, width=5), "a patch_size of 2 does not divide the width 5"),
        (lambda z: unpatchify(z(4, 4), patch_size=2, width=0), "does not divide the width 0"),
    ],
)
def test_sides_that_do_not_divide_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(torch.zeros)


def test_a_convolution_that_would_crop_the_image_is_refused():
    image, kernel = random(21, (3, 5, 4), (6, 3, 2, 2))
    with pytest.raises(ValueError, match="a patch_size of 2 does not divide image"):
        embed_by_convolution(image, kernel)


@pytest.mark.parametrize("patch_size", [0, -2])
def test_patches_without_a_side_are_refused(patch_size):
    with pytest.raises(ValueError, match="does not divide the width 4"):
        unpatchify(torch.zeros(4, 4), patch_size=patch_size, width=4)


def test_convolutions_crop_where_our_functions_refuse():
    image, kernel = random(22, (3, 5, 7), (6, 3, 2, 2))
    assert torch.nn.functional.conv2d(image, kernel, stride=2).shape == (6, 2, 3)
    with pytest.raises(ValueError, match="does not divide image"):
        embed_patches(image, kernel)
