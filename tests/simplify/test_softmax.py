"""Test what softmax does not preserve: sums, factors, matrix products, and rank."""

from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.simplify.softmax import matrix_after, matrix_inside, rank_one_scores
from snippets.softmax.distribution import softmax
from tests.shapes import mutually_broadcastable_shapes

varied = settings(derandomize=True, deadline=None, max_examples=60)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def test_softmax_is_neither_homogeneous_nor_additive():
    z = torch.tensor([1.0, 3.0], dtype=torch.float64).log()
    one, two = softmax(z), softmax(2 * z)
    torch.testing.assert_close(one, torch.tensor([1 / 4, 3 / 4], dtype=torch.float64))
    torch.testing.assert_close(two, torch.tensor([1 / 10, 9 / 10], dtype=torch.float64))
    assert not torch.allclose(two, 2 * one)
    assert not torch.allclose(two, one + one)


@given(mutually_broadcastable_shapes(signature="(n,m),(m,p)->(n,p)", max_side=4), st.integers(0, 99))
@varied
def test_a_matrix_after_the_softmax_and_inside_it(shapes, seed):
    S, X = random(seed, *shapes.input_shapes)
    weights = S.exp() / S.exp().sum(-1, keepdim=True)
    torch.testing.assert_close(matrix_after(S, X), torch.einsum("...nm,...mp->...np", weights, X))
    inside = torch.einsum("...nm,...mp->...np", S, X).exp()
    torch.testing.assert_close(matrix_inside(S, X), inside / inside.sum(-1, keepdim=True))
    assert matrix_after(S, X).shape == matrix_inside(S, X).shape == shapes.result_shape


def test_a_matrix_cannot_be_moved_inside():
    S, X = torch.zeros(2, 2), torch.tensor([[1.0, 0.0], [0.0, 3.0]])
    assert matrix_after(S, X).tolist() == [[0.5, 1.5], [0.5, 1.5]]
    assert matrix_inside(S, X).tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_matrix_after_is_attention():
    query, key, value = random(0, (2, 5, 8), (2, 7, 8), (2, 7, 3))
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close(matrix_after(query @ key.mT / 8**0.5, value), expected)


def test_scores_of_rank_one_give_weights_of_rank_three():
    S = rank_one_scores(torch.tensor([0.0, 1.0, 2.0]).double(), torch.tensor([1.0, 2.0, 3.0]).double().log())
    P = torch.softmax(S, dim=-1)
    assert torch.linalg.matrix_rank(S).item() == 1
    assert torch.linalg.matrix_rank(P).item() == 3
    # exp(S) holds the powers 0, 1 and 2 of 1, 2 and 3, a Vandermonde matrix with determinant 2; its rows sum to 3, 6
    # and 14, so that the determinant of the weights is 2 / (3 * 6 * 14).
    rows = [[Fraction(base**power, sum(b**power for b in (1, 2, 3))) for base in (1, 2, 3)] for power in (0, 1, 2)]
    torch.testing.assert_close(P, torch.tensor([[float(p) for p in row] for row in rows], dtype=torch.float64))
    assert torch.linalg.det(P).item() == pytest.approx(1 / 126)


@given(mutually_broadcastable_shapes(signature="(n),(m)->(n,m)", max_side=5), st.integers(0, 99))
@varied
def test_rank_one_scores_are_outer_products(shapes, seed):
    q, k = random(seed, *shapes.input_shapes)
    S = rank_one_scores(q, k)
    assert S.shape == shapes.result_shape
    torch.testing.assert_close(S, torch.einsum("...n,...m->...nm", q, k))
    assert (torch.linalg.matrix_rank(S) == 1).all()


def test_rank_one_scores_refuse_leading_axes_that_do_not_broadcast():
    with pytest.raises(RuntimeError, match="must match"):
        rank_one_scores(torch.zeros(2, 3), torch.zeros(4, 3))
