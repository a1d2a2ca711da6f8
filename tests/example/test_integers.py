"""The example's integers, as its source prints them."""

import pytest
import torch

from snippets.attention.formula import attention, scores
from snippets.example.integers import project_tokens, projections, tokens


def product(A, B):
    """A matrix product over Python's integers."""
    return [[sum(int(a) * int(b) for a, b in zip(row, column)) for column in zip(*B)] for row in A]


def test_tokens_and_weights_are_those_of_the_source():
    assert tokens().tolist() == [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]
    W_Q, W_K, W_V = (W.tolist() for W in projections())
    assert W_K == [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]]
    assert W_Q == [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]]
    assert W_V == [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]]


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (0, [[1, 0, 2], [2, 2, 2], [2, 1, 3]]),
        (1, [[0, 1, 1], [4, 4, 0], [2, 3, 1]]),
        (2, [[1, 2, 3], [2, 8, 0], [2, 6, 3]]),
    ],
)
def test_queries_keys_and_values(which, expected):
    X, W = tokens(), projections()[which]
    assert project_tokens(X, W).tolist() == expected == product(X.tolist(), W.tolist())


def test_scores():
    X, (W_Q, W_K, _) = tokens(), projections()
    expected = [[2, 4, 4], [4, 16, 12], [4, 12, 10]]
    assert scores(project_tokens(X, W_Q), project_tokens(X, W_K), scale=1.0).tolist() == expected
    assert product(product(X.tolist(), product(W_Q.tolist(), W_K.T.tolist())), X.T.tolist()) == expected


def test_project_takes_batches_and_single_tokens():
    generator = torch.Generator().manual_seed(0)
    X, W = torch.randn(2, 1, 4, generator=generator), torch.randn(4, 3, generator=generator)
    torch.testing.assert_close(project_tokens(X, W), torch.einsum("bnd,dp->bnp", X, W))
    assert project_tokens(torch.zeros(0, 1, 4), W).shape == (0, 1, 3)


def test_the_dimension_of_the_values_is_free_and_that_of_the_keys_is_not():
    for d_v in (1, 3, 7):
        assert attention(torch.ones(3, 2), torch.ones(5, 2), torch.ones(5, d_v)).shape == (3, d_v)
    with pytest.raises(RuntimeError, match="3x2 and 4x5"):
        attention(torch.ones(3, 2), torch.ones(5, 4), torch.ones(5, 7))


def test_numbers_in_the_text():
    X, (W_Q, W_K, _) = tokens(), projections()
    query, key = project_tokens(X, W_Q), project_tokens(X, W_K)
    assert (query[1].tolist(), key[0].tolist(), (query[1] * key[0]).tolist()) == ([2, 2, 2], [0, 1, 1], [0, 2, 2])
    assert scores(query, key, scale=1.0)[1].tolist() == [4, 16, 12]
    assert round(100 * scores(query, key, scale=1.0).softmax(-1)[1, 1].item()) == 98
    # Swapped queries and keys give the same scores for three tokens, and others for four.
    assert torch.equal(scores(key, query), scores(query, key))
    four = torch.cat([X, torch.tensor([[0.0, 1, 0, 0]], dtype=X.dtype)])
    query, key = project_tokens(four, W_Q), project_tokens(four, W_K)
    found = scores(query, key, scale=1.0)
    assert (found[0, 3].item(), found[3, 0].item()) == (1, 0) and not torch.equal(scores(key, query), scores(query, key))
