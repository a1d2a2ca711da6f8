"""Tests of RoPE: sums of waves against rotated vectors, peaks at chosen distances, two checkpoint layouts, and partial RoPE."""

import pytest
import torch
from torch.nn.functional import linear, scaled_dot_product_attention

from snippets.order.positions import frequencies
from snippets.order.rotary import apply_rotary, apply_rotary_interleaved, interleave, mean_cosine
from snippets.positions.rope import aimed_key, apply_partial_rotary, rotary_weights, score_by_distance, to_halves


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def polar(x):
    first, second = x.chunk(2, dim=-1)
    return torch.hypot(first, second), torch.atan2(second, first)


def test_a_score_is_a_sum_of_waves():
    q, k = random(0, (4, 10), (4, 10))
    p, r = torch.tensor([0, 3, 9, 100]), torch.tensor([5, 3, 2, 0])
    expected = (apply_rotary(q, p) * apply_rotary(k, r)).sum(-1)
    found = score_by_distance(*polar(q), *polar(k), r - p, frequencies(10, dtype=torch.float64))
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("best", [-40, -1, 0, 7])
def test_an_aimed_key_scores_highest_at_its_distance(best):
    (q,) = random(1, (32,))
    distance = torch.arange(-100, 101)
    scores = apply_rotary(aimed_key(q, distance=best).expand(201, 32), distance) @ q
    assert distance[scores.argmax()] == best
    torch.testing.assert_close(scores.max(), q @ q)


def test_two_keys_at_one_distance_have_two_scores():
    q, one, other = random(2, (8,), (8,), (8,))
    at = torch.tensor(5)
    assert not torch.isclose(apply_rotary(one, at) @ q, apply_rotary(other, at) @ q)


@pytest.mark.parametrize("num_heads", [1, 3])
def test_a_checkpoint_moves_to_the_other_layout(num_heads):
    X, W_Q, W_K = random(3, (6, 5), (5, 8 * num_heads), (5, 8 * num_heads))
    place = torch.arange(6)

    def scores(rotate, W_Q, W_K):
        Q, K = ((X @ W).unflatten(-1, (num_heads, 8)).transpose(0, 1) for W in (W_Q, W_K))  # (heads, n, d_k)
        return rotate(Q, place) @ rotate(K, place).mT

    trained = scores(apply_rotary_interleaved, W_Q, W_K)
    moved = scores(apply_rotary, to_halves(W_Q, num_heads=num_heads), to_halves(W_K, num_heads=num_heads))
    torch.testing.assert_close(moved, trained)
    assert not torch.allclose(scores(apply_rotary, W_Q, W_K), trained)


def test_to_halves_undoes_interleave_in_each_head():
    (W,) = random(4, (5, 12))
    heads = to_halves(W, num_heads=2).chunk(2, dim=-1)
    torch.testing.assert_close(torch.cat([interleave(head) for head in heads], dim=-1), W)


def test_a_linear_layer_has_the_columns_as_rows():
    weight, x = random(5, (8, 5), (3, 5))
    moved = to_halves(weight.T, num_heads=1).T
    torch.testing.assert_close(interleave(linear(x, moved)), linear(x, weight))


def test_columns_come_in_pairs():
    with pytest.raises(RuntimeError):
        to_halves(torch.zeros(2, 6), num_heads=2)


@pytest.mark.parametrize("width", [2, 6, 10])
def test_partial_rope_is_a_rotated_part_plus_a_plain_part(width):
    q, k = random(6, (4, 10), (4, 10))
    p, r = torch.arange(4), torch.tensor([7, 0, 2, 2])
    score = (apply_partial_rotary(q, p, width=width) * apply_partial_rotary(k, r, width=width)).sum(-1)
    first = (apply_rotary(q[:, :width], p) * apply_rotary(k[:, :width], r)).sum(-1)
    torch.testing.assert_close(score, first + (q[:, width:] * k[:, width:]).sum(-1))


def test_partial_rope_of_all_features_is_rope_and_the_rest_stays():
    (x,) = random(7, (3, 8))
    place = torch.arange(3)
    torch.testing.assert_close(apply_partial_rotary(x, place, width=8, base=50.0), apply_rotary(x, place, base=50.0))
    assert torch.equal(apply_partial_rotary(x, place, width=4)[:, 4:], x[:, 4:])
    with pytest.raises(ValueError, match="d is 3; expected an even number"):
        apply_partial_rotary(x, place, width=3)


def test_rotary_weights_are_pytorchs():
    Q, K = random(8, (2, 5, 6), (2, 5, 6))
    q, k = (torch.stack([apply_rotary(x[:, i], torch.tensor(i)) for i in range(5)], dim=1) for x in (Q, K))
    value = torch.eye(5, dtype=torch.float64).expand(2, 5, 5)
    torch.testing.assert_close(rotary_weights(Q, K), scaled_dot_product_attention(q, k, value, is_causal=True))
    with pytest.raises(ValueError, match="d is 5; expected an even number"):
        rotary_weights(Q[..., :5], K[..., :5])


@pytest.mark.parametrize("seed", range(3))
def test_a_head_looks_at_the_previous_token_if_queries_do_not_depend_on_content(seed):
    (X,) = random(seed, (100, 64))
    i = torch.arange(1, 100)
    for Q, back in ((X, 0), (X[:1].expand(100, 64), 1)):
        assert (rotary_weights(Q, aimed_key(Q, distance=-1))[1:].argmax(-1) == i - back).all()


def test_numbers_in_the_text():
    """The mean of the cosines one position from the peak, at width 64, and one pair of frequency one."""
    assert f"{mean_cosine(torch.tensor(1), frequencies(64, dtype=torch.float64)).item():.0%}" == "97%"
    one, omega = torch.ones(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    for ahead, distance, expected in ((0, 0, 1), (0, 1, 0.54), (0, -1, 0.54), (1, -1, 1), (1, 0, 0.54)):
        found = score_by_distance(one, 0 * one, one, ahead * one, torch.tensor(distance), omega)
        assert round(found.item(), 2) == expected
