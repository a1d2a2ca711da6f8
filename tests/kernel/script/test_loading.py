"""Tests of the loading of scripts without a witness."""

import subprocess
import sys

import pytest

from derivations.kernel.core import claims
from derivations.kernel.script.claim_latex import claim_latex
from derivations.kernel.script.loading import load_script

SCRIPT = """from derivations.kernel import Derivation, scalars

a, b = scalars("a b")
derivation = Derivation("A square")
derivation.chain("square", (a + b) ** 2, ((a + b) * (a + b), "a square"), (a * a + 2 * a * b + b * b, "multiply"))
derivation.limit("falls", 1 / a, a, "oo", 0)
"""


@pytest.fixture
def load(tmp_path):
    def load(text):
        path = tmp_path / "script.py"
        path.write_text(text, encoding="utf-8")
        return load_script(path)

    return load


def test_a_script_puts_its_claims_where_they_are_found(load):
    assert load(SCRIPT) is None
    assert [claim.id for claim in claims.LOADED[0].claims] == ["square", "falls"]


def test_claims_are_written_as_latex(load):
    load(SCRIPT)
    square, falls = map(claim_latex, claims.LOADED[0].claims)
    assert square == "(a + b)^{2} = (a + b) \\cdot (a + b) = a a + 2 a b + b b" or square.count("=") == 2
    assert falls == r"\frac{1}{a} \xrightarrow{a \to \infty} 0"


@pytest.mark.parametrize(
    "text, line, code",
    [
        ("x = (", 1, "not-python"),
        ("\n\n1 / 0", 3, "script-stopped"),
        ("", 0, "no-derivation"),
        (SCRIPT.partition("derivation.chain")[0], 4, "no-claim"),
        (SCRIPT + "derivation.identity('shape', a, [1])", 7, "not-an-expression"),
    ],
)
def test_the_line_at_fault_is_found(load, text, line, code):
    problem = load(text)
    assert (problem.line, problem.code) == (line, code), problem


def test_loading_needs_neither_pytorch_nor_math_core():
    code = "import derivations.kernel.script.loading, sys; print([name for name in ('torch', 'math_core', 'sympy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
