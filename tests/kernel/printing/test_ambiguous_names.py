"""Two different things that would print alike are rejected in a script, and the message names both."""

import pytest
import sympy

from derivations.kernel import (
    Derivation,
    E,
    I,
    Var,
    absolute,
    array,
    diff,
    exp,
    eye,
    index,
    log,
    matrix,
    ones,
    paren,
    positive,
    random,
    rank,
    scalars,
    sizes,
    total,
    vector,
    zeros,
)
from derivations.kernel.core.claims import Rejected
from derivations.kernel.core.expr import Expr, lift, strip_brackets
from derivations.kernel.errors import KernelError
from derivations.kernel.printing.latex import latex
from derivations.kernel.printing.plain_text import plain
from tests.kernel.common import has_code

n, m, d = sizes("n m d")
x, y = scalars("x y")
z, u = vector("z", n), vector("u", n)
A, B = matrix("A", n, n), matrix("B", n, n)
i, k = index("i", n), index("k", n)


def state(*sides):
    """A script whose claims have these sides, two by two."""
    derivation = Derivation("Alike")
    for number, (left, right) in enumerate(zip(sides[::2], sides[1::2])):
        derivation.identity(f"claim-{number}", left, right)


# Two things beside one another ---------------------------------------------------------------------------------------------------

ALIKE = {
    "a scalar and an entry": (lambda: state(2 * scalars("z_1"), 2 * z[1]), "z_1", "z"),
    "an entry, then a scalar": (lambda: state(z[1] + 0, z[1], scalars("z_1") + 0, scalars("z_1")), "z_1", "z"),
    "a scalar and a vector whose first entry is never named": (lambda: state(scalars("z_1") + 0, scalars("z_1"), z + z, 2 * z), "z_1", "z"),
    "a size and an entry": (lambda: state(sizes("d_k") * vector("d", n)[k], vector("d", n)[k] * sizes("d_k")), "d_k", "d"),
    "an entry of a later index": (lambda: state(scalars("u_i") + 0, scalars("u_i"), u + u, 2 * u, z[i] + 0, z[i]), "u_i", "u"),
    "two digits and a matrix": (lambda: state(scalars("A_12") + A[1, k], A[1, k] + scalars("A_12")), "A_12", "A"),
    "a word and two indices": (lambda: state(scalars("A_ik") * A[i, k], A[i, k] * scalars("A_ik")), "A_ik", "A"),
    "a digit and an index": (lambda: state(scalars("A_1k") * A[1, k], A[1, k] * scalars("A_1k")), "A_1k", "A"),
    "a Greek vector": (lambda: state(scalars("mu_1") * vector("mu", 3)[1], vector("mu", 3)[1] * scalars("mu_1")), "mu_1", "mu"),
    "something random": (lambda: state(E(random("q", 3)[1]), scalars("q_1")), "q_1", "q"),
    "a vector with the name of an entry": (lambda: state(vector("z_1", n) @ z, z @ vector("z_1", n)), "z_1", "z"),
    "a longer index": (lambda: state(scalars("h_kv") * u[index("kv", n)] + vector("h", n)[1], x), "h_kv", "h"),
    "an index": (lambda: state(total(z[index("z_1", n)], index("z_1", n)), total(z[i], i)), "z_1", "z"),
    "SymPy's own": (
        lambda: state(
            2 * sympy.Symbol("x_1", real=True), 2 * sympy.IndexedBase(sympy.Symbol("x", real=True), shape=(sympy.Integer(3),))[1]
        ),
        "x_1",
        "x",
    ),
    "one of SymPy's, one not": (lambda: state(2 * sympy.Symbol("z_1", real=True), 2 * z[1]), "z_1", "z"),
    "one of SymPy's matrices": (
        lambda: state(sympy.Symbol("A_12", real=True) + sympy.MatrixSymbol("A", 3, 3)[0, 1], x),
        "A_12",
        "A",
    ),
}


@pytest.mark.parametrize("script, scalar, tensor", ALIKE.values(), ids=ALIKE)
def test_a_name_that_looks_like_an_entry_is_refused_beside_the_tensor(script, scalar, tensor):
    with pytest.raises(Rejected) as refused:
        script()
    assert f"{scalar} " in refused.value.message and f"entry of {tensor}" in refused.value.message
    assert "call" in refused.value.message and refused.value.line > 0 and refused.value.file == __file__


def test_a_definition_is_no_entry_of_another():
    derivation = Derivation("Alike")
    derivation.define("w", 2 * z)
    with pytest.raises(Rejected, check=has_code("reads-as-entry")):
        derivation.define("w_1", x + y)


def test_no_script_proves_and_refutes_what_is_printed_alike():
    derivation = Derivation("Both")
    derivation.identity("proved", 2 * z[1] - z[1], z[1])
    with pytest.raises(Rejected, check=has_code("reads-as-entry")):
        derivation.refute("refuted", 2 * scalars("z_1") - z[1], scalars("z_1"), at={scalars("z_1"): 1, z: [2]})


NOT_ALIKE = {
    "a subscript that is no index": lambda: state(matrix("W", n, n) @ matrix("W_Q", n, n) + 0 * A, matrix("W", n, n) @ matrix("W_Q", n, n)),
    "a number of another length": lambda: state(matrix("A_1", n, n) @ A, matrix("A_1", n, n) @ A + zeros(n, n)),
    "sizes": lambda: state(sizes("d_k") * d, d * sizes("d_k")),
    "a digit without a line below": lambda: state(scalars("z1") * z[1], z[1] * scalars("z1")),
}


@pytest.mark.parametrize("script", NOT_ALIKE.values(), ids=NOT_ALIKE)
def test_what_is_printed_differently_may_stand_together(script):
    script()


# A name that reads as something else ---------------------------------------------------------------------------------------------

TAKEN = ["I", "I_1", "I_n", "e", "pi", "fl", "exp", "log", "softmax", "rank", "Var", "sqrt", "abs", "sum"]


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize(
    "declare",
    [scalars, sizes, lambda s: vector(s, 3), lambda s: index(s, 3), random],
    ids=["scalars", "sizes", "vector", "index", "random"],
)
def test_a_name_that_is_printed_as_something_known_is_refused_where_it_is_declared(name, declare):
    with pytest.raises(KernelError, check=has_code("reserved-name")):
        declare(name)


@pytest.mark.parametrize("name", ["exp", "pi", "I"])
def test_a_definition_is_not_called_like_a_function(name):
    with pytest.raises(Rejected, check=has_code("reserved-name")):
        Derivation("Functions").define(name, x + 1)


def test_a_symbol_of_sympys_is_not_called_like_a_function():
    with pytest.raises(Rejected, check=has_code("reserved-name")):
        state(2 * sympy.Symbol("pi", real=True), x)


@pytest.mark.parametrize("name", ["α", "π", "z'", "z_", "_z", "z__1", "z_1_2", "1z", "z 1", "x.T", "Aᵀ"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(KernelError, check=has_code("invalid-name")):
        vector(name, 3)


E_ALIKE = {
    "first the tensor": lambda r, e: state(e[1] + 0, e[1], E(r), 2 * E(r)),
    "first the expectation": lambda r, e: state(E(r), 2 * E(r), e[1] + 0, e[1]),
    "in one claim": lambda r, e: state(E(r), e[1]),
    "a size": lambda r, e: state(E(r), sizes("E") + 0),
}


@pytest.mark.parametrize("script", E_ALIKE.values(), ids=E_ALIKE)
def test_nothing_is_called_E_beside_an_expectation(script):
    with pytest.raises(Rejected, check=has_code("reserved-name")):
        script(random("r"), vector("E", n))


def test_E_is_a_name_where_no_expectation_is():
    state(vector("E", n)[1] + 0, vector("E", n)[1])


# What stands somewhere as a letter does that means something there ----------------------------------------------------------------

X, T, H = scalars("X"), sizes("T"), scalars("H")
W_i, Wz = matrix("W_i", m, n), vector("w", n)
ANOTHERS = {
    "a transpose": (lambda: state((X * y) ** T, X**T * y**T), "reads-as-transpose"),
    "a matrix that seems normal": (lambda: state(X**T * X, X * X**T), "reads-as-transpose"),
    "an adjoint": (lambda: state((X * y) ** H, X**H * y**H), "reads-as-transpose"),
    "an inverse that is transposed": (lambda: state(X ** (-T), 1 / X**T), "reads-as-transpose"),
    "of an entry": (lambda: state(z[1] ** T, z[1] ** T * 1), "reads-as-transpose"),
    "entries that are summed": (lambda: state(total(scalars("x_i"), i), n * scalars("x_i")), "reads-as-entry"),
    "matrices that are summed": (lambda: state(total((W_i @ Wz)[index("k", m)], i), n * (W_i @ Wz)[index("k", m)]), "reads-as-entry"),
    "an entry beside an open index": (lambda: state(scalars("x_i") * z[i], z[i] * scalars("x_i")), "reads-as-entry"),
    "the last entry": (lambda: state(diff(total(z[i] ** 2, i) + scalars("z_n"), scalars("z_n")), 1), "reads-as-entry"),
    "an entry of a matrix": (lambda: state(scalars("x_ik") * z[i] * z[k], z[i] * scalars("x_ik") * z[k]), "reads-as-entry"),
    "a turn of a number": (lambda: state(absolute(exp(scalars("i") * x)), exp(scalars("i") * x)), "reads-as-imaginary-unit"),
    "a turn of an index": (lambda: state(absolute(exp(i * x)), exp(i * x)), "reads-as-imaginary-unit"),
    "a turn in a fraction": (lambda: state(exp(x * scalars("j") / n), exp(scalars("j") / n * x)), "reads-as-imaginary-unit"),
    "a turn in a bracket": (lambda: state(exp(x * (y - i)), exp(x * y - x * i)), "reads-as-imaginary-unit"),
}


@pytest.mark.parametrize("script, code", ANOTHERS.values(), ids=ANOTHERS)
def test_what_reads_as_another_formula_is_rejected(script, code):
    with pytest.raises(Rejected, check=has_code(code)):
        script()


def test_a_definition_is_no_exponent_either():
    derivation = Derivation("Transposes")
    power = derivation.define("T", x**2 + 1)
    with pytest.raises(Rejected, check=has_code("reads-as-transpose")):
        derivation.identity("twice", y**power * y**power, y ** (2 * power), given=[positive(y)])


NO_OTHERS = {
    "a power with more in it": lambda: state(X ** (T + 1), X ** (1 + T)),
    "a power of a number": lambda: state(lift(2) ** T * x, x * lift(2) ** T),
    "a letter as a factor": lambda: state(T * X, X * T),
    "an index of a sum": lambda: state(total(exp(x * (n - i)), i), total(exp(x * n - x * i), i)),
    "an index below a letter": lambda: state(exp(z[i]) * 2, 2 * exp(z[i])),
    "an index of another claim": lambda: state(sizes("d_k") * x, x * sizes("d_k"), total(z[k], k), total(z[i], i)),
}


@pytest.mark.parametrize("script", NO_OTHERS.values(), ids=NO_OTHERS)
def test_what_reads_as_itself_may_stand(script):
    script()


# Prints that differ now ----------------------------------------------------------------------------------------------------------

t = scalars("t")
DIFFER = {
    "z1 and z[1]": (scalars("z1"), z[1]),
    "z1 and z_1": (scalars("z1"), scalars("z_1")),
    "z1_2 and z_12": (scalars("z1_2"), scalars("z_12")),
    "z12 and z1_2": (scalars("z12"), scalars("z1_2")),
    "alpha1 and alpha_1": (scalars("alpha1"), scalars("alpha_1")),
    "the imaginary unit and an index": (I * x, index("i", n) * x),
    "zero times A and a matrix of zeros times A": (0 * A, zeros(n, n) @ A),
    "zero times A and zeros times A, entry by entry": (0 * A, zeros(n, n) * A),
    "ones of another size": (A @ ones(n), A @ ones(n, n)),
    "zero, and a vector of zeros": (lift(0), zeros(n)),
    "a negative exponent of a sum": (x ** -(y + t), x ** (-y + t)),
    "a negative exponent of a negative": (x ** (-paren(-y)), x**y),
    "products of two kinds": ((A * B) @ A, A * (B @ A)),
    "absolute values within one another": (absolute(x * absolute(y) * t), absolute(x) * y * absolute(t)),
    "a vector of one entry": (array([x]), x + 0 - 0),
    "powers of two": (lift(2) ** 12, lift(4096)),
    "a slope and a quotient": (diff(x, y), sizes("d") * x / (sizes("d") * y)),
    "a transposed exponential": (exp(A).T, exp(A.T)),
    "an entry of an exponential": (exp(z)[1], exp(z[1])),
    "an entry of a power's exponent": (exp(z)[1], exp(lift(1)) ** z[1]),
    "a logarithm transposed": (log(A).T, log(A.T)),
    "logs": (log(x) * y, log(x * y)),
    "variances": (Var(random("r")) * x, Var(random("r") * x)),
    "ranks": (rank(A) * x, rank(x * A)),
}


def looks(text):
    """LaTeX as it looks: sizes of brackets, spaces and kinds of letters do not count."""
    for mark in (r"\left", r"\right", r"\operatorname", r"\mathrm", r"\,", " "):
        text = text.replace(mark, "")
    return text


@pytest.mark.parametrize("one, other", DIFFER.values(), ids=DIFFER)
def test_two_trees_are_printed_differently(one, other):
    assert strip_brackets(one) != strip_brackets(other)
    assert looks(latex(one)) != looks(latex(other)) or one.shape != other.shape
    assert plain(one) != plain(other)


def test_one_number_is_one_tree():
    """-2 and 1/2 can be written in two ways, and are printed in one."""
    assert -lift(2) == lift(-2) and lift(1) / 2 == lift(sympy.Rational(1, 2)) and lift(-3) / 2 == -(lift(3) / 2)
    assert [(lift(a) / b).op for a, b in ((2, 4), (4, 2), (3, 1), (0, 2))] == ["div"] * 4
    assert (x - 1).args[1].op == "neg"  # what is taken away
    assert (lift(1) / 0).op == "div"  # which the witnesses refuse


def test_two_sides_of_one_print_are_refused_whatever_the_printer_does(monkeypatch):
    """The last line of defence: no script holds two trees of one print."""
    from derivations.kernel.printing.latex import Printer

    monkeypatch.setattr(Printer, "neg", lambda self, e: self.show(e.args[0]))  # a printer that loses a sign
    with pytest.raises(Rejected, check=has_code("printed-alike")):
        state(x, x * 2, -x, x * 3)


def test_the_same_side_may_return():
    derivation = Derivation("Again")
    derivation.identity("once", (x + y) * 2, 2 * x + 2 * y)
    derivation.identity("twice", (x + y) * 2, 2 * y + 2 * x)


def test_identities_of_two_sizes_are_told_apart_by_what_stands_beside_them():
    state(A @ eye(n), A)
    with pytest.raises(Rejected, check=has_code("printed-alike")):
        state(eye(n), eye(n) @ eye(n), eye(m), eye(m) @ eye(m))


def test_a_tree_that_only_brackets_tell_apart_is_no_other():
    state(Expr("paren", (x + y,)) * 2, 2 * x + 2 * y, (x + y) * 2, 2 * y + 2 * x)


def test_an_entry_has_a_place():
    """x[()] would look like x."""
    with pytest.raises(KernelError, check=has_code("wrong-number-of-indices")):
        x[()]
