"""Absolute values and lengths of complex numbers: with their conjugates, and never as the root of a square."""

import pytest

from derivations.kernel import I, absolute, array, cos, exp, index, norm, scalars, sizes, sqrt, total, vector
from derivations.kernel.core.constructors import function
from derivations.kernel.errors import KernelError

n = sizes("n")
x, y = scalars("x y")
z, w, j = vector("z", n), vector("w", n), index("j", n)
a, b = exp(I * x), exp(I * y)

TRUE = {
    "a phase": (absolute(a), 1),
    "a number of two parts": (absolute(x + I * y), sqrt(x**2 + y**2)),
    "a turned number": (absolute(x * b), absolute(x)),
    "a sum of phases": (absolute(1 + a) ** 2, 2 + 2 * cos(x)),
    "an imaginary number": (absolute(I * x), absolute(x)),
    "the length of numbers": (norm(array([2, I])), sqrt(5)),
    "the length of phases": (norm(array([a, b])), sqrt(2)),
    "the length of a vector of two parts": (norm(z + I * w) ** 2, z @ z + w @ w),
    "the length of a turned vector": (norm(a * z) ** 2, z @ z),
    "a sum of squares": (total(absolute(z[j] + I * w[j]) ** 2, j), z @ z + w @ w),
}
FALSE = {
    "the root of a square": (norm(array([2, I])), sqrt(3)),
    "a phase that grows": (absolute(a), exp(x)),
    "the sum of two parts": (absolute(x + I * y), x + y),
    "an imaginary number with its sign": (absolute(I * x), x),
    "a length with the square of i": (norm(z + I * w) ** 2, z @ z - w @ w),
    "the sum of two lengths": (absolute(a + b), 2),
    "a turned number with its sign": (absolute(x * b), x),
}


@pytest.mark.parametrize("left, right", TRUE.values(), ids=TRUE)
def test_a_true_identity_is_proved(proved, left, right):
    proved(lambda D: D.identity("claim", left, right))


@pytest.mark.parametrize("left, right", FALSE.values(), ids=FALSE)
def test_a_false_identity_is_refuted_at_values(rejection, left, right):
    assert rejection(lambda D: D.identity("claim", left, right)).code == "false-claim"


def test_the_triangle_holds_for_complex_numbers(proved):
    gap = absolute(a) + absolute(b) - absolute(a + b)
    proved(lambda D: D.inequality("claim", absolute(a + b), 2, because=gap))


@pytest.mark.parametrize("gap", [exp(I * x) - 1 - I * x, I * absolute(a), a**2], ids=["a tangent", "an imaginary number", "a square"])
def test_complex_numbers_have_no_order(rejection, gap):
    assert rejection(lambda D: D.inequality("claim", 0, gap, because=gap)).code == "not-real"


def test_a_length_node_holds_real_entries_only():
    with pytest.raises(KernelError, match="is that of its absolute values"):
        function("norm", array([2, I]))
    assert norm(array([absolute(I), 1])) == function("norm", array([absolute(I), 1]))
