"""A product that would be read as a function call gets a multiplication sign, and entrywise operations are marked."""

import pytest

from derivations.kernel import (
    Derivation,
    absolute,
    cos,
    exp,
    index,
    log,
    matrix,
    ones,
    scalars,
    sizes,
    total,
    vector,
    zeros,
)
from derivations.kernel.attack.parse_latex import parse_latex
from derivations.kernel.attack.parse_plain import ParseError, parse_plain
from derivations.kernel.core.claims import Rejected
from derivations.kernel.core.expr import strip_brackets, symbols, walk
from derivations.kernel.errors import KernelError
from derivations.kernel.printing.latex import latex
from derivations.kernel.printing.mathml import mathml
from derivations.kernel.printing.plain_text import plain
from tests.kernel.common import has_code

n, h = sizes("n h")
a, b, x, f, P, E_ = scalars("a b x f P E")
O, d_1, sech, x1 = scalars("O d_1 sech x1")
gain, ln2, sigma, phi, beta, f_x = scalars("gain ln2 sigma phi beta f_x")
A, B, W = matrix("A", n, n), matrix("B", n, n), matrix("W", n, n)
z, v, g = vector("z", n), vector("v", n), vector("g", n)
i, j = index("i", n), index("j", n)
loss = matrix("loss", n, n)
derivation = Derivation("Definitions")
u = derivation.define("u", x**2)
Q = derivation.define("Q", A @ B)
rate = derivation.define("rate", x + 1)

DOTTED = {
    "a word": (gain * (a + b), r"\mathrm{gain} \cdot (a + b)"),
    "a word with a digit": (ln2 * (a + b), r"\mathrm{ln2} \cdot (a + b)"),
    "a word's power": (gain**2 * (a + b), r"\mathrm{gain}^{2} \cdot (a + b)"),
    "a word after a factor": (2 * gain * (a + b), r"2 \mathrm{gain} \cdot (a + b)"),
    "a word that is a matrix": (loss @ (A + B), r"\mathrm{loss} \cdot (A + B)"),
    "a word before tall brackets": (gain * (a / b + 1), r"\mathrm{gain} \cdot \left(\frac{a}{b} + 1\right)"),
    "a letter of functions": (f * (x + 1), r"f \cdot (x + 1)"),
    "one with a subscript": (f_x * (x + 1), r"f_{x} \cdot (x + 1)"),
    "an entry of one": (g[i] * (x + 1), r"g_{i} \cdot (x + 1)"),
    "a probability": (P * (a + b), r"P \cdot (a + b)"),
    "an expectation": (E_ * (a + b), r"E \cdot (a + b)"),
    "a Greek one": (sigma * (a + b), r"\sigma \cdot (a + b)"),
    "another": (phi * (a * b) * x, r"\phi \cdot (a b) x"),
    "a size": (h * (n + 1), r"h \cdot (n + 1)"),
    "a definition": (u * (x + 1), r"u \cdot (x + 1)"),
    "a definition's power": (u**2 * (x + 1), r"u^{2} \cdot (x + 1)"),
    "a word that is defined": (rate * (x - 1), r"\mathrm{rate} \cdot (x - 1)"),
    "before a power of brackets": (f * (a + b) ** 2, r"f \cdot (a + b)^{2}"),
    "before a sum": (f * total(z[i], i), r"f \cdot \left(\sum_{i = 1}^{n} z_{i}\right)"),
    "a letter": (x * (a + b), r"x \cdot (a + b)"),
    "a size that counts": (n * (n + 1), r"n \cdot (n + 1)"),
    "a Greek letter": (beta * (a + b), r"\beta \cdot (a + b)"),
    "an entry": (z[i] * (a + b), r"z_{i} \cdot (a + b)"),
    "an entry of a matrix": (W[i, j] * (a + b), r"W_{i j} \cdot (a + b)"),
    "Landau's letter": (O * (a + b), r"O \cdot (a + b)"),
    "a letter of operators": (d_1 * (a * b), r"d_{1} \cdot (a b)"),
    "a letter of operators, before a derivative": (x * (d_1 * b), r"x \cdot (d_{1} b)"),
    "a word before a letter": (sech * x, r"\mathrm{sech} \cdot x"),
    "a word among letters": (a * sech * x * b, r"a \mathrm{sech} \cdot x b"),
    "a word before a fraction": (gain * (a / b), r"\mathrm{gain} \cdot \frac{a}{b}"),
    "a word before a word": (gain * sech, r"\mathrm{gain} \cdot \mathrm{sech}"),
    "a word before an exponential": (gain * exp(x), r"\mathrm{gain} \cdot e^{x}"),
    "a word before a matrix": (gain * A.T @ B, r"\mathrm{gain} \cdot A^{\top} B"),
    "a word that is a matrix, before one": (loss @ A, r"\mathrm{loss} \cdot A"),
    "its transpose": (loss.T @ A, r"\mathrm{loss}^{\top} \cdot A"),
    "its entry": (loss[i, j] * x, r"\mathrm{loss}_{i j} \cdot x"),
    "of a vector and a matrix": (g @ (A + B), r"g \cdot (A + B)"),
}
PLAIN = {
    "a matrix": (W @ (A + B), "W (A + B)"),
    "a matrix that is defined": (Q @ (A + B), "Q (A + B)"),
    "a number": (2 * (a + b), "2 (a + b)"),
    "brackets": ((a + b) * (a - b), "(a + b) (a - b)"),
    "what no bracket follows": (f * x, "f x"),
    "a letter with a digit": (ln2 * 1 * x1 * f, r"\mathrm{ln2} \cdot 1 \mathrm{x1} f"),
    "an exponential": (exp(f) * (a + b), "e^{f} (a + b)"),
}
FILLED = {
    "a vector of ones": (ones(n), r"\mathbf{1}"),
    "a matrix of ones": (ones(n, n), r"\mathbf{1}_{n \times n}"),
    "a matrix of zeros": (zeros(n, h), r"\mathbf{0}_{n \times h}"),
    "its entry": (ones(n, n)[i, j], r"(\mathbf{1}_{n \times n})_{i j}"),
    "its transpose": (ones(n, h).T, r"\mathbf{1}_{n \times h}^{\top}"),
    "both": (ones(n, n) @ z + (ones(n) @ z) * ones(n), r"\mathbf{1}_{n \times n} z + \mathbf{1} \cdot z \cdot \mathbf{1}"),
}


@pytest.mark.parametrize("tree, shown", FILLED.values(), ids=FILLED)
def test_a_matrix_that_is_filled_does_not_look_like_a_vector(tree, shown):
    assert latex(tree) == shown and mathml(shown)
    told = [node for node in walk(tree) if node.op == "fill"]
    assert strip_brackets(
        parse_latex(shown, NAMES, sorted(told, key=lambda one: -len(one.shape)) if len(told) > 1 else told)
    ) == strip_brackets(tree)


def test_one_of_another_shape_is_not_read():
    with pytest.raises(ParseError, check=has_code("not-parsed")):
        parse_latex(r"\mathbf{1}_{n \times h}", NAMES, [ones(n, n)])


ENTRYWISE = {
    "an exponential": (exp(A + B), r"\exp_{\odot}(A + B)"),
    "its transpose": (exp(A).T, r"(\exp_{\odot}(A))^{\top}"),
    "its entry": (exp(A)[i, j], r"\exp_{\odot}(A)_{i j}"),
    "a logarithm": (log(A), r"\log_{\odot}(A)"),
    "a cosine": (cos(A), r"\cos_{\odot}(A)"),
    "an absolute value, which is no determinant": (absolute(A), r"\operatorname{abs}_{\odot}(A)"),
    "an absolute value, which is no norm": (absolute(z), r"\operatorname{abs}_{\odot}(z)"),
    "an exponential of a vector": (exp(z), "e^{z}"),
    "an absolute value of a number": (absolute(x), r"\left|x\right|"),
}
ALL = {**{f"signed: {k}": v for k, v in DOTTED.items()}, **{f"unsigned: {k}": v for k, v in PLAIN.items()}, **ENTRYWISE}
NAMES = {**symbols(*(tree for tree, _ in ALL.values())), "i": i, "j": j, "u": u, "Q": Q, "rate": rate, "W": W}


@pytest.mark.parametrize("tree, shown", ALL.values(), ids=ALL)
def test_what_a_page_shows(tree, shown):
    assert latex(tree) == shown
    assert mathml(shown)


@pytest.mark.parametrize("tree", [tree for tree, _ in ALL.values()], ids=ALL)
def test_it_is_read_back(tree):
    assert strip_brackets(parse_latex(latex(tree), NAMES)) == strip_brackets(tree)
    assert strip_brackets(parse_plain(plain(tree), NAMES)) == strip_brackets(tree)


@pytest.mark.parametrize("text", [r"\exp(A)", r"\operatorname{abs}(A)", r"\exp_{\odot}(x)", r"\cos_{\odot}(z)", r"\operatorname{abs}(z)"])
def test_what_is_not_marked_as_it_is_meant_is_not_read(text):
    with pytest.raises(ParseError, check=has_code("not-parsed")):
        parse_latex(text, NAMES)


@pytest.mark.parametrize(
    "name", ["ln", "log_2", "exp_x", "softmax_i", "Var_q", "sum_i", "tan", "max", "det", "tr", "Cov", "Pr", "lim", "sgn"]
)
def test_a_name_is_no_function_known(name):
    with pytest.raises(KernelError, check=has_code("reserved-name")):
        scalars(name)


@pytest.mark.parametrize("name", ["Sigma_i", "Sigma_1", "Pi_k", "Pi_t", "Sigma_ij"])
def test_a_letter_with_something_below_it_is_no_sum(name):
    with pytest.raises(KernelError, check=has_code("reads-as-sum-or-product")):
        scalars(name)


NUMBERS = {
    "a number Sigma": lambda: scalars("Sigma"),
    "a number Pi": lambda: scalars("Pi"),
    "a size": lambda: sizes("Pi"),
    "a vector": lambda: vector("Sigma", n)[i],
    "an index": lambda: index("Sigma", n),
}


@pytest.mark.parametrize("made", NUMBERS.values(), ids=NUMBERS)
def test_a_number_is_no_sign_of_a_sum(made):
    with pytest.raises(Rejected, check=has_code("reads-as-sum-or-product")):
        Derivation("Signs").identity("claim", made() * z[i], z[i] * made())


def test_a_matrix_may_be_called_by_it():
    Sigma, Pi = matrix("Sigma", n, n), matrix("Pi", n, n)
    Derivation("Covariances").identity("claim", (Sigma @ Pi).T, Pi.T @ Sigma.T)
