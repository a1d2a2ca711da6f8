"""The delta rule in chunks against the recurrence, its thin matrices against the product of steps, and its counts at the extremes."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.linear.chunks import (
    chunk_system,
    chunked_delta_multiplications,
    chunked_delta_rule,
    chunked_steps,
    delta_multiplications,
    inverse_by_squaring,
    product_of_steps,
    read_chunk,
    solve_chunk,
    solve_system,
)
from snippets.linear.delta import delta_rule, delta_step


def sample(seed, n, *batch):
    generator = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(*batch, n, d, generator=generator, dtype=torch.float64) for d in (4, 4, 3))
    return query, torch.nn.functional.normalize(key, dim=-1), value, torch.rand(*batch, n, generator=generator, dtype=torch.float64)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 9), chunk=st.integers(1, 10), seed=st.integers(0, 100))
def test_chunks_of_any_length_are_the_recurrence(n, chunk, seed):
    inputs = sample(seed, n)
    torch.testing.assert_close(chunked_delta_rule(*inputs, chunk=chunk), delta_rule(*inputs))


def test_leading_axes_are_broadcast():
    query, key, _, beta = sample(0, 5, 2)
    _, _, value, _ = sample(1, 5)
    torch.testing.assert_close(chunked_delta_rule(query, key, value, beta, chunk=2), delta_rule(query, key, value, beta))


def test_writes_and_reads_of_a_chunk_are_those_of_single_steps():
    query, key, value, beta = sample(2, 6)
    start = torch.randn(4, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    writes = solve_chunk(key, value - key @ start, beta)
    found, state = read_chunk(query, key, start, writes), start
    for token in range(6):
        k, v = key[token : token + 1], value[token : token + 1]
        after = delta_step(state, k, v, beta=beta[token].item())
        torch.testing.assert_close(k.mT @ writes[token : token + 1], after - state)
        torch.testing.assert_close(found[token : token + 1], query[token : token + 1] @ after)
        state = after


def test_one_system_is_solved_for_keys_and_for_values():
    _, key, value, beta = sample(8, 6)
    system = chunk_system(key, beta)
    for rows in (key, value):
        solved = solve_system(system, rows, beta)
        torch.testing.assert_close(system @ solved, beta[:, None] * rows)
        torch.testing.assert_close(solved, solve_chunk(key, rows, beta))


def test_two_thin_matrices_give_the_product_of_all_steps():
    _, key, _, beta = sample(4, 7)
    one = torch.eye(4, dtype=torch.float64)
    expected = one
    for k, b in zip(key.split(1), beta, strict=True):
        expected = (one - b * k.mT @ k) @ expected
    torch.testing.assert_close(product_of_steps(key, beta), expected)
    torch.testing.assert_close(one - key.mT @ solve_chunk(key, key, beta), expected)


def test_without_the_system_keys_that_are_not_at_right_angles_read_wrong_values():
    _, key, value, _ = sample(5, 3)
    ones = torch.ones(3, dtype=torch.float64)
    read = key[-1:] @ key.mT @ solve_chunk(key, value, ones)
    torch.testing.assert_close(read, value[-1:])
    assert (key[-1:] @ key.mT @ value - value[-1:]).abs().max() > 0.1
    apart = torch.linalg.qr(key.mT).Q.mT
    torch.testing.assert_close(chunk_system(apart, ones), torch.eye(3, dtype=torch.float64))


@pytest.mark.parametrize("n, rounds", [(1, 1), (2, 1), (3, 2), (16, 4), (17, 5)])
def test_squaring_gives_the_inverse_in_few_rounds(n, rounds):
    _, key, _, beta = sample(6, n)
    system = chunk_system(key, beta)
    inverse, found = inverse_by_squaring(system)
    torch.testing.assert_close(inverse, torch.linalg.inv(system))
    assert found == rounds


def test_a_chunk_of_one_token_takes_the_steps_of_the_recurrence():
    assert chunked_steps(64, chunk=1) == chunked_steps(64, chunk=64) == 64
    assert min(chunked_steps(64, chunk=chunk) for chunk in (1, 2, 4, 8, 16, 32, 64)) == 15 == chunked_steps(64, chunk=8)
    assert chunked_delta_multiplications(64, 4, 3, chunk=1) - delta_multiplications(64, 4, 3) == 64 * (2 * 4 + 3)


def test_what_cannot_be_computed_is_refused():
    query, key, value, beta = sample(7, 4)
    with pytest.raises(ValueError, match="as many queries"):
        chunked_delta_rule(query, key[:3], value, beta, chunk=2)
    with pytest.raises(ValueError, match="as many queries"):
        chunked_delta_rule(query[:0], key[:0], value[:0], beta[:0], chunk=2)
    with pytest.raises(RuntimeError):
        chunked_delta_rule(query, key, value, beta, chunk=0)
