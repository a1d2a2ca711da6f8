"""mypy checks the claim language and every script, and finds mistakes such as misspelt names before a script runs."""

from pathlib import Path

import pytest
from mypy import api

ROOT = Path(__file__).parents[3]
SLIPS = """from derivations.kernel import Derivation, matrix, nonzero, postive, scalars, sizes

x, y = scalars("x y")
n = sizes("n")
A = matrix("A", n, n)
derivation = Derivation("A test")
derivation.identity("keyword", x * y, y * x, titel="A title")
derivation.identity("assumption", x * y / x, y, given=[nonzeor(x)])
derivation.identity("given", x * y / x, y, given=[x])
derivation.identity("float", x * 0.5, x / 2)
derivation.limit("towards", x / n, n, "infinity", 0)
derivation.inequality("certificate", x, x + y**2, becuase=y**2)
derivation.refute("values", x, y, at=[1])
B = matrix("B", n)
x.transpose
derivation.identity("fine", A @ A, A @ A, given=[nonzero(x)])
"""
FOUND = {
    1: 'has no attribute "postive"; maybe "positive"?',
    7: 'Unexpected keyword argument "titel" for "identity" of "Derivation"; did you mean "title"?',
    8: 'Name "nonzeor" is not defined',
    9: 'List item 0 has incompatible type "Expr"; expected "Assumption"',
    10: 'Unsupported operand types for * ("Expr" and "float")',
    11: "expected \"Literal['oo', 0]\"",
    12: 'Unexpected keyword argument "becuase" for "inequality" of "Derivation"; did you mean "because"?',
    13: '"list[int]"; expected "Mapping[Expr,',
    14: 'Missing positional argument "columns" in call to "matrix"',
    15: '"Expr" has no attribute "transpose"',
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Return what mypy says of the kernel, of all scripts, and of one script with mistakes, by file and line.

    mypy's cache is the one that `make lint` filled just before.
    """
    script = tmp_path_factory.mktemp("types") / "slips.py"
    script.write_text(SLIPS)
    out, err, _ = api.run(["--config-file", str(ROOT / "pyproject.toml"), str(ROOT / "derivations"), str(script)])
    assert not err, err
    found = {}
    for line in out.splitlines():
        if ": error: " in line:
            place, _, message = line.partition(": error: ")
            file, _, number = place.rpartition(":")
            found.setdefault(Path(file).name if Path(file).name == script.name else file, {})[int(number)] = message
    return found, out


@pytest.mark.parametrize("line", FOUND)
def test_a_slip_is_found(said, line):
    assert FOUND[line] in said[0]["slips.py"].get(line, ""), said[0]["slips.py"]


def test_what_is_right_is_left_alone(said):
    assert set(said[0]["slips.py"]) == set(FOUND)


def test_the_language_and_all_scripts_are_clean(said):
    assert set(said[0]) == {"slips.py"}, said[1]


def test_every_script_was_read(said):
    checked = int(said[1].rpartition("(checked ")[2].split()[0])
    assert checked == 1 + len([p for p in (ROOT / "derivations").rglob("*.py")])
