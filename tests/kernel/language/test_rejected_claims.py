"""Claims that the checker must reject, and the facts in its messages: the place, the claim, the step, a counterexample."""

import ast
import re
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from derivations.kernel import (
    Derivation,
    E,
    Var,
    absolute,
    diff,
    exp,
    eye,
    gaussian,
    independent,
    index,
    inverse,
    invertible,
    log,
    matrix,
    mean,
    nonnegative,
    nonzero,
    paren,
    positive,
    product_is,
    random,
    rank,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    variance,
    vector,
)
from derivations.kernel.core.expr import Expr
from derivations.kernel.errors import KernelError
from tests.kernel.common import has_code

d, n, m, r = sizes("d n m r")
q, k = random("q", d), random("k", d)
X, Q, K, A, B = (matrix(name, n, n) for name in "XQKAB")
U, W = matrix("U", n, d), matrix("W", d, m)
z = vector("z", n)
x, y = scalars("x y")
i, j = index("i", n), index("j", n)
standard = [independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)]


# False claims -----------------------------------------------------------------------------------------------------------

FALSE = {
    "the variance grows with the square": lambda D: D.identity("claim", Var(q @ k), d**2, given=standard),
    "the variance of a vector with itself": lambda D: D.identity(
        "claim", Var(q @ q), d, given=[independent(q), mean(q, 0), variance(q, 1)]
    ),
    "factors sorted by kind": lambda D: D.identity("claim", (X @ Q) @ (X @ K).T, (X @ X) @ (Q @ K).T),
    "one solution for two inputs": lambda D: D.identity(
        "claim", inverse(A) @ ((A @ Q) @ (A @ K).T), inverse(B) @ ((B @ Q) @ (B @ K).T), given=[invertible(A), invertible(B)]
    ),
    "a transpose that keeps the order": lambda D: D.identity("claim", (A @ B).T, A.T @ B.T),
    "a factor that softmax drops": lambda D: D.identity("claim", softmax(2 * z), softmax(z)),
    "softmax that adds": lambda D: D.identity("claim", softmax(z + z), softmax(z) + softmax(z)),
    "a sum swapped with a product": lambda D: D.identity("claim", total(z[i] ** 2, i), total(z[i], i) ** 2),
    "a root that adds": lambda D: D.identity("claim", sqrt(x + y), sqrt(x) + sqrt(y), given=[nonnegative(x), nonnegative(y)]),
    "a mean that factors without independence": lambda D: D.identity("claim", E(q @ q), 0, given=[mean(q, 0), variance(q, 1)]),
    "an inequality the wrong way round": lambda D: D.inequality("claim", x**2 + y**2, 2 * x * y, because=(x - y) ** 2),
    "an inequality with no ground": lambda D: D.inequality("claim", x, x + y, because=y),
    "a rank too low": lambda D: D.inequality("claim", rank(U @ W), 1, because=(U, W)),
}


@pytest.mark.parametrize("state", FALSE.values(), ids=FALSE)
def test_a_false_claim_is_rejected_with_a_counterexample(state, rejection):
    error = rejection(state)
    assert error.code == "false-claim" and re.search(r"at .+: left = .+, right = .+", error.message)


@pytest.mark.parametrize("state", FALSE.values(), ids=FALSE)
def test_sympy_alone_does_not_prove_it_either(state):
    from derivations.kernel.sympy.witness import witness

    derivation = Derivation("test")
    state(derivation)
    try:
        verdict = witness(derivation.claims[0])[0]
    except KernelError:
        verdict = "refused"
    assert verdict in ("refused", "not applicable")


@pytest.mark.parametrize(
    "id, names, sides",
    [
        ("a transpose that keeps the order", "AB", lambda A, B: ((A @ B).T, A.T @ B.T)),
        ("factors sorted by kind", "KQX", lambda K, Q, X: ((X @ Q) @ (X @ K).T, (X @ X) @ (Q @ K).T)),
    ],
)
def test_the_counterexample_in_the_message_is_one(id, names, sides, rejection):
    message = rejection(FALSE[id]).message
    given = {name: np.array(ast.literal_eval(re.search(rf"\b{name} = (\[\[.+?\]\])", message)[1])) for name in [*names, "left", "right"]}
    left, right = sides(*(given[name] for name in names))
    assert (left == given["left"]).all() and (right == given["right"]).all() and (left != right).any()
    assert all(abs(v).max() <= 1 and np.count_nonzero(v) <= 1 for v in (given[name] for name in names)), "it could be smaller"


def test_the_counterexample_to_the_squared_width_is_the_smallest(rejection):
    assert "at d = 2," in rejection(FALSE["the variance grows with the square"]).message


def test_the_residual_stands_in_for_a_counterexample_that_is_not_found(rejection):
    million = 10**6
    error = rejection(
        lambda D: D.identity("claim", x * (x**2 - 1) * (x - 2) * (x + 2) * (x - 3) * (2 * x - 1) * (2 * x * 2 - 1) * million, 0 * x)
    )
    assert error.code == "not-proved" and "x^8" in error.message


def test_a_derivative_off_by_a_factor_leaves_a_residual(rejection):
    assert "at x = 1: left = 3, right = 2" in rejection(lambda D: D.identity("claim", diff(x**3, x), 2 * x**2)).message


def test_a_wrong_middle_step_is_named_by_its_number(rejection):
    error = rejection(lambda D: D.chain("claim", x * (y + 1), (x * y + x, "expand"), (x * y + 2 * x, "slip"), (x * y + x, "back")))
    assert error.code == "false-claim" and error.message.startswith("step 2: ")


def test_a_wrong_last_step_is_named_by_its_number(rejection):
    error = rejection(lambda D: D.chain("claim", (A @ B).T, (B.T @ A.T, "reverse"), (A.T @ B.T, "swap")))
    assert error.code == "false-claim" and error.message.startswith("step 2: ") and "at A = " in error.message


# Vacuous claims ---------------------------------------------------------------------------------------------------------


def test_what_sympy_made_true_is_vacuous(rejection):
    F, G, H = (sp.MatrixSymbol(name, 3, 3) for name in "FGH")
    error = rejection(lambda D: D.identity("claim", sp.Eq((F * G) * H, F * (G * H))))
    assert error.code == "decided-by-sympy" and "True" in error.message


VACUOUS = {
    "the same tree": lambda D: D.identity("claim", A @ B, A @ B),
    "brackets alone": lambda D: D.identity("claim", paren(A @ B) @ X, (A @ B) @ X),
    "the brackets of U11": lambda D: D.identity("claim", (X @ Q) @ (X @ K).T, paren(X @ Q) @ paren(X @ K).T),
    "brackets deep inside": lambda D: D.identity("claim", softmax(paren(z) + z), softmax(z + paren(paren(z)))),
    "an inequality with itself": lambda D: D.inequality("claim", x**2, x**2, because=0),
    "a refutation of itself": lambda D: D.refute("claim", x**2, paren(x) ** 2, at={x: 1}),
}


@pytest.mark.parametrize("state", VACUOUS.values(), ids=VACUOUS)
def test_two_sides_that_are_one_expression_are_vacuous(state, rejection):
    assert rejection(state).code == "vacuous"


def test_a_vacuous_step_in_a_chain_is_named(rejection):
    error = rejection(lambda D: D.chain("claim", x * (y + 1), (x * y + x, "expand"), (paren(x * y) + x, "nothing")))
    assert error.code == "vacuous" and error.message.startswith("step 2: ")


def test_a_chain_without_a_step_says_nothing(rejection):
    assert rejection(lambda D: D.chain("claim", x * (y + 1))).code == "invalid-step"


@pytest.mark.parametrize(
    "step",
    [x * y + x, (x * y + x,), (x * y + x, ""), (x * y + x, " "), (x * y + x, "why", "more")],
    ids=["no pair", "one", "empty", "blank", "three"],
)
def test_a_step_without_a_reason_is_rejected(step, rejection):
    assert rejection(lambda D: D.chain("claim", x * (y + 1), step)).code == "invalid-step"


# Assumptions used but not stated ------------------------------------------------------------------------------------------

UNSTATED = {
    "independence": (
        lambda D: D.identity("claim", Var(q @ k), d, given=standard[1:]),
        "the entries of k and q are independent",
        "left = 2, right = 1",
    ),
    "independence within a vector": (
        lambda D: D.identity("claim", Var(total(q[i_d := index("i_d", d)], i_d)), d, given=[mean(q, 0), variance(q, 1)]),
        "the entries of q are independent",
        "left = 4, right = 2",
    ),
    "an inverse": (lambda D: D.identity("claim", A @ inverse(A), eye(n)), "A is invertible", "A is singular"),
    "an inverse of a product": (
        lambda D: D.identity("claim", inverse(A @ B), inverse(B) @ inverse(A), given=[invertible(A)]),
        "B is invertible",
        "is singular",
    ),
    "a division": (lambda D: D.identity("claim", x * y / x, y), "x is not zero", "a division by zero"),
    "a division by a sum": (lambda D: D.identity("claim", (x**2 - 1) / (x - 1), x + 1), "x - 1 is not zero", "at x = 1"),
    "a division on both sides": (lambda D: D.identity("claim", (x + y) / x, 1 + y / x), "x is not zero", "a division by zero"),
    "a root": (lambda D: D.identity("claim", sqrt(x) * sqrt(x), x), "x is not negative", "a root of a negative number"),
    "a logarithm": (lambda D: D.identity("claim", exp(log(x)), x), "x is positive", "a logarithm of a number that is not positive"),
    "a logarithm of a product": (
        lambda D: D.identity("claim", log(x * y), log(x) + log(y), given=[positive(x * y)]),
        "x is positive",
        "left = ",
    ),
    "what is needed in a middle step": (
        lambda D: D.chain("claim", x * (y + 1), (x * x * (y + 1) / x, "multiply and divide"), (x * y + x, "cancel")),
        "x is not zero",
        "a division by zero",
    ),
}


@pytest.mark.parametrize("state, needed, shown", UNSTATED.values(), ids=UNSTATED)
def test_an_assumption_that_is_used_must_be_stated(state, needed, shown, rejection):
    error = rejection(state)
    assert error.code == "assumption-missing" and needed in error.message and "given=" in error.message
    assert " at " in error.message and shown in error.message


def test_the_root_of_a_square_is_not_its_base(rejection):
    error = rejection(lambda D: D.identity("claim", sqrt(x**2), x))
    assert re.search(r"at x = -(\d+): left = \1, right = -\1", error.message)


# Assumptions stated but not needed ----------------------------------------------------------------------------------------

UNNEEDED = {
    "a condition on a polynomial identity": lambda D: D.identity("claim", x * y + x, x * (y + 1), given=[nonzero(x)]),
    "an inverse that is never taken": lambda D: D.identity("claim", (A @ B).T, B.T @ A.T, given=[invertible(A)]),
    "a product that is never formed": lambda D: D.identity("claim", A @ (B + X), A @ B + A @ X, given=[product_is(A, B, 0)]),
    "one mean too many": lambda D: D.identity("claim", E(q @ k), 0, given=[independent(q, k), mean(q, 0), mean(k, 0)]),
    "a distribution where moments do": lambda D: D.identity("claim", E(q @ q), d, given=[mean(q, 0), variance(q, 1), gaussian(q)]),
    "independence where the mean is linear": lambda D: D.identity(
        "claim", E(q[1] + k[1]), 0, given=[mean(q, 0), mean(k, 0), independent(q, k)]
    ),
    "a sign that a square settles": lambda D: D.inequality("claim", 2 * x * y, x**2 + y**2, because=(x - y) ** 2, given=[nonnegative(x)]),
    "something about another symbol": lambda D: D.identity("claim", x * (x + 1), x**2 + x, given=[positive(y)]),
    "a condition on a limit": lambda D: D.limit("claim", 6 / d, d, "oo", 0, given=[nonzero(y)]),
    "a factor of a limit": lambda D: D.limit("claim", y * 6 / d, d, "oo", 0, given=[nonzero(y)]),
    "a condition on a refutation": lambda D: D.refute("claim", x + y, x, at={x: 1, y: 1}, given=[nonzero(x)]),
    "a condition on a definition": lambda D: D.define("p", x + 1, id="claim", given=[nonzero(x)]),
}


@pytest.mark.parametrize("state", UNNEEDED.values(), ids=UNNEEDED)
def test_an_assumption_that_is_stated_must_be_needed(state, rejection):
    assert rejection(state).code in ("assumption-not-needed", "assumption-too-strong")


def test_a_hint_that_does_not_work_does_not_help(rejection):
    error = rejection(lambda D: D.identity("claim", x * y + x, x * (y + 1), given=[nonzero(x)], without={nonzero(x): {x: 0, y: 1}}))
    assert error.code == "assumption-not-needed"


def test_a_hint_that_works_is_taken(proved):
    proved(lambda D: D.identity("claim", x * y / x, y, given=[nonzero(x)], without={nonzero(x): {x: 0, y: 1}}))


NEEDED = {
    "the left side of a limit": (
        lambda D: D.limit("claim", x * x / x / d, d, "oo", 0, given=[nonzero(x)]),
        "at x = 0 the left side is undefined (a division by zero), however near the limit",
    ),
    "its right side": (
        lambda D: D.limit("claim", x + 1 / d, d, "oo", x**2 / x, given=[nonzero(x)]),
        "at x = 0 the right side is undefined (a division by zero)",
    ),
    "a definition": (
        lambda D: D.define("p", 1 / x, given=[nonzero(x)]),
        "at x = 0: left = undefined (a division by zero), right = undefined (a division by zero)",
    ),
    "a chain as a whole, which says most": (
        lambda D: D.chain("claim", x * y / x, (y * x / x, "swap"), (y, "cancel"), given=[nonzero(x)]),
        "at x = 0, y = 0: left = undefined (a division by zero), right = 0",
    ),
    "its middle": (
        lambda D: D.chain("claim", x * y, (x**2 * y / x, "widen"), (y * x, "cancel"), given=[nonzero(x)]),
        "at x = 0, y = 0: left = 0, right = undefined (a division by zero)",
    ),
    "its end": (
        lambda D: D.chain("claim", x * y, (y * x, "swap"), (x**2 * y / x, "widen"), given=[nonzero(x)]),
        "at x = 0, y = 0: left = 0, right = undefined (a division by zero)",
    ),
    "an inequality, where the left side is larger": (
        lambda D: D.inequality("claim", y, y + x, because=x, given=[nonnegative(x)]),
        "at x = -2, y = 0: left = 0, right = -2",
    ),
    "an inequality, where a side is undefined": (
        lambda D: D.inequality("claim", y, y + x * r**2 / x, because=r**2, given=[nonzero(x)]),
        "at r = 1, x = 0, y = 0: left = 0, right = undefined (a division by zero)",
    ),
    "by hand, where what its assumption alone speaks of needs no value": (
        lambda D: D.identity("claim", x * y / x, y, given=[positive(x - r**2)], without={positive(x - r**2): {x: 0, y: 1}}),
        "at x = 0, y = 1: left = undefined (a division by zero), right = 1",
    ),
    "a refutation, by hand": (
        lambda D: D.refute("claim", x / y, x, at={x: 3, y: 2}, given=[nonzero(y)], without={nonzero(y): {x: 1, y: 0}}),
        "at x = 1, y = 0: left = undefined (a division by zero), right = 1",
    ),
}


@pytest.mark.parametrize("state, says", NEEDED.values(), ids=NEEDED)
def test_it_is_said_how_a_claim_fails_without_an_assumption(state, says, checked):
    ((verdict, _),) = checked(state).values()
    assert verdict.needed == (says,)


# Names and definitions ------------------------------------------------------------------------------------------------------


def test_a_name_is_one_thing(rejection):
    error = rejection(lambda D: D.identity("claim", A @ matrix("A", n, m), A @ matrix("A", n, m) + 0 * A @ matrix("A", n, m)))
    assert error.code == "ambiguous-name" and "(n, n)" in error.message and "(n, m)" in error.message


def test_a_name_is_one_thing_across_claims(rejection):
    def state(D):
        D.identity("first", x * (y + 1), x * y + x)
        D.identity("claim", matrix("x", n, n).T @ A, (A.T @ matrix("x", n, n)).T)

    assert rejection(state).code == "ambiguous-name"


def test_a_name_is_one_thing_in_the_assumptions_too(rejection):
    assert rejection(lambda D: D.identity("claim", x * y, y * x, given=[positive(matrix("x", 2, 2)[1, 1])])).code == "ambiguous-name"


TWO_READINGS = {
    "an index and a number": lambda D: D.identity("claim", total(z[i] * scalars("i"), i), scalars("i") * total(z[i], i)),
    "two indices in one sum": lambda D: D.identity(
        "claim",
        total(total(z[i] * vector("w", m)[index("i", m)], index("i", m)), i),
        total(z[i], i) * total(vector("w", m)[index("i", m)], index("i", m)),
    ),
    "names that print alike": lambda D: D.identity("claim", z[1] * scalars("z_1") + z[1], z[1] * (scalars("z_1") + 1)),
}


@pytest.mark.parametrize("state", TWO_READINGS.values(), ids=TWO_READINGS)
def test_what_a_reader_would_take_for_one_thing_is_not_two(state, rejection):
    assert rejection(state).code in ("ambiguous-name", "reads-as-entry")


def test_a_definition_cannot_be_changed(rejection):
    def state(D):
        D.define("p", x + 1)
        D.define("p", x + 2, id="claim")

    assert rejection(state).code == "ambiguous-name"


def test_a_definition_cannot_be_made_twice(rejection):
    def state(D):
        D.define("p", x + 1)
        D.define("p", x + 1, id="claim")

    assert rejection(state).code == "late-definition"


def test_a_definition_comes_before_its_use(rejection):
    def state(D):
        p = Derivation("elsewhere").define("p", x + 1)
        D.identity("first", 2 * p, 2 * x + 2)
        D.define("p", x + 1, id="claim")

    assert rejection(state).code == "late-definition"


def test_a_definition_does_not_take_a_symbols_name(rejection):
    def state(D):
        D.identity("first", x * (y + 1), x * y + x)
        D.define("x", y + 1, id="claim")

    assert rejection(state).code == "ambiguous-name"


@pytest.mark.parametrize("name", ["", "1x", "x y", "a_b_c", "\\x", "<b>", "x$", None])
def test_a_name_is_letters_and_digits(name):
    with pytest.raises(KernelError, check=has_code("invalid-name")):
        matrix(name, n, n)


@pytest.mark.parametrize("id", ["", "Claim", "a_b", "a--b", "-a", "a b", "../x", "é"])
def test_an_id_is_words_and_hyphens(id, rejection):
    assert rejection(lambda D: D.identity(id, x * (y + 1), x * y + x), id=id).code == "invalid-id"


def test_an_id_is_used_once(rejection):
    def state(D):
        D.identity("claim", x * (y + 1), x * y + x)
        D.identity("claim", y * (x + 1), x * y + y)

    assert rejection(state).code == "id-taken"


@pytest.mark.parametrize("uses", ["nothing", "claim", "later"])
def test_uses_names_an_earlier_claim(uses, rejection):
    def state(D):
        D.identity("claim", x * (y + 1), x * y + x, uses=[uses])
        D.identity("later", y * (x + 1), x * y + y)

    assert rejection(state).code == "unknown-claim"


@pytest.mark.parametrize("uses", ["nowhere/at-all#x", "scaling/variance#nothing", "#", "scaling/variance#"])
def test_uses_of_another_topic_must_exist_as_well(uses, tmp_path, command):
    script = tmp_path / "uses.py"
    script.write_text(SCRIPT.format(line=f'derivation.identity("claim", (A + B).T, A.T + B.T, uses=["{uses}"])'))
    result = command("check", script)
    assert result.exit_code == 1 and uses in result.stderr


# Expressions ------------------------------------------------------------------------------------------------------------------


def test_an_unknown_node_is_named(rejection):
    assert rejection(lambda D: D.identity("claim", Expr("frobnicate", (x,)), x + 1)).code == "not-printable"


def test_an_unknown_function_is_named(rejection):
    assert rejection(lambda D: D.identity("claim", Expr("function", (x,), (), "gamma"), x + 1)).code == "unknown-function"


def test_an_unknown_sympy_node_is_named(rejection):
    assert rejection(lambda D: D.identity("claim", sp.Eq(sp.gamma(sp.Symbol("x", real=True)), 0))).code == "unknown-sympy-node"


def test_a_derivative_that_is_not_known_is_named(rejection):
    found = rejection(lambda D: D.identity("claim", diff(absolute(x), x), absolute(x) / x))
    assert found.code == "assumption-missing" and "its absolute value is differentiated" in str(found)


INEXACT = {
    "a float": lambda: x * 0.5,
    "a float first": lambda: 0.5 * x,
    "an exponent": lambda: x**0.5,
    "nan": lambda: x + float("nan"),
    "complex": lambda: x + 1j,
    "a truth value": lambda: x * True,
    "text": lambda: x + "1",
    "nothing": lambda: x + None,
    "a value": lambda: Derivation("t").refute("claim", x, y, at={x: 0.5, y: 1}),
    "a limit": lambda: Derivation("t").limit("claim", 1 / d, d, "oo", 0.0),
}


@pytest.mark.parametrize("write", INEXACT.values(), ids=INEXACT)
def test_what_is_not_exact_is_refused(write):
    with pytest.raises(KernelError, check=has_code("not-an-expression")):
        write()


def test_a_float_from_sympy_is_rejected(rejection):
    assert rejection(lambda D: D.identity("claim", sp.Eq(sp.Symbol("x", real=True), sp.Float("0.5")))).code == "unknown-sympy-node"


def test_the_two_sides_have_one_shape(rejection):
    assert rejection(lambda D: D.identity("claim", A @ U, A)).code == "mismatched-sides"


# Inequalities and ranks -----------------------------------------------------------------------------------------------------------

INEQUALITIES = {
    "a certificate of something else": (
        lambda D: D.inequality("claim", 2 * x * y, x**2 + y**2, because=(x + y) ** 2),
        "wrong-certificate",
    ),
    "a certificate that says nothing": (
        lambda D: D.inequality("claim", 2 * x * y, x**2 + y**2, because=x**2 + y**2 - 2 * x * y),
        "repeated-difference",
    ),
    "a certificate of no visible sign": (
        lambda D: D.inequality("claim", 2 * x * y, x**2 + y**2, because=x**2 - 2 * x * y + y**2),
        "sign-not-visible",
    ),
    "a sign that would have to be assumed": (lambda D: D.inequality("claim", x, x + y**3, because=y * y**2), "false-claim"),
}


@pytest.mark.parametrize("state, code", INEQUALITIES.values(), ids=INEQUALITIES)
def test_an_inequality_needs_a_certificate_that_is_seen_not_to_be_negative(state, code, rejection):
    assert rejection(state).code == code


RANKS = {
    "through the wrong size": (lambda D: D.inequality("claim", rank(U @ W), r, because=(U, W)), "false-claim"),
    "of another matrix": (lambda D: D.inequality("claim", rank(U @ W), d, because=(2 * U, W)), "wrong-certificate"),
    "of no product": (lambda D: D.inequality("claim", rank(A), 1, because=(matrix("u", n, 1), matrix("w", 1, n))), "false-claim"),
    "with one factor": (lambda D: D.inequality("claim", rank(U @ W), d, because=U), "no-certificate"),
}


@pytest.mark.parametrize("state, code", RANKS.values(), ids=RANKS)
def test_a_rank_is_bounded_by_the_columns_it_factors_through(state, code, rejection):
    assert rejection(state).code == code


def test_a_rank_is_at_most_the_size_of_the_matrix(proved):
    """No larger minor exists, which is no fault."""
    proved(lambda D: D.inequality("claim", rank(A @ B), n, because=(A, B)))


# Limits -------------------------------------------------------------------------------------------------------------------------

LIMITS = {
    "the limit of a quotient": (lambda D: D.limit("claim", (d + 1) / d, d, "oo", 2), "wrong-limit"),
    "a limit that is infinite": (lambda D: D.limit("claim", d * x, d, "oo", 0), "no-finite-limit"),
    "the exponential limit": (lambda D: D.limit("claim", (1 + x**2 / d) ** d, d, "oo", exp(2 * x**2)), "wrong-limit"),
    "a limit elsewhere": (lambda D: D.limit("claim", 6 / d, d, 5, Fraction(6, 5)), "unknown-limit"),
}


@pytest.mark.parametrize("state, code", LIMITS.values(), ids=LIMITS)
def test_a_wrong_limit_is_rejected(state, code, rejection):
    assert rejection(state).code == code


# Refutations --------------------------------------------------------------------------------------------------------------------

REFUTATIONS = {
    "sides that are equal there": (lambda D: D.refute("claim", A @ B, B @ A, at={A: [[1]], B: [[2]]}), "no-counterexample"),
    "a true identity": (
        lambda D: D.refute("claim", (A @ B).T, B.T @ A.T, at={A: [[0, 1], [2, 3]], B: [[1, 1], [0, 1]]}),
        "no-counterexample",
    ),
    "balls that overlap": (lambda D: D.refute("claim", exp(x) * exp(-x), x**0, at={x: 1}), "not-settled"),
    "an assumption broken": (
        lambda D: D.refute("claim", absolute(x), x, at={x: -1}, given=[nonnegative(x)]),
        "broken-assumption",
    ),
    "a side undefined": (lambda D: D.refute("claim", 1 / x, x, at={x: 0}), "undefined-value"),
    "shapes that disagree": (lambda D: D.refute("claim", A @ B, B @ A, at={A: [[1, 2], [3, 4]], B: [[2]]}), "conflicting-sizes"),
    "a matrix that is not square": (lambda D: D.refute("claim", A @ B, B @ A, at={A: [[1, 2]], B: [[2]]}), "conflicting-sizes"),
    "a ragged array": (lambda D: D.refute("claim", A @ B, B @ A, at={A: [[1, 2], [3]], B: [[2]]}), "wrong-shape"),
    "a scalar for a matrix": (lambda D: D.refute("claim", A @ B, B @ A, at={A: 1, B: 2}), "wrong-shape"),
    "a value missing": (lambda D: D.refute("claim", A @ B, B @ A, at={A: [[1]]}), "missing-value"),
    "a value too many": (lambda D: D.refute("claim", A @ B, B @ A, at={A: [[1]], B: [[1]], X: [[1]]}), "unused-value"),
    "a law that holds there": (lambda D: D.refute("claim", Var(q @ k), d**2, at={d: 1}, given=standard), "no-counterexample"),
    "a law of no definite value": (
        lambda D: D.refute("claim", Var(q @ q), d, at={d: 1}, given=[mean(q, 0), variance(q, 1), independent(q)]),
        "assumption-missing",
    ),
}


@pytest.mark.parametrize("state, code", REFUTATIONS.values(), ids=REFUTATIONS)
def test_a_refutation_needs_a_counterexample_that_works(state, code, rejection):
    assert rejection(state).code == code


# From the command line --------------------------------------------------------------------------------------------------------------

SCRIPT = """import sympy as sp
from derivations.kernel import *

d, n = sizes("d n")
q, k = random("q", d), random("k", d)
A, B, X, Q, K = (matrix(name, n, n) for name in "ABXQK")
F, G, H = (sp.MatrixSymbol(name, 3, 3) for name in "FGH")
z = vector("z", n)
moments = [mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)]
derivation = Derivation("Refused")
{line}
"""
ASKED = {
    "squared-width": (
        'derivation.identity("claim", Var(q @ k), d ** 2, given=[independent(q, k), *moments])',
        r"false: at d = 2, .*: left = 2, right = 4",
    ),
    "itself": (
        'derivation.identity("claim", Var(q @ q), d, given=[independent(q), mean(q, 0), variance(q, 1)])',
        r"false: at d = 1, .*: left = 2, right = 1",
    ),
    "without-independence": (
        'derivation.identity("claim", Var(q @ k), d, given=moments)',
        r"used but not stated: .* independent .* at d = 1, k = q, .*: left = 2, right = 1",
    ),
    "commuted": (
        'derivation.identity("claim", (X @ Q) @ (X @ K).T, (X @ X) @ (Q @ K).T)',
        r"false: at K = .*, Q = .*, X = .*: left = .*, right = ",
    ),
    "solved": (
        'derivation.identity("claim", inverse(A) @ ((A @ Q) @ (A @ K).T), inverse(B) @ ((B @ Q) @ (B @ K).T), given=[invertible(A), invertible(B)])',
        r"false: at A = .*, B = .*, K = .*, Q = .*: left = .*, right = ",
    ),
    "transposed": ('derivation.identity("claim", (A @ B).T, A.T @ B.T)', r"false: at A = .*, B = .*: left = .*, right = "),
    "softmax": ('derivation.identity("claim", softmax(2 * z), softmax(z))', r"false: at z = \[1, 0\]: left = \[0\.88.*, right = \[0\.73"),
    "vacuous": ('derivation.identity("claim", sp.Eq((F * G) * H, F * (G * H)))', r"vacuous: "),
}


@pytest.mark.parametrize("line, says", ASKED.values(), ids=ASKED)
def test_a_script_of_its_own_is_refused_from_the_command_line(line, says, tmp_path, command):
    script = tmp_path / "wrong.py"
    script.write_text(SCRIPT.format(line=line))
    result = command("check", script)
    place = f"{script}:{1 + SCRIPT.splitlines().index('{line}')}: claim 'claim': "
    assert result.exit_code == 1 and "NOT all accepted" in result.stdout
    message = result.stderr[result.stderr.index(place) :]
    assert re.match(re.escape(place) + says, message)
