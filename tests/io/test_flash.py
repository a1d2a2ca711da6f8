"""Attention in tiles against PyTorch's, and the numbers that each way moves against its formula."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.io.flash import (
    SlowMemory,
    causal_moved,
    flash_attention,
    flash_tile,
    moved_ratio,
    multiplications_ratio,
    plain_attention,
    plain_moved,
    square_attention,
    square_product,
    squares_moved,
    tiled_moved,
)
from snippets.order.cost import operations


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("block_size", [1, 3, 4, 12, 99])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(("n", "m"), [(12, 12), (5, 12), (12, 5)])
def test_tiles_change_nothing(n, m, is_causal, block_size):
    query, key, value = random(n, (n, 4), (m, 4), (m, 6))
    expected = scaled_dot_product_attention(query, key, value, is_causal=is_causal)
    output = flash_attention(query, key, value, block_size=block_size, is_causal=is_causal)
    torch.testing.assert_close(output, expected)
    if not is_causal:
        torch.testing.assert_close(plain_attention(query, key, value, block_size=block_size), expected)
        torch.testing.assert_close(square_attention(query, key, value, side=block_size), expected)


def test_large_scores_do_not_overflow():
    query, key, value = random(1, (6, 4), (8, 4), (8, 2))
    expected = scaled_dot_product_attention(1e4 * query, key, value)
    torch.testing.assert_close(flash_attention(1e4 * query, key, value, block_size=3), expected)


@pytest.mark.parametrize(("n", "d", "block_size"), [(12, 4, 3), (8, 16, 8), (6, 2, 1)])
def test_what_moves_is_what_the_formulas_say(n, d, block_size):
    query, key, value = random(2, (n, d), (n, d), (n, d))
    plain, tiled, causal = SlowMemory(), SlowMemory(), SlowMemory()
    plain_attention(query, key, value, block_size=block_size, memory=plain)
    flash_attention(query, key, value, block_size=block_size, memory=tiled)
    flash_attention(query, key, value, block_size=block_size, is_causal=True, memory=causal)
    assert plain.moved == plain_moved(n, d, block_size)
    assert plain.moved - tiled.moved == 4 * n * n
    assert tiled.moved == tiled_moved(n, d, block_size)
    assert causal.moved == causal_moved(n, d, block_size)
    assert moved_ratio(n, d, block_size) == pytest.approx(plain.moved / tiled.moved)


@pytest.mark.parametrize(("n", "d", "side"), [(12, 4, 2), (12, 12, 4), (6, 2, 1), (8, 4, 4)])
def test_square_tiles_move_what_their_formula_says(n, d, side):
    memory = SlowMemory()
    square_attention(*random(7, (n, d), (n, d), (n, d)), side=side, memory=memory)
    assert memory.moved == squares_moved(n, d, side)


def test_a_product_by_square_tiles_is_the_product():
    memory = SlowMemory()
    a, b = random(8, (2, 6, 5), (5, 4))
    torch.testing.assert_close(square_product(a, b, side=2, memory=memory), a @ b)
    assert memory.moved == 6 * (2 * 2 * 5 + 5 * 2) + 2 * 6 * 4  # six tiles; the batch shares b


def test_numbers_in_the_text():
    n, d = 8192, 64
    assert [round(moved_ratio(n, d, size), 1) for size in (16, 32, 128)] == [1.5, 2.0, 4.9]
    assert [round(count / 1e6) for count in (n * n, 4 * n * n, tiled_moved(n, d, 128))] == [67, 268, 68]
    assert plain_moved(n, d, n) / tiled_moved(n, d, 16) == pytest.approx(0.5, abs=0.005)  # the unfair comparison
    # The fast memory from which FlashAttention moves less than the best of both: about the square of the width, up to a constant.
    sides = torch.linspace(0.5, 2, 1501, dtype=torch.float64) * d
    flash = 2 * n * d + 8 * n**2 * d**2 / sides**2
    squares = 3 * n**2 + n * d + 3 * n**2 * d / sides + n**2 * (d / sides).clamp(min=1)
    first = sides[flash <= squares][0] ** 2 / d**2
    assert first.item() == pytest.approx(1.2, abs=0.05)
    assert 228 * 1024 / 2 > 128**2  # numbers of two bytes in the shared memory of an H100's multiprocessor
    assert pytest.approx(590, abs=1) == 989.4 / 3.352 * 2  # operations in the time of reading a number of two bytes


def test_a_slow_memory_counts_both_ways():
    memory, x = SlowMemory(), torch.zeros(3, 4)
    assert memory.load(x) is x and memory.store(x) is x
    assert memory.moved == 24


def test_the_products_are_the_same():
    query, key, value = random(3, (8, 4), (8, 4), (8, 4))
    plain = operations(plain_attention, query, key, value, block_size=2)
    assert plain == operations(flash_attention, query, key, value, block_size=2) == 2 * 2 * 8 * 8 * 4
    n, d, size = 8, 4, 2
    corrections = n * (n // size) * (d + 1)
    assert multiplications_ratio(d, size) == pytest.approx(1 + corrections / (plain / 2))


def test_tiles_have_a_size():
    query, key, value = random(4, (3, 2), (4, 2), (4, 2))
    with pytest.raises(ValueError, match="block_size is 0; expected at least 1"):
        flash_attention(query, key, value, block_size=0)


@pytest.mark.parametrize("is_causal", [False, True])
def test_output_is_zero_without_keys(is_causal):
    query, key, value = random(4, (3, 2), (0, 2), (0, 5))
    assert torch.equal(flash_attention(query, key, value, block_size=2, is_causal=is_causal), torch.zeros(3, 5).double())


def test_half_precision_keeps_its_format():
    query, key, value = (x.bfloat16() for x in random(5, (6, 4), (6, 4), (6, 4)))
    output = flash_attention(query, key, value, block_size=4)
    assert output.dtype == torch.bfloat16
    torch.testing.assert_close(output, scaled_dot_product_attention(query, key, value))


def test_a_tile_of_queries_knows_its_place():
    query, key, value = random(6, (9, 4), (9, 4), (9, 4))
    expected = scaled_dot_product_attention(query, key, value, is_causal=True)
    memory = SlowMemory()
    output = flash_tile(query[3:6], key, value, first=3, block_size=3, is_causal=True, memory=memory)
    torch.testing.assert_close(output, expected[3:6])
    assert memory.moved == 3 * 4 * (1 + 2 * 2 + 1)  # two of three tiles of keys and values


@pytest.mark.parametrize("block_size", [1, 3, 4, 99])
@pytest.mark.parametrize("batch", [(4,), (2, 3)])
def test_a_batch_is_not_mixed(batch, block_size):
    query, key, value = random(3, (*batch, 4, 4), (*batch, 4, 4), (*batch, 4, 6))
    for is_causal in (False, True):
        expected = scaled_dot_product_attention(query, key, value, is_causal=is_causal)
        torch.testing.assert_close(flash_attention(query, key, value, block_size=block_size, is_causal=is_causal), expected)


def test_a_tile_without_a_key_to_see_is_passed_over():
    key, value = torch.tensor([[-torch.inf], [1.0]]), torch.tensor([[5.0], [7.0]])
    assert flash_attention(torch.ones(1, 1), key, value, block_size=1).tolist() == [[7.0]]


def test_a_query_that_may_look_at_no_key_gets_zeros():
    hidden = torch.full((2, 1), -torch.inf)
    assert flash_attention(torch.ones(1, 1), hidden, torch.ones(2, 1), block_size=1).tolist() == [[0.0]]
