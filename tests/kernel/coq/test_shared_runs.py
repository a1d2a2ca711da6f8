"""Files that Coq checks in one run: each one is a separate module, and the axioms of all theorems are listed together."""

import re

import pytest

from derivations.kernel import exp, matrix, scalars, sizes
from derivations.kernel.coq import combined_files, coq_process
from tests.kernel.coq.sources import written

n = sizes("n")
S, T = matrix("S", n, n), matrix("T", n, n)
x, y = scalars("x y")


def three(of):
    of.identity("product", (S @ T).T, T.T @ S.T)
    of.identity("exponential", exp(x + y), exp(x) * exp(y))
    of.refute("commutes", x - y, y - x, at={x: 1, y: 0})


def test_what_imports_the_same_is_shared_out():
    sources = written(three) | {"more": written(three)["product"]}
    groups = combined_files.group_by_imports(sources, frozenset(), 1)
    assert sorted(map(sorted, groups)) == [["commutes"], ["exponential", "more", "product"]]
    assert len(combined_files.group_by_imports(sources, frozenset(), 3)) == 4
    assert ["exponential"] in combined_files.group_by_imports(sources, frozenset({"exponential"}), 1)


def test_no_group_is_larger_than_it_may_be():
    sources = dict.fromkeys(map(str, range(3 * combined_files.MAX_FILES + 1)), written(three)["product"])
    assert [len(group) for group in combined_files.group_by_imports(sources, frozenset(), 1)] == [combined_files.MAX_FILES] * 3 + [1]


def test_each_file_stands_in_its_module_and_the_question_is_one():
    texts = list(written(three).values())[:2] * 2
    text = combined_files.join_files(texts)
    assert text.count("Require Import") == 1 and text.count("Print Assumptions") == 1
    assert re.findall(r"^Module (\w+)\.", text, re.MULTILINE) == re.findall(r"^End (Claim_\d)\.", text, re.MULTILINE)
    assert "Definition together := conj Claim_1.claim (conj Claim_2.claim (conj Claim_3.claim Claim_4.claim))." in text


@pytest.fixture
def runs(program, monkeypatch):
    """The names of the files that Coq is run on."""
    program("coqc")
    found, run = [], coq_process.coqc
    monkeypatch.setattr(coq_process, "coqc", lambda path, *more: found.append(path.stem) or run(path, *more))
    monkeypatch.setattr(coq_process, "_compiled", {})  # what a test before this one had compiled
    return found


@pytest.mark.coq
def test_files_are_proved_in_one_run_where_all_are(runs, tmp_path):
    sources = {"a": written(three)["product"], "b": written(three)["exponential"]}
    results = coq_process.prove(sources, tmp_path, jobs=1)
    assert results == {key: (True, "1 theorem proved, nothing assumed") for key in sources}
    assert len(runs) == 2 and runs[0] == "Prelude" and runs[1].startswith("Together_")
    assert (tmp_path / "a.v").read_text() == sources["a"] and not list(tmp_path.glob("Together*.v"))


@pytest.mark.coq
def test_one_that_is_false_is_found_and_the_others_are_proved(runs):
    sources = {"a": written(three)["product"], "b": written(lambda of: of.identity("b", S @ T, T @ S))["b"]}
    results = coq_process.prove(sources, jobs=1)
    assert results["a"][0] and not results["b"][0] and results["b"][1].startswith(coq_process.NO_PROOF)
    assert runs[2:] == ["a", "b"]


@pytest.mark.coq
def test_an_axiom_in_one_of_them_is_its_own(runs, monkeypatch):
    planted = written(three)["product"].replace("Section", "Axiom swap : forall P : Prop, P.\nSection", 1)
    planted = planted.replace("matrices R", "apply: swap")
    sources = {"a": written(three)["exponential"], "b": planted}
    assert [ok for ok, _ in coq_process.prove(sources, jobs=1).values()] == [True, False] and "'Axiom'" in coq_process.prove(sources)["b"][
        1
    ]
    monkeypatch.setattr(coq_process, "find_loophole", lambda text: "")
    results = coq_process.prove(sources, jobs=1)
    assert results["a"] == (True, "1 theorem proved, nothing assumed")
    assert not results["b"][0] and "swap" in results["b"][1]
