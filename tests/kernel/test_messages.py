"""The exact wording of error messages. All other tests assert the codes of errors, so that a message can change in one place."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp

from derivations.kernel import (
    Derivation,
    E,
    I,
    Var,
    array,
    diff,
    each,
    exp,
    eye,
    has_moment,
    independent,
    index,
    inverse,
    invertible,
    largest,
    log,
    matrix,
    mean,
    nonnegative,
    nonzero,
    norm,
    ones,
    paren,
    positive,
    product_is,
    random,
    rank,
    rounded,
    scalars,
    sizes,
    softmax,
    total,
    variance,
    vector,
    where,
)
from derivations.kernel.core.claims import Rejected, read_values
from derivations.kernel.core.expr import Expr, lift, symbols
from derivations.kernel.errors import KernelError
from derivations.kernel.exact import proofs
from derivations.kernel.exact.witness import exact

d, n, m = sizes("d n m")
x, y = scalars("x y")
A, B, C, U = matrix("A", n, n), matrix("B", n, n), matrix("C", n, n), matrix("U", n, m)
z, w = vector("z", n), vector("w", m)
q, k = random("q", d), random("k", d)
i, l = index("i", n), index("l", n)
v = vector("v", n)
p = Expr("defined", (x + 1,), (), ("p", "defined"))
N = sp.Symbol("n", integer=True, positive=True)
X, Y, R = sp.Symbol("x", real=True), sp.Symbol("y", real=True), sp.Symbol("r", positive=True)
S, M = sp.IndexedBase("s", shape=(N,), real=True), sp.MatrixSymbol("M", N, N)
SPREAD = total((z[i] - total(z[l], l) / n) ** 2, i)
standard = [independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)]

# Invalid expressions, by the message of their error.
WHEN_WRITTEN = {
    "a power of a tensor of shape (n, n) is not defined; take one of an entry": lambda: A**2,
    "a scalar is needed here, not shape (n)": [
        lambda: x**z,
        lambda: E(z),
        lambda: mean(q, z),
        lambda: total(z, i),
    ],
    "2 indices for a tensor of shape (n)": lambda: z[1, 1],
    "1 index for a tensor of shape (n, n)": lambda: A[i],
    "index l runs to m, but the axis has size n": lambda: z[index("l", m)],
    "the index 0 may lie outside 1..n": lambda: z[0],
    "the index 2 may lie outside 1..n": lambda: z[2],
    "the index 4 may lie outside 1..3": lambda: vector("v", 3)[4],
    "the index 3/2 may lie outside 1..3": lambda: vector("v", 3)[Fraction(3, 2)],
    "an index is made by index(name, size) or is a positive integer": lambda: z[x],
    "only a matrix has a transpose, not shape (n)": lambda: z.T,
    "only a matrix has a transpose, not shape ()": lambda: x.T,
    "0.5 of type float is not an expression; write numbers as integers or fractions, as in x / 4 or Fraction(1, 4)": lambda: x * 0.5,
    "True of type bool is not an expression; write numbers as integers or fractions, as in x / 4 or Fraction(1, 4)": lambda: lift(True),
    "'a_b_c' is not a name: letters and digits, and at most one subscript after an underscore": lambda: scalars("a_b_c"),
    "3 is not a name: letters and digits, and at most one subscript after an underscore": lambda: matrix(3, n, n),
    "'1i' is not a name: letters and digits, and at most one subscript after an underscore": lambda: index("1i", n),
    "0 is not a size: sizes are positive integers or come from sizes(...)": lambda: matrix("M", 0, 1),
    "1/2 is not a size: sizes are positive integers or come from sizes(...)": lambda: matrix("M", Fraction(1, 2), 1),
    "x is not a size: sizes are positive integers or come from sizes(...)": [
        lambda: vector("v", x),
        lambda: index("i", x),
    ],
    "shapes (n, n) and (n, m) do not go together in add": lambda: A + U,
    "shapes () and (n, n) do not go together in add": lambda: 1 + A,
    "shapes (n) and (m) do not go together in mul": lambda: z * w,
    "division by a tensor of shape (n, n); divide by a scalar": lambda: 2 / A,
    "division by a tensor of shape (n); divide by a scalar": lambda: z / z,
    "shapes (n, n) and (m) cannot be multiplied: the inner sizes must agree": lambda: A @ w,
    "shapes () and (n, n) cannot be multiplied: the inner sizes must agree": lambda: 2 * x @ A,
    "shapes (n, n) and () cannot be multiplied: the inner sizes must agree": lambda: A @ x,
    "only a square matrix has an inverse, not shape (n, m)": lambda: inverse(U),
    "only a square matrix has an inverse, not shape (n)": lambda: inverse(z),
    "a tensor is written as nested lists of equal lengths, none of them empty": [
        lambda: array([[1, 2], [3]]),
        lambda: array([]),
    ],
    "softmax needs a vector or a matrix, not a scalar": lambda: softmax(x),
    "differentiate by a real scalar symbol or by one entry of a real symbol": [
        lambda: diff(x, x + y),
        lambda: diff(x, z),
        lambda: diff(x, n),
        lambda: diff(x, q[1]),
        lambda: diff(x, (A @ B)[1, 1]),
    ],
    "'fp64' is not a format; fp32, fp16, bf16, e4m3, e5m2 are known": lambda: rounded(x, "fp64"),
    "only a matrix has a rank, not shape (n)": lambda: rank(z),
    "R is random: it may be singular, and its inverse is not known here": lambda: invertible(random("R", n, n)),
    "this assumption is about a symbol, not q": lambda: mean("q", 0),
    "a product of shape () is not 1 times the identity: say 0, or a number": lambda: product_is(z, z, 1),
    "a product of shape (n, m) is not 1 times the identity: say 0, or a number": lambda: product_is(A, U, 1),
    "this assumption is about a symbol, not A + B": [
        lambda: product_is(A + B, A, 1),
        lambda: product_is(A, (A + B).T, 0),
    ],
    "the name I is taken by the identity matrix, or the imaginary unit, as which it would be read; call it something else": lambda: scalars(
        "I"
    ),
    "the name e is taken by the base of exponentials, as which it would be read; call it something else": lambda: scalars("e"),
    "the name fl is taken by rounding, as which it would be read; call it something else": lambda: index("fl", n),
    "x is not random; make it with random(name, ...)": lambda: mean(x, 0),
    "k[1] holds what is random: name its mean or its variance, and state it of that: mean(w, m), positive(m)": lambda: mean(q, k[1]),
    "x*I is complex: it has no sign, no rounding and no place in an order. Leave I out of it": lambda: variance(q, x * I),
    "the name A is used for two things: a tensor of shape (n, n), and a tensor of shape (n, m)": lambda: symbols(
        matrix("A", n, n), matrix("A", n, m)
    ),
    "the name v is used for two things: a tensor of shape (3), and a random tensor of shape (2, n)": lambda: symbols(
        vector("v", 3), random("v", 2, n)
    ),
    "the name v is used for two things: a real number, and a random real number": lambda: symbols(scalars("v"), random("v")),
    "the name n is used for two things: a size, and a real number": [
        lambda: symbols(vector("v", n), scalars("n")),
        lambda: symbols(total(x, i), scalars("n")),
    ],
    "the name n is used for two things: a size, and a tensor of shape (2)": lambda: symbols(i, vector("n", 2)),
    "the name p is used for two things: a definition, x + 1, and a real number": lambda: symbols(p, scalars("p")),
    "a counterexample maps symbols to values: at={symbol: value}": lambda: read_values([1]),
    "a counterexample gives values to symbols and indices, not to z[1]": lambda: read_values({z[1]: 1}),
    "entries run over what index(name, size) made, not nothing: name its index": lambda: each(z[1]),
    "a sum runs over what index(name, size) made, not i twice": lambda: total(z[i], i, i),
    "names are written in one text with blanks between them, as in scalars('x y'), not ['n', 'm']": lambda: sizes(["n", "m"]),
    "<, <=, > and >= compare indices, sizes and integers, as in total(x[j], j, where=j <= i); of other expressions write "
    "derivation.inequality(id, left, right, because=...)": lambda: x < y,
    "j <= l is neither true nor false: pass it as where=..., two as where=[1 < j, j <= i]": lambda: bool(index("j", d) <= index("l", d)),
    "where(body, condition) needs a condition, such as j <= i": lambda: where(1),
    "True is no condition; write a comparison of indices, such as j <= i": lambda: total(z[i], i, where=[True]),
    "Derivation takes no keyword titel; did you mean title? It takes title": lambda: Derivation(titel="A title"),
    "Derivation(...): too many positional arguments; it is Derivation(title)": lambda: Derivation("A title", []),
    "the order of a moment is a positive integer, such as 1 for a mean, not 0": lambda: has_moment(q, 0),
    "j has an open index, and every entry of q has the same mean: state one number, such as mean(q, 1), and write what differs beside "
    "q in the claim": lambda: mean(q, index("j", d)),
    "largest is taken of a vector's entries; x has the shape ()": lambda: largest(x),
    "norm is the length of a vector; x has the shape ()": lambda: norm(x),
    # SymPy objects
    "the SymPy node Float in 0.5 is not known here; numbers are exact: write Rational(1, 2), not 0.5": lambda: lift(sp.Float("0.5", 1)),
    "the SymPy node Pi in pi is not known here; only rational numbers are known here": lambda: lift(sp.pi),
    "the SymPy node Infinity in oo is not known here; it is no number; a limit says to=oo": lambda: lift(sp.oo),
    "the SymPy node Max in Max(x, y) is not known here; state the two cases": lambda: lift(sp.Max(X, Y)),
    "Dummy _c: SymPy makes another one each time, so that a name is not one thing; use Symbol": lambda: lift(sp.Dummy("c", real=True)),
    "the SymPy symbol c is not stated to be real: Symbol('c', real=True); for a size Symbol('c', integer=True, positive=True)": lambda: (
        lift(sp.Symbol("c"))
    ),
    "the index i has no range: Idx('i', (1, n))": lambda: lift(S[sp.Idx("i")]),
    "s counts from 1, and i from 0: write i + 1 there, and not i": lambda: lift(S[sp.Idx("i", N)]),
    "exp of a matrix may mean that of its entries or of the whole; bring exp(A[i, j]), an entry of it": lambda: lift(sp.exp(M)),
}


def cases(messages):
    every = [(state, says) for says, states in messages.items() for state in (states if isinstance(states, list) else [states])]
    return [pytest.param(state, says, id=f"{k}: {says[:60]}") for k, (state, says) in enumerate(every)]


@pytest.mark.parametrize("write, says", cases(WHEN_WRITTEN))
def test_message_of_an_invalid_expression(write, says):
    with pytest.raises(KernelError) as caught:
        write()
    assert str(caught.value) == says


SINGULAR = array([[x, 0], [0, 1]])  # where x is 0
# Rejected claims, by their message.
WHEN_CHECKED = {
    "the exact witness cannot tell whether [[x, 0], [0, 1]] is invertible": lambda D: D.define("p", inverse(SINGULAR), id="claim"),
    "false: at x = 0: left = undefined ([[x, 0], [0, 1]] is singular), right = [[1, 0], [0, 1]], where "
    "[[x, 0], [0, 1]]⁻¹ @ [[x, 0], [0, 1]] was to be equal to eye(2)": lambda D: D.identity("claim", inverse(SINGULAR) @ SINGULAR, eye(2)),
    "used but not stated: x is not zero (something is divided by it); y is not zero (something is divided by it). Without it, "
    "at x = 0, y = 0: left = undefined (a division by zero), right = 1. State it with given=[nonzero(x), nonzero(y)], or avoid needing it": lambda D: (
        D.identity("claim", x * y / x / y, 1)
    ),
    "vacuous: both sides are the same expression already, so there is nothing to prove. State a relation between two different expressions": lambda D: (
        D.identity("claim", x, paren(x))
    ),
    "no values were found at which all its assumptions hold: they may contradict each other, and then anything follows. Look at 'x is "
    "positive' and '-x is positive'": lambda D: D.identity(
        "claim", exp(log(x)) + exp(log(-x)) + exp(log(y)), y, given=[positive(y), positive(x), positive(-x)]
    ),
    "no values were found, with sizes up to 3, at which all its assumptions hold: they may contradict each other, and then anything follows. Look at 'A is "
    "invertible' and 'the product of A and A is zero'": lambda D: D.identity(
        "claim", inverse(A) @ (A @ A), 0 * A, given=[invertible(A), product_is(A, A, 0)]
    ),
    "the two sides have different shapes: A @ U and A": lambda D: D.identity("claim", A @ U, A),
    "each step of a chain is a pair: the expression, and the reason for it in words; a chain needs a step": [
        lambda D: D.chain("claim", x),
        lambda D: D.chain("claim", x, y),
        lambda D: D.chain("claim", x, (y, "why", "more")),
        lambda D: D.chain("claim", x, [y, "why"]),
        lambda D: D.chain("claim", x, (y, " ")),
    ],
    "a limit is taken in a size or a scalar symbol": [
        lambda D: D.limit("claim", x, "x", "oo", 0),
        lambda D: D.limit("claim", x, z[1], "oo", 0),
        lambda D: D.limit("claim", x, z, "oo", 0),
    ],
    'the relation refuted is "=" or "<=", not \'<\'': lambda D: D.refute("claim", x, y, at={x: 1, y: 1}, relation="<"),
    "a counterexample maps symbols to values: at={symbol: value}": lambda D: D.refute("claim", x, y, at=[1]),
    "given=[...] is a list of assumptions, such as nonzero(c)": [
        lambda D: D.identity("claim", x, y, given=nonzero(x)),
        lambda D: D.identity("claim", x, y, given=[x]),
    ],
    "uses=[...] is a list of ids": [
        lambda D: D.identity("claim", x, y, uses="first"),
        lambda D: D.identity("claim", x, y, uses=[1]),
    ],
    "without={assumption: {symbol: value}} maps assumptions to counterexamples": [
        lambda D: D.identity("claim", x, y, without=[nonzero(x)]),
        lambda D: D.identity("claim", x, y, given=[nonzero(x)], without={nonzero(x): 1}),
    ],
    "without={...} compares the two sides of a claim at values, and what is random has none; a law is tried without each of its "
    "assumptions at distributions of a few numbers: leave without={...} out": [
        lambda D: D.identity("claim", x * E(q[1]) / x, 0, given=[nonzero(x), mean(q, 0)], without={nonzero(x): {x: 0, d: 1}}),
    ],
    "a counterexample gives 5,001 numbers to z, and it is computed exactly, which would take too long; give one with at most 1,000, at a "
    "smaller size": [
        lambda D: D.inequality(
            "claim",
            0,
            total(z[i], i),
            because=total(z[i], i),
            given=[nonnegative(z[i])],
            without={nonnegative(z[i]): {n: 5001, z: [-1] * 5001}},
        ),
        lambda D: D.refute("claim", z @ z, 0, at={z: [1] * 5001}),
    ],
    "without={...} names an assumption that is not in given=[...]": lambda D: D.identity(
        "claim", x, y, given=[nonzero(x)], without={nonzero(y): {x: 1}}
    ),
    "this id is taken by an earlier claim of the derivation": lambda D: (
        D.identity("claim", x * (y + 1), x * y + x),
        D.identity("claim", x, y),
    ),
    "it uses 'first', which is not an earlier claim of this derivation that holds": lambda D: D.identity("claim", x, y, uses=["first"]),
    "the name x is used for two things: a real number, and a tensor of shape (n, n)": lambda D: D.identity(
        "claim", x, matrix("x", n, n)[1, 1]
    ),
    "the name i is used for two things: an index up to n, and an index up to m": lambda D: D.identity(
        "claim", z[i], total(x, index("i", m))
    ),
    "the name i is used for two things: an index up to n, and a real number": lambda D: D.identity("claim", z[i], scalars("i")),
    "the name n is used for two things: a size, and a real number": lambda D: D.identity("claim", z[1], scalars("n")),
    "the name z_1 is read as an entry of z, which has the shape (n): call one of the two something else": lambda D: D.identity(
        "claim", scalars("z_1"), z[1]
    ),
    "the name p is used for two things: a definition, x + 1, and a real number": lambda D: (
        D.define("p", x + 1),
        D.identity("claim", scalars("p"), x),
    ),
    "p is defined already, or used before it is defined": lambda D: (D.define("p", x + 1), D.define("p", x + 1, id="claim")),
    'code=[...] lists tuples ("snippets.chapter.topic.function", argument, ...)': [
        lambda D: D.identity("claim", x, y, code=["snippets.a.b"]),
        lambda D: D.identity("claim", x, y, code=[("math.exp", x)]),
        lambda D: D.identity("claim", x, y, code=[()]),
        lambda D: D.identity("claim", x, y, code=[(1,)]),
    ],
    "false: at x = 0, y = 1: left = 0, right = 1, where x*y was to be equal to x + y": lambda D: D.identity("claim", x * y, x + y),
    "step 2: false: at x = 1, y = 0: left = 1, right = 0, where x*y + x was to be equal to x*y": lambda D: D.chain(
        "claim", x * (y + 1), (x * y + x, "out"), (x * y, "slip")
    ),
    "false: at x = 0, y = -2: left = 0, right = -2, where x was to be at most x + y": lambda D: D.inequality("claim", x, x + y, because=y),
    "not proved: left - right has the normal form 8000000*x^8 - 30000000*x^7 - 21000000*x^6 + 147000000*x^5 - 63000000*x^4 - "
    "105000000*x^3 + 76000000*x^2 - 12000000*x, and no small counterexample was found": lambda D: D.identity(
        "claim", x * (x**2 - 1) * (x - 2) * (x + 2) * (x - 3) * (2 * x - 1) * (2 * x * 2 - 1) * 10**6, 0 * x
    ),
    "used but not stated: x is not zero (something is divided by it). Without it, at x = 0, y = 0: left = undefined (a division "
    "by zero), right = 0. State it with given=[nonzero(x)], or avoid needing it": lambda D: D.identity("claim", x * y / x, y),
    "used but not stated: 1000000000*x - 1 is not zero (something is divided by it). Even with given=[nonzero(1000000000*x - 1)] "
    "it is rejected: the assumption '1000000000*x - 1 is not zero' is stated but not shown to be needed: the proof does not go through without "
    "it, but no counterexample was found. Prove the claim without it, or give one with without={nonzero(1000000000*x - 1): {x: ...}}": lambda D: (
        D.identity("claim", x**3 / x / (10**9 * x - 1) * (10**9 * x - 1), x**2, given=[nonzero(x)])
    ),
    "the assumption 'x is not zero' is stated but not shown to be needed: the proof goes through without it. Drop it": lambda D: D.identity(
        "claim", x * (y + 1), x * y + x, given=[nonzero(x)]
    ),
    "without={...} does not show that the assumption 'x is not zero' is needed: at the given values both sides are equal: 1 = 1; the "
    "assumption holds there, so choose values that break it": lambda D: D.identity(
        "claim", x * y / x, y, given=[nonzero(x)], without={nonzero(x): {x: 1, y: 1}}
    ),
    "without={...} does not show that the assumption 'y is not negative' is needed: at the given values the left side is at most the right "
    "one: 0 and 1; the assumption holds there, so choose values that break it": lambda D: D.inequality(
        "claim", 0 * x, x**2 * y, because=y * x**2, given=[nonnegative(y)], without={nonnegative(y): {x: 1, y: 1}}
    ),
    "without={...} does not show that the assumption 'y is not negative' is needed: at the given values the left side is at most the "
    "right one: 0 = 0": lambda D: D.inequality(
        "claim", 0 * x, x**2 * y, because=y * x**2, given=[nonnegative(y)], without={nonnegative(y): {x: 0, y: -1}}
    ),
    "without={...} does not show that the assumption 'x is not zero' is needed: the values break an assumption: y is not zero; there y = "
    "0": lambda D: D.identity("claim", x * y / x / y, 1, given=[nonzero(x), nonzero(y)], without={nonzero(x): {x: 0, y: 0}}),
    "without={...} does not show that the assumption 'z[l] is not zero, for every l' is needed: the values break an assumption: v[l] is "
    "not zero, for every l; there v[l] = 0, l = 2": lambda D: D.identity(
        "claim",
        x * z[l] * v[l] / z[l] / v[l],
        x,
        given=[nonzero(z[l]), nonzero(v[l])],
        without={nonzero(z[l]): {x: 1, z: [0, 1], v: [1, 0]}},
    ),
    "without={...} does not show that the assumption 'C is invertible' is needed: the values break an assumption: the product of A and B "
    "is zero; there it is [[1]]": lambda D: D.identity(
        "claim",
        A @ B + inverse(C) @ C,
        eye(n),
        given=[invertible(C), product_is(A, B, 0)],
        without={invertible(C): {A: [[1]], B: [[1]], C: [[0]]}},
    ),
    "its assumptions were found to leave one value only, B = [[0]]: what is claimed is said of that value, and of no other. Write it in, "
    "or assume less": lambda D: D.identity(
        "claim", inverse(A) @ (A @ B) + inverse(A) @ A, eye(n), given=[invertible(A), product_is(A, B, 0)]
    ),
    "without={...} does not show that the assumption 'z[l] is not zero, for every l' is needed: the values disagree about the size n: z "
    "has 2 entries, and v has 1 entry": lambda D: D.identity(
        "claim", z[l] * v[l] / z[l], v[l], given=[nonzero(z[l])], without={nonzero(z[l]): {z: [0, 1], v: [1]}}
    ),
    "without={...} does not show that the assumption 'z[l] is not zero, for every l' is needed: the index l takes the values 1 to n, which "
    "is 2 here, and 3 is not one of them": lambda D: D.identity(
        "claim", z[l] * x / z[l], x, given=[nonzero(z[l])], without={nonzero(z[l]): {z: [0, 1], x: 1, l: 3}}
    ),
    "the assumption '1000000000*x - 1 is not zero' is stated but not shown to be needed: the proof does not go through without it, but no "
    "counterexample was found. Prove the claim without it, or give one with without={nonzero(1000000000*x - 1): {x: ...}}": lambda D: (
        D.identity("claim", x**2 * (10**9 * x - 1) / (10**9 * x - 1), x**2, given=[nonzero(10**9 * x - 1)])
    ),
    "an inequality between numbers needs one certificate, because=..., a number that is visibly not negative": [
        lambda D: D.inequality("claim", 2 * x * y, x**2 + y**2, because=(x**2, y**2)),
        lambda D: D.inequality("claim", x, x + 1, because=z),
        lambda D: D.inequality("claim", 0 * z, exp(z), because=exp(x)),
    ],
    "false: at z = [-1]: left = [0], right = [-1], where 0*z was to be at most z": lambda D: D.inequality("claim", 0 * z, z, because=z),
    "the certificate repeats the difference of the two sides; write it as something visibly not negative": lambda D: D.inequality(
        "claim", 2 * x * y, x**2 + y**2, because=x**2 + y**2 - 2 * x * y
    ),
    "the certificate (x^2 + 1)*(x^2 - x + 1) is not visibly non-negative: nothing says that its part x^2 - x + 1 is not negative; "
    "write that part as a sum or a product of squares, exponentials, absolute values and what is "
    "stated": lambda D: D.inequality("claim", x**3 + x, x**4 + 2 * x**2 + 1, because=(x**2 + 1) * (x**2 - x + 1)),
    "the certificate x^2 + (x^2 - x + 1)^3 is not visibly non-negative: nothing says that its part x^2 - x + 1 is not negative; "
    "write that part as a sum or a product of squares, exponentials, absolute values and what is "
    "stated": lambda D: D.inequality("claim", 0 * x, (x**2 - x + 1) ** 3 + x**2, because=x**2 + (x**2 - x + 1) ** 3),
    "the certificate sum(z[l]^2*(v[l]^2 - v[l] + 1), l = 1..n) is not visibly non-negative: nothing says that its part v[l]^2 - v[l] + 1 is "
    "not negative; write that part as a sum or a product of squares, exponentials, absolute "
    "values and what is stated": lambda D: D.inequality(
        "claim", 0 * x, total((v[l] ** 2 - v[l] + 1) * z[l] ** 2, l), because=total(z[l] ** 2 * (v[l] ** 2 - v[l] + 1), l)
    ),
    "the certificate (-x^2)*(-(x^2 - x + 1)) is not visibly non-negative: its part -x^2 is never positive, whatever the values; write it as a sum or a "
    "product of squares, exponentials, absolute values and what is stated": lambda D: D.inequality(
        "claim", 0 * x, x**2 * (x**2 - x + 1), because=-(x**2) * -(x**2 - x + 1)
    ),
    "right - left is not the certificate (x + y)^2; they differ by -4*x*y": lambda D: D.inequality(
        "claim", 2 * x * y, x**2 + y**2, because=(x + y) ** 2
    ),
    "the certificate x^2 - 2*x*y + y^2 is not visibly non-negative: nothing says that it is not negative; write it as a sum or a product "
    "of squares, exponentials, absolute values and what is stated": lambda D: D.inequality(
        "claim", 2 * x * y, x**2 + y**2, because=x**2 - 2 * x * y + y**2
    ),
    "complex numbers have no order": lambda D: D.inequality("claim", I, I + x**2, because=x * x),
    "a bound on a rank needs a factorisation, because=(A, B)": lambda D: D.inequality("claim", rank(U @ U.T), m, because=U),
    "the factorisation goes through m columns, not n": lambda D: D.inequality("claim", rank(U @ U.T), n, because=(U, U.T)),
    "2*U @ Uᵀ is not U @ Uᵀ: they differ by -sum(U[i, k]*U[j, k], k = 1..m), in entry [i, j]": lambda D: D.inequality(
        "claim", rank(U @ U.T), m, because=(2 * U, U.T)
    ),
    "as d -> oo the series gives another limit: 1, not 2; they differ by -1": lambda D: D.limit("claim", (d + 1) / d, d, "oo", 2),
    "a limit in n, which is the size of a sum or a tensor here": [
        lambda D: D.limit("claim", total(z[i], i) / n, n, "oo", 0),
        lambda D: D.limit("claim", z @ z / n, n, "oo", 0),
        lambda D: D.limit("claim", total(x, i) / n, n, "oo", x),
        lambda D: D.limit("claim", i / n, n, "oo", 0),
    ],
    "a limit that still contains d": lambda D: D.limit("claim", x / d, d, "oo", 1 / d),
    "an assumption about d, which moves: 'd - x is positive' is said of a point, and need not hold on the way": lambda D: D.limit(
        "claim", x / d, d, "oo", 0, given=[positive(d - x)]
    ),
    "an assumption about n, which moves: '131072*x - sum(1, i = 1..n) is positive' is said of a point, and need not hold on the way": lambda D: (
        D.limit("claim", exp(log(2**17 * x - n)) / n, n, "oo", -1, given=[positive(2**17 * x - total(1, i))])
    ),
    "at the given values both sides are equal: 1 = 1; it is no counterexample": [
        lambda D: D.refute("claim", x, y, at={x: 1, y: 1}),
        lambda D: D.refute("claim", Var(q @ k), d**2, at={d: 1}, given=standard),
    ],
    "at the given values the two sides are not certainly different: 2.71828… and 2.71828…; it is no counterexample": lambda D: D.refute(
        "claim", exp(x), exp(2 * x - 1), at={x: 1}
    ),
    "at the given values the left side is at most the right one: 1 = 1; it is no counterexample": [
        lambda D: D.refute("claim", x, y, at={x: 1, y: 1}, relation="<="),
        lambda D: D.refute("claim", E(q @ q), d, at={d: 1}, given=[mean(q, 0), variance(q, 1)], relation="<="),
    ],
    "the left side is undefined at the given values: a division by zero": lambda D: D.refute("claim", 1 / x, x, at={x: 0}),
    "the values break an assumption: x - 1 is positive; there x - 1 = 0": lambda D: D.refute(
        "claim", x, y, at={x: 1, y: 2}, given=[positive(x - 1)]
    ),
    "a value is given for z, which the claim does not mention": lambda D: D.refute("claim", x, y, at={x: 1, y: 2, z: [1]}),
    "without={...} does not show that the assumption 'x is not zero' is needed: a value is given for z, which the claim does not "
    "mention": lambda D: D.identity("claim", x * y / x, y, given=[nonzero(x)], without={nonzero(x): {z: [1]}}),
    "a value is given for l, which is summed over: it takes each of its values": lambda D: D.refute(
        "claim", total(z[l], l), x, at={z: [1], x: 2, l: 1}
    ),
    "a value is given for l, which stands in an assumption only: that is about each of its values": lambda D: D.refute(
        "claim", z[i], x, at={z: [1], x: 2, i: 1, l: 1}, given=[positive(z[l])]
    ),
    "the index i takes the values 1 to n, which is 2 here, and 0 is not one of them": lambda D: D.refute(
        "claim", z[i], x, at={z: [1, 2], x: 2, i: 0}
    ),
    "at the given values both sides are equal: 2 = 2; it is no counterexample": lambda D: D.refute(
        "claim", z[i], x, at={z: [1, 2], x: 2, i: 2}
    ),
    "z[i]*2 has the open index i, and a name holds no index: define the whole vector or matrix, such as z * g or A @ B or each(z[i]**2, i), and "
    "take its entry where the name is used, or write the sum out with total(...)": lambda D: D.define("p", z[i] * 2, id="claim"),
    "as x -> oo: the expression has no finite limit: it grows like x^2/y": lambda D: D.limit(
        "claim", x**2 / y + x, x, "oo", 3, given=[nonzero(y)]
    ),
    "as x -> 0: the expression has no finite limit: it grows like 2/x": lambda D: D.limit("claim", 2 / x, x, 0, 3, given=[nonzero(x)]),
    "as x -> oo: the expression has no finite limit: it grows like 2*log(x)": lambda D: D.limit(
        "claim", log(x**2 + y**2), x, "oo", 3, given=[positive(x)]
    ),
    "as x -> oo: the expression has no finite limit: it grows like exp(x^2)": lambda D: D.limit("claim", exp(x**2), x, "oo", 3),
    "used but not stated: v[l] - 1 is not zero (something is divided by it). Without it, at v = [1], z = [0]: left = undefined (a division "
    "by zero), right = 0. State it with given=[nonzero(v[l] - 1)], or avoid needing it": lambda D: D.identity(
        "claim", total(z[l] * (v[l] - 1) / (v[l] - 1), l), total(z[l], l)
    ),
    "used but not stated: sum(z[l]^2, l = 1..n) - sum(z[l], l = 1..n) is not zero (something is divided by it). Without it, at z = [0]: "
    "left = undefined (a division by zero), right = 1. State it with given=[nonzero(total(z[l]**2, l) - total(z[l], l))], or avoid "
    "needing it": lambda D: D.identity("claim", (total(z[l] ** 2, l) - total(z[l], l)) / (z @ z - total(z[l], l)), 1),
    "false: at d = 1, x = 1: left = 1, right = 2, where x*d was to be equal to x*d + x": lambda D: D.identity("claim", x * d, x * d + x),
    "q is random and has no value; state its distribution with given=[...]": lambda D: D.refute("claim", E(q @ q), d, at={q: [1]}),
    "the size n is a positive integer": [
        lambda D: D.refute("claim", x * n, x, at={n: 0, x: 1}),
        lambda D: D.refute("claim", x * n, x, at={n: Fraction(3, 2), x: 1}),
        lambda D: D.refute("claim", x * n, x, at={n: [1], x: 1}),
    ],
    "the values disagree about the size n: z has 2 entries, and n = 1 is given": lambda D: D.refute(
        "claim",
        z,
        1 * z,
        at={z: [1, 2], n: 1},  # a true identity, were the array cut short
    ),
    "the values disagree about the size n: z has 2 entries, and n = 3 is given": lambda D: D.refute(
        "claim", z, 1 * z, at={z: [1, 2], n: 3}
    ),
    "the values disagree about the size n: A has 2 rows, and B has 1 row": lambda D: D.refute(
        "claim", A, B, at={A: [[1, 2], [3, 4]], B: [[2]]}
    ),
    "the values disagree about the size n: A has 1 row, and A has 2 columns": lambda D: D.refute("claim", A, B, at={A: [[1, 2]], B: [[2]]}),
    "the values disagree about the size 3: v has 2 entries": lambda D: D.refute(
        "claim", vector("v", 3), 2 * vector("v", 3), at={vector("v", 3): [1, 2]}
    ),
    "no value is given for n, y": lambda D: D.refute("claim", x * n, y, at={x: 1}),
    "a value holds y, which has no value itself": lambda D: D.refute("claim", x, 2 * x, at={x: y}),
    "a value holds n, which has no value itself": lambda D: D.refute("claim", x, 2 * x, at={x: n}),
    "a value is undefined: a division by zero": lambda D: D.refute("claim", x, 2 * x, at={x: lift(1) / 0}),
    "the value I is not a real number": lambda D: D.refute("claim", x, 2 * x, at={x: I}),
    "the value ones(2) is not a real number": lambda D: D.refute("claim", x, 2 * x, at={x: ones(2)}),
    "the values break an assumption: x is positive; there x = -1": lambda D: D.refute(
        "claim", E(x * q[1]), x, at={d: 1, x: -1}, given=[mean(q, 0), positive(x)]
    ),
    "the values break an assumption: each entry of q has variance x": lambda D: D.refute(
        "claim", E(q[1] ** 2), 1, at={d: 1, x: -1}, given=[mean(q, 0), variance(q, x)]
    ),
    "the assumption 'each entry of q has variance 1' is stated but not shown to be needed: the sides have the same values without it. "
    "Drop it": lambda D: D.refute("claim", E(q[1]), 1, at={d: 1}, given=[mean(q, 0), variance(q, 1)]),
    "the mean of q is stated twice": lambda D: D.identity("claim", E(q[1]), 0, given=[mean(q, 0), mean(q, 1)]),
    "the variance of q is stated twice": lambda D: D.identity("claim", E(q[1]), 0, given=[mean(q, 0), variance(q, 0), variance(q, 1)]),
    "its steps are not those of a claim of kind 'limit'": lambda D: D._add_claim("limit", "claim", x, [("=", y, "")]),
    "its steps are not those of a claim of kind 'inequality'": lambda D: D._add_claim(
        "inequality", "claim", x, [("<=", y, ""), ("<=", y, "")]
    ),
    "its steps are not those of a claim of kind 'identity'": lambda D: D._add_claim("identity", "claim", x, []),
    "its steps are not those of a claim of kind 'definition'": [
        lambda D: D._add_claim("definition", "claim", p, [(":=", x + 2, "")]),
        lambda D: D._add_claim("definition", "claim", x, [(":=", x + 2, "")]),
    ],
    "as x -> oo: the exponential of something that grows like -exp(x)": lambda D: D.limit("claim", exp(-exp(x)), x, "oo", 0),
    "as x -> oo: the logarithm of a logarithm that grows without bound": lambda D: D.limit("claim", log(log(x + 1)) / x, x, "oo", 0),
    "used but not stated: y is positive (the limit depends on its sign). Without it, at y = 0 the series gives 1 as x -> oo, and 0 is stated. "
    "State it with given=[positive(y)], or avoid needing it": lambda D: D.limit("claim", exp(-y * x), x, "oo", 0),
    "without={...} does not show that the assumption 'y is not zero' is needed: at the given values the left side goes to 1 as x -> 0, and "
    "the right side is 1; the assumption holds there, so choose values that break it": lambda D: D.limit(
        "claim", y / (y + x), x, 0, 1, given=[nonzero(y)], without={nonzero(y): {y: 2}}
    ),
    "no values were found, with n = 1, at which all its assumptions hold: they may contradict each other there. Rule such sizes out, as in "
    "nonnegative(n - 2)": lambda D: D.identity("claim", x * SPREAD / SPREAD, x, given=[nonzero(SPREAD)]),
    # calls
    "identity takes no keyword titel; did you mean title? It takes id, left, right, reason, title, given, uses, without, code": lambda D: (
        D.identity("claim", x * y, y * x, titel="A title")
    ),
    "chain takes no keyword use; did you mean uses? It takes id, start, title, given, uses, without, code": lambda D: D.chain(
        "claim", x * y, (y * x, "swap"), use=["first"]
    ),
    "identity takes no keyword zzz; it takes id, left, right, reason, title, given, uses, without, code": lambda D: D.identity(
        "claim", x * y, y * x, zzz=1
    ),
    "inequality(...): missing a required argument: 'because'; it is inequality(id, left, right, because, reason='', *, title='', "
    "given=(), uses=(), without=None, code=())": lambda D: D.inequality("claim", x, x + y**2),
    "identity(...): too many positional arguments; it is identity(id, left, right, reason='', *, title='', given=(), uses=(), "
    "without=None, code=())": lambda D: D.identity("claim", x * y, y * x, "why", [], "title"),
    "define takes no keyword giben; did you mean given? It takes name, body, title, id, given, uses, without, code": lambda D: D.define(
        "p", x + 1, id="claim", giben=[]
    ),
    # claims from SymPy
    "vacuous: SymPy made this equation True when it was built, so there is nothing left to prove. Keep what is written: "
    "Eq(Transpose(MatMul(A, B)), MatMul(Transpose(B), Transpose(A)), evaluate=False), or `with evaluate(False):` around sums and "
    "products": lambda D: D.identity("claim", sp.Eq(X, X)),
    "x < y is strict, and only <= can be stated; Le(a, b) is a <= b": lambda D: D.inequality("claim", sp.Lt(X, Y), because=X),
    "x <= y says <=: an identity is stated by Eq(a, b); inequality(...) takes Le, refute(...) takes Ne": lambda D: D.identity(
        "claim", sp.Le(X, Y)
    ),
    "the counterexample breaks what SymPy assumes: r is positive. Give other values, or make the symbol with real=True alone": lambda D: (
        D.refute("claim", sp.Ne(X * R, R), at={X: 2, R: -1})
    ),
}


@pytest.mark.parametrize("state, says", cases(WHEN_CHECKED))
def test_message_of_a_rejected_claim(state, says, rejection):
    assert rejection(state).message == says


NO_VALUE = {
    "an array of another depth": (
        lambda D: D.refute("claim", A, B, at={A: [1], B: [[1]]}),
        "the value of A is not an array of shape (n, n)",
    ),
    "a ragged array": (
        lambda D: D.refute("claim", A, B, at={A: [[1, 2], [3]], B: [[1]]}),
        "the value of A is not an array of shape (n, n)",
    ),
    "an empty array": (lambda D: D.refute("claim", z, 2 * z, at={z: []}), "the value of z is not an array of shape (n)"),
    "an open index": (
        lambda D: D.refute("claim", z[i], 2 * z[i], at={z: [1, 2]}),
        "no value is given for the index i; give it one of 1, 2, ... with at={i: 1}",
    ),
    "a moment": (
        lambda D: D.refute("claim", Var(q @ q), d, at={d: 1}, given=[mean(q, 0), variance(q, 1), independent(q), has_moment(q, 4)]),
        "the value depends on E[q^4], which is not stated",
    ),
    "a mean": (
        lambda D: D.refute("claim", E(q[1]), d, at={d: 1}, given=[variance(q, 1)]),
        "the value depends on E[q], which is not stated",
    ),
    "a third moment": (
        lambda D: D.refute("claim", E(q[1] ** 3), d, at={d: 1}, given=[mean(q, 1), variance(q, 1), has_moment(q, 3)]),
        "the value depends on E[q^3], which is not stated",
    ),
}


@pytest.mark.parametrize("state, says", NO_VALUE.values(), ids=NO_VALUE)
def test_message_of_a_missing_value(state, says, rejection):
    assert rejection(state).message == says


LONG = {
    "an equality": (
        lambda D: D.identity("claim", x * (x**2 - 1) * (x - 2) * (x + 2) * (x - 3) * (2 * x - 1) * (2 * x * 2 - 1), 0 * x),
        "not proved: left - right has the normal form {}, and no small counterexample was found",
        400,
    ),
    "an inequality": (
        lambda D: D.inequality("claim", 2 * x * y, x**2 + y**2, because=(x + y) ** 2),
        "right - left is not the certificate (x + y)^2; they differ by {}",
        300,
    ),
    "a rank": (lambda D: D.inequality("claim", rank(U @ U.T), m, because=(2 * U, U.T)), "2*U @ Uᵀ is not U @ Uᵀ: they differ by {}", 300),
    "a limit": (
        lambda D: D.limit("claim", (d + 1) / d, d, "oo", 2),
        "as d -> oo the series gives another limit: {0}, not 2; they differ by {0}",
        300,
    ),
}


@pytest.mark.parametrize("state, says, length", LONG.values(), ids=LONG)
def test_a_long_polynomial_is_cut(state, says, length, rejection, monkeypatch):
    monkeypatch.setattr(proofs, "show_polynomial", lambda p, *near: "p + " * 1000)
    said = "p + " * (length // 4 - 1) + "p …"
    assert len(said) <= length and rejection(state).message == says.format(said)


@pytest.mark.parametrize(
    "use, says",
    [
        (bool, "an expression is neither true nor false; state a claim about it"),
        (list, "an expression cannot be iterated over; a sum is written total(x[i], i)"),
    ],
)
def test_an_expression_is_not_a_truth_value_or_a_list(use, says):
    with pytest.raises(TypeError, match=f"^{re.escape(says)}$"):
        use(x)


def test_the_page_about_attempts_quotes_the_refusal_of_an_expression_compared_with_itself():
    n, d, d_k = sizes("n d d_k")
    A, Q, K = matrix("A", n, d), matrix("Q", d, d_k), matrix("K", d, d_k)
    attempt = Derivation("Without a bracket")
    attempt.identity("bracket", paren(A @ Q) @ (A @ K).T, A @ Q @ (A @ K).T)
    with pytest.raises(Rejected) as caught:
        exact(attempt.claims[0])
    page = Path(__file__).parents[2] / "docs" / "simplify" / "attempts.md"
    said = caught.value.message.partition(":")[0]
    assert f"this site's checker refuses it as {said}." in " ".join(page.read_text(encoding="utf-8").split())
