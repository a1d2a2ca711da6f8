"""Products of batches against loops, swaps against reshapes, and what each axis of a softmax makes sum to one."""

from fractions import Fraction
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.masks import mask_scores
from snippets.softmax.axes import batched_product, mix_values, normalised_axes, sums, swap_last_axes
from snippets.softmax.distribution import softmax
from tests.shapes import mutually_broadcastable_shapes

varied = settings(derandomize=True, deadline=None, max_examples=30)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


# Products


def test_a_product_of_batches_has_the_shape_of_the_source_and_the_entries_of_a_loop():
    A, B = random(0, (10, 3, 4), (10, 4, 5))
    product = batched_product(A, B)
    assert product.shape == (10, 3, 5)
    left, right = A.tolist(), B.tolist()
    expected = [[[sum(left[a][i][k] * right[a][k][j] for k in range(4)) for j in range(5)] for i in range(3)] for a in range(10)]
    torch.testing.assert_close(product, torch.tensor(expected, dtype=torch.float64))


@given(mutually_broadcastable_shapes(signature="(n,m),(m,p)->(n,p)", max_side=4), st.integers(0, 99))
@varied
def test_products_for_any_leading_axes(shapes, seed):
    A, B = random(seed, *shapes.input_shapes)
    product = batched_product(A, B)
    assert product.shape == shapes.result_shape
    torch.testing.assert_close(product, torch.einsum("...nm,...mp->...np", A, B))
    torch.testing.assert_close(swap_last_axes(product), batched_product(swap_last_axes(B), swap_last_axes(A)))


def test_an_empty_batch_has_an_empty_product():
    assert batched_product(torch.zeros(0, 3, 4), torch.zeros(0, 4, 5)).shape == (0, 3, 5)


def test_a_matrix_of_a_batch_does_not_see_another():
    A, B = random(1, (3, 2, 4), (3, 4, 2))
    changed = A.clone()
    changed[1] += 1
    before, after = batched_product(A, B), batched_product(changed, B)
    assert torch.equal(before[[0, 2]], after[[0, 2]]) and not torch.allclose(before[1], after[1])


def test_swapping_is_no_reshape_and_no_reversal_of_all_axes():
    (X,) = random(2, (2, 3, 4))
    swapped = swap_last_axes(X)
    assert swapped.shape == (2, 4, 3) and X.permute(2, 1, 0).shape == (4, 3, 2)
    assert all(swapped[a, j, i] == X[a, i, j] for a in range(2) for i in range(3) for j in range(4))
    assert not torch.equal(swapped, X.reshape(2, 4, 3))
    assert torch.equal(swap_last_axes(swapped), X)


# Softmax along each axis


@pytest.mark.parametrize(("dim", "shape"), [(0, (3, 4)), (1, (2, 4)), (2, (2, 3))])
def test_each_axis_of_a_2_3_4_tensor(dim, shape):
    (X,) = random(3, (2, 3, 4))
    assert sums(X, dim=dim).shape == shape
    torch.testing.assert_close(sums(X, dim=dim), torch.ones(shape, dtype=torch.float64))
    weights = X.exp() / X.exp().sum(dim, keepdim=True)
    assert normalised_axes(weights) == [dim]
    assert weights.sum().item() == pytest.approx(24 / X.shape[dim])


@pytest.mark.parametrize(("dim", "first"), [(0, "1/14 13/14"), (1, "1/15 1/3 3/5"), (2, "1/10 1/5 3/10 2/5")])
def test_every_entry_of_the_three_softmaxes_of_a_2_3_4_tensor(dim, first):
    """Scores are the logarithms of 1 to 24, so that each weight is a number over a sum of numbers: fractions, and no exponentials."""
    number = {place: 12 * place[0] + 4 * place[1] + place[2] + 1 for place in product(range(2), range(3), range(4))}
    scores = torch.tensor(list(number.values()), dtype=torch.float64).log().reshape(2, 3, 4)
    found = softmax(scores.movedim(dim, -1)).movedim(-1, dim)
    line = {place: [number[place[:dim] + (k,) + place[dim + 1 :]] for k in range((2, 3, 4)[dim])] for place in number}
    expected = {place: Fraction(number[place], sum(line[place])) for place in number}
    assert " ".join(str(expected[(0,) * dim + (k,) + (0,) * (2 - dim)]) for k in range((2, 3, 4)[dim])) == first
    torch.testing.assert_close(found, torch.tensor([float(weight) for weight in expected.values()]).double().reshape(2, 3, 4))
    torch.testing.assert_close(found, torch.softmax(scores, dim))


def test_normalised_axes_of_equal_weights_and_of_none():
    assert normalised_axes(torch.full((3, 3), 1 / 3)) == [0, 1]
    assert normalised_axes(torch.ones(2, 3)) == []
    assert normalised_axes(torch.full((1, 4), 0.25)) == [1]


@pytest.mark.parametrize(("shape", "dim"), [((5,), 0), ((2, 3), 1), ((2, 3, 4), 0), ((2, 3, 4, 5), 1)])
def test_without_an_axis_pytorch_warns_and_takes_the_first_of_three(shape, dim):
    (X,) = random(4, shape)
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax has been deprecated"):
        weights = torch.nn.functional.softmax(X)
    assert torch.equal(weights, torch.softmax(X, dim))


# The wrong axis


def test_mix_is_attention_along_the_last_axis_only():
    scores, value = random(5, (2, 3, 4), (2, 4, 5))
    eye = torch.eye(4, dtype=torch.float64).expand(2, 4, 4)
    expected = scaled_dot_product_attention(scores, eye, value, scale=1.0)  # keys that show the scores
    torch.testing.assert_close(mix_values(scores, value), expected)
    assert not torch.allclose(mix_values(scores, value, dim=-2), expected)


@pytest.mark.parametrize("keys", [1, 2, 7])
def test_one_query_along_the_wrong_axis_adds_up_all_values(keys):
    scores, value = random(6, (1, keys), (keys, 3))
    torch.testing.assert_close(mix_values(scores, value, dim=-2), value.sum(0, keepdim=True))
    torch.testing.assert_close(mix_values(scores, value, dim=-2), mix_values(5 * scores, value, dim=-2))


@pytest.mark.parametrize("dim", [-1, -2])
def test_queries_see_each_other_along_the_wrong_axis_only(dim):
    (S,) = random(7, (3, 4))
    eye = torch.eye(4, dtype=torch.float64)  # values that show the weights
    slopes = torch.func.jacrev(lambda S: mix_values(S, eye, dim=dim))(S)  # (i, j, u, l)
    weights, rows, columns = torch.softmax(S, dim), torch.eye(3), torch.eye(4)
    if dim == -1:
        expected = torch.einsum("iu,ij,ijl->ijul", rows.double(), weights, columns - weights.unsqueeze(1))
    else:
        expected = torch.einsum("jl,ij,iuj->ijul", columns.double(), weights, rows.unsqueeze(-1) - weights)
    torch.testing.assert_close(slopes, expected)
    others = slopes[0, :, 1:]  # of the first query's weights, by the others' scores
    assert (others == 0).all() if dim == -1 else (others != 0).any()


@pytest.mark.parametrize("dim", [-1, -2])
def test_under_a_causal_mask_the_wrong_axis_leaks_later_tokens(dim):
    S, value = random(8, (4, 4), (4, 3))
    later = S.clone()
    later[3] += torch.tensor([1.0, 2.0, 3.0, 4.0])
    before, after = (mix_values(mask_scores(scores, is_causal=True), value, dim=dim)[:3] for scores in (S, later))
    assert torch.equal(before, after) == (dim == -1)
