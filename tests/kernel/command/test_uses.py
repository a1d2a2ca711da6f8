"""`python -m derivations uses`: what it reports about each use. No witness reads a use."""

import ast
from pathlib import Path

import click
import pytest

from derivations.kernel import Derivation, E, index, mean, random, scalars, sizes, total, vector
from derivations.kernel.command import uses_report
from derivations.kernel.store import certificates

KERNEL = Path(__file__).parents[3] / "derivations/kernel"
x, y, a, b = scalars("x y a b")
n = sizes("n")
u = vector("u", n)


@pytest.fixture
def derivation():
    made = Derivation("Squares")
    made.identity("square", (x + y) ** 2, x**2 + 2 * x * y + y**2)
    return made


def outcome(derivation):
    first, *_, last = derivation.claims
    return uses_report.classify_use(last, first)


@pytest.mark.parametrize(
    "left, right, said",
    [
        ((x + y) ** 2 - y**2, x**2 + 2 * x * y, "occurs"),
        ((b + a) ** 2 - b**2, a**2 + 2 * a * b, "occurs"),  # with other letters, in another order
        (3 + (x + y) ** 2 - y**2, x**2 + 2 * x * y + 3, "occurs"),
        ((x + y) ** 2 + (x + y) ** 2, 2 * (x + y) ** 2, "passed over"),
        ((2 * a + 3) ** 2 / 2 + (2 * a + 3) ** 2 / 2, (2 * a + 3) ** 2, "passed over"),
        ((x - y) * (x + y), x**2 - y**2, "not seen"),
        (x * (1 + y), x + x * y, "not seen"),
    ],
)
def test_a_use_is_looked_for_in_what_uses_it(derivation, left, right, said):
    derivation.identity("second", left, right, uses=["square"])
    assert outcome(derivation) == said


def test_a_definition_is_looked_into(derivation):
    s = derivation.define("s", (x + y) ** 2)
    derivation.identity("second", s - y**2, x**2 + 2 * x * y, uses=["square"])
    assert outcome(derivation) == "occurs"


def test_nothing_stands_for_what_runs_with_an_index_or_is_random():
    i = index("i", n)
    under_an_index = Derivation("Entries")
    under_an_index.identity("square", (x + y) ** 2, x**2 + 2 * x * y + y**2)
    under_an_index.identity("second", total((u[i] + x) ** 2, i) * 2, total((u[i] + x) ** 2, i) + total((u[i] + x) ** 2, i), uses=["square"])
    assert outcome(under_an_index) == "occurs"  # a letter that knew nothing of i would say something else
    r = random("r")
    at_random = Derivation("Means")
    at_random.identity("square", (x + y) ** 2, x**2 + 2 * x * y + y**2)
    at_random.identity("second", E((r + x) ** 2) * 2, E((r + x) ** 2) + E((r + x) ** 2), given=[mean(r, 0)], uses=["square"])
    assert outcome(at_random) == "occurs"


# The command --------------------------------------------------------------------------------------------------------------------

SCRIPT = """
from derivations.kernel import Derivation, scalars

x, y = scalars("x y")
derivation = Derivation("Squares")
derivation.identity("square", (x + y) ** 2, x**2 + 2 * x * y + y**2)
derivation.identity("other", x * (1 + y), x + x * y, uses=["square"])
"""


@pytest.fixture
def report(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(certificates, "topics", list)
    monkeypatch.setattr(uses_report, "unused_results", lambda topics: ["some/topic#end"])
    script = tmp_path / "squares.py"

    def make(text, **options):
        script.write_text(text)
        code = uses_report.main([("some/squares", script)], options.get("as_json", False))
        return code, capsys.readouterr()

    return make


def test_the_command_tells_what_it_found_and_how_much_there_was(report):
    code, said = report(SCRIPT)
    assert code == 0 and said.out.splitlines() == [
        "not seen     some/squares#other uses some/squares#square",
        "unused       some/topic#end",
        "1 claim with uses, 1 proved without; 1 use: 0 occurs, 0 passed over, 1 not seen; 1 result that nothing uses and no page shows as a theorem",
    ]


def test_a_claim_that_is_not_proved_alone_is_a_fault(report):
    code, said = report(SCRIPT.replace("x + x * y, uses", "x + y, uses"))  # which nobody proves
    assert code == 1 and "some/squares#other: not proved without its uses" in said.err


def test_a_use_of_what_is_not_there_stops_it(report):
    with pytest.raises(click.ClickException, match="some/squares#other uses 'else/where#gone', and there is no such claim"):
        report(SCRIPT.replace('["square"]', '["else/where#gone"]'))


# What the witnesses see ---------------------------------------------------------------------------------------------------------


def reads_uses(text):
    return any(isinstance(node, ast.Attribute) and node.attr == "uses" for node in ast.walk(ast.parse(text)))


def test_no_witness_reads_what_a_claim_uses():
    """The map says so to its readers."""
    assert reads_uses("def witness(claim):\n    return claim.uses") and not reads_uses("uses = 1")
    for room in ("exact", "sympy", "pytorch", "coq"):
        for path in sorted((KERNEL / room).rglob("*.py")):
            assert not reads_uses(path.read_text(encoding="utf-8")), path
