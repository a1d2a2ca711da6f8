"""Test that both groupings and every position of a scalar agree at random shapes that broadcast; whole numbers agree exactly."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from snippets.associativity.products import (
    grouped_left,
    grouped_right,
    scalar_placements,
    split_scale,
)
from snippets.attention.formula import scores
from tests.shapes import mutually_broadcastable_shapes

varied = settings(derandomize=True, deadline=None, max_examples=60)
three_matrices = mutually_broadcastable_shapes(signature="(n,p),(p,q),(q,m)->(n,m)", max_side=5)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@given(three_matrices, st.integers(0, 99))
@varied
def test_both_groupings_agree_with_the_product(shapes, seed):
    A, B, C = random(seed, *shapes.input_shapes)
    expected = torch.einsum("...np,...pq,...qm->...nm", A, B, C)
    for grouped in (grouped_left, grouped_right):
        assert grouped(A, B, C).shape == shapes.result_shape
        torch.testing.assert_close(grouped(A, B, C), expected)


@given(three_matrices, st.integers(0, 99))
@varied
def test_whole_numbers_agree_exactly(shapes, seed):
    generator = torch.Generator().manual_seed(seed)
    A, B, C = (torch.randint(-99, 100, shape, generator=generator) for shape in shapes.input_shapes)
    assert torch.equal(grouped_left(A, B, C), grouped_right(A, B, C))


def test_each_grouping_multiplies_in_the_order_its_name_says():
    # 2^-150 rounds to 0 in single precision, so the product that computes it loses everything.
    small, large = torch.tensor([[2.0**-75]]), torch.tensor([[2.0**75]])
    assert grouped_left(small, small, large).item() == 0.0
    assert grouped_right(small, small, large).item() == 2.0**-75
    assert grouped_left(large, small, small).item() == 2.0**-75
    assert grouped_right(large, small, small).item() == 0.0


@given(
    mutually_broadcastable_shapes(signature="(n,p),(p,q)->(n,q)", max_side=5),
    st.integers(0, 99),
    st.floats(0.01, 100),
)
@varied
def test_scalar_may_be_in_any_position(shapes, seed, c):
    A, B = random(seed, *shapes.input_shapes)
    expected = 1 / c * torch.einsum("...np,...pq->...nq", A, B)
    placed = scalar_placements(A, B, c=c)
    assert len(placed) == 3
    for product in placed:
        assert product.shape == shapes.result_shape
        torch.testing.assert_close(product, expected)


def test_each_placement_puts_the_scalar_where_it_says():
    # In half precision 2^16 is infinite, 2^-25 is 0, and 2^-24 is the smallest number, so only one order survives each case.
    def powers(a, b):
        return (torch.tensor([[2.0**e]], dtype=torch.float16) for e in (a, b))

    first, second, last = scalar_placements(*powers(-10, 10), c=2.0**16)  # 2^-10 / 2^16 is 0
    assert (first.item(), second.item(), last.item()) == (0.0, 2.0**-16, 2.0**-16)
    first, second, last = scalar_placements(*powers(10, -10), c=2.0**16)  # 2^-10 / 2^16 is 0
    assert (first.item(), second.item(), last.item()) == (2.0**-16, 0.0, 2.0**-16)
    first, second, last = scalar_placements(*powers(9, 9), c=2.0**4)  # 2^9 * 2^9 is infinite
    assert (first.item(), second.item(), last.item()) == (2.0**14, 2.0**14, float("inf"))


@given(mutually_broadcastable_shapes(signature="(n,d),(m,d)->(n,m)", max_side=5), st.integers(0, 99))
@varied
def test_the_split_scale_gives_the_scores(shapes, seed):
    query, key = random(seed, *shapes.input_shapes)
    assert split_scale(query, key).shape == shapes.result_shape
    torch.testing.assert_close(split_scale(query, key), scores(query, key))


def test_the_split_scale_gives_the_weights_of_pytorch():
    query, key = random(0, (2, 5, 16), (2, 7, 16))
    eye = torch.eye(7, dtype=torch.float64).expand(2, 7, 7)  # values that show the weights
    torch.testing.assert_close(split_scale(query, key).softmax(-1), scaled_dot_product_attention(query, key, eye))


def test_the_split_scale_stays_in_range_where_the_dot_product_does_not():
    query = torch.full((1, 16), 80.0, dtype=torch.float16)
    assert (query @ query.mT * 16**-0.5).item() == float("inf")
    assert scores(query, query).item() == 25600  # for they are computed in single precision
    assert split_scale(query, query).item() == 16 * 80 * 80 / 4  # every partial sum is a half-precision number


# What the page says


def test_numbers_in_the_text():
    n, p, q, m = 1000, 10, 1000, 10
    assert (n * p * q + n * q * m, p * q * m + n * p * m) == (20_000_000, 200_000)
    assert (16 * 80 * 80, torch.finfo(torch.float16).max, 16 * 80 * 80 / 4) == (102_400, 65_504, 25_600)
