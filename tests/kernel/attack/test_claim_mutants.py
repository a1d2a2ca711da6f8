"""Each mutation operator does what its name says; weak witnesses are caught, equivalent mutants recognised, and results stored."""

import json
import signal
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace

import pytest

from derivations.kernel import (
    Derivation,
    E,
    Var,
    cos,
    diff,
    exp,
    eye,
    gaussian,
    has_moment,
    independent,
    index,
    inverse,
    invertible,
    matrix,
    mean,
    nonnegative,
    nonzero,
    norm,
    positive,
    product_is,
    random,
    rank,
    scalars,
    sin,
    sizes,
    softmax,
    sqrt,
    total,
    variance,
    vector,
)
from derivations.kernel.attack import mutant_trials
from derivations.kernel.attack.claim_mutants import TreeCache, is_well_typed, make_mutants
from derivations.kernel.attack.equivalent_rewrites import make_controls
from derivations.kernel.attack.judge import judge
from derivations.kernel.attack.random_points import CACHED_POINT_SETS, POINT_CACHE, POINTS, draw_points, generate_points
from derivations.kernel.attack.rebuild_trees import transform_tree
from derivations.kernel.check import mutation_run, runner, worker
from derivations.kernel.command import mutants_report as command_mutants
from derivations.kernel.core import claims
from derivations.kernel.core.constructors import paren
from derivations.kernel.core.expr import walk
from derivations.kernel.store import certificates, mutant_results, project_files, store
from derivations.kernel.store.store import Differs, Folder, Recheck
from tests.kernel.common import has_code

n, m, d_k = sizes("n m d_k")
A, B, S, W = matrix("A", n, m), matrix("B", m, n), matrix("S", n, n), matrix("W", n, n)
Q, K = matrix("Q", n, d_k), matrix("K", n, d_k)
v, u = vector("v", n), vector("u", n)
q, k = random("q", n), random("k", n)
x, y = scalars("x y")
i, j = index("i", n), index("j", n)


def stated(method, *arguments, **more):
    derivation = Derivation("test")
    getattr(derivation, method)("claim", *arguments, **more)
    return derivation.claims[-1]


def described(claim, operator=None):
    return {mutant_trials.describe(mutant)["mutant"] for mutant in make_mutants(claim) if operator in (None, mutant.operator)}


PREFIX = stated("identity", total(v[i], i, where=i <= j) + total(v[i], i, where=j < i), total(v[i], i))
SLIPS = [
    ("sign", stated("identity", exp(x - y), exp(x) / exp(y)), "exp(x + y) = exp(x)/exp(y)"),
    ("sign", stated("identity", x - y, -(y - x)), "x - y = y - x"),
    ("factor", stated("identity", softmax(v), softmax(v + 0 * v)), "softmax(2*v) = softmax(v + 0*v)"),
    ("factor", stated("identity", x + y, y + x), "x + 2*y = y + x"),
    ("exponent", stated("identity", x**2, x * x), "x^3 = x*x"),
    ("exponent", stated("identity", x**2, x * x), "x^(-2) = x*x"),
    ("transpose", stated("identity", (S @ W).T, W.T @ S.T), "(S @ W)ᵀ = W @ Sᵀ"),
    ("transpose", stated("identity", (S @ W).T, W.T @ S.T), "(Sᵀ @ W)ᵀ = Wᵀ @ Sᵀ"),
    ("operands swapped", stated("identity", S @ W, S @ W + 0 * S), "W @ S = S @ W + 0*S"),
    ("operands swapped", stated("identity", x / y, x * (1 / y), given=[positive(y)]), "y/x = x*1/y; y is positive"),
    ("operands swapped", stated("identity", x - y, -(y - x)), "y - x = -(y - x)"),
    (
        "index replaced",
        stated("identity", (S @ W)[i, j], total(S[i, index("l", n)] * W[index("l", n), j], index("l", n))),
        "(S @ W)[j, i] = sum(S[i, l]*W[l, j], l = 1..n)",
    ),
    ("bound off by one", stated("identity", v @ u, total(v[i] * u[i], i)), "v @ u = sum(v[i]*u[i], i = 1..n) - v[1]*u[1]"),
    ("bound off by one", stated("identity", v @ u, total(v[i] * u[i], i)), "v @ u - v[1]*u[1] = sum(v[i]*u[i], i = 1..n)"),
    ("condition changed", PREFIX, "sum(v[i], i = 1..n, i < j) + sum(v[i], i = 1..n, j < i) = sum(v[i], i = 1..n)"),
    ("condition changed", PREFIX, "sum(v[i], i = 1..n, i <= j + 1) + sum(v[i], i = 1..n, j < i) = sum(v[i], i = 1..n)"),
    ("condition changed", PREFIX, "sum(v[i], i = 1..n, i <= j) + sum(v[i], i = 1..n) = sum(v[i], i = 1..n)"),
    ("term dropped", stated("identity", x + y, y + x), "x + y = y"),
    (
        "factor dropped",
        stated("identity", diff(softmax(v)[i], v[j]), softmax(v)[i] * (eye(n)[i, j] - softmax(v)[j])),
        "d(softmax(v)[i])/d(v[j]) = softmax(v)[i]",
    ),
    ("scale dropped", stated("identity", (Q @ K.T) / sqrt(d_k), (Q / sqrt(d_k)) @ K.T), "Q @ Kᵀ = Q/sqrt(d_k) @ Kᵀ"),
    ("scale dropped", stated("identity", (Q @ K.T) / sqrt(d_k), (Q / sqrt(d_k)) @ K.T), "(Q @ Kᵀ)/d_k = Q/sqrt(d_k) @ Kᵀ"),
    ("inverse dropped", stated("identity", inverse(S) @ S, eye(n), given=[invertible(S)]), "S @ S = eye(n); S is invertible"),
    ("function confused", stated("identity", cos(x) ** 2 + sin(x) ** 2, 1), "sin(x)^2 + sin(x)^2 = 1"),
    ("function confused", stated("identity", norm(v) ** 2, v @ v), "(v @ v)^2 = v @ v"),
    ("operation dropped", stated("identity", total(softmax(v)[i], i), 1), "sum(v[i], i = 1..n) = 1"),
    ("size changed", stated("identity", n * x, x * n), "(n + 1)*x = x*n"),
    ("size changed", stated("identity", n * m * x, x * n * m), "m*m*x = x*n*m"),
    ("name changed", stated("identity", x + y, y + x), "x + x = y + x"),
    ("wrong axis", stated("identity", softmax(S), softmax(S + 0 * S)), "softmax(Sᵀ)ᵀ = softmax(S + 0*S)"),
    (
        "moment confused",
        stated("identity", Var(q @ k), n, given=[independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)]),
        "E[q @ k] = n; the entries of q and k are independent; each entry of q has mean 0; each entry of k has mean 0; "
        "each entry of q has variance 1; each entry of k has variance 1",
    ),
    ("constant off by one", stated("identity", x + x, 2 * x), "x + x = 3*x"),
    ("product confused", stated("identity", S @ W, S @ W + 0 * S), "S*W = S @ W + 0*S"),
    ("relation turned", stated("inequality", 2 * x * y, x**2 + y**2, because=(x - y) ** 2), "x^2 + y^2 <= 2*x*y; because (x - y)^2"),
    ("certificate: sign", stated("inequality", 2 * x * y, x**2 + y**2, because=(x - y) ** 2), "2*x*y <= x^2 + y^2; because (x + y)^2"),
    (
        "constant off by one",
        stated("inequality", rank(matrix("a", n, 1) @ matrix("b", 1, m)), 1, because=(matrix("a", n, 1), matrix("b", 1, m))),
        "rank(a @ b) <= 0; because a; because b",
    ),
    ("limit's direction", stated("limit", 1 / x, x, "oo", 0), "1/x -> 0; x -> 0"),
    ("constant off by one", stated("limit", 1 / x, x, "oo", 0), "1/x -> 1; x -> oo"),
    ("assumption dropped", stated("identity", x / x, 1, given=[positive(x)]), "x/x = 1"),
    ("assumption weakened", stated("identity", x / x, 1, given=[positive(x)]), "x/x = 1; x is not negative"),
    ("assumption changed", stated("identity", E(q[1]), E(q[1]), given=[has_moment(q, 2)]), "E[q[1]] = E[q[1]]; each entry of q has a mean"),
    (
        "assumption weakened",
        stated("identity", E(q @ k), 0, given=[independent(q, k), mean(q, 0)]),
        "E[q @ k] = 0; the entries of q are independent; the entries of k are independent; each entry of q has mean 0",
    ),
    (
        "assumption weakened",
        stated("identity", E((q @ k) ** 3), 0, given=[independent(q, k), gaussian(q, k), mean(q, 0)]),
        "E[(q @ k)^3] = 0; the entries of q and k are independent; k is Gaussian; each entry of q has mean 0",
    ),
    (
        "assumption changed",
        stated("identity", E(q @ k), 0, given=[independent(q, k), mean(q, 0)]),
        "E[q @ k] = 0; the entries of q and k are independent; each entry of q has variance 0",
    ),
    (
        "assumption changed",
        stated("identity", W @ (A @ B), S @ (B.T @ A.T), given=[product_is(A, B, 0)]),
        "W @ (A @ B) = S @ (Bᵀ @ Aᵀ); the product of A and B is the identity",
    ),
    ("counterexample replaced", stated("refute", x * y, x, at={x: 2, y: 3}), "x*y != x; x = 0; y = 3"),
    ("a truth refuted", stated("refute", x * y, x, at={x: 2, y: 3}), "x*y != x*y + 0*x*y; x = 2; y = 3"),
]


@pytest.mark.parametrize("operator, claim, expected", SLIPS, ids=[f"{o}, {e[:30]}" for o, _, e in SLIPS])
def test_an_operator_makes_what_it_says(operator, claim, expected):
    text = {t.replace("(", "").replace(")", "") for t in described(claim, operator)}
    assert expected.replace("(", "").replace(")", "") in text, sorted(described(claim, operator))


def test_what_is_ill_typed_is_no_mutant():
    claim = stated("identity", A @ B, A @ B + 0 * (A @ B))
    assert {mutant.mutated.start.shape for mutant in make_mutants(claim)} == {claim.start.shape}
    assert "A @ A" not in " ".join(described(claim)) and all("A + B" not in text for text in described(claim))


def test_no_mutant_is_made_twice_and_none_is_the_claim():
    for _, claim, _ in SLIPS:
        found = [mutant.mutated for mutant in make_mutants(claim)]
        assert len(found) == len(set(found)) and claim not in found and len(found) >= 4


def test_trees_are_one_that_differ_in_brackets_only():
    seen = TreeCache()
    assert seen.number(paren(x) + paren(paren(y))) == seen.number(x + y) != seen.number(y + x)
    assert seen.number(x + 1) != seen.number(x + 2) and seen.number(total(v[i], i)) != seen.number(total(v[j], j))


def test_one_name_for_two_things_is_ill_typed():
    claim = stated("identity", x + y, y + x)
    assert is_well_typed(claim) and is_well_typed(replace(claim, start=paren(y) + x))
    for other in (vector("x", n)[1], random("x"), total(1, index("k", sizes("x")))):
        assert not is_well_typed(replace(claim, start=other + y)), other


def test_parts_without_a_change_stay_the_same_objects():
    tree = (x + y) * exp(x)
    changed = transform_tree(tree, lambda e: 2 * e if e == y else None)
    assert str(changed) == "(x + 2*y)*exp(x)" and changed.args[1] is tree.args[1]
    assert transform_tree(tree, lambda e: None) is tree


def test_a_slip_in_a_definition_is_made_wherever_its_name_stands():
    derivation = Derivation("test")
    p = derivation.define("p", 1 / (1 + exp(-x)))
    derivation.identity("claim", p * (1 - p), exp(-x) / (1 + exp(-x)) ** 2)
    definition, claim = derivation.claims
    inside = [mutant.mutated for mutant in make_mutants(claim) if mutant.path[0] == "p"]
    assert inside and all(len({n for n in walk(mutated.start) if n.op == "defined"}) == 1 for mutated in inside)
    assert make_mutants(definition) and all(
        mutant.mutated.start.args[0] == mutant.mutated.steps[0].expr for mutant in make_mutants(definition)
    )


# Running: in this process, with witnesses of the test's own


class Here:
    """What a pool of processes does, here and now."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def submit(self, work, *arguments):
        future = Future()
        future.set_result(work(*arguments))
        return future


@pytest.fixture
def trial(tree, monkeypatch):
    """Run the mutants of a script in this process, against the witnesses given; all calls of witnesses are counted."""
    calls = []

    def run(script=None, fresh=False, **witnesses):
        if script is not None:
            tree.script.write_text(script)
        if witnesses:

            def counted(accepts):
                return lambda claim: calls.append(claim.id) or accepts(claim)

            monkeypatch.setattr(mutant_trials, "WITNESSES", {name: counted(accepts) for name, accepts in witnesses.items()})
            monkeypatch.setattr(mutant_results, "WITNESSES", tuple(witnesses))
        del calls[:]
        results = mutation_run.run(runner.find_targets(()), fresh=fresh, jobs=1)
        return SimpleNamespace(
            results=results,
            claims=results["chapter/tiny"],
            totals=mutant_results.totals(results),
            calls=list(calls),
            passes=mutant_results.passes(results),
        )

    monkeypatch.setattr(mutation_run, "open_executor", lambda jobs, cluster: Here())
    run.tree = tree
    return run


SQUARES = """from derivations.kernel import Derivation, scalars

x, y = scalars("x y")
derivation = Derivation("Squares")
derivation.identity("square", (x - y) ** 2, x ** 2 - 2 * x * y + y ** 2)
derivation.inequality("means", 2 * x * y, x ** 2 + y ** 2, because=(x - y) ** 2)
"""


def test_good_witnesses_pass_the_gate(trial):
    result = trial(SQUARES, exact=mutant_trials.ask_exact, sympy=mutant_trials.WITNESSES["sympy"])
    assert result.passes
    for name in ("exact", "sympy"):
        sums = result.totals[name]
        assert sums["killed"] > 60 and sums["survived"] == sums["unclassified"] == sums["controls failed"] == 0 and sums["controls"] >= 4
        assert sums["killed"] + sums["equivalent"] == sum(claim["mutants"] for claim in result.claims.values())


def test_a_definition_is_covered_by_who_computes_it_alone(trial):
    result = trial(SQUARES + 'derivation.define("p", x / 2)\n', exact=mutant_trials.ask_exact)
    counts = result.claims["define-p"]
    assert (
        result.passes
        and counts["mutants"] > 4
        and not counts["witnesses"]["exact"]["covers"]
        and counts["witnesses"]["exact"]["listed"] == []
    )


def test_a_definition_that_speaks_of_another_one_is_mutated_through_both(trial):
    script = (
        SQUARES
        + """
from derivations.kernel import softmax, sqrt, matrix, sizes
n, m, d = sizes("n m d")
Q, K = matrix("Q", n, d), matrix("K", m, d)
S = derivation.define("S", Q @ K.T / sqrt(d))
derivation.define("P", softmax(S), code=[("snippets.attention.formula.attention_weights", Q, K)])
"""
    )
    result = trial(script, torch=mutant_trials.WITNESSES["torch"])
    counts = result.claims["define-p"]["witnesses"]["torch"]
    assert counts["killed"] > 15 and counts["unclassified"] == counts["survived"] == 0
    assert result.passes and not any(claim["alike"] for claim in result.claims.values())  # what S is is printed where S is defined
    assert [o["mutant"] for o in counts["listed"]] == ["P := softmax(S)"]  # S + 1 in place of S: every score is moved by one


def test_a_witness_that_accepts_everything_is_caught(trial, capsys):
    result = trial(SQUARES, weak=lambda claim: "accepted")
    assert not result.passes and result.totals["weak"]["survived"] > 60 and result.totals["weak"]["killed"] == 0
    assert command_mutants.main((), as_json=False, fresh=False, jobs=1) == 1
    said = capsys.readouterr()
    assert "NOT passed" in said.out and "chapter/tiny#square: survived, weak" in said.err


def test_a_witness_that_cannot_see_signs_is_caught(trial):
    def blind(claim):
        certificates_ = any(s.relation == "<=" for s in claim.steps)
        return (
            "accepted"
            if certificates_ and "+ y)^2" in mutant_trials.describe(SimpleNamespace(path=(), mutated=claim))["mutant"]
            else mutant_trials.ask_exact(claim)
        )

    result = trial(SQUARES, blind=blind)
    assert not result.passes
    assert {o["operator"] for o in result.claims["means"]["witnesses"]["blind"]["listed"] if o["outcome"] == "survived"} == {
        "certificate: sign"
    }
    assert result.claims["square"]["witnesses"]["blind"]["survived"] == 0


def test_true_mutants_are_recognised_with_a_reason(trial):
    listed = trial(SQUARES, exact=mutant_trials.ask_exact).claims["square"]["witnesses"]["exact"]["listed"]
    assert any(o["operator"] == "operands swapped" and "(y - x)^2" in o["mutant"] for o in listed)
    assert {o["outcome"] for o in listed} == {"equivalent"} and all("agree at 16 random points" in o["how"] for o in listed)


def test_a_witness_that_says_nothing_is_no_pass(trial):
    result = trial(SQUARES, silent=lambda claim: "not applicable")
    assert not result.passes and result.totals["silent"]["claims"] == result.totals["silent"]["killed"] == 0


def test_a_witness_that_accepts_no_control_is_caught(trial):
    original = {}

    def pedant(claim):
        return "accepted" if original.setdefault(claim.id, claim) == claim else "refused"

    result = trial(SQUARES, pedant=pedant)
    assert not result.passes and result.totals["pedant"]["survived"] == 0 and result.totals["pedant"]["controls failed"] >= 4
    assert any(failed.startswith("brackets") for failed in result.claims["square"]["witnesses"]["pedant"]["failed"])


def test_an_index_under_another_name_keeps_its_value():
    claim = stated("refute", S[i, j], S[j, i], at={S: [[0, 1], [2, 0]], i: 1, j: 2})
    made = dict(make_controls(claim))
    assert dict(made["renamed dummies"].at)["dummyi"].data == 1
    assert {mutant_trials.ask_exact(control) for control in made.values()} == {"accepted"}


def test_a_definition_is_changed_in_the_assumptions_that_speak_of_it_as_well():
    x, y = scalars("x y")
    derivation = Derivation("Definitions")
    both = derivation.define("b", x + y)
    derivation.identity("quotient", (both * x + both) / both, x + 1, given=[nonzero(both)])
    made = dict(make_controls(derivation.claims[-1]))
    assert {"brackets", "reordered sums"} <= made.keys()
    assert {mutant_trials.WITNESSES["sympy"](control) for control in made.values()} == {"accepted"}


def test_a_step_on_its_own_keeps_the_code_that_speaks_of_nothing_else():
    x, y = scalars("x y")
    code = (("snippets.a.b.of_x", (x,), ()), ("snippets.a.b.of_both", (x, y), ()))
    claim = replace(stated("chain", x + 0 * y, (x + y - y, "step"), (1 * x, "step")), code=code)
    made = dict(make_controls(claim))
    assert [one[0] for one in made["step 1 on its own"].code] == ["snippets.a.b.of_x", "snippets.a.b.of_both"]
    short = replace(stated("chain", 1 * x, (x + 0, "step"), (x + y - y, "step")), code=code)
    assert [one[0] for one in dict(make_controls(short))["step 1 on its own"].code] == ["snippets.a.b.of_x"]


def test_a_witness_that_rejects_the_claims_themselves_is_caught(trial):
    result = trial(SQUARES, exact=mutant_trials.ask_exact, broken=lambda claim: "broke: ImportError")
    assert not result.passes and result.totals["broken"]["controls failed"] == 2
    assert result.claims["square"]["witnesses"]["broken"]["failed"] == ["the claim itself: broke: ImportError"]


def test_a_witness_that_takes_too_long_leaves_its_mutants_unclassified(trial):
    """The alarm that is set for it goes off; no time passes."""
    original = {}

    def slow(claim):
        if original.setdefault(claim.id, claim) == claim:
            return "accepted"
        if claim.id == "means" and signal.getitimer(signal.ITIMER_PROF)[0] > 0:
            signal.raise_signal(signal.SIGPROF)
        return "refused"

    result = trial(SQUARES, slow=slow)
    counts = result.claims["means"]["witnesses"]["slow"]
    assert not result.passes and counts["unclassified"] == result.claims["means"]["mutants"] and counts["killed"] == 0
    assert {o["how"] for o in result.claims["means"]["witnesses"]["slow"]["listed"]} == {"too slow"}


def test_a_witness_that_breaks_leaves_the_mutant_unclassified_and_is_named(trial, monkeypatch):
    monkeypatch.setattr(mutant_trials, "is_proved_under", lambda claim, given: 1 / 0)
    mutant = make_mutants(SLIPS[0][1])[0]
    (told,) = mutant_trials.try_mutant_with_witnesses(mutant, SLIPS[0][1], ["exact"])
    assert (told["outcome"], told["how"]) == ("unclassified", "broke: ZeroDivisionError")
    assert told["mutant"] == mutant_trials.describe(mutant)["mutant"]


def test_a_judge_that_breaks_over_a_mutant_leaves_it_unclassified_and_the_others_as_they_are(trial, monkeypatch):
    def judge_(claim, partial):
        return 1 / 0

    monkeypatch.setattr(mutant_trials, "judge", judge_)
    result = trial(
        SQUARES, exact=mutant_trials.ask_exact, careless=lambda claim: "accepted" if claim.id == "means" else mutant_trials.ask_exact(claim)
    )
    said = result.claims["means"]["witnesses"]["careless"]
    assert not result.passes and result.totals["exact"]["killed"] > 60
    assert said["unclassified"] == result.claims["means"]["mutants"]
    assert {o["how"] for o in said["listed"]} == {"trying it broke: ZeroDivisionError: division by zero"}


def test_no_witness_is_asked_of_what_the_judge_has_found_true(monkeypatch):
    asked = []
    monkeypatch.setitem(mutant_trials.WITNESSES, "torch", lambda claim: asked.append(claim) or "refused")
    claim = stated("identity", (x - y) ** 2, x**2 - 2 * x * y + y**2)
    found = [
        tuple(said["outcome"] for said in mutant_trials.try_mutant_with_witnesses(mutant, claim, ["exact", "torch"]))
        for mutant in make_mutants(claim)
    ]
    assert {*found} == {("equivalent", "equivalent"), ("killed", "killed")}
    assert len(asked) == found.count(("killed", "killed"))


@pytest.mark.parametrize(
    "name, partial, known", [("exact", False, True), ("exact", True, False), ("torch", False, True), ("torch", True, True)]
)
def test_what_is_true_in_some_parts_is_not_known_to_be_true_for_a_proof_of_all(name, partial, known):
    assert bool(mutant_trials.found_true(name, {partial: ("true", "both sides agree")})) == known
    assert not mutant_trials.found_true(name, {partial: ("false", "they differ")}) and not mutant_trials.found_true(name, {})


def test_the_judge_is_asked_once_about_a_mutant_that_is_true_however_many_accept_it(trial, monkeypatch):
    asked, judge_ = [], mutant_trials.judge
    monkeypatch.setattr(mutant_trials, "judge", lambda claim, partial: asked.append(partial) or judge_(claim, partial))
    result = trial(SQUARES, exact=mutant_trials.ask_exact, sympy=mutant_trials.WITNESSES["sympy"], torch=mutant_trials.WITNESSES["torch"])
    assert result.passes and 0 < len(asked) < sum(w["equivalent"] for w in result.totals.values())
    assert len(asked) == max(w["equivalent"] for w in result.totals.values())


@pytest.mark.parametrize(
    "method, careless",
    [
        ("neg", lambda self, e: self.show(e.args[0], 3)),
        ("paren", lambda self, e: self.show(e.args[0])),
        ("pow", lambda self, e: self.show(e.args[0])),
    ],
    ids=["a sign", "brackets", "an exponent"],
)
def test_what_a_page_would_show_as_it_shows_the_claim_is_caught(method, careless, trial, monkeypatch, capsys):
    from derivations.kernel.printing import latex

    monkeypatch.setattr(latex.Printer, method, careless)
    result = trial(SQUARES, exact=mutant_trials.ask_exact)
    alike = [mutant for claim in result.claims.values() for mutant in claim["alike"]]
    assert result.passes == (method == "paren") == (not alike)  # brackets mean nothing, so that their loss is none
    command_mutants.print_failures("chapter/tiny", result.claims)
    assert ("a page would show the claim and this mutant in the same way" in capsys.readouterr().err) == bool(alike)


def test_a_name_in_a_formula_and_among_the_arguments_of_a_snippet_is_renamed_in_both():
    derivation = Derivation("test")
    p = derivation.define("p", total(exp(v[i]), i))
    derivation.identity("claim", exp(x - y) * p, p * exp(x - y), code=[("snippets.blocks.merge.change_reference", p, x, y)])
    new = dict(make_controls(derivation.claims[-1]))["renamed dummies"]
    assert "dummyi" in repr(new.code) and not [n for n in walk(new.code[0][1][0]) if n.op == "sum" and n.data[0] == "i"]
    assert mutant_trials.WITNESSES["torch"](new) == "accepted"


@pytest.mark.parametrize(
    "claim",
    [
        stated("identity", x / y * y, x, given=[positive(y)]),
        stated("inequality", 2 * x * y, x**2 + y**2, because=(x - y) ** 2),
        stated("limit", (x + 1) / x, x, "oo", 1),
        stated("limit", exp(x), x, 0, 1),
        stated("refute", x**2, x, at={x: 2}, given=[positive(x)]),
        stated("inequality", rank(Q @ K.T), d_k, because=(Q, K.T)),
    ],
    ids=["identity", "inequality", "limit at infinity", "limit at 0", "refutation", "rank"],
)
def test_no_part_of_a_claim_is_left_out_where_it_is_compared_with_its_mutants(claim):
    found = make_mutants(claim)
    assert {m.path[0] for m in found} >= {"side 0", "side 1"} and not any(mutant_trials.prints_alike(m.mutated, claim) for m in found)
    assert mutant_trials.prints_alike(replace(claim, title="another", line=7), claim)
    for part in ("given", "because", "at", "towards"):
        assert mutant_trials.prints_alike(replace(claim, **{part: ()}), claim) == (not getattr(claim, part)), part


def test_what_a_certificate_says_of_a_claim_is_not_asked_again(trial, command):
    asked = trial(SQUARES, exact=mutant_trials.ask_exact)
    assert command("check", "chapter/tiny").exit_code == 0
    told = trial(exact=mutant_trials.ask_exact, fresh=True)
    assert len(told.calls) == len(asked.calls) - len(asked.claims) and told.claims == asked.claims
    trial.tree.script.write_text(SQUARES + "\n# so that the certificate is stale\n")
    assert len(trial(exact=mutant_trials.ask_exact, fresh=True).calls) == len(asked.calls)
    assert mutation_run.certified_answers("chapter/tiny") == mutation_run.certified_answers("no/topic") == {}


# Keeping


def test_a_second_run_mutates_nothing(trial):
    first = trial(SQUARES, exact=mutant_trials.ask_exact)
    second = trial()
    assert len(first.calls) > 100 and second.calls == [] and second.results == first.results
    assert sorted(trial(fresh=True).calls) == sorted(first.calls)


def test_a_change_mutates_again_only_the_claim_that_it_touches(trial):
    trial(SQUARES, exact=mutant_trials.ask_exact)
    assert set(trial("# a comment\n" + SQUARES).calls) == set()
    assert set(trial(SQUARES.replace("2 * x * y + y ** 2)", "2 * y * x + y ** 2)")).calls) == {"square"}


def test_a_change_of_the_kernel_mutates_all_again(trial):
    first = trial(SQUARES, exact=mutant_trials.ask_exact)
    (trial.tree.kernel / "exact" / "witness.py").write_text((trial.tree.kernel / "exact" / "witness.py").read_text() + "\n")
    assert len(trial().calls) == len(first.calls)


def test_a_change_of_one_witness_tries_that_witness_again_and_no_other(trial):
    witnesses = {"exact": mutant_trials.ask_exact, "sympy": mutant_trials.WITNESSES["sympy"]}
    first = trial(SQUARES, **witnesses)
    path = trial.tree.kernel / "sympy" / "witness.py"
    path.write_text(path.read_text() + "\n")
    second = trial()
    assert 100 < len(second.calls) < len(first.calls) and second.totals == first.totals
    assert trial().calls == []


@pytest.mark.parametrize(
    "file, again",
    [
        ("exact/normal_form", {"exact"}),
        ("sympy/witness", {"sympy"}),
        ("core/expr", {"exact", "sympy", "torch"}),
        ("pytorch/witness", {"torch"}),
        ("attack/judge", {"exact", "sympy", "torch"}),
        ("coq/witness", set()),
        ("printing/latex", {"exact", "sympy", "torch"}),
    ],
)
def test_what_a_witness_imports_counts_however_far_away(tree, file, again):
    before = mutant_results.depends_on()
    path = tree.kernel / f"{file}.py"
    path.write_text(path.read_text() + "\n")
    after = mutant_results.depends_on()
    assert {name for name in before if before[name] != after[name]} == again


def test_what_a_snippet_imports_counts_too(tree):
    from derivations.kernel.store.import_closure import hashes

    first, second = tree.root / "snippets" / "first.py", tree.root / "snippets" / "second.py"
    first.parent.mkdir()
    first.write_text("from snippets.second import f\n")
    second.write_text("f = 1\n")
    assert list(hashes([first])) == ["snippets/first.py", "snippets/second.py"]


def test_a_recheck_that_finds_another_result_is_an_error_and_deletes_all(trial, monkeypatch):
    first = trial(SQUARES, exact=mutant_trials.ask_exact)
    assert trial().calls == []
    monkeypatch.setattr(store.settings, "recheck", Recheck(1))
    assert sorted(trial().calls) == sorted(first.calls)
    (key, *_), stored = mutant_results.STORE.keys(), mutant_results.STORE
    stored.put(key, stored.get(key) | {"killed": 1, "survived": 1})
    with pytest.raises(Differs, check=has_code("different-result"), match="chapter/tiny#"):
        trial()
    assert mutant_results.STORE.keys() == []
    assert trial().results == first.results


def test_another_machine_uses_what_was_shared(trial, tmp_path, monkeypatch):
    monkeypatch.setattr(store.settings, "shared", Folder(str(tmp_path / "shared")))
    first = trial(SQUARES, exact=mutant_trials.ask_exact)
    monkeypatch.setattr(store, "FOLDER", tmp_path / "another machine")
    second = trial()
    assert first.calls and not second.calls and second.results == first.results


def test_the_site_shows_results_of_the_topic_as_it_was_checked(trial):
    trial.tree.script.write_text(SQUARES)
    assert runner.check_script("chapter/tiny", trial.tree.script, False, lambda done, more: None).holds
    first = trial(exact=mutant_trials.ask_exact)
    assert mutant_results.get_topics(["chapter/tiny"]) == first.results
    stored = mutant_results.STORE
    stored.delete(stored.keys()[0])
    assert mutant_results.get_topics(["chapter/tiny"]) == {"chapter/tiny": None}
    trial()
    trial.tree.script.write_text(SQUARES.replace("x ** 2 -", "x ** 2 +"))
    assert mutant_results.get_topics(["chapter/tiny"]) == {"chapter/tiny": None}


def test_the_command_runs_in_processes_and_prints_json(tree, capsys):
    assert command_mutants.main((), as_json=True, fresh=False, jobs=2) == 0
    said = json.loads(capsys.readouterr().out)
    counts = said["topics"]["chapter/tiny"]["sum"]
    assert (
        said["passes"]
        and counts["mutants"] > 10
        and counts["witnesses"]["exact"]["killed"] + counts["witnesses"]["exact"]["equivalent"] == counts["mutants"]
    )


@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_the_shares_have_each_topic_once(parts):
    topics = list("abcde")
    shares = [command_mutants.select_share(topics, f"{k}/{parts}") for k in range(1, parts + 1)]
    assert sorted(sum(shares, [])) == topics and max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize("share", ["0/3", "4/3", "1/0", "2", "a/b", "1/6 ", "-1/3"])
def test_a_share_that_is_none_is_refused_in_words(share):
    with pytest.raises(ValueError, match="expected --share K/N with K from 1 to N"):
        command_mutants.select_share(["a"], share)


def test_a_share_without_a_topic_is_no_pass(tree, command):
    result = command("mutants", "--share", "2/2")
    assert result.exit_code == 2 and "the share 2/2 of 1 topic contains none" in result.output


def test_a_script_that_does_not_load_is_named(trial, capsys):
    trial.tree.script.write_text("1 / 0\n")
    assert command_mutants.main((), as_json=False, fresh=False, jobs=1) == 1
    assert "tiny.py:1: the script stopped with ZeroDivisionError" in capsys.readouterr().err


# The judge


@pytest.mark.parametrize(
    "claim, verdict",
    [
        (stated("identity", (S @ W).T, W.T @ S.T), "true"),
        (stated("identity", (S @ W).T, S.T @ W.T), "false"),
        (stated("identity", x / x, 1), "false"),
        (stated("identity", inverse(S) @ S, eye(n), given=[invertible(S)]), "true"),
        (stated("identity", B @ A, B @ A, given=[product_is(A, B, 0)]), "true"),
        (stated("identity", A @ B, B.T @ A.T, given=[product_is(A, B, 0)]), "true"),
        (stated("identity", diff(softmax(v)[i], v[j]), softmax(v)[i] * (eye(n)[i, j] - softmax(v)[j])), "true"),
        (stated("identity", diff(softmax(v)[i], v[j]), softmax(v)[i] * (eye(n)[i, j] + softmax(v)[j])), "false"),
        (stated("inequality", 2 * x * y, x**2 + y**2, because=(x - y) ** 2), "true"),
        (stated("inequality", 2 * x * y, x**2 + y**2, because=(x + y) ** 2), "false"),
        (stated("inequality", x, y, because=y - x, given=[nonnegative(y - x)]), "true"),
        (stated("inequality", rank(A @ B), m, because=(A, B)), "true"),
        (stated("inequality", rank(S @ W), 1, because=(S, W)), "false"),
        (stated("limit", (1 + x / n) ** n, n, "oo", exp(x)), "true"),
        (stated("limit", (1 + x / n) ** n, n, "oo", exp(2 * x)), "false"),
        (
            stated(
                "identity",
                E((q @ k) ** 4),
                3 * n**2 + 6 * n,
                given=[independent(q, k), gaussian(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)],
            ),
            "true",
        ),
        (
            stated(
                "identity",
                E((q @ k) ** 4),
                3 * n**2 + 6 * n,
                given=[independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)],
            ),
            "false",
        ),
        (stated("identity", E(q @ k), 0, given=[independent(q, k), mean(q, 0), has_moment(k, 1)]), "true"),
        (stated("identity", E(q @ k), 0, given=[independent(q, k), mean(q, 0)]), "false"),
        (
            stated("identity", Var(q @ k), E((q @ k) ** 2), given=[independent(q, k), mean(q, 0), has_moment(q, 2), has_moment(k, 1)]),
            "false",
        ),
        (
            stated("identity", Var(q @ k), E((q @ k) ** 2), given=[independent(q, k), mean(q, 0), has_moment(q, 2), has_moment(k, 2)]),
            "true",
        ),
        (stated("identity", E(q @ k), 0, given=[independent(q), independent(k), mean(q, 0)]), "false"),
        (stated("refute", x * y, x, at={x: 2, y: 3}), "true"),
        (stated("refute", x * y, x, at={x: 2, y: 1}), "false"),
        (stated("refute", Var(q @ q), n, at={n: 1}, given=[independent(q), mean(q, 0), variance(q, 1)]), "false"),
        (stated("identity", x, x, given=[positive(x), positive(-x)]), "cannot tell"),
    ],
)
def test_the_judge(claim, verdict):
    assert judge(claim)[0] == verdict, judge(claim)


def test_what_is_drawn_is_there_for_all_claims_that_speak_of_the_same_and_for_no_other():
    claim = stated("identity", x * (x - y), x**2 - x * y, given=[positive(x)])
    mutant = replace(claim, start=x * (x + y))
    assert draw_points(mutant) is draw_points(claim) and judge(mutant)[0] == "false" and judge(claim)[0] == "true"
    for other in (
        replace(claim, given=()),
        replace(claim, given=(positive(y),)),
        replace(claim, start=x * (x - v[1])),
        replace(claim, start=x * (x - n * y)),
        replace(claim, start=exp(x)),
    ):
        assert draw_points(other) is not draw_points(claim), other
    assert (
        draw_points(claim, seed=1) != draw_points(claim) == list(generate_points(claim, 0, POINTS)) and len(draw_points(claim, most=3)) == 3
    )


def test_only_what_was_drawn_last_is_kept():
    claims_ = [stated("identity", x * k, k * x) for k in range(2 * CACHED_POINT_SETS)]
    for k, claim in enumerate(claims_):
        draw_points(claim, seed=k)
    assert len(POINT_CACHE) == CACHED_POINT_SETS


def test_the_judge_takes_a_claim_as_a_witness_does_that_asks_less():
    assert judge(stated("identity", x / x, 1), partial=True)[0] == "true"
    assert judge(stated("inequality", rank(A @ B), m, because=(A, -B)), partial=True)[0] == "true"
    assert judge(stated("identity", x, x, given=[positive(x), positive(-x)]), partial=True)[0] == "true"
    assert judge(stated("identity", x / x, 2), partial=True)[0] == "false"


def site():
    for topic in certificates.topics():
        assert worker.load_script(project_files.ROOT / "derivations" / f"{topic}.py") is None
        yield from claims.LOADED[0].claims


def test_a_moment_is_not_asked_for_where_what_is_averaged_has_no_value():
    averaged = stated("identity", E(q[1] / x), E(q[1]) / x, given=[has_moment(q, 1)])
    assert judge(averaged, partial=True)[0] == "true" and judge(averaged, most=100)[0] == "false"


@pytest.mark.slow
def test_the_judge_finds_the_claims_of_the_site_true(share):
    """All but the averages that take it longer."""
    slow = ("excess-kurtosis", "one-product", "characteristic", "gap")
    known = [claim for claim in site() if claim.kind != "definition" and claim.id not in slow]
    asked = [claim for number, claim in enumerate(known) if share(number)]
    assert len(asked) > 70
    verdicts = {claim.id: judge(claim) for claim in asked}
    # Three ties between two matrices: values at which all of them hold are hardly ever drawn.
    assert {id for id, (verdict, _) in verdicts.items() if verdict != "true"} <= {"layout", "scores-add"}
    assert "false" not in {verdict for verdict, _ in verdicts.values()}


@pytest.mark.slow
def test_there_are_thirty_mutants_a_claim_and_every_claim_has_controls():
    every = [(len(make_mutants(claim)), len(make_controls(claim)), claim.kind) for claim in site()]
    assert sum(count for count, _, _ in every) >= 30 * len(every)
    assert min(count for count, _, _ in every) >= 4 and all(made >= 1 for _, made, kind in every if kind != "definition")
