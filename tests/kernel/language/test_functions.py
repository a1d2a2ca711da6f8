"""cos, sin, tanh and norm: what each witness does with them, how they are printed, and roots of squares, which are absolute values."""

from fractions import Fraction

import pytest
from mpmath import mp, mpf

from derivations.kernel import (
    Derivation,
    E,
    I,
    absolute,
    array,
    cos,
    diff,
    exp,
    index,
    matrix,
    nonnegative,
    nonzero,
    norm,
    positive,
    random,
    scalars,
    sin,
    sizes,
    sqrt,
    tanh,
    total,
    vector,
)
from derivations.kernel.attack.mpmath_evaluation import evaluate_entry
from derivations.kernel.errors import KernelError
from derivations.kernel.printing.latex import latex
from derivations.kernel.printing.plain_text import plain
from derivations.kernel.printing.script_text import script
from derivations.kernel.pytorch.witness import witness as pytorch
from derivations.kernel.sympy.program import write_program
from tests.kernel.common import has_code

n, d = sizes("n d")
x, y, a = scalars("x y a")
z, q, k = vector("z", n), vector("q", d), vector("k", d)
i, j, l = index("i", n), index("j", d), index("l", d)

TRUE = {
    "a circle": (cos(x) ** 2 + sin(x) ** 2, 1 + 0 * x, []),
    "a cosine of a sum": (cos(x + y), cos(x) * cos(y) - sin(x) * sin(y), []),
    "a sine of a sum": (sin(x + y), sin(x) * cos(y) + cos(x) * sin(y), []),
    "a cosine is even": (cos(-x), cos(x), []),
    "a sine is odd": (sin(-x), -sin(x), []),
    "of each entry": (cos(x * z) @ cos(x * z) + sin(x * z) @ sin(x * z), n + 0 * x, []),
    "Euler": (exp(I * x), cos(x) + I * sin(x), []),
    "the slope of a sine": (diff(sin(x * y), x), y * cos(x * y), []),
    "the slope of a cosine": (diff(cos(x), x), -sin(x), []),
    "tanh as a quotient": (tanh(x), (exp(x) - exp(-x)) / (exp(x) + exp(-x)), []),
    "the slope of tanh": (diff(tanh(x), x), 1 - tanh(x) ** 2, []),
    "a squared length": (norm(q) ** 2, q @ q, []),
    "a length scaled": (norm(a * q), absolute(a) * norm(q), []),
    "the law of cosines": (norm(q - k) ** 2, norm(q) ** 2 + norm(k) ** 2 - 2 * (q @ k), []),
    "the length of a unit vector": (norm(q / norm(q)), 1 + 0 * x, [nonzero(norm(q))]),
    "the length of what is written out": (norm(array([cos(x), sin(x)])), 1 + 0 * x, []),
    "the slope of a length": (diff(norm(q), q[j]), q[j] / norm(q), [nonzero(q @ q)]),
    "a root of a square": (sqrt(x**2), absolute(x), []),
    "a root of a square times something": (sqrt(x**2 * y), absolute(x) * sqrt(y), [nonnegative(y)]),
    "a root below": (sqrt(1 / x**2), 1 / absolute(x), [nonzero(x)]),
    "a root of a fourth power": (sqrt(x**4), x**2, []),
    "a fourth root of a square": ((x**2) ** Fraction(1, 4), sqrt(absolute(x)), []),
    "a root of a cube of a square": ((x**2) ** Fraction(3, 2), absolute(x) ** 3, []),
    "a cube of a modulus": (absolute(x) ** 3, x**2 * absolute(x), []),
    "one over a cube of a modulus": (1 / absolute(x) ** 3, absolute(x) / x**4, [nonzero(x)]),
    "the modulus of a length": (absolute(norm(q + k)), norm(q + k), []),
    "the slope of the modulus of a length": (diff(absolute(norm(q + k)), q[j]), (q[j] + k[j]) / norm(q + k), [nonzero(norm(q + k))]),
    "the slope of a modulus that holds a sum": (
        diff(absolute(q @ k + x) * (q @ q), q[j]),
        2 * q[j] * absolute(q @ k + x) + k[j] * (q @ q) * (q @ k + x) / absolute(q @ k + x),
        [nonzero(q @ k + x)],
    ),
    "the slope of a power of a sum": (diff((q @ k + x) ** d, x), d * (q @ k + x) ** d / (q @ k + x), [nonzero(q @ k + x)]),
    "the slope of a power of a length": (diff(norm(q) ** (2 * d), q[j]), 2 * d * q[j] * norm(q) ** (2 * d) / (q @ q), [nonzero(norm(q))]),
    "a length that is scaled": (a * q / norm(a * q), q / norm(q), [positive(a), nonzero(norm(q))]),
    "a product, part by part": (x * y / x / y, 1 + 0 * x, [nonzero(x * y)]),
    "a product, at another place": (x * q[l] / (q[l] * x), 1 + 0 * x, [nonzero(x * q[j])]),
    "what is of a modulus": (x / x, 1 + 0 * x, [nonzero(absolute(x))]),
}


NOT_ENOUGH = {
    "a sum of the two": (x * y / x / y, [nonzero(x + y)]),
    "one of the two": (x * y / x / y, [nonzero(x)]),
    "a scale that may be 0": (norm(a * q) / norm(a * q), [nonnegative(a), nonzero(norm(q))]),
    "another length": (norm(k) / norm(k), [nonzero(norm(q) * x)]),
    "a sum of lengths": (norm(k) / norm(k), [nonzero(norm(q) + norm(k))]),
    "a sum over the products": (x * q[l] / (q[l] * x), [nonzero(total(x * q[j], j))]),
}


@pytest.mark.parametrize("left, given", NOT_ENOUGH.values(), ids=NOT_ENOUGH)
def test_no_part_is_taken_for_nonzero_that_may_be_0(left, given, rejection):
    assert rejection(lambda D: D.identity("claim", left, 1 + 0 * x, given=given)).code == "assumption-missing"


def test_a_power_of_a_sum_has_no_slope_where_the_sum_may_be_0(rejection):
    error = rejection(lambda D: D.identity("claim", diff((q @ k + x) ** d, x), d * (q @ k + x) ** (d - 1)))
    assert error.code == "assumption-missing" and "given=[nonzero(total(k[i]*q[i], i) + x)]" in error.message


@pytest.mark.parametrize("left, right, given", TRUE.values(), ids=TRUE)
def test_what_holds_of_functions_is_proved_by_exact_and_sympy(left, right, given, checked):
    ((verdict, by_sympy),) = checked(lambda D: D.identity("claim", left, right, given=given)).values()
    assert (verdict.verdict, by_sympy[0]) == ("proved", "proved")
    derivation = Derivation("test")
    derivation.identity("claim", left, right, given=given)
    assert pytorch(derivation.claims[0])[0] == "agrees"


FALSE = {
    "a circle of differences": (cos(x) ** 2 - sin(x) ** 2, 1 + 0 * x, []),
    "a cosine of a sum with the wrong sign": (cos(x + y), cos(x) * cos(y) + sin(x) * sin(y), []),
    "a cosine of a sum, term by term": (cos(x + y), cos(x) + cos(y), []),
    "a sine taken to be even": (sin(-x), sin(x), []),
    "a sine taken for a cosine": (sin(x), cos(x), []),
    "the slope of a cosine without its sign": (diff(cos(x), x), sin(x), []),
    "the slope of a sine without the inner one": (diff(sin(x * y), x), cos(x * y), []),
    "the slope of tanh without the square": (diff(tanh(x), x), 1 - tanh(x), []),
    "tanh of twice": (tanh(2 * x), 2 * tanh(x), []),
    "a length scaled by what may be negative": (norm(a * q), a * norm(q), []),
    "the triangle as an equality": (norm(q + k), norm(q) + norm(k), []),
    "a length for its square": (norm(q), q @ q, []),
    "a root of a square, without its modulus": (sqrt(x**2), x, []),
    "a root of a square times something, without": (sqrt(x**2 * y), x * sqrt(y), [nonnegative(y)]),
    "a root of a cube of a square": ((x**2) ** Fraction(3, 2), x**3, []),
    "a cube of a modulus": (absolute(x) ** 3, x**3, []),
    "a root of the square of an imaginary number": (sqrt((I * x) ** 2), absolute(x), []),
}


@pytest.mark.parametrize("left, right, given", FALSE.values(), ids=FALSE)
def test_what_does_not_hold_is_rejected_by_exact_and_by_sympy(left, right, given, rejection, sympy_rejection):
    def state(D):
        D.identity("claim", left, right, given=given)

    assert rejection(state).code in ("false-claim", "assumption-missing")
    assert sympy_rejection(state).code == "sympy-disagrees"


def test_a_root_of_a_product_is_taken_apart_where_the_other_factor_has_one(rejection):
    """|x| sqrt(y) has no value at x = 0, y = -1, where sqrt(x^2 y) is 0."""
    error = rejection(lambda D: D.identity("claim", sqrt(x**2 * y), absolute(x) * sqrt(y), given=[nonnegative(x**2 * y)]))
    assert error.code == "assumption-missing" and "y is not negative" in error.message


@pytest.mark.parametrize(
    "left, right, because, given",
    [
        (cos(x), 1 + 0 * x, 2 * sin(x / 2) ** 2, []),
        (tanh(x) ** 2, 1 + 0 * x, (2 / (exp(x) + exp(-x))) ** 2, []),
        (0 * x, norm(q - k), norm(q - k), []),
        ((q @ k) ** 2, norm(q) ** 2 * norm(k) ** 2, total((q[j] * k[l] - q[l] * k[j]) ** 2, j, l) / 2, []),
        (-(q @ k), (norm(q) ** 2 + norm(k) ** 2) / 2, norm(q + k) ** 2 / 2, []),
    ],
)
def test_bounds(left, right, because, given, checked):
    ((verdict, by_sympy),) = checked(lambda D: D.inequality("claim", left, right, because=because, given=given)).values()
    assert (verdict.verdict, by_sympy[0]) == ("proved", "proved")


@pytest.mark.parametrize(
    "right, because, code",
    [
        (1, 1 - cos(x), "repeated-difference"),
        (0, sin(x) ** 2, "false-claim"),
        (1, 2 * sin(x / 2) ** 3, "wrong-certificate"),
    ],
)
def test_wrong_bounds(right, because, code, rejection):
    assert rejection(lambda D: D.inequality("claim", cos(x), right, because=because)).code == code


def test_limits(proved, rejection):
    proved(lambda D: D.limit("claim", tanh(x), x, "oo", 1))
    assert rejection(lambda D: D.limit("claim", tanh(x), x, "oo", 0)).code == "wrong-limit"


@pytest.mark.parametrize("expr, value", [(sqrt(x**2) - x + 1, 1), (absolute(1 - x) - x, -1), (1 / (absolute(x - 1) + 1) + 2, 2)])
def test_a_modulus_near_a_limit_has_the_sign_of_its_leading_term(expr, value, proved, rejection):
    proved(lambda D: D.limit("claim", expr, x, "oo", value))
    assert rejection(lambda D: D.limit("claim", expr, x, "oo", -value)).code == "wrong-limit"


def test_a_modulus_whose_sign_is_not_known_near_a_limit_is_left(rejection):
    """This one goes to 0 for every y, which is true and not proved."""
    assert rejection(lambda D: D.limit("claim", absolute(exp(-x) - y * exp(-x)), x, "oo", 0)).code == "unknown-limit"


def test_a_false_limit_of_a_modulus_whose_sign_is_not_known_has_a_counterexample(rejection):
    assert rejection(lambda D: D.limit("claim", absolute(x - y * x), x, "oo", y)).code == "false-claim"


def test_refutations(proved):
    proved(lambda D: D.refute("claim", cos(x + y), cos(x) + cos(y), at={x: 0, y: 1}))
    proved(lambda D: D.refute("claim", tanh(2 * x), 2 * tanh(x), at={x: 1}))
    proved(lambda D: D.refute("claim", norm(q + k), norm(q) + norm(k), at={q: [1, 0], k: [0, 1]}))


def test_they_are_printed_as_what_they_are():
    assert [latex(f(x)) for f in (cos, sin, tanh)] == [r"\cos(x)", r"\sin(x)", r"\tanh(x)"]
    assert latex(norm(q) ** 2) == r"\left\lVert q \right\rVert^{2}"
    assert latex(cos(x) ** 2) == r"(\cos(x))^{2}"
    for shown in (plain, script):
        assert shown(norm(q - k) * cos(x)) == "norm(q - k)*cos(x)"


def test_a_program_says_what_a_script_says():
    derivation = Derivation("test")
    derivation.identity("claim", tanh(x) * norm(q), norm(q) * tanh(x))
    assert "tanh(x) * norm(q)" in write_program(derivation.claims[0]).text


def test_the_judge_of_mutants_knows_them():
    from mpmath import mp

    at = {"x": {(): mp.mpf(2)}, "q": {(0,): mp.mpf(3), (1,): mp.mpf(4)}, "d": 2}
    assert evaluate_entry(norm(q), (), at) == 5
    assert (evaluate_entry(cos(x), (), at), evaluate_entry(sin(x), (), at), evaluate_entry(tanh(x), (), at)) == (
        mp.cos(2),
        mp.sin(2),
        mp.tanh(2),
    )


def test_a_length_is_of_a_vector():
    for wrong in (x, matrix("M", d, d)):
        with pytest.raises(KernelError, check=has_code("wrong-shape")):
            norm(wrong)


def test_a_slope_at_a_corner_needs_an_assumption(rejection):
    assert rejection(lambda D: D.identity("claim", diff(norm(q), q[j]), q[j] / norm(q))).code == "assumption-missing"
    assert rejection(lambda D: D.identity("claim", x * diff(sqrt(x**2), x), x, given=[nonnegative(x)])).code == "assumption-missing"
    assert rejection(lambda D: D.identity("claim", norm(q) / norm(q), 1)).code == "assumption-missing"


def test_what_the_judge_has_computed_once_is_asked_again_only_of_the_same_values():
    """One tree, in environments that differ in one thing each: values, an index, the outcomes, the digits."""
    n = sizes("n")
    v, i, j = vector("v", n), index("i", n), index("j", n)
    tree = total(v[i] * v[j], i)
    values = {(0,): mpf(1), (1,): mpf(2)}
    env = {"n": 2, "v": values, ("index", "j"): 0}
    assert [evaluate_entry(tree, (), env | {("index", "j"): k}) for k in (0, 1, 0)] == [3, 6, 3]
    assert evaluate_entry(tree, (), env | {"v": {(0,): mpf(2), (1,): mpf(2)}}) == 8 and evaluate_entry(tree, (), env | {"n": 1}) == 1
    X = random("X")
    outcomes = [[(mpf(1), {"X": {(): mpf(k)}})] for k in (3, 5)]
    mean = E(X)
    assert [evaluate_entry(mean, (), {"outcomes": one}) for one in outcomes] == [3, 5]
    seventh = total(v[i] / 7, i)
    with mp.workdps(10):
        few = evaluate_entry(seventh, (), env)
    with mp.workdps(40):
        assert evaluate_entry(seventh, (), env) != few
