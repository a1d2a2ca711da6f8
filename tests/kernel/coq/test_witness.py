"""The Coq witness: the text that it writes; Coq proves true claims and no false ones, without axioms."""

import os
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from derivations.kernel import (
    Derivation,
    E,
    absolute,
    array,
    exp,
    eye,
    index,
    inverse,
    invertible,
    matrix,
    mean,
    nonnegative,
    nonzero,
    product_is,
    random,
    rank,
    rounded,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
    zeros,
)
from derivations.kernel.check import coq_open_claims, coq_run
from derivations.kernel.coq import algebraic_structures, coq_process, file_audit, reserved_words, theorems
from derivations.kernel.coq import witness as coq
from derivations.kernel.coq.notation import Notation
from derivations.kernel.coq.prelude import PRELUDE, PRELUDE_NAME
from derivations.kernel.coq.prelude_files import PRELUDES
from derivations.kernel.store import certificates, store
from tests.kernel.coq.sources import written

n, m, p, d = sizes("n m p d")
A, B, B_2, C = matrix("A", n, m), matrix("B", m, p), matrix("B_2", m, p), matrix("C", p, d)
S, T = matrix("S", n, n), matrix("T", n, n)
u, v, z = vector("u", n), vector("v", n), vector("z", n)
x, y, c, g = scalars("x y c g")
i, j, k = index("i", n), index("j", n), index("k", n)
WHY = "for this test"


def stated(state):
    """The claims that `state` makes on a new derivation, by id."""
    derivation = Derivation("test")
    state(derivation)
    return {claim.id: claim for claim in derivation.claims}


def one(state):
    (found,) = (coq.source(claim) for claim in stated(state).values())
    return found


def true(of):
    of.identity("associative", (A @ B) @ C, A @ (B @ C))
    of.identity("distributive", A @ (B - 2 * B_2), A @ B - (A @ B_2) * 2)
    of.identity("transposed", (A @ B).T, B.T @ A.T)
    of.identity("identity-matrix", (S + eye(n)) @ (S - eye(n)), S @ S - eye(n))
    of.identity("zero", A @ zeros(m, p) + A @ B, A @ B)
    of.identity("vectors", (A @ B) @ (C @ vector("w", d)), A @ (B @ (C @ vector("w", d))))
    of.identity("dot", (S @ u) @ v, u @ (S.T @ v))
    of.identity("inverse", inverse(S.T) @ (S.T @ T), T, given=[invertible(S)])
    of.identity("known-product", (A @ B).T + T[i, j] * zeros(p, n), zeros(p, n), given=[product_is(A, B, 0)])
    of.identity("in-the-middle", C.T @ (B.T @ A.T) @ S, C.T @ zeros(p, n), given=[product_is(A, B, 0)])
    of.chain("scaled", A @ B / c, ((A / c) @ B, WHY), (A @ (B / c), WHY), given=[nonzero(c)])
    of.identity("fourth-root", (A / d ** Fraction(1, 4)) @ (B / d ** Fraction(1, 4)), A @ B / sqrt(d))
    of.identity("entries", (A @ B)[i, index("l", p)], total(A[i, index("a", m)] * B[index("a", m), index("l", p)], index("a", m)))
    of.identity("cube", (x + y) ** 3 - 3 * x * y * (x + y), x**3 + y**3)
    of.identity("rational", 1 / (x * y) - 1 / (2 * x * y), 1 / (2 * x * y), given=[nonzero(x), nonzero(y)])
    of.identity("large", 4097 * x * 3, 12291 * x)
    of.identity("negative-power", x**-2 * x**3, x, given=[nonzero(x)])
    of.identity("counted", total(x, k), n * x)
    of.identity("numbers", total(x * (2 * k - 1) ** 3, k), x * n**2 * (2 * n**2 - 1))
    of.identity("ratio-of-sums", total(k**2, k) / total(k, k), (2 * n + 1) / 3)
    of.identity("places", eye(2) - array([[1], [-1]]) @ array([[1, -1]]), array([[0, 1], [1, 0]]))
    of.identity("nonzero-sum", total((S @ u)[k] * x / total((S @ u)[i], i), k), x, given=[nonzero(total((S @ u)[i], i))])
    weight = total(v[k] * softmax(z)[k], k)
    of.identity("nonzero-weight", total(v[k] * exp(z[k]), k) / weight, total(exp(z[k]), k), given=[nonzero(weight)])
    of.identity("nonzero-twice", (2 * x - 2) / (x - 1) / (4 * x - 4), 1 / (2 * x - 2), given=[nonzero(x - 1)])
    of.identity("root-of-a-sum", sqrt(x * (n + d)) * sqrt(x / (n + d)) * sqrt(16 * x), 4 * x * sqrt(x), given=[nonnegative(x)])
    of.identity("known-norms", absolute(x - c) - absolute(x - y), c - y, given=[nonnegative(y - x), nonnegative(c - y)])
    of.identity("swapped-sums", total(u[i] * T[i, j] * v[j], i, j), total(total(T[i, j] * u[i], i) * v[j], j))
    of.identity("exponents", exp(x) * exp(y) / exp(x / 2), exp(x / 2 + y))
    of.identity("weights", total(softmax(z)[k], k), 1)
    of.inequality("square", 2 * x * y, x**2 + y**2, because=(x - y) ** 2)
    of.inequality("sum", -total(v[k], k), total(absolute(v[k]), k), because=total(absolute(v[k]) + v[k], k))
    of.inequality("assumed", 2 * x, n * x + c * x, because=(n + c - 2) * x, given=[nonnegative(n + c - 2), nonnegative(x)])
    of.inequality("rank", rank(A.T @ S), n, because=(A.T, S))


def false(of):
    of.identity("swapped", S @ T, T @ S)
    of.identity("transpose-dropped", (S @ T).T, T.T @ S)
    of.identity("order-kept", (S @ T).T, S.T @ T.T)
    of.identity("factor", (2 * S) @ T @ (2 * S), 2 * (S @ T @ S))
    of.identity("sign", (S - T) @ (S + T), S @ S + T @ T - S @ T + T @ S)
    of.identity("inverse-unstated", inverse(S) @ (S @ T), T)
    of.identity("product-unstated", S @ T @ S, zeros(n, n), given=[product_is(T, T, 0)])
    of.chain("second-step", A @ B / c, ((A / c) @ B, WHY), ((A / c) @ (B / c), WHY), given=[nonzero(c)])
    of.identity("wrong-root", (A / d ** Fraction(1, 4)) @ B, A @ B / sqrt(d))
    of.identity("index", (S @ T)[i, j], total(S[i, k] * T[j, k], k))
    of.identity("exponent", (x + y) ** 2, x**2 + y**2)
    of.identity("zero-unstated", x / x, 1)
    of.identity("count", total(x, k), (n + 1) * x)
    of.identity("numbers-from-0", total(k, k), n * (n - 1) / 2)
    of.identity("ratio-of-sums", total(k**2, k) / total(k, k), (n + 1) / 2)
    of.identity("places", eye(2) - array([[1], [-1]]) @ array([[1, -1]]), array([[1, 0], [0, 1]]))
    of.identity("nonzero-unstated", total(u[k] / total(u[i], i), k), 1)
    of.identity("nonzero-of-another", (2 * x - 2) / (2 * x - 2), 1, given=[nonzero(x - 2)])
    of.identity("root-of-a-sum", sqrt(x * (n + d)), sqrt(x * n) + sqrt(x * d), given=[nonnegative(x)])
    of.identity("norm-turned", absolute(x - y), x - y, given=[nonnegative(y - x)])
    of.identity("norm-unknown", absolute(x - y), x - y, given=[nonnegative(x), nonnegative(y)])
    of.identity("not-additive", exp(x + y), exp(x) + exp(y))
    of.identity("weights-doubled", total(softmax(z)[k], k), 2)
    of.inequality("wrong-certificate", 2 * x * y, x**2 + y**2, because=(x + y) ** 2)
    of.inequality("negative", x, 2 * x, because=x)
    of.inequality("rank-too-small", rank(A @ B), p, because=(A, B))


# What is written


def test_the_file_of_a_claim():
    source = one(
        lambda of: of.chain("scaled", A @ B / c, ((A / c) @ B, "the left"), (A @ (B / c), "the right"), given=[nonzero(c)], title="Scalars")
    )
    assert source.steps == (1, 2) and source.whole and source.scope == "every field"
    for line in (
        "(* scaled: Scalars *)",
        "Variable R : fieldType.",
        "Variable A : 'M[R]_(n, m).",
        "Hypothesis assumed_1 : c != 0 :> R.",
        "(* the left *)",
        "Theorem step_1 :",
        "  c^-1 *: (A *m B) =",
        "Theorem claim :",
        "Proof. exact: etrans step_1 step_2.",
        "Print Assumptions claim.",
    ):
        assert line in source.text, f"{line}\n\n{source.text}"
    assert not file_audit.find_loophole(source.text)


def test_each_claim_gets_the_weakest_numbers_that_it_can_be_written_in():
    found = {id: re.search(r"Variable R : (\w+)", text)[1] for id, text in written(true).items()}
    assert {
        "associative": "comRingType",
        "inverse": "comUnitRingType",
        "scaled": "fieldType",
        "weights": "realFieldType",
        "fourth-root": "rcfType",
        "rank": "fieldType",
        "square": "realFieldType",
    }.items() <= found.items()


def test_a_definition_is_written_out():
    def state(of):
        area = of.define("area", x * y)
        of.identity("claim", area * 2, x * y + area)

    derivation = stated(state)
    assert "x * y * 2%:R =\n  x * y + x * y" in coq.source(derivation["claim"]).text
    assert coq.source(derivation["define-area"]).text is None


def test_operands_keep_their_brackets():
    def shown(e):
        return Notation().show(e)

    assert shown(x - (y - c)) == "x - (y - c)"
    assert shown(x / (y * c) * g) == "x / (y * c) * g"
    assert shown(-(x + y) * c) == "(- (x + y)) * c"
    assert shown(A @ (B @ C)) == "A *m (B *m C)" and shown(A @ B @ C) == "A *m B *m C"
    assert shown((A @ B).T) == "(A *m B)^T"
    assert shown((x**2) ** 3) == "(x ^+ 2) ^+ 3"
    assert shown(total(u[k] + v[k], k) * x) == "(\\sum_(k < n) (u k ord0 + v k ord0)) * x"
    assert shown(Fraction(-1, 3) * x) == "- 1 / 3%:R * x"
    assert shown((x * A) @ B) == "x *: A *m B" and shown(x * (A @ B)) == "x *: (A *m B)"


@pytest.mark.parametrize(
    "state, reason",
    [
        (lambda of: of.identity("claim", E(absolute(random("q"))), 0, given=[mean(random("q"), 0)]), "expectation"),
        (lambda of: of.identity("claim", rounded(x), x), "rounding"),
        (lambda of: of.identity("claim", x**n, x**n), "of what may be negative"),
        (lambda of: of.identity("claim", (x - y) ** (2 * n + 1), x), "of what may be negative"),
        (lambda of: of.identity("claim", inverse(S + T), inverse(T + S)), "inverse"),
        (lambda of: of.limit("claim", x * eye(m), x, 0, 0 * eye(m)), "limit of a tensor"),
        (lambda of: of.refute("claim", rounded(exp(x)), x, at={x: 1}), "rounding"),
        (lambda of: of.inequality("claim", rank(A), x, because=(A, eye(m))), "not a size"),
    ],
    ids=["expectation", "rounding", "power", "odd power", "inverse", "limit", "rounded refutation", "rank"],
)
def test_what_coq_cannot_state_is_given_back_with_a_reason(state, reason):
    source = one(state)
    assert source.text is None and reason in source.reason and not source.steps


def test_of_a_chain_the_steps_that_can_be_stated_are():
    q = random("q")
    source = one(lambda of: of.chain("claim", E(absolute(q)), (c - x + x, WHY), (c, WHY), given=[mean(q, c)]))
    assert source.steps == (2,) and not source.whole
    assert "step 1 has the expectation of a function" in source.reason
    assert "Theorem step_2" in source.text and "Theorem claim" not in source.text


HOSTILE = '*) Axiom cheat : False. (* "open (* twice \n*) Admitted. *** ) (*) *)'


@pytest.mark.parametrize("text", [HOSTILE, "*)", "(*", "(*)", '"', "*" * 5 + ")", "((**))", "\x00*\x00)", "\u2028*)"])
def test_a_title_or_a_reason_stays_in_its_comment(text):
    claim = stated(lambda of: of.identity("claim", x + y, y + x))["claim"]
    plain = coq.source(claim).text
    hostile = coq.source(replace(claim, title=text, steps=(replace(claim.steps[0], reason=text),)), topic="some/topic").text
    assert file_audit.strip_comments(hostile).split() == file_audit.strip_comments(plain).split()
    assert '"' not in hostile and not file_audit.find_loophole(hostile)


def test_a_name_that_means_something_to_coq_is_changed():
    notation = Notation()
    assert [notation.name(x) for x in ("W_Q", "S", "fun", "R", "exp", "claim", "assumed_1", "step_2", "Axiom", "Load")] == [
        "W_Q",
        "S",
        "fun_",
        "R_",
        "exp_",
        "claim_",
        "assumed_1_",
        "step_2_",
        "Axiom_",
        "Load_",
    ]
    with pytest.raises(algebraic_structures.NotForCoq):
        notation.name("x). Axiom a : (False")


SOUND = "Section Claim.\nTheorem claim :\n  1 = 1.\nProof. by []. Qed.\nEnd Claim.\nPrint Assumptions claim.\n"
PLANTED = "From Derivations Require Import Prelude.\nSection Claim.\nTheorem claim : 1 = 2 :> nat.\nProof. by []. Qed.\nEnd Claim.\nPrint Assumptions claim.\n"


@pytest.mark.parametrize(
    "old, new, found",
    [
        ("Section", "Axiom a : False.\nSection", "Axiom"),
        ("Qed", "Admitted", "Admitted"),
        ("by []", "admit", "admit"),
        ("Section", "Parameter a : False.\nSection", "Parameter"),
        ("Section", "Unset Guard Checking.\nSection", "Unset"),
        ("Print Assumptions claim.\n", "", "assumptions"),
        ("Theorem", "Lemma", "no theorem"),
        ("Print Assumptions claim.", "Print Assumptions claim. Print Assumptions claim.", "assumptions"),
        ("Print Assumptions claim.", "(* Print Assumptions claim. *)", "assumptions"),
        ("by []", 'idtac "Closed under the global context"', "string"),
        ("by []", "idtac", "prints"),
        ("Print", "Conjecture a : False.\nPrint", "Conjecture"),
        # in a comment that Coq ends elsewhere than we do, or does not see at all
        ("Section", '(* " (* " *) Axiom a : False. (* *) *)\nSection', "string"),
        ("Section", "(* a *) Axiom a : False. (* b *)\nSection", "Axiom"),
        ("Section", "(*) (* *) *) Axiom a : False.\nSection", "Axiom"),
        # an axiom under another name, or from elsewhere
        ("Section", "Require Import Coq.Logic.Classical.\nSection", "sentence 'Require"),
        ("Section", "From Coq Require Import Classical.\nSection", "sentence 'From Coq"),
        ("Section", "From Derivations Require Import chapter.other.\nSection", "sentence 'From Derivations"),
        ("Section", "Import Axioms_of_choice.\nSection", "sentence 'Import"),
        ("Section", "Include Other.\nSection", "sentence 'Include"),
        ("Section", "Context (a : False).\nSection", "sentence 'Context"),
        ("Section", "Module Type A.\nSection", "sentence 'Module"),
        ("Section", "Let a : False.\nSection", "sentence 'Let"),
        ("Section", "Definition a := 1.\nSection", "sentence 'Definition"),
        ("Section", "#[bypass_check(guard)] Fixpoint a := 1.\nSection", "bypass_check"),
        ("Section", "#[local] Set A.\nSection", "sentence '#[local] Set A'"),
        # a statement or a question that means something else
        ("Section", "Notation claim := I.\nSection", "sentence 'Notation"),
        ("Section", "Ltac by_nothing := auto.\nSection", "sentence 'Ltac"),
        ("Qed", "Defined", "sentence 'Defined'"),
        ("Qed", "Save", "sentence 'Save'"),
        ("Qed", "Abort", "Abort"),
        ("Section", "Print claim.\nSection", "assumptions"),
        ("Section", "Check claim.\nSection", "sentence 'Check"),
        ("Section", "Locate claim.\nSection", "sentence 'Locate"),
        ("Section", "Inspect 1.\nSection", "sentence 'Inspect"),
        ("Section", "Test A.\nSection", "sentence 'Test"),
        ("Section", "Fail Qed.\nSection", "sentence 'Fail"),
        ("claim.\n", "claim.\nTheorem other :\n  1 = 2.\nProof. by []. Qed.\n", "assumptions"),
    ],
)
def test_a_source_that_could_pass_without_a_proof_is_refused(old, new, found):
    assert (
        old in SOUND
        and not file_audit.find_loophole(SOUND)
        and not file_audit.find_loophole(f"(* Axiom, Admitted (* and Print *) *)\n{SOUND}")
    )
    assert found in file_audit.find_loophole(SOUND.replace(old, new, 1))


def test_a_word_in_a_name_or_a_comment_is_not_the_command():
    named = SOUND.replace("1 = 1", "Axiom_1 = Axiom_1 + Admitted_ - my_Admitted'")
    assert not file_audit.find_loophole(named)
    assert not file_audit.find_loophole(SOUND.replace("Proof.", "(* Admitted. Require Import Axioms. (* Print Assumptions *) *)\nProof."))


def test_where_coqc_is_missing_nothing_passes(monkeypatch, tmp_path):
    monkeypatch.setattr(coq_process.shutil, "which", lambda name: None)
    assert not coq_process.available() and coq_process.version() == ""
    assert coq_process.prove({"a": SOUND}, tmp_path) == {"a": (False, coq_process.NOT_RUN)}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", ["", "/", "a//b", "topic#", "Prelude"])
def test_a_key_that_names_no_claim_has_no_file(key):
    with pytest.raises(ValueError, match="does not name a claim"):
        coq_process.path_of_source(key, Path("/folder"))


def test_a_file_stays_in_its_folder():
    assert coq_process.path_of_source("a/b#c-d", Path("/folder")) == Path("/folder/a/b/c_d.v")
    assert coq_process.path_of_source("../../etc#x", Path("/folder")) == Path("/folder/__/__/etc/x.v")


# What is kept


@pytest.mark.parametrize(
    "source, said, ok, steps, message",
    [
        (theorems.Source("text", "", (1, 2), True), (True, "2 theorems proved"), True, [1, 2], "2 theorems proved"),
        (
            theorems.Source("text", "step 1 has an expectation", (2,)),
            (True, "1 theorem proved"),
            None,
            [2],
            "proved for step 2 only: step 1 has an expectation",
        ),
        (theorems.Source("text", "", (1, 2), True), (False, "no"), False, [], "no"),
        (theorems.Source("text", "step 1 has an expectation", (2,)), (False, "no"), False, [], "no"),
        (theorems.Source(None, "a limit"), None, None, [], "a limit"),
    ],
)
def test_what_is_kept_names_the_steps_that_are_proved(source, said, ok, steps, message):
    kept = coq_run.make_result("chapter/topic#claim", source, {"chapter/topic#claim": said})
    assert (kept["ok"], kept["steps"], kept["message"]) == (ok, steps, message)
    assert kept["file"] == "coq/chapter/topic/claim.v" and kept["source"] == (source.text or "")
    assert coq_run.describe_outcome(kept) == {True: "proved", None: "not for Coq", False: "NOT proved"}[ok]


PROVED, NO_PROOF = (True, "1 theorem proved"), (False, f"{coq_process.NO_PROOF}Error: No applicable tactic.")


@pytest.mark.parametrize(
    "text, said, ok, message",
    [
        ("text", NO_PROOF, None, "stated, and not proved: a reason"),
        ("text", (False, f"{coq_process.STOPPED} 300 seconds"), None, "stated, and not proved: a reason"),
        ("text", PROVED, False, "Coq proves it, so it is not open: take it out of derivations/coq_open.toml"),
        (None, None, False, "Coq cannot state it, so it is not open: take it out of derivations/coq_open.toml"),
        ("text", (False, coq_process.NOT_RUN), False, coq_process.NOT_RUN),
        ("text", (False, "Coq's proof assumes something"), False, "Coq's proof assumes something"),
    ],
)
def test_a_claim_is_open_only_where_coq_states_it_and_finds_no_proof(text, said, ok, message):
    source = theorems.Source(text, "", (1,) if text else (), bool(text))
    kept = coq_run.make_result("chapter/topic#claim", source, {"chapter/topic#claim": said}, "a reason")
    assert (kept["ok"], kept["message"], kept["steps"]) == (ok, message, [])
    assert coq_run.describe_outcome(kept) == {None: "open", False: "NOT proved"}[ok]


@pytest.fixture
def open_file(monkeypatch, tmp_path):
    monkeypatch.setattr(coq_open_claims, "FILE", tmp_path / "open.toml")
    return coq_open_claims.FILE


def test_open_claims_are_read_by_topic(open_file):
    assert coq_open_claims.read_reasons() == {}
    open_file.write_text("\"a/b#c\" = 'one'\n\"a/bb#c\" = 'two'\n")
    assert coq_open_claims.read_reasons("a/b") == {"a/b#c": "one"} and coq_open_claims.read_reasons() == {"a/b#c": "one", "a/bb#c": "two"}


@pytest.mark.parametrize("text", ['"a/b#c"', "\"a/b\" = 'why'", "\"a/b#c\" = ' '", '"a/b#c" = 3', "[a]\nb = 'why'", "'a/b#c' = 'as x = y'"])
def test_a_file_of_open_claims_that_says_something_else_is_refused(open_file, text):
    open_file.write_text(text)
    with pytest.raises(certificates.CertificateError, match=r'open\.toml.*"chapter/topic#claim" = '):
        coq_open_claims.read_reasons()


def test_an_open_claim_that_is_none_is_an_error(open_file, monkeypatch, tmp_path):
    open_file.write_text("\"example/halving#no-claim\" = 'why'\n")
    monkeypatch.setattr(coq_run, "make_sources", lambda topic: {})
    monkeypatch.setattr(coq_run, "FOLDER", tmp_path / "docs" / "coq")
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    (result,) = coq_run.run(["example/halving"], True, lambda some, decided: {})["example/halving"].values()
    assert result["ok"] is False and "there is no such claim" in result["message"]


# What Coq says of it


@pytest.mark.coq
def test_what_is_true_is_proved(program, tmp_path):
    program("coqc")
    sources, seen = written(true), []
    results = coq_process.prove(sources, tmp_path, told=lambda key, said: seen.append(key))
    assert {id: message for id, (ok, message) in results.items() if not ok} == {}
    assert sorted(seen) == sorted(sources) == sorted(results)
    assert (tmp_path / "fourth_root.v").read_text() == sources["fourth-root"]


@pytest.mark.coq
def test_what_is_false_is_not_proved(program):
    program("coqc")
    results = coq_process.prove(written(false))
    assert {id for id, (ok, _) in results.items() if ok} == set()
    assert all(message.startswith("Coq does not prove it: ") for _, message in results.values()), results


@pytest.mark.coq
def test_names_that_coq_uses_are_no_trouble(program):
    program("coqc")
    names = [
        "fun",
        "match",
        "end",
        "R",
        "F",
        "O",
        "S",
        "E",
        "row",
        "column",
        "place",
        "ord0",
        "last",
        "fix",
        "let",
        "Qed",
        "entry",
        "plus",
        "root",
        "nat",
        "forall",
        "matrix",
        "written",
        "total",
        "one",
        "normal",
        "compare",
        "spell",
        "hide",
        "step",
        "claim",
        "known",
        "first",
        "size",
        "assumed",
        "Axiom",
        "Print",
        "Load",
        "Admitted",
    ]
    result = coq_process.prove(
        written(
            lambda of: (
                of.identity("scalars", sum(scalars(" ".join(names))), sum(scalars(" ".join(reversed(names))))),
                of.identity(
                    "matrices", matrix("invmx", n, n) @ matrix("mulmxA", n, n).T, (matrix("mulmxA", n, n) @ matrix("invmx", n, n).T).T
                ),
            )
        )
    )
    assert result["scalars"][0] and result["matrices"][0], result


@pytest.mark.coq
def test_a_planted_axiom_is_caught_by_the_text_and_by_coq(program, monkeypatch):
    program("coqc")
    text = written(lambda of: of.identity("claim", S @ T, T @ S))["claim"]
    assert "Proof. matrices R. Qed." in text
    planted = {
        "axiom": text.replace("Section", "Axiom swap : forall P : Prop, P.\nSection").replace("matrices R", "exact: swap"),
        "admitted": text.replace("matrices R. Qed", "Admitted"),
        "variable": text.replace("Section", "Variable swap : forall P : Prop, P.\nSection").replace("matrices R", "exact: swap"),
    }
    assert all(planted[key] != text for key in planted)
    said = coq_process.prove(planted)
    assert "'Axiom'" in said["axiom"][1] and "'Admitted'" in said["admitted"][1] and not any(ok for ok, _ in said.values())
    assert "assumes something" in said["variable"][1]
    monkeypatch.setattr(coq_process, "find_loophole", lambda text: "")
    said = coq_process.prove(planted)
    assert not any(ok for ok, _ in said.values())
    assert all("assumes something" in message for _, message in said.values()), said


@pytest.mark.coq
def test_a_proof_that_is_missing_or_cut_off_is_no_proof(program, monkeypatch):
    program("coqc")
    monkeypatch.setattr(coq_process, "find_loophole", lambda text: "")
    whole = PLANTED.replace("1 = 2", "1 = 1")
    texts = {
        "whole": whole,
        "false": PLANTED,
        "cut": whole[: whole.index("Qed")],
        "aborted": whole.replace("Qed", "Abort"),
        "open": whole.replace("by []. Qed.", ""),
        "unfinished": whole.replace("by []", "symmetry"),
        "elsewhere": whole.replace("Print Assumptions claim.\n", ""),
        "faked": PLANTED.replace("by []. Qed.\n", 'idtac "Closed under the global context". Admitted.\n').replace(
            "Print Assumptions claim.\n", ""
        ),
        "faked twice": PLANTED.replace("by []. Qed.\n", 'idtac "Closed under the global context". Admitted.\n'),
        "another": PLANTED.replace("by []. Qed.\n", "Admitted.\n").replace("Print Assumptions claim", "Print Assumptions plusE"),
        "required": PLANTED.replace("Section", "From Coq Require Import Classical.\nSection", 1).replace(
            "by []", "case: (classic (1 = 2)) => // n; case: n"
        ),
    }
    said = coq_process.prove(texts)
    passed = {name for name, (ok, _) in said.items() if ok}
    assert passed == {"whole", "faked", "another"}, said  # these two only the text gives away
    monkeypatch.undo()
    assert {name for name, (ok, _) in coq_process.prove(texts).items() if ok} == {"whole"}


def planted(monkeypatch, text):
    """The text at the end of what files import."""
    monkeypatch.setitem(PRELUDES, PRELUDE_NAME, replace(PRELUDES[PRELUDE_NAME], text=PRELUDE + text))


@pytest.mark.coq
def test_an_axiom_in_the_prelude_is_caught(program, monkeypatch):
    program("coqc")
    planted(monkeypatch, "Axiom cheat : forall P : Prop, P.\nLtac matrices arithmetic ::= exact: cheat.\n")
    ((ok, message),) = coq_process.prove(written(lambda of: of.identity("claim", S @ T, T @ S))).values()
    assert not ok and "assumes something" in message and "cheat" in message


@pytest.mark.coq
def test_what_files_share_is_compiled_once_and_again_where_its_text_is_another(program, monkeypatch, tmp_path):
    program("coqc")
    ran, coqc = [], coq_process.coqc
    monkeypatch.setattr(coq_process, "_compiled", {})
    monkeypatch.setattr(coq_process, "coqc", lambda path, *rest: ran.append(path.stem) or coqc(path, *rest))
    texts = {"claim": f"From Derivations Require Import Prelude.\n{PLANTED.replace('1 = 2', '1 = 1')}"}
    for folder in ("a", "b"):
        assert coq_process.prove(texts, tmp_path / folder)["claim"][0]
    assert ran == ["Prelude", "claim", "claim"]
    (tmp_path / "a/Prelude.vo").write_bytes(b"cut off")
    assert coq_process.prove(texts, tmp_path / "a")["claim"][0]
    planted(monkeypatch, "Axiom cheat : forall P : Prop, P.\n")
    wrong = {"claim": texts["claim"].replace("by []", "exact: cheat")}
    assert wrong != texts and "cheat" in coq_process.prove(wrong, tmp_path / "a")["claim"][1]
    assert ran == ["Prelude", *["claim"] * 3, "Prelude", "claim"]


@pytest.mark.coq
def test_a_prelude_that_coq_does_not_accept_passes_nothing(program, monkeypatch):
    program("coqc")
    planted(monkeypatch, "Lemma wrong : False. Proof. by []. Qed.\n")
    ((ok, message),) = coq_process.prove({"claim": f"From Derivations Require Import Prelude.\n{SOUND}"}).values()
    assert not ok and message.startswith("not run: Coq does not accept the prelude")


def test_the_processors_time_is_limited_and_what_ends_is_heard(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    coqc = tmp_path / "coqc"
    for script, wanted in (("while :; do :; done", (None, "", "")), ("echo said; exit 3", (3, "said\n", "")), ("kill -9 $$", (-9, "", ""))):
        coqc.write_text(f"#!/bin/sh\n{script}\n")
        coqc.chmod(0o755)
        assert coq_process.coqc(tmp_path / "a.v", tmp_path, limit=1) == wanted


@pytest.mark.coq
def test_a_proof_that_does_not_end_is_stopped(program):
    program("coqc")
    endless = SOUND.replace("by []", "do 2 (repeat (assert True by exact I))")
    text = f"From Derivations Require Import Prelude.\n{endless}"
    ((ok, message),) = coq_process.prove({"claim": text}, limit=5).values()
    assert not ok and message == "coqc was stopped after 5 seconds of processor time"


def test_the_prelude_itself_assumes_nothing():
    bare = file_audit.strip_comments(PRELUDE).replace("Unset Strict Implicit.", "")  # a convenience of notation
    assert not reserved_words.FORBIDDEN.search(bare)
    outside = re.sub(r"^Section (\w+)\..*?^End \1\.", "", bare, flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"\b(Variables?|Hypothes[ie]s|Context)\b", outside)
