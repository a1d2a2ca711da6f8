"""Printed formulas can be parsed back into the same tree, for every claim of the site and for random trees."""

from random import Random

import pytest

from derivations.kernel import (
    E,
    I,
    Var,
    absolute,
    array,
    cos,
    diff,
    each,
    exp,
    eye,
    index,
    inverse,
    largest,
    log,
    matrix,
    norm,
    ones,
    paren,
    random,
    rank,
    rounded,
    scalars,
    sin,
    sizes,
    softmax,
    sqrt,
    tanh,
    total,
    vector,
    zeros,
)
from derivations.kernel.attack.parse_latex import parse_latex
from derivations.kernel.attack.parse_plain import ParseError, parse_plain
from derivations.kernel.attack.rebuild_trees import rebuild
from derivations.kernel.check import worker
from derivations.kernel.core import claims
from derivations.kernel.core.expr import Expr, lift, named_nodes, strip_brackets, walk
from derivations.kernel.core.operators import OPERATORS
from derivations.kernel.errors import KernelError
from derivations.kernel.printing.latex import Printer, latex, split_each
from derivations.kernel.printing.plain_text import Plain, plain
from derivations.kernel.printing.print_collisions import visible_form
from derivations.kernel.store import certificates, project_files

n, d, d_k = sizes("n d d_k")
x, y, alpha, x1, e_k = scalars("x y alpha x1 e_k")
u, v_a, w = vector("u", n), vector("v_a", n), vector("w", 3)
A, B, W_Q, T = matrix("A", n, n), matrix("B", n, n), matrix("W_Q", n, d), matrix("T", 2, 2)
r, q = random("r"), random("q", n)
i, j, mu = index("i", n), index("j", n), index("mu", d)
p = Expr("defined", (softmax(u),), u.shape, ("p", "defined"))
LEAVES = [
    x,
    y,
    alpha,
    x1,
    e_k,
    n,
    d_k,
    u,
    v_a,
    w,
    A,
    B,
    W_Q,
    T,
    r,
    q,
    p,
    i,
    mu,
    I,
    eye(n),
    eye(2),
    ones(n),
    zeros(n),
    ones(n, n),
    zeros(n, n),
]
LEAVES += [lift(0), lift(1), lift(2), lift(-3), lift(1) / 2, lift(-2) / 3, lift(4096)]
NAMES = {s.data[0]: s for s in named_nodes(*LEAVES, j)}

ONE = {
    "neg": lambda a: -a,
    "transpose": lambda a: a.T,
    "inverse": inverse,
    "root": sqrt,
    "square": lambda a: a**2,
    "reciprocal": lambda a: a**-1,
    "sum": lambda a: total(a, i),
    "sum of sums": lambda a: total(a, i, j),
    "each": lambda a: each(a, i),
    "each of a matrix": lambda a: each(a, mu, j),
    "first": lambda a: a[(1,) * len(a.shape)],
    "entry": lambda a: a[tuple(i if size == n else mu if size == d else 2 for size in a.shape)],
    "exp": exp,
    "log": log,
    "abs": absolute,
    "cos": cos,
    "sin": sin,
    "tanh": tanh,
    "norm": norm,
    "largest": largest,
    "softmax": softmax,
    "E": E,
    "Var": Var,
    "slope": lambda a: diff(a, x),
    "partial": lambda a: diff(a, u[j]),
    "rounded": rounded,
    "rank": rank,
    "paren": paren,
    "vector of one": lambda a: array([a]),
}
TWO = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "matmul": lambda a, b: a @ b,
    "vector": lambda a, b: array([a, b]),
    "column": lambda a, b: array([[a], [b]]),
    "row": lambda a, b: array([[a, b]]),
}


def made_at_random(count, seed, most=14):
    """Trees of all operations on one another, small ones more often. None is made twice."""
    draw, found, sizes_ = Random(seed), list(LEAVES), [1] * len(LEAVES)
    known = set(found)
    while len(found) < count:
        chosen = [int(len(found) * draw.random() ** 2) for _ in range(2)]
        operation = draw.choice([*ONE.values(), *list(TWO.values()) * 3])
        parts = [found[k] for k in chosen[: 1 if operation in ONE.values() else 2]]
        nodes = 1 + sum(sizes_[k] for k in chosen[: len(parts)])
        try:
            tree = operation(*parts)
        except KernelError:  # shapes that do not go together
            continue
        if nodes <= most and tree not in known:
            known.add(tree)
            found.append(tree)
            sizes_.append(nodes)
    return found


MADE = made_at_random(6000, seed=1)


def shown(e):
    """The nodes that are printed: of a definition, its name alone."""
    yield e
    for argument in () if e.op == "defined" else e.args:
        yield from shown(argument)


def from_plain(e, names):
    return strip_brackets(parse_plain(plain(e), names))


def from_latex(e, names):
    """The sizes of what is filled are told, for a formula does not show them."""
    return strip_brackets(parse_latex(latex(e), names, [node for node in shown(e) if node.op in ("eye", "fill")]))


READERS = {"plain text": from_plain, "LaTeX": from_latex}


def as_claimed(topic):
    """The derivation of a topic; its claims hold elsewhere."""
    assert worker.load_script(project_files.ROOT / "derivations" / f"{topic}.py") is None
    return claims.LOADED[0]


TOPICS = certificates.topics()


@pytest.mark.parametrize("back", READERS.values(), ids=READERS)
@pytest.mark.parametrize("topic", TOPICS)
def test_every_claim_is_read_back_from_its_print(topic, back):
    derivation = as_claimed(topic)
    for claim in derivation.claims:
        for tree in claim.trees:
            assert back(tree, derivation.names) == strip_brackets(tree), f"{claim.id}: {plain(tree)}"


@pytest.mark.parametrize("back", READERS.values(), ids=READERS)
def test_trees_made_at_random_are_read_back_from_their_print(back):
    assert {node.op for e in MADE for node in walk(e)} == OPERATORS.keys() - {"where"}  # which has tests of its own
    for e in MADE:
        assert back(e, NAMES) == strip_brackets(e), plain(e)


def sizes_erased(e):
    """In LaTeX, an identity and what is filled show no sizes: what stands beside them does."""
    return Expr(e.op, tuple(map(sizes_erased, e.args)), (), e.data if e.op not in ("eye", "fill") else ("filled", str(e.data)))


def refuse_two_of_one_print(trees):
    met = {}
    for e in trees:
        bare = sizes_erased(strip_brackets(e))
        other = met.setdefault(visible_form(latex(e)), bare)
        assert other == bare, f"{latex(e)}: {plain(e)} and another"


def without_bare_negatives(e):
    """The parts of a tree, but for a negative number that is taken away, which on its own is the number."""
    return [part for part in walk(e) if not (part.op == "neg" and part.args[0].op == "const")]


def test_no_two_trees_made_at_random_have_one_print_in_latex():
    refuse_two_of_one_print(MADE)


@pytest.mark.parametrize("topic", TOPICS)
def test_no_two_parts_of_a_topics_claims_have_one_print_in_latex(topic):
    refuse_two_of_one_print(part for c in as_claimed(topic).claims for tree in c.trees for part in without_bare_negatives(tree))


# The readers under attack ---------------------------------------------------------------------------------------------------------

FAULTS = {
    "a product without brackets": (Plain, "mul", lambda self, e: f"{self.show(e.args[0])}*{self.show(e.args[1])}"),
    "a difference without brackets": (Plain, "add", lambda self, e: f"{self.show(e.args[0])} + {self.show(e.args[1])}"),
    "a quotient without brackets": (Plain, "div", lambda self, e: f"{self.show(e.args[0], 4)}/{self.show(e.args[1], 4)}"),
    "a power without brackets": (Plain, "pow", lambda self, e: f"{self.show(e.args[0])}^{self.show(e.args[1])}"),
    "one print for two functions": (Plain, "function", lambda self, e: f"exp({self.show(e.args[0])})"),
    "a sum without its index": (Plain, "sum", lambda self, e: f"sum({self.show(e.args[0])}, i = 1..{self.show(e.data[1])})"),
    "entries without their index": (Plain, "each", lambda self, e: f"each({self.show(e.args[0])}, i = 1..{self.show(e.data[1])})"),
    "an entry without its place": (Plain, "entry", lambda self, e: self.show(e.args[0], 6)),
    "rows that are columns": (Plain, "rows", lambda self, rows, is_matrix: "[" + ", ".join(x for row in rows for x in row) + "]"),
}


@pytest.mark.parametrize("printer, method, fault", FAULTS.values(), ids=FAULTS)
def test_a_printer_that_loses_something_is_found_out(printer, method, fault, monkeypatch):
    assert all(comes_back(e, from_plain) for e in PAIRS)
    monkeypatch.setattr(printer, method, fault)
    assert not all(comes_back(e, from_plain) for e in MADE[:1500])


def comes_back(e, back):
    try:
        return back(e, NAMES) == strip_brackets(e)
    except KernelError:
        return False


PAIRS = [A @ (B @ A), (A @ B) @ A, total(u[i], i), total(u[j], j), total(u[j], i)]
PAIRS += [each(u[i], i), each(u[j], j), each(u[j], i), each(A[i, j], i, j), each(A[i, j], j, i), each(u[i], i)[j], each(each(u[i], i), i)]
PAIRS += [x**y, x * y]
LATEX_FAULTS = {
    "a product without brackets": ("matmul", lambda self, e: f"{self.show(e.args[0])} {self.show(e.args[1], 3)}"),
    "an exponent that is no longer one": ("pow", lambda self, e: f"{self.show(e.args[0])} {self.show(e.args[1])}"),
    "a sum without its index": ("sum", lambda self, e: rf"\sum {self.show(e.args[0], 3)}"),
    "entries without their index": ("each", lambda self, e: rf"({self.show(e.args[0])})_{{i = 1}}^{{{self.show(e.data[1])}}}"),
    "indices in no order": (
        "each",
        lambda self, e: rf"({self.show(split_each(e)[0])})_{{{', '.join(sorted(n for n, _ in split_each(e)[1]))}}}",
    ),
    "a transpose that is lost": ("transpose", lambda self, e: self.show(e.args[0])),
    "digits below": ("symbol", lambda self, e: e.data[0].replace("_", "").replace("x1", "x_{1}")),
    "zeros that are a zero": ("fill", lambda self, e: str(e.data)),
}


@pytest.mark.parametrize("method, fault", LATEX_FAULTS.values(), ids=LATEX_FAULTS)
def test_two_trees_of_one_print_are_found_out(method, fault, monkeypatch):
    assert all(comes_back(e, from_latex) for e in PAIRS)
    monkeypatch.setattr(Printer, method, fault)
    with pytest.raises(AssertionError, match="and another"):
        refuse_two_of_one_print([*MADE, *PAIRS, vector("x", n)[1]])
    assert not all(comes_back(e, from_latex) for e in [*PAIRS, *MADE[:3000]])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x +",
        "x y",
        "x)",
        "(x",
        "nobody",
        "A[1",
        "f(x)",
        "sum(u[i], i = 1..d)",
        "sum(u[i], x = 1..n)",
        "each(u[i])",
        "each(u[i], i = 1..d)",
        "x + §",
        "d(x)/y",
        "E(r)",
    ],
)
def test_what_is_no_print_is_not_read(text):
    with pytest.raises(ParseError):
        parse_plain(text, NAMES)


NO_LATEX = [
    "",
    "x +",
    "x )",
    "(x",
    "(x, y",
    r"\frac{x}",
    r"\frac{x}{y",
    r"\mathrm{nobody}",
    r"\nabla x",
    "A_{i",
    r"\sum_{i = 1}^{d} x",
    "I",
    "f(x)",
]
NO_LATEX += [
    r"\sum_{x = 1}^{n} x",
    r"(u_{i})_{i = 1}^{d}",
    r"(u_{i})_{x = 1}^{n}",
    r"(u_{i})_{i = 1}",
    r"(A_{i j})_{i = 1, j = 1}^{n}",
    r"(A_{i j})_{i = 1, j}^{n, n}",
    r"\operatorname{E}(r)",
    r"\mathbf{1}",
    r"\left|x",
    r"\begin{pmatrix}x",
    "A^{-2}",
    "x^{",
    r"\operatorname{f}(x)",
]


@pytest.mark.parametrize("text", NO_LATEX)
def test_what_is_no_formula_is_not_read(text):
    with pytest.raises(ParseError):
        parse_latex(text, NAMES)


@pytest.mark.parametrize("text", ["A + x", "A @ x", "u[1, 2]", "softmax(x)"])
def test_shapes_that_do_not_go_together_are_not_read(text):
    with pytest.raises(KernelError):
        parse_plain(text, NAMES)


# Functions beside what could be taken for their argument, and norms within norms, whose bars are the same on both sides.
FUNCTIONS = [
    f
    for a in (cos, sin, tanh, exp, log, absolute)
    for f in (
        a(x),
        a(x) ** 2,
        a(x**2),
        -a(x),
        a(-x),
        a(x) * y,
        a(x * y),
        y * a(x),
        a(x) * paren(y),
        a(x) * A,
        a(u),
        a(u)[1],
        a(A).T,
        a(A.T),
    )
]
FUNCTIONS += [cos(sin(x)), sin(cos(x)), cos(x) / 2, cos(x / 2), exp(cos(x)), exp(cos(x) / 2), total(cos(u[i]), i), cos(total(u[i], i))]
FUNCTIONS += [norm(u) ** 2, norm(u) * v_a, norm(u + v_a), norm(u) + norm(v_a), norm(2 * u), 2 * norm(u), norm(A @ u), -norm(u)]
FUNCTIONS += [norm(norm(u) * v_a), norm(u * norm(v_a) - u), norm(u) * v_a * norm(-u), absolute(norm(u)), norm(absolute(u)), norm(cos(u))]


@pytest.mark.parametrize("back", READERS.values(), ids=READERS)
def test_functions_are_read_back_from_their_print(back):
    for e in FUNCTIONS:
        assert back(e, NAMES) == strip_brackets(e), plain(e)


def test_no_two_prints_of_functions_look_alike(monkeypatch):
    refuse_two_of_one_print(FUNCTIONS)
    function = Printer.function
    monkeypatch.setattr(
        Printer, "function", lambda self, e: rf"\lVert {self.show(e.args[0])} \rVert" if e.data == "norm" else function(self, e)
    )
    with pytest.raises(AssertionError, match="and another"):  # ‖u ‖v‖ - u‖ is read in two ways
        refuse_two_of_one_print(FUNCTIONS)


def test_a_tree_rebuilt_is_the_same():
    for e in MADE[:2000]:
        assert rebuild(e, e.args) == e
