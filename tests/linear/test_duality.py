"""Duality: the mask against the inverse of the recurrence, chunks of any length, ranks of blocks, costs counted, and a scan."""

import math

import pytest
import torch

from snippets.linear.delta import delta_rule
from snippets.linear.duality import (
    best_chunk,
    chunked_linear_attention,
    chunked_multiplications,
    masked_multiplications,
    parallel_scan,
    recurrence_matrix,
    recurrent_multiplications,
)
from snippets.linear.gates import decay_mask, gated_product, gated_state


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def tokens(seed, n=12):
    query, key, value, gate = random(seed, (2, n, 4), (2, n, 4), (n, 3), (2, n))
    return query, key, value, gate.sigmoid()


@pytest.mark.parametrize("n", [1, 2, 9])
def test_the_mask_is_the_inverse_of_the_recurrence(n):
    _, _, _, gate = tokens(n, n)
    product = recurrence_matrix(gate) @ decay_mask(gate)
    torch.testing.assert_close(product, torch.eye(n, dtype=torch.float64).expand_as(product))


def test_the_matrix_takes_states_to_what_is_written():
    _, key, value, gate = tokens(1, 5)
    states, state = [], torch.zeros(2, 4, 3, dtype=torch.float64)
    for i in range(5):
        state = gate[:, i, None, None] * state + key[:, i, :, None] * value[i]
        states.append(state)
    written = recurrence_matrix(gate) @ torch.stack(states, 1).flatten(2)
    torch.testing.assert_close(written, (key[..., None] * value[:, None, :]).flatten(2))


@pytest.mark.parametrize("chunk", [1, 2, 5, 11, 12, 50])
def test_chunks_of_any_length_give_the_same(chunk):
    query, key, value, gate = tokens(2)
    expected = gated_product(query, key, value, gate)
    torch.testing.assert_close(chunked_linear_attention(query, key, value, gate, chunk=chunk), expected)
    torch.testing.assert_close(gated_state(query, key, value, gate.unsqueeze(-1)), expected)


def test_without_tokens_there_are_no_outputs():
    query, value, gate = torch.ones(2, 0, 3), torch.ones(2, 0, 4), torch.ones(2, 0)
    found = chunked_linear_attention(query.half(), query, value, gate, chunk=2)
    assert found.shape == (2, 0, 4) and found.dtype == torch.float16


@pytest.mark.parametrize("chunk", [0, -1])
def test_a_chunk_has_a_token(chunk):
    query, key, value, gate = tokens(3)
    with pytest.raises(RuntimeError):
        chunked_linear_attention(query, key, value, gate, chunk=chunk)


def test_blocks_below_the_diagonal_have_the_rank_of_a_state():
    query, key, _, gate = tokens(4, 16)
    scores = decay_mask(gate) * (query @ key.mT)
    assert torch.linalg.matrix_rank(scores).eq(16).all()
    for cut in (4, 8, 12):
        assert torch.linalg.matrix_rank(scores[:, cut:, :cut]).eq(4).all()


def counted(n, r, d_v, chunk):
    """Multiplications of the products that `chunked_linear_attention` takes, by their shapes."""
    inside, outside = n // chunk * (chunk * r * chunk + chunk * chunk * d_v), n // chunk * (2 * chunk * r * d_v)
    return inside + outside + n // chunk * r * d_v


@pytest.mark.parametrize("chunk", [1, 4, 16])
def test_multiplications_are_those_of_the_products(chunk):
    assert chunked_multiplications(64, 8, 4, chunk=chunk) == counted(64, 8, 4, chunk)
    assert masked_multiplications(64, 8, 4) == 64 * 8 * 64 + 64 * 64 * 4
    assert recurrent_multiplications(64, 8, 4) == 64 * (8 * 4 + 8 * 4 + 8 * 4)


@pytest.mark.parametrize("price", [1, 16, 100])
def test_no_chunk_is_better_than_the_best(price):
    def cost(chunk):
        return 48 * chunk + price * 32 * 16 / chunk  # of one token, without what no chunk changes

    best = best_chunk(32, 16, price=price)
    assert all(cost(best) <= cost(best * factor) for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2))


def test_numbers_in_the_text():
    n, width = 4096, 128
    assert n / 64 == 64 and best_chunk(width, width, price=1) == 8 and best_chunk(width, width, price=64) == 64
    recurrence = recurrent_multiplications(n, width, width) + 63 * n * width**2
    chunks = chunked_multiplications(n, width, width, chunk=64) + 63 * n * width**2 / 64
    assert recurrence / chunks == pytest.approx(16, abs=0.6)


def test_no_mask_on_the_scores_gives_the_delta_rule():
    query, key, value = torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 0.0], [0.6, 0.8]]), torch.tensor([[1.0], [0.0]])
    output = delta_rule(query.expand(2, 2), key, value, torch.ones(2))[1]
    assert (query @ key[0]).item() == 0  # so any mask gives the first value a weight of zero, and the second value is zero
    assert output.item() == pytest.approx(-0.48)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9])
def test_a_scan_takes_a_logarithm_of_rounds(n):
    query, key, value, gate = random(5, (n, 4), (n, 4), (n, 3), (n,))
    states, rounds = parallel_scan(gate, key.unsqueeze(-1) * value.unsqueeze(-2))
    assert rounds == math.ceil(math.log2(n))
    torch.testing.assert_close((query.unsqueeze(-2) @ states).squeeze(-2), gated_state(query, key, value, gate.unsqueeze(-1)))


@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize("n", [1, 4, 9])
def test_numbers_of_tokens_that_differ_are_refused(which, n):
    shapes = [(5, 4), (5, 4), (5, 3), (5,)]
    shapes[which] = (n, *shapes[which][1:])
    with pytest.raises(ValueError, match="expected as many queries, keys, values and gates"):
        chunked_linear_attention(*map(torch.ones, shapes), chunk=16)


def test_gates_of_nothing_and_half_precision_go_in_chunks_too():
    query, key, value, gate = (x.float() for x in tokens(4))
    gate[:, [0, 2, 3, 7]] = 0
    torch.testing.assert_close(
        chunked_linear_attention(query, key, value, gate, chunk=5), gated_state(query, key, value, gate.unsqueeze(-1))
    )
    half = [x.bfloat16() for x in (query, key, value, gate)]
    assert torch.equal(chunked_linear_attention(*half, chunk=5), chunked_linear_attention(*(x.float() for x in half), chunk=5).bfloat16())
