"""Printed formulas mean the same as the tree: brackets where they are needed, and every operation in both notations."""

import re
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from math_core import LatexToMathML

from derivations.kernel import (
    E,
    I,
    Var,
    absolute,
    array,
    diff,
    each,
    exp,
    eye,
    index,
    inverse,
    log,
    matrix,
    paren,
    random,
    rank,
    rounded,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
    where,
    zeros,
)
from derivations.kernel.check import claim_records
from derivations.kernel.core import claims
from derivations.kernel.core.expr import Expr, lift
from derivations.kernel.core.operators import OPERATORS
from derivations.kernel.exact.exact_evaluation import evaluate
from derivations.kernel.exact.flint_numbers import Undefined, to_fmpq, to_fraction
from derivations.kernel.printing.latex import latex
from derivations.kernel.printing.plain_text import plain
from derivations.kernel.script.claim_latex import relation_latex
from derivations.kernel.script.loading import load_script
from derivations.kernel.store import certificates, project_files
from tests.kernel.common import has_code

varied = settings(derandomize=True, deadline=None, database=None, max_examples=400, suppress_health_check=list(HealthCheck))
CONVERT = LatexToMathML()

n = sizes("n")
x, y, z = scalars("x y z")
A, B, C = (matrix(name, n, n) for name in "ABC")
u, v = vector("u", n), vector("v", n)
r = random("r", n)
i, j = index("i", n), index("j", n)

EVERY = {
    "const": (lift(3), "3", "3"),
    "imaginary": (I, r"\mathrm{i}", "I"),
    "symbol": (matrix("W_Q", n, n), "W_{Q}", "W_Q"),
    "index": (i + 0, "i + 0", "i + 0"),
    "defined": (Expr("defined", (x + 1,), (), ("p", "defined")), "p", "p"),
    "paren": (paren(x), r"\left(x\right)", "(x)"),
    "add": (x + y, "x + y", "x + y"),
    "neg": (-x, "-x", "-x"),
    "mul": (x * y, "x y", "x*y"),
    "div": (x / y, r"\frac{x}{y}", "x/y"),
    "pow": (x**3, "x^{3}", "x^3"),
    "matmul": (A @ B, "A B", "A @ B"),
    "transpose": (A.T, r"A^{\top}", "Aᵀ"),
    "inverse": (inverse(A), "A^{-1}", "A⁻¹"),
    "eye": (eye(n), "I", "eye(n)"),
    "fill": (zeros(n, n), r"\mathbf{0}_{n \times n}", "zeros(n, n)"),
    "array": (array([[x, 1], [0, y]]), r"\begin{pmatrix}x & 1 \\ 0 & y\end{pmatrix}", "[[x, 1], [0, y]]"),
    "sum": (total(u[i], i), r"\sum_{i = 1}^{n} u_{i}", "sum(u[i], i = 1..n)"),
    "each": (each(A[j, i], i, j), r"\left(A_{j i}\right)_{i = 1, j = 1}^{n, n}", "each(A[j, i], i = 1..n, j = 1..n)"),
    "entry": (A[i, j], "A_{i j}", "A[i, j]"),
    "function": (log(x), r"\log\left(x\right)", "log(x)"),
    "softmax": (softmax(u), r"\operatorname{softmax}\left(u\right)", "softmax(u)"),
    "expectation": (E(r[1]), r"\operatorname{E}\left[r_{1}\right]", "E[r[1]]"),
    "variance": (Var(r[1]), r"\operatorname{Var}\left(r_{1}\right)", "Var(r[1])"),
    "derivative": (diff(x, x), r"\frac{\partial x}{\partial x}", "d(x)/d(x)"),
    "rounded": (rounded(x), r"\operatorname{fl}\left(x\right)", "fl(x)"),
    "rank": (rank(A), r"\operatorname{rank}\left(A\right)", "rank(A)"),
    "where": (where(x, i <= j), r"\begin{cases} x & i \le j \\ 0 & \text{otherwise} \end{cases}", "where(x, i <= j)"),
}


def unsized(text):
    """LaTeX without what sets only how large a bracket is, and how wide a space."""
    return text.replace(r"\left", "").replace(r"\right", "").replace(r" \, ", " ")


def test_every_operator_is_printed_here():
    assert OPERATORS.keys() == EVERY.keys()


@pytest.mark.parametrize("e, in_latex, in_plain", EVERY.values(), ids=EVERY)
def test_an_operation_is_printed(e, in_latex, in_plain):
    assert (unsized(latex(e)), plain(e)) == (unsized(in_latex), in_plain)
    assert CONVERT.convert_with_local_state(latex(e), displaystyle=True).startswith("<math")


def test_an_unknown_operation_is_named():
    from derivations.kernel.errors import KernelError

    for show in (latex, plain):
        with pytest.raises(KernelError, check=has_code("not-printable")):
            show(Expr("frobnicate", (x,)))


# Brackets -----------------------------------------------------------------------------------------------------------------------

BRACKETS = {
    "a sum in a product": (x * (y + z), r"x \cdot \left(y + z\right)"),
    "a product in a sum": (x * y + z, "x y + z"),
    "a sum taken away": (x - (y + z), r"x - \left(y + z\right)"),
    "a difference taken away": (x - (y - z), r"x - \left(y - z\right)"),
    "a negative factor": (x * -y, r"x \cdot \left(-y\right)"),
    "a negative base": ((-x) ** 2, r"\left(-x\right)^{2}"),
    "the negative of a power": (-(x**2), "-x^{2}"),
    "a number as a base": (lift(-2) ** 2, r"\left(-2\right)^{2}"),
    "a fraction as a base": (lift(Fraction(1, 2)) ** 2, r"\left(\frac{1}{2}\right)^{2}"),
    "a power of a power": ((x**2) ** 3, r"\left(x^{2}\right)^{3}"),
    "a power as an exponent": (x ** (y**z), "x^{y^{z}}"),
    "a product as a base": ((x * y) ** 2, r"\left(x y\right)^{2}"),
    "a quotient as a base": ((x / y) ** 2, r"\left(\frac{x}{y}\right)^{2}"),
    "a power of an exponential": (exp(x) ** 2, r"\left(e^{x}\right)^{2}"),
    "a product of products": (A @ (B @ C), r"A \left(B C\right)"),
    "products from the left": (A @ B @ C, "A B C"),
    "a transpose of a product": ((A @ B).T, r"\left(A B\right)^{\top}"),
    "a transpose of a sum": ((A + B).T, r"\left(A + B\right)^{\top}"),
    "a transpose of a transpose": (A.T.T, r"\left(A^{\top}\right)^{\top}"),
    "an inverse of a product": (inverse(A @ B), r"\left(A B\right)^{-1}"),
    "an inverse of a transpose": (inverse(A.T), r"A^{-\top}"),
    "a transpose of an inverse": (inverse(A).T, r"\left(A^{-1}\right)^{\top}"),
    "a sum times a matrix": ((A + B) @ C, r"\left(A + B\right) C"),
    "a negative matrix": (A @ -B, r"A \left(-B\right)"),
    "an entry of a product": ((A @ B)[i, j], r"\left(A B\right)_{i j}"),
    "an entry of a symbol with a subscript": (vector("v_a", n)[i], r"\left(v_{a}\right)_{i}"),
    "a sum over an index of a sum": (total(u[i] + v[i], i), r"\sum_{i = 1}^{n} \left(u_{i} + v_{i}\right)"),
    "a sum over an index times a number": (total(u[i], i) * x, r"\left(\sum_{i = 1}^{n} u_{i}\right) \, x"),
    "a number times a sum over an index": (x * total(u[i], i), r"x \cdot \left(\sum_{i = 1}^{n} u_{i}\right)"),
    "a power of a sum over an index": (total(u[i], i) ** 2, r"\left(\sum_{i = 1}^{n} u_{i}\right)^{2}"),
    "two numbers": (lift(2) * 3, r"2 \cdot 3"),
    "a number and a power of one": (x * lift(2) ** y, r"x \cdot 2^{y}"),
    "a dot product": (u @ v, r"u \cdot v"),
    "a root": (sqrt(x + 1), r"\sqrt{x + 1}"),
    "an absolute value squared": (absolute(x) ** 2, r"\left|x\right|^{2}"),
}


@pytest.mark.parametrize("e, expected", BRACKETS.values(), ids=BRACKETS)
def test_brackets_stand_where_they_are_needed(e, expected):
    assert unsized(latex(e)) == unsized(expected)


def test_a_derivative_does_not_reach_over_the_next_factor():
    """d/dx e^x y would be read as d/dx (e^x y)."""
    assert latex(diff(exp(x), x) * y) != unsized(latex(diff(exp(x) * y, x))).replace("(", "").replace(")", "")


d, delta = scalars("d delta")
QUOTIENTS = [
    (d / (d * x), r"\frac{d}{d \cdot x}"),
    (d * y / (d * x), r"\frac{d \cdot y}{d \cdot x}"),
    (d**2 * y / (d * x**2), r"\frac{d^{2} \cdot y}{d \cdot x^{2}}"),
    (2 * d * x**2 / (d * x), r"\frac{2 d \cdot x^{2}}{d \cdot x}"),
    (y * (d * x) / (d * (x * y)), r"\frac{y \cdot (d \cdot x)}{d \cdot (x y)}"),
    (index("d", n) / (index("d", n) * x) * x**2, r"\frac{d}{d \cdot x} x^{2}"),
    (sizes("d") * x / (sizes("d") * y), r"\frac{d \cdot x}{d \cdot y}"),
    (delta * total(u[i], i) / (delta * x), r"\frac{\delta \cdot \left(\sum_{i = 1}^{n} u_{i}\right)}{\delta \cdot x}"),
    ((d + x) / (d * x), r"\frac{d + x}{d \cdot x}"),
    (x / (x * d), r"\frac{x}{x d}"),
    (d / d, r"\frac{d}{d}"),
]


@pytest.mark.parametrize("e, expected", QUOTIENTS)
def test_a_quotient_is_not_read_as_a_derivative(e, expected):
    assert latex(e).replace(r"\left", "").replace(r"\right", "") == expected.replace(r"\left", "").replace(r"\right", "")


@pytest.mark.parametrize("name, shown", [*zip("EPdDO", "EPdDO"), ("delta", r"\delta"), ("Delta", r"\Delta"), ("P_n", "P_{n}")])
def test_a_number_that_reads_as_an_operator_has_its_sign(name, shown):
    number = scalars(name)
    assert latex(number * x * number * y) == rf"{shown} \cdot x {shown} \cdot y"
    assert latex(x * number) == rf"x {shown}"


def test_what_is_no_operator_stands_as_it_did():
    assert latex(sizes("d_k") * x) == "d_{k} x" and latex(matrix("P", n, n) @ A) == "P A"


DIFFERENT = {
    "indices of two digits": (matrix("H", 20, 20)[1, 12], matrix("H", 20, 20)[11, 2]),
    "groupings of products": (A @ (B @ C), (A @ B) @ C),
    "groupings of sums": (x + (y + z), (x + y) + z),
}


@pytest.mark.parametrize("one, other", DIFFERENT.values(), ids=DIFFERENT)
def test_two_trees_that_differ_are_printed_differently(one, other):
    """Spaces do not count: LaTeX ignores them."""
    assert latex(one).replace(" ", "") != latex(other).replace(" ", "") and plain(one) != plain(other)


@st.composite
def trees(draw, depth=4):
    """A scalar expression in x, y, z with exact values."""
    kind = draw(st.sampled_from(["leaf"] + ["add", "sub", "mul", "div", "neg", "pow", "paren"] * bool(depth)))
    if kind == "leaf":
        return draw(st.sampled_from([x, y, z, lift(2), lift(-3), lift(Fraction(1, 2)), lift(Fraction(-2, 3)), lift(0)]))
    left = draw(trees(depth - 1))
    if kind == "neg":
        return -left
    if kind == "paren":
        return paren(left)
    if kind == "pow":
        return left ** draw(st.sampled_from([0, 1, 2, 3, -1, -2]))
    right = draw(trees(depth - 1))
    return {"add": lambda: left + right, "sub": lambda: left - right, "mul": lambda: left * right, "div": lambda: left / right}[kind]()


AT = {"x": Fraction(3, 2), "y": Fraction(-5, 7), "z": Fraction(11)}


def value(e):
    return to_fraction(evaluate(e, {name: {(): to_fmpq(q)} for name, q in AT.items()})[()])


def braces(text, at):
    """The place behind the group that opens at `at`."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return place + 1
    raise AssertionError(f"{text} has an open brace")


def from_latex(text):
    """LaTeX of a rational expression as Python, read as a mathematician reads it: what stands side by side is multiplied."""
    text = text.replace(r"\left", "").replace(r"\right", "").replace(r"\cdot", "*").replace(r"\,", " ")
    while (start := text.find(r"\frac")) >= 0:
        middle = braces(text, start + 5)
        end = braces(text, middle)
        text = f"{text[:start]}(({text[start + 6 : middle - 1]})/({text[middle + 1 : end - 1]})){text[end:]}"
    while (start := text.find("^{")) >= 0:
        end = braces(text, start + 1)
        text = f"{text[:start]}**({text[start + 2 : end - 1]}){text[end:]}"
    text = re.sub(r"(?<=[\w)])\s+(?=[\w(])", "*", text)
    return re.sub(r"\d+", r"Fraction(\g<0>)", text)


@varied
@given(trees())
def test_plain_text_read_as_python_has_the_value_of_the_tree(e):
    try:
        expected = value(e)
    except Undefined:
        return
    assert eval(re.sub(r"\d+", r"Fraction(\g<0>)", plain(e).replace("^", "**")), {"Fraction": Fraction, **AT}) == expected, plain(e)


@varied
@given(trees())
def test_latex_read_back_has_the_value_of_the_tree(e):
    try:
        expected = value(e)
    except Undefined:
        return
    assert eval(from_latex(latex(e)), {"Fraction": Fraction, **AT}) == expected, latex(e)


# The site's own claims -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("topic", certificates.topics())
def test_every_formula_of_a_topic_can_be_shown(topic):
    problem = load_script(project_files.ROOT / "derivations" / f"{topic}.py")
    assert problem is None
    for claim in claims.LOADED[0].claims:
        formulas = [latex(tree) for tree in claim.trees] + [relation_latex(claim, step) for step in claim.steps]
        formulas += [claim_records.value_latex(at) for _, at in claim.at]
        for formula in formulas:
            assert CONVERT.convert_with_local_state(formula, displaystyle=True).startswith("<math"), formula
