"""The measures of the atlas on small cases, and its stored numbers."""

import math

import pytest
import torch

from snippets.attention.formula import attention_weights
from snippets.seeing.atlas import (
    HEAD,
    LAYER,
    SENTENCE,
    SHOWN,
    Atlas,
    OneHead,
    effective_rank,
    first_token_weight,
    own_squares,
    previous_token_weight,
    read_atlas,
    score_deviation,
    shared_squares,
    squares_of_parts,
    stored_atlas,
    stored_head,
    symmetric_share,
)


def draw(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_weights_of_places():
    P = torch.tensor([[1.0, 0, 0], [0.75, 0.25, 0], [0.5, 0.25, 0.25]], dtype=torch.float64)
    assert previous_token_weight(P).item() == (0.75 + 0.25) / 2
    assert first_token_weight(P).item() == 0.75
    assert previous_token_weight(P.expand(2, 4, 3, 3)).shape == first_token_weight(P.expand(2, 4, 3, 3)).shape == (2, 4)


def test_the_parts_of_the_page_s_example():
    W = torch.tensor([[1.0, 4], [2, 1]])
    assert [part.item() for part in squares_of_parts(W)] == [20, 2] and W.square().sum() == 22
    assert symmetric_share(W).item() == pytest.approx(20 / 22)
    assert symmetric_share(W + W.T) == 1 and symmetric_share(W - W.T) == 0


def test_what_tokens_share_and_their_own_add_up():
    X = draw(2, 5, 4)
    torch.testing.assert_close(shared_squares(X) + own_squares(X), X.square().sum(-1).mean(-1))
    assert own_squares(X[:, :1].expand(2, 5, 4)).abs().max() < 1e-30


def test_the_effective_rank_counts_equal_directions():
    for rank in (1, 2, 4):
        torch.testing.assert_close(effective_rank(torch.diag(torch.arange(4) < rank).double()), torch.tensor(float(rank)).double())
    shares = 0.8, 0.2  # of the squares 1 and 0.25
    torch.testing.assert_close(
        effective_rank(torch.diag(torch.tensor([1.0, 0.5]))).item(), math.prod(share**-share for share in shares), atol=1e-6, rtol=0
    )


def test_the_deviation_of_scores_is_taken_over_all_pairs():
    query, key = draw(2, 5, 4), draw(2, 3, 4, seed=1)
    expected = (query @ key.mT / 2).reshape(2, 15).std(-1)
    torch.testing.assert_close(score_deviation(query, key), expected)


def test_the_stored_atlas_has_weights_and_measures_of_every_head():
    atlas = stored_atlas()
    assert isinstance(atlas, Atlas)
    assert read_atlas()["sentence"] == SENTENCE
    assert atlas.weights.shape == (6, 12, len(atlas.tokens), len(atlas.tokens))
    torch.testing.assert_close(atlas.weights.sum(-1), torch.ones(6, 12, len(atlas.tokens)).double(), atol=1e-3, rtol=0)
    assert {rows.shape for rows in atlas.measures.values()} == {(6, 12)}
    torch.testing.assert_close(atlas.measures["first token"], first_token_weight(atlas.weights), atol=1e-4, rtol=0)
    torch.testing.assert_close(atlas.measures["previous token"], previous_token_weight(atlas.weights), atol=1e-4, rtol=0)


def test_the_stored_head_gives_its_weights_in_the_atlas():
    head, atlas = stored_head(), stored_atlas()
    assert isinstance(head, OneHead) and head.tokens == atlas.tokens and head.rows.shape == (len(head.tokens), SHOWN)
    torch.testing.assert_close(attention_weights(head.query, head.key), atlas.weights[LAYER, HEAD], atol=1e-4, rtol=0)
    first, second = (place for place, token in enumerate(head.tokens) if token == "the")
    assert head.numbers[first] == head.numbers[second] and torch.equal(head.rows[first], head.rows[second])
    assert head.value.shape == head.key.shape == (len(head.tokens), 32)
