"""Patches against loops over pixels, the embedding against PyTorch's convolution and unfold, the steps against its attention."""

import pytest
import torch
from torch.nn import Conv2d
from torch.nn.functional import scaled_dot_product_attention, unfold

from snippets.heads.module import MultiHeadAttention
from snippets.heads.patches import assemble, cut, cut_wrongly, embed_by_convolution, embed_patches, grid, join, project, steps


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


SIZES = [((), 1, 1, 1, 1), ((), 3, 2, 4, 2), ((2,), 1, 3, 2, 3), ((0,), 2, 2, 2, 2)]  # leading axes, C, a, b, p


@pytest.mark.parametrize(("leading", "C", "a", "b", "p"), SIZES)
def test_a_patch_holds_its_pixels_channel_by_channel_row_by_row(leading, C, a, b, p):
    (image,) = random(0, (*leading, C, a * p, b * p))
    patches = cut(image, p)
    assert patches.shape == (*leading, a * b, C * p * p)
    for r in range(a):
        for s in range(b):
            square = image[..., r * p : (r + 1) * p, s * p : (s + 1) * p]
            assert patches[..., r * b + s, :].equal(square.flatten(-3))


@pytest.mark.parametrize(("C", "a", "b", "p"), [(1, 1, 1, 1), (3, 2, 4, 2), (2, 3, 1, 3)])
def test_cut_is_unfold(C, a, b, p):
    (image,) = random(1, (2, C, a * p, b * p))
    torch.testing.assert_close(cut(image, p), unfold(image, p, stride=p).mT)


@pytest.mark.parametrize(("leading", "C", "a", "b", "p"), SIZES)
def test_patches_join_to_the_image(leading, C, a, b, p):
    (image,) = random(2, (*leading, C, a * p, b * p))
    assert join(cut(image, p), p, b * p).equal(image)
    assert assemble(grid(image, p)).equal(image)
    assert grid(image, p).shape == (*leading, C, a, p, b, p)


@pytest.mark.parametrize(("C", "a", "b", "p", "d"), [(1, 1, 1, 1, 1), (3, 2, 4, 2, 5), (2, 3, 1, 3, 4)])
def test_the_embedding_is_pytorchs_convolution_with_the_side_as_its_stride(C, a, b, p, d):
    layer = Conv2d(C, d, p, stride=p, bias=False, dtype=torch.float64)
    (image,) = random(3, (2, C, a * p, b * p))
    expected = layer(image).permute(0, 2, 3, 1)
    torch.testing.assert_close(embed_patches(image, layer.weight), expected)
    torch.testing.assert_close(embed_by_convolution(image, layer.weight), expected)
    torch.testing.assert_close(embed_by_convolution(image[0], layer.weight), expected[0])


def test_another_order_of_the_pixels_with_the_matrix_in_that_order_changes_nothing():
    T, G = random(4, (6, 12), (12, 5))
    order = torch.randperm(12, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(T[:, order] @ G[order], T @ G)
    assert not torch.allclose(T[:, order] @ G, T @ G)


def test_a_reshape_in_place_of_the_cut_gives_other_pixels():
    (image,) = random(5, (2, 3, 4, 4))
    assert cut_wrongly(image, 2).shape == cut(image, 2).shape
    assert not cut_wrongly(image, 2).equal(cut(image, 2))
    # It is right only by accident: for one channel in patches of one pixel, or a single patch.
    assert cut_wrongly(image[:, :1], 1).equal(cut(image[:, :1], 1)) and cut_wrongly(image, 4).equal(cut(image, 4))


def test_the_steps_are_attention():
    X, W_Q, W_K, W_V, W_O = random(6, (2, 9, 6), (6, 3), (6, 3), (6, 4), (4, 6))
    Q, K, V, S, P, O, Y = steps(X, W_Q, W_K, W_V, W_O)
    torch.testing.assert_close(S, torch.einsum("bnd,dk,ek,bme->bnm", X, W_Q, W_K, X) / 3**0.5)
    torch.testing.assert_close(P, scaled_dot_product_attention(Q, K, torch.eye(9, dtype=torch.float64).expand(2, 9, 9)))
    torch.testing.assert_close(O, scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V))
    torch.testing.assert_close(Y, O @ W_O)
    assert V.equal(X @ W_V) and Q.equal(project(X, W_Q))


def test_the_steps_are_our_layer_with_one_head_and_no_bias():
    layer, (X,) = MultiHeadAttention(6, 1, bias=False).double(), random(7, (2, 9, 6))
    matrices = [part.weight.T for part in (layer.query, layer.key, layer.value, layer.output)]
    torch.testing.assert_close(steps(X, *matrices)[-1], layer(X))


def test_a_black_patch_attends_to_all_alike_and_brings_nothing():
    X, W_Q, W_K, W_V, W_O = random(8, (9, 6), (6, 3), (6, 3), (6, 4), (4, 6))
    X[2] = 0
    _, _, V, _, P, O, _ = steps(X, W_Q, W_K, W_V, W_O)
    torch.testing.assert_close(P[2], torch.full((9,), 1 / 9, dtype=torch.float64))
    torch.testing.assert_close(O[2], V.mean(0))
    assert V[2].eq(0).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda z: cut(z(3, 4, 4), 3), r"a side of 3 does not divide image \(3, 4, 4\); expected image \(..., C, H, W\)"),
        (lambda z: cut(z(3, 4, 6), 4), r"a side of 4 does not divide image \(3, 4, 6\)"),
        (lambda z: cut(z(3, 4, 4), 0), r"a side of 0 does not divide"),
        (lambda z: grid(z(4, 4), 2), r"image \(4, 4\) has too few axes"),
        (lambda z: assemble(z(1, 2, 3, 2, 2)), r"p is 3 in grid \(1, 2, 3, 2, 2\) but 2 in grid"),
        (lambda z: embed_patches(z(3, 4, 4), z(5, 2, 2, 2)), r"C is 3 in image \(3, 4, 4\) but 2 in kernel \(5, 2, 2, 2\)"),
        (lambda z: embed_by_convolution(z(3, 4, 4), z(5, 3, 2, 1)), r"p is 2 in kernel \(5, 3, 2, 1\) but 1 in kernel"),
        (lambda z: project(z(9, 6), z(5, 3)), r"d is 6 in X \(9, 6\) but 5 in W \(5, 3\)"),
    ],
)
def test_mismatched_shapes_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(torch.zeros)
