"""The maximum of two numbers is (a + b + |a - b|)/2, which relates it to absolute values and to other maxima."""

import pytest

from derivations.kernel import absolute, array, exp, index, largest, log, positive, scalars, sizes, total, vector

n = sizes("n")
x, y, t = scalars("x y t")
z, i = vector("z", n), index("i", n)


def larger(a, b):
    return largest(array([a, b]))


TRUE = {
    "the positive part": (larger(x, 0), (x + absolute(x)) / 2),
    "of two numbers": (larger(x, y), (x + y + absolute(x - y)) / 2),
    "less the smaller one": (larger(x, y) - larger(-x, -y), x + y),
    "the two parts of a number": (larger(x, 0) - larger(-x, 0), x),
    "their product": (larger(x, 0) * larger(-x, 0), 0),
    "their sum": (larger(x, 0) + larger(-x, 0), absolute(x)),
    "a square": (larger(x, 0) ** 2, x * larger(x, 0)),
    "of exponentials": (log(larger(exp(x), exp(y))), (x + y + absolute(x - y)) / 2),
    "in a sum": (total(z[i] * larger(x, 0), i), total(z[i], i) * (x + absolute(x)) / 2),
}
FALSE = {
    "the negative part": (larger(x, 0), (x - absolute(x)) / 2),
    "the sum": (larger(x, y), x + y),
    "the smaller one": (larger(x, y), (x + y - absolute(x - y)) / 2),
    "another square": (larger(x, 0) ** 2, x**2),
    "two of three": (largest(array([x, y, 0])), (x + y + absolute(x - y)) / 2),
}


@pytest.mark.parametrize("left, right", TRUE.values(), ids=TRUE)
def test_a_maximum_of_two_is_written_with_an_absolute_value(proved, left, right):
    proved(lambda D: D.identity("claim", left, right))


@pytest.mark.parametrize("left, right", FALSE.values(), ids=FALSE)
def test_what_is_not_the_maximum_is_refuted(rejection, left, right):
    assert rejection(lambda D: D.identity("claim", left, right)).code == "false-claim"


def test_assumptions_hold_inside(proved):
    proved(lambda D: D.identity("claim", larger(t * x, t * y), t * (x + y + absolute(x - y)) / 2, given=[positive(t)]))
