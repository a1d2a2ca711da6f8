"""The zero test of SymPy programs for quotients of polynomials is right in both directions."""

from contextlib import suppress

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.kernel.sympy.prelude.outcome import NotSettled
from derivations.kernel.sympy.prelude.zero_quotients import coefficients, is_zero_quotient
from derivations.kernel.sympy.prelude.zero_test import follows, reduces

a, b, c = sp.symbols("a b c", real=True)
p, q = sp.symbols("p q", positive=True)
n = sp.Symbol("n", integer=True, positive=True)
z, w = sp.symbols("z w")  # complex
root, sum_ = sp.sqrt(a**2 + 1), sp.exp(a) + sp.exp(b)

ZERO = {
    "a product multiplied out": (a + b) ** 3 - a**3 - 3 * a**2 * b - 3 * a * b**2 - b**3,
    "a quotient": 1 / (a + b) - (a - b) / (a**2 - b**2),
    "two fraction lines": a / (1 / b + 1 / (a * b)) - a**2 * b / (a + 1),
    "a softmax": sp.exp(a) / sum_ + sp.exp(b) / sum_ - 1,
    "a sum in an exponent": sp.exp(2 * (a + b)) - sp.exp(a) ** 2 * sp.exp(b) ** 2,
    "a half in an exponent": sp.exp(a / 2) ** 3 * sp.exp(b) - sp.exp(sp.Rational(3, 2) * a + b),
    "a square of a root": (root - 1) * (root + 1) - a**2,
    "a root below the line": 1 / root - root / (a**2 + 1),
    "a root in a root": sp.sqrt(root + 2) ** 4 - a**2 - 5 - 4 * root,
    "a modulus": sp.Abs(a) ** 3 - a**2 * sp.Abs(a),
    "a slope of a modulus": sp.sign(a) - sp.Abs(a) / a,
    "a largest number": (sp.Max(a, b) + 1) * (sp.Max(a, b) - 1) - sp.Max(a, b) ** 2 + 1,
    "angles": sp.cos(a + b) - sp.cos(a) * sp.cos(b) + sp.sin(a) * sp.sin(b),
    "a hyperbolic tangent": 1 - sp.tanh(a) ** 2 - 4 * sp.exp(2 * a) / (1 + sp.exp(2 * a)) ** 2,
    "the imaginary unit": (a + sp.I * b) * (a - sp.I * b) - a**2 - b**2,
    "a logarithm of what is positive": sp.log(p * sp.exp(a) / q) - sp.log(p) - a + sp.log(q),
    "a power of what is positive": (sp.exp(a) / sum_) ** c - sp.exp(a * c) / sum_**c,
    "a size in an exponent": p ** (n + 1) - p * p**n,
    "a number in an exponent": sp.exp(a * sp.log(4)) - 2 ** (2 * a),
}
NOT_ZERO = {
    "a root of a square": sp.sqrt(z**2) - z,
    "a modulus": sp.Abs(a) - a,
    "roots of what may be negative": sp.sqrt(a) * sp.sqrt(b) - sp.sqrt(a * b),
    "a logarithm of what may be negative": sp.log(a * b) - sp.log(a) - sp.log(b),
    "a logarithm of an exponential": sp.log(sp.exp(z)) - z,
    "a power of what may be negative": (a * b) ** c - a**c * b**c,
    "a power of a power": (a**2) ** c - a ** (2 * c),
    "a root of a negative number": sp.root(-8, 3) + 2,
    "another letter": sp.exp(a) - sp.exp(b),
    "a sign": (a - b) / (b - a) - 1,
    "half": sp.exp(a / 2) ** 2 - sp.exp(a / 2),
}


@pytest.mark.parametrize("e", ZERO.values(), ids=ZERO)
def test_what_is_0_is_seen(e):
    assert is_zero_quotient(e)


@pytest.mark.parametrize("e", NOT_ZERO.values(), ids=NOT_ZERO)
def test_what_is_not_0_everywhere_is_not_said_to_be(e):
    assert not is_zero_quotient(e) and not reduces(e)


@pytest.mark.parametrize("e", [(a + 1) / ((a + 1) ** 2 - a**2 - 2 * a - 1), sp.zoo * a - sp.zoo * a, sp.nan + a, sp.oo * a])
def test_what_has_no_value_is_not_0(e):
    assert not is_zero_quotient(e) and not is_zero_quotient(e * ((b + 1) ** 2 - b**2 - 2 * b - 1))


LEAVES = [a, b, sp.exp(a - b), sp.sqrt(a**2 + 2), sp.cos(b), sp.Abs(b), sp.Rational(1, 3), sp.Integer(-2)]


def combined(parts):
    return st.builds(lambda kind, x, y: {"add": x + y, "mul": x * y, "div": x / (y**2 + 1), "square": x**2}[kind], KINDS, parts, parts)


KINDS = st.sampled_from(["add", "mul", "div", "square"])
TREES = st.recursive(st.sampled_from(LEAVES), combined, max_leaves=6)


@settings(derandomize=True, deadline=None, database=None, max_examples=60)
@given(TREES, TREES)
def test_it_agrees_with_numbers(x, y):
    """Where two ways of writing one thing are told apart, or two things are not, numbers show it."""
    assert is_zero_quotient((x + y) ** 2 - x**2 - 2 * x * y - y**2)
    assert is_zero_quotient(x / (y**2 + 1) * (y**2 + 1) - x)
    apart = abs((x - y).subs({a: sp.Rational(7, 5), b: sp.Rational(-3, 7)}).evalf(30)) > sp.Float(10) ** -20
    assert not (is_zero_quotient(x - y) and apart)


def test_coefficients_stand_beside_the_other_letters():
    assert set(coefficients((a * b + c) * (a - 1) + sp.sqrt(2) * b, [b])) == {b, sp.Integer(1), -b, sp.Integer(-1)}


def test_what_equations_make_0_is_seen_and_nothing_else():
    unit = (a**2 + b**2 - 1, sp.Integer(0))
    assert follows(c**2 * (a**4 - b**4) - c**2 * (a**2 - b**2) + p * (a**2 + b**2) - p, unit)
    assert not follows(c * (a**2 + b**2) - p, unit)
    assert not follows(c * (a - 1), unit) and not follows(a * c, (sp.Integer(0),))
    assert reduces(sp.sqrt(2) * c * (a**2 + b**2) - sp.sqrt(2) * c, unit)


A, B, p, q, x = sp.symbols("A B p q x", real=True)


def test_letters_that_do_not_commute_are_no_letters():
    a, b = sp.symbols("a b", commutative=False)
    assert not is_zero_quotient(a * b - b * a) and not reduces(a * b - b * a)


def test_what_is_0_by_assumption_is_not_divided_by():
    """As numbers the quotient is 1; by what is assumed it has no value."""
    nothing = A * p + B * q
    quotient = (x + nothing) / nothing - x / nothing - 1
    with pytest.raises(NotSettled):
        reduces(quotient, (nothing,))
    assert reduces(quotient)


@pytest.mark.parametrize("number", [sp.Rational(1, 2), 3])
def test_fractions_stand_before_what_is_0_by_assumption(number):
    assert reduces(p * number, (p,)) and not reduces((p + x) * number, (p,))


def test_other_numbers_before_it_end_in_no_error():
    """Not settled, or settled rightly."""
    for number in (sp.exp(-1), 1 / (1 + sp.E)):
        with suppress(NotSettled):
            assert reduces(p * number, (p,))
        with suppress(NotSettled):
            assert not reduces((p + x) * number, (p,))
