"""Limits: true ones are proved and false ones rejected; if the series does not decide, there is an error and no verdict."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.kernel import (
    Derivation,
    I,
    absolute,
    diff,
    exp,
    index,
    log,
    matrix,
    nonnegative,
    nonzero,
    norm,
    positive,
    scalars,
    sizes,
    sqrt,
    tanh,
    total,
    vector,
)
from derivations.kernel.core.claims import Rejected
from derivations.kernel.core.expr import lift
from derivations.kernel.errors import KernelError
from derivations.kernel.exact.assumption_facts import collect_facts
from derivations.kernel.exact.polynomials import add, constant, scale
from derivations.kernel.exact.series_limits import near_limit, take_limit
from derivations.kernel.exact.tree_to_normal_form import normalize
from derivations.kernel.pytorch.witness import witness as numbers
from derivations.kernel.sympy.witness import witness
from tests.kernel.common import has_code

n = sizes("n")
x, t, a, b = scalars("x t a b")
v = vector("v", n)
i, j = index("i", n), index("j", n)
HALF = Fraction(1, 2)

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
    facts = collect_facts(given)
    result = take_limit(normalize(e, facts), variable, to, facts)
    return result, facts.unstated


@pytest.mark.parametrize("e, variable, to, expected, given", KNOWN.values(), ids=KNOWN)
def test_known_limits(e, variable, to, expected, given):
    result, unstated = value(e, variable, to, given)
    assert not add(result, scale(normalize(lift(expected), collect_facts(given)), -1)) and not unstated


@pytest.mark.parametrize("e, variable, to, expected, given", KNOWN.values(), ids=KNOWN)
def test_every_other_value_is_refused_by_both_witnesses(e, variable, to, expected, given, rejection, sympy_rejection):
    state = lambda D: D.limit("claim", e, variable, to, lift(expected) + 1, given=given)
    assert rejection(state).code == "wrong-limit"
    assert sympy_rejection(state).code == "sympy-disagrees"


@settings(derandomize=True, deadline=None, database=None, max_examples=80)
@given(*[st.lists(st.integers(-4, 4), min_size=1, max_size=4)] * 2)
def test_a_quotient_of_polynomials_goes_where_its_leading_terms_go(top, bottom):
    bottom = [abs(c) for c in bottom[:-1]] + [abs(bottom[-1]) + 1]  # positive, and of the degree it seems
    degree = max((k for k, c in enumerate(top) if c), default=0)
    numerator, denominator = (sum((c * n**k for k, c in enumerate(p)), lift(0)) for p in (top, bottom))
    e = numerator / denominator
    if degree > len(bottom) - 1:
        with pytest.raises(KernelError, check=has_code("no-finite-limit")):
            value(e, n, "oo")
    else:
        expected = Fraction(top[degree], bottom[-1]) if degree == len(bottom) - 1 else Fraction(0)
        assert value(e, n, "oo") == (constant(expected), [])


NOT_SETTLED = {
    "an oscillation": (exp(I * x), x, "oo"),
    "a growing exponential": (exp(x), x, "oo"),
    "a polynomial": (n**2, n, "oo"),
    "a small factor of a large one": (n * (1 + t / n), n, "oo"),
    "a logarithm of a logarithm that grows": (log(log(n + 1)) / n, n, "oo"),
    "an exponential of an exponential": (exp(-exp(x)), x, "oo"),
    "a sign that alternates": (lift(-1) ** n, n, "oo"),
    "a base that moves and may be negative": ((t + 1 / n) ** n, n, "oo"),
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


def test_a_limit_without_a_variable_is_refused(rejection):
    assert rejection(lambda D: D.limit("claim", 6 / n, 2 * n, "oo", 0)).code == "invalid-limit-variable"


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
    with pytest.raises(Rejected, check=has_code("sympy-disagrees")):
        by_sympy(lambda D: D.limit("claim", e, t, 0, 2 * expected))


@pytest.mark.parametrize("ask", [witness, numbers], ids=["sympy", "pytorch"])
def test_a_limit_has_to_hold_where_a_name_is_nothing(ask):
    """SymPy's own limit of t n / (1 + t n) is 1, and at t = 0 it is 0."""

    def stated(assumed):
        derivation = Derivation("test")
        derivation.limit("claim", t * n / (1 + t * n), n, "oo", 1, given=[assumed(t)])
        return derivation.claims[0]

    assert ask(stated(positive))[0] in ("proved", "agrees")
    with pytest.raises(Rejected):
        ask(stated(nonnegative))


def test_sympy_says_nothing_of_a_sum_that_grows_with_the_variable():
    assert by_sympy(lambda D: D.limit("claim", total(v[i], i) / n, n, "oo", 0))[0] == "not applicable"


def by_sympy(state):
    derivation = Derivation("test")
    state(derivation)
    return witness(derivation.claims[0])


def test_a_limit_may_be_written_with_another_denominator(proved, rejection):
    proved(lambda D: D.limit("claim", 1 / n + 1 - x / (x + 1), n, "oo", 1 / (x + 1), given=[nonzero(x + 1)]))
    assert (
        rejection(lambda D: D.limit("claim", 1 / n + 1 - x / (x + 1), n, "oo", x / (x + 1), given=[nonzero(x + 1)])).code == "wrong-limit"
    )


def test_a_sum_in_a_limit_may_stand_over_another_denominator(proved):
    m = sizes("m")
    s = (matrix("A", m, m) @ matrix("B", m, m))[1, 1]
    proved(lambda D: D.limit("claim", 1 / n + s - s * x / (x + 1), n, "oo", s / (x + 1), given=[nonzero(x + 1)]))


# What an assumption of a limit is needed for


def goes(e, variable, to, value, *given, **without):
    return lambda D: D.limit("claim", e, variable, to, value, given=given, **without)


def shows(assumption, **at):
    return {"without": {assumption: {{"x": x, "a": a, "b": b, "t": t, "v": v}[name]: value for name, value in at.items()}}}


LONG = positive(v @ v)
NO_HINT = {
    "a norm that may vanish": goes(norm(v + x * v), x, 0, norm(v), LONG, **shows(LONG, v=[0], x=1)),
    "a modulus": goes(absolute(a + b * x) * a, x, 0, a**2, positive(a), **shows(positive(a), a=0, b=1, x=-1)),
    "a root": goes(sqrt(a + x), x, 0, sqrt(a), positive(a), **shows(positive(a), a=0, x=-1)),
    "a size": goes(n * x / (n * a + 1), n, "oo", x / a, positive(a), without={positive(a): {n: 1, a: -1, x: 1}}),
}


@pytest.mark.parametrize("state", NO_HINT.values(), ids=NO_HINT)
def test_one_value_of_the_variable_says_nothing_of_a_limit(state, rejection):
    assert rejection(state).code == "value-not-allowed"


NOT_SHOWN = {  # at these values the limit holds
    "a norm that vanishes": goes(norm(v + x * v), x, 0, norm(v), LONG, **shows(LONG, v=[0])),
    "a root at zero": goes(sqrt(a + x), x, 0, sqrt(a), positive(a), **shows(positive(a), a=0)),
    "where it holds": goes(a / (a + x), x, 0, 1, nonzero(a), **shows(nonzero(a), a=2)),
}


@pytest.mark.parametrize("state", NOT_SHOWN.values(), ids=NOT_SHOWN)
def test_values_at_which_the_limit_holds_show_nothing(state, rejection):
    assert rejection(state).code == "no-counterexample"


KNOWN_NEAR = {
    "what is divided by, at zero": (goes, (exp(x) - 1) / x, x, 0, 1, nonzero(x)),
    "what is divided by, from above": (goes, (exp(x) - 1) / x, x, 0, 1, positive(x)),
    "a root far out": (goes, sqrt(x**2 + x) - x, x, "oo", HALF, positive(x)),
    "a root at zero": (goes, sqrt(x) + absolute(x) / x, x, 0, 1, nonnegative(x)),
    "a size": (goes, (n + 1) / n, n, "oo", 1, nonzero(n)),
    "a modulus with a square": (goes, absolute(x + a**2), x, 0, a**2, nonzero(a)),
    "a denominator that comes to be positive": (goes, exp(a) / (exp(x) + b), x, "oo", 0, positive(b)),
    "one that stays away from zero": (goes, (a + exp(-x)) / (1 + b * exp(-x)), x, "oo", a, nonnegative(b)),
    "a root of what is positive far out": (goes, sqrt(x - 5) / sqrt(x), x, "oo", 1, positive(x)),
    "a logarithm near one": (goes, log(1 + a * x), x, 0, 0, nonnegative(a)),
}


@pytest.mark.parametrize("of, e, variable, to, value, assumed", KNOWN_NEAR.values(), ids=KNOWN_NEAR)
def test_what_is_so_near_the_limit_is_not_stated(of, e, variable, to, value, assumed, proved, rejection):
    proved(of(e, variable, to, value))
    assert by_torch(of(e, variable, to, value)) in ("agrees", "not applicable")
    error = rejection(of(e, variable, to, value, assumed))
    assert error.code == "assumption-not-needed"
    assert ("near the limit" in error.message) is (assumed.args == (variable,))


def by_torch(state):
    derivation = Derivation("test")
    state(derivation)
    return numbers(derivation.claims[0])[0]


NOWHERE = {
    "a root": (goes(sqrt(5 - x) / sqrt(x), x, "oo", 1), "5 - x"),
    "a logarithm": (goes(log(x - 1) + x, x, 0, 0), "x - 1"),
    "a root that may be one": (goes(sqrt(a + x), x, 0, sqrt(a)), "a = -1"),
}


@pytest.mark.parametrize("state, says", NOWHERE.values(), ids=NOWHERE)
def test_what_has_no_value_near_the_limit_has_none(state, says, rejection, sympy_rejection):
    assert rejection(state).code == "assumption-missing"
    error = sympy_rejection(state)
    assert error.code == "sympy-disagrees" and says in error.message
    with pytest.raises(Rejected, check=has_code("undefined-value")):
        by_torch(state)


SHOWN = {
    "the right side": (
        goes(n * x / (n * a + 1), n, "oo", x / a, nonzero(a)),
        "at a = 0, x = 0 the right side is undefined (a division by zero)",
    ),
    "elsewhere": (goes(a / (a + x), x, 0, 1, nonzero(a)), "at a = 0 the series gives 0 as x -> 0, and 1 is stated"),
    "without bound": (goes(1 / (a + 1 / x), x, "oo", 1 / a, nonzero(a)), "at a = 0 the left side has no finite limit as x -> oo"),
    "without a value": (
        goes(sqrt(a + x), x, 0, sqrt(a), positive(a), **shows(positive(a), a=-1)),
        "at a = -1 the left side is undefined (a root of a negative number), however near the limit",
    ),
    "a hint that leaves the variable open": (
        goes(a / (a + x), x, 0, 1, nonzero(a), **shows(nonzero(a), a=0)),
        "at a = 0 the series gives 0 as x -> 0, and 1 is stated",
    ),
    "what stands still": (
        goes(a / a + tanh(x), x, 0, 1, nonzero(a)),
        "at a = 0 the left side is undefined (a division by zero), however near the limit",
    ),
    "an entry": (
        goes(v[i] / (v[i] + x), x, 0, 1, nonzero(v[j])),
        "at v = [0], i = 1 the series gives 0 as x -> 0, and 1 is stated",
    ),
    "a vector": (
        goes(v / a + x * v, x, 0, v / a, nonzero(a)),
        "at a = 0, v = [0] the left side is undefined (a division by zero), however near the limit",
    ),
}


@pytest.mark.parametrize("state, needed", SHOWN.values(), ids=SHOWN)
def test_a_counterexample_to_a_limit_says_what_is_so_near_it(state, needed, proved):
    assert proved(state).needed == (needed,)


LACKING = {
    "a size": (goes(n * x / (n * a + 1), n, "oo", x / a), "nonzero(a)"),
    "a root": (goes(sqrt(a + x), x, 0, sqrt(a)), "positive(a)"),
    "a root that stands alone": (goes(sqrt(a * x), x, 0, 0), "nonnegative(a)"),
    "a root that may begin below zero": (goes(sqrt(a + b * x), x, 0, sqrt(a), nonnegative(a)), "positive(a)"),
    "a logarithm": (goes(log(a + x), x, 0, log(a)), "positive(a)"),
}


@pytest.mark.parametrize("state, assumption", LACKING.values(), ids=LACKING)
def test_the_missing_assumption_is_about_what_does_not_move(state, assumption, rejection):
    error = rejection(state)
    assert error.code == "assumption-missing" and f"given=[{assumption}]" in error.message


@pytest.mark.parametrize("given", [(), (nonzero(a),)])
def test_no_value_of_the_variable_is_offered(given, rejection):
    message = rejection(goes(sqrt(a**2 + x), x, 0, sqrt(a**2), *given)).message
    assert "x: ..." not in message and "x =" not in message, message


def test_a_number_does_not_stand_for_what_a_slope_is_taken_by(rejection):
    """At a = 0 the slope of a square is still a slope by a."""
    assumed = nonzero(a)
    error = rejection(lambda D: D.limit("claim", diff(a**2, a) + x / a, x, 0, 2 * a, given=[assumed], without={assumed: {a: 0}}))
    assert error.code == "no-counterexample"


WHOLE_POWERS = {
    "of any number": ((1 + t / n) ** n, exp(t)),
    "falling": ((1 - t / n) ** (2 * n), exp(-2 * t)),
    "with a parameter": ((1 - a / (t**2 + 1) / n) ** n, exp(-a / (t**2 + 1))),
}


@pytest.mark.parametrize("e, expected", WHOLE_POWERS.values(), ids=WHOLE_POWERS)
def test_a_whole_power_of_what_is_positive_near_the_limit_is_an_exponential(e, expected, proved, rejection):
    proved(lambda D: D.limit("claim", e, n, "oo", expected))
    assert rejection(lambda D: D.limit("claim", e, n, "oo", expected + 1)).code == "wrong-limit"


@pytest.mark.parametrize("base", [t + a / n, -1 - a / n, a / n], ids=str)
def test_a_whole_power_of_what_need_not_be_positive_there_is_not(base):
    facts = collect_facts(())
    with near_limit(facts, n, "oo"):
        assert not facts.is_eventually_positive(normalize(base, facts)) and not facts.missing
        assert facts.is_eventually_positive(normalize(1 + base / n, facts))
    assert not facts.is_eventually_positive(normalize(1 + base / n, facts))
