"""Claims stated in SymPy: how each node is read, what is rejected, and which assumptions its symbols carry."""

import subprocess
import sys
from fractions import Fraction

import pytest
import sympy as sp
from sympy import stats
from sympy.matrices.expressions.matexpr import MatrixElement
from sympy.stats.rv import RandomMatrixSymbol, RandomSymbol

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
    eye,
    gaussian,
    has_moment,
    independent,
    index,
    inverse,
    invertible,
    log,
    matrix,
    nonnegative,
    nonzero,
    ones,
    positive,
    product_is,
    random,
    rank,
    scalars,
    sin,
    sizes,
    softmax,
    sqrt,
    tanh,
    total,
    variance,
    vector,
    zeros,
)
from derivations.kernel.check.claim_records import check_claim
from derivations.kernel.core.assumptions import describe_assumption
from derivations.kernel.core.claims import Rejected
from derivations.kernel.core.expr import lift
from derivations.kernel.errors import KernelError
from tests.kernel.common import has_code

# The same names, of SymPy and of the kernel.
n, m = sp.symbols("n m", integer=True, positive=True)
x, y = sp.symbols("x y", real=True)
p = sp.Symbol("p", positive=True)
z, w = sp.IndexedBase("z", shape=(n,), real=True), sp.IndexedBase("w", shape=(n,), real=True)
B = sp.IndexedBase("B", shape=(n, m), real=True)
F, G, H = sp.MatrixSymbol("F", n, m), sp.MatrixSymbol("G", m, n), sp.MatrixSymbol("H", n, n)
u, v = sp.MatrixSymbol("u", n, 1), sp.MatrixSymbol("v", n, 1)
i, j = sp.Idx("i", (1, n)), sp.Idx("j", (1, n))
a, b = sp.Idx("a", n), sp.Idx("b", m)  # from 0
t = sp.Symbol("t", integer=True)
X, Y = RandomSymbol("X"), RandomSymbol("Y")
q, k = RandomMatrixSymbol("q", n, 1), RandomMatrixSymbol("k", n, 1)

n_, m_ = sizes("n m")
x_, y_, p_ = scalars("x y p")
z_, w_, B_ = vector("z", n_), vector("w", n_), matrix("B", n_, m_)
F_, G_, H_ = matrix("F", n_, m_), matrix("G", m_, n_), matrix("H", n_, n_)
u_, v_ = vector("u", n_), vector("v", n_)
i_, j_, t_ = index("i", n_), index("j", n_), index("t", n_)
a_, b_ = index("a", n_), index("b", m_)
X_, Y_, q_, k_ = random("X"), random("Y"), random("q", n_), random("k", n_)


def kept(build):
    """What is built where SymPy evaluates nothing."""
    with sp.evaluate(False):
        return build()


# What SymPy's nodes are read as ---------------------------------------------------------------------------------------------------

SCALARS = {
    "an integer": (lambda: sp.Integer(-3), lift(-3)),
    "a fraction": (lambda: sp.Rational(2, 3), lift(Fraction(2, 3))),
    "i": (lambda: sp.I, I),
    "e": (lambda: sp.E, exp(1)),
    "a size": (lambda: n, n_),
    "a sum": (lambda: kept(lambda: y + x + 1), y_ + x_ + 1),
    "a difference": (lambda: kept(lambda: y - x), y_ - x_),
    "less a number": (lambda: kept(lambda: x - 2), x_ - 2),
    "less a multiple": (lambda: kept(lambda: y - 2 * x), y_ - 2 * x_),
    "less a product": (lambda: kept(lambda: x - n * x), x_ - n_ * x_),
    "a negative": (lambda: kept(lambda: -x), -x_),
    "a negative multiple": (lambda: -2 * x, -(2 * x_)),
    "a product": (lambda: kept(lambda: y * x), y_ * x_),
    "brackets": (lambda: kept(lambda: y * (x * y)), y_ * (x_ * y_)),
    "a quotient": (lambda: kept(lambda: (y + x) / n), (y_ + x_) / n_),
    "a quotient of products": (lambda: x * y / (n * m), (x_ * y_) / (m_ * n_)),
    "one over": (lambda: 1 / x, 1 / x_),
    "one over a square": (lambda: x**-2, 1 / x_**2),
    "a power": (lambda: x**3, x_**3),
    "a root": (lambda: sp.sqrt(n), sqrt(n_)),
    "over a root": (lambda: x / sp.sqrt(n), x_ / sqrt(n_)),
    "exp": (lambda: sp.exp(-x), exp(-x_)),
    "log": (lambda: sp.log(p), log(p_)),
    "abs": (lambda: sp.Abs(x), absolute(x_)),
    "sinh": (lambda: sp.sinh(x), (exp(x_) - exp(-x_)) / 2),
    "cosh": (lambda: sp.cosh(x), (exp(x_) + exp(-x_)) / 2),
    "tanh": (lambda: sp.tanh(x), tanh(x_)),
    "sin": (lambda: sp.sin(x), sin(x_)),
    "cos": (lambda: sp.cos(x), cos(x_)),
    "a derivative": (lambda: sp.Derivative(x**2, x), diff(x_**2, x_)),
    "a second derivative": (lambda: sp.Derivative(x**2, x, x), diff(diff(x_**2, x_), x_)),
    "a mixed derivative": (lambda: sp.Derivative(x * y, x, y), diff(diff(x_ * y_, x_), y_)),
}
SUMS = {
    "over an Idx": (lambda: sp.Sum(z[i], i), total(z_[i_], i_)),
    "over a symbol": (lambda: sp.Sum(z[t], (t, 1, n)), total(z_[t_], t_)),
    "to a number": (lambda: sp.Sum(t, (t, 1, 3)), total(index("t", 3), index("t", 3))),
    "from zero": (lambda: sp.Sum(z[t + 1], (t, 0, n - 1)), total(z_[t_], t_)),
    "from zero to a number": (lambda: sp.Sum(t, (t, 0, 2)), total(index("t", 3) - 1, index("t", 3))),
    "the index itself, from zero": (lambda: sp.Sum(t, (t, 0, n - 1)), total(t_ - 1, t_)),
    "twice": (lambda: kept(lambda: sp.Sum(z[i] * w[j], j, i)), total(z_[i_] * w_[j_], i_, j_)),
    "nested": (lambda: sp.Sum(sp.Sum(B[i, t], (t, 1, m)), i), total(B_[i_, index("t", m_)], i_, index("t", m_))),
    "where nothing is evaluated": (lambda: kept(lambda: sp.Sum(w[i] * z[i], i)), total(w_[i_] * z_[i_], i_)),
    "a vector": (lambda: z, z_),
    "a matrix": (lambda: B, B_),
    "an entry": (lambda: z[i], z_[i_]),
    "the first entry": (lambda: z[1], z_[1]),
    "a slope": (lambda: sp.Derivative(z[i] ** 2, z[j]), diff(z_[i_] ** 2, z_[j_])),
    "a delta": (lambda: sp.KroneckerDelta(i, j), eye(n_)[i_, j_]),
    "a delta from zero": (lambda: sp.KroneckerDelta(a, 0), eye(n_)[1, a_]),
    "an entry of a matrix": (lambda: F[a, b], F_[a_, b_]),
    "the first entry of a matrix": (lambda: F[0, 0], F_[1, 1]),
    "an entry of a product": (lambda: MatrixElement(sp.MatMul(F, G), a, 0), (F_ @ G_)[a_, 1]),
    "an entry of a matrix, an index from 1": (lambda: sp.Sum(F[t - 1, 0], (t, 1, n)), total(F_[t_, 1], t_)),
    "an entry of a column": (lambda: u[a, 0], u_[a_]),
}
MATRICES = {
    "a matrix": (lambda: F, F_),
    "a column": (lambda: u, u_),
    "a product": (lambda: F * G, F_ @ G_),
    "brackets": (lambda: sp.MatMul(F, sp.MatMul(G, F)), F_ @ (G_ @ F_)),
    "a product of three": (lambda: sp.MatMul(F, G, F), (F_ @ G_) @ F_),
    "a multiple": (lambda: sp.MatMul(2, F), 2 * F_),
    "a negative": (lambda: -F, -F_),
    "over a root": (lambda: sp.MatMul(1 / sp.sqrt(n), F, G), (F_ @ G_) / sqrt(n_)),
    "a sum": (lambda: sp.MatAdd(H, sp.MatMul(F, G)), H_ + F_ @ G_),
    "a difference": (lambda: sp.MatAdd(H, sp.MatMul(-1, sp.MatMul(F, G))), H_ - F_ @ G_),
    "a transpose": (lambda: F.T, F_.T),
    "the transpose of a product": (lambda: sp.Transpose(sp.MatMul(F, G)), (F_ @ G_).T),
    "an inverse": (lambda: sp.Inverse(H), inverse(H_)),
    "the transpose of an inverse": (lambda: sp.Transpose(sp.Inverse(H)), inverse(H_).T),
    "a square": (lambda: H**2, H_ @ H_),
    "entry by entry": (lambda: sp.HadamardProduct(F, sp.Transpose(G)), F_ * G_.T),
    "the identity": (lambda: sp.Identity(n), eye(n_)),
    "zeros": (lambda: sp.ZeroMatrix(n, m), zeros(n_, m_)),
    "ones": (lambda: sp.OneMatrix(n, m), ones(n_, m_)),
    "a column of ones": (lambda: sp.OneMatrix(n, 1), ones(n_)),
    "a trace": (lambda: sp.Trace(sp.MatMul(F, G)), total((F_ @ G_)[i_, i_], i_)),
    "a dot product": (lambda: u.T * v, u_ @ v_),
    "a matrix times a column": (lambda: G * u, G_ @ u_),
    "a row times a matrix": (lambda: u.T * F, u_ @ F_),
    "a quadratic form": (lambda: sp.MatMul(u.T, H, v), (u_ @ H_) @ v_),
    "written out": (lambda: sp.Matrix([[x, 1], [0, y]]), array([[x_, 1], [0, y_]])),
    "an immutable one": (lambda: sp.ImmutableMatrix([[x, 1], [0, y]]), array([[x_, 1], [0, y_]])),
    "a column written out": (lambda: sp.Matrix([x, y]), array([x_, y_])),
    "one number written out": (lambda: sp.Matrix([[x]]), x_),
}
RANDOM = {
    "a random number": (lambda: X, X_),
    "a random column": (lambda: q, q_),
    "a vector of random entries": (lambda: sp.IndexedBase(RandomSymbol("q"), shape=(n,)), q_),
    "a mean": (lambda: stats.Expectation(X**2), E(X_**2)),
    "a variance": (lambda: stats.Variance(X + 1), Var(lift(X + 1))),
    "a covariance": (lambda: stats.Covariance(X, Y), E(X_ * Y_) - E(X_) * E(Y_)),
    "the mean of a dot product": (lambda: stats.Expectation(q.T * k), E(q_ @ k_)),
    "the variance of a dot product": (lambda: stats.Variance(q.T * k), Var(q_ @ k_)),
    "the variance of a sum": (lambda: kept(lambda: stats.Variance(sp.Sum(q[a, 0] * k[a, 0], a))), Var(total(q_[a_] * k_[a_], a_))),
    "a normal one": (lambda: stats.Normal("X", 0, 1), X_),
}
NODES = SCALARS | SUMS | {f"{name} (matrices)": case for name, case in MATRICES.items()} | RANDOM


@pytest.mark.parametrize("build, expected", NODES.values(), ids=NODES)
def test_a_node_is_read_as(build, expected):
    assert lift(build()) == expected


def test_two_cases_are_told_apart():
    """The table above would be worth nothing if trees were equal that are not."""
    assert lift(kept(lambda: y + x)) != x_ + y_ and lift(F * G) != F_ @ G_ @ eye(n_)


# What is refused ------------------------------------------------------------------------------------------------------------------

REFUSED = {
    "a float": (lambda: x + 0.5, "unknown-sympy-node"),
    "pi": (lambda: x + sp.pi, "unknown-sympy-node"),
    "infinity": (lambda: sp.oo, "unknown-sympy-node"),
    "what was divided by zero": (lambda: 1 / sp.Integer(0), "unknown-sympy-node"),
    "an unknown function": (lambda: sp.gamma(x), "unknown-sympy-node"),
    "a function without a definition": (lambda: sp.Function("f")(x), "unknown-sympy-node"),
    "cases": (lambda: sp.Piecewise((x, x > 0), (0, True)), "unknown-sympy-node"),
    "a maximum": (lambda: sp.Max(x, y), "unknown-sympy-node"),
    "an integral": (lambda: sp.Integral(x, x), "unknown-sympy-node"),
    "a product over an index": (lambda: sp.Product(z[t], (t, 1, n)), "unknown-sympy-node"),
    "a relation": (lambda: sp.Eq(x, y), "wrong-relation"),
    "a symbol that may be complex": (lambda: sp.Symbol("c"), "not-stated-real"),
    "a symbol that does not commute": (lambda: sp.Symbol("c", commutative=False), "not-stated-real"),
    "a dummy": (lambda: sp.Dummy("c", real=True), "unknown-sympy-node"),
    "a wild card": (lambda: sp.Wild("c", real=True), "unknown-sympy-node"),
    "an integer of either sign": (lambda: sp.Symbol("c", integer=True), "unknown-sympy-assumption"),
    "an integer that may be zero": (lambda: sp.Symbol("c", integer=True, nonnegative=True), "unknown-sympy-assumption"),
    "a negative number": (lambda: sp.Symbol("c", negative=True), "unknown-sympy-assumption"),
    "a prime": (lambda: sp.Symbol("c", prime=True), "unknown-sympy-assumption"),
    "a name that is none here": (lambda: sp.Symbol("c'", real=True), "invalid-name"),
    "no shape": (lambda: sp.IndexedBase("c", real=True)[i], "unknown-shape"),
    "entries that may be complex": (lambda: sp.IndexedBase("c", shape=(n,))[i], "not-stated-real"),
    "entries that are integers": (lambda: sp.IndexedBase("c", shape=(n,), integer=True, positive=True)[i], "unknown-sympy-assumption"),
    "an index without a range": (lambda: z[sp.Idx("i")], "unknown-range"),
    "a free index that is a symbol": (lambda: z[t], "not-an-index"),
    "another index": (lambda: z[i + 1], "shifted-index"),
    "a base from 0": (lambda: z[a], "shifted-index"),
    "a matrix from 1": (lambda: F[i, 0], "shifted-index"),
    "entry zero of a base": (lambda: z[0], "index-out-of-range"),
    "an entry that may not exist": (lambda: F[0, 1], "index-out-of-range"),
    "a stride": (lambda: sp.Sum(z[2 * t], (t, 1, n)), "not-an-index"),
    "a sum from two": (lambda: sp.Sum(z[t], (t, 2, n)), "unknown-range"),
    "a sum to infinity": (lambda: sp.Sum(t, (t, 1, sp.oo)), "unknown-sympy-node"),
    "a sum to an index": (lambda: sp.Sum(sp.Sum(z[t], (t, 1, i)), i), "not-a-size"),
    "a sum to a number that is no size": (lambda: sp.Sum(t, (t, 1, x)), "not-a-size"),
    "a sum over SymPy's own index": (lambda: (F * G)[a, 0], "unknown-range"),
    "an index of another size": (lambda: z[sp.Idx("l", (1, m))], "index-of-another-size"),
    "a delta of two sizes": (lambda: sp.KroneckerDelta(i, sp.Idx("l", (1, m))), "index-of-another-size"),
    "a delta of numbers that are no index": (lambda: sp.KroneckerDelta(t, 1), "not-an-index"),
    "a column times a row": (lambda: u * v.T, "ambiguous-matrix-operation"),
    "an exponential of a matrix": (lambda: sp.exp(H), "ambiguous-matrix-operation"),
    "a power of a matrix": (lambda: sp.MatPow(H, n), "ambiguous-matrix-operation"),
    "a slice": (lambda: F[:2, :2], "unknown-sympy-node"),
    "a derivative of unknown order": (lambda: sp.Derivative(sp.exp(x), (x, n)), "unknown-derivative"),
    "a derivative by a matrix": (lambda: sp.Derivative(sp.Trace(H), H), "invalid-derivative-variable"),
    "a condition": (lambda: stats.Expectation(X, X > 0), "unknown-distribution"),
    "another distribution": (lambda: stats.Exponential("c", 1), "unknown-distribution"),
}


@pytest.mark.parametrize("build, code", REFUSED.values(), ids=REFUSED)
def test_a_node_is_refused(build, code):
    with pytest.raises(KernelError, check=has_code(code)):
        lift(build())


RELATIONS = {
    "decided, true": (lambda D: D.identity("claim", sp.Eq((F * G).T, G.T * F.T)), "decided-by-sympy"),
    "decided, false": (lambda D: D.identity("claim", sp.Eq(x + 1, x + 2)), "decided-by-sympy"),
    "decided, an order": (lambda D: D.inequality("claim", sp.Le(0, p), because=p), "decided-by-sympy"),
    "the same on both sides": (lambda D: D.identity("claim", sp.Eq(x, x, evaluate=False)), "vacuous"),
    "an order where an equation is meant": (lambda D: D.identity("claim", sp.Le(x, y)), "wrong-relation"),
    "an equation where an order is meant": (lambda D: D.inequality("claim", sp.Eq(x, y), because=x), "wrong-relation"),
    "strict": (lambda D: D.inequality("claim", sp.Lt(x, y), because=x), "strict-inequality"),
    "not equal where an equation is meant": (lambda D: D.identity("claim", sp.Ne(x, y)), "wrong-relation"),
    "no limit": (lambda D: D.limit("claim", sp.Eq(x, y)), "wrong-relation"),
    "a limit from below": (lambda D: D.limit("claim", sp.Eq(sp.Limit(x, x, 0, "-"), 0)), "unknown-limit"),
    "no relation": (lambda D: D.identity("claim", sp.And(sp.Eq(x, 1), sp.Eq(y, 1))), "wrong-relation"),
    "one side": (lambda D: D.identity("claim", x + y), "wrong-arguments"),
    "no certificate": (lambda D: D.inequality("claim", sp.Le(x, y)), "wrong-arguments"),
    "no counterexample": (lambda D: D.refute("claim", sp.Ne(x, y)), "wrong-arguments"),
    "a float in a counterexample": (lambda D: D.refute("claim", sp.Ne(x, y), at={x: 0.5, y: 1}), "not-an-expression"),
    "a matrix and a number": (lambda D: D.identity("claim", F, x), "mismatched-sides"),
}


@pytest.mark.parametrize("state, code", RELATIONS.values(), ids=RELATIONS)
def test_a_relation_is_rejected(state, code, rejection):
    assert rejection(state).code == code


# Claims, before every witness -----------------------------------------------------------------------------------------------------


def stated(state):
    """The records of the claims that `state` makes, each accepted by every witness; and the claims."""
    derivation = Derivation("test")
    state(derivation)
    return {claim.id: check_claim(claim) for claim in derivation.claims}, {claim.id: claim for claim in derivation.claims}


def vouching(record):
    return {said["name"] for said in record["witnesses"] if said["verdict"] != "not applicable"}


CLAIMS = {
    "Eq": (lambda D: D.identity("claim", sp.Eq((x + y) ** 2, x**2 + 2 * x * y + y**2)), None),
    "Eq of matrices": (
        lambda D: D.identity("claim", sp.Eq(sp.Transpose(sp.MatMul(F, G)), sp.MatMul(sp.Transpose(G), sp.Transpose(F)), evaluate=False)),
        r"(F G)^{\top} = G^{\top} F^{\top}",
    ),
    "associativity": (
        lambda D: D.identity("claim", kept(lambda: sp.Eq(sp.MatMul(sp.MatMul(F, G), F), sp.MatMul(F, sp.MatMul(G, F))))),
        "F G F = F (G F)",
    ),
    "Le": (lambda D: D.inequality("claim", sp.Le(2 * x * y, x**2 + y**2), because=(x - y) ** 2), r"2 x y \le x^{2} + y^{2}"),
    "Ge": (lambda D: D.inequality("claim", sp.Ge(x**2 + y**2, 2 * x * y), because=(x - y) ** 2), r"2 x y \le x^{2} + y^{2}"),
    "a rank": (lambda D: D.inequality("claim", rank(sp.MatMul(F, G)), m, because=(F, G)), r"\operatorname{rank}(F G) \le m"),
    "Ne": (lambda D: D.refute("claim", sp.Ne(x * y, x + y), at={x: 1, y: 1}), r"x y \ne x + y"),
    "Eq refuted": (lambda D: D.refute("claim", sp.Eq(x * y, x + y), at={x: 1, y: sp.Rational(1, 2)}), r"x y \ne x + y"),
    "Le refuted": (lambda D: D.refute("claim", sp.Le(x, x**2), at={x: sp.Rational(1, 2)}), r"x \nleq x^{2}"),
    "Ge refuted": (lambda D: D.refute("claim", sp.Ge(x**2, x), at={x: sp.Rational(1, 2)}), r"x \nleq x^{2}"),
    "at an index": (lambda D: D.refute("claim", kept(lambda: sp.Ne(z[i] * z[i], z[i])), at={z: [1, 2], i: 2}), r"z_{i} z_{i} \ne z_{i}"),
    "matrices refuted": (
        lambda D: D.refute("claim", sp.Ne(sp.MatMul(H, H.T), sp.MatMul(H.T, H)), at={H: [[0, 1], [0, 0]]}),
        r"H H^{\top} \ne H^{\top} H",
    ),
    "Limit": (lambda D: D.limit("claim", sp.Eq(sp.Limit((n + m) / n, n, sp.oo), 1)), None),
    "a limit at oo": (lambda D: D.limit("claim", (n + m) / n, n, sp.oo, 1), None),
    "a limit by name": (lambda D: D.limit("claim", (n + m) / n, variable=n, to=sp.oo, value=1), None),
    "a limit at zero": (lambda D: D.limit("claim", sp.Eq(sp.Limit((sp.exp(p) - 1) / p, p, 0), 1)), None),
    "a chain": (lambda D: D.chain("claim", sp.Sum(z[i], i) * x, (kept(lambda: sp.Sum(z[i] * x, i)), "move it inside")), None),
    "two sums swapped": (
        lambda D: D.identity("claim", kept(lambda: sp.Eq(sp.Sum(B[i, t], (t, 1, m), i), sp.Sum(B[i, t], i, (t, 1, m))))),
        r"\sum_{i = 1}^{n} \sum_{t = 1}^{m} B_{i t} = \sum_{t = 1}^{m} \sum_{i = 1}^{n} B_{i t}",
    ),
    "a gradient": (lambda D: D.identity("claim", sp.Derivative(sp.Sum(z[i] ** 2, i), z[j]), 2 * z[j]), None),
    "a delta": (lambda D: D.identity("claim", sp.Sum(sp.KroneckerDelta(i, j) * z[j], j), z[i]), None),
    "a trace": (lambda D: D.identity("claim", kept(lambda: sp.Eq(sp.Trace(sp.MatMul(F, G)), sp.Trace(sp.MatMul(G, F))))), None),
    "a Hadamard product": (lambda D: D.identity("claim", sp.HadamardProduct(F, sp.OneMatrix(n, m), evaluate=False), F), None),
    "an explicit matrix": (
        lambda D: D.identity("claim", sp.MatMul(sp.ImmutableMatrix([[0, 1], [1, 0]]), sp.ImmutableMatrix([x, y])), sp.Matrix([y, x])),
        None,
    ),
    "sin and cos": (lambda D: D.identity("claim", sp.Eq(sp.sin(x) ** 2 + sp.cos(x) ** 2, 1, evaluate=False)), None),
    "tanh": (lambda D: D.identity("claim", kept(lambda: sp.Eq(sp.tanh(x) * sp.cosh(x), sp.sinh(x)))), None),
    "an inverse": (
        lambda D: D.identity("claim", kept(lambda: sp.Eq(sp.MatMul(H, sp.Inverse(H)), sp.Identity(n))), given=[invertible(H)]),
        r"H H^{-1} = I",
    ),
    "a known product": (
        lambda D: D.identity("claim", kept(lambda: sp.Eq(sp.MatMul(H, H.T, F), F)), given=[product_is(H, H.T, 1)]),
        None,
    ),
    "an assumption": (lambda D: D.identity("claim", kept(lambda: sp.Eq(x / x, 1)), given=[nonzero(x)]), None),
    "an assumption with its counterexample": (
        lambda D: D.identity("claim", kept(lambda: sp.Eq(x / x, 1)), given=[nonzero(x)], without={nonzero(x): {x: 0}}),
        None,
    ),
    "a covariance": (
        lambda D: D.identity("claim", stats.Covariance(X, X + Y), 1, given=[independent(X, Y), variance(X, 1), has_moment(Y, 1)]),
        None,
    ),
    "softmax": (lambda D: D.identity("claim", sp.Sum(softmax(z)[i], i), 1), r"\sum_{i = 1}^{n} \operatorname{softmax}(z)_{i} = 1"),
}


@pytest.mark.parametrize("state, formula", CLAIMS.values(), ids=CLAIMS)
def test_a_claim_stands_before_every_witness(state, formula):
    records, _ = stated(state)
    record = records["claim"]
    assert {"exact", "torch"} <= vouching(record)
    assert formula is None or record["latex"] == formula


FALSE = {
    "Eq": lambda D: D.identity("claim", sp.Eq((x + y) ** 2, x**2 + x * y + y**2)),
    "an order of factors": lambda D: D.identity("claim", kept(lambda: sp.Eq(sp.MatMul(H, H.T), sp.MatMul(H.T, H)))),
    "a transpose that keeps the order": lambda D: D.identity(
        "claim", kept(lambda: sp.Eq(sp.Transpose(sp.MatMul(H, H.T, H)), sp.MatMul(H.T, H.T, H)))
    ),
    "Le": lambda D: D.inequality("claim", sp.Le(3 * x * y, x**2 + y**2), because=(x - y) ** 2),
    "Ne": lambda D: D.refute("claim", sp.Ne(x * y, x + y), at={x: 2, y: 2}),
    "Le refuted": lambda D: D.refute("claim", sp.Le(x, x**2), at={x: 2}),
    "Limit": lambda D: D.limit("claim", sp.Eq(sp.Limit((n + m) / n, n, sp.oo), 2)),
    "a shifted sum": lambda D: D.identity("claim", sp.Sum(t, (t, 0, n - 1)), n * (n + 1) / 2),
    "a gradient": lambda D: D.identity("claim", sp.Derivative(sp.Sum(z[i] ** 2, i), z[j]), 2 * z[j] + 1),
    "sin and cos": lambda D: D.identity("claim", sp.Eq(sp.sin(x) ** 2 - sp.cos(x) ** 2, 1)),
    "a covariance": lambda D: D.identity("claim", stats.Covariance(X, X + Y), 2, given=[independent(X, Y), variance(X, 1)]),
    "an unstated assumption": lambda D: D.identity("claim", kept(lambda: sp.Eq(x / x, 1))),
    "an unneeded assumption": lambda D: D.identity("claim", sp.Eq((x + y) ** 2, x**2 + 2 * x * y + y**2), given=[nonzero(x)]),
}


@pytest.mark.parametrize("state", FALSE.values(), ids=FALSE)
def test_a_wrong_claim_is_refused_by_a_witness(state):
    derivation = Derivation("test")
    state(derivation)  # it can be stated
    with pytest.raises(Rejected):
        check_claim(derivation.claims[-1])


def test_a_shifted_sum_is_what_it_says():
    """The same sum as in the false claim above, with the value that it has."""
    records, _ = stated(lambda D: D.identity("claim", sp.Sum(t, (t, 0, n - 1)), sp.Sum(t, (t, 1, n)) - n))
    assert records["claim"]["latex"] == r"\sum_{t = 1}^{n} (t - 1) = -n + \sum_{t = 1}^{n} t"


def test_snippets_are_given_trees():
    derivation = Derivation("test")
    derivation.identity("claim", x + y, y_ + x_, code=[("snippets.some.function", F, [x, 2], ("snippets.some.other", G), {"scale": n})])
    ((name, arguments, keywords),) = derivation.claims[0].code
    assert arguments == (F_, [x_, 2], ("snippets.some.other", G_))
    assert keywords == (("scale", n_),)


# What SymPy's symbols bring along -------------------------------------------------------------------------------------------------


def given(claim):
    return [describe_assumption(a) for a in claim.given]


r, s = sp.symbols("r s", positive=True)
CARRIED = {
    "positive": (lambda D: D.identity("claim", sp.Abs(x * r, evaluate=False), kept(lambda: r * sp.Abs(x))), ["r is positive"]),
    "not needed": (lambda D: D.identity("claim", sp.Eq((r + s) ** 2, r**2 + 2 * r * s + s**2)), []),
    "one of two": (lambda D: D.identity("claim", kept(lambda: sp.Eq((r * s) / r, s))), ["r is positive"]),
    "nonzero": (
        lambda D: D.identity("claim", kept(lambda: (lambda c: sp.Eq(c / c, 1))(sp.Symbol("c", nonzero=True, real=True)))),
        ["c is not zero"],
    ),
    "nonnegative": (
        lambda D: D.identity("claim", kept(lambda: (lambda c: sp.Eq(sp.Abs(c), c))(sp.Symbol("c", nonnegative=True)))),
        ["c is not negative"],
    ),
    "beside a stated one": (
        lambda D: D.identity("claim", kept(lambda: sp.Eq(x * r / (x * r), 1)), given=[nonzero(x)]),
        ["x is not zero", "r is positive"],
    ),
    "stated as well": (lambda D: D.identity("claim", kept(lambda: sp.Eq(r / r, 1)), given=[positive(r)]), ["r is positive"]),
    "a certificate": (
        lambda D: D.inequality("claim", sp.Le(r, r + r * s, evaluate=False), because=kept(lambda: r * s)),
        ["r is positive", "s is positive"],
    ),
    "of every entry": (
        lambda D: D.identity("claim", kept(lambda: (lambda c: sp.Eq(sp.Abs(c[i]), c[i]))(sp.IndexedBase("c", shape=(n,), positive=True)))),
        ["c[j] is positive, for every j"],
    ),
    "normal": (lambda D: D.identity("claim", stats.Variance(stats.Normal("c", 0, 2)), 4), ["each entry of c has variance 4"]),
    "normal, a sum": (
        lambda D: D.identity("claim", stats.Variance(stats.Normal("c", 0, 1) + stats.Normal("d", 1, 1)), 2),
        ["the entries of c and d are independent", "each entry of c has variance 1", "each entry of d has variance 1"],
    ),
    "normal, a fourth moment": (
        lambda D: D.identity("claim", stats.Expectation(stats.Normal("c", 0, 1) ** 4), 3),
        ["each entry of c has mean 0", "each entry of c has variance 1", "c is Gaussian"],
    ),
    "normal, with parameters": (
        lambda D: D.identity("claim", stats.Expectation(stats.Normal("c", x, r) ** 2), x**2 + r**2),
        ["each entry of c has mean x", "each entry of c has variance r^2"],
    ),
    "entries that are normal": (
        lambda D: D.identity("claim", stats.Variance(sp.Sum(sp.IndexedBase(stats.Normal("c", 0, 1), shape=(n,))[i] ** 2, i)), 2 * n),
        ["the entries of c are independent", "each entry of c has mean 0", "each entry of c has variance 1", "c is Gaussian"],
    ),
}


@pytest.mark.parametrize("state, expected", CARRIED.values(), ids=CARRIED)
def test_an_assumption_of_a_symbol_is_shown_where_it_is_needed(state, expected):
    records, claims = stated(state)
    assert given(claims["claim"]) == expected
    assert len(records["claim"]["assumptions"]) == len(expected) and all(a["needed"] for a in records["claim"]["assumptions"])


def test_without_the_assumption_of_the_symbol_the_claim_is_rejected(rejection):
    """The first of the table, for a symbol that is real and nothing else."""
    c = sp.Symbol("c", real=True)
    assert rejection(lambda D: D.identity("claim", sp.Abs(x * c, evaluate=False), kept(lambda: c * sp.Abs(x)))).code == "false-claim"


def test_a_false_claim_is_refuted_where_its_assumptions_hold(rejection):
    error = rejection(lambda D: D.identity("claim", kept(lambda: sp.Eq(sp.Abs(r) * s, s))))
    assert error.code == "false-claim" and "at r = 3, s = 1" in error.message


def test_a_counterexample_respects_what_a_symbol_assumes(rejection):
    error = rejection(lambda D: D.refute("claim", sp.Ne(x * sp.Abs(x, evaluate=False), r * x), at={x: 1, r: -1}))
    assert error.code == "broken-assumption" and "r is positive" in error.message
    stated(lambda D: D.refute("claim", sp.Ne(x * sp.Abs(x, evaluate=False), r * x), at={x: 1, r: 2}))


c, d = stats.Normal("c", 0, 1), stats.Normal("d", r, 1)
g = sp.Symbol("g", nonnegative=True)
BROKEN = {
    "a factor": (lambda D: D.refute("claim", kept(lambda: sp.Le(0, r * stats.Expectation(c**2))), at={r: -1}), "r is positive"),
    "an absolute value": (
        lambda D: D.refute("claim", kept(lambda: sp.Eq(2 * g * stats.Expectation(c**2), sp.Abs(2 * g))), at={g: -1}),
        "g is not negative",
    ),
    "a spread": (
        lambda D: D.refute("claim", kept(lambda: sp.Le(0, r * stats.Variance(stats.Normal("h", 0, r)))), at={r: -1}),
        "r is positive",
    ),
    "a mean that stands in the distribution alone": (
        lambda D: D.refute("claim", kept(lambda: sp.Le(0, stats.Expectation(d))), at={r: -1}),
        "r is positive",
    ),
    "an entry": (
        lambda D: D.refute("claim", kept(lambda: sp.Le(0, positives(n)[1] * stats.Expectation(c**2))), at={positives(n): [-1]}),
        "f[i] is positive, for every i",
    ),
}


def positives(*shape):
    return sp.IndexedBase("f", shape=shape, positive=True)


@pytest.mark.parametrize("state, says", BROKEN.values(), ids=BROKEN)
def test_a_refuted_law_respects_what_a_symbol_assumes(state, says, rejection):
    error = rejection(state)
    assert error.code == "broken-assumption" and says in error.message


def test_a_law_is_refuted_where_the_assumptions_hold():
    def state(D):
        D.refute("factor", kept(lambda: sp.Le(r * stats.Expectation(c**2), 0)), at={r: 1})
        D.refute("cancelled", kept(lambda: sp.Eq(r / r * stats.Expectation(c**2), 2)), at={r: 1})
        D.refute("mean", kept(lambda: sp.Le(stats.Expectation(d), 0)), at={r: 1})

    records, claims = stated(state)
    assert given(claims["factor"]) == ["each entry of c has mean 0", "each entry of c has variance 1"]
    assert given(claims["cancelled"])[0] == "r is positive"
    assert records["mean"]["left"] == "1"


def doubled(entry, *indices):
    """A claim that needs its entries to be positive: log of a square is twice the log, summed."""
    return kept(lambda: sp.Eq(sp.Sum(sp.log(entry**2), *indices), sp.Sum(2 * sp.log(entry), *indices)))


def test_an_index_chosen_for_an_assumption_makes_way_for_a_name_of_a_later_claim():
    over_m = sp.Idx("i", (1, m))
    other = sp.IndexedBase("h", shape=(m,), real=True)

    def state(D):
        D.identity("first", doubled(positives(n)[j], j))
        D.identity("scalar", kept(lambda: sp.Eq(2 * (sp.Symbol("l", real=True) + x), 2 * sp.Symbol("l", real=True) + 2 * x)))
        D.identity("index", kept(lambda: sp.Eq(sp.Sum(2 * other[over_m], over_m), 2 * sp.Sum(other[over_m], over_m))))
        D.identity("again", doubled(positives(n)[j], j))

    _, claims = stated(state)
    assert given(claims["first"]) == given(claims["again"]) == ["f[a] is positive, for every a"]


def test_an_index_chosen_for_an_assumption_is_not_a_name_of_an_earlier_claim():
    def state(D):
        D.identity("scalar", kept(lambda: sp.Eq(2 * (sp.Symbol("i", real=True) + x), 2 * sp.Symbol("i", real=True) + 2 * x)))
        D.identity("entries", doubled(positives(n)[j], j))

    _, claims = stated(state)
    assert given(claims["entries"]) == ["f[l] is positive, for every l"]


def test_entries_of_two_sizes_have_indices_of_their_own():
    h = sp.IndexedBase("h", shape=(m,), positive=True)
    V = sp.IndexedBase("V", shape=(n, n), positive=True)
    over = [sp.Idx("a", (1, n)), sp.Idx("b", (1, m))]
    _, claims = stated(lambda D: D.identity("claim", doubled(positives(n)[over[0]] * h[over[1]] * V[over[0], 1], *over)))
    says = given(claims["claim"])
    assert says == ["f[i] is positive, for every i", "h[j] is positive, for every j", "V[i, l] is positive, for every i, for every l"]


def test_there_are_indices_for_more_names_than_letters():
    letters = [sp.Symbol(name, real=True) for name in "ijlabrst"]

    def state(D):
        D.identity("letters", kept(lambda: sp.Eq(2 * sp.Add(*letters), sp.Add(*(2 * letter for letter in letters)))))
        over = sp.Idx("v", (1, n))
        D.identity("entries", doubled(positives(n)[over], over))

    _, claims = stated(state)
    assert given(claims["entries"]) == ["f[ii] is positive, for every ii"]


def test_a_refuted_law_takes_its_distribution_along():
    c = stats.Normal("c", 1, 1)
    records, claims = stated(lambda D: D.refute("claim", stats.Variance(c**2), 2, at={}))
    assert given(claims["claim"]) == ["each entry of c has mean 1", "each entry of c has variance 1", "c is Gaussian"]
    assert records["claim"]["left"] == "6"


def test_the_record_shows_what_is_carried():
    records, _ = stated(CARRIED["positive"][0])
    (assumption,) = records["claim"]["assumptions"]
    assert assumption["text"] == "$r$ is positive" and assumption["needed"].startswith("at r = -2")


# One name is one thing ------------------------------------------------------------------------------------------------------------

TWO = {
    "in one claim": lambda D: D.identity("claim", sp.Symbol("r", positive=True) + sp.Symbol("r", real=True), 2 * x),
    "in two": lambda D: (D.identity("first", kept(lambda: sp.Eq(r + x, x + r))), D.identity("claim", x * sp.Symbol("r", real=True), x * 2)),
    "a vector and a number": lambda D: D.identity("claim", z[i] * sp.Symbol("z", real=True), x),
    "two shapes": lambda D: D.identity("claim", z[i], sp.IndexedBase("z", shape=(m,), real=True)[sp.Idx("l", (1, m))]),
    "two distributions": lambda D: D.identity("claim", stats.Variance(stats.Normal("c", 0, 1) + stats.Normal("c", 0, 2)), 4),
    "a distribution and none": lambda D: D.identity("claim", stats.Variance(stats.Normal("c", 0, 1) + RandomSymbol("c")), 4),
    "a positive one and one of the kernel": lambda D: D.identity("claim", kept(lambda: r / r), scalars("r") / scalars("r") * 1),
    "a size and a number": lambda D: D.identity("claim", n + sp.Symbol("n", real=True), x),
}


@pytest.mark.parametrize("state", TWO.values(), ids=TWO)
def test_one_name_is_one_thing(state):
    with pytest.raises(Rejected, check=has_code("ambiguous-name")):
        state(Derivation("test"))


def test_another_derivation_may_use_a_name_for_something_else():
    for symbol in (sp.Symbol("r", positive=True), sp.Symbol("r", real=True), sp.Symbol("r", positive=True)):
        stated(lambda D: D.identity("claim", sp.Eq((symbol + x) ** 2, symbol**2 + 2 * symbol * x + x**2)))


def test_reading_alone_keeps_nothing():
    assert lift(sp.Symbol("r", positive=True)) == lift(sp.Symbol("r", real=True)) == scalars("r")
    stated(lambda D: D.identity("claim", sp.Eq((x + y) ** 2, x**2 + 2 * x * y + y**2)))


def test_one_thing_may_be_written_in_both_ways():
    stated(lambda D: D.identity("claim", x + y_, y + x_))


@pytest.mark.parametrize("name", ["z_1", "z_12"])
def test_a_symbol_that_looks_like_an_entry_is_rejected(name, rejection):
    assert rejection(lambda D: D.identity("claim", z[1] + sp.Symbol(name, real=True), x)).code == "reads-as-entry"


# Both kinds in one expression -----------------------------------------------------------------------------------------------------

MIXED = {
    "x + y_": (lambda: x + y_, lambda: x_ + y_),
    "y_ + x": (lambda: y_ + x, lambda: y_ + x_),
    "x - y_": (lambda: x - y_, lambda: x_ - y_),
    "y_ - x": (lambda: y_ - x, lambda: y_ - x_),
    "x * y_": (lambda: x * y_, lambda: x_ * y_),
    "y_ * x": (lambda: y_ * x, lambda: y_ * x_),
    "x / y_": (lambda: x / y_, lambda: x_ / y_),
    "y_ / x": (lambda: y_ / x, lambda: y_ / x_),
    "x ** y_": (lambda: x**y_, lambda: x_**y_),
    "y_ ** 2": (lambda: y_ ** sp.Integer(2), lambda: y_**2),
    "a matrix first": (lambda: sp.MatMul(F, G_), lambda: F_ @ G_),
    "a tree first": (lambda: F_ @ G, lambda: F_ @ G_),
    "a matrix plus a tree": (lambda: sp.MatAdd(F, G_.T), lambda: F_ + G_.T),
    "a tree plus a matrix": (lambda: F_ + G.T, lambda: F_ + G_.T),
    "a matrix times a vector": (lambda: G * u_, lambda: G_ @ u_),
    "a number times a tree": (lambda: x * F_, lambda: x_ * F_),
    "an entry of a tree": (lambda: F_[i, 1], lambda: F_[i_, 1]),
    "an entry at a tree": (lambda: z[i_], lambda: z_[i_]),
    "within a function": (lambda: sp.exp(y_), lambda: exp(y_)),
    "within a sum": (lambda: kept(lambda: sp.Sum(softmax(z)[i] * w[i], i)), lambda: total(softmax(z_)[i_] * w_[i_], i_)),
    "within a derivative": (lambda: sp.Derivative(softmax(z)[i], z[j]), lambda: diff(softmax(z_)[i_], z_[j_])),
    "a derivative that SymPy takes": (lambda: sp.diff(x * softmax(z)[i], z[j]), lambda: x_ * diff(softmax(z_)[i_], z_[j_])),
    "within an expectation": (lambda: stats.Expectation(X_**2), lambda: E(X_**2)),
    "softmax of SymPy's": (lambda: softmax(F), lambda: softmax(F_)),
    "a transpose of it": (lambda: softmax(F).T, lambda: softmax(F_).T),
    "a size": (lambda: matrix("M", n, m), lambda: matrix("M", n_, m_)),
    "a size of an index": (lambda: index("i", n), lambda: i_),
    "an assumption": (lambda: positive(x).args[0], lambda: x_),
    "an assumption of a difference": (lambda: nonnegative(m - 2).args[0], lambda: lift(m - 2)),
}


@pytest.mark.parametrize("build, expected", MIXED.values(), ids=MIXED)
def test_both_kinds_go_together(build, expected):
    assert lift(build()) == expected()


MIXED_REFUSED = {
    "SymPy's product of matrices after a tree": (lambda: F_ * G.T, "ambiguous-product"),
    "a definition summed by SymPy": (lambda: lift(sp.Sum(softmax(z)[i], (i, 1, 3)).doit()), "changed-by-sympy"),
    "a definition that SymPy changes": (lambda: lift(sp.exp(softmax(z)[i]).subs(n, 3)), "changed-by-sympy"),
    "three axes": (lambda: sp.exp(random("R", n, n, n)), "wrong-shape"),
}


@pytest.mark.parametrize("build, code", MIXED_REFUSED.values(), ids=MIXED_REFUSED)
def test_what_does_not_go_together_is_refused(build, code):
    with pytest.raises(KernelError, check=has_code(code)):
        build()


# What SymPy does before anything arrives ------------------------------------------------------------------------------------------


def test_what_sympy_evaluated_arrives_evaluated():
    assert lift(2 * (x + y)) == lift(sp.Add(2 * x, 2 * y)) and lift(x / x) == lift(1) and lift(x + x) == 2 * x_
    assert lift(y + x) == x_ + y_ and lift(x - 1) == lift(-1) + x_
    assert lift(sp.Sum(t, (t, 1, n)).doit()) != lift(sp.Sum(t, (t, 1, n)))


def test_a_sum_of_one_random_number_is_that_number_many_times():
    """`variance` makes n^2 of it, and so does the tree: one X, not n of them."""
    c = stats.Normal("c", 0, 1)
    stated(lambda D: D.identity("claim", stats.Variance(sp.Sum(c, (t, 1, n))), n**2))
    with pytest.raises(Rejected, check=has_code("false-claim")):
        stated(lambda D: D.identity("claim", stats.Variance(sp.Sum(c, (t, 1, n))), n))


def test_a_random_symbol_is_its_name():
    c, again = stats.Normal("c", 0, 1), stats.Normal("c", 0, 1)
    stated(lambda D: D.identity("claim", stats.Variance(c + again), 4))


def test_the_slope_of_a_sum_by_its_own_dummy_is_not_taken_by_sympy():
    """SymPy's diff makes a sum of ones of it; the tree holds two indices that have one name, and keeps them apart."""
    tree = lift(sp.Derivative(sp.Sum(z[i], i), z[i]))
    assert tree == diff(total(z_[i_], i_), z_[i_])
    stated(lambda D: D.identity("claim", sp.Derivative(sp.Sum(z[i], i), z[i]), 1))


@pytest.mark.parametrize("build", [lambda: x * (H * H), lambda: (H * H).T, lambda: H * H * H], ids=["a multiple", "a transpose", "three"])
def test_products_of_one_matrix_go_wrong_in_sympy_where_nothing_is_evaluated(build):
    """x*(H*H) becomes x*H**(0 + 1), in which one H is lost. What has such a power is refused; MatMul(H, H) is meant."""
    assert "+ 1)" in str(kept(build))
    with pytest.raises(KernelError, check=has_code("ambiguous-matrix-operation")):
        lift(kept(build))


def test_an_expectation_of_what_is_not_random_is_not_kept_by_sympy():
    assert lift(stats.Expectation(x)) == x_


def test_a_name_for_a_definition_that_sympy_does_not_know_has_no_slope():
    """IndexedBase("p") is not the definition p: its slope by z is 0 to SymPy. So a definition is used as `define` gives it."""
    other = sp.IndexedBase("o", shape=(n,), real=True)
    assert sp.diff(other[i], z[j]) == 0
    tree = lift(sp.Derivative(other[i], z[j]))
    assert tree == diff(vector("o", n_)[i_], z_[j_])


def test_a_sympy_script_does_not_leave_evaluation_off():
    kept(lambda: Derivation("test").identity("claim", sp.Eq(x + y, y + x)))
    assert x + x == 2 * x


def test_nothing_of_sympy_is_needed_to_state_a_claim_without_it():
    code = (
        "import sys; from derivations.kernel import Derivation, scalars; x, y = scalars('x y'); "
        "Derivation('t').identity('a', x + y, y + x); assert 'sympy' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr == ""


def test_gaussian_is_exported_as_sympys_normal_brings_it():
    _, claims = stated(CARRIED["normal, a fourth moment"][0])
    assert claims["claim"].given[-1] == gaussian(random("c"))
