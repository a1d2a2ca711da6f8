"""Proofs of inequalities: each form that is visibly nonnegative is accepted, and a slightly different form is not."""

from fractions import Fraction

import pytest

from derivations.kernel import (
    Derivation,
    absolute,
    array,
    exp,
    eye,
    index,
    log,
    matrix,
    nonnegative,
    nonzero,
    norm,
    ones,
    paren,
    positive,
    rank,
    scalars,
    sizes,
    softmax,
    sqrt,
    tanh,
    total,
    vector,
)
from derivations.kernel.core.claims import Rejected
from derivations.kernel.core.expr import Expr
from derivations.kernel.exact.assumption_facts import collect_facts
from derivations.kernel.exact.given_values import ProofFailed
from derivations.kernel.exact.proofs import prove_rank
from derivations.kernel.exact.standard_inequalities import find_gap_condition
from derivations.kernel.exact.witness import prove
from derivations.kernel.sympy.witness import witness

n, m = sizes("n m")
x, y, t = scalars("x y t")
z = vector("z", n)
A, U = matrix("A", n, n), matrix("U", n, m)
i = index("i", n)


def named(body):
    return Expr("defined", (body,), body.shape, ("p", "defined"))


def proves(certificate, given=(), left=t):
    """Is left <= left + certificate proved from this certificate?"""
    derivation = Derivation("test")
    derivation.inequality("claim", left, left + certificate, because=certificate, given=given)
    (claim,) = derivation.claims
    try:
        prove(claim, claim.start, claim.steps[0].expr, claim.given)
    except ProofFailed:
        return False
    return True


root = (x - y) ** 2  # no single term of it has a sign: only the square shows it
SEEN = {
    "a square": root,
    "a fourth power": (x - y) ** 4,
    "a power of something with a sign": (absolute(x - y) + (x - y)) ** 3,
    "an exponential": exp(x - y),
    "an absolute value": absolute(x - y),
    "a sum": root + (x - 2 * y) ** 2,
    "a product": root * (absolute(x) - x),
    "a quotient": root / exp(x),
    "a quotient of what is seen": (absolute(x) - x) / (exp(x) + exp(y)),
    "brackets": paren(root),
    "a number of times": 2 * paren(root),
    "a name": named(root),
    "a sum over an index": total((z[i] - x) ** 2, i),
    "a sum of sums": root + total((z[i] - x) ** 2, i),
    "an absolute value and its argument": absolute(x - y) + (x - y),
    "the argument first": (x - y) + absolute(x - y),
    "an absolute value less its argument": absolute(x - y) - (x - y),
    "that of a product less the product": absolute(x * y) - x * y,
    "that of entries in a sum": total(absolute(z[i] * x) + z[i] * x, i),
    "a weight": softmax(z)[1],
    "a size": n - 1 + 0 * x,
}
UNSEEN = {
    "an odd power": (x - y) ** 3,
    "a logarithm": log(exp(x)),
    "a sum with one part that may be negative": root + x,
    "that part first": x + root,
    "a product with one": root * x,
    "that factor first": x * root,
    "a product of two": x * y,
    "a quotient of one": x / exp(y),
    "what is taken away": root - root * 2,
    "the negative": -root,
    "a sum over an index of one": total(z[i] - x, i),
    "an absolute value and something else": absolute(x) + y,
    "an exponential less its argument": exp(x) - x,
    "a logarithm beside its argument": log(exp(y)) + exp(x) * y,
    "brackets around one": named(x),
    "a power of two that is a name": named(x) ** 3,
}


p, q, k = softmax(z), vector("q", n), vector("k", n)
w = vector("w", n)
g = softmax(w)
POSITIVE, NONNEGATIVE = [positive(x)], [nonnegative(x)]
STANDARD = {
    "a tangent of the exponential": (exp(x) - 1 - x, []),
    "its summands in another order": (-x + exp(x) - 1, []),
    "at another number": (exp(x - y) - 1 - (x - y), []),
    "of its inverse": (exp(-x) - 1 + x, []),
    "some of it and a square": (2 * paren(exp(x) - 1 - x) + root, []),
    "a tangent of the logarithm": (x - 1 - log(x), POSITIVE),
    "at the inverse": (1 / x - 1 + log(x), POSITIVE),
    "a sum of them": (total(p[i] * paren(1 / (n * p[i]) - 1 - log(1 / (n * p[i]))), i), []),
    "a tangent of tanh": (x - tanh(x), NONNEGATIVE),
    "at a square": (root - tanh(root), []),
    "a relative entropy": (total(g[i] * (log(g[i]) - log(p[i])), i), []),
    "with a quotient": (total(g[i] * log(g[i] / p[i]), i), []),
    "a cross entropy less the entropy": (-total(g[i] * log(p[i]), i) + total(g[i] * log(g[i]), i), []),
    "what an entropy is below its bound": (log(n) + total(p[i] * log(p[i]), i), []),
    "lengths less a product": (norm(q) * norm(k) - q @ k, []),
    "lengths and a product": (norm(q) * norm(k) + q @ k, []),
    "lengths less its absolute value": (norm(q) * norm(k) - absolute(q @ k), []),
    "two lengths less that of the sum": (norm(q) + norm(k) - norm(q + k), []),
    "two lengths less that of the difference": (norm(q) + norm(k) - norm(q - k), []),
    "two sides less the third": (norm(q - w) + norm(w - k) - norm(q - k), []),
    "two absolute values less that of the sum": (absolute(x) + absolute(y) - absolute(x + y), []),
}
NOT_STANDARD = {
    "the tangent less the exponential": (1 + x - exp(x), []),
    "an exponential less another line": (exp(x) - 1 - 2 * x, []),
    "an exponential less more": (exp(x) - Fraction(11, 10) - x, []),
    "an exponential of another number": (exp(x) - 1 - y, []),
    "the logarithm less its tangent": (log(x) + 1 - x, POSITIVE),
    "a line less a logarithm": (x - log(x) - Fraction(11, 10), POSITIVE),
    "the logarithm of a square less a line": (x - 1 - log(x**2), POSITIVE),
    "tanh where its argument may be negative": (x - tanh(x), []),
    "tanh less its argument": (tanh(x) - x, NONNEGATIVE),
    "the relative entropy with the wrong sign": (total(g[i] * (log(p[i]) - log(g[i])), i), []),
    "with other weights": (total(p[i] * (log(g[i]) - log(p[i])), i), []),
    "of what has another sum": (total(g[i] * (log(g[i]) - log(2 * p[i])), i), []),
    "an entropy less its bound": (-total(p[i] * log(p[i]), i) - log(n), []),
    "the bound of one token less": (log(n - 1) + total(p[i] * log(p[i]), i), [nonnegative(n - 2)]),
    "a product less the lengths": (q @ k - norm(q) * norm(k), []),
    "lengths less twice the product": (norm(q) * norm(k) - 2 * (q @ k), []),
    "the length of a sum less two lengths": (norm(q + k) - norm(q) - norm(k), []),
    "one length less another": (norm(q) - norm(k), []),
    "two lengths less one of another vector": (norm(q) + norm(k) - norm(w), []),
    "absolute values less too much": (absolute(x) + absolute(y) - absolute(x + 2 * y), []),
}


@pytest.mark.parametrize("certificate, given", STANDARD.values(), ids=STANDARD)
def test_a_standard_inequality_is_a_certificate(certificate, given):
    assert proves(certificate, given)


@pytest.mark.parametrize("certificate, given", NOT_STANDARD.values(), ids=NOT_STANDARD)
def test_what_only_resembles_a_standard_inequality_is_not(certificate, given):
    assert not proves(certificate, given)


@pytest.mark.parametrize("gap, given", STANDARD.values(), ids=STANDARD)
def test_a_standard_inequality_may_repeat_the_difference(gap, given):
    derivation = Derivation("test")
    derivation.inequality("claim", 0, gap, because=gap, given=given)
    (claim,) = derivation.claims
    assert not isinstance(prove(claim, claim.start, claim.steps[0].expr, claim.given), ProofFailed)


def test_a_gap_that_is_tried_in_vain_asks_for_no_assumption():
    facts = collect_facts((nonzero(y), positive(x / y)))
    assert find_gap_condition(total(z[i] * log(x / y), i), facts) is None
    assert facts.missing == {}


@pytest.mark.parametrize("certificate", SEEN.values(), ids=SEEN)
def test_a_certificate_is_seen_not_to_be_negative(certificate):
    assert proves(certificate)


@pytest.mark.parametrize("certificate", UNSEEN.values(), ids=UNSEEN)
def test_a_certificate_that_may_be_negative_is_not(certificate):
    assert not proves(certificate)


ASSUMED = {
    "what is assumed": (x, [nonnegative(x)], True),
    "what is positive": (x, [positive(x)], True),
    "a power of it": (x**3, [nonnegative(x)], True),
    "a product with it": (root * x, [nonnegative(x)], True),
    "a sum over an index of it": (total(z[i], i), [nonnegative(z[i])], True),
    "a quotient by it": (root / x, [positive(x)], True),
    "its root": (sqrt(x), [nonnegative(x)], True),
    "something else": (y, [nonnegative(x)], False),
    "its negative": (-x, [nonnegative(x)], False),
    "less than it": (x - 1, [positive(x)], False),
}


@pytest.mark.parametrize("certificate, given, seen", ASSUMED.values(), ids=ASSUMED)
def test_a_certificate_may_rest_on_what_is_assumed(certificate, given, seen):
    assert proves(certificate, given) == seen


def test_a_power_that_is_not_known_to_be_even_shows_nothing():
    assert not proves((x - y) ** n)


def test_an_inequality_of_a_vector_has_no_certificate():
    derivation = Derivation("test")
    derivation.inequality("claim", 0 * z, z, because=((x - y) ** 2,))
    (claim,) = derivation.claims
    with pytest.raises(ProofFailed):
        prove(claim, claim.start, claim.steps[0].expr, claim.given)


def test_a_factorisation_bounds_a_rank_by_its_inner_size_alone(proved, rejection):
    W = matrix("W", m, 3)
    proved(lambda D: D.inequality("claim", rank(U @ W), m, because=(U, W)))
    assert rejection(lambda D: D.inequality("claim", rank(U @ W), 3, because=(U, W))).code == "wrong-certificate"


@pytest.mark.parametrize(
    "matrix_, bound, holds",
    [
        (U @ matrix("W", m, 3), m, True),
        (U @ matrix("W", m, 3) / (1 + x**2), m, True),
        (exp(x) * (vector("b", n) @ vector("b", n)) * ones(n, n), 1, True),
        (U @ matrix("W", m, 3) + eye(n) @ ones(n, 3), m, False),
        (eye(n), 1, False),
        (array([[x, 1], [1, 1 / x]]), 1, True),
        (array([[x, 1], [1, x]]), 1, False),
    ],
    ids=["a product", "a fraction", "a function", "a product and more", "the identity", "fractions that cancel", "nothing that cancels"],
)
def test_sympy_looks_at_every_minor(matrix_, bound, holds):
    derivation = Derivation("test")
    derivation.inequality("claim", rank(matrix_), bound, because=(matrix_, eye(2)))  # SymPy does not look at the factors
    try:
        assert (witness(derivation.claims[-1])[0] == "proved") is holds
    except Rejected as error:
        assert not holds and error.code == "sympy-disagrees"


T, R = array([[[1, 0], [0, 1]]]), array([[[1], [0]], [[0], [1]]])  # of three axes
WRONG_FACTORS = {
    "of another symbolic shape": (eye(n), m, (eye(m), eye(m)), "(m, m) and (m, m)", "(n, n)"),
    "of another known shape": (ones(3, 3), 1, (ones(2, 1), ones(1, 2)), "(2, 1) and (1, 2)", "(3, 3)"),
    "a vector first": (array([1]) @ T, 1, (array([1]), T), "(1) and (1, 2, 2)", "(2, 2)"),
    "a vector last": (R @ array([1]), 1, (R, array([1])), "(2, 2, 1) and (1)", "(2, 2)"),
}


@pytest.mark.parametrize("matrix_, bound, because, factors, whole", WRONG_FACTORS.values(), ids=WRONG_FACTORS)
def test_only_two_matrices_that_make_the_whole_bound_its_rank(matrix_, bound, because, factors, whole):
    derivation = Derivation("test")
    derivation.inequality("claim", rank(matrix_), bound, because=because)
    (claim,) = derivation.claims
    failure = prove_rank(claim, claim.start, claim.steps[0].expr, collect_facts(()))
    assert failure.code == "mismatched-shapes" and factors in str(failure) and whole in str(failure)


def test_what_an_inequality_assumes_may_be_shown_to_be_needed_by_hand(proved):
    proved(
        lambda D: D.inequality(
            "claim", y, y + x * t**2, because=x * t**2, given=[nonnegative(x)], without={nonnegative(x): {x: -1, y: 0, t: 1}}
        )
    )


def test_such_a_counterexample_breaks_the_inequality_and_not_only_an_equality(rejection):
    """At x = 1 the sides differ, but the left is the smaller one, as it should be."""
    assert (
        rejection(
            lambda D: D.inequality(
                "claim", y, y + x * t**2, because=x * t**2, given=[nonnegative(x)], without={nonnegative(x): {x: 1, y: 0, t: 1}}
            )
        ).code
        == "no-counterexample"
    )
