"""Wrong results of SymPy 1.14. If one of these tests fails, SymPy has changed: look at what that allows and what it breaks."""

from pathlib import Path

import pytest
import sympy as sp
from sympy import stats
from sympy.printing.pytorch import torch_code

from derivations.kernel import Derivation, I, diff, each, exp, index, largest, log, matrix, nonzero, scalars, sizes, sqrt, total, vector
from derivations.kernel.core.expr import lift
from derivations.kernel.exact.assumption_facts import collect_facts
from derivations.kernel.exact.proofs import find_difference
from derivations.kernel.store import project_files
from derivations.kernel.sympy import witness as sympy_witness

n, i, j = sp.Symbol("n", integer=True, positive=True), sp.Symbol("i", integer=True), sp.Symbol("j", integer=True)
s = sp.IndexedBase("s")
A, B, C, M = (sp.MatrixSymbol(name, 3, 3) for name in "ABCM")
x, w = sp.symbols("x w")
real = sp.Symbol("real", real=True)


def test_the_version_that_these_are_about():
    assert sp.__version__.startswith("1.14.")


def test_products_are_flattened_so_that_associativity_is_vacuous():
    assert sp.Eq((A * B) * C, A * (B * C)) is sp.true
    assert ((A * B) * C).args == (A, B, C)


def test_a_substitution_captures_the_variable_of_a_sum():
    captured = sp.Sum(i * s[j], (j, 1, n)).subs(i, j)
    assert captured == sp.Sum(j * s[j], (j, 1, n))


def test_the_derivative_of_a_sum_by_its_own_dummy_is_a_sum_of_ones():
    assert sp.Sum(s[j], (j, 1, n)).diff(s[j]) == sp.Sum(1, (j, 1, n))


def test_a_sum_is_evaluated_to_nothing():
    peak = sp.Sum(sp.exp(-((w - 30) ** 2)), (w, 0, 60))
    assert abs(peak.n()) < 1e-6
    assert abs(sum(sp.exp(-((k - 30) ** 2)).n() for k in range(61)) - 1.7726) < 1e-4


def test_a_sum_of_one_random_symbol_is_that_symbol_many_times():
    X = stats.Normal("X", 0, 1)
    assert sp.simplify(stats.variance(sp.Sum(X, (i, 1, n))).doit()) == n**2


def test_a_random_symbol_is_its_name():
    assert stats.variance(stats.Normal("Z", 0, 1) + stats.Normal("Z", 0, 1)) == 4
    assert stats.variance(stats.Normal("Z", 0, 1) + stats.Normal("Y", 0, 1)) == 2


def test_the_derivative_of_a_trace_plus_a_constant_is_zero():
    assert (sp.Trace(M) + 1).diff(M) == sp.ZeroMatrix(3, 3) == sp.exp(sp.Trace(M)).diff(M)
    assert sp.Trace(M).diff(M) == sp.Identity(3)


def test_a_quotient_loses_its_condition():
    assert x / x == 1 and (x**2 / x) == x


def test_a_renamed_dummy_makes_another_sum():
    one, other = sp.Sum(s[i], (i, 1, n)), sp.Sum(s[j], (j, 1, n))
    assert one != other and sp.simplify(one - other) != 0
    size = sizes("n")
    v, first, second = vector("v", size), index("i", size), index("j", size)
    assert not find_difference(total(v[first], first), total(v[second], second), collect_facts(()))


def test_swapped_sums_are_not_proved_equal():
    a = sp.IndexedBase("a")
    one, other = sp.Sum(a[i, j], (i, 1, n), (j, 1, n)), sp.Sum(a[i, j], (j, 1, n), (i, 1, n))
    assert one != other and one.doit() != other.doit()


def test_code_for_torch_is_partly_invalid():
    assert torch_code(A.T) == "torch.transpose(A).t()"  # torch.transpose needs to be told which axes
    assert torch_code(sp.Max(x, 2)) == "torch.max(2, x)"  # torch.max takes no number


def test_equals_answers_false_for_equal_expressions():
    """Each side is z_i where i = j, and 0 elsewhere. The kernel does not ask `.equals` anything."""
    delta = sp.KroneckerDelta(i, j)
    assert (delta * s[i]).equals(delta * s[j]) is False
    assert (sp.Sum(s[i], (i, 1, n))).equals(sp.Sum(s[j], (j, 1, n))) is None
    files = sorted(Path(sympy_witness.__file__).parent.rglob("*.py"))
    assert len(files) > 10 and not [path.name for path in files if ".equals(" in path.read_text()]


def test_simplify_crashes_on_the_jacobian_of_softmax_at_a_symbolic_size():
    k = sp.Symbol("k", integer=True)
    jacobian = (sp.exp(s[i]) / sp.Sum(sp.exp(s[k]), (k, 1, n))).diff(s[j])
    with pytest.raises(StopIteration):
        sp.simplify(jacobian)


def test_latex_is_never_read():
    """parse_latex takes `2 3` for 23, and a macro that it does not know for letters; its parser is not installed with SymPy."""
    assert [p.name for p in project_files.kernel_files() if "sympy.parsing" in p.read_text()] == []


@pytest.mark.parametrize(
    "made, sympys",
    [(lambda v: log(-exp(v)), sp.log(-sp.exp(real))), (lambda v: sqrt(-exp(2 * v)), sp.sqrt(-sp.exp(2 * real)))],
    ids=["a logarithm", "a root"],
)
def test_what_has_no_real_value_has_a_slope_all_the_same(made, sympys, sympy_rejection):
    slope = sp.diff(sympys, real)
    assert slope == 1 or slope == sp.I * sp.exp(real)
    v = scalars("v")
    right = lift(1) if slope == 1 else I * exp(v)
    assert "is taken, which is n" in sympy_rejection(lambda D: D.identity("claim", diff(made(v), v), right)).message


def test_the_largest_of_what_is_undefined_is_an_error():
    divisor = sp.Symbol("divisor", real=True)
    with pytest.raises(ValueError, match="is not comparable"):
        sp.Max(real / divisor, 1).subs({real: 0, divisor: 0})
    v, A = scalars("v"), matrix("A", *sizes("n m"))
    row, column = index("i", A.shape[0]), index("l", A.shape[1])
    D = Derivation("Tests")
    largest_ratio = largest(each(v / A[row, column], column))
    logs = total(log(largest(exp(each(v / A[row, column], column)))), row)
    D.identity("claim", total(largest_ratio, row), logs, given=[nonzero(A[1, column])])
    assert sympy_witness.witness(D.claims[-1])[0] == "not applicable"
