"""Sums in parts against sums that are rounded by hand, and a sequence alone against the same sequence in batches."""

import struct
from fractions import Fraction

import pytest
import torch

from snippets.associativity.rounding import gamma
from snippets.attention.formula import attention
from snippets.io.split import attention_in_parts
from snippets.serving.invariance import (
    add_in_order,
    decode_by_size,
    decode_by_workers,
    is_safe,
    last_bits,
    sum_in_parts,
)


def draw(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def rounded_sum(numbers):
    """The sum from left to right, rounded to fp32 at each step by Python."""
    total = numbers[0]
    for x in numbers[1:]:
        (total,) = struct.unpack("f", struct.pack("f", total + x))  # the sum of two fp32 numbers in fp64 is rounded twice at most
    return total


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("seed", range(3))
def test_parts_are_added_in_order(seed, parts):
    terms = draw(seed, 40)
    pieces = [one.tolist() for one in terms.tensor_split(parts)]
    assert sum_in_parts(terms, parts=parts).item() == rounded_sum([rounded_sum(one) for one in pieces])


@pytest.mark.parametrize("size", [1, 3, 8, 64])
def test_pieces_have_the_same_size_but_for_the_last(size):
    terms = draw(0, 40)
    numbers = terms.tolist()
    pieces = [numbers[k : k + size] for k in range(0, 40, size)]
    assert sum_in_parts(terms, size=size).item() == rounded_sum([rounded_sum(one) for one in pieces])


@pytest.mark.parametrize("parts", [1, 2, 5, 8, 40])
@pytest.mark.parametrize("seed", range(20))
def test_every_split_is_within_the_bound(seed, parts):
    terms = draw(seed, 40)
    exact = sum(map(Fraction, terms.tolist()))
    error = abs(Fraction(sum_in_parts(terms, parts=parts).item()) - exact)
    assert error <= Fraction(gamma(39, torch.float32)) * sum(abs(Fraction(x)) for x in terms.tolist())


def test_the_number_of_parts_changes_bits():
    terms = draw(1, 64)
    found = {sum_in_parts(terms, parts=parts).item() for parts in (1, 2, 4, 16)}
    assert len(found) == 4 and max(found) - min(found) < 1e-5


@pytest.mark.parametrize("batch", [1, 2, 3, 8])
@pytest.mark.parametrize("length", [1, 100, 256])
def test_a_fixed_size_gives_the_same_bits_in_each_batch(batch, length):
    query, key, value = draw(0, 8, 16), draw(1, 8, length, 16), draw(2, 8, length, 32)
    alone = decode_by_size(query[3:4].clone(), key[3:4].clone(), value[3:4].clone(), size=64)
    others = [3, *(k for k in range(8) if k != 3)][:batch]
    assert torch.equal(decode_by_size(query[others], key[others], value[others], size=64)[0], alone[0])
    torch.testing.assert_close(alone[0], attention(query[3:4], key[3], value[3])[0])


def test_a_fixed_number_of_workers_gives_other_bits_in_other_batches():
    query, key, value = draw(0, 16, 16), draw(1, 16, 512, 16), draw(2, 16, 512, 64)
    found = [decode_by_workers(query[:batch], key[:batch], value[:batch], workers=16)[0] for batch in (1, 4, 16)]
    assert not torch.equal(found[0], found[1]) and not torch.equal(found[1], found[2])
    for one in found:
        torch.testing.assert_close(one, attention(query[:1], key[0], value[0])[0])


def test_more_sequences_than_workers_have_one_part_each():
    query, key, value = draw(0, 5, 4), draw(1, 5, 8, 4), draw(2, 5, 8, 4)
    torch.testing.assert_close(decode_by_workers(query, key, value, workers=3)[4], attention(query[4:], key[4], value[4])[0])


@pytest.mark.parametrize("size", [1, 5, 16, 100])
def test_attention_in_parts_of_one_size_is_attention(size):
    query, key, value = (draw(seed, 16, 8).double() for seed in range(3))
    torch.testing.assert_close(attention_in_parts(query, key, value, size=size), attention(query, key, value))


def test_last_bits_are_those_of_the_number():
    numbers = torch.tensor([1.0, 1 + 2.0**-23, -3.5, 0.1])
    expected = [f"{struct.unpack('I', struct.pack('f', x))[0]:032b}"[-10:] for x in numbers.tolist()]
    assert ["".join(map(str, row)) for row in last_bits(numbers, count=10).tolist()] == expected
    assert torch.equal(last_bits(numbers.double() + 2.0**-40, count=10), last_bits(numbers, count=10))


@pytest.mark.parametrize("seed", range(20))
def test_a_safe_token_stays_the_largest(seed):
    bound = 0.05
    generator = torch.Generator().manual_seed(seed)
    exact = torch.randn(500, 6, generator=generator)
    computed, again = (exact + bound * (2 * torch.rand(500, 6, generator=generator) - 1) for _ in range(2))
    safe = is_safe(computed, bound=bound)
    assert 100 < safe.sum() < 500
    assert torch.equal(computed.argmax(-1)[safe], again.argmax(-1)[safe])


def test_a_gap_below_four_bounds_is_not_safe():
    computed = torch.tensor([1.0, 0.9])  # exact: 0.95 both, with a bound of 0.05
    assert is_safe(computed, bound=0.02) and not is_safe(computed, bound=0.03)


def test_zeros_at_the_end_change_no_bit():
    terms = draw(4, 30)
    assert add_in_order(torch.cat([terms, torch.zeros(7)])) == add_in_order(terms)
