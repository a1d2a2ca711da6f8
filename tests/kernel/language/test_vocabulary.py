"""The vocabulary of scripts: each name has a docstring with an example that runs, and each common mistake gets advice."""

import ast
import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import derivations.kernel as kernel
from derivations.kernel import Derivation, eye, matrix, scalars, sizes
from derivations.kernel.check.worker import load_script
from derivations.kernel.core.claims import LOADED, Rejected
from derivations.kernel.core.claims import Derivation as Core
from derivations.kernel.core.expr import Expr
from derivations.kernel.errors import KernelError, is_script, scripts
from derivations.kernel.exact.witness import exact
from tests.kernel.common import has_code

ROOT = Path(__file__).parents[3]
x, y = scalars("x y")
n = sizes("n")
METHODS = ("define", "identity", "chain", "inequality", "limit", "refute")


def explained(name):
    """The docstring of an exported name; that of a constant stands below it in the source."""
    value = getattr(kernel, name)
    if not isinstance(value, Expr):
        return inspect.getdoc(value) or ""
    body = ast.parse((ROOT / "derivations/kernel/core/constructors.py").read_text()).body
    (at,) = [k for k, node in enumerate(body) if isinstance(node, ast.Assign) and node.targets[0].id == name]
    return inspect.cleandoc(ast.literal_eval(body[at + 1].value))


TEXTS = {name: explained(name) for name in kernel.__all__} | {f"Derivation.{m}": inspect.getdoc(getattr(Derivation, m)) for m in METHODS}


@pytest.mark.parametrize("name", TEXTS)
def test_every_word_has_an_example_that_runs_and_claims_that_hold(name):
    before = len(LOADED)
    example = doctest.DocTestParser().get_doctest(TEXTS[name], {}, name, None, 0)
    assert TEXTS[name].partition(">>>")[0].strip() and example.examples
    result = doctest.DocTestRunner(verbose=False).run(example)
    assert result.attempted and not result.failed
    for claim in [claim for made in LOADED[before:] for claim in made.claims]:
        assert exact(claim).verdict == {"refutation": "refuted", "definition": "not applicable"}.get(claim.kind, "proved")


def test_an_example_that_claims_what_is_false_would_be_found():
    text = '>>> from derivations.kernel import *\n>>> Derivation("d").identity("claim", 2 * scalars("x"), 3 * scalars("x"))\n'
    before = len(LOADED)
    doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(text, {}, "false", None, 0))
    with pytest.raises(Rejected, check=has_code("false-claim")):
        exact(LOADED[before:][0].claims[0])


def test_help_shows_every_word_and_every_keyword():
    shown = subprocess.run(
        [sys.executable, "-c", "import pydoc, derivations.kernel as k; print(pydoc.plain(pydoc.render_doc(k)))"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "**more" not in shown and "**kw" not in shown
    for name in kernel.__all__:
        assert name in shown
    for keyword in ("given", "title", "uses", "without", "code"):
        assert shown.count(f"{keyword}: ") >= len(METHODS)


@pytest.mark.parametrize("method", METHODS)
def test_methods_take_keywords_by_name_alone(method):
    kinds = {p.kind for p in inspect.signature(getattr(Derivation, method)).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds


# Slips -------------------------------------------------------------------------------------------------------------------

SLIPS = {
    "a misspelt keyword": (lambda D: D.identity("claim", x * y, y * x, titel="A title"), "unknown-keyword"),
    "a misspelt keyword of a chain": (lambda D: D.chain("claim", x * y, (y * x, "swap"), use=["first"]), "unknown-keyword"),
    "a keyword like no other": (lambda D: D.identity("claim", x * y, y * x, zzz=1), "unknown-keyword"),
    "a missing certificate": (lambda D: D.inequality("claim", x, x + y**2), "wrong-arguments"),
    "one argument too many": (lambda D: D.identity("claim", x * y, y * x, "why", [], "title"), "wrong-arguments"),
    "a definition's keyword": (lambda D: D.define("p", x + 1, id="claim", giben=[]), "unknown-keyword"),
}


@pytest.mark.parametrize("state, code", SLIPS.values(), ids=SLIPS)
def test_a_wrong_call_is_rejected(state, code, rejection):
    assert rejection(state).code == code


def test_a_definition_with_a_wrong_keyword_is_known_by_the_id_it_would_have(rejection):
    assert rejection(lambda D: D.define("W_Q", x + 1, tilte="t"), id="define-w-q").code == "unknown-keyword"


def test_a_derivation_takes_a_title():
    before = len(LOADED)
    with pytest.raises(KernelError, check=has_code("unknown-keyword")):
        Derivation(titel="A title")
    with pytest.raises(KernelError, check=has_code("wrong-arguments")):
        Derivation("A title", [])
    assert len(LOADED) == before and issubclass(Derivation, Core)


@pytest.mark.parametrize("write", [lambda: True * x, lambda: x - False, lambda: 1 - (1 == 2) * x], ids=["times", "less", "a comparison"])
def test_a_truth_value_is_no_number(write):
    with pytest.raises(KernelError, check=has_code("not-an-expression")):
        write()


@pytest.mark.parametrize(
    "write", [lambda: x < y, lambda: x <= 1, lambda: x > 0, lambda: x >= y, lambda: sorted([x, y])], ids=["<", "<=", ">", ">=", "sorted"]
)
def test_an_order_is_claimed_as_an_inequality(write):
    with pytest.raises(KernelError, check=has_code("order-operator")):
        write()


NOT_MADE_FOR = {
    "no names": (lambda: scalars(""), "invalid-name"),
    "names as a list": (lambda: sizes(["n", "m"]), "invalid-name"),
    "a sum over none": (lambda: kernel.total(x), "not-an-index"),
    "a sum over a number": (lambda: kernel.total(x, y), "not-an-index"),
    "an inverse of a number": (lambda: kernel.inverse(2), "wrong-shape"),
    "a rank of a number": (lambda: kernel.rank(2), "wrong-shape"),
    "softmax of a list": (lambda: kernel.softmax([1, 2]), "not-an-expression"),
    "a derivative by a number": (lambda: kernel.diff(x, 2), "invalid-derivative-variable"),
}


@pytest.mark.parametrize("write, code", NOT_MADE_FOR.values(), ids=NOT_MADE_FOR)
def test_an_argument_of_another_kind_is_rejected(write, code):
    with pytest.raises(KernelError, check=has_code(code)):
        write()


def test_what_is_printed_is_what_messages_say():
    assert str(matrix("A", n, n) @ eye(n)) == "A @ eye(n)" and f"{kernel.positive(x)}" == "x is positive"


# == in scripts -----------------------------------------------------------------------------------------------------------

DELTA = """from derivations.kernel import Derivation, index, sizes, total, vector

n = sizes("n")
z, i, l = vector("z", n), index("i", n), index("l", n)
derivation = Derivation("A sum without one term")
"""
COMPARED = "== and != compare trees here, not values, so they are refused. For a Kronecker delta write eye(n)[i, l]; to claim"


def loaded(tmp_path, text):
    """Load a script as `check` does. Return None, or (line, message, id of the claim, code) if it fails."""
    script = tmp_path / "script.py"
    script.write_text(text)
    before = LOADED[:]
    try:
        return load_script(script)
    finally:
        LOADED[:] = before


@pytest.mark.parametrize(
    "line",
    [
        "derivation.identity('claim', total((1 - (i == l)) * z[l], l), 0 * z[1])",
        "kept = z[1] != z[1]",
        "alike = z == z",
        "alike = 0 == z[1]",
        "alike = [z] == [vector('z', n)]",
        "alike = (lambda a, b: a == b)(i, l)",
        "alike = [a for a in (i, l) if a == i]",
    ],
)
def test_a_comparison_in_a_script_is_refused(tmp_path, line):
    found, _, claim, code = loaded(tmp_path, DELTA + line + "\n")
    assert (found, code) == (DELTA.count("\n") + 1, "equality-operator") and claim == ("claim" if "identity" in line else None)


def test_a_comparison_in_a_script_that_runs_on_its_own_is_refused_with_no_traceback(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(DELTA + "alike = i == l\n")
    done = subprocess.run([sys.executable, script], cwd=ROOT, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)})
    assert done.returncode and done.stderr.startswith(f"{script}:6: {COMPARED}") and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "at = {i: 1, l: 2}; again = {index('i', n): at[i], index('l', n): at[index('l', n)]}; at.update(again)",
        "alike = i in (i, l)",
        "alike = i is i",
        "alike = len({z, vector('z', n)}) == 1",
        "alike = i.op == l.op",
    ],
)
def test_symbols_are_keys_and_members_in_a_script_all_the_same(tmp_path, line):
    stated = "derivation.identity('claim', total(z[l] - z[l], l), 0 * z[1])\n"
    assert loaded(tmp_path, DELTA + line + "\n" + stated) is None


def test_who_is_a_script():
    assert all(map(is_script, ["derivation", "__main__", "derivations.scaling.variance"]))
    assert not any(
        map(is_script, ["derivations.kernel.exact.normal_form", "derivations.kernel", "tests.kernel.language.test_vocabulary", "", "sympy"])
    )


def test_trees_are_compared_by_everything_else(monkeypatch):
    for watched in (True, False):
        monkeypatch.setattr(scripts, "watched", watched)
        assert x + y == scalars("x") + y and x != y and x != 1 and x * 1 != x
        assert {x + y: 1}[scalars("x") + y] == 1 and (eye(n)[1, 1] == eye(n)[1, 1]) is True


# Names that do not exist -----------------------------------------------------------------------------------------------

HEAD = "from derivations.kernel import Derivation, scalars\n\nx, y = scalars('x y')\nderivation = Derivation('A test')\n"
UNKNOWN = {
    "an assumption": (
        HEAD + "derivation.identity('claim', x * y / x, y, given=[nonzeor(x)])\n",
        5,
        "NameError: name 'nonzeor' is not defined; did you mean nonzero? The kernel has Derivation, E, I, ",
    ),
    "an assumption that is not imported": (
        HEAD + "derivation.identity('claim', x * y / x, y, given=[nonzero(x)])\n",
        5,
        "NameError: name 'nonzero' is not defined; write 'from derivations.kernel import nonzero'",
    ),
    "an import": (
        "from derivations.kernel import Derivation, postive\n",
        1,
        "ImportError: derivations.kernel has no postive; did you mean positive? It has Derivation, E, I, ",
    ),
    "an import like no other": (
        "from derivations.kernel import qqq\n",
        1,
        "ImportError: derivations.kernel has no qqq; it has Derivation, E, I, ",
    ),
    "an import from elsewhere": ("from fractions import Frac\n", 1, "ImportError: cannot import name 'Frac' from 'fractions'"),
    "a method": (
        HEAD + "derivation.idenity('claim', x, y)\n",
        5,
        "AttributeError: 'Derivation' object has no attribute 'idenity'; did you mean identity? It has chain, define, ",
    ),
    "PyTorch's method": (
        HEAD + "derivation.identity('claim', y,\n    x.sum(-1))\n",
        6,
        "AttributeError: 'Expr' object has no attribute 'sum'; a sum is written total(x[i], i), with i = index('i', n)",
    ),
    "PyTorch's method of the name of a function": (
        HEAD + "x.softmax(-1)\n",
        5,
        "AttributeError: 'Expr' object has no attribute 'softmax'; write softmax(...), which is a function",
    ),
    "an attribute": (
        HEAD + "x.Tr\n",
        5,
        "AttributeError: 'Expr' object has no attribute 'Tr'; did you mean T? There are T, Derivation, E, ",
    ),
    "PyTorch's keyword": (
        "from derivations.kernel import softmax\n" + HEAD + "derivation.identity('claim', y, softmax(x, dim=-1))\n",
        6,
        "TypeError: softmax() got an unexpected keyword argument 'dim'; write softmax(scores): return the softmax over the last axis: of a vector, ",
    ),
    "Python's function": (HEAD + "abs(x)\n", 5, "TypeError: bad operand type for abs(): 'Expr'; an absolute value is written absolute(x)"),
    "a function of math": (
        HEAD + "import math\nmath.exp(x)\n",
        6,
        "TypeError: must be real number, not Expr; the functions of derivations.kernel take expressions: exp, log, ",
    ),
    "a method of what is not the kernel's": (HEAD + "'x'.sum()\n", 5, "AttributeError: 'str' object has no attribute 'sum'"),
    "a power as on a blackboard": (
        HEAD + "x^2\n",
        5,
        "TypeError: unsupported operand type(s) for ^: 'Expr' and 'int'; a power is written x**2",
    ),
    "a dot": (HEAD + "x·y\n", 5, "NameError: name 'x·y' is not defined; a dot product is written x @ y, and another product x * y"),
    "a name of one's own": (
        HEAD + "qqq + 1\n",
        5,
        "NameError: name 'qqq' is not defined; no line before defines it, and the kernel has no such name",
    ),
}


@pytest.mark.parametrize("text, line, says", UNKNOWN.values(), ids=UNKNOWN)
def test_a_name_that_does_not_exist_is_met_with_those_that_do(tmp_path, text, line, says):
    found, message, claim, code = loaded(tmp_path, text)
    assert (found, code) == (line, "script-stopped") and claim == ("claim" if "'claim'" in text else None)
    assert message.startswith(f"the script stopped with {says}")


@pytest.mark.parametrize("name", ["an assumption", "an import", "a method", "PyTorch's keyword"])
def test_a_script_on_its_own_says_so_with_no_traceback(tmp_path, name):
    text, line, says = UNKNOWN[name]
    script = tmp_path / "script.py"
    script.write_text(text)
    done = subprocess.run([sys.executable, script], cwd=ROOT, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)})
    assert done.returncode == 1 and done.stderr.startswith(f"{script}:{line}: {says.partition(': ')[2]}") and "Traceback" not in done.stderr


def test_a_fault_of_the_kernel_itself_keeps_its_traceback(capsys):
    code = compile("def broken():\n    return nothing_at_all\n", "kernel.py", "exec")
    namespace = {"__name__": "derivations.kernel.exact.normal_form"}
    exec(code, namespace)  # noqa: S102
    try:
        namespace["broken"]()
    except NameError as error:
        sys.excepthook(NameError, error, error.__traceback__)
    assert capsys.readouterr().err.startswith("Traceback")
