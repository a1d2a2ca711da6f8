"""Coq's verdicts are used again while everything that they depend on is unchanged."""

import pytest

from derivations.kernel.check import coq_run
from derivations.kernel.coq import coq_process
from derivations.kernel.coq.coq_process import NO_PROOF, STOPPED
from derivations.kernel.store import coq_verdict_cache, import_closure, store
from derivations.kernel.store.store import Differs, Recheck
from tests.kernel.common import has_code

TEXTS = {
    "one": "From Derivations Require Import Prelude.\nTheorem one : True.\n",
    "two": "From Derivations Require Import PreludeReals.\nTheorem two : True.\n",
}
PROVED = {"one": (True, "1 theorem proved"), "two": (True, "1 theorem proved")}


@pytest.fixture
def coq(tmp_path, monkeypatch):
    """A Coq that says what it is told to say, and what was asked of it."""
    monkeypatch.setattr(store, "FOLDER", tmp_path / "store")
    monkeypatch.setattr(coq_process, "version", lambda: "8.16")

    class Coq:
        says, asked = dict(PROVED), []

        def prove(self, fresh=False, texts=TEXTS):
            self.asked = []
            return coq_verdict_cache.prove(dict(texts), coq_run.proof_keys(texts), self.ask, coq_run.is_verdict, fresh)

        def ask(self, texts, decided):
            self.asked += sorted(texts)
            for key in texts:
                decided(key, self.says[key])
            return {key: self.says[key] for key in texts}

    return Coq()


def test_what_was_proved_is_not_asked_again(coq):
    assert coq.prove() == PROVED and coq.asked == ["one", "two"]
    assert coq.prove() == PROVED and coq.asked == []


def test_what_was_decided_before_a_run_was_cut_short_is_kept(coq):
    def cut_short(texts, decided):
        decided("one", PROVED["one"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        coq_verdict_cache.prove(TEXTS, coq_run.proof_keys(TEXTS), cut_short, coq_run.is_verdict)
    assert coq.prove() == PROVED and coq.asked == ["two"]


def test_a_fresh_run_asks_for_all(coq):
    coq.prove()
    assert coq.prove(fresh=True) == PROVED and coq.asked == ["one", "two"]


def test_another_text_is_asked_and_another_name_is_not(coq):
    coq.prove()
    coq.prove(texts=TEXTS | {"one": TEXTS["one"] + "\n"})
    assert coq.asked == ["one"]
    assert coq.prove(texts={"three": TEXTS["one"]}) == {"three": PROVED["one"]} and coq.asked == []


def test_another_coq_is_asked(coq, monkeypatch):
    coq.prove()
    monkeypatch.setattr(coq_process, "version", lambda: "8.17")
    coq.prove()
    assert coq.asked == ["one", "two"]


def test_what_imports_another_prelude_is_asked(coq, monkeypatch):
    coq.prove()
    shared = coq_run.PRELUDES["PreludeReals"]
    monkeypatch.setitem(coq_run.PRELUDES, "PreludeReals", type(shared)(shared.text + " ", shared.imports, shared.missing))
    coq.prove()
    assert coq.asked == ["two"]


@pytest.mark.parametrize("judge", ["coq_process.py", "file_audit.py", "combined_files.py", "reals/axioms.py", "laws/prelude.py"])
def test_what_judges_coqs_answer_counts(coq, judge, tree, monkeypatch):
    room = tree.kernel / "coq"
    monkeypatch.setattr(coq_process, "__file__", str(room / "coq_process.py"))
    monkeypatch.setattr(coq_run, "COQ_RUNNER", coq_run.hash_coq_runner())
    coq.prove()
    coq.prove()
    assert coq.asked == []
    path = room / judge
    path.write_text(path.read_text() + "\n")
    import_closure.imports.cache_clear()
    coq.prove()
    assert coq.asked == []  # those that judge are the ones that were loaded
    monkeypatch.setattr(coq_run, "COQ_RUNNER", coq_run.hash_coq_runner())
    coq.prove()
    assert coq.asked == ["one", "two"]


def test_that_it_was_not_proved_is_kept_and_that_it_was_stopped_is_not(coq):
    coq.says = {"one": (False, f"{NO_PROOF}no"), "two": (False, f"{STOPPED} 300 seconds")}
    coq.prove()
    assert coq.prove() == coq.says and coq.asked == ["two"]


def test_a_recheck_that_finds_another_verdict_is_an_error_and_deletes_all(coq, monkeypatch):
    coq.prove()
    monkeypatch.setattr(store.settings, "recheck", Recheck(1))
    assert coq.prove() == PROVED and coq.asked == ["one", "two"]
    coq.says = PROVED | {"two": (False, f"{NO_PROOF}no")}
    with pytest.raises(Differs, check=has_code("different-result"), match="^two: "):
        coq.prove()
    assert coq_verdict_cache.STORE.keys() == []
    assert coq.prove() == coq.says


@pytest.mark.parametrize("said", [f"{STOPPED} 300 seconds", coq_process.NOT_RUN, f"{coq_process.ENDED}: no message"])
def test_what_is_no_verdict_contradicts_none_and_removes_none(coq, said, monkeypatch):
    coq.prove()
    coq.says = dict.fromkeys(TEXTS, (False, said))
    with monkeypatch.context() as rechecked:
        rechecked.setattr(store.settings, "recheck", Recheck(1))
        assert coq.prove() == PROVED and coq.asked == ["one", "two"]
    assert coq.prove(fresh=True) == coq.says  # asked for anew, it is told as it is
    assert coq.prove() == PROVED and coq.asked == []


def test_a_coq_that_is_ended_or_runs_out_of_memory_did_not_decide(monkeypatch, tmp_path):
    for code, errors in ((-9, ""), (1, "Out of memory."), (129, "Stack overflow."), (1, "A.vo makes inconsistent assumptions over B")):
        monkeypatch.setattr(coq_process, "coqc", lambda *_, said=(code, "", errors): said)
        assert coq_process.prove_one("a", TEXTS["one"], tmp_path, 1)[1].startswith(coq_process.ENDED)
    monkeypatch.setattr(coq_process, "coqc", lambda *_: (1, "", "Error: no"))
    assert coq_process.prove_one("a", TEXTS["one"], tmp_path, 1)[1].startswith(NO_PROOF)
