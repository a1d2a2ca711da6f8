"""Rounding to fp32 agrees with NumPy for numbers of every magnitude."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from derivations.kernel import in_range, representable, rounded, scalars
from derivations.kernel.exact.flint_numbers import Undefined, round_to, to_fmpq, to_fraction
from tests.kernel.common import has_code

LARGEST = (2 - Fraction(1, 2**23)) * 2**127
TINY = Fraction(1, 2**149)
a, b = scalars("a b")


def ours(x):
    return to_fraction(round_to(to_fmpq(x), "fp32"))


def round_with_numpy(x):
    """Round x to fp32 with NumPy. x must be exactly a double, so that it is rounded only once."""
    assert Fraction(float(x)) == x
    return Fraction(float(np.float32(float(x))))


def doubles():
    """Numbers that a double holds exactly: all exponents of fp32, its subnormal numbers, and both signs."""
    random = Random(0)
    for _ in range(3000):
        yield Fraction(random.getrandbits(53) * random.choice((-1, 1))) * Fraction(2) ** random.randint(-205, 74)


def ties():
    """Half-way points between two neighbours, and points a little off them, normal and subnormal."""
    random = Random(1)
    for _ in range(1000):
        exponent = random.randint(-149, 103)
        digits = random.getrandbits(24) | (1 << 23 if exponent > -149 else 0)
        half = (digits + Fraction(1, 2)) * Fraction(2) ** exponent
        yield from (half, -half, half + Fraction(2) ** (exponent - 20), half - Fraction(2) ** (exponent - 20))


def test_numbers_of_every_size():
    wrong = [x for x in doubles() if ours(x) != round_with_numpy(x)]
    assert not wrong


def test_ties_go_to_even():
    wrong = [x for x in ties() if ours(x) != round_with_numpy(x)]
    assert not wrong


def test_a_rational_goes_to_the_nearer_neighbour():
    """A fraction that no double holds: its neighbours in fp32 are found by NumPy, and compared with it exactly."""
    random = Random(2)
    for _ in range(2000):
        x = Fraction(random.randint(-(10**12), 10**12), random.randint(1, 10**9) * 2 + 1) * Fraction(2) ** random.randint(-140, 60)
        near = np.float32(float(x))
        around = [Fraction(float(v)) for v in (np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf)))]
        assert abs(ours(x) - x) == min(abs(v - x) for v in around) and ours(x) in around, x


@pytest.mark.parametrize("x", [0, 1, -1, TINY, -TINY, Fraction(1, 2**126), LARGEST, -LARGEST, 2**24, 2**24 - 1])
def test_a_number_of_the_format_stays(x):
    assert ours(x) == x


@pytest.mark.parametrize(
    "x, expected",
    [
        (TINY / 2, 0),
        (TINY / 2 + TINY / 1024, TINY),
        (TINY * Fraction(3, 2), 2 * TINY),
        (TINY / 4, 0),
        (-TINY / 2, 0),
        (2**24 + 1, 2**24),
        (2**24 + 3, 2**24 + 4),
        (LARGEST + Fraction(2) ** 102, LARGEST),
        (Fraction(1, 3), Fraction(11184811, 2**25)),
    ],
    ids=lambda v: None,
)
def test_the_edges(x, expected):
    assert ours(x) == expected


@pytest.mark.parametrize("x", [2**128, LARGEST + Fraction(2) ** 103, -(LARGEST + Fraction(2) ** 103), 10**60])
def test_what_is_too_large_has_no_value(x):
    with np.errstate(over="ignore"):
        assert np.isinf(np.float32(float(x)))
    with pytest.raises(Undefined, check=has_code("undefined-value")):
        ours(x)


def test_without_a_range_there_is_neither_overflow_nor_underflow():
    for x in (2**200, TINY / 2**100, 3 * TINY / 2**40):
        assert to_fraction(round_to(to_fmpq(x), "fp32", unbounded=True)) == x
    assert to_fraction(round_to(to_fmpq(2**200 + 1), "fp32", unbounded=True)) == 2**200


# In claims -------------------------------------------------------------------------------------------------------------------------


def test_a_power_of_two_moves_out_of_a_rounding(proved):
    proved(lambda D: D.identity("claim", rounded(a * b / 2), rounded(a * b) / 2, given=[in_range()], without={in_range(): {a: TINY, b: 1}}))


def test_a_factor_of_three_does_not(rejection):
    assert rejection(lambda D: D.identity("claim", rounded(a * b / 3), rounded(a * b) / 3, given=[in_range()])).code == "false-claim"


def test_the_range_must_be_stated(rejection):
    assert rejection(lambda D: D.identity("claim", rounded(a * b / 2), rounded(a * b) / 2)).code == "assumption-missing"


def test_rounding_twice_is_rounding_once(proved):
    proved(lambda D: D.identity("claim", rounded(rounded(a * b)), rounded(a * b), given=[in_range()]))


def test_a_number_is_not_its_rounding(rejection, proved):
    assert rejection(lambda D: D.identity("claim", rounded(a), a)).code == "assumption-missing"
    proved(lambda D: D.identity("claim", rounded(a), a, given=[representable(a)], without={representable(a): {a: Fraction(1, 3)}}))


@pytest.mark.parametrize("exact", [1 + a, 1 - a, a**2, 3 * a, a + b, rounded(a) + 1])
def test_what_needs_more_digits_than_there_are_is_not_its_rounding(rejection, exact):
    found = rejection(lambda D: D.identity("claim", exact, rounded(exact), given=[representable(a, b), in_range()]))
    assert found.code == "false-claim" and ("1/1073741824" in str(found) or "16777215" in str(found))


def test_addition_rounds_differently_in_another_order(rejection):
    assert rejection(lambda D: D.identity("claim", rounded(rounded(a + b) + 1), rounded(a + rounded(b + 1)))).code == "false-claim"
