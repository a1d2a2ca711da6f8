"""Expectations by coincidences against counting every outcome, Gaussian moments against a table, characteristic functions
against quadrature; and that no law holds without the assumptions it needs."""

from fractions import Fraction
from itertools import product

import mpmath
import pytest
import sympy as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from derivations.kernel import (
    Derivation,
    E,
    I,
    Var,
    cos,
    diff,
    exp,
    eye,
    gaussian,
    has_moment,
    independent,
    index,
    matrix,
    mean,
    nonnegative,
    nonzero,
    positive,
    product_is,
    random,
    scalars,
    sizes,
    sqrt,
    total,
    variance,
    vector,
)
from derivations.kernel.core.expr import lift
from derivations.kernel.exact.assumption_facts import collect_facts
from derivations.kernel.exact.counterexample_search import FAMILIES, list_distributions
from derivations.kernel.exact.exact_evaluation import evaluate, evaluate_polynomial
from derivations.kernel.exact.flint_numbers import to_fmpq, to_fraction
from derivations.kernel.exact.polynomials import atom
from derivations.kernel.exact.proofs import find_difference
from derivations.kernel.exact.tree_to_normal_form import normalize
from derivations.kernel.exact.witness import exact
from derivations.kernel.sympy.prelude import gaussian_means as by_integration
from derivations.kernel.sympy.prelude.gaussian_means import gaussian_mean
from derivations.kernel.sympy.prelude.outcome import NotSettled
from derivations.kernel.sympy.witness import witness
from tests.kernel.common import has_code
from tests.nightly import nightly_after

varied = settings(derandomize=True, deadline=None, database=None, max_examples=60, suppress_health_check=list(HealthCheck))

d, n = sizes("d n")
q, k, l = random("q", d), random("k", d), random("l", d)
W = random("W", n, d)
x, y = random("x"), random("y")
a = vector("a", d)
i, j, o = index("i", d), index("j", d), index("o", n)
mu, nu, s, t = scalars("mu nu s t")
A, B, C = (matrix(name, n, n) for name in "ABC")
SUPPORTS = {
    "q": (Fraction(1), Fraction(-2)),
    "k": (Fraction(3), Fraction(1, 2)),
    "l": (Fraction(-1), Fraction(2)),
    "W": (Fraction(1), Fraction(-2)),
    "x": (Fraction(2), Fraction(-1)),
}
joint = independent(q, k, l, W, x)


def dot(u, v):
    return sum((p * r for p, r in zip(u, v)), Fraction(0))


def outcomes(names, size):
    """Every joint value of the named random vectors, all equally likely, by plain Python."""
    vectors = [list(product(SUPPORTS[name], repeat=size)) for name in names]
    return [dict(zip(names, chosen)) for chosen in product(*vectors)]


def average(names, size, function):
    values = [function(**outcome) for outcome in outcomes(names, size)]
    return sum(values, Fraction(0)) / len(values)


def by_coincidences(expectation, size, rows=1):
    """The normal form of an expectation at a size, with the moments of the two-point distributions put in."""
    heads = {("size", "d"): to_fmpq(size), ("size", "n"): to_fmpq(rows)}
    heads |= {("moment", name, r): to_fmpq(sum(v**r for v in values) / 2) for name, values in SUPPORTS.items() for r in range(1, 13)}
    return to_fraction(evaluate_polynomial(normalize(expectation, collect_facts((joint,))), heads))


def by_outcomes(expectation, size):
    """The same by the evaluator, which goes through all outcomes one by one."""
    return to_fraction(
        evaluate(expectation, {"d": size, "n": 1, "supports": {name: list(map(to_fmpq, v)) for name, v in SUPPORTS.items()}})[()]
    )


POLYNOMIALS = {
    "a square": (E((q @ k) ** 2), "qk", lambda q, k: dot(q, k) ** 2),
    "a cube": (E((q @ k) ** 3), "qk", lambda q, k: dot(q, k) ** 3),
    "a fourth power": (E((q @ k) ** 4), "qk", lambda q, k: dot(q, k) ** 4),
    "a vector with itself": (E(q @ q), "q", lambda q: dot(q, q)),
    "its square": (E((q @ q) ** 2), "q", lambda q: dot(q, q) ** 2),
    "two scores of one query": (E((q @ k) * (q @ l)), "qkl", lambda q, k, l: dot(q, k) * dot(q, l)),
    "their squares": (E((q @ k) ** 2 * (q @ l) ** 2), "qkl", lambda q, k, l: dot(q, k) ** 2 * dot(q, l) ** 2),
    "a sum of powers": (E(total(q[i] ** 3 * k[i], i) * total(q[j], j)), "qk", lambda q, k: dot([v**3 for v in q], k) * sum(q)),
    "a mean inside a mean": (E((q @ k) * E(q @ k)), "qk", lambda q, k: dot(q, k) * average("qk", len(q), dot_of)),
    "first entries": (E(q[1] ** 2 * (q @ k)), "qk", lambda q, k: q[0] ** 2 * dot(q, k)),
}


def dot_of(q, k):
    return dot(q, k)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("expectation, names, function", POLYNOMIALS.values(), ids=POLYNOMIALS)
def test_an_expectation_is_the_average_of_all_outcomes(expectation, names, function, size):
    if size > 2 and len(names) > 2:
        size = 2
    expected = average(names, size, function)
    assert by_coincidences(expectation, size) == expected == by_outcomes(expectation, size)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_variance_is_the_average_squared_distance_from_the_mean(size):
    centre = average("qk", size, dot_of)
    expected = average("qk", size, lambda q, k: (dot(q, k) - centre) ** 2)
    assert by_coincidences(Var(q @ k), size) == expected == by_outcomes(Var(q @ k), size)


@st.composite
def polynomials(draw, depth=3):
    """A polynomial in dot products, sums of powers and a random number, and the same by plain Python."""
    kinds = ["dot", "powers", "number", "constant"] + ["add", "times", "times"] * bool(depth)
    kind = draw(st.sampled_from(kinds))
    if kind == "dot":
        u, v = draw(st.sampled_from([(q, k), (k, q), (q, q), (k, k)]))
        return u @ v, lambda env: dot(env[u.data[0]], env[v.data[0]])
    if kind == "powers":
        u, power = draw(st.sampled_from([q, k])), draw(st.integers(1, 3))
        return total(u[i] ** power, i), lambda env: sum((v**power for v in env[u.data[0]]), Fraction(0))
    if kind == "number":
        return x * 1, lambda env: env["x"][0]
    if kind == "constant":
        value = draw(st.integers(-2, 3))
        return 0 * d + value, lambda env: Fraction(value)
    (left, f), (right, g) = draw(polynomials(depth - 1)), draw(polynomials(depth - 1))
    return (left + right, lambda env: f(env) + g(env)) if kind == "add" else (left * right, lambda env: f(env) * g(env))


@varied
@given(polynomials(), st.integers(1, 2))
def test_the_expectation_of_any_polynomial_is_the_average_of_all_outcomes(polynomial, size):
    body, function = polynomial
    every = [one | {"x": (value,)} for one in outcomes("qk", size) for value in SUPPORTS["x"]]
    expected = sum(map(function, every), Fraction(0)) / len(every)
    assert by_coincidences(E(body), size) == expected


@pytest.mark.parametrize("rows, columns", [(1, 2), (2, 1), (2, 2)])
def test_the_entries_of_a_random_matrix_coincide_where_both_indices_do(rows, columns):
    row, column = index("r", n), index("c", d)
    squared_sum = E(total(W[row, column], row, column) ** 2)
    square_of_rows = E(total(total(W[row, column], column) ** 2, row))
    every = list(product(SUPPORTS["W"], repeat=rows * columns))
    assert by_coincidences(squared_sum, columns, rows) == sum(sum(w) ** 2 for w in every) / len(every)
    by_row = lambda w: sum(sum(w[p * columns : (p + 1) * columns]) ** 2 for p in range(rows))
    assert by_coincidences(square_of_rows, columns, rows) == sum(map(by_row, every)) / len(every)


def test_two_free_indices_may_coincide():
    facts = collect_facts((independent(q), mean(q, mu), variance(q, nu)))
    assert not find_difference(E(q[i] * q[j]), eye(d)[i, j] * nu + mu**2, facts) and not facts.unstated
    assert find_difference(E(q[i] * q[j]), mu**2, facts)


# Gaussian moments ----------------------------------------------------------------------------------------------------------------

TABLE = {
    1: mu,
    2: mu**2 + nu,
    3: mu**3 + 3 * mu * nu,
    4: mu**4 + 6 * mu**2 * nu + 3 * nu**2,
    5: mu**5 + 10 * mu**3 * nu + 15 * mu * nu**2,
    6: mu**6 + 15 * mu**4 * nu + 45 * mu**2 * nu**2 + 15 * nu**3,
}


@pytest.mark.parametrize("power", TABLE)
def test_gaussian_moments(power):
    facts = collect_facts((gaussian(x), mean(x, mu), variance(x, nu)))
    assert not find_difference(E(x**power), TABLE[power], facts) and not facts.unstated
    assert find_difference(E(x**power), TABLE[power] + 1, facts)


@pytest.mark.parametrize(
    "stated",
    [(), (mean(x, mu),), (variance(x, nu),), (gaussian(x),), (gaussian(x), variance(x, nu))],
    ids=["nothing", "a mean", "a variance", "the distribution", "its variance too"],
)
def test_moments_that_are_not_stated_are_not_one_another(stated):
    facts = collect_facts(stated)
    moments = [E(x**power) for power in (1, 2, 3)]
    assert all(find_difference(one, other, facts) for one in moments for other in moments if one is not other)
    assert not find_difference(Var(x), E(x**2) - E(x) ** 2, facts)


@pytest.mark.parametrize("stated", [(), (mean(x, mu),), (gaussian(x),)], ids=["nothing", "a mean", "the distribution"])
def test_a_second_moment_that_is_not_stated_is_called_what_it_is(stated):
    assert normalize(E(x**2), collect_facts(stated)) == atom(("moment", "x", 2))


def test_a_mean_and_a_variance_may_be_sums_themselves():
    m, v = (A @ B)[1, 1], (B @ C)[1, 1]
    known, told = [mean(x, m)], [mean(x, m), variance(x, v)]
    for given_, power, expected in (
        (known, 1, m),
        (told, 2, v + m**2),
        (told + [gaussian(x)], 3, m**3 + 3 * m * v),
        (told + [gaussian(x)], 4, m**4 + 6 * m**2 * v + 3 * v**2),
    ):
        assert collect_facts(given_).moments["x"](power) == normalize(expected, collect_facts(()))


def test_a_law_that_cannot_even_be_read_without_an_assumption_needs_it(proved):
    verdict = proved(lambda D: D.identity("claim", E(exp(I * t * x)), exp(-(t**2) / 2), given=[gaussian(x), mean(x, 0), variance(x, 1)]))
    assert len(verdict.needed) == 3 and all("left = " in needed for needed in verdict.needed)


def test_what_is_gaussian_may_be_said_of_one_after_another():
    facts = collect_facts((gaussian(x), mean(x, 0), variance(x, 1), gaussian(y), mean(y, 0), variance(y, 1)))
    assert not find_difference(E(x**4), 3 * mu**0, facts) and not find_difference(E(y**4), 3 * mu**0, facts)


@pytest.mark.parametrize("power", [1, 2, 3, 4, 5, 6])
def test_both_witnesses_prove_the_moments_of_a_standard_normal_number(power, proved):
    given_ = [[gaussian(x), mean(x, 0)], [mean(x, 0), variance(x, 1)], [gaussian(x), mean(x, 0), variance(x, 1)]]
    enough = given_[0 if power % 2 else 1 if power == 2 else 2]
    enough = [mean(x, 0)] if power == 1 else enough
    proved(lambda D: D.identity("claim", E(x**power), {1: 0, 2: 1, 3: 0, 4: 3, 5: 0, 6: 15}[power], given=enough))


def test_the_moments_beyond_the_second_need_the_distribution(rejection):
    assert rejection(lambda D: D.identity("claim", E(x**4), 3, given=[mean(x, 0), variance(x, 1)])).code == "false-claim"


def test_eighth_moment_of_a_score():
    """Eight indices may coincide in 4,140 ways. Odd moments are 0, which leaves 379 of them."""
    facts = collect_facts((independent(q, k), *(a for z in (q, k) for a in (gaussian(z), mean(z, 0), variance(z, 1)))))
    assert not find_difference(E((q @ k) ** 8), 105 * d * (d + 2) * (d + 4) * (d + 6), facts) and not facts.required_moments


def test_a_mean_of_zero_needs_the_other_moments_too():
    pair = random("pair", 2)
    facts = collect_facts((independent(pair), mean(pair, 0)))
    assert normalize(E(pair[1] * pair[2] ** 3), facts) == {} and facts.required_moments == {"pair": 3}


# Characteristic functions --------------------------------------------------------------------------------------------------------


def value_of(expectation, given_, **values):
    facts = collect_facts(tuple(given_))
    heads = {("size", "d"): to_fmpq(values.pop("size", 1))} | {("entry", name): to_fmpq(v) for name, v in values.items()}
    result = evaluate_polynomial(normalize(expectation, facts), heads)
    assert not facts.unstated
    return complex(result)


def mpf(value):
    return mpmath.mpf(Fraction(value).numerator) / Fraction(value).denominator


def density(v, centre=0, spread=1):
    return mpmath.exp(-((v - centre) ** 2) / (2 * spread)) / mpmath.sqrt(2 * mpmath.pi * spread)


standard = lambda *randoms: [independent(*randoms), gaussian(*randoms)] + [rule for r in randoms for rule in (mean(r, 0), variance(r, 1))]


@pytest.mark.parametrize("at", [0, Fraction(1, 3), 1, -2])
def test_the_characteristic_function_of_a_normal_number(at):
    given_ = [gaussian(x), mean(x, mu), variance(x, nu), positive(nu)]
    by_quadrature = mpmath.quad(lambda v: mpmath.expj(mpf(at) * v) * density(v, 0.5, 2), [-18, 0.5, 19])
    assert abs(value_of(E(exp(I * t * x)), given_, t=at, mu=Fraction(1, 2), nu=2) - by_quadrature) < 1e-10


@pytest.mark.parametrize("at", [Fraction(1, 3), 1, -2])
def test_the_average_of_the_exponential_of_a_square(at):
    given_ = [gaussian(x), mean(x, 1), variance(x, 2)]
    by_quadrature = mpmath.quad(lambda v: mpmath.exp(-(mpf(at) ** 2) * v**2) * density(v, 1, 2), [-20, 0, 22])
    assert abs(value_of(E(exp(-(t**2) * x**2)), given_, t=at) - by_quadrature) < 1e-10


@pytest.mark.parametrize("size, at", nightly_after(1, [(2, Fraction(1, 2)), (1, 1), (5, -2)]))
def test_the_characteristic_function_of_a_scaled_dot_product(size, at):
    """By quadrature in both coordinates of one product; the d products are independent and alike."""
    scaled = mpf(at) / mpmath.sqrt(size)
    with mpmath.workdps(10):
        one = mpmath.quad(lambda v, w: mpmath.cos(scaled * v * w) * density(v) * density(w), [-8, 0, 8], [-8, 0, 8], maxdegree=5)
    assert abs(value_of(E(exp(I * t * (q @ k) / sqrt(d))), standard(q, k), size=size, t=at) - one**size) < 1e-6


HALF = Fraction(1, 2)
TURNING = {  # for |c| >= 1 these have no mean, though the integrals over x, and then over y, are there
    "a product that turns": lambda c: (E(exp((1 + I) * c * x * y - I * c**2 * y**2)), lift(1)),
    "a cosine beside it": lambda c: (E(exp(c * x * y + t * y) * cos(c * x * y - c**2 * y**2)), exp(t**2 / 2)),
}


@pytest.mark.parametrize("name", TURNING)
@pytest.mark.parametrize("c", [1, 2, t], ids=["1", "2", "any"])
def test_integrals_one_after_another_are_no_mean_where_the_absolute_value_has_none(name, c):
    """Fubini: exact asks whether the mean of the absolute value exists, and SymPy says nothing."""
    left, right = TURNING[name](c)
    facts = collect_facts(tuple(standard(x, y)))
    find_difference(left, right, facts)
    assert any("a Gaussian integral converges" in why for why in map(str, facts.unstated))
    derivation = Derivation("test")
    derivation.identity("claim", left, right, given=standard(x, y))
    assert witness(derivation.claims[0])[0] == "not applicable"


@pytest.mark.parametrize("name", TURNING)
def test_where_it_has_one_they_are(name):
    facts = collect_facts(tuple(standard(x, y)))
    assert not find_difference(*TURNING[name](HALF), facts) and not facts.unstated


def test_a_mean_that_grows_faster_than_the_density_falls_is_none():
    """SymPy's integral is a number all the same."""
    for body, outcome in ((exp(x**2 / 4), "proved"), (exp(x**2), "not applicable")):
        derivation = Derivation("test")
        derivation.identity("claim", E(body), sqrt(2) if outcome == "proved" else -I, given=standard(x)[1:])
        assert witness(derivation.claims[0])[0] == outcome


# What SymPy takes out of a Gaussian integral before it integrates, against quadrature of the whole.
g = sp.Symbol("entry of x", real=True)
slope = sp.Symbol("t", real=True)
BODIES = {
    "an exponential": sp.exp(slope * g),
    "two that are multiplied": sp.exp(g) * sp.exp(slope * g),
    "a constant beside it": 3 * sp.exp(2 - g / 2),
    "a constant in it that moves nothing": sp.exp(slope**2 - g),
    "a sum": sp.exp(g) + g**2 + 5,
    "a wave": sp.exp(sp.I * slope * g),
    "a moment of it": g * sp.exp(slope * g),
    "a square in it": sp.exp(slope * g - g**2 / 3),
    "a square of it": (sp.exp(g) - 1) ** 2,
}


@pytest.mark.parametrize("centre, spread", [(0, 1), (sp.Rational(-1, 2), sp.Rational(3, 4))], ids=["standard", "moved and scaled"])
@pytest.mark.parametrize("body", nightly_after(3, BODIES.values()), ids=BODIES)
def test_sympys_gaussian_means_are_what_quadrature_gives(body, centre, spread):
    whole = sp.lambdify(g, body.subs(slope, sp.Rational(3, 7)), "mpmath")
    by_quadrature = mpmath.quad(lambda v: whole(v) * density(v, mpmath.mpmathify(centre), mpmath.mpmathify(spread)), [-15, -5, 0, 5, 15])
    found = gaussian_mean(body, g, sp.sympify(centre), sp.sympify(spread)).subs(slope, sp.Rational(3, 7))
    assert abs(mpmath.mpmathify(sp.N(found, 20)) - by_quadrature) < 1e-9


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_gaussian_number_without_variance_is_its_mean(body):
    assert gaussian_mean(body, g, sp.Rational(1, 2), sp.Integer(0)) == body.xreplace({g: sp.Rational(1, 2)})


@pytest.mark.parametrize(
    "body", [sp.exp(-g * sp.exp(g)), sp.exp(-g * sp.Abs(g) - g), sp.exp(-g / (1 + g**2))], ids=["a power", "a modulus", "a fraction"]
)
def test_only_a_slope_that_does_not_move_is_taken_for_one(body, monkeypatch):
    """Of others it is not known whether there is a mean."""
    monkeypatch.setattr(by_integration, "gaussian_integral", lambda *of: pytest.fail("it is integrated"))
    with pytest.raises(NotSettled, match="whether the mean of exp"):
        gaussian_mean(body, g, sp.Integer(0), sp.Integer(1))


def test_an_exponential_of_a_sum_times_something_that_moves_is_not_split_over_the_terms():
    derivation, total_ = Derivation("test"), total(q[i], i)
    derivation.identity("claim", E(exp(total_ * exp(total_))), exp(exp(2 * total_) / 2) ** d, given=standard(q))
    assert witness(derivation.claims[-1])[0] == "not applicable"


def test_a_gaussian_integral_that_may_diverge_is_refused(rejection):
    assert (
        rejection(
            lambda D: D.identity("claim", E(exp(s * x**2)), 1 / sqrt(1 - 2 * s), given=[gaussian(x), mean(x, 0), variance(x, 1)])
        ).code
        == "assumption-missing"
    )


# What a law needs ------------------------------------------------------------------------------------------------------------------

NEEDS = {
    "independence of two vectors": lambda D: D.identity("claim", E(q @ k), 0, given=[mean(q, 0), mean(k, 0)]),
    "independence of all three": lambda D: D.identity(
        "claim", E((q @ k) * (q @ l)), 0, given=[independent(q, k), independent(k, l), mean(k, 0)]
    ),
    "independence within one": lambda D: D.identity("claim", Var(total(q[i], i)), d, given=[mean(q, 0), variance(q, 1)]),
    "independence of what is averaged alone": lambda D: D.identity("claim", E(x * y), E(x) * E(y)),
    "independence of the Gaussians": lambda D: D.identity(
        "claim", E(exp(I * s * (x * y))), 1 / sqrt(1 + s**2), given=[gaussian(x, y), mean(x, 0), mean(y, 0), variance(x, 1), variance(y, 1)]
    ),
}


@pytest.mark.parametrize("state", NEEDS.values(), ids=NEEDS)
def test_no_law_without_the_independence_it_needs(state, rejection):
    error = rejection(state)
    assert error.code == "assumption-missing" and "independent" in error.message


@pytest.mark.parametrize("state", [NEEDS[name] for name in list(NEEDS)[:4]], ids=list(NEEDS)[:4])
def test_sympy_does_not_assume_independence_either(state):
    from derivations.kernel import Derivation
    from derivations.kernel.errors import KernelError

    derivation = Derivation("test")
    state(derivation)
    try:
        verdict = witness(derivation.claims[0])[0]
    except KernelError:
        verdict = "refused"
    assert verdict in ("refused", "not applicable")


MISSING = {
    "a mean": lambda D: D.identity("claim", Var(q @ k), d, given=[independent(q, k), variance(q, 1), variance(k, 1), mean(q, 0)]),
    "a variance": lambda D: D.identity("claim", Var(q @ k), d, given=[independent(q, k), variance(q, 1), mean(k, 0), mean(q, 0)]),
    "a distribution": lambda D: D.identity("claim", Var(q @ q), 2 * d, given=[independent(q), mean(q, 0), variance(q, 1)]),
    "a distribution under an exponential": lambda D: D.identity(
        "claim", E(exp(I * t * x)), exp(-(t**2) / 2), given=[mean(x, 0), variance(x, 1)]
    ),
}


@pytest.mark.parametrize("state", MISSING.values(), ids=MISSING)
def test_no_law_without_the_moments_it_needs(state, rejection):
    assert rejection(state).code == "false-claim"


def test_independent_names_that_are_not_random_are_refused():
    from derivations.kernel.errors import KernelError

    with pytest.raises(KernelError, check=has_code("not-random")):
        independent(q, a)


def test_a_fixed_vector_beside_a_random_one(proved, rejection):
    proved(lambda D: D.identity("claim", Var(a @ k), total(a[i] ** 2, i), given=[independent(k), variance(k, 1)]))
    assert rejection(lambda D: D.identity("claim", Var(a @ k), d, given=[independent(k), variance(k, 1)])).code == "false-claim"


def test_two_statements_of_one_mean_must_agree(rejection):
    assert (
        rejection(lambda D: D.identity("claim", E(q @ k), d, given=[independent(q, k), mean(q, 1), mean(k, 1), mean(q, 0)])).code
        == "stated-twice"
    )


def test_sympy_knows_a_sum_whose_terms_are_one_random_number(sympy_rejection):
    def state(right):
        given = [independent(x, y), mean(x, 0), mean(y, 0), variance(x, 1), variance(y, 1)]
        return lambda D: D.identity("claim", Var(total(x * y, i)), right, given=given)

    derivation = Derivation("test")
    state(d**2)(derivation)
    assert witness(derivation.claims[0])[:2] == ("proved", "some sizes up to 3")
    assert sympy_rejection(state(d)).code == "sympy-disagrees"  # as if its terms were independent


# What moves with a parameter of a distribution, and what does not

BY_A_PARAMETER = {
    "a moment by its mean": (lambda: diff(E(x**3), mu), [mean(x, mu), has_moment(x, 3)], "unknown-derivative"),
    "a mean by what it is stated to be": (lambda: diff(E(x), mu), [mean(x, mu)], "unknown-derivative"),
    "a moment by a variance": (
        lambda: diff(E(x**2), nu),
        [mean(x, mu), variance(x, nu), nonnegative(nu)],
        "unknown-derivative",
    ),
    "a factor tied to another": (
        lambda: diff((A @ B)[1, 1], A[1, 1]) - B[1, 1],
        [product_is(A, B, 1)],
        "unknown-derivative",
    ),
    "that other": (
        lambda: diff((A @ B)[1, 1], B[1, 1]) - A[1, 1],
        [product_is(A, B, 1)],
        "unknown-derivative",
    ),
    "a factor of the first of two products": (
        lambda: diff((A @ B)[1, 1], B[1, 1]) - A[1, 1],
        [product_is(A, B, 1), product_is(C, C.T, 1)],
        "unknown-derivative",
    ),
}


@pytest.mark.parametrize("derivative, given_, says", BY_A_PARAMETER.values(), ids=BY_A_PARAMETER)
def test_what_an_assumption_ties_to_something_does_not_stand_still(derivative, given_, says, rejection):
    assert rejection(lambda D: D.identity("claim", derivative(), 0 * mu, given=given_)).code == says


def test_what_no_assumption_ties_is_differentiated():
    facts = collect_facts((product_is(A, B, 1), mean(x, mu), variance(x, nu)))
    assert not find_difference(diff((C @ C)[1, 1] * nu, nu), (C @ C)[1, 1], facts) and not find_difference(
        diff(s * E(x**2), s), mu**2 + nu, facts
    )
    assert not facts.unstated


# Laws refuted at stated parameters

REFUTED = {
    "a parameter": lambda D: D.refute("claim", E(x**2), mu**2, at={mu: 2}, given=[mean(x, mu), variance(x, 1)]),
    "no variance": lambda D: D.refute("claim", E(x**2), mu, at={mu: 2, nu: 0}, given=[mean(x, mu), variance(x, nu)]),
    "half a variance": lambda D: D.refute("claim", E(x**2), mu, at={mu: 2, nu: Fraction(1, 2)}, given=[mean(x, mu), variance(x, nu)]),
    "a sign that holds": lambda D: D.refute(
        "claim", E(sqrt(nu) * x**2), 2 * nu, at={nu: 2}, given=[mean(x, 0), variance(x, 1), nonnegative(nu)]
    ),
    "a size": lambda D: D.refute("claim", E(q @ q), d**2, at={d: 3}, given=[mean(q, 0), variance(q, 1)]),
    "an expectation on the right": lambda D: D.refute("claim", 0 * d, E(q @ q), at={d: 3}, given=[mean(q, 0), variance(q, 1)]),
}


@pytest.mark.parametrize("state", REFUTED.values(), ids=REFUTED)
def test_a_law_is_refuted_and_every_part_of_its_distribution_is_needed(state):
    derivation = Derivation("test")
    state(derivation)
    verdict = exact(derivation.claims[0])
    assert verdict.verdict == "refuted" and set(verdict.needed) == {"the sides have no definite value"}


NOT_REFUTED = {
    "a negative variance": (
        lambda D: D.refute("claim", E(x**2), 1, at={nu: -1}, given=[mean(x, 0), variance(x, nu)]),
        "each entry of x has variance nu",
    ),
    "a broken sign": (
        lambda D: D.refute("claim", E(mu * x), 1, at={mu: -1}, given=[mean(x, 1), positive(mu)]),
        "mu is positive; there mu = -1",
    ),
    "a zero": (lambda D: D.refute("claim", E(mu * x), 1, at={mu: 0}, given=[mean(x, 1), nonzero(mu)]), "mu is not zero; there mu = 0"),
}


@pytest.mark.parametrize("state, broken", NOT_REFUTED.values(), ids=NOT_REFUTED)
def test_a_law_is_not_refuted_where_an_assumption_is_broken(state, broken, rejection):
    assert rejection(state).code == "broken-assumption"


@pytest.mark.parametrize("what, unneeded", [(gaussian(q), "q is Gaussian"), (positive(mu), "mu is positive")], ids=["distribution", "sign"])
def test_a_refuted_law_states_no_more_than_it_takes(what, unneeded, rejection):
    error = rejection(lambda D: D.refute("claim", E(q @ q), d * mu, at={d: 3, mu: 2}, given=[mean(q, 0), variance(q, 1), what]))
    assert error.code == "assumption-not-needed" and f"'{unneeded}'" in error.message


# The search for distributions


@pytest.mark.parametrize(
    "told, moments, families",
    [
        ((), 6, len(FAMILIES)),
        ((variance(x, s),), 4, len(FAMILIES)),  # means 0, 1, 2 and -1
        ((mean(x, 0),), 3, len(FAMILIES)),  # variances 1, 2 and 0
        ((mean(x, 0), variance(x, s)), 1, len(FAMILIES)),
        ((gaussian(x), mean(x, 0)), 3, 1),
    ],
)
def test_each_distribution_that_is_left_open_is_tried_once(told, moments, families):
    tried = list_distributions((independent(x), *told), [x])
    assert len(tried) == len(set(tried)) == moments * families
    for assumed, _ in tried:
        assert all(any(a.kind == kind and a.args[0] == x for a in assumed) for kind in ("mean", "variance"))


def test_a_variance_over_all_outcomes_is_that_of_the_numbers():
    pair, env = random("q", 2), {"supports": {"q": [to_fmpq(1), to_fmpq(4)], "x": [to_fmpq(-1), to_fmpq(0), to_fmpq(2)]}}
    body = pair[1] * pair[2] + x
    values = [u * v + w for u, v, w in product((1, 4), (1, 4), (-1, 0, 2))]
    centre = Fraction(sum(values), len(values))
    assert to_fraction(evaluate(E(body), env)[()]) == centre
    assert to_fraction(evaluate(Var(body), env)[()]) == sum((v - centre) ** 2 for v in values) / len(values)
