"""A logarithm, a root and a power that is not whole are taken of what is shown to be real and to have the sign; slopes meet, or are two.

What one witness got wrong, and others saw, stands here as well: each is asked for its own part.
"""

from fractions import Fraction

import pytest

from derivations.kernel import (
    Derivation,
    E,
    I,
    Var,
    absolute,
    array,
    cos,
    diff,
    exp,
    has_moment,
    in_range,
    index,
    log,
    matrix,
    mean,
    nonnegative,
    nonzero,
    positive,
    product_is,
    random,
    rounded,
    scalars,
    sin,
    sizes,
    sqrt,
    tanh,
    total,
    vector,
)
from derivations.kernel.attack import fuzz_claim
from derivations.kernel.check.witnesses import WITNESSES
from derivations.kernel.core.claims import Rejected
from derivations.kernel.errors import KernelError
from derivations.kernel.exact.exact_evaluation import evaluate
from derivations.kernel.exact.flint_numbers import Undefined, to_fmpq
from tests.kernel.common import has_code
from tests.nightly import nightly_after

n, m = sizes("n m")
x, y, p, q, c, f = scalars("x y p q c f")
z, w, A = vector("z", n), vector("w", n), matrix("A", n, m)
i, l = index("i", n), index("l", n)
X, Y, r, s = random("X"), random("Y"), random("r", n), random("s", n)
ROOT, OTHER = I * sqrt(x - y), I * sqrt(p - q)
APART = positive(x - y)
HALF = Fraction(1, 2)


def said(state):
    """What each witness says of the claim: its verdict, or why it refuses it."""
    derivation = Derivation("test")
    state(derivation)
    found = {}
    for name, witness in WITNESSES.items():
        try:
            found[name] = witness(derivation.claims[-1]).verdict
        except Rejected as error:
            found[name] = f"refused: {error.message}"
    return found


def of(left, right, *given, **more):
    return said(lambda D: D.identity("claim", left, right, given=given, **more))


# Logarithms and roots ----------------------------------------------------------------------------------------------------------

# Each is of a number that is negative, or not real, at every value that is allowed. All three refuse it, but where one is named.
NOT_REAL = {
    "a ratio": (log(ROOT**2) - log(4 * ROOT**2), -log(4 + 0 * x), [APART]),
    "a slope": (diff(log(ROOT**2), x), 1 / (x - y), [APART]),
    "two of one": (2 * log(ROOT**2), 2 * log(x - y), [APART]),
    "a product": (log(ROOT**2) + log(OTHER**2), log((x - y) * (p - q)), [APART, positive(p - q)]),
    "multiples of i": (log((I * x) ** 2) + log((I * y) ** 2), log(x**2 * y**2), [nonzero(x), nonzero(y)]),
    "a fourth power of a root of i": (log((sqrt(2 + 0 * x) * I * x) ** 2), log(2 * x**2), [nonzero(x)]),
    "a root": (sqrt(ROOT**2) * sqrt(ROOT**2), y - x, [APART]),
    "a power of a half and more": ((ROOT**2) ** Fraction(3, 2) / (ROOT**2) ** HALF, y - x, [APART]),
    "a complex exponent": ((ROOT**2) ** (I * x) * (ROOT**2) ** (-I * x), 1 + 0 * x, [APART]),
    "a sum that is not real": (2 * log((x + I) ** 2), log((x + I) ** 4), [positive(x)]),
}


@pytest.mark.parametrize("name", NOT_REAL)
def test_no_logarithm_and_no_root_is_taken_of_what_is_not_positive(name):
    left, right, given = NOT_REAL[name]
    found = of(left, right, *given)
    assert found["exact"].startswith("refused: used but not stated"), found
    assert not any(verdict in ("proved", "agrees") for verdict in found.values()), found
    assert [verdict for verdict in found.values() if verdict.startswith("refused")][1:], found


REAL = {
    "a square": (log((x - y) ** 2), 2 * log(absolute(x - y)), [nonzero(x - y)]),
    "what is stated of a sum": (log(4 * x - 4 * y), log(x - y) + log(4 + 0 * x), [APART]),
    "a root of a square": (sqrt((x - y) ** 2), absolute(x - y), []),
    "a root of a cosine's square": (sqrt(cos(x) ** 2), absolute(cos(x)), []),
    "a modulus of a cosine": (absolute(cos(x)) ** 2, cos(x) ** 2, []),
    "a sine's": (absolute(sin(x)) * absolute(sin(x)), 1 - cos(x) ** 2, []),
    "the larger of two": ((x + y + absolute(x - y)) / 2, x, [nonnegative(x - y)]),
    "the smaller of two": ((x + y - absolute(x - y)) / 2, y, [nonnegative(x - y)]),
    "the larger of two entries": (absolute(z[i] - z[l]), z[i] - z[l], [nonnegative(z[i] - z[l])]),
    "a complex exponent": (exp(I * log(x - y)) * exp(-I * log(x - y)), 1 + 0 * x, [APART]),
    "a complex divisor": (1 / (x + I), (x - I) / (x**2 + 1), []),
    "a multiple of i": (x / (I * (x - y)), -I * x / (x - y), [nonzero(I * (x - y))]),
}


@pytest.mark.parametrize("name", REAL)
def test_what_is_real_is_seen_to_be(name):
    left, right, given = REAL[name]
    found = of(left, right, *given)
    assert found["exact"] == "proved" and not any(v.startswith("refused") for v in found.values()), found
    assert [v for v in found.values() if v in ("proved", "agrees")][1:], found


@pytest.mark.parametrize("state", [positive, nonnegative], ids=["positive", "nonnegative"])
def test_what_is_complex_has_no_sign(state):
    with pytest.raises(KernelError, check=has_code("not-real")):
        state(I * x)


def test_what_is_complex_is_no_mean_and_is_not_rounded():
    for make in (lambda: rounded(I * x), lambda: mean(X, I), lambda: rounded(cos(x) + I)):
        with pytest.raises(KernelError, check=has_code("not-real")):
            make()


# Slopes ------------------------------------------------------------------------------------------------------------------------

SMOOTH = {
    "a cube": (diff(absolute(x) ** 3, x), 3 * x * absolute(x)),
    "a modulus times its number": (diff(absolute(x) * x, x), 2 * absolute(x)),
    "a modulus times itself": (diff(absolute(x) * absolute(x), x), 2 * x),
    "a square, squared": (diff(absolute(x) ** 2, x) ** 2, 4 * x**2),
    "a root of a square": (diff(x * sqrt(x**2), x), 2 * sqrt(x**2)),
    "a difference": (diff(absolute(x - y) ** 3, x), 3 * (x - y) * absolute(x - y)),
    "a product": (diff(absolute(x * y) ** 3, x), 3 * x * y**2 * absolute(x * y)),
    "a sum over an index": (diff(total(absolute(z[i]) ** 3, i), z[l]), 3 * z[l] * absolute(z[l])),
    "a hinge, squared": (diff(((x + absolute(x)) / 2) ** 2, x), x + absolute(x)),
    "beside another corner": (diff((x + absolute(x)) * (y + absolute(y)) * x, x), (2 * x + 2 * absolute(x)) * (y + absolute(y))),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_a_modulus_beside_what_vanishes_with_it_has_a_slope(name):
    assert of(*SMOOTH[name]) == {"exact": "proved", "sympy": "proved", "torch": "agrees"}


def test_a_corner_where_nothing_can_be_does_not_stop_it():
    """x y is 0 only where y is, of which alone SymPy can be asked: x is not zero."""
    product = diff(absolute(x * y) * absolute(x) * y, x), 2 * x * absolute(y) * y * absolute(x) / absolute(x)
    assert of(*product, nonzero(x)) == {"exact": "proved", "sympy": "proved", "torch": "agrees"}


def test_an_assumption_is_not_needed_where_the_slope_exists():
    found = of(*SMOOTH["a cube"], nonzero(x))
    assert "'x is not zero' is stated but not shown to be needed" in found["exact"]
    assert "undefined" not in found["exact"]


@pytest.mark.parametrize("e", [absolute(x), absolute(x) * (x + 1), absolute(x) + x, sqrt(x**2), absolute(x) ** 3 + absolute(x)])
def test_a_corner_has_none_and_all_say_so(e):
    found = of(diff(e, x) * absolute(x) * 0, 0 * x)
    assert "slopes on the two sides of a corner differ" in found["exact"]
    assert "there it has no slope" in found["sympy"] and "slopes on the two sides" in found["torch"]


@pytest.mark.parametrize("e", [absolute(x) ** Fraction(3, 2), sqrt(x**2 + x**4) * x])
def test_where_a_sufficient_condition_fails_nothing_is_said_to_be_undefined(e):
    found = of(diff(e, x) + 1, diff(e + x, x))
    if found["exact"] != "proved":
        assert "a slope is not shown to exist" in found["exact"] and "undefined" not in found["exact"]
    assert not found["sympy"].startswith("refused") and found["torch"] == "agrees"


SLOPES = {
    "a modulus": (absolute(x), {0: None, 1: 1, -1: -1}),
    "a cube": (absolute(x) ** 3, {0: 0, 1: 3, -1: -3}),
    "a modulus times its number": (absolute(x) * x, {0: 0, 2: 4, -1: 2}),
    "a root": (sqrt(x), {0: None, 1: HALF, -1: None}),
    "a root of a modulus": (sqrt(absolute(x)), {0: None, 1: HALF, -1: -HALF}),
    "that times its number": (sqrt(absolute(x)) * x, {0: 0, 1: Fraction(3, 2)}),
    "a power between one and two": (absolute(x) ** Fraction(3, 2), {0: 0, 1: Fraction(3, 2), -1: Fraction(-3, 2)}),
    "at the end of its domain": (x ** Fraction(3, 2), {0: None, 1: Fraction(3, 2)}),
    "a root of a root": (sqrt(sqrt(x**4)), {0: None, 1: 1}),
    "a second slope": (diff(absolute(x) ** 3, x), {0: 0, 1: 6, -1: 6}),
    "a second slope that is none": (diff(absolute(x) * x, x), {0: None, 1: 2, -1: -2}),
    "beside a slope that is none": (x**2 * diff(absolute(x), x), {0: None, 1: 2}),
    "of a cosine": (cos(absolute(x)), {0: 0}),
    "of a tangent": (tanh(x), {0: 1}),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_at_numbers_are_compared_from_both_sides(name):
    e, expected = SLOPES[name]
    for at, slope in expected.items():
        env = {"x": {(): to_fmpq(at)}}
        if slope is None:
            with pytest.raises(Undefined):
                evaluate(diff(e, x), env)
        else:
            found = evaluate(diff(e, x), env)[()]
            assert found == to_fmpq(slope) or found.contains(slope) and found.rad() < 1e-30


# What one witness alone got wrong ----------------------------------------------------------------------------------------------

AVERAGES = {
    "a square": (diff(E((X - c) ** 2), c), 2 * c - 2 * E(X), [has_moment(X, 2)]),
    "a mean that is stated": (diff(E(X * f), f), c, [mean(X, c)]),
    "a variance": (diff(Var(c * X), c), 2 * c * Var(X), [has_moment(X, 2)]),
    "a dot product": (diff(E(r @ z), z[i]), E(r[i]), [has_moment(r, 1)]),
    "within an average": (E(diff((X - c) ** 2, c)), 2 * c - 2 * E(X), [has_moment(X, 1)]),
    "two averages": (diff(E(c * X) * E(c * X), c), 2 * c * E(X) ** 2, [has_moment(X, 1)]),
}


@pytest.mark.parametrize("name", AVERAGES)
def test_the_slope_of_an_average_is_one_slope(name):
    left, right, given = AVERAGES[name]
    found = of(left, right, *given)
    assert found["exact"] == found["sympy"] == "proved" and found["torch"] in ("agrees", "not applicable"), found


def test_the_slope_of_an_average_is_that_and_no_other():
    assert of(diff(E((X - c) ** 2), c), 2 * c - E(X), has_moment(X, 2))["torch"].startswith("refused")
    assert of(diff(Var(c * X), c), c * Var(X), has_moment(X, 2))["torch"].startswith("refused")


@pytest.mark.parametrize("right, at", [(cos(f), {c: 4, f: 2}), (cos(f), {c: -10, f: 5})])
def test_a_power_of_an_exponential_is_one_of_its_exponent(right, at):
    found = said(lambda D: D.refute("claim", E(X) + cos(c / 2), right, at=at, given=[mean(X, 0)]))
    assert all(verdict.startswith("refused") for verdict in found.values()), found


@pytest.mark.parametrize("e, right", [(cos(x), sin(x)), (tanh(x), 1 - tanh(x)), (sin(2 * x), cos(2 * x))])
def test_a_slope_of_a_cosine_can_be_refuted(e, right):
    found = said(lambda D: D.refute("claim", diff(e, x), right, at={x: 1}))
    assert found == {"exact": "refuted", "sympy": "refuted", "torch": "agrees"}


def test_a_tensor_has_a_value_where_all_its_entries_have():
    for e, stated in ((array([1 / x, y])[2], nonzero(x)), (array([log(x), y])[2], positive(x))):
        assert "used but not stated" in of(e, y)["exact"] and of(e, y)["torch"].startswith("refused")
        assert of(e, y, stated) == {"exact": "proved", "sympy": "proved", "torch": "agrees"}
    found = of(log(z)[1], log(z[1]) + 0 * x, positive(z[1]))
    assert "z[i] is positive" in found["exact"] and found["torch"].startswith("refused")


# Ordinary mathematics ----------------------------------------------------------------------------------------------------------

COVARIANCE = E(X * Y) - E(X) * E(Y)
BOTH = [has_moment(X, 2), has_moment(Y, 2)]
JOINT = {
    "a covariance": (E((X - E(X)) * (Y - E(Y))), COVARIANCE, BOTH),
    "a variance of a sum": (Var(X + Y), Var(X) + Var(Y) + 2 * COVARIANCE, BOTH),
    "a parallelogram": (Var(X + Y) + Var(X - Y), 2 * Var(X) + 2 * Var(Y), BOTH),
    "a dot product": (E(r @ s + x), E(s @ r) + x, [has_moment(r, 2), has_moment(s, 2)]),
    "entries": (E((r[1] + X) * s[1]), E(r[1] * s[1]) + E(X * s[1]), [has_moment(r, 2), has_moment(s, 2), has_moment(X, 2)]),
    "a slope": (diff(E((X - c) * (Y - c)), c), 2 * c - E(X) - E(Y), BOTH),
    "an average of an average": (E(E(X * Y) * X), E(X * Y) * E(X), BOTH),
}
NEEDS_INDEPENDENCE = {
    "a product": (E(X * Y), E(X) * E(Y), BOTH),
    "a variance": (Var(X + Y), Var(X) + Var(Y), BOTH),
    "copies": (E(r @ s), n * E(r[1] * s[1]), [has_moment(r, 2), has_moment(s, 2)]),
    "a slope": (diff(E(X * Y), c), 0 * c, [mean(X, c), has_moment(X, 2), has_moment(Y, 2)]),
}


@pytest.mark.parametrize("name", JOINT)
def test_moments_of_several_are_what_they_are_without_independence(name):
    left, right, given = JOINT[name]
    found = of(left, right, *given)
    assert found["exact"] == found["sympy"] == "proved" and found["torch"] in ("agrees", "not applicable"), found


@pytest.mark.parametrize("name", NEEDS_INDEPENDENCE)
def test_what_needs_independence_is_refused_without(name):
    left, right, given = NEEDS_INDEPENDENCE[name]
    found = of(left, right, *given)
    assert found["exact"].startswith("refused") and found["sympy"].startswith("refused"), found


def test_a_covariance_takes_a_variance_of_each():
    for lacking in (has_moment(X, 1), has_moment(Y, 1)):
        given = [has_moment(X, 2), has_moment(Y, 2)]
        given[lacking.args[0] == Y] = lacking
        found = of(*JOINT["a covariance"][:2], *given)
        assert "has a variance" in found["exact"] and "moment of order 2" in found["sympy"]


@pytest.mark.parametrize("e, order", [(E(X / n), 1), (Var(X) / n, 2), (E(X**2) / n, 2)])
def test_a_limit_of_a_law_states_its_moments(e, order):
    found = said(lambda D: D.limit("claim", e, n, "oo", 0, given=[has_moment(X, order)]))
    assert found["exact"] == "proved" and found["torch"] == "agrees"
    assert "used but not stated" in said(lambda D: D.limit("claim", e, n, "oo", 0))["exact"]


POWERS = {
    "one more": (x**n * x, x ** (n + 1), []),
    "of a product": ((x * y) ** n, x**n * y**n, []),
    "of a square": ((x**2) ** n, x ** (2 * n), []),
    "an even one of what is turned": ((-x) ** (2 * n), x ** (2 * n), []),
    "an odd one": ((-x) ** (2 * n + 1), -(x ** (2 * n + 1)), []),
    "of minus one": ((-x / x) ** (2 * n), 1 + 0 * x, [nonzero(x)]),
    "of i": (I ** (4 * n), 1 + 0 * x, []),
    "of a sum": ((x + y) ** n * (x + y), (x + y) ** (n + 1), []),
    "divided": (x ** (-n) * x**n, 1 + 0 * x, [nonzero(x)]),
    "a root": (sqrt(x ** (2 * n)), x**n, [nonnegative(x)]),
}
NOT_POWERS = {
    "a modulus": (absolute(x**n), x**n, []),
    "a root": (sqrt(x ** (2 * n)), x**n, []),
    "a sign": ((-x) ** n, x**n, []),
    "an odd one": ((-x) ** (2 * n + 1), x ** (2 * n + 1), []),
    "of i": (I ** (2 * n), 1 + 0 * x, []),
    "divided by nothing": (x ** (-n) * x**n, 1 + 0 * x, []),
    "one too many": (x**n * x, x ** (n + 2), []),
}


@pytest.mark.parametrize("name", POWERS)
def test_a_power_to_a_size_needs_no_sign(name):
    left, right, given = POWERS[name]
    assert of(left, right, *given) == {"exact": "proved", "sympy": "proved", "torch": "agrees"}


@pytest.mark.parametrize("name", NOT_POWERS)
def test_a_power_that_is_another_is_refused(name):
    left, right, given = NOT_POWERS[name]
    found = of(left, right, *given)
    assert found["exact"].startswith("refused") and found["torch"].startswith("refused"), found


HUGE = {in_range(): {x: 2**128}}


@pytest.mark.parametrize(
    "left, right",
    [(rounded(-x), -rounded(x)), (rounded(absolute(x)), absolute(rounded(x))), (rounded(-3 * x) + rounded(3 * x), 0 * x)],
)
def test_rounding_is_odd(left, right):
    assert of(left, right, in_range(), without=HUGE) == {"exact": "proved", "sympy": "not applicable", "torch": "agrees"}
    assert of(left, right + rounded(x), in_range(), without=HUGE)["exact"].startswith("refused")


def test_products_of_vectors_are_known_as_those_of_matrices_are():
    assert of(x * (z @ w), 0 * x, product_is(z, w, 0)) == {"exact": "proved", "sympy": "proved", "torch": "agrees"}
    assert of((x * z) @ A, 0 * z @ A, product_is(z, A, 0))["exact"] == "proved"
    Q = matrix("Q", n, n)
    assert of(total(Q[i, l] ** 2, l), 1 + 0 * x, product_is(Q, Q.T, 1)) == {"exact": "proved", "sympy": "proved", "torch": "agrees"}
    for times in (c, n, x + 1):
        with pytest.raises(KernelError, check=has_code("wrong-shape")):
            product_is(Q, Q.T, times)


# Against the judge -------------------------------------------------------------------------------------------------------------

KINDS = ("moduli", "real logarithms", "slopes of averages", "joint moments", "whole powers")


@pytest.mark.parametrize("family", nightly_after(2, KINDS))
def test_each_witness_agrees_with_the_judge_on_random_claims(family):
    found = [fuzz_claim.fuzz_one(12, number_, None, family, {"exact": 1, "sympy": 1, "torch": 1}) for number_ in range(12)]
    assert not [fault for outcome in found for fault in outcome.faults]
    assert {"true", "false"} & {outcome.truth for outcome in found}
