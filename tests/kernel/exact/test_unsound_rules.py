"""False claims, and claims with contradictory assumptions, that an unsound rule once accepted or could accept."""

from fractions import Fraction

import pytest
import sympy as sp

from derivations.kernel import (
    Derivation,
    E,
    I,
    Var,
    absolute,
    diff,
    exp,
    index,
    inverse,
    invertible,
    log,
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
from derivations.kernel.check.claim_records import make_record
from derivations.kernel.core.claims import Rejected
from derivations.kernel.errors import KernelError
from derivations.kernel.exact.witness import exact
from tests.kernel.common import has_code

pytestmark = pytest.mark.slow

n, m = sizes("n m")
A, B, C = matrix("A", n, n), matrix("B", n, n), matrix("C", n, m)
x, y, c = scalars("x y c")
u, v = vector("u", n), vector("v", n)
i, j, k = index("i", n), index("j", n), index("k", m)
q, R, X = random("q", n), random("R", n, n), random("X")


def stated(state):
    derivation = Derivation("honest")
    state(derivation)
    return derivation.claims[-1]


# Names ------------------------------------------------------------------------------------------------------------------------


def sympys(left, right):
    """The claim that two SymPy expressions are equal."""
    return lambda D: D.identity("claim", sp.Eq(left, right, evaluate=False))


real, plus = sp.Symbol("x", real=True), sp.Symbol("x", positive=True)
SYMBOLS = {
    "one name with two assumptions": sympys(plus * (real + 1), plus * real + plus),
    "two dummies of one name": sympys(sp.Dummy("x", real=True) - sp.Dummy("x", real=True) + real, real),
    "a number and a size": sympys(sp.Symbol("x", integer=True, positive=True) * (real + 1), real**2 + real),
    "a symbol that may be complex": sympys(sp.Abs(sp.Symbol("z")) ** 2, sp.Symbol("z") ** 2),
    "an imaginary symbol": sympys(sp.Abs(sp.Symbol("z", imaginary=True)) ** 2, sp.Symbol("z", imaginary=True) ** 2),
    "symbols that do not commute": sympys(*(lambda a, b: (a * b + a, b * a + a))(*sp.symbols("a b", commutative=False))),
}


@pytest.mark.parametrize("state", SYMBOLS.values(), ids=SYMBOLS)
def test_a_symbol_of_sympys_that_means_something_else_is_refused(state, rejection):
    assert rejection(state).code in ("ambiguous-name", "not-stated-real", "unknown-sympy-node")


def test_a_kernel_symbol_is_one_thing_whatever_it_is_made_with(rejection):
    assert rejection(lambda D: D.identity("claim", x * (random("x") + 1), x * x + x)).code == "ambiguous-name"
    assert rejection(lambda D: D.identity("claim", x * (sizes("x") + 1), x * x + x)).code == "ambiguous-name"


# Unsound rules, each once accepted --------------------------------------------------------------------------------------------

FALSE = {
    "the inverse of a random matrix does not vary": lambda D: D.identity("claim", Var(inverse(R)[1, 1]), 0, given=[invertible(R)]),
    "a random matrix and its inverse are uncorrelated": lambda D: D.identity(
        "claim", E(R[1, 1] * inverse(R)[1, 1]), 0, given=[invertible(R), mean(R, 0)]
    ),
    "an inverse has no slope": lambda D: D.identity("claim", E(X) + diff(inverse(A)[1, 1], A[1, 1]), 0, given=[invertible(A), mean(X, 0)]),
    "an assumption is differentiated": lambda D: D.chain(
        "claim",
        diff((A @ B)[1, 1], A[1, 1]) + (A @ B)[1, 1] * E(X + 1),
        ((A @ B)[1, 1] * E(X + 1), "no slope"),
        (1, "insert"),
        given=[product_is(A, B, 1), mean(X, 0)],
    ),
    "a root has a slope at zero": lambda D: D.identity("claim", diff(sqrt(x), x) * sqrt(x), Fraction(1, 2), given=[nonnegative(x)]),
    "the root of a square has a slope at zero": lambda D: D.identity("claim", diff(sqrt(x**2), x) * sqrt(x**2), x),
    "a norm has a slope at zero": lambda D: D.identity("claim", diff(sqrt(v @ v), v[i]) * sqrt(v @ v), v[i]),
    "a moment does not depend on the mean": lambda D: D.identity("claim", diff(E(X) * E(X**2), c), E(X**2), given=[mean(X, c)]),
    "the mean of real numbers is imaginary": lambda D: D.identity("claim", E(X) ** 2, -1, given=[mean(X, I)]),
}


@pytest.mark.parametrize("state", FALSE.values(), ids=FALSE)
def test_a_false_claim_is_refused_by_the_exact_witness_alone(state, rejection):
    try:
        state(Derivation("test"))
    except Rejected:
        pass
    except KernelError as error:  # it cannot even be written down
        assert str(error)
        return
    assert rejection(state).code in ("assumption-missing", "false-claim", "unknown-derivative")


def test_an_assumption_with_an_open_index_is_about_every_value_of_it():
    def state(D):
        D.inequality(
            "claim",
            0 * v[i] * other[j],
            total(v[i], i) * total(-other[j], j),
            because=total(v[i], i) * total(-other[j], j),
            given=[nonnegative(v[i]), nonnegative(-other[j])],
        )

    other = vector("w", n)
    claim = stated(state)
    assert [a["text"] for a in make_record(claim, [exact(claim)])["assumptions"]] == [
        "$v_{i}$ is not negative, for every $i$",
        "$-w_{j}$ is not negative, for every $j$",
    ]
    other = v  # of one vector they leave zeros alone
    with pytest.raises(Rejected, check=has_code("single-value")):
        exact(stated(state))


def test_a_limit_from_above_is_shown_as_one():
    """|x|/x has no limit at zero, but one from above."""
    claim = stated(lambda D: D.limit("claim", sqrt(x**2) / x, x, 0, 1))
    shown = make_record(claim, [exact(claim)])["latex"]
    assert any(mark in shown.replace(" ", "") for mark in ("0^{+}", "0^+", r"\downarrow0", r"\searrow0")), shown


CONTRADICTORY = {
    "a sign and its opposite": lambda D: D.identity("claim", exp(log(x)) + exp(log(-x)), 0, given=[positive(x), positive(-x)]),
    "an invertible matrix whose square is zero": lambda D: D.identity(
        "claim", inverse(A) @ (A @ A), 0 * A, given=[invertible(A), product_is(A, A, 0)]
    ),
    "a negative variance": lambda D: D.identity("claim", E(X**2), -1, given=[mean(X, 0), variance(X, -1)]),
    "a size below one": lambda D: D.identity("claim", sqrt(1 - n) ** 2 / (1 - n), 1, given=[positive(1 - n)]),
    "an inverse on one side only": lambda D: D.identity("claim", A @ B @ A, 0 * A + A, given=[product_is(A, B, 1), product_is(B, A, 0)]),
    "more columns than rows, and orthogonal": lambda D: D.identity(
        "claim",
        matrix("T", 1, 2).T @ matrix("T", 1, 2) @ matrix("S", 2, 1),
        matrix("S", 2, 1) * 1,
        given=[product_is(matrix("T", 1, 2).T, matrix("T", 1, 2), 1)],
    ),
}


@pytest.mark.parametrize("state", CONTRADICTORY.values(), ids=CONTRADICTORY)
def test_nothing_follows_from_assumptions_that_contradict_each_other(state, rejection):
    assert rejection(state).code in ("assumption-missing", "contradictory-assumptions", "not-proved")


BREAKING = {
    "an inverse of a singular matrix": lambda D: D.refute("claim", A @ A, A, at={A: [[0, 1], [0, 0]]}, given=[invertible(A)]),
    "a product that is another": lambda D: D.refute(
        "claim", A @ B, B @ A, at={A: [[1, 1], [0, 1]], B: [[1, 0], [1, 1]]}, given=[product_is(A, B, 0)]
    ),
    "a sign of an entry": lambda D: D.refute("claim", absolute(v[1]), v[1], at={v: [-1]}, given=[nonnegative(v[1])]),
    "a negative variance": lambda D: D.refute("claim", Var(X), absolute(c), at={c: -1}, given=[mean(X, 0), variance(X, c)]),
    "a sign in a law": lambda D: D.refute("claim", E(X) * sqrt(c**2), E(X) * c, at={c: -1}, given=[mean(X, 1), positive(c)]),
    "a zero": lambda D: D.refute("claim", x * y, x, at={x: 1, y: 0}, given=[nonzero(y)]),
}


@pytest.mark.parametrize("state", BREAKING.values(), ids=BREAKING)
def test_a_counterexample_that_breaks_what_is_assumed_refutes_nothing(state, rejection):
    assert rejection(state).code == "broken-assumption"
