"""What the two attempts give, for square and other inputs, and that the second keeps the input in its answer."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.simplify.attempts import (
    another_solution,
    commuted_merge_wrong,
    least_squares_for_scores,
    score_residual,
    solve_for_scores,
    unscaled_scores,
)
from tests.shapes import mutually_broadcastable_shapes

varied = settings(derandomize=True, deadline=None, max_examples=60)
input_and_weights = mutually_broadcastable_shapes(signature="(n,d),(d,k),(d,k)->(n,n)", max_side=4)
square_input = mutually_broadcastable_shapes(signature="(d,d),(d,k),(d,k)->(d,d)", max_side=4)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def invertible(tensor):
    """Singular values moved into [1, 2], so that solving loses no digits."""
    U, S, Vh = torch.linalg.svd(tensor, full_matrices=False)
    return U @ torch.diag_embed(1 + S / (1 + S)) @ Vh


def transposed(tensor):
    return tensor.transpose(-2, -1)


@given(input_and_weights, st.integers(0, 99))
@varied
def test_unscaled_scores(shapes, seed):
    A, Q, K = random(seed, *shapes.input_shapes)
    scores = unscaled_scores(A, Q, K)
    assert scores.shape == shapes.result_shape
    torch.testing.assert_close(scores, torch.einsum("...id,...dk,...ek,...je->...ij", A, Q, K, A))


# The commuted merge


def test_commuted_merge_is_refuted_by_a_small_whole_example():
    A, eye = torch.tensor([[0, 1], [0, 0]]), torch.eye(2, dtype=torch.int64)
    assert ((A @ eye) @ (A @ eye).T).tolist() == [[1, 0], [0, 0]]
    assert unscaled_scores(A.double(), eye.double(), eye.double()).tolist() == [[1, 0], [0, 0]]
    assert commuted_merge_wrong(A, eye, eye).tolist() == [[0, 0], [0, 0]]


@given(mutually_broadcastable_shapes(signature="(n,n),(n,n),(n,n)->(n,n)", max_side=4), st.integers(0, 99))
@varied
def test_commuted_merge_is_its_formula_and_right_for_a_number_alone(shapes, seed):
    A, Q, K = random(seed, *shapes.input_shapes)
    merged = commuted_merge_wrong(A, Q, K)
    assert merged.shape == shapes.result_shape
    torch.testing.assert_close(merged, torch.einsum("...ij,...jk,...lm,...mk->...il", A, A, Q, K))
    agrees = torch.allclose(merged, unscaled_scores(A, Q, K))
    assert agrees == (A.shape[-1] == 1)


# Solving


@given(square_input, st.integers(0, 99))
@varied
def test_the_solution_for_a_square_invertible_input_still_holds_the_input(shapes, seed):
    A, Q, K = random(seed, *shapes.input_shapes)
    A = invertible(A)
    X = solve_for_scores(A, Q, K)
    assert X.shape == shapes.result_shape
    torch.testing.assert_close(A @ X, unscaled_scores(A, Q, K))
    torch.testing.assert_close(X, (Q @ transposed(K) @ transposed(A)).expand_as(X))
    torch.testing.assert_close(solve_for_scores(2 * A, Q, K), 2 * X)


def test_the_solution_depends_on_the_input_unless_the_merged_weights_are_zero():
    eye = torch.eye(2, dtype=torch.float64)
    assert torch.equal(solve_for_scores(eye, eye, eye), eye)
    assert torch.equal(solve_for_scores(2 * eye, eye, eye), 2 * eye)
    # The features that Q reads and those that K reads are orthogonal, and neither is zero.
    Q, K = torch.tensor([[1.0, 0.0], [1.0, 0.0]]).double(), torch.tensor([[0.0, 1.0], [0.0, 1.0]]).double()
    for A in random(0, (2, 2), (2, 2)):
        torch.testing.assert_close(solve_for_scores(A, Q, K), torch.zeros_like(A))


@pytest.mark.parametrize(
    ("A", "rank"),
    [
        ([[1.0, 2.0], [2.0, 4.0]], 1),
        ([[0.0, 0.0], [0.0, 0.0]], 0),
        ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], 2),  # elimination meets no zero: torch would solve it
    ],
)
def test_a_singular_input_is_refused(A, rank):
    A = torch.tensor(A, dtype=torch.float64)
    n = len(A)
    eye = torch.eye(n, dtype=torch.float64)
    message = f"X has rank {rank}; expected {n}, for many U solve it: use least_squares_for_scores"
    with pytest.raises(ValueError, match=message):
        solve_for_scores(A, eye, eye)
    with pytest.raises(ValueError, match=message):
        solve_for_scores(torch.stack([eye, A]), eye, eye)  # one of a batch is enough


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (5, 3, 2)])
def test_an_input_that_is_not_square_is_refused(shape):
    weights = torch.ones(shape[-1], 2)
    with pytest.raises(ValueError, match=r"X is \(.*\); expected as many tokens as features: use least_squares_"):
        solve_for_scores(torch.ones(shape), weights, weights)


# Least squares


@given(input_and_weights, st.integers(0, 99))
@varied
def test_least_squares_solves_for_any_shape_and_is_shortest(shapes, seed):
    A, Q, K = random(seed, *shapes.input_shapes)
    A = invertible(A)  # of full rank, whatever its shape
    X = least_squares_for_scores(A, Q, K)
    n, d = A.shape[-2:]
    assert X.shape == (*shapes.result_shape[:-2], d, n)
    torch.testing.assert_close(A @ X, unscaled_scores(A, Q, K))
    # The shortest solution is the part of any that A does not map to 0. For independent columns that is all of it.
    known = (Q @ transposed(K) @ transposed(A)).expand_as(X)
    torch.testing.assert_close(X, torch.linalg.pinv(A) @ A @ known)
    if n >= d:
        torch.testing.assert_close(X, known)


def test_least_squares_solves_for_a_singular_input():
    A = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64)
    eye = torch.eye(2, dtype=torch.float64)
    X = least_squares_for_scores(A, eye, eye)
    torch.testing.assert_close(A @ X, A @ A.T)
    # The rows of A are multiples of (1, 2), and so are the columns of the shortest X.
    torch.testing.assert_close(X[1], 2 * X[0])


@given(input_and_weights, st.integers(0, 99))
@varied
def test_another_solution_solves_too_and_differs_when_columns_are_dependent(shapes, seed):
    A, Q, K = random(seed, *shapes.input_shapes)
    A = invertible(A)
    X = least_squares_for_scores(A, Q, K)
    (Z,) = random(seed + 1000, X.shape)
    Y = another_solution(A, X, Z)
    zero = torch.zeros(X.shape[:-2] + (A.shape[-2],) * 2, dtype=torch.float64)
    torch.testing.assert_close(score_residual(A, Y, Q, K), zero, rtol=0, atol=1e-9)
    n, d = A.shape[-2:]
    assert torch.allclose(X, Y) == (n >= d)
    if n < d:  # adding a part of another direction makes it longer
        assert (Y.norm(dim=(-2, -1)) > X.norm(dim=(-2, -1))).all()


# Keeping X and changing A


def test_residual_is_zero_at_its_own_input_and_not_at_another():
    A, other, Q, K = random(0, (5, 3, 3), (5, 3, 3), (3, 2), (3, 2))
    X = solve_for_scores(A, Q, K)
    torch.testing.assert_close(score_residual(A, X, Q, K), torch.zeros_like(A), rtol=0, atol=1e-9)
    # By how much: with X = Q K^T A^T, what remains at the other input is other Q K^T (other - A)^T.
    expected = other @ Q @ K.T @ transposed(other - A)
    torch.testing.assert_close(score_residual(other, X, Q, K), expected)
    assert (expected.std((-2, -1)) > 0.1).all()


# What the source measured


def measured(dtype=torch.float32):
    """Mean and deviation of what three attempts leave, on 3 by 3 matrices of numbers drawn evenly from 0 to 1: 500 of each."""
    generator = torch.Generator().manual_seed(0)
    A, Q, K, other = torch.rand(4, 500, 3, 3, generator=generator, dtype=torch.float64).to(dtype)
    X = torch.linalg.solve(A, unscaled_scores(A, Q, K))
    left = {
        "sorted": unscaled_scores(A, Q, K) - commuted_merge_wrong(A, Q, K),
        "solved": score_residual(A, X, Q, K),
        "another input": score_residual(other, X, Q, K),
    }
    return {name: (gap.mean((-2, -1)), gap.std((-2, -1))) for name, gap in left.items()}


def usual(figure, values):
    """Whether a figure lies among the values, no further out than one in a hundred."""
    low, high = values.double().quantile(torch.tensor([0.01, 0.99], dtype=torch.float64))
    return low.item() <= figure <= high.item()


def test_numbers_of_the_source_are_typical():
    found = measured()
    assert usual(-0.19, found["sorted"][0]) and usual(1.8, found["sorted"][1])
    assert usual(1e-7, found["solved"][1]) and usual(0.46, found["another input"][1])
    assert not usual(-0.19, found["solved"][0]) and not usual(1e-7, found["another input"][1])
    assert not usual(1e-7, measured(torch.float64)["solved"][1])  # it was rounding, and in double precision it is gone


def test_a_batch_of_no_inputs_has_no_solutions():
    A, Q, K = random(31, (0, 3, 3), (3, 2), (3, 2))
    assert solve_for_scores(A, Q, K).shape == (0, 3, 3)
