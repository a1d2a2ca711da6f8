"""Inverses of matrix expressions, at every shape."""

import pytest

from derivations.kernel import (
    diff,
    each,
    exp,
    eye,
    index,
    inverse,
    invertible,
    matrix,
    nonnegative,
    nonzero,
    positive,
    random,
    scalars,
    sizes,
    sqrt,
    total,
    vector,
    zeros,
)
from derivations.kernel.core.expr import lift
from derivations.kernel.exact.assumption_facts import collect_facts
from derivations.kernel.exact.atom_payloads import Unsupported
from derivations.kernel.exact.exact_evaluation import evaluate
from derivations.kernel.exact.flint_numbers import Undefined, certainly_differ, to_fmpq
from derivations.kernel.exact.matrix_words import find_rule
from derivations.kernel.exact.proofs import find_difference
from derivations.kernel.exact.tree_to_normal_form import normalize
from tests.kernel.common import has_code

n, m, d, r = sizes("n m d r")
A, B, C, X = matrix("A", n, n), matrix("B", n, n), matrix("C", n, n), matrix("X", n, d)
U, V, K = matrix("U", n, r), matrix("V", r, n), matrix("K", r, r)
z, q, y = vector("z", n), vector("q", d), vector("y", n)
c = scalars("c")
i, j, l, o = index("i", n), index("j", n), index("l", n), index("o", n)
one = eye(n)
M = one + A
rows, columns = X @ X.T + c * one, X.T @ X + c * eye(d)
outer = each(z[i] * z[j], i, j)
small = inverse(K) + V @ inverse(A) @ U
hat = X @ inverse(X.T @ X) @ X.T

TRUE = {
    "it commutes": (inverse(M) @ A, A @ inverse(M), [M]),
    "one step of a series": (inverse(M), one - A @ inverse(M), [M]),
    "a word before and after": (A @ inverse(M) @ A, A - one + inverse(M), [M]),
    "a multiple": (inverse(A - one) @ A, -(A @ inverse(one - A)), [one - A]),
    "a transpose": (inverse(M).T, inverse(one + A.T), [M]),
    "push through": (X.T @ inverse(rows), inverse(columns) @ X.T, [rows, columns]),
    "push through, between vectors": (q @ (X.T @ (inverse(rows) @ y)), q @ (inverse(columns) @ (X.T @ y)), [rows, columns]),
    "push through a product": (inverse(one + A @ B) @ A, A @ inverse(one + B @ A), [one + A @ B]),
    "push through, definite": (X.T @ inverse(X @ X.T + one), inverse(X.T @ X + eye(d)) @ X.T, []),
    "Woodbury": (inverse(A + U @ K @ V), inverse(A) - inverse(A) @ U @ inverse(small) @ V @ inverse(A), [A, K, A + U @ K @ V]),
    "Woodbury, from the smaller inverse": (
        inverse(A + U @ K @ V),
        inverse(A) - inverse(A) @ U @ inverse(small) @ V @ inverse(A),
        [small],
    ),
    "Sherman and Morrison": (inverse(one + outer), one - outer / (1 + z @ z), []),
    "two resolvents": (inverse(M) @ inverse(2 * one + A), inverse(M) - inverse(2 * one + A), [M, 2 * one + A]),
    "a difference of inverses": (inverse(A + C) - inverse(B + C), inverse(A + C) @ (B - A) @ inverse(B + C), [A + C, B + C]),
    "a product is invertible": (inverse(A @ B), inverse(B) @ inverse(A), [A @ B]),
    "a multiple is invertible": (inverse(c * M), inverse(M) / c, [c * M]),
    "a projection": (hat @ hat, hat, [X.T @ X]),
    "residuals are orthogonal": (X.T @ (y - hat @ y), zeros(d), [X.T @ X]),
    "a trace": (total((inverse(M) @ A)[i, i], i), n - total(inverse(M)[i, i], i), [M]),
    "a coefficient that is never zero": (inverse(one + A / sqrt(n)) @ A, A @ inverse(one + A / sqrt(n)), [one + A / sqrt(n)]),
    "a multiple of the identity": ((1 + c) * (inverse(one + c * one) @ A), A, [one + c * one]),
    "entry by entry": (inverse(one + A * B) @ (A * B), one - inverse(one + A * B), [one + A * B]),
}


def given(inverted):
    return [invertible(x) for x in inverted]


@pytest.mark.parametrize("left, right, inverted", TRUE.values(), ids=TRUE)
def test_an_identity_between_inverses_of_expressions(left, right, inverted, proved):
    assert proved(lambda D: D.identity("claim", left, right, given=given(inverted))).scope.startswith("every shape")


FALSE = {
    "something is left": (inverse(M) @ A, A @ inverse(M) + A, [M]),
    "another matrix": (inverse(M) @ B, B @ inverse(M), [M]),
    "a transpose taken for the matrix": (inverse(M) @ A.T, one - inverse(M), [M]),
    "a series cut off": (inverse(M), one - A, [M]),
    "no transpose": (inverse(M).T, inverse(M), [M]),
    "a sum of inverses": (inverse(A + B), inverse(A) + inverse(B), [A, B, A + B]),
    "Woodbury with a sign": (
        inverse(A + U @ K @ V),
        inverse(A) + inverse(A) @ U @ inverse(small) @ V @ inverse(A),
        [small],
    ),
    "a product in the wrong order": (inverse(A @ B), inverse(A) @ inverse(B), [A @ B]),
    "a projection on everything": (hat, one, [X.T @ X]),
    "push through without a transpose": (inverse(one + A @ A.T) @ A, A @ inverse(one + A @ A.T), [one + A @ A.T]),
    "a symmetric part": (inverse(one + A + A.T) @ A, A @ inverse(one + A + A.T), [one + A + A.T]),
}


@pytest.mark.parametrize("left, right, inverted", FALSE.values(), ids=FALSE)
def test_a_false_identity_between_inverses_has_a_counterexample(left, right, inverted, rejection):
    assert rejection(lambda D: D.identity("claim", left, right, given=given(inverted))).code == "false-claim"


def test_the_assumption_that_the_message_proposes_is_enough(rejection, proved):
    message = rejection(lambda D: D.identity("claim", inverse(M) @ A, A @ inverse(M))).message
    assert "invertible(eye(n) + A)" in message and "A = [[-1]]" in message
    message = rejection(lambda D: D.identity("claim", inverse(c * M), inverse(M) / c, given=[invertible(M)])).message
    assert "nonzero(c)" in message
    proved(lambda D: D.identity("claim", inverse(c * M), inverse(M) / c, given=[invertible(M), nonzero(c)]))


def test_matrices_with_the_same_entries_and_different_sizes_have_different_inverses():
    """exp(ij) is the entry of a matrix of every size."""
    a, b = index("a", m), index("b", m)
    large, little = each(exp(i * j), i, j), each(exp(a * b), a, b)
    facts = collect_facts((invertible(large), invertible(little)))
    assert len(facts.invertible) == 2
    assert normalize(inverse(large)[1, 1] - inverse(little)[1, 1], facts)
    (head,) = collect_facts((invertible(one + large),)).invertible
    assert find_rule(head[2]) is None  # the product with the same entries over another size would be taken for it


def test_the_rule_ends_although_a_matrix_and_its_transpose_are_as_large_as_each_other():
    first, second = one + A + 2 * A.T, one + A + 3 * A.T
    facts = collect_facts(tuple(given([first, second])))
    assert find_difference(inverse(first) @ A.T @ inverse(second).T, A, facts)


def test_a_random_matrix_has_no_inverse():
    with pytest.raises(Unsupported, check=has_code("random-not-allowed")):
        normalize(inverse(one + random("R", n, n)), collect_facts(()))


def test_a_sum_of_squares_and_a_positive_multiple_of_the_identity_is_invertible(rejection, proved):
    left, right = X.T @ inverse(rows), inverse(columns) @ X.T
    proved(lambda D: D.identity("claim", left, right, given=[positive(c)]))
    assert rejection(lambda D: D.identity("claim", left, right, given=[nonnegative(c)])).code == "assumption-missing"
    assert rejection(lambda D: D.identity("claim", inverse(A @ A + one) @ A, A @ inverse(A @ A + one))).code == "assumption-missing"
    assert (
        rejection(lambda D: D.identity("claim", inverse(one - outer) @ z, z / (1 - z @ z), given=[nonzero(1 - z @ z)])).code
        == "assumption-missing"
    )


W, R = inverse(A), inverse(columns)
a, b = index("a", d), index("b", d)
SLOPES = {
    "an entry": (W[i, j], A[l, o], -W[i, l] * W[o, j], [invertible(A)]),
    "a quadratic form": (z @ (W @ y), A[l, o], -(W.T @ z)[l] * (W @ y)[o], [invertible(A)]),
    "an exponential": (exp(W[i, j]), A[l, o], -exp(W[i, j]) * W[i, l] * W[o, j], [invertible(A)]),
    "a trace": (total(W[i, i], i), A[l, o], -(W @ W)[o, l], [invertible(A)]),
    "a power": (W[i, j] ** 2, A[l, o], -2 * W[i, j] * W[i, l] * W[o, j], [invertible(A)]),
    "a sum": (inverse(M)[i, j], A[l, o], -inverse(M)[i, l] * inverse(M)[o, j], [invertible(M)]),
    "by a factor": (inverse(one + c * A)[i, j], c, -(inverse(one + c * A) @ A @ inverse(one + c * A))[i, j], [invertible(one + c * A)]),
    "ridge regression": ((R @ (X.T @ y))[a], y[i], (R @ X.T)[a, i], [positive(c)]),
    "ridge regression, by its strength": ((R @ (X.T @ y))[a], c, -(R @ (R @ (X.T @ y)))[a], [positive(c)]),
    "a diagonal entry": (R[a, a], c, -total(R[a, b] ** 2, b), [positive(c)]),
}


@pytest.mark.parametrize("body, by, slope, given", SLOPES.values(), ids=SLOPES)
def test_the_derivative_of_an_inverse(body, by, slope, given, proved):
    proved(lambda D: D.identity("claim", diff(body, by), slope, given=given))


FALSE_SLOPES = {
    "a sign": (W[i, j], A[l, o], W[i, l] * W[o, j], [invertible(A)]),
    "rows and columns": (W[i, j], A[l, o], -W[i, o] * W[l, j], [invertible(A)]),
    "as if numbers": (W[i, j], A[i, j], -1 / A[i, j] ** 2, [invertible(A), nonzero(A[i, j])]),
    "in an exponential, as if constant": (exp(W[i, j]), A[j, i], 0 * W[i, j], [invertible(A)]),
    "in a quotient, as if constant": (1 / (1 + W[i, j] ** 2), A[j, i], 0 * W[i, j], [invertible(A)]),
    "a factor on one side": (
        inverse(one + c * A)[i, j],
        c,
        -(inverse(one + c * A) @ inverse(one + c * A) @ A.T)[i, j],
        [invertible(one + c * A)],
    ),
    "the strength forgotten": ((R @ (X.T @ y))[a], c, -(R @ (X.T @ y))[a], [positive(c)]),
}


@pytest.mark.parametrize("body, by, slope, given", FALSE_SLOPES.values(), ids=FALSE_SLOPES)
def test_a_false_derivative_of_an_inverse_has_a_counterexample(body, by, slope, given, rejection):
    assert rejection(lambda D: D.identity("claim", diff(body, by), slope, given=given)).code == "false-claim"


def test_the_inverse_of_irrational_entries_and_of_series_is_evaluated():
    row, column = index("s", 2), index("t", 2)
    zero = {"c": {(): to_fmpq(0)}}
    values = evaluate(diff(inverse(each(exp(1) * eye(2)[row, column] + c, row, column))[1, 1], c), zero)
    assert not certainly_differ(values[()], -evaluate(exp(lift(-2)), {})[()])
    with pytest.raises(Undefined):
        evaluate(inverse(each(exp(1) * c, row, column)), zero)
