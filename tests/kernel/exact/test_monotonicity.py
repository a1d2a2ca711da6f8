"""Inequalities proved by monotone functions and by nonnegative variances."""

import pytest

from derivations.kernel import (
    E,
    Var,
    absolute,
    exp,
    eye,
    has_moment,
    independent,
    index,
    log,
    mean,
    nonnegative,
    positive,
    random,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
    zero_or_one,
)
from derivations.kernel.core.claims import Rejected
from derivations.kernel.pytorch.witness import witness as pytorch
from derivations.kernel.sympy.witness import witness
from tests.kernel.common import has_code

n = sizes("n")
z = vector("z", n)
x, y, a, b = scalars("x y a b")
i, k, l = index("i", n), index("k", n), index("l", n)
p = softmax(z)
X, Y, V = random("X"), random("Y"), random("V", n)
above = nonnegative(y - x)
MOMENTS = [has_moment(X, 2), has_moment(Y, 2)]
within = [nonnegative(z[l] - a), nonnegative(b - z[l])]

TRUE = {
    "an exponential": (exp(x), exp(y), exp(y) - exp(x), [above]),
    "an exponential less one": (exp(x), exp(y), exp(x) * (exp(y - x) - 1), [above]),
    "one less an exponential": (exp(-y), exp(-x), exp(-x) * (1 - exp(-(y - x))), [above]),
    "an exponential, written the other way round": (exp(x), exp(y), -exp(x) + exp(y), [above]),
    "a logarithm": (log(x), log(y), log(y) - log(x), [above, positive(x)]),
    "a logarithm of one and more": (0 * x, log(1 + x**2), log(1 + x**2), []),
    "a root": (sqrt(x), sqrt(y), sqrt(y) - sqrt(x), [above, nonnegative(x)]),
    "a square from zero on": (x**2, y**2, y**2 - x**2, [above, nonnegative(x)]),
    "a fourth power from zero on": (x**4, y**4, y**4 - x**4, [above, nonnegative(x)]),
    "a cube everywhere": (x**3, y**3, y**3 - x**3, [above]),
    "a root alone": (x - sqrt(y), x + sqrt(y), 2 * sqrt(y), [nonnegative(y)]),
    "a weight from above": (p[i], exp(b - a) / n, p[i] * total(exp((b - z[i]) + (z[k] - a)) - 1, k) / n, within),
    "a weight from below": (exp(a - b) / n, p[i], p[i] * total(1 - exp(-((z[i] - a) + (b - z[k]))), k) / n, within),
    "a score below the logarithm of the sum": (
        z[i],
        log(total(exp(z[l]), l)),
        log(1 + total((1 - eye(n)[i, l]) ** 2 * exp(z[l] - z[i]), l)),
        [],
    ),
    "Jensen": (E(X) ** 2, E(X**2), Var(X), [has_moment(X, 2)]),
    "Jensen, where the mean is known": (a**2, E(X**2), Var(X), [mean(X, a), has_moment(X, 2)]),
    "Jensen for a sum": (E(X) ** 2 + E(Y) ** 2, E(X**2) + E(Y**2), Var(X) + Var(Y), [has_moment(X, 2), has_moment(Y, 2)]),
    "Jensen at each entry": (total(E(V[i]) ** 2, i), total(E(V[i] ** 2), i), total(Var(V[i]), i), [has_moment(V, 2)]),
}


@pytest.mark.parametrize("left, right, because, given", TRUE.values(), ids=TRUE)
def test_an_order_that_is_kept_is_a_certificate(left, right, because, given, checked):
    found = []

    def state(D):
        D.inequality("claim", left, right, because=because, given=given)
        found.append(pytorch(D.claims[0])[0])

    ((verdict, by_sympy),) = checked(state).values()
    assert (verdict.verdict, by_sympy[0], found) == ("proved", "proved", ["agrees"])


# False, or true for another reason than the certificate says.
FALSE = {
    "nothing said": (exp(x), exp(y), exp(y) - exp(x), []),
    "the other order": (exp(x), exp(y), exp(y) - exp(x), [nonnegative(x - y)]),
    "an exponential that falls": (exp(-x), exp(-y), exp(-y) - exp(-x), [above]),
    "a square below zero": (x**2, y**2, y**2 - x**2, [above]),
    "a square that begins below zero": (x**2, y**2, y**2 - x**2, [above, nonnegative(y)]),
    "a power that falls": (1 / x, 1 / y, y**-1 - x**-1, [above, positive(x)]),
    "a logarithm of less than one": (0 * x, log(x), log(x), [positive(x)]),
    "less than one, by a number": (0 * x, log(exp(x) + 1 - 1), log(exp(x) + 1 - 1), []),
    "two functions": (x + 0 * y, y**2, exp(y) - exp(x), [above]),
    "two powers": (x**2, y**3, y**3 - x**2, [above, nonnegative(x)]),
    "two for one": (exp(x), 2 + 0 * y, 2 - exp(x), [nonnegative(1 - x)]),
    "one for a square": (x**2, 1 + 0 * y, 1 - x**2, [nonnegative(1 - x)]),
    "a factor that may be negative": (y * exp(0 * x), y * exp(x), y * (exp(x) - 1), [nonnegative(x)]),
    "a factor on one side": (2 * exp(x), exp(y), exp(y) - 2 * exp(x), [above]),
    "a modulus": (absolute(x), absolute(y), absolute(y) - absolute(x), [above]),
    "a weight, scores bounded on one side": (
        p[i],
        exp(b - a) / n,
        p[i] * total(exp((b - z[i]) + (z[k] - a)) - 1, k) / n,
        [nonnegative(b - z[l])],
    ),
    "a weight, without the size": (p[i], exp(a - b), exp(a - b) - p[i], within),
    "Jensen the other way round": (E(X**2), E(X) ** 2, Var(X), [has_moment(X, 2)]),
    "Jensen with a factor": (2 * E(X) ** 2, E(X**2), Var(X), [has_moment(X, 2)]),
    "a mean below its square": (E(X), E(X**2), Var(X), [has_moment(X, 2)]),
    "less a variance": (E(X**2), E(X) ** 2, -Var(X), [has_moment(X, 2)]),
    "a variance less another": (
        E(X) ** 2 - E(Y) ** 2,
        E(X**2) - E(Y**2),
        Var(X) - Var(Y),
        [has_moment(X, 2), has_moment(Y, 2)],
    ),
}


@pytest.mark.parametrize("left, right, because, given", FALSE.values(), ids=FALSE)
def test_an_order_that_is_not_kept_is_none(left, right, because, given, rejection):
    def state(D):
        D.inequality("claim", left, right, because=because, given=given)
        try:
            assert witness(D.claims[0])[0] == "not applicable"  # SymPy vouches for none of them
        except Rejected as error:
            assert error.code == "sympy-disagrees"

    assert rejection(state).code in ("false-claim", "sign-not-visible", "wrong-certificate")


bits = vector("k", n)
SUMS = {
    "a size and a sum of what is 0 or 1": (total(bits[i], i), n, [zero_or_one(bits)]),
    "a size and a sum of what is at most 1": (total(z[i], i), n, [nonnegative(1 - z[i])]),
    "two sums": (total(exp(z[i]), i), total(exp(b), i), [nonnegative(b - z[l])]),
}


@pytest.mark.parametrize("left, right, given", SUMS.values(), ids=SUMS)
def test_the_difference_of_sums_is_a_certificate_where_each_of_its_terms_is(left, right, given, checked, rejection):
    ((verdict, by_sympy),) = checked(lambda D: D.inequality("claim", left, right, because=right - left, given=given)).values()
    assert verdict.verdict == "proved" and by_sympy[0] in ("proved", "not applicable")
    assert rejection(lambda D: D.inequality("claim", left, right, because=right - left)).code == "false-claim"


def test_the_difference_itself_is_no_certificate_where_nothing_rises(rejection):
    code, squares = "repeated-difference", total(p[i] ** 2, i)
    assert rejection(lambda D: D.inequality("claim", p[i], 1, because=1 - p[i])).code == code
    assert rejection(lambda D: D.inequality("claim", x, exp(y), because=exp(y) - x, given=[above])).code == code
    assert rejection(lambda D: D.inequality("claim", squares, n, because=n - squares)).code == code


def test_what_rises_only_where_it_exists_needs_to_exist(rejection):
    """Of log and roots, that they exist is required and not seen."""
    for f in (log, sqrt):
        assert rejection(lambda D: D.inequality("claim", f(x), f(y), because=f(y) - f(x), given=[above])).code == "assumption-missing"
    assert rejection(lambda D: D.inequality("claim", x - sqrt(y), x + sqrt(y), because=2 * sqrt(y))).code == "assumption-missing"


def test_a_variance_of_what_may_be_dependent_is_not_taken(rejection):
    """Of a covariance, the two variances bound it whatever ties them; nothing more is said of what is not stated."""
    assert (
        rejection(
            lambda D: D.inequality("claim", E(X * Y) - E(X) * E(Y), (Var(X) + Var(Y)) / 3, because=Var(X - Y) / 3, given=MOMENTS)
        ).code
        == "assumption-missing"
    )
    assert (
        rejection(lambda D: D.inequality("claim", E(X * Y), E(X**2), because=Var(X), given=[independent(X, Y), *MOMENTS])).code
        == "wrong-certificate"
    )


# Which moments each of them takes, and what is less than it needs.
TOO_LITTLE = {
    "nothing": (E(X) ** 2, E(X**2), Var(X), [], "X, 2"),
    "a mean alone": (E(X) ** 2, E(X**2), Var(X), [has_moment(X, 1)], "X, 2"),
    "a mean that is known": (a**2, E(X**2), Var(X), [mean(X, a)], "X, 2"),
    "of one of two": (E(X) ** 2 + E(Y) ** 2, E(X**2) + E(Y**2), Var(X) + Var(Y), [has_moment(X, 2)], "Y, 2"),
    "of no entry": (total(E(V[i]) ** 2, i), total(E(V[i] ** 2), i), total(Var(V[i]), i), [], "V, 2"),
    "of a square": (E(X**2) ** 2, E(X**4), Var(X**2), [has_moment(X, 2)], "X, 4"),
}


@pytest.mark.parametrize("left, right, because, given, lacks", TOO_LITTLE.values(), ids=TOO_LITTLE)
def test_an_order_of_moments_needs_them_to_exist(left, right, because, given, lacks, rejection):
    """Each witness asks for them alone."""

    def state(D):
        D.inequality("claim", left, right, because=because, given=given)
        for asks, code in ((witness, "sympy-disagrees"), (pytorch, "missing-moment")):
            with pytest.raises(Rejected, check=has_code(code)):
                asks(D.claims[0])

    error = rejection(state)
    assert error.code == "assumption-missing" and f"has_moment({lacks})" in error.message
