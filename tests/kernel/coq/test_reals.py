"""The Coq witness over the reals: refutations as theorems, conditions under which a term has a value, and permitted axioms."""

import re

import pytest

from derivations.kernel import (
    absolute,
    array,
    cos,
    diff,
    each,
    exp,
    eye,
    index,
    inverse,
    log,
    matrix,
    norm,
    rank,
    scalars,
    sizes,
    softmax,
    sqrt,
    tanh,
    total,
    vector,
)
from derivations.kernel.coq import coq_process, file_audit
from derivations.kernel.coq.reals import axioms, definedness, notation, prelude
from derivations.kernel.coq.reserved_words import FORBIDDEN
from tests.kernel.coq.sources import stated, written

n, m = sizes("n m")
S, T, Q, K = matrix("S", n, n), matrix("T", n, n), matrix("Q", n, m), matrix("K", n, m)
z, w = vector("z", n), vector("w", n)
x, y, c = scalars("x y c")
i, j, k = index("i", n), index("j", n), index("k", n)
FIRST, SECOND = [[1, 2], [0, 1]], [[1, 0], [3, 2]]
RAISED = [[0, 2, 0], [0, 0, 1], [3, 0, 0]]


def wrong(of):
    """What does not hold, each with a counterexample."""
    of.refute("commutes", S @ T, T @ S, at={S: [[0, 1], [0, 0]], T: [[0, 0], [1, 0]]})
    of.refute("softmax-scaled", softmax(2 * z), softmax(z), at={z: [1, 0]})
    of.refute("rows-or-columns", softmax(S.T), softmax(S).T, at={S: [[0, 1], [0, 0]]})
    of.refute("root", sqrt(x + y), sqrt(x) + sqrt(y), at={x: 1, y: 4})
    of.refute("logarithm", log(x + y), log(x) + log(y), at={x: 2, y: 3})
    of.refute("quotient", (x + 1) / (y + 1), x / y, at={x: 2, y: 3})
    of.refute("functions", cos(x) + tanh(x) + absolute(x), x, at={x: -1})
    of.refute("any-power", x**y, y**x, at={x: 2, y: 3})
    of.refute("length", norm(z + w), norm(z) + norm(w), at={z: [3, 0], w: [0, 4]})
    of.refute("entry", (eye(n) @ S)[i, j], S[j, i], at={S: [[0, 1], [0, 0]], i: 1, j: 2})
    of.refute("each", each(k * z[k] / n, k), z, at={z: [1, 1]})
    of.refute("sum", total(1 / z[k], k), 1 / total(z[k], k), at={z: [1, 2, 4]})
    of.refute("written", array([[1, 2], [3, 4]]) @ array([x, 1]), array([x, 1]), at={x: 0})
    of.refute("bound", norm(z), z[1], relation="<=", at={z: [1, 1]})
    of.refute("numbers", exp(z[1]) * n, exp(n * z[1]), at={z: [log(3), 0]})
    of.refute("slope", diff(log(x) * sqrt(y) * cos(x * y), x), y / x, at={x: 1, y: 2})
    of.refute("gradient", each(diff(z @ S @ z, z[k]), k), S @ z, at={z: [1, 2], S: [[1, 1], [0, 1]]})
    of.refute("gradient-of-a-matrix", each(diff(total((S @ T)[k, 1] ** 2, k), S[i, j]), i, j), 2 * S @ T.T, at={S: FIRST, T: SECOND})
    of.refute("inverse", inverse(S @ T), inverse(S) @ inverse(T), at={S: FIRST, T: SECOND})
    of.refute("inverse-turned", inverse(S.T)[i, j], inverse(S)[i, j], at={S: FIRST, i: 1, j: 2})
    of.refute("rank", rank(softmax(Q @ K.T)), m, at={Q: [[0], [1]], K: [[0], [1]]})
    of.refute("rank-of-a-product", rank(S @ T), 2, relation="<=", at={S: RAISED, T: RAISED})


def held(of):
    """What holds at the values, or says nothing there."""
    of.refute("slope", diff(x**2 * exp(y), x), x + 1, at={x: 1, y: 0})
    of.refute("no-slope", diff(absolute(x), x), 2, at={x: 0})
    of.refute("no-slope-of-a-root", diff(sqrt(x) ** 4, x), 1, at={x: 0})
    of.refute("gradient", each(diff(z @ S @ z, z[k]), k), S @ z, at={z: [0, 0], S: [[1, 1], [0, 1]]})
    of.refute("inverse", inverse(S @ T), inverse(S) @ inverse(T), at={S: FIRST, T: FIRST})
    of.refute("rank", rank(softmax(Q @ K.T)), m, at={Q: [[0], [1]], K: [[0], [0]]})
    of.refute("rank-of-a-product", rank(S @ T), 2, relation="<=", at={S: RAISED, T: [[1, 0, 0], [0, 0, 0], [0, 0, 1]]})


def test_the_theorem_speaks_of_all_values_and_its_proof_of_the_counterexample():
    text = written(wrong)["commutes"]
    theorem, _, proof = text.partition("Proof.")
    assert "~ (forall (n : nat) (S T : nat -> nat -> R)," in theorem and "product n S T row column =" in theorem
    assert "(* At S = [[0, 1], [0, 0]], T = [[0, 0], [1, 0]] *)" in theorem
    assert "matrix_of [[0; 1]; [0; 0]]" in proof and "matrix_of" not in theorem


def test_every_source_is_read_before_coq_reads_it():
    assert {id: file_audit.find_loophole(text) for id, text in written(wrong).items()} == dict.fromkeys(written(wrong), "")


@pytest.mark.parametrize(
    "tree, found",
    [
        (x / y, ["y <> 0"]),
        (x / exp(y), []),
        (x / total(exp(z[k]), k), []),
        (x / n, []),
        (sqrt(x), ["0 <= x"]),
        (x**-1, ["x <> 0"]),
        (x**-2 + sqrt(n), ["x <> 0"]),
        (x**y, ["0 < x"]),
        (1 / sqrt(x), ["0 <= x", "(sqrt x) <> 0"]),
        (log(x), ["0 < x"]),
        (total(x / z[k], k), ["(forall k, (k < n)%nat -> z k <> 0)"]),
        (each(log(z[k]), k)[1], ["(forall k, (k < n)%nat -> 0 < z k)"]),
        (x / (1 - exp(y)), ["1 - exp y <> 0"]),
    ],
)
def test_where_a_tree_has_a_value_is_a_premise(tree, found):
    assert definedness.conditions(tree) == found


@pytest.mark.parametrize(
    "tree, text",
    [
        (x - (y - c), "x - (y - c)"),
        (-(x + y) * c, "(- (x + y)) * c"),
        (-(x**2), "- (x ^ 2)"),
        (x / (y * c), "x / (y * c)"),
        (x**-2, "(/ (x ^ 2))"),
        (total(z[k] * x, k) + 1, "\\sum_(k < n) z k * x + 1"),
        (total(z[k] + x, k) * 2, "(\\sum_(k < n) (z k + x)) * 2"),
        ((S.T)[i, 1], "transposed S i 0%nat"),
        ((S + 2 * T)[i, j], "(fun row column => S row column + 2 * T row column) i j"),
        (k * x, "(number k + 1) * x"),
        (n * x, "number n * x"),
        (log(x) + absolute(y), "ln x + Rabs y"),
    ],
)
def test_a_tree_over_the_reals(tree, text):
    assert notation.show(tree) == text


@pytest.mark.parametrize(
    "state, reason",
    [
        (lambda of: of.refute("c", inverse(inverse(S)), inverse(S), at={S: [[2]]}), "an inverse of an inverse"),
        (lambda of: of.refute("c", diff(inverse(S)[1, 1], S[1, 1]), 1, at={S: [[2]]}), "an inverse in a derivative"),
        (lambda of: of.refute("c", inverse(S), S, at={S: [[1, 1], [1, 1]]}), "none at the counterexample"),
        (lambda of: of.refute("c", inverse(S), S, at={S: [[log(2)]]}), "no fractions at the counterexample"),
        (lambda of: of.refute("c", inverse(S), T, at={T: [[2]]}), "no tensor for S"),
        (lambda of: of.refute("c", diff(diff(x**3, x), x), x, at={x: 1}), "a derivative of a derivative"),
        (lambda of: of.refute("c", rank(S), x, at={S: [[2]], x: 2}), "a rank beside what is no size"),
        (lambda of: of.refute("c", rank(S) + 1, 1, at={S: [[2]]}), "a rank"),
    ],
)
def test_what_is_not_stated_says_what_it_is(state, reason):
    (source,) = stated(state).values()
    assert source.text is None and reason in source.reason, source.reason


def test_of_an_inverse_it_is_assumed_that_both_products_are_the_identity():
    text = written(wrong)["inverse"]
    theorem, _, proof = text.partition("Proof.")
    assert "(S T inverse_1 inverse_2 inverse_3 : nat -> nat -> R)" in theorem
    assert theorem.count("product n (product n S T) inverse_1 row column = identity row column) ->") == 1
    assert theorem.count("product n inverse_1 (product n S T) row column = identity row column) ->") == 1
    assert "(matrix_of [[1; (-2)]; [0; 1]])" in proof


def test_a_matrix_of_the_name_of_an_inverse_is_another():
    named = matrix("inverse_1", n, n)
    (text,) = written(lambda of: of.refute("c", inverse(named), named, at={named: [[2]]})).values()
    assert "product n inverse_1 inverse_2 row column = identity row column" in text


def test_that_a_derivative_exists_is_a_premise():
    theorem = written(wrong)["slope"].partition("Proof.")[0]
    function = "(fun x => ln x * (sqrt y) * cos (x * y)) x"
    assert f"ex_derive {function} ->" in theorem and f"Derive {function} =" in theorem
    assert "0 < x ->" in theorem and "0 < y ->" in theorem  # near the point too
    assert "(forall k, (k < n)%nat -> ex_derive (fun moving => let z := marked_vector z k moving in" in written(wrong)["gradient"]


def test_a_rank_is_that_of_a_factorisation():
    texts = written(wrong)
    assert "rank_is n n (softmax_rows n (product m Q (transposed K))) m)" in texts["rank"]
    assert "rank_at_most n n (product n S T) 2)" in texts["rank-of-a-product"]
    assert all("is a product through an axis" in texts[id] for id in ("rank", "rank-of-a-product"))


def test_what_must_not_be_zero_stands_before_what_is_denied():
    text = written(lambda of: of.refute("c", x / y, y, relation="<=", at={x: 2, y: 1}))["c"]
    assert "~ (forall (x y : R),\n    y <> 0 ->\n    x / y <=\n    y)" in text


# What a theorem may rest on

OVER_THE_REALS = f"From Derivations Require Import {prelude.REALS_NAME}.\nTheorem claim : True.\n"

SAID = (
    "Axioms:\nClassicalDedekindReals.sig_not_dec\n  : forall P : Prop,\n    {~ ~ P} + {~ P}\n"
    "Classical_Prop.classic : forall P : Prop, P \\/ ~ P\nClosed under the global context\n"
)


def test_what_coq_says_is_assumed_is_read_theorem_by_theorem():
    assert axioms.read_assumptions(SAID) == [{"ClassicalDedekindReals.sig_not_dec", "Classical_Prop.classic"}, set()]
    assert axioms.forbidden_axioms({"ClassicalDedekindReals.sig_not_dec", "Classical_Prop.classic"}) == []
    assert axioms.forbidden_axioms({"swap", "PrimInt63.add", "PrimFloat.add"}) == ["PrimFloat.add", "PrimInt63.add", "swap"]


@pytest.mark.parametrize("said", ["swap : False\n", "Axioms:\n%\n", "= 3\n", "nothing to see\n"])
def test_anything_else_that_coq_says_is_refused(said):
    with pytest.raises(ValueError):
        axioms.read_assumptions(said)
    assert not coq_process.judge_output(OVER_THE_REALS, said, 1)[0]


@pytest.mark.parametrize(
    "said, ok, message",
    [
        (SAID, False, "does not say"),
        ("", False, "does not say"),
        ("Closed under the global context\n", True, "1 theorem proved, nothing assumed"),
        ("Axioms:\nswap : forall P : Prop, P\n", False, ": swap"),
        ("Axioms:\nClassical_Prop.classic : forall P : Prop, P \\/ ~ P\n", True, "assumed are the axioms of Coq's reals"),
        ("Axioms:\nPrimInt63.add : PrimInt63.int\n", False, ": PrimInt63.add"),
    ],
)
def test_a_theorem_may_rest_on_the_axioms_that_are_named(said, ok, message):
    found = coq_process.judge_output(OVER_THE_REALS, said, 1)
    assert found[0] is ok and message in found[1]


def test_the_prelude_takes_nothing_for_granted():
    bare = file_audit.strip_comments(prelude.REALS_PRELUDE)
    assert not FORBIDDEN.search(bare) and not re.search(r"\b(Hypothesis|Variables?|Context)\b", bare)


def test_a_source_may_not_import_anything_else():
    text = written(wrong)["commutes"]
    assert file_audit.imports_reals(text)
    for line in ("From Flocq Require Import Core.\n", "From Derivations Require Import Other.\n", "Local Open Scope nat_scope.\n"):
        assert "sentence" in file_audit.find_loophole(text.replace("Section", line + "Section", 1))


@pytest.mark.coq
def test_what_is_refuted_is_proved_not_to_hold(program, tmp_path):
    program("coqc")
    results = coq_process.prove(written(wrong), tmp_path)
    assert {id: message for id, (ok, message) in results.items() if not ok} == {}
    assert all("axioms of Coq's reals" in message for _, message in results.values())


@pytest.mark.coq
def test_what_holds_at_the_values_is_not_refuted_by_them(program):
    program("coqc")
    text = written(wrong)["commutes"]
    other = {
        "no counterexample": text.replace("[[0; 0]; [1; 0]]", "[[0; 1]; [0; 0]]"),
        "holds": text.replace("product n T S row", "product n S T row"),
        "not defined": written(lambda of: of.refute("c", x / y, y, at={x: 2, y: 1}))["c"].replace("all 2 1", "all 2 0"),
    }
    results = coq_process.prove(other | {f"{id} held": text for id, text in written(held).items()})
    assert all(not ok and message.startswith(coq_process.NO_PROOF) for ok, message in results.values()), results


@pytest.mark.coq
def test_a_planted_axiom_is_caught_by_the_text_and_by_coq(program, monkeypatch):
    program("coqc")
    text = written(wrong)["commutes"]
    proof = text[text.index("intros all.") : text.index("Qed.")]
    planted = {
        "axiom": text.replace("Section", "Axiom swap : forall P : Prop, P.\nSection").replace(proof, "apply swap. "),
        "variable": text.replace("Section", "Variable swap : forall P : Prop, P.\nSection").replace(proof, "apply swap. "),
        "admitted": text.replace(proof, "").replace("Qed", "Admitted"),
        "admit": text.replace(proof, "admit. ").replace("Qed", "Admitted"),
        "elsewhere": text.replace("Section", "Require Import Coq.Logic.ClassicalEpsilon.\nSection").replace(
            "intros all.",
            "intros all. pose proof (constructive_indefinite_description (fun k : nat => k = 0%nat) (ex_intro _ 0%nat eq_refl)).",
        ),
    }
    assert all(planted[key] != text for key in planted)
    assert not any(ok for ok, _ in coq_process.prove(planted).values())
    monkeypatch.setattr(coq_process, "find_loophole", lambda text: "")
    said = coq_process.prove(planted)
    assert not any(ok for ok, _ in said.values()), said
    assert all("assumes something" in message for _, message in said.values()), said
