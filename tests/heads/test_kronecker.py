"""Flattened heads against torch.kron and against sums over plain indices, and the rank of the rearrangement."""

import itertools

import pytest
import torch

from snippets.heads.kronecker import by_columns, by_rows, head, heads, heads_by_rows, heads_matrix, kronecker, rearranged


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


SIZES = [(1, 1, 1, 1), (2, 3, 4, 5), (3, 1, 2, 1), (1, 4, 1, 3)]  # n, m, d, p


@pytest.mark.parametrize(("n", "m", "d", "p"), SIZES)
def test_a_head_is_a_sum_over_all_entries_of_the_input(n, m, d, p):
    P, X, W = random(0, (n, m), (m, d), (d, p))
    output = torch.zeros(n, p, dtype=torch.float64)
    for i, c, j, a in itertools.product(range(n), range(p), range(m), range(d)):
        output[i, c] += P[i, j] * X[j, a] * W[a, c]
    torch.testing.assert_close(head(P, X, W), output)
    torch.testing.assert_close(by_rows(P, X, W), output)
    torch.testing.assert_close(by_columns(P, X, W), output.T)


@pytest.mark.parametrize(("n", "m", "d", "p"), SIZES)
def test_kronecker_is_that_of_pytorch_and_takes_transposed_matrices(n, m, d, p):
    A, B = random(1, (n, m), (p, d))
    assert kronecker(A, B).equal(torch.kron(A, B))
    A, B = random(2, (m, n), (d, p))
    assert kronecker(A.T, B.T).equal(torch.kron(A, B).T)


def test_a_head_takes_a_batch():
    P, X, W = random(3, (2, 4, 5), (2, 5, 3), (3, 6))
    torch.testing.assert_close(head(P, X, W), torch.einsum("bnm,bmd,dp->bnp", P, X, W))


def test_the_factors_do_not_commute():
    P, W = random(4, (2, 2), (2, 2))
    assert not torch.allclose(kronecker(P, W.T), kronecker(W.T, P))


@pytest.mark.parametrize(("n", "m", "d", "p"), SIZES)
def test_several_heads_are_one_sum_of_matrices(n, m, d, p):
    P, X, W = random(5, (3, n, m), (m, d), (3, d, p))
    expected = torch.einsum("hnm,md,hdp->np", P, X, W)
    torch.testing.assert_close(heads(P, X, W), expected)
    torch.testing.assert_close(heads_by_rows(P, X, W), expected)
    torch.testing.assert_close(heads_matrix(P, W), sum(torch.kron(a, b.T.contiguous()) for a, b in zip(P, W)))


def test_two_heads_in_a_row_are_one_while_their_weights_are_fixed():
    P1, P2, X, W1, W2 = random(6, (4, 4), (4, 4), (4, 3), (3, 3), (3, 3))
    torch.testing.assert_close(head(P2, head(P1, X, W1), W2), head(P2 @ P1, X, W1 @ W2))
    whole = kronecker(P2, W2.T) @ kronecker(P1, W1.T)
    torch.testing.assert_close(whole, kronecker(P2 @ P1, (W1 @ W2).T))


def rank(whole, n, d):
    return torch.linalg.matrix_rank(rearranged(whole, n=n, m=n, d=d, p=d)).item()


def test_two_layers_with_fixed_weights_can_be_more_than_two_heads():
    n, d = 5, 4
    P, W = random(9, (4, n, n), (4, d, d))
    first, second = heads_matrix(P[:2], W[:2]), heads_matrix(P[2:], W[2:])
    assert rank(first, n, d) == rank(second, n, d) == 2
    assert rank(second @ first, n, d) == 4
    one, other = (kronecker(P_i, W_i.mT) for P_i, W_i in zip(P[:2], W[:2]))
    assert rank(other @ one, n, d) == 1
    eye = torch.eye(n * d, dtype=torch.float64)
    assert rank((eye + other) @ (eye + one), n, d) == 4


def test_squared_singular_values_from_two_small_tables():
    P, W = random(10, (3, 4, 4), (3, 2, 2))
    of_weights, of_maps = (rows @ rows.mT for rows in (P.flatten(1), W.flatten(1)))
    squares = torch.linalg.svdvals(rearranged(heads_matrix(P, W), n=4, m=4, d=2, p=2))[:3] ** 2
    found = torch.linalg.eigvals(of_weights @ of_maps).real.sort(descending=True).values
    torch.testing.assert_close(found, squares)


def test_the_rearrangement_has_the_entries_in_their_places():
    P, W = random(7, (2, 3), (4, 5))
    expected = torch.outer(P.flatten(), W.flatten())
    torch.testing.assert_close(rearranged(kronecker(P, W.T), n=2, m=3, d=4, p=5), expected)


def test_each_head_adds_one_to_the_rank_of_the_rearrangement_until_it_is_full():
    P, W = random(8, (5, 3, 3), (5, 2, 2))
    ranks = [torch.linalg.matrix_rank(rearranged(heads_matrix(P[:h], W[:h]), n=3, m=3, d=2, p=2)).item() for h in range(1, 6)]
    assert ranks == [1, 2, 3, 4, 4]


def test_a_matrix_of_another_shape_is_not_rearranged():
    with pytest.raises(ValueError, match=r"whole \(6, 6\) is not of shape \(4, 6\)"):
        rearranged(torch.zeros(6, 6), n=2, m=3, d=2, p=2)


@pytest.mark.parametrize("sizes", [(0, 3, 2, 4), (2, 0, 3, 4), (2, 3, 0, 4), (2, 3, 4, 0), (0, 0, 0, 0)])
def test_an_axis_may_be_empty(sizes):
    n, m, d, p = sizes
    P, X, W = random(21, (n, m), (m, d), (d, p))
    assert torch.equal(kronecker(P, W), torch.kron(P, W)) and kronecker(P, W).shape == (n * d, m * p)
    torch.testing.assert_close(by_rows(P, X, W), head(P, X, W))
    torch.testing.assert_close(by_columns(P, X, W).mT, head(P, X, W))
    torch.testing.assert_close(heads_by_rows(P[None], X, W[None]), head(P, X, W))


def test_a_matrix_of_no_heads_is_refused():
    P, W = random(22, (0, 2, 3), (0, 4, 5))
    with pytest.raises(ValueError, match="P holds no heads; expected one at least"):
        heads_matrix(P, W)
