"""What Coq said is taken again where all that it rests on is as it was, and one in so many is asked for all the same."""

import os
import shutil

import pytest

from derivations.kernel.coq import coq_process
from derivations.kernel.coq.coq_process import NO_PROOF, STOPPED
from derivations.kernel.run import certificates, coq_kept, importing
from derivations.kernel.run.shared import Shared

TEXTS = {
    "one": "From Derivations Require Import Prelude.\nTheorem one : True.\n",
    "two": "From Derivations Require Import PreludeReals.\nTheorem two : True.\n",
}
PROVED = {"one": (True, "1 theorem proved"), "two": (True, "1 theorem proved")}


@pytest.fixture
def coq(tmp_path, monkeypatch):
    """A Coq that says what it is told to say, and what was asked of it."""
    monkeypatch.setattr(certificates, "STORE", tmp_path / "store")
    monkeypatch.setattr(coq_process, "version", lambda: "8.16")

    class Coq:
        says, asked, lies = dict(PROVED), [], []

        def prove(self, replay=10**9, texts=TEXTS, shared=None):
            self.asked, self.lies = [], []
            return coq_kept.prove(dict(texts), replay, self.ask, self.lies.append, shared)

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
        coq_kept.prove(TEXTS, 10**9, cut_short, None)
    assert coq.prove() == PROVED and coq.asked == ["two"]


def test_without_a_replay_all_are_asked(coq):
    coq.prove()
    assert coq.prove(0) == PROVED and coq.asked == ["one", "two"]


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
    shared = coq_kept.PRELUDES["PreludeReals"]
    monkeypatch.setitem(coq_kept.PRELUDES, "PreludeReals", type(shared)(shared.text + " ", shared.imports, shared.missing))
    coq.prove()
    assert coq.asked == ["two"]


@pytest.mark.parametrize("judge", ["coq_process.py", "file_audit.py", "combined_files.py", "reals/axioms.py", "laws/prelude.py"])
def test_what_judges_coqs_answer_counts(coq, judge, tree, monkeypatch):
    monkeypatch.setattr(certificates, "STORE", tree.store)
    room = tree.kernel / "coq"
    monkeypatch.setattr(coq_process, "__file__", str(room / "coq_process.py"))
    monkeypatch.setattr(coq_kept, "JUDGES", coq_kept.judges())
    coq.prove()
    coq.prove()
    assert coq.asked == []
    path = room / judge
    path.write_text(path.read_text() + "\n")
    importing.imports.cache_clear()
    coq.prove()
    assert coq.asked == []  # those that judge are the ones that were loaded
    monkeypatch.setattr(coq_kept, "JUDGES", coq_kept.judges())
    coq.prove()
    assert coq.asked == ["one", "two"]


def test_that_it_was_not_proved_is_kept_and_that_it_was_stopped_is_not(coq):
    coq.says = {"one": (False, f"{NO_PROOF}no"), "two": (False, f"{STOPPED} 300 seconds")}
    coq.prove()
    assert coq.prove() == coq.says and coq.asked == ["two"]


def test_each_is_asked_where_one_in_one_is(coq):
    coq.prove()
    assert coq.prove(1) == PROVED and coq.asked == ["one", "two"] and not coq.lies


def test_where_one_comes_out_otherwise_nothing_kept_is_taken(coq, monkeypatch):
    coq.prove()
    coq.says = {"one": (False, f"{NO_PROOF}no"), "two": (False, f"{NO_PROOF}no")}
    drawn = iter([0, 1])
    monkeypatch.setattr(coq_kept.secrets, "randbelow", lambda n: next(drawn, 1))
    assert coq.prove(2) == coq.says and sorted(coq.asked) == ["one", "two"] and len(coq.lies) == 1
    assert coq.prove() == coq.says and coq.asked == []


@pytest.mark.parametrize("said", [f"{STOPPED} 300 seconds", coq_process.NOT_RUN, f"{coq_process.ENDED}: no message"])
def test_what_is_no_verdict_contradicts_none_and_removes_none(coq, said):
    coq.prove()
    coq.says = dict.fromkeys(TEXTS, (False, said))
    assert coq.prove(1) == PROVED and not coq.lies
    assert coq.prove(0) == coq.says  # asked for anew, it is told as it is
    assert coq.prove() == PROVED and coq.asked == []


def test_a_coq_that_is_ended_or_runs_out_of_memory_did_not_decide(monkeypatch, tmp_path):
    for code, errors in ((-9, ""), (1, "Out of memory."), (129, "Stack overflow."), (1, "A.vo makes inconsistent assumptions over B")):
        monkeypatch.setattr(coq_process, "coqc", lambda *_, said=(code, "", errors): said)
        assert coq_process.prove_one("a", TEXTS["one"], tmp_path, 1)[1].startswith(coq_process.ENDED)
    monkeypatch.setattr(coq_process, "coqc", lambda *_: (1, "", "Error: no"))
    assert coq_process.prove_one("a", TEXTS["one"], tmp_path, 1)[1].startswith(NO_PROOF)


def test_what_was_edited_or_stands_at_another_address_is_not_taken(coq):
    coq.says["one"] = (False, f"{NO_PROOF}no")
    coq.prove()
    at = coq_kept.addresses(TEXTS)
    one, two = (coq_kept.path_of(at[key]) for key in TEXTS)
    shutil.copy(two, one)
    coq.prove()
    assert coq.asked == ["one"]
    one.write_text(one.read_text().replace("false", "true"))
    coq.prove()
    assert coq.asked == ["one"]


def test_what_others_were_told_is_taken_and_what_is_not_so_goes(coq, tmp_path, monkeypatch):
    """Each time on a machine that has nothing of its own."""
    shared = Shared(str(tmp_path / "shared"))

    def elsewhere(replay=10**9):
        monkeypatch.setattr(certificates, "STORE", tmp_path / f"store{len(list(tmp_path.glob('store*')))}")
        return coq.prove(replay, shared=shared)

    assert elsewhere() == PROVED and coq.asked == ["one", "two"]
    assert elsewhere() == PROVED and coq.asked == []
    at = coq_kept.addresses(TEXTS)
    for content in ({"address": at["two"], "ok": True}, {"address": at["one"], "ok": "yes", "message": ""}, {}):
        shared.give(at["one"], content)
        assert elsewhere() == PROVED and coq.asked == ["one"]
    shared.give(at["one"], {"address": at["one"], "ok": False, "message": NO_PROOF})
    assert elsewhere(1) == PROVED and coq.lies == ["one"]
    assert elsewhere() == PROVED and coq.asked == []


def test_what_nothing_asks_for_is_forgotten(coq):
    coq.prove()
    one, two = (coq_kept.path_of(at) for at in coq_kept.addresses(TEXTS).values())
    for path in (one, two):
        os.utime(path, (1, 1))
    coq.prove(texts={"one": TEXTS["one"]})
    coq_kept.forget()
    assert one.exists() and not two.exists()
