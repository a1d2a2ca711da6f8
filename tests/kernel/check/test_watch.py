"""`check --watch`: what a change affects, and a whole session with mistakes, a hanging script, a changed checker and Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from derivations.kernel.check import runner, sympy_program_files
from derivations.kernel.check.affected_topics import find_affected
from derivations.kernel.command import watch
from derivations.kernel.store import rejections
from derivations.kernel.store.store import Store

GENEROUS = 400  # seconds that a test waits for what takes one, on a machine that does much else
USER = """from derivations.kernel import Derivation, matrix, sizes

n, m = sizes("n m")
A, B = matrix("A", n, m), matrix("B", n, m)
derivation = Derivation("Another")
derivation.identity("again", (A - B).T, A.T - B.T, uses=["chapter/tiny#sum"])
"""


@pytest.fixture
def two(tree, certify):
    """The tree with a topic that uses a claim of the first, as if both were checked: a function that says what the second imported."""
    user = tree.script.with_name("user.py")
    user.write_text(USER)
    snippet = tree.root / "snippets/chapter/tiny.py"
    snippet.parent.mkdir(parents=True)
    snippet.write_text("")

    def check(*imported):
        certify("chapter/tiny", tree.script, "A sum", [{"id": "sum", "uses": []}])
        certify("chapter/user", user, "Another", [{"id": "again", "uses": ["chapter/tiny#sum"]}], [*imported])

    check()
    return SimpleNamespace(root=tree.root, script=tree.script, user=user, snippet=snippet, check=check)


# What a change touches ----------------------------------------------------------------------------------------------------------


def test_a_script_touches_its_topic_and_those_that_use_it(two):
    assert find_affected({"derivations/chapter/user.py"}).topics == {"chapter/user"}
    assert find_affected({"derivations/chapter/tiny.py"}).topics == {"chapter/tiny", "chapter/user"}


def test_a_new_script_touches_its_topic_alone(two):
    (two.root / "derivations/chapter/fresh.py").write_text(USER)
    assert find_affected({"derivations/chapter/fresh.py"}).topics == {"chapter/fresh"}


def test_a_snippet_touches_what_imports_it(two):
    assert find_affected({"snippets/chapter/tiny.py"}).topics == set()
    two.check(two.snippet)
    assert find_affected({"snippets/chapter/tiny.py"}).topics == find_affected({"snippets/chapter/"}).topics == {"chapter/user"}


def test_what_topics_came_from_is_read_again_only_where_it_changed(two, certify, monkeypatch):
    get, seen = Store.get, []
    monkeypatch.setattr(Store, "get", lambda self, key: seen.append(key) or get(self, key))
    find_affected({"snippets/chapter/tiny.py"})
    del seen[:]
    assert find_affected({"snippets/chapter/tiny.py"}).topics == set() and not seen
    certify("chapter/user", two.user, "Another", [{"id": "again", "uses": []}], [two.snippet])
    del seen[:]
    assert find_affected({"snippets/chapter/tiny.py"}).topics == {"chapter/user"} and set(seen) == {"chapter/user"}


def test_any_snippet_may_mend_what_is_refused(two):
    rejections.put("chapter/user", two.user, "Another", [], ["it cannot be imported"], [])
    assert find_affected({"snippets/chapter/nothing.py"}).topics == {"chapter/user"}


def test_the_checker_touches_all_and_what_is_beside_it_nothing(two):
    assert find_affected({"derivations/kernel/core/claims.py"}).checker_files == ["derivations/kernel/core/claims.py"]
    for aside in ("derivations/kernel/site/claim_html.py", "derivations/kernel/command/cli.py", "docs/chapter/tiny.md"):
        found = find_affected({aside})
        assert (found.checker_files, found.topics) == ([], set())


def test_a_page_is_looked_at_and_a_script_that_is_gone_is_named(two):
    assert find_affected({"docs/chapter/tiny.md"}).pages == {"chapter/tiny"}
    two.script.unlink()
    found = find_affected({"derivations/chapter/tiny.py"})
    assert found.removed == ["chapter/tiny"] and found.topics == {"chapter/user"}


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("derivations/chapter/tiny.py", True),
        ("snippets/chapter/tiny.py", True),
        ("docs/chapter/tiny.md", True),
        ("derivations/chapter/.#tiny.py", False),
        ("derivations/chapter/tiny.py~", False),
        ("derivations/chapter/.tiny.py.swp", False),
        ("derivations/chapter/__pycache__/tiny.cpython-311.pyc", False),
        (".certificates/chapter/tiny.json", False),
        ("snippets/chapter/numbers.json", True),
        ("docs/chapter/numbers.json", False),
        ("docs/coq/a.v", False),
        ("docs/sympy/chapter/a/sum.py", False),
        ("../elsewhere.py", False),
    ],
)
def test_what_editors_leave_beside_a_file_is_no_change(name, seen, tree):
    assert bool(watch.relevant_name(str(tree.root / name))) == seen


# What was refused is kept -------------------------------------------------------------------------------------------------------


def test_what_is_refused_is_kept_until_it_holds(tree, command):
    good = tree.script.read_text()
    tree.script.write_text(good.replace("A.T + B.T", "A.T - B.T"))
    assert command("check").exit_code == 1
    kept = rejections.get("chapter/tiny")
    (claim,) = kept["claims"]
    assert claim["id"] == "sum" and claim["line"] == 6 and "at A = " in claim["message"]
    assert claim["stated"] == "(A + B)ᵀ = Aᵀ - Bᵀ" and rejections.find_changes(kept) == []
    tree.script.write_text(good)
    assert rejections.find_changes(kept) == ["derivations/chapter/tiny.py"]
    assert command("check").exit_code == 0
    assert rejections.get("chapter/tiny") is None and rejections.STORE.keys() == []


def test_what_was_refused_and_edited_by_hand_is_not_believed(tree, command):
    tree.script.write_text(tree.script.read_text().replace("A.T + B.T", "A.T - B.T"))
    command("check")
    path = rejections.STORE.path("chapter/tiny")
    path.write_text(path.read_text().replace("false: at", "true: at"))
    assert rejections.get("chapter/tiny") is None


def test_the_end_of_a_round_is_told_once_and_only_if_anything_changed(tree, command, monkeypatch):
    rung = []
    monkeypatch.setattr(rejections, "end_round", lambda: rung.append(1))
    tree.script.with_name("user.py").write_text(USER)
    command("check")
    assert rung == [1]
    command("check")
    assert rung == [1]


def test_the_end_of_the_topic_that_was_edited_is_told_at_once(tree, monkeypatch):
    rung = []
    monkeypatch.setattr(rejections, "end_round", lambda: rung.append(1))
    for first in (frozenset(), frozenset({"chapter/tiny"})):
        runner.check_script("chapter/tiny", tree.script, True, lambda done, more: None, options=runner.Options(urgent=first))
        assert len(rung) == len(first)


def test_programs_of_an_edited_topic_are_written_before_the_round_ends(tree, monkeypatch):
    """The page links to the programs, and shows an error box if they do not match its certificate."""
    there = []
    monkeypatch.setattr(
        rejections, "end_round", lambda: there.append([path.name for path in sympy_program_files.program_folder().rglob("*.py")])
    )
    chosen = [("chapter/tiny", tree.script)]
    of = watch.Watch(lambda: chosen, 1, False, lambda topic: [], lambda: None)
    watch.Round(chosen, [], ["derivations/chapter/tiny.py"], of).check()
    assert there == [["sum.py"]] * 2  # at its end, and at that of the round


def test_a_check_that_is_given_up_says_nothing_of_the_topic(tree, command):
    assert command("check").exit_code == 0
    tree.script.write_text("while True: pass\n")
    stop = threading.Event()
    threading.Timer(1.0, stop.set).start()
    (result,) = runner.check_all([("chapter/tiny", tree.script)], False, 1, lambda done, more: None, stop)
    assert result.stopped and not result.problems and rejections.STORE.keys() == []


# A session --------------------------------------------------------------------------------------------------------------------------


class Session:
    """`check --watch` in a process of its own, and what it has said so far."""

    def __init__(self, root):
        self.said = Lines()
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "derivations", "check", "--watch"],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.said.add(line)

    def until(self, text):
        """All that was said from the last time up to a line with this text."""
        return self.said.until(text)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(GENEROUS)
        self.reader.join()
        self.process.stdout.close()
        return code


class Lines:
    def __init__(self):
        self.lines, self.taken, self.changed = [], 0, threading.Condition()

    def add(self, line):
        with self.changed:
            self.lines.append(line)
            self.changed.notify_all()

    def until(self, text):
        with self.changed:
            found = self.changed.wait_for(lambda: any(text in line for line in self.lines[self.taken :]), GENEROUS)
            assert found, f"no {text!r} in:\n{''.join(self.lines)}"
            at = next(k for k in range(self.taken, len(self.lines)) if text in self.lines[k]) + 1
            said, self.taken = "".join(self.lines[self.taken : at]), at
            return said


def until_there(path):
    for _ in range(GENEROUS * 20):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear")


@pytest.mark.slow
def test_a_session(tree):
    begun = tree.root / "begun"
    good, hangs = tree.script.read_text(), f"open({str(begun)!r}, 'w').close()\nwhile True: pass\n"
    session = Session(tree.root)
    try:
        assert "1 claim in 1 topic: all accepted" in session.until("Watching")
        tree.script.write_text(good.replace("A.T + B.T", "A.T - B.T"))
        said = session.until("Watching")
        assert "changed: derivations/chapter/tiny.py" in said and "NOT all accepted, 1 topic rejected" in said
        assert "tiny.py:6: claim 'sum': false: at " in said
        tree.script.write_text(good + "def\n")
        assert "tiny.py:7: this is not Python" in session.until("Watching")
        tree.script.write_text(good + "derivation.idenity('more', A, A)\n")
        assert "NOT all accepted, 1 topic rejected" in session.until("Watching")
        tree.script.write_text(good)
        session.until(": all accepted")
        tree.script.write_text(good + hangs)
        session.until("changed: ")
        until_there(begun)  # else the process might read what is written next
        tree.script.write_text(good)
        assert "cancelled" in session.until(": all accepted")
        tree.script.unlink()
        session.until("derivations/chapter/tiny.py was removed")
        tree.script.write_text(good)
        session.until(": all accepted")
        kernel = tree.kernel / "core" / "claims.py"
        whole = kernel.read_text()
        kernel.write_text(whole + "def\n")
        assert "part of the checker" in session.until("the checker cannot be loaded; checking resumes once it can: SyntaxError")
        kernel.write_text(whole + "# the same\n")
        assert "part of the checker" in session.until("every topic is checked again")
        assert "1/1 claim" in session.until(": all accepted")
    finally:
        code = session.end()
    assert code == 0 and "No longer watching." in session.said.lines[-1]
    assert "Traceback" not in "".join(session.said.lines)


def test_watching_is_for_people(tree, command):
    for arguments in (("--watch", "--json"), ("--watch", "--page", "chapter/tiny"), ("--watch", "nothing")):
        assert command("check", *arguments).exit_code == 2
