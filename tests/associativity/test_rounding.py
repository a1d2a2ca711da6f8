"""Where floating-point products differ, and that the bound holds on random products and is not vacuous.

Gaps and bounds are compared in double precision. The difference of two single-precision numbers is exact in it, or off
by a relative 2^-53; the bound, a sum of positive terms, is off by a relative (p + q + 4) 2^-53. Both are below 1e-12
here, and SLACK, the one part in 10^12 given away for them, is far below u = 2^-24, one rounding of what is bounded.
"""

import itertools
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.associativity.products import grouped_left, grouped_right
from snippets.associativity.rounding import divide_after, divide_first, gamma, grouping_gap, rounding_bound
from tests.shapes import mutually_broadcastable_shapes

varied = settings(derandomize=True, deadline=None, max_examples=150)
SLACK = 1 + 1e-12


def random(seed, *shapes, spread=0):
    """Single-precision entries of size 2^e to 2^(e+1), e up to spread either way, and of either sign.

    No entry is closer to 0, so that no product of three of them underflows.
    """
    generator = torch.Generator().manual_seed(seed)
    tensors = []
    for shape in shapes:
        size = 1 + torch.rand(shape, generator=generator)
        exponent = torch.randint(-spread, spread + 1, shape, generator=generator)
        sign = 2 * torch.randint(0, 2, shape, generator=generator) - 1
        tensors.append(torch.ldexp(size, exponent) * sign)
    return tensors


# The bound


@pytest.mark.parametrize(
    ("dtype", "u"),
    [
        (torch.float64, Fraction(1, 2**53)),
        (torch.float32, Fraction(1, 2**24)),
        (torch.float16, Fraction(1, 2**11)),
        (torch.bfloat16, Fraction(1, 2**8)),
    ],
)
def test_gamma_is_exact(dtype, u):
    for n in (0, 1, 2, 17, 100):
        assert gamma(n, dtype) == pytest.approx(float(n * u / (1 - n * u)), rel=1e-15)


def test_gamma_refuses_as_many_roundings_as_lose_every_digit():
    assert gamma(255, torch.bfloat16) == 255
    with pytest.raises(ValueError, match=r"n is 256; expected less than 1 / u, which is 256 for torch.bfloat16"):
        gamma(256, torch.bfloat16)


def test_rounding_bound_is_its_formula():
    A, B, C = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0], [-4.0]]), torch.tensor([[-5.0]])  # p = 2, q = 1
    bound = rounding_bound(A, B, C)
    assert bound.dtype == torch.float64
    assert bound.tolist() == [[pytest.approx(2 * gamma(3, torch.float32) * (1 * 3 + 2 * 4) * 5, rel=1e-14)]]


@given(
    mutually_broadcastable_shapes(signature="(n,p),(p,q),(q,m)->(n,m)", max_dims=2, max_side=24),
    st.integers(0, 10**6),
    st.integers(0, 8),
)
@varied
def test_the_bound_holds_at_random_shapes_and_magnitudes(shapes, seed, spread):
    A, B, C = random(seed, *shapes.input_shapes, spread=spread)
    gap, bound = grouping_gap(A, B, C), rounding_bound(A, B, C)
    assert gap.shape == bound.shape == shapes.result_shape
    assert (gap <= bound * SLACK).all()


@pytest.mark.parametrize("shape", [(1, 1, 500, 1), (1, 500, 1, 1), (30, 200, 300, 40), (64, 64, 64, 64)])
@pytest.mark.parametrize("positive", [False, True])
def test_the_bound_holds_at_large_shapes(shape, positive):
    n, p, q, m = shape
    A, B, C = random(0, (n, p), (p, q), (q, m), spread=4)
    if positive:  # nothing cancels
        A, B, C = A.abs(), B.abs(), C.abs()
    assert (grouping_gap(A, B, C) <= rounding_bound(A, B, C) * SLACK).all()


def test_each_grouping_is_within_half_the_bound_of_the_product():
    A, B, C = random(1, (20, 30), (30, 40), (40, 10), spread=4)
    exact = A.double() @ B.double() @ C.double()  # to a relative 1e-13 of |A||B||C|
    half = rounding_bound(A, B, C) / 2 * SLACK
    assert ((grouped_left(A, B, C).double() - exact).abs() <= half).all()
    assert ((grouped_right(A, B, C).double() - exact).abs() <= half).all()


def test_the_bound_is_not_vacuous():
    # Single numbers: p + q = 2, so the bound is 4 roundings; each grouping rounds twice, to either side.
    A, B, C = random(0, *[(20_000, 1, 1)] * 3)
    ratio = grouping_gap(A, B, C) / rounding_bound(A, B, C)
    assert 0.5 < ratio.max() <= SLACK
    # Sums: roundings partly cancel, so that the ratio shrinks with the size, but not to nothing.
    A, B, C = random(0, (64, 64), (64, 64), (64, 64))
    ratio = grouping_gap(A.abs(), B.abs(), C.abs()) / rounding_bound(A, B, C)
    assert 1e-3 < ratio.max() < 0.5


# Counterexamples


def test_underflow_separates_the_groupings():
    A = B = torch.tensor([[2.0**-75]])
    C = torch.tensor([[2.0**75]])
    assert (grouped_left(A, B, C).item(), grouped_right(A, B, C).item()) == (0.0, 2.0**-75)
    assert grouping_gap(A, B, C) > rounding_bound(A, B, C)  # the bound excludes underflow, and has to
    assert torch.equal(grouped_left(A.double(), B.double(), C.double()), A.double())


def test_cancellation_separates_them_without_underflow_and_within_the_bound():
    A = torch.tensor([[1.0, 1.0]])
    B = torch.tensor([[2.0**24, -(2.0**24)], [1.0, 0.0]])
    C = torch.tensor([[1.0], [1.0]])
    assert (grouped_left(A, B, C).item(), grouped_right(A, B, C).item()) == (0.0, 1.0)
    assert grouping_gap(A, B, C) <= rounding_bound(A, B, C) * SLACK


# Division by 2 and by 3


@given(
    mutually_broadcastable_shapes(signature="(n,p),(p,q)->(n,q)", max_dims=2, max_side=24),
    st.integers(0, 10**6),
    st.sampled_from([2, 4, 2**10, 0.5]),
)
@varied
def test_division_by_a_power_of_two_is_exact(shapes, seed, c):
    A, B = random(seed, *shapes.input_shapes, spread=8)
    assert torch.equal(divide_after(A, B, c=c), divide_first(A, B, c=c))  # bit by bit


def test_division_by_3_is_not_but_stays_close():
    A, B = random(0, (64, 64), (64, 64))
    after, first = divide_after(A, B, c=3), divide_first(A, B, c=3)
    assert (after != first).float().mean() > 0.5
    # (AB)/3 and A(B/3) round every term at most p + 1 times: the bound's argument, with a number for C.
    bound = 2 * gamma(65, torch.float32) * (A.double().abs() @ B.double().abs()) / 3
    assert ((after.double() - first.double()).abs() <= bound * SLACK).all()


def test_5_and_1_are_the_smallest_whole_numbers_that_division_by_3_separates():
    def separated(a, b):
        A, B = torch.tensor([[float(a)]]), torch.tensor([[float(b)]])
        return divide_after(A, B, c=3).item() != divide_first(A, B, c=3).item()

    pairs = sorted(itertools.product(range(1, 8), repeat=2), key=lambda pair: (sum(pair), -pair[0]))
    assert next(pair for pair in pairs if separated(*pair)) == (5, 1)
    # (5 * 1) / 3 is rounded once, so it is the nearest number to 5/3; the other is the next one up.
    once = torch.tensor(float(Fraction(5, 3)), dtype=torch.float32)
    A, B = torch.tensor([[5.0]]), torch.tensor([[1.0]])
    assert divide_after(A, B, c=3).item() == once.item()
    assert divide_first(A, B, c=3).item() == torch.nextafter(once, torch.tensor(2.0)).item()


def test_out_of_range_even_division_by_2_is_not_exact():
    A = torch.tensor([[2.0]])
    smallest, large = torch.tensor([[2.0**-149]]), torch.tensor([[2.0**127]])
    assert (divide_after(A, smallest, c=2).item(), divide_first(A, smallest, c=2).item()) == (2.0**-149, 0.0)
    assert (divide_after(A, large, c=2).item(), divide_first(A, large, c=2).item()) == (float("inf"), 2.0**127)


# What the source measured


def test_the_figures_of_the_source_are_those_of_single_precision():
    """Mean and deviation of the gap between the groupings, on 3 by 3 matrices of numbers drawn evenly from 0 to 1."""
    drawn = torch.rand(3, 500, 3, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for dtype, usual in ((torch.float32, True), (torch.float64, False)):
        A, B, C = drawn.to(dtype)
        gap = (grouped_left(A, B, C) - grouped_right(A, B, C)).double()
        ends = torch.tensor([0.01, 0.99], dtype=torch.float64)
        (low, high), (least, most) = gap.mean((-2, -1)).quantile(ends), gap.std((-2, -1)).quantile(ends)
        assert bool(low <= -2e-8 <= high and least <= 4e-8 <= most) is usual


def test_halving_leaves_a_difference_of_exactly_0_and_a_third_does_not():
    drawn = torch.rand(2, 500, 3, 3, generator=torch.Generator().manual_seed(0))
    assert torch.equal(divide_after(*drawn, c=2), divide_first(*drawn, c=2))
    assert not torch.equal(divide_after(*drawn, c=3), divide_first(*drawn, c=3))


# What the page says


def test_numbers_in_the_text():
    a, c = torch.tensor(4097.0), torch.tensor(3.0)
    assert ((a * a) * c, a * (a * c)) == (50_356_224, 50_356_228)
    assert f"{torch.finfo(torch.float32).eps / 2:.8f} {gamma(128, torch.float32):.6f}" == "0.00000006 0.000008"
