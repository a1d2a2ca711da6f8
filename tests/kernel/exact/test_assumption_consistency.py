"""Assumptions that leave nothing, or next to nothing, for a claim to be about; and what is assumed of something else altogether."""

from fractions import Fraction

import pytest

from derivations.kernel import (
    Derivation,
    E,
    Var,
    absolute,
    exp,
    eye,
    gaussian,
    has_moment,
    independent,
    index,
    inverse,
    invertible,
    matrix,
    mean,
    nonnegative,
    nonzero,
    positive,
    product_is,
    random,
    representable,
    rounded,
    scalars,
    sizes,
    sqrt,
    total,
    variance,
    vector,
)
from derivations.kernel.core.claims import Rejected
from derivations.kernel.errors import KernelError
from derivations.kernel.exact import assumption_consistency
from derivations.kernel.exact.witness import exact
from derivations.kernel.pytorch.witness import witness as by_pytorch
from derivations.kernel.sympy.witness import witness as by_sympy
from tests.kernel.common import has_code

n, m = sizes("n m")
c, x, y = scalars("c x y")
X, Y, q = random("X"), random("Y"), random("q", n)
D = matrix("D", sizes("p"), m)
z, w = vector("z", n), vector("w", n)
A, B, C = matrix("A", n, n), matrix("B", n, m), matrix("C", n, n)
i, j = index("i", n), index("j", n)
HALF = Fraction(23, 2)


def claim(state):
    derivation = Derivation("Assumptions")
    state(derivation)
    (one,) = derivation.claims
    return one


def rejection_of(state):
    """Return the error with which the exact witness rejects the claim."""
    with pytest.raises(Rejected) as caught:
        exact(claim(state))
    return caught.value


def law(left, right, *given):
    return lambda D: D.identity("claim", left, right, given=list(given))


NEGATIVE = {
    "a difference of one size": (law(Var(X), 1 - n**2, variance(X, 1 - n**2)), "1 - n^2"),
    "of each entry of a sum": (law(Var(total(q[i], i)), n * (4 - n), independent(q), variance(q, 4 - n)), "4 - n"),
    "a square's opposite, of something else": (law(E(X**2), -(c**2), mean(X, 0), variance(X, -(c**2))), "-c^2"),
    "of a mean square": (law(E(X**2), 4 - n**2, mean(X, 0), variance(X, 4 - n**2)), "4 - n^2"),
    "a number of any sign": (law(Var(2 * X), 4 * c, variance(X, c)), "c"),
    "a product": (law(Var(2 * X), 4 * c * y, variance(X, c * y)), "c*y"),
    "what is not zero": (law(Var(2 * X), 4 * c, variance(X, c), nonzero(c)), "c"),
    "twelve sizes on": (law(Var(2 * X), 4 * (12 - n), variance(X, 12 - n)), "12 - n"),
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_a_variance_is_stated_that_may_be_negative(name):
    state, value = NEGATIVE[name]
    error = rejection_of(state)
    assert error.code == "assumption-missing" and f"{value} is not negative" in error.message and "given=[nonnegative(" in error.message


def test_the_message_shows_where_it_would_be_negative():
    message = rejection_of(law(Var(X), 4 - n, variance(X, 4 - n))).message
    assert "at n = 5" in message and "-1" in message


SEEN = {
    "a square": (c**2, []),
    "a positive symbol": (c, [positive(c)]),
    "one that is not negative": (c, [nonnegative(c)]),
    "a size": (n, []),
    "a sum of these": (c**2 + n * y**2 + exp(x), []),
    "a difference that is stated": (4 - n, [nonnegative(4 - n)]),
    "an absolute value": (absolute(c), []),
}


@pytest.mark.parametrize("name", SEEN)
def test_a_variance_that_is_seen_not_to_be_negative_holds(name):
    value, given = SEEN[name]
    one = claim(law(Var(3 * X), 9 * value, variance(X, value), *given))
    assert exact(one).verdict == "proved"
    assert by_sympy(one)[0] in ("proved", "not applicable")
    assert by_pytorch(one)[0] in ("agrees", "not applicable")


def test_that_it_is_not_negative_is_shown_to_be_needed():
    assert "at c = -1 each entry of X would have" in exact(claim(law(Var(2 * X), 4 * c, variance(X, c), nonnegative(c)))).needed[1]


def test_a_refutation_names_its_variance():
    assert exact(claim(lambda D: D.refute("claim", Var(2 * X), 2 * c, at={c: 3}, given=[variance(X, c)]))).verdict == "refuted"


STRANGERS = {
    "a square at most nothing": lambda D: D.inequality("claim", c**2, 0, because=Var(X), given=[variance(X, -(c**2))]),
    "any inequality": lambda D: D.inequality("claim", x, y, because=Var(X), given=[variance(X, y - x), nonnegative(y - x)]),
    "a mean of something else": lambda D: D.inequality("claim", x, x + 1, because=E(X) ** 2 + 1, given=[mean(X, 0)]),
    "a stranger in a law": lambda D: D.identity("claim", E(X + 1), E(X) + 1, given=[has_moment(X, 1), variance(Y, c**2)]),
    "one of two that are independent": lambda D: D.identity("claim", Var(X + X), 4 * Var(X), given=[has_moment(X, 2), independent(X, Y)]),
    "a vector of them": lambda D: D.inequality("claim", x, y, because=Var(q[1]), given=[variance(q, y - x)]),
}


@pytest.mark.parametrize("state", STRANGERS.values(), ids=STRANGERS)
def test_a_random_name_stands_in_a_side(state):
    assert rejection_of(state).code == "unrelated-random"


def test_a_random_name_in_a_definition_stands_there_too():
    derivation = Derivation("Definitions")
    defined = derivation.define("s", E(X), given=[has_moment(X, 1)])
    derivation.identity("twice", defined + defined, 2 * E(X), given=[has_moment(X, 1)])
    assert exact(derivation.claims[1]).verdict == "proved"


ALIKE = nonnegative(A[i, j] - A[index("l", n), index("p", n)])
at_five = {nonnegative(4 - i): {z: [0, 0, 0, 0, 0], i: 5}}
ABOVE = {
    "an index below five": (
        lambda D: D.inequality("claim", i + 0 * z[i], 4, because=4 - i, given=[nonnegative(4 - i)], without=at_five),
        "n = 5",
    ),
    "an index below twelve": (law(absolute(HALF - i), HALF - i, positive(HALF - i)), "n = 12"),
    "a sum of entries above ones": (
        law(absolute(8 - total(z[j], j)) * z[i], (8 - total(z[j], j)) * z[i], nonnegative(8 - total(z[j], j)), nonnegative(z[i] - 1)),
        "n = 9",
    ),
    "an index and a number": (law(absolute(c - i) * absolute(7 - c), (c - i) * (7 - c), nonnegative(c - i), nonnegative(7 - c)), "n = 8"),
    "a number between an index and thirty": (law(absolute(c - i) * x, (c - i) * x, nonnegative(c - i), nonnegative(30 - c)), "n = 64"),
    "thirty entries above one": (
        law(absolute(30 - total(z[j], j)) * z[i], (30 - total(z[j], j)) * z[i], nonnegative(30 - total(z[j], j)), nonnegative(z[i] - 1)),
        "n = 64",
    ),
    "a matrix with an inverse whose entries are all equal": (law(A @ inverse(A) * x, eye(n) * x, invertible(A), ALIKE), "n = 2"),
    "a matrix with a right inverse whose entries are all equal": (law(A @ C * x, eye(n) * x, product_is(A, C, 1), ALIKE), "n = 2"),
    "an orthogonal matrix of positive entries": (law(A @ A.T * x, eye(n) * x, product_is(A, A.T, 1), positive(A[i, j])), "n = 2"),
    "an index up to another size": (law(absolute(m - i) * x, (m - i) * x, nonnegative(m - i)), "m = 1, n = 2"),
}


@pytest.mark.parametrize("name", ABOVE)
def test_assumptions_that_contradict_each_other_at_a_larger_size_are_refused_with_it(name):
    state, size = ABOVE[name]
    one = claim(state)
    assert ", ".join(f"{size} = {value}" for size, value in assumption_consistency.find_empty_sizes(one).items()).startswith(size)
    codes = ("assumption-about-index", "assumption-not-needed", "impossible-sizes", "need-not-shown", "not-proved")
    assert rejection_of(state).code in codes


spread = total((z[i] - total(z[j], j) / n) ** 2, i)
RULED = {
    "a spread of one entry": (law(x * spread / spread, x, nonzero(spread)), "n = 1,", "nonnegative(n - 2)"),
    "a sum of entries above ones": (ABOVE["a sum of entries above ones"][0], "n = 9,", "nonnegative(8 - n)"),
    "thirty entries above one": (ABOVE["thirty entries above one"][0], "n = 64,", "nonnegative(12 - n)"),
    "an orthogonal matrix of positive entries": (ABOVE["an orthogonal matrix of positive entries"][0], "n = 2,", "assume less"),
}


@pytest.mark.parametrize("state, sizes, remedy", RULED.values(), ids=RULED)
def test_the_remedy_depends_on_the_sizes_that_are_named(state, sizes, remedy):
    error = rejection_of(state)
    assert error.code == "impossible-sizes" and sizes in error.message and error.message.endswith(remedy)


def test_what_rules_them_out_is_enough():
    assert exact(claim(law(x * spread / spread, x, nonzero(spread), nonnegative(n - 2)))).verdict == "proved"


def test_sizes_that_are_ruled_out_by_themselves_contradict_nothing():
    one = claim(law(absolute(4 - i) * z[i], (4 - i) * z[i], nonnegative(4 - i), nonnegative(4 - n)))
    assert assumption_consistency.find_empty_sizes(one) == {}


OF_INDICES = [nonnegative(30 - i), positive(m - i), nonzero(i - 70), nonnegative(100 * m - i * j), representable(i * j)]


@pytest.mark.parametrize("given", OF_INDICES, ids=str)
def test_an_assumption_about_an_index_alone_is_one_about_sizes(given):
    error = rejection_of(law(absolute(c) * given.args[0], absolute(c * given.args[0]), given))
    assert error.code in ("assumption-about-index", "not-proved", "false-claim")
    assert assumption_consistency.find_index_only_assumption(claim(law(x * c, c * x + 0 * given.args[0], given))) == given


ONES = {
    "an inverse, all entries equal": law(A @ inverse(A) * (A[1, 1] - A[i, j]), 0 * A, invertible(A), ALIKE),
    "entries below their own index": law(absolute(c - i) * x, (c - i) * x, nonnegative(c - i), nonnegative(1 - c)),
}


@pytest.mark.parametrize("state", ONES.values(), ids=ONES)
def test_what_holds_where_all_sizes_are_one_alone_is_not_confirmed(state):
    with pytest.raises(Rejected, check=has_code("contradictory-assumptions")):
        by_pytorch(claim(state))


def test_the_message_says_to_state_it_of_the_size():
    rest = nonnegative(30 - i)
    error = rejection_of(
        lambda D: D.inequality("claim", n * (n + 1) / 2, 30 * n, because=total(30 - i, i), given=[rest], without={rest: {n: 60}})
    )
    assert error.code == "assumption-about-index" and "nonnegative(30 - n)" in error.message


@pytest.mark.parametrize("given", [nonnegative(30 - n), nonnegative(z[i] - 1), nonnegative(c - i)], ids=str)
def test_one_about_more_is_not(given):
    assert assumption_consistency.find_index_only_assumption(claim(law(x * c, c * x + 0 * given.args[0], given))) is None


CONSISTENT = {
    "one entry above all others": [nonnegative((1 - i) * (z[i] - z[1] + 1))],
    "entries above their index": [positive(z[i] - i)],
    "a matrix of positive entries": [positive(B[i, index("k", m)])],
    "bounds on both sides": [nonnegative(c - z[i]), nonnegative(c + z[j])],
    "a number above squares and indices": [nonnegative(x - z[j] ** 2 - j)],
    "two numbers on two sides": [nonnegative(x - i - c), nonnegative(c - 15)],
    "a number below every reciprocal": [nonnegative(1 - c * i), positive(c)],
    "a sum that is bounded": [nonnegative(30 - total(z[j], j)), nonnegative(z[i])],
    "an invertible matrix of positive entries": [positive(A[i, j]), invertible(A)],
    "an invertible matrix of negative entries": [positive(-A[i, j]), invertible(A)],
    "an invertible matrix of small entries": [positive(A[i, j]), positive(1 - total(A[i, j], j)), invertible(A)],
    "an inverse of positive entries": [positive(inverse(A)[i, j]), invertible(A)],
    "an orthogonal matrix, no entry negative": [nonnegative(A[i, j]), product_is(A, A.T, 1)],
    "an orthogonal matrix without zeros": [nonzero(A[i, j]), product_is(A, A.T, 1)],
    "twice an orthogonal matrix": [nonnegative(A[1, 1]), product_is(A, A.T, 4)],
    "a root of two times an orthogonal matrix": [nonnegative(A[1, 1]), product_is(A, A.T, 2)],
    "orthonormal rows": [nonzero(B[i, index("k", m)]), product_is(B, B.T, 1)],
    "rows apart from other rows": [nonnegative(x), product_is(B, B.T, 1), product_is(D, B.T, 0), product_is(D, D.T, 1)],
    "a product of zero": [nonzero(B[1, 1]), product_is(A, B, 0)],
    "inverses of each other": [positive(A[i, j]), product_is(A, C, 1), product_is(C, A, 1)],
    "three times an inverse": [positive(A[i, j]), product_is(A, C, 3)],
    "far from zero": [nonnegative(z[i] - 900)],
}


@pytest.mark.parametrize("given", CONSISTENT.values(), ids=CONSISTENT)
def test_what_can_be_at_every_size_is_found(given):
    about = given[0].args[0]
    assert assumption_consistency.find_empty_sizes(claim(law(absolute(about), about, *given))) == {}


POINTS = {
    "a square's opposite": (law(absolute(c) * x, 0 * x, nonnegative(-(c**2))), "c = 0"),
    "a bound from both sides": (law(absolute(c - 1), 0, nonnegative(c - 1), nonnegative(1 - c)), "c = 1"),
    "two squares": (law(absolute(c + y), 0, nonnegative(-(c**2) - y**2)), "c = 0"),
    "every entry": (law(z[i] * x, 0 * x, nonnegative(-total(z[j] ** 2, j))), "z = [0]"),
    "a matrix that makes zero of its own transpose": (law(A @ A.T @ A, 0 * A, product_is(A, A.T, 0)), "A = [[0]]"),
    "one size": (law(absolute(3 - n) * x, 0 * x, nonnegative(3 - n), nonnegative(n - 3)), "n = 3"),
    "no size above one": (law(absolute(1 - n) * x, 0 * x, nonnegative(1 - n)), "n = 1"),
}


@pytest.mark.parametrize("name", POINTS)
def test_assumptions_that_leave_one_point_are_seen(name):
    state, point = POINTS[name]
    assert assumption_consistency.find_pinned_value(claim(state)) == point


def test_assumptions_that_leave_one_point_are_refused():
    error = rejection_of(lambda D: D.inequality("claim", 2 * c**2, 0, because=-(c**2) - (c**2), given=[nonnegative(-(c**2))]))
    assert error.code == "single-value" and "c = 0" in error.message


MORE_POINTS = {
    "two numbers that are equal": [nonnegative(x - y), nonnegative(y - x)],
    "one that is another's square": [nonnegative(x - y**2), nonnegative(y**2 - x)],
    "all entries alike": [nonnegative(z[i] - z[j])],
    "an orthogonal matrix": [product_is(A, A.T, 1)],
    "only one of the numbers that are tried": [nonnegative(x - 3)],
    "five sizes or more": [nonnegative(n - 5)],
    "twelve of two sizes or more": [nonnegative(n - 12), nonnegative(m - 1)],
}


@pytest.mark.parametrize("given", MORE_POINTS.values(), ids=MORE_POINTS)
def test_assumptions_that_leave_more_are_not(given):
    assert assumption_consistency.find_pinned_value(claim(law(x + y, y + x, *given))) == ""


SCOPES = {
    "every shape": (law((A @ B).T, B.T @ A.T), "every shape"),
    "sizes that are bounded": (law(absolute(n - 2) * z[i], (n - 2) * z[i], nonnegative(n - 2)), "every shape that the assumptions allow"),
    "sizes that are floats": (
        lambda D: D.identity("claim", rounded(n) * c, n * c, given=[representable(n)], without={representable(n): {n: 2**24 + 1, c: 1}}),
        "every shape that the assumptions allow",
    ),
    "as many columns as rows": (law(B @ B.T @ A, 1 * A, product_is(B, B.T, 1)), "every shape that the assumptions allow"),
    "a square one": (law(A @ A.T @ A, 1 * A, product_is(A, A.T, 1)), "every shape"),
    "a product that is zero": (law(A @ B @ B.T, 0 * A, product_is(A, B, 0)), "every shape"),
    "a number": (law(absolute(c) * z[i], c * z[i], nonnegative(c)), "every shape"),
    "no sizes": (law(sqrt(c**2), c, nonnegative(c)), "every value"),
}


@pytest.mark.parametrize("name", SCOPES)
def test_the_scope_says_which_shapes(name):
    state, scope = SCOPES[name]
    assert exact(claim(state)).scope == scope


OTHERS = {
    "a random matrix that is orthogonal": (
        law(E(random("Q", n, n)[1, 1]), 0, mean(random("Q", n, n), 0), product_is(random("Q", n, n), random("Q", n, n).T, 1)),
        "random-not-allowed",
    ),
    "independent of itself": (
        law(Var(X + Y), Var(X) + Var(Y), independent(X, X, Y), has_moment(X, 2), has_moment(Y, 2)),
        "independent-of-itself",
    ),
    "a mean stated twice": (law(E(X), 1, mean(X, 1), mean(X, 2)), "stated-twice"),
    "a variance stated twice": (law(Var(X), 1, variance(X, 1), variance(X, 4)), "stated-twice"),
    "a number that is no floating-point number": (
        law(absolute(c - Fraction(1, 3)), 0, representable(c), nonnegative(c - Fraction(1, 3)), nonnegative(Fraction(1, 3) - c)),
        "not-proved",
    ),
    "a Gaussian whose variance is below zero": (law(E(X**4), 3, mean(X, 0), variance(X, -1), gaussian(X)), "assumption-missing"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_contradicts_itself_otherwise_is_refused(name):
    state, code = OTHERS[name]
    with pytest.raises(KernelError, check=has_code(code)):
        exact(claim(state))
