"""The table of operators: every printer and evaluator has a rule for each operator, or states that it has none."""

import pytest

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
    matrix,
    norm,
    paren,
    random,
    rank,
    rounded,
    scalars,
    sizes,
    softmax,
    total,
    vector,
    where,
    zeros,
)
from derivations.kernel.attack import mpmath_evaluation, rebuild_trees
from derivations.kernel.attack.parse_latex import parse_latex
from derivations.kernel.attack.parse_plain import parse_plain
from derivations.kernel.attack.print_round_trip import parse_script
from derivations.kernel.coq import notation as coq
from derivations.kernel.coq.reals import definedness
from derivations.kernel.coq.reals import notation as reals
from derivations.kernel.core import operators
from derivations.kernel.core.expr import Expr, free_indices, lift, named_nodes, node, operands, strip_brackets, walk
from derivations.kernel.core.operators import AVERAGE_OPERATORS, BINDERS, FUNCTIONS, OPERATORS, PARTIAL, TRANSPARENT, Op
from derivations.kernel.errors import KernelError
from derivations.kernel.exact import exact_evaluation, flint_numbers, tree_to_normal_form
from derivations.kernel.printing import latex, plain_text, script_text
from derivations.kernel.pytorch import evaluation, float_formats, nondifferentiable_points
from derivations.kernel.sympy import derivative_text, tree_to_sympy
from tests.kernel.common import has_code

# name: the operators that it has a rule for, and those that it says to have none for
RULES = {
    "exact, at numbers": (exact_evaluation.RULES, ()),
    "exact, normal form": (tree_to_normal_form.RULES, tree_to_normal_form.UNSUPPORTED),
    "SymPy": (tree_to_sympy.RULES, tree_to_sympy.UNSUPPORTED),
    "PyTorch": (evaluation.RULES, ()),
    "PyTorch, rounding bounds": (float_formats.RULES, float_formats.UNSUPPORTED),
    "Coq, MathComp": (coq.RULES, coq.UNSUPPORTED),
    "Coq, over the reals": (reals.RULES, reals.UNSUPPORTED),
    "the judge": (mpmath_evaluation.RULES, ()),
    "brackets": (latex.LEVEL, ()),
}
FUNCTION_RULES = {
    "exact, at numbers": ({**flint_numbers.NUMBER_FUNCTIONS, **exact_evaluation.VECTOR_FUNCTIONS}, ()),
    "exact, at series": ({**flint_numbers.SERIES_FUNCTIONS, **exact_evaluation.VECTOR_FUNCTIONS}, ()),
    "exact, normal form": (tree_to_normal_form.FUNCTIONS, ()),
    "SymPy": (tree_to_sympy.FUNCTIONS, ()),
    "PyTorch": (evaluation.FUNCTIONS, ()),
    "PyTorch, rounding bounds": (float_formats.FUNCTIONS, ()),
    "Coq, MathComp": (coq.FUNCTIONS, coq.UNSUPPORTED_FUNCTIONS),
    "Coq, over the reals": ({**reals.FUNCTIONS, **reals.OF_VECTORS}, reals.UNSUPPORTED_FUNCTIONS),
    "the judge": ({**mpmath_evaluation.OF_NUMBERS, **mpmath_evaluation.OF_VECTORS}, ()),
    "names in LaTeX": (latex.FUNCTION_NAMES, ()),
}
PRINTERS = {"LaTeX": latex.Printer(), "plain text": plain_text.Plain(), "scripts": script_text.Script()}


def printed_by(printer) -> set:
    """The operators that a printer has a form of its own for."""
    return {op for op in OPERATORS if op in latex.WORDS or callable(getattr(printer, op, None))}


def lacking(declared, tables: dict) -> list:
    """Say where a table has neither a rule nor an entry that says so, where it has both, and where it knows what is not declared."""
    found = []
    for name, (rules, unsupported) in tables.items():
        known = [*rules, *unsupported]
        found += [f"{name}: {known.count(op)} entries for {op}" for op in declared if known.count(op) != 1]
        found += [f"{name}: an entry for {op}, which is not declared" for op in known if op not in declared]
    return found


def test_every_evaluator_has_a_rule_for_every_operator():
    missing = lacking(OPERATORS, RULES)
    assert not missing, "; ".join(missing)


def test_every_evaluator_has_a_rule_for_every_function():
    missing = lacking(FUNCTIONS, FUNCTION_RULES)
    assert not missing, "; ".join(missing)


@pytest.mark.parametrize("printer", PRINTERS.values(), ids=PRINTERS)
def test_every_printer_has_a_form_for_every_operator(printer):
    missing = OPERATORS.keys() - printed_by(printer)
    assert not missing, missing


def test_a_new_operator_is_missed_everywhere(monkeypatch):
    monkeypatch.setitem(OPERATORS, "cumulated", Op("cumulated", 1, operators.same))
    assert {f"{name}: 0 entries for cumulated" for name in RULES} <= {*lacking(OPERATORS, RULES)}
    assert not any("cumulated" in printed_by(printer) for printer in PRINTERS.values())
    assert {f"{name}: 0 entries for erf" for name in FUNCTION_RULES} <= {*lacking((*FUNCTIONS, "erf"), FUNCTION_RULES)}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_that_is_taken_away_is_missed(name, monkeypatch):
    rules, _ = RULES[name]
    monkeypatch.delitem(rules, "softmax", raising=False)
    assert f"{name}: 0 entries for softmax" in lacking(OPERATORS, RULES)


def test_coq_says_where_what_may_have_no_value_has_one():
    partial = {op.name for op in OPERATORS.values() if op.partial} | {*PARTIAL}
    assert partial == definedness.OWN_NEEDS.keys() | partial & reals.UNSUPPORTED.keys()


def test_what_bends_is_known_wherever_slopes_are_taken():
    assert {*derivative_text.CORNERS} == {*nondifferentiable_points.CORNERS} == {*operators.NONSMOOTH}


# One tree for each operator --------------------------------------------------------------------------------------------------------

n, m = sizes("n m")
x, y = scalars("x y")
z, A, M, r = vector("z", n), matrix("A", n, m), matrix("M", n, n), random("r", n)
i, l = index("i", n), index("l", m)
TREES = {
    "const": lift(3),
    "imaginary": I,
    "symbol": x,
    "index": i,
    "defined": Expr("defined", (x + y,), (), ("w", "real")),
    "paren": paren(x + y),
    "add": x + y,
    "neg": -x,
    "mul": x * A,
    "div": A / x,
    "pow": x**y,
    "matmul": A @ matrix("B", m, 3),
    "transpose": A.T,
    "inverse": inverse(M),
    "rank": rank(A),
    "eye": eye(n),
    "fill": zeros(n, m),
    "array": array([[x, y]]),
    "sum": total(A[i, l], l),
    "each": each(A[i, l], l),
    "where": where(A[i, l], l - 1 < 2 * m),
    "entry": A[i, l],
    "function": exp(A),
    "softmax": softmax(A),
    "derivative": diff(z @ z, z[i]),
    "rounded": rounded(x),
    "expectation": E(r[i]),
    "variance": Var(r[i]),
}
NAMES = {s.data[0]: s for tree in TREES.values() for s in named_nodes(tree)} | {"I": I}


def test_there_is_a_tree_for_every_operator():
    assert [tree.op for tree in TREES.values()] == list(TREES)
    assert not OPERATORS.keys() ^ TREES.keys(), OPERATORS.keys() ^ TREES.keys()


@pytest.mark.parametrize("e", TREES.values(), ids=TREES)
def test_the_table_says_what_a_node_is(e):
    op = OPERATORS[e.op]
    assert op.name == e.op and op.arity in (None, len(e.args))
    assert node(e.op, *e.args, data=e.data, stated=e.shape) == e
    assert (e.bound_index is not None) == (op.binds == "index") == (e.op in BINDERS)
    assert free_indices(e) == {k for k in walk(e) if k.op == "index"} - {e.bound_index} | ({e} if e.op == "index" else set())
    assert len(operands(e)) == len(e.args) or operands(e) == e.args[:1]


@pytest.mark.parametrize("e", [e for e in TREES.values() if e.args], ids=[op for op in TREES if TREES[op].args])
def test_a_node_is_rebuilt_from_its_arguments(e):
    assert rebuild_trees.rebuild(e, e.args) == e
    with pytest.raises(KernelError):
        rebuild_trees.rebuild(Expr("frobnicate", e.args), e.args)


@pytest.mark.parametrize("e", TREES.values(), ids=TREES)
def test_a_node_is_read_back_from_each_of_its_prints(e):
    filled = [part for part in walk(e) if part.op in ("eye", "fill")]
    assert "\\" not in plain_text.plain(e) + script_text.script(e)
    assert strip_brackets(parse_plain(plain_text.plain(e), NAMES)) == strip_brackets(e)
    assert strip_brackets(parse_latex(latex.latex(e), NAMES, filled)) == strip_brackets(e)
    assert strip_brackets(parse_script(script_text.script(e), NAMES)) == strip_brackets(e)


# What does not fit ----------------------------------------------------------------------------------------------------------------

MISFITS = {
    "an operator that does not exist": (lambda: node("frobnicate", x), "unknown-operator"),
    "a function that does not exist": (lambda: node("function", x, data="erf"), "unknown-function"),
    "an argument too few": (lambda: node("add", x), "wrong-arguments"),
    "an argument too many": (lambda: node("softmax", z, z), "wrong-arguments"),
    "a tensor in a tensor that is written out": (lambda: node("array", z, stated=(lift(1),)), "wrong-shape"),
    "a sum of vectors": (lambda: node("sum", z, data=("i", n)), "wrong-shape"),
    "something complex rounded": (lambda: rounded(I * x), "not-real"),
}


@pytest.mark.parametrize("make, code", MISFITS.values(), ids=MISFITS)
def test_arguments_that_do_not_fit_are_refused(make, code):
    with pytest.raises(KernelError, check=has_code(code)):
        make()


def test_what_reduces_makes_a_number_of_a_vector():
    assert not norm(z).shape and absolute(z).shape == z.shape
    assert {*operators.ENTRYWISE, *operators.REDUCING} == {*FUNCTIONS} and {*operators.NONSMOOTH, *PARTIAL} <= {*FUNCTIONS}


def test_what_stands_in_and_what_averages():
    assert {"paren", "defined"} == TRANSPARENT and {"expectation", "variance"} == AVERAGE_OPERATORS
