"""Limits: known ones are proved, others refused, and what the series cannot settle is an error and never a verdict."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.kernel import Derivation, I, exp, index, log, matrix, nonzero, positive, scalars, sizes, sqrt, total, vector
from derivations.kernel.core.claims import Refused
from derivations.kernel.core.expr import lift
from derivations.kernel.errors import KernelError
from derivations.kernel.exact.facts import facts_of
from derivations.kernel.exact.limits import limit
from derivations.kernel.exact.polynomials import add, constant, scale
from derivations.kernel.exact.reading import read
from derivations.kernel.sympy.witness import witness

n = sizes("n")
x, t, a, b = scalars("x t a b")
v = vector("v", n)
i, j = index("i", n), index("j", n)

KNOWN = {
    "a quotient": (1 / n, n, "oo", 0, ()),
    "a quotient of polynomials": ((3 * n**2 + n) / (2 * n**2 + 1), n, "oo", Fraction(3, 2), ()),
    "a difference of roots": (sqrt(n + 1) - sqrt(n), n, "oo", 0, ()),
    "a quotient of roots": (sqrt(4 * n + 1) / sqrt(n), n, "oo", 2, ()),
    "the exponential": ((1 + t**2 / n) ** n, n, "oo", exp(t**2), ()),
    "the exponential of a half": ((1 + t**2 / n) ** (-n / 2), n, "oo", exp(-(t**2) / 2), ()),
    "a logistic weight": (1 / (1 + exp(-x)), x, "oo", 1, ()),
    "its slope": (exp(-x) / (1 + exp(-x)) ** 2, x, "oo", 0, ()),
    "a hyperbolic tangent": ((exp(x) - exp(-x)) / (exp(x) + exp(-x)), x, "oo", 1, ()),
    "a logarithm": (n * log(1 + 1 / n), n, "oo", 1, ()),
    "a slope at zero": ((exp(x) - 1) / x, x, 0, 1, (positive(x),)),
    "a slope with a parameter": ((exp(a * x) - 1) / x, x, 0, a, (positive(x),)),
    "the second term of an exponential": ((exp(x) - 1 - x) / x**2, x, 0, Fraction(1, 2), (positive(x),)),
    "the third term of an exponential": ((exp(x) - 1 - x - x**2 / 2) / x**3, x, 0, Fraction(1, 6), (positive(x),)),
    "the second term of a root": (n * (sqrt(n**2 + 1) - n), n, "oo", Fraction(1, 2), ()),
    "the second term of a logarithm": (n**2 * log(1 + 1 / n) - n, n, "oo", Fraction(-1, 2), ()),
    "a polynomial at zero": (x**2 + a * x + b, x, 0, b, ()),
}


def value(e, variable, to, given=()):
    facts = facts_of(given)
    result = limit(read(e, facts), variable, to, facts)
    return result, facts.unstated


@pytest.mark.parametrize("e, variable, to, expected, given", KNOWN.values(), ids=KNOWN)
def test_known_limits(e, variable, to, expected, given):
    result, unstated = value(e, variable, to, given)
    assert not add(result, scale(read(lift(expected), facts_of(given)), -1)) and not unstated


@pytest.mark.parametrize("e, variable, to, expected, given", KNOWN.values(), ids=KNOWN)
def test_every_other_value_is_refused_by_both_witnesses(e, variable, to, expected, given, refused, sympy_refuses):
    state = lambda D: D.limit("claim", e, variable, to, lift(expected) + 1, given=given)
    assert "another limit" in refused(state)
    assert "SymPy's limit is" in sympy_refuses(state)


@settings(derandomize=True, deadline=None, database=None, max_examples=80)
@given(*[st.lists(st.integers(-4, 4), min_size=1, max_size=4)] * 2)
def test_a_quotient_of_polynomials_goes_where_its_leading_terms_go(top, bottom):
    bottom = [abs(c) for c in bottom[:-1]] + [abs(bottom[-1]) + 1]  # positive, and of the degree it seems
    degree = max((k for k, c in enumerate(top) if c), default=0)
    numerator, denominator = (sum((c * n**k for k, c in enumerate(p)), lift(0)) for p in (top, bottom))
    e = numerator / denominator
    if degree > len(bottom) - 1:
        with pytest.raises(KernelError, match="no finite limit"):
            value(e, n, "oo")
    else:
        expected = Fraction(top[degree], bottom[-1]) if degree == len(bottom) - 1 else Fraction(0)
        assert value(e, n, "oo") == (constant(expected), [])


NOT_SETTLED = {
    "an oscillation": (exp(I * x), x, "oo"),
    "a growing exponential": (exp(x), x, "oo"),
    "a polynomial": (n**2, n, "oo"),
    "a small factor of a large one": (n * (1 + t / n), n, "oo"),
    "a logarithm that grows": (log(n) / n, n, "oo"),
    "an inverse at zero": (1 / x, x, 0),
    "an exponential of an inverse": (exp(1 / x), x, 0),
    "a limit elsewhere": (1 / n, n, 3),
    "a limit at minus infinity": (1 / n, n, "-oo"),
}


@pytest.mark.parametrize("e, variable, to", NOT_SETTLED.values(), ids=NOT_SETTLED)
def test_what_the_series_cannot_settle_is_an_error(e, variable, to):
    with pytest.raises(KernelError):
        value(e, variable, to, (positive(x),))


def series(order):
    """n^order (e^(1/n) - its Taylor polynomial of degree order - 1), which goes to 1/order!"""
    terms, factorial = lift(1), 1
    for k in range(1, order):
        factorial *= k
        terms = terms + 1 / (factorial * n**k)
    return n**order * (exp(1 / n) - terms), Fraction(1, factorial * order)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6, 8])
def test_a_series_that_is_cut_off_too_early_proves_nothing_wrong(order):
    e, expected = series(order)
    try:
        result, unstated = value(e, n, "oo")
    except KernelError:
        return  # not settled, and said so
    assert result == constant(expected) and not unstated


GROWING_SUMS = {
    "of its own index": (total(i, i) / n**2, Fraction(1, 2)),
    "of ones": (total(1, i) / n, 1),
    "of any entries": (total(v[i], i) / n, None),
    "of an exponential": (total(exp(-v[i]), i) / n, None),
}


@pytest.mark.parametrize("e, expected", GROWING_SUMS.values(), ids=GROWING_SUMS)
def test_a_sum_that_grows_with_the_variable_is_not_taken_for_a_constant(e, expected):
    try:
        result, unstated = value(e, n, "oo")
    except KernelError:
        return  # not settled, and said so
    assert expected is not None and result == constant(expected)


def test_a_limit_without_a_variable_is_refused(refused):
    assert refused(lambda D: D.limit("claim", 6 / n, 2 * n, "oo", 0))


ENTRIES = {
    "an entry": (exp(t * v[i]), 1),
    "an average": (total(exp(t * v[i]), i) / n, 1),
    "a weight": (exp(t * v[i]) / total(exp(t * v[j]), j), 1 / n),
    "a vector": (t * v + v, v),
}


@pytest.mark.parametrize("e, expected", ENTRIES.values(), ids=ENTRIES)
def test_sympy_takes_limits_of_entries_and_of_sums_at_small_sizes(e, expected):
    said = by_sympy(lambda D: D.limit("claim", e, t, 0, expected))
    assert said[:2] == ("proved", "limit") and "some sizes up to 3" in said[2]


@pytest.mark.parametrize("e, expected", ENTRIES.values(), ids=ENTRIES)
def test_sympy_refuses_wrong_limits_of_entries_and_of_sums(e, expected):
    with pytest.raises(Refused, match="SymPy's limit is"):
        by_sympy(lambda D: D.limit("claim", e, t, 0, 2 * expected))


def test_sympy_says_nothing_of_a_sum_that_grows_with_the_variable():
    assert by_sympy(lambda D: D.limit("claim", total(v[i], i) / n, n, "oo", 0))[0] == "not applicable"


def by_sympy(state):
    derivation = Derivation("test")
    state(derivation)
    return witness(derivation.claims[0])


def test_a_limit_may_be_written_with_another_denominator(proved, refused):
    proved(lambda D: D.limit("claim", 1 / n + 1 - x / (x + 1), n, "oo", 1 / (x + 1), given=[nonzero(x + 1)]))
    assert "another limit" in refused(lambda D: D.limit("claim", 1 / n + 1 - x / (x + 1), n, "oo", x / (x + 1), given=[nonzero(x + 1)]))


def test_a_sum_in_a_limit_may_stand_over_another_denominator(proved):
    m = sizes("m")
    s = (matrix("A", m, m) @ matrix("B", m, m))[1, 1]
    proved(lambda D: D.limit("claim", 1 / n + s - s * x / (x + 1), n, "oo", s / (x + 1), given=[nonzero(x + 1)]))
