"""Assumptions of a claim: they have no open index, do not contradict each other, state the moments that the claim needs, and are needed."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from sympy.stats import Expectation, Normal

from derivations.kernel import (
    Derivation,
    E,
    Var,
    absolute,
    eye,
    gaussian,
    has_moment,
    in_range,
    independent,
    index,
    log,
    matrix,
    mean,
    nonnegative,
    nonzero,
    positive,
    random,
    representable,
    rounded,
    scalars,
    sizes,
    total,
    variance,
    vector,
)
from derivations.kernel.core.assumptions import describe_assumption
from derivations.kernel.core.claims import Rejected
from derivations.kernel.errors import KernelError
from derivations.kernel.exact import assumption_consistency
from derivations.kernel.exact.witness import exact
from derivations.kernel.pytorch.witness import witness as by_pytorch
from derivations.kernel.sympy.witness import witness as by_sympy
from tests.kernel.common import has_code

d, n, m = sizes("d n m")
x, y, c = scalars("x y c")
i, j, k = index("i", d), index("j", d), index("k", n)
mu, z, v = vector("mu", d), vector("z", d), vector("v", n)
q, r, w = random("q", d), random("r", d), random("w")
A, Q = matrix("A", d, n), matrix("Q", d, d)


def stated(state):
    derivation = Derivation("test")
    state(derivation)
    return derivation.claims[-1]


# Indices that are left open

OPEN = {
    "a mean that is the index": lambda: mean(q, i),
    "a mean that an index picks": lambda: mean(q, mu[i]),
    "a variance that is the index": lambda: variance(q, i),
    "a variance that an index picks": lambda: variance(q, mu[i] ** 2),
    "one of two factors": lambda: mean(q, c * mu[j]),
    "a mean of one number": lambda: mean(w, mu[i]),
    "a variance within a root": lambda: variance(q, (1 + mu[i] ** 2) ** Fraction(1, 2)),
    "an entry of a matrix": lambda: variance(q, A[1, k] ** 2),
    "an index of another size": lambda: mean(q, k),
}
CLOSED = {
    "a sum over it": lambda: mean(q, total(mu[i], i)),
    "a certain entry": lambda: mean(q, mu[1]),
    "a product of vectors": lambda: variance(q, mu @ mu),
}


@pytest.mark.parametrize("name", OPEN)
def test_a_value_with_an_index_that_nothing_binds_is_refused_where_it_is_stated(name):
    with pytest.raises(KernelError, check=has_code("open-index")):
        OPEN[name]()


@pytest.mark.parametrize("name", CLOSED)
def test_a_value_that_is_one_number_is_taken(name):
    assert CLOSED[name]()


# What is random

RANDOM = {
    "its sign": lambda: positive(w),
    "the sign of an entry": lambda: nonnegative(q[i]),
    "that it is not zero": lambda: nonzero(w - 1),
    "what is rounded": lambda: representable(w),
    "the sign of its mean": lambda: positive(E(w)),
    "the sign of a product with it": lambda: nonnegative(c * w + 1),
}


@pytest.mark.parametrize("name", RANDOM)
def test_signs_are_of_what_is_not_random(name):
    with pytest.raises(KernelError, check=has_code("random-not-allowed")):
        RANDOM[name]()


@pytest.mark.parametrize(
    "side",
    [E(w / w), E(q[i] ** 2 / q[i]), E((w**2) ** Fraction(1, 2) * w), E(log(w) - log(w))],
    ids=["a quotient", "a square over it", "a root", "logarithms"],
)
def test_nor_is_one_used(side, rejection):
    """A mean of it need not exist, and nobody is told to state what cannot be stated."""
    error = rejection(lambda D: D.identity("claim", side, 1))
    assert error.code != "assumption-missing" and "given=" not in error.message


# Moments that a law takes of what has no distribution

LACKING = {
    "of a factor whose mean is multiplied by 0": (E(q @ r), 0, [independent(q, r), mean(q, 0)], "has_moment(r, 1)"),
    "of what is moved": (E(w + x), E(w) + x, [], "has_moment(w, 1)"),
    "of what cancels after it is averaged": (E(w) - E(w), 0, [], "has_moment(w, 1)"),
    "of what is multiplied by 0 after it is averaged": (0 * E(w), 0, [], "has_moment(w, 1)"),
    "of a variance": (Var(w), E(w**2) - E(w) ** 2, [], "has_moment(w, 2)"),
    "of a variance beside a mean": (Var(w + x), Var(w), [mean(w, 0)], "has_moment(w, 2)"),
    "of a third power": (E((q @ r) ** 3), 0, [independent(q, r), mean(q, 0), gaussian(q)], "has_moment(r, 3)"),
    "of a fourth power": (E((2 * w) ** 4), 16 * E(w**4), [variance(w, 1), mean(w, 0)], "has_moment(w, 4)"),
    "of a sum of squares": (E(q @ q), total(E(q[i] ** 2), i), [], "has_moment(q, 2)"),
    "of an entry": (E(c * q[i]), c * E(q[i]), [], "has_moment(q, 1)"),
    "of a part of a sum": (E(w + y * r[i]), E(w) + y * E(r[i]), [mean(w, 0)], "has_moment(r, 1)"),
    "of a higher order than is stated": (E(w**3), E(w**2 * w), [has_moment(w, 2)], "has_moment(w, 3)"),
}


@pytest.mark.parametrize("name", LACKING)
def test_a_moment_that_is_taken_is_stated_to_exist(name):
    left, right, given, remedy = LACKING[name]
    claim = stated(lambda D: D.identity("claim", left, right, given=given))
    with pytest.raises(Rejected, check=has_code("assumption-missing")) as caught:
        exact(claim)
    assert remedy in caught.value.message
    with pytest.raises(Rejected, check=has_code("sympy-disagrees")):
        by_sympy(claim)
    try:
        assert by_pytorch(claim)[0] == "not applicable"
    except Rejected as error:
        assert error.code == "missing-moment"


@pytest.mark.parametrize(
    "name", ["of a factor whose mean is multiplied by 0", "of what is moved", "of a third power", "of an entry", "of a variance"]
)
def test_pytorch_refuses_it_where_nothing_may_cancel(name):
    left, right, given, _ = LACKING[name]
    with pytest.raises(Rejected, check=has_code("missing-moment")):
        by_pytorch(stated(lambda D: D.identity("claim", left, right, given=given)))


EXIST = {
    "a mean that is not multiplied by anything": (E(q @ r), 0, [independent(q, r), mean(q, 0), has_moment(r, 1)]),
    "a mean that moves": (E(w + x), E(w) + x, [has_moment(w, 1)]),
    "a variance that does not move": (Var(w + x), Var(w), [has_moment(w, 2)]),
    "what a variance is": (Var(w), E(w**2) - E(w) ** 2, [has_moment(w, 2)]),
    "a third moment": (E((q @ r) ** 3), 0, [independent(q, r), mean(q, 0), gaussian(q), has_moment(r, 3)]),
    "what follows from a mean": (E(w + x), y + x, [mean(w, y)]),
    "what follows from a variance": (Var(x * w), x**2 * y**2, [variance(w, y**2)]),
    "what follows from a normal law": (E(w**4), 3, [gaussian(w), mean(w, 0), variance(w, 1)]),
    "of two factors, and no more of each": (E(q[i] * r[i]), E(q[i]) * E(r[i]), [independent(q, r), has_moment(q, 1), has_moment(r, 1)]),
}


@pytest.mark.parametrize("name", EXIST)
def test_where_it_is_stated_or_follows_the_law_holds(name):
    left, right, given = EXIST[name]
    claim = stated(lambda D: D.identity("claim", left, right, given=given))
    assert exact(claim).verdict == "proved"
    assert by_sympy(claim)[0] == "proved"
    assert by_pytorch(claim)[0] == "agrees"


UNNEEDED = {
    "nothing is averaged": (x + y, y + x, [has_moment(w, 1)], "unrelated-random", "w"),
    "a mean is stated": (E(w + x), y + x, [mean(w, y), has_moment(w, 1)], "assumption-not-needed", "each entry of w has a mean"),
    "a higher one than is taken": (E(w + x), E(w) + x, [has_moment(w, 2)], "assumption-too-strong", "has_moment(w, 1)"),
    "a mean where its value is nothing": (
        E(q @ r),
        0,
        [independent(q, r), mean(q, 0), mean(r, 0)],
        "assumption-too-strong",
        "has_moment(q, 1)",
    ),
    "a variance where its value is nothing": (Var(w + x), Var(w), [variance(w, 1)], "assumption-too-strong", "has_moment(w, 2)"),
    "a normal law where it is nothing": (E(w + x), E(w) + x, [gaussian(w)], "assumption-too-strong", "has_moment(w, 1)"),
}


@pytest.mark.parametrize("name", UNNEEDED)
def test_no_more_is_stated_than_is_needed(name):
    left, right, given, code, instead = UNNEEDED[name]
    with pytest.raises(Rejected, check=has_code(code), match=re.escape(instead)):
        exact(stated(lambda D: D.identity("claim", left, right, given=given)))


def test_a_refuted_law_takes_moments_as_well():
    def law(*given):
        return stated(lambda D: D.refute("claim", E(q @ r), 1, at={d: 1}, given=[independent(q, r), mean(q, 0), *given]))

    for witness in (exact, by_sympy, by_pytorch):
        with pytest.raises(Rejected):
            witness(law())
    assert exact(law(has_moment(r, 1))).needed[-1] == "r may have the Cauchy law, which has no mean"
    assert by_sympy(law(has_moment(r, 1)))[0] == "refuted" and by_pytorch(law(has_moment(r, 1)))[0] == "agrees"


def test_a_page_says_it_in_words():
    assert [str(has_moment(w, k)) for k in (1, 2, 3)] == [
        "each entry of w has a mean",
        "each entry of w has a variance",
        "each entry of w has a moment of order 3",
    ]
    assert describe_assumption(has_moment(w, 3), latex_names=True) == "each entry of $w$ has a moment of order $3$"


@pytest.mark.parametrize("order", [0, -1, Fraction(1, 2), x])
def test_the_order_of_a_moment_is_a_positive_integer(order):
    with pytest.raises(KernelError, check=has_code("invalid-argument")):
        has_moment(w, order)


def test_a_distribution_that_sympy_knows_has_its_moments():
    X, Y = Normal("X", 0, 1), Normal("Y", 2, 3)
    claim = stated(lambda D: D.identity("claim", Expectation(X * Y), 0))
    assert [str(a) for a in claim.given] == [
        "the entries of X and Y are independent",
        "each entry of X has mean 0",
        "each entry of Y has a mean",
    ]
    assert exact(claim).verdict == by_sympy(claim)[0] == "proved"


# What a claim rests on


def test_a_claim_does_not_rest_on_what_is_refuted(rejection):
    def state(D):
        D.refute("wrong", x + 1, x, at={x: 0})
        D.identity("claim", x + y, y + x, uses=["wrong"])

    assert rejection(state).code == "unknown-claim"


# Refutations

MISFITS = {
    "a matrix and its transpose": lambda D: D.refute("claim", A, A.T, at={A: [[1, 2, 3], [4, 5, 6]]}),
    "that at a square": lambda D: D.refute("claim", A, A.T, at={A: [[0, 1], [2, 3]]}),
    "a vector and a number": lambda D: D.refute("claim", z, 1, at={z: [1]}),
    "a vector and another": lambda D: D.refute("claim", z, v, at={z: [1], v: [1, 2]}),
    "a matrix and a vector": lambda D: D.refute("claim", A @ v, A, at={A: [[1]], v: [1]}),
    "an order": lambda D: D.refute("claim", z @ z, z, at={z: [2]}, relation="<="),
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_cannot_be_equal_is_not_refuted(name, rejection):
    assert rejection(MISFITS[name]).code == "mismatched-sides"


def test_what_could_be_equal_is(proved):
    assert proved(lambda D: D.refute("claim", Q, Q.T, at={Q: [[0, 1], [2, 3]]})).verdict == "refuted"


# What is rounded

OVERFLOWS = {
    "a difference of one thing": (rounded(x) - rounded(x), 0, []),
    "a sum": (2 * rounded(x), rounded(x) + rounded(x), []),
    "a multiple of 0": (0 * rounded(x), 0, []),
    "a quotient": (rounded(x) / (1 + rounded(x) ** 2), rounded(x) / (rounded(x) ** 2 + 1), []),
    "what is rounded twice": (rounded(rounded(x * y)), rounded(x * y), []),
    "a product that commutes": (rounded(x * y), rounded(y * x), []),
    "what is within an exponential": (rounded(x) + log(rounded(x) ** 2 + 1), log(1 + rounded(x) ** 2) + rounded(x), []),
}


@pytest.mark.parametrize("name", OVERFLOWS)
def test_what_is_rounded_is_in_range(name):
    left, right, given = OVERFLOWS[name]
    with pytest.raises(Rejected, check=has_code("assumption-missing")):
        exact(stated(lambda D: D.identity("claim", left, right, given=given)))
    assert exact(stated(lambda D: D.identity("claim", left, right, given=[*given, in_range()]))).verdict == "proved"


@pytest.mark.parametrize("name", ["a difference of one thing", "a sum", "a multiple of 0", "a product that commutes"])
def test_pytorch_sees_it_overflow(name):
    left, right, given = OVERFLOWS[name]
    with pytest.raises(Rejected, check=has_code("overflow")):
        by_pytorch(stated(lambda D: D.identity("claim", left, right, given=given)))
    assert by_pytorch(stated(lambda D: D.identity("claim", left, right, given=[*given, in_range()])))[0] == "agrees"


def test_an_assumption_about_what_is_rounded_says_that_it_has_a_value():
    claim = stated(lambda D: D.identity("claim", rounded(x) / rounded(x), 1, given=[nonzero(rounded(x))]))
    assert exact(claim).verdict == "proved" and by_pytorch(claim)[0] == "agrees"


def test_what_is_a_floating_point_number_does_not_overflow():
    third = {representable(x): {x: Fraction(1, 3)}}
    claim = stated(lambda D: D.identity("claim", rounded(x), x, given=[representable(x)], without=third))
    assert exact(claim).verdict == "proved" and by_pytorch(claim)[0] == "agrees"


# Sizes that assumptions demand

LARGER = {
    "five": (n - 5, nonnegative(n - 5)),
    "more than nine": (n - 9, positive(n - 9)),
    "a hundred": (n - 100, nonnegative(n - 100)),
    "ten of two": (n + m - 10, nonnegative(n + m - 10)),
    "a square of twenty": (n**2 - 20, positive(n**2 - 20)),
    "a half of seven": (n / 2 - Fraction(7, 2), nonnegative(n / 2 - Fraction(7, 2))),
}


@pytest.mark.parametrize("name", LARGER)
def test_larger_sizes_are_tried_where_an_assumption_demands_it(name):
    size, assumed = LARGER[name]
    claim = stated(lambda D: D.identity("claim", absolute(size) * x, size * x, given=[assumed]))
    assert exact(claim).verdict == "proved"
    assert by_sympy(claim)[0] == "proved"


def test_beside_a_sum_too():
    claim = stated(lambda D: D.identity("claim", absolute(n - 5) * total(v[k], k), (n - 5) * total(v[k], k), given=[nonnegative(n - 5)]))
    assert exact(claim).verdict == by_sympy(claim)[0] == "proved"


NOWHERE = {
    "sizes that contradict each other": (n - 5, [positive(n - 5), positive(3 - n)], 130),
    "sizes beyond what is tried": (n, [nonnegative(n - 10**6)], 130),
    "numbers that contradict each other": (x, [positive(x), positive(-x - n)], 3),
    "two sizes that do": (n - m, [positive(n - m), positive(m - n)], 12),
}


@pytest.mark.parametrize("name", NOWHERE)
def test_where_none_is_found_that_is_what_is_said(name, rejection):
    size, given, most = NOWHERE[name]
    error = rejection(lambda D: D.identity("claim", absolute(size) * y + 0 * n, size * y, given=given))
    assert error.code == "contradictory-assumptions" and f"up to {most}," in error.message


# Polynomials in sizes

ROOTS = {
    "of a vector": (v * (n - 1) * (n - 2) * (n - 3) * (n - 4), 0 * v),
    "of a number": (x * (n - 1) * (n - 2) * (n - 3) * (n - 4), 0 * x),
    "of a difference of sizes": (v * (n - m) * (n - m - 1) * (n - m + 1) * (n - m - 2) * (n - m + 2), 0 * v),
    "of an index": ((k - 1) * (k - 2) * (k - 3) * v[k], 0 * v[k]),
    "of a sum": (total(v[k], k) * (n - 1) * (n - 2) * (n - 3), 0 * x),
    "of a sum of indices": (total(k * v[k] * (k - 1) * (k - 2) * (k - 3) * (k - 4), k), 0 * x),
    "beside a denominator": ((n - 1) * (n - 2) * (n - 3) * v / (n + 1), 0 * v),
    "of a square": ((n**2 - 1) * (n**2 - 4) * (n**2 - 9) * v, 0 * v),
    "of a mean": (E(w) * (n - 1) * (n - 2) * (n - 3) * v[k], 0 * v[k]),
}


@pytest.mark.parametrize("name", ROOTS)
def test_a_polynomial_in_sizes_is_checked_at_more_than_its_degree(name, sympy_rejection):
    left, right = ROOTS[name]
    given = [mean(w, 1)] if "mean" in name else []
    assert sympy_rejection(lambda D: D.identity("claim", left, right, given=given)).code == "sympy-disagrees"


def test_what_holds_at_each_of_them_is_proved():
    claim = stated(lambda D: D.identity("claim", v * (n - 1) * (n + 1) * (n**2 + 1), v * (n**4 - 1)))
    assert by_sympy(claim)[:2] == ("proved", "some sizes up to 5")


def test_so_it_is_above_the_sizes_that_are_ruled_out(sympy_rejection):
    roots = (n - 5) * (n - 6) * (n - 7) * (n - 8) * (n - 9) * (n - 10) * (n - 11)
    assert "n = 12" in sympy_rejection(lambda D: D.identity("claim", roots * v, 0 * v, given=[nonnegative(n - 5)])).message


# Assumptions that contradict each other at some size

CONTRADICTORY = {
    "an index below two": [positive(2 - i)],
    "an index below three": [positive(3 - i)],
    "each entry above each other": [nonnegative((1 - eye(d)[i, j]) * (z[i] - z[j] - 1))],
    "entries above their index, and below two": [positive(z[i] - i), nonnegative(2 - z[j])],
    "entries that differ, of three numbers at most": [nonnegative(z[i] - i), nonnegative(i - z[i]), positive(Fraction(5, 2) - z[j])],
}


@pytest.mark.parametrize("name", CONTRADICTORY)
def test_assumptions_contradict_each_other_at_no_small_size(name, rejection):
    given = CONTRADICTORY[name]
    (about, *_) = given[0].args
    error = rejection(lambda D: D.identity("claim", absolute(about), about, given=given))
    assert error.code in (
        "contradictory-assumptions",
        "impossible-sizes",
        "assumption-not-needed",
        "need-not-shown",
        "assumption-about-index",
    )
    empty = assumption_consistency.find_empty_sizes(stated(lambda D: D.identity("claim", absolute(about), about, given=given)))
    assert list(empty.values()) in ([2], [3])


CONSISTENT = {
    "entries of a matrix": [positive(A[i, k])],
    "entries above their index": [positive(z[i] - i)],
    "a bound on all": [nonnegative(c - z[i]), nonnegative(c + z[j])],
    "a bound on an index": [positive(c - i)],
    "one entry above each other": [nonnegative((1 - eye(d)[1, j]) * (z[1] - z[j] - 1))],
    "sizes that are ruled out": [positive(2 - i), nonnegative(1 - d)],
}


@pytest.mark.parametrize("name", CONSISTENT)
def test_what_holds_somewhere_at_each_of_them_may_be_assumed(name):
    (about, *_) = CONSISTENT[name][0].args
    assert (
        assumption_consistency.find_empty_sizes(stated(lambda D: D.identity("claim", absolute(about), about, given=CONSISTENT[name]))) == {}
    )


@pytest.mark.parametrize("witness", [exact, by_sympy, by_pytorch], ids=["exact", "sympy", "torch"])
def test_no_witness_takes_two_shapes_for_a_refutation(witness):
    """Nor does one take them from a claim that did not come in by the door."""
    claim = stated(lambda D: D.refute("claim", A, 2 * A, at={A: [[1, 2, 3], [4, 5, 6]]}))
    with pytest.raises(Rejected):
        witness(replace(claim, steps=(replace(claim.steps[0], expr=A.T),)))
