"""The record of a checked claim, field by field; pages show only what it contains."""

import re
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

from derivations.kernel import (
    Derivation,
    E,
    Var,
    gaussian,
    has_moment,
    in_range,
    independent,
    index,
    invertible,
    matrix,
    mean,
    nonnegative,
    nonzero,
    ones,
    positive,
    product_is,
    random,
    representable,
    scalars,
    sizes,
    sqrt,
    total,
    variance,
    vector,
)
from derivations.kernel.check import runner, witnesses
from derivations.kernel.check.claim_records import check_claim, make_record, reject_idle_definition
from derivations.kernel.check.symbol_table import list_symbols
from derivations.kernel.check.worker import check_claims
from derivations.kernel.command.run_script import run_script
from derivations.kernel.core.assumptions import describe_assumption
from derivations.kernel.core.claims import Rejected, Verdict
from derivations.kernel.core.expr import lift
from derivations.kernel.exact.exact_evaluation import evaluate
from derivations.kernel.exact.flint_numbers import to_fmpq
from derivations.kernel.exact.value_printing import nest_entries, number_to_latex
from derivations.kernel.exact.witness import exact
from derivations.kernel.printing.latex import latex, value_latex
from tests.kernel.common import GOOD, has_code

d, n = sizes("d n")
x, y, a = scalars("x y a_b")
A, B = matrix("A", n, n), matrix("B", n, n)
z = vector("z", n)
q, k = random("q", d), random("k", d)
i, j = index("i", n), index("j", n)
SHAPES, LAW, HERE = (
    "every shape",
    "expectation of the normal form, split by which indices coincide",
    "both sides evaluated exactly at the counterexample",
)


def stated(state):
    derivation = Derivation("test")
    state(derivation)
    return derivation.claims[-1]


VERDICTS = {
    "an identity of numbers": (
        lambda D: D.identity("claim", x * (y + 1), x * y + x),
        ("proved", "every value", "both sides have one normal form"),
    ),
    "an identity of matrices": (lambda D: D.identity("claim", (A @ B).T, B.T @ A.T), ("proved", SHAPES, "both sides have one normal form")),
    "a chain": (
        lambda D: D.chain("claim", x * (y + 1), (x * y + x, "expand")),
        ("proved", "every value", "both sides have one normal form"),
    ),
    "a law": (lambda D: D.identity("claim", Var(q[1]), E(q[1] ** 2), given=[mean(q, 0), has_moment(q, 2)]), ("proved", SHAPES, LAW)),
    "an inequality": (
        lambda D: D.inequality("claim", 2 * x * y, x**2 + y**2, because=(x - y) ** 2),
        ("proved", "every value", "the difference is visibly not negative"),
    ),
    "a limit": (lambda D: D.limit("claim", (d + 1) / d, d, "oo", 1), ("proved", "limit", "series with exact coefficients")),
    "a refutation": (lambda D: D.refute("claim", x, y, at={x: 1, y: 2}), ("refuted", "exact counterexample", HERE)),
    "a definition": (
        lambda D: D.define("p", x + 1, id="claim"),
        ("not applicable", "notation", "a definition has nothing to prove; its name is new, and it is defined under what is stated"),
    ),
}


@pytest.mark.parametrize("state, says", VERDICTS.values(), ids=VERDICTS)
def test_the_exact_witness_says_how_far_it_reached(state, says):
    verdict = exact(stated(state))
    assert (verdict.name, verdict.verdict, verdict.scope, verdict.note) == ("exact", *says)


ASSUMED = {
    "x is positive": positive(x),
    "x is not negative": nonnegative(x),
    "x is not zero": nonzero(x),
    "A is invertible": invertible(A),
    "the product of A and Aᵀ is zero": product_is(A, A.T, 0),
    "the product of A and Aᵀ is the identity": product_is(A, A.T, 1),
    "the product of A and Aᵀ is 3 times the identity": product_is(A, A.T, 3),
    "the entries of q are independent": independent(q),
    "the entries of q and k are independent": independent(q, k),
    "each entry of q has mean x": mean(q, x),
    "each entry of q has variance 2": variance(q, 2),
    "q is Gaussian": gaussian(q),
    "q and k are Gaussian": gaussian(q, k),
    "x and y are numbers of fp32": representable(x, y),
    "no exponent leaves the format's range": in_range(),
    "z[i] is positive, for every i": positive(z[i]),
    "A[j, i] is not zero, for every i, for every j": nonzero(A[j, i]),
}


@pytest.mark.parametrize("text", ASSUMED)
def test_an_assumption_in_words(text):
    assert describe_assumption(ASSUMED[text]) == text


def test_an_assumption_on_a_page_has_its_names_as_formulas():
    assert describe_assumption(nonzero(A[j, i] - a), latex_names=True) == "$A_{j i} - a_{b}$ is not zero, for every $i$, for every $j$"


def test_every_field_of_a_record():
    def state(D):
        D.identity("first", x * (y + 1), x * y + x)
        D.chain("claim", x * y / x, (y * x / x, "swap"), (y, "cancel"), given=[nonzero(x)], uses=["first"], title="A title")

    claim = stated(state)
    verdicts = [
        Verdict("exact", "proved", "every value", "seen", 0.12345, ("what fails",)),
        Verdict("other", "not applicable", "", "no reason", 2.0),
    ]
    assert make_record(claim, verdicts) == {
        "id": "claim",
        "kind": "chain",
        "title": "A title",
        "line": claim.line,
        "start": r"\frac{x y}{x}",
        "latex": r"\frac{x y}{x} = y",
        "steps": [
            {"relation": "=", "latex": r"\frac{y x}{x}", "reason": "swap", "witnesses": ["exact"]},
            {"relation": "=", "latex": "y", "reason": "cancel", "witnesses": ["exact"]},
        ],
        "letters": [{"latex": name, "is": "a number", "axes": []} for name in "xy"],
        "assumptions": [{"text": "$x$ is not zero", "needed": "what fails"}],
        "scope": "every value",
        "witnesses": [
            {"name": "exact", "verdict": "proved", "scope": "every value", "note": "seen", "seconds": 0.123},
            {"name": "other", "verdict": "not applicable", "scope": "", "note": "no reason", "seconds": 2.0},
        ],
        "uses": ["first"],
        "because": [],
        "code": [],
    }


def test_every_witness_is_asked_by_its_name_and_its_time_is_its_own(monkeypatch):
    claim = stated(lambda D: D.identity("claim", x * (y + 1), x * y + x))
    clock = iter([1, 3, 10, 14, 100, 108])
    monkeypatch.setattr(witnesses, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    seen = [(w["name"], w["verdict"], w["seconds"]) for w in check_claim(claim)["witnesses"]]
    assert seen == [("exact", "proved", 2), ("sympy", "proved", 4), ("torch", "agrees", 8)]


LIMITS = {"oo": (d, "oo", r"\xrightarrow{d \to \infty}"), "0": (x, 0, r"\xrightarrow{x \to 0^{+}}")}


@pytest.mark.parametrize("variable, to, arrow", LIMITS.values(), ids=LIMITS)
def test_a_limit_names_what_moves_and_where(variable, to, arrow):
    claim = stated(lambda D: D.limit("claim", variable / variable**2 + 1, variable, to, 1))
    assert make_record(claim, [Verdict("exact", "proved", "limit", "")])["steps"][0]["relation"] == arrow


FORMULAS = {
    "a definition": (lambda D: D.define("p", x + 1), r"p \coloneqq x + 1", []),
    "an inequality": (
        lambda D: D.inequality("claim", 2 * x * y, x**2 + y**2, because=(x - y) ** 2),
        r"2 x y \le x^{2} + y^{2}",
        [r"(x - y)^{2}"],
    ),
    "a refuted equality": (lambda D: D.refute("claim", x, y, at={x: 1, y: 2}), r"x \ne y", []),
    "a refuted inequality": (lambda D: D.refute("claim", x, y, at={x: 1, y: 0}, relation="<="), r"x \nleq y", []),
}


@pytest.mark.parametrize("state, shown, because", FORMULAS.values(), ids=FORMULAS)
def test_a_formula_has_the_relation_that_was_checked(state, shown, because):
    made = check_claim(stated(state))
    assert made["latex"].replace(r"\left", "").replace(r"\right", "") == shown
    assert [b.replace(r"\left", "").replace(r"\right", "") for b in made["because"]] == because


def test_where_nothing_was_proved_the_scope_is_notation():
    assert make_record(stated(lambda D: D.define("p", x + 1)), [Verdict("exact", "not applicable", "", "")])["scope"] == "notation"


REFUTED = {
    "numbers": (
        lambda D: D.refute("claim", x + a, 2 * x, at={x: Fraction(1, 2), a: -3}),
        ["x = \\frac{1}{2}", "a_{b} = -3"],
        r"-\frac{5}{2}",
        "1",
    ),
    "vectors": (lambda D: D.refute("claim", z, 2 * z, at={z: [1, 0, -2]}), ["z = (1, 0, -2)"], "(1, 0, -2)", "(2, 0, -4)"),
    "matrices": (
        lambda D: D.refute("claim", A, A.T, at={A: [[0, 1], [2, 3]]}),
        [r"A = \begin{pmatrix}0 & 1 \\ 2 & 3\end{pmatrix}"],
        r"\begin{pmatrix}0 & 1 \\ 2 & 3\end{pmatrix}",
        r"\begin{pmatrix}0 & 2 \\ 1 & 3\end{pmatrix}",
    ),
    "a wide matrix": (
        lambda D: D.refute("claim", matrix("U", n, 3), 2 * matrix("U", n, 3), at={matrix("U", n, 3): [[0, 1, 2], [3, 4, 5]]}),
        [r"U = \begin{pmatrix}0 & 1 & 2 \\ 3 & 4 & 5\end{pmatrix}"],
        r"\begin{pmatrix}0 & 1 & 2 \\ 3 & 4 & 5\end{pmatrix}",
        r"\begin{pmatrix}0 & 2 & 4 \\ 6 & 8 & 10\end{pmatrix}",
    ),
    "under an assumption": (
        lambda D: D.refute("claim", x / y, x, at={x: 3, y: 2}, given=[nonzero(y)], without={nonzero(y): {x: 1, y: 0}}),
        ["x = 3", "y = 2"],
        r"\frac{3}{2}",
        "3",
    ),
    "a law": (
        lambda D: D.refute(
            "claim", Var(q @ k), d**2, at={d: 2, x: 3}, given=[independent(q, k), mean(q, 0), mean(k, 0), variance(q, x), variance(k, 1)]
        ),
        ["d = 2", "x = 3"],
        "6",
        "4",
    ),
}


@pytest.mark.parametrize("state, at, left, right", REFUTED.values(), ids=REFUTED)
def test_a_refutation_shows_its_counterexample_and_both_sides(state, at, left, right):
    claim = stated(state)
    made = make_record(claim, [exact(claim)])
    assert [one["latex"] for one in made["counterexample"]] == at
    assert (made["left"], made["right"], made["refuted"]) == (left, right, "=")


def test_values_that_are_not_rational_are_decimals():
    two = evaluate(sqrt(lift(2)), {})
    assert number_to_latex(two[()]).startswith("1.41421") and number_to_latex(to_fmpq(Fraction(1, 3))) == r"\frac{1}{3}"
    assert value_latex(nest_entries({(0,): to_fmpq(1), (1,): two[()]}), number_to_latex).startswith("(1, 1.41421")


def test_a_value_of_one_row_is_a_matrix():
    assert (
        value_latex(((lift(1), lift(2)),)) == r"\begin{pmatrix}1 & 2\end{pmatrix}" and value_latex(lift(Fraction(1, 2))) == r"\frac{1}{2}"
    )


@pytest.mark.parametrize("name", ["q_k", "a_1", "eps", "rq"])
def test_a_name_with_braces_in_its_latex_stands_in_an_assumption_as_it_is(name):
    """The words were filled in twice, so that the braces of a name were taken for places to fill."""
    q, other = random(name, d), random("b_0", d)
    for words in (independent(q, other), gaussian(q), gaussian(q, other), mean(q, 0), representable(x / 2, y)):
        text = describe_assumption(words, latex_names=True)
        assert all(f"${latex(argument)}$" in text for argument in words.args), text
    claim = stated(lambda D: D.identity("claim", E(q @ other), 0, given=[independent(q, other), mean(q, 0), has_moment(other, 1)]))
    assert check_claim(claim)["assumptions"][0]["text"] == f"the entries of ${latex(q)}$ and $b_{{0}}$ are independent"


STATED = {
    "a relation": "so sum = mean",
    "in a formula": r"as $0 \mid 1$",
    "spoken in one": r"as $x \text{ is } y$",
    "a tilde": "x ~ y",
    "two dashes": "0 −− 1",
    "code": "`0 = 1`",
    "what is not seen": "x \u202e y",
    "what is no formula": r"the $\frac{x}$",
    "a number": 5,
}


@pytest.mark.parametrize("text", STATED.values(), ids=STATED)
@pytest.mark.parametrize("place", ["title", "reason"])
def test_what_is_said_beside_a_claim_states_nothing(place, text):
    claim = stated(lambda D: D.chain("sum", x + y, (y + x, "as told"), title="A sum"))
    told = {"title": text} if place == "title" else {"steps": (replace(claim.steps[0], reason=text),)}
    assert check_claim(claim)["title"] == "A sum"
    with pytest.raises(Rejected, check=has_code("invalid-text"), match=f"its {place} ") as error:
        check_claim(replace(claim, **told))
    assert error.value.line == claim.line


def test_the_title_of_a_derivation_states_nothing(tree):
    tree.script.write_text(tree.script.read_text().replace('Derivation("', 'Derivation("0 = 1: ', 1))
    (problem,) = runner.check_script("chapter/tiny", tree.script, True, lambda done, more: None).problems
    assert re.search(r"tiny\.py:\d+: the title of the derivation, '0 = 1: .*' states a relation \(=\)", problem)


# What each letter is


def test_a_record_says_what_each_letter_is():
    size, times = sizes("d N")
    made, other, number, row = matrix("A", size, 3), random("q", size), scalars("B"), index("i", size)
    derivation = Derivation("test")
    derivation.identity("claim", total(E(other[row]) * (made @ ones(3))[row] * number * times, row), 0, given=[mean(other, 0)])
    assert list_symbols(derivation.claims[0]) == [
        {"latex": "A", "is": "a matrix", "axes": ["d", "3"]},
        {"latex": "q", "is": "a random vector", "axes": ["d"]},
        {"latex": "B", "is": "a number", "axes": []},
        {"latex": "i", "is": "an index", "axes": ["d"]},
        {"latex": "N", "is": "a size", "axes": []},
        {"latex": "d", "is": "a size", "axes": []},
    ]


def test_a_definition_that_nothing_is_compared_with_is_rejected():
    derivation = Derivation("test")
    count = derivation.define("N", 7 * n * d, code=[("snippets.a.b.count", n, d)])
    derivation.define("M", 2 * count)
    with pytest.raises(Rejected) as error:
        reject_idle_definition(derivation.claims[1], derivation.claims)
    assert error.value.code == "idle-definition" and "nothing is compared with M" in error.value.message
    reject_idle_definition(derivation.claims[0], derivation.claims)
    reject_idle_definition(replace(derivation.claims[0], code=()), derivation.claims)  # M contains N


def test_a_check_rejects_an_idle_definition(tmp_path):
    script, found = tmp_path / "script.py", []
    script.write_text(GOOD + 'N = derivation.define("N", 7 * n)\nderivation.define("M", 2 * N)\n')
    check_claims(script, lambda event, **content: found.append((event, content)), {})
    assert [(content["claim"]["id"], content["verdict"]) for event, content in found if event == "claim"] == [
        ("good", "holds"),
        ("define-n", "holds"),
        ("define-m", "rejected"),
    ]


def test_a_script_that_is_run_on_its_own_rejects_an_idle_definition(capsys):
    derivation = Derivation("test")
    derivation.define("N", 7 * n)
    with pytest.raises(SystemExit) as stopped:
        run_script(derivation)
    assert stopped.value.code == 1 and "nothing is compared with N" in capsys.readouterr().out
