"""A claim's stored record is used again if nothing changed that its verdict depends on, and only then."""

import importlib
import json
import os
import subprocess
import sys
import time
from types import ModuleType

import pytest

import snippets
from derivations.kernel import Derivation, matrix, sizes
from derivations.kernel.check import claim_fingerprints, claim_records, runner, worker
from derivations.kernel.core import claims
from derivations.kernel.core.claims import Rejected
from derivations.kernel.script.loading import load_script
from derivations.kernel.store import certificates, claim_cache, dependencies, project_files, store
from derivations.kernel.store.certificates import load
from derivations.kernel.store.dependencies import Reads
from derivations.kernel.store.store import Folder, Recheck

n, m = sizes("n m")
A, B = matrix("A", n, m), matrix("B", n, m)
SCRIPT = """
from derivations.kernel import Derivation, vector, sizes

n = sizes("n")
x, y = vector("x", n), vector("y", n)
derivation = Derivation("Sums")
derivation.identity("twice", x + x, 2 * x, code=[("snippets.chapter.sums.twice", x)])
derivation.identity("moved", x + y, y + x, code=[("snippets.chapter.sums.plus", x, y)])
derivation.identity("bare", x - x + y, y)
"""
SNIPPET = """
from torch import Tensor

from snippets.chapter import parts

FACTOR = 2


def twice(x: Tensor) -> Tensor:
    return FACTOR * x


def plus(x: Tensor, y: Tensor) -> Tensor:
    return parts.added(x, y)
"""
PARTS = """
from torch import Tensor


def added(x: Tensor, y: Tensor) -> Tensor:
    return x + y


def unused(x: Tensor) -> Tensor:
    return x
"""


@pytest.fixture
def project(tree):
    """A checkout with a topic of three claims and its snippets."""
    tree.script.unlink()
    tree.script = tree.script.with_name("sums.py")
    (tree.root / "snippets/chapter").mkdir(parents=True)
    for folder in ("snippets", "snippets/chapter"):
        (tree.root / folder / "__init__.py").touch()
    tree.snippet, tree.parts = tree.root / "snippets/chapter/sums.py", tree.root / "snippets/chapter/parts.py"
    for path, text in ((tree.script, SCRIPT), (tree.snippet, SNIPPET), (tree.parts, PARTS)):
        path.write_text(text)
    return tree


@pytest.fixture
def check(project, monkeypatch):
    """A function that checks the claims in this process, as the worker does, and gives those that were checked and not taken over."""
    monkeypatch.setattr(snippets, "__path__", [str(project.root / "snippets")])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = {name: module for name, module in sys.modules.items() if name.startswith("snippets.")}
    kept = {}

    def run():
        for name in [name for name in sys.modules if name.startswith("snippets.")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        assert load_script(project.script) is None
        made = set()
        for one in claims.LOADED[0].claims:
            found = worker.check_or_reuse(one, kept.get(one.id))
            kept[one.id] = json.loads(json.dumps({"record": found["claim"], "fingerprints": found["fingerprints"]}))
            made |= set() if found["reused"] else {one.id}
        return made

    run.kept = kept
    yield run
    for name in [name for name in sys.modules if name.startswith("snippets.")]:
        del sys.modules[name]
    sys.modules.update(before)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


ALL = {"twice", "moved", "bare"}


def test_a_change_has_those_claims_checked_again_that_it_touches(project, check):
    assert check() == ALL
    for path, old, new, touched in (
        (project.script, "derivation = ", "# a comment\nderivation = ", set()),
        (project.script, "x - x + y", "y - x + x", {"bare"}),
        # A function that no claim uses. The code of `moved` is not read as mathematics, for a reason that names a line: any edit counts.
        (project.parts, "    return x\n", "    return 2 * x\n", {"moved"}),
        (project.snippet, "\n\ndef plus", "\n\n# a comment\ndef plus", {"moved"}),
        (project.parts, "x + y", "y + x", {"moved"}),  # in a module that the snippet imports
        (project.snippet, "FACTOR = 2\n", "FACTOR = 1 + 1\n", {"twice", "moved"}),  # what stands at the top is everybody's
    ):
        edit(path, old, new)
        assert check() == touched, (old, new)
    assert check.kept["bare"]["record"]["line"] == 10  # where it stands now


def test_what_becomes_false_is_refused(project, check):
    check()
    edit(project.parts, "x + y", "x - y")
    with pytest.raises(Rejected, match="moved"):
        check()


@pytest.mark.nightly
def test_a_recheck_rejects_a_claim_that_gets_another_record(tree, monkeypatch):
    def check():
        return runner.check_script("chapter/tiny", tree.script, False, lambda done, more: None)

    assert check().holds
    content = claim_cache.STORE.get(claim_cache.key("chapter/tiny"))
    content["claims"]["sum"]["record"]["scope"] = "some shapes"
    claim_cache.STORE.put(claim_cache.key("chapter/tiny"), content)
    tree.script.write_text(tree.script.read_text() + "# more\n")
    assert check().records[0]["claim"]["scope"] == "some shapes"  # the seal is good, so that only a check tells
    monkeypatch.setattr(store.settings, "recheck", Recheck(1, "seed"))
    result = check()
    assert not result.holds and not tree.certificate.exists()
    assert result.records[0]["error_code"] == "different-result"
    assert "seed seed" in result.records[0]["message"]
    monkeypatch.setattr(store.settings, "recheck", Recheck())
    assert check().records[0]["claim"]["scope"] == "every shape"


def test_a_recheck_of_an_edited_claim_finds_no_difference(tree, monkeypatch):
    monkeypatch.setattr(store.settings, "recheck", Recheck(1))
    for edit_ in ("A.T + B.T", "B.T + A.T", "A.T - B.T"):
        tree.script.write_text(tree.script.read_text().replace("A.T + B.T", edit_).replace("B.T + A.T", edit_))
        result = runner.check_script("chapter/tiny", tree.script, False, lambda done, more: None)
        assert result.holds == ("-" not in edit_) and "differs" not in result.records[0]["message"]


def test_another_machine_uses_what_was_shared(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(store.settings, "shared", Folder(str(tmp_path / "shared")))

    def taken():
        monkeypatch.setattr(store, "FOLDER", tmp_path / f"machine{len(list(tmp_path.glob('machine*')))}")
        store.FOLDER.mkdir()
        result = runner.check_script("chapter/tiny", tree.script, False, lambda done, more: None)
        assert result.holds and not result.cached and load("chapter/tiny")["claims"]
        return [record["reused"] for record in result.records]

    assert taken() == [False] and taken() == [True]
    path = tree.kernel / "exact/exact_evaluation.py"
    path.write_text(path.read_text() + "\n")
    assert taken() == [False] and taken() == [True]


def test_a_checker_that_changed_since_it_was_loaded_stores_nothing(tree):
    path = tree.kernel / "exact/exact_evaluation.py"
    options, began = runner.Options(started=time.time_ns()), path.stat().st_mtime_ns
    os.utime(path, ns=(options.started + 10**6, options.started + 10**6))
    time.sleep(0.01)  # the topic begins after that
    result = runner.check_script("chapter/tiny", tree.script, True, lambda done, more: None, options=options)
    assert "exact/exact_evaluation.py changed while it was checked" in result.problems[0] and not tree.certificate.exists()
    os.utime(path, ns=(began, began))
    assert runner.check_script("chapter/tiny", tree.script, True, lambda done, more: None, options=options).holds


def test_nothing_is_taken_over_by_a_script_that_imports_snippets(project, check, monkeypatch):
    """It may have written into them."""
    check()
    said = []
    monkeypatch.syspath_prepend(project.root)
    monkeypatch.setitem(sys.modules, "snippets", snippets)  # so that it is there again afterwards

    def run():
        for name in [name for name in sys.modules if name.partition(".")[0] == "snippets"]:
            del sys.modules[name]
        del said[:]
        return worker.check_claims(project.script, lambda event, **content: said.append(content.get("reused")), check.kept)

    assert not run() and [one for one in said if one is not None] == [True, True, True]
    edit(project.script, "derivation = ", "import snippets.chapter.parts\n\nderivation = ")
    assert run() and [one for one in said if one is not None] == [False, False, False]


@pytest.mark.slow
def test_a_check_takes_over_what_an_earlier_one_kept(project, monkeypatch):
    def ran(*arguments):
        command = [sys.executable, "-m", "derivations", "check", "--json", *arguments, "chapter/sums"]
        done = subprocess.run(command, cwd=project.root, capture_output=True, text=True)
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, {one["id"] for one in json.loads(done.stdout) if one["id"] and not one["cached"]}

    assert ran() == (0, ALL)
    edit(project.parts, "x + y", "x - y")
    assert ran() == (1, {"moved"}) and not project.certificate.with_name("sums.json").exists()
    edit(project.parts, "x - y", "x + y")
    assert ran() == (0, {"moved"})  # what stood beside it stands
    assert ran("--fresh") == (0, ALL)
    assert ran("--replay", str(10**9)) == (0, set()) and ran("--replay", "1") == (0, ALL)


@pytest.mark.parametrize("slip", ["derivation.idenity('more', A, A)", "derivation.identity('more', A + B.T, B.T + A)"])
def test_a_script_that_stopped_behind_a_claim_that_holds_passes_once_it_is_corrected(tree, command, slip):
    """The message quotes the script, which reads the script."""
    good = tree.script.read_text()
    tree.script.write_text(f"{good}{slip}\n")
    said = command("check")
    assert said.exit_code == 1 and "tiny.py:7: " in said.output and list(claim_cache.get("chapter/tiny")["claims"]) == ["sum"]
    tree.script.write_text(good)
    said = command("check")
    assert said.exit_code == 0, said.output


# What is stored ---------------------------------------------------------------------------------------------------------------


RECORD = {
    "verdict": "holds",
    "claim": {"id": "moved", "code": ["snippets.chapter.sums.plus"]},
    "fingerprints": {"files": ["snippets/chapter/sums.py"]},
}
STORED = {"moved": {"record": RECORD["claim"], "fingerprints": RECORD["fingerprints"]}}


def store_record(project):
    """Store what a check stores that read a file and a variable."""
    data = str(project.root / "data.txt")
    reads = Reads(files={data: project_files.file_state(data)}, variables=["SOME_VARIABLE"])
    depends, changed = certificates.collect_dependencies(project.script, [project.snippet, project.parts], reads=reads)
    assert not changed
    claim_cache.put("chapter/sums", [RECORD], depends)


def stored_file():
    return claim_cache.STORE.path(claim_cache.key("chapter/sums"))


CHANGES = {
    "the kernel": lambda project, patch: edit(project.kernel / "exact/exact_evaluation.py", '"""', '"""An edit. '),
    "a new file of the kernel": lambda project, patch: (project.kernel / "exact/new.py").touch(),
    "what is stored": lambda project, patch: edit(stored_file(), "moved", "other"),
    "a module that no claim's code may run": lambda project, patch: edit(project.parts, "x + y", "y + x"),
    "a file that was read": lambda project, patch: (project.root / "data.txt").write_text("2"),
    "a variable": lambda project, patch: patch.setenv("SOME_VARIABLE", "other"),
    "a library": lambda project, patch: patch.setattr(dependencies, "installed_version", lambda name: "0"),
    "Python": lambda project, patch: patch.setattr(claim_cache, "library_versions", lambda: {"python": "0"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_used_if_anything_changed_but_the_script_and_the_snippets_of_claims(project, change, monkeypatch):
    (project.root / "data.txt").write_text("1")
    store_record(project)
    edit(project.snippet, "FACTOR = 2", "FACTOR = 3")
    edit(project.script, "derivation = ", "# a comment\nderivation = ")
    assert claim_cache.get("chapter/sums")["claims"] == STORED
    CHANGES[change](project, monkeypatch)
    assert claim_cache.get("chapter/sums") == {}


def test_records_are_not_used_for_another_topic(project):
    (project.root / "data.txt").write_text("1")
    store_record(project)
    project.script.with_name("tiny.py").write_text(project.script.read_text())
    assert claim_cache.get("chapter/tiny") == {}
    stored_file().rename(claim_cache.STORE.path(claim_cache.key("chapter/tiny")))
    assert claim_cache.get("chapter/tiny") == {}


def test_what_was_read_for_a_record_that_is_used_again_is_a_dependency_of_the_new_certificate(project):
    (project.root / "data.txt").write_text("1")
    store_record(project)
    edit(project.snippet, "FACTOR = 2", "FACTOR = 3")
    earlier = claim_cache.get("chapter/sums")["depends"]
    depends, changed = certificates.collect_dependencies(project.script, [], earlier=earlier)
    assert not changed
    assert {"data.txt", "derivations/chapter/sums.py"} < {*depends.inputs}
    assert depends.inputs["snippets/chapter/sums.py"] == project_files.file_hash(project.snippet)  # as it is now, so that a change is seen
    assert "SOME_VARIABLE" in depends.variables


# Of one claim -----------------------------------------------------------------------------------------------------------------


def claim(state):
    derivation = Derivation("test")
    state(derivation)
    return derivation.claims[-1]


STATED = dict(
    plain=lambda of: of.identity("a", A + B, B + A),
    other=lambda of: of.identity("a", A + B, A + B),
    named=lambda of: of.identity("b", A + B, B + A),
    titled=lambda of: of.identity("a", A + B, B + A, title="Sums"),
    shaped=lambda of: of.identity("a", A.T + B.T, B.T + A.T),
)


def test_claims_that_differ_in_anything_have_other_hashes():
    hashes = [claim_fingerprints.hash_statement(claim(state)) for state in STATED.values()]
    assert len({*hashes}) == len(STATED) and all(hashes)
    assert claim_fingerprints.hash_statement(claim(STATED["plain"])) == hashes[0]  # where it stands does not count


def test_what_has_no_hash_is_never_taken_over():
    made = claim(lambda of: of.identity("a", A + B, B + A, code=[("snippets.none.none", object())]))
    assert claim_fingerprints.hash_statement(made) == ""
    record, nothing = {"computed": {}}, {"statement": "", "lines": "l", "texts": "t"}
    assert not claim_cache.is_current({"record": record, "fingerprints": nothing}, nothing)
    assert claim_cache.is_current(
        {"record": record, "fingerprints": nothing | {"statement": "x"}}, {"statement": "x", "lines": "l", "texts": "y"}
    )


def test_a_verdict_that_names_a_line_falls_when_lines_move():
    before = {
        "record": {"computed": {"reason": "f: not read (chapter/sums.py:3)"}},
        "fingerprints": {"statement": "x", "lines": "l", "texts": "t"},
    }
    assert claim_cache.is_current(before, {"statement": "x", "lines": "l", "texts": "t"})
    assert not claim_cache.is_current(before, {"statement": "x", "lines": "l", "texts": "moved"})


def test_what_is_not_seen_by_witnesses_is_asked_of_what_is_taken_over(monkeypatch):
    one = claim(STATED["plain"])
    made = worker.check_or_reuse(one, None)
    before = {"record": made["claim"], "fingerprints": made["fingerprints"]}
    taken = worker.check_or_reuse(one, before)
    assert taken["reused"] and taken["claim"] == made["claim"]

    def refuse(claim):
        raise Rejected(claim.file, claim.line, claim.id, "not as shown", code="code-not-shown")

    monkeypatch.setattr(worker, "check_code_and_text", refuse)
    with pytest.raises(Rejected):
        worker.check_or_reuse(one, before)


def test_what_is_not_seen_by_witnesses_is_asked_once_of_a_claim_before_they_are(monkeypatch):
    said = []
    for home in (worker, claim_records):
        monkeypatch.setattr(home, "check_code_and_text", lambda claim: said.append("unseen"))
    monkeypatch.setattr(claim_records, "collect_verdicts", lambda *asked: said.append("witnesses") or [])
    monkeypatch.setattr(claim_records, "make_record", lambda *of: {})
    worker.check_or_reuse(claim(STATED["plain"]), None)
    claim_records.check_claim(claim(STATED["plain"]))
    assert said == ["unseen", "witnesses"] * 2


# What the code may run --------------------------------------------------------------------------------------------------------


LATER = """

def g():
    return 3
"""
USES = {
    "a call": "def f():\n    return g()",
    "a method": "class C:\n    def h(self):\n        return g()\n\ndef f():\n    return C().h()",
    "another name": "from a import g as g_plain\ndef f():\n    return g_plain()",
    "a text": "def f():\n    return one(a, 'g')",
    "a part of a text": "def f():\n    return one(a, 'b.g')",
    "a constant": "K = g\ndef f(): pass",
    "a default of another": "def h(x=g()): pass\ndef f(): pass",
    "a decorator of another": "@g\ndef h(): pass\ndef f(): pass",
    "the body of another class": "class D:\n    k = g()\ndef f(): pass",
    "a base": "class f(g): pass",
    "found by a made name": "def f(kind):\n    return getattr(a, kind)",
    "found in a list": "def f():\n    return [one for one in dir(a)]",
    "a subclass": "def f():\n    return Rule.__subclasses__()",
    "its own text": "def f():\n    return open(path).read()",
}


def hash_of(tmp_path, monkeypatch, text, code=("snippets.planted.f",)):
    path = tmp_path / "snippets" / "planted.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    module = ModuleType("snippets.planted")
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "snippets.planted", module)
    monkeypatch.setattr(project_files, "ROOT", tmp_path)
    found = claim_fingerprints.hash_code(claim(lambda of: of.identity("a", A + B, B + A, code=[code])))
    assert found["files"] == ["snippets/__init__.py", "snippets/planted.py"]
    return found["lines"]


@pytest.mark.parametrize("use", USES)
def test_a_change_of_what_a_function_may_use_counts(use, tmp_path, monkeypatch):
    before = hash_of(tmp_path, monkeypatch, USES[use] + LATER)
    assert before and hash_of(tmp_path, monkeypatch, USES[use] + LATER.replace("3", "4")) != before


def test_a_change_of_what_it_does_not_use_and_of_where_it_stands_does_not(tmp_path, monkeypatch):
    text = "def f():\n    return h()\n\ndef h(): pass\n"
    before = hash_of(tmp_path, monkeypatch, text + LATER)
    assert hash_of(tmp_path, monkeypatch, "# a comment\n" + text + LATER.replace("3", "4")) == before
    assert hash_of(tmp_path, monkeypatch, text + LATER.replace("3", "4"), code=("snippets.planted.f", "g")) != before


def test_what_cannot_be_read_has_no_hash(tmp_path, monkeypatch):
    (tmp_path / "snippets").mkdir()
    for bad in (b"def f(:", b"# \xff\xfe"):
        (tmp_path / "snippets/typed.py").write_bytes(bad)
        path = tmp_path / "snippets" / "planted.py"
        path.write_text("from snippets.typed import T\ndef f(): pass")
        module = ModuleType("snippets.planted")
        module.__file__ = str(path)
        monkeypatch.setitem(sys.modules, "snippets.planted", module)
        monkeypatch.setattr(project_files, "ROOT", tmp_path)
        made = claim(lambda of: of.identity("a", A + B, B + A, code=[("snippets.planted.f", A)]))
        assert claim_fingerprints.hash_code(made) == {"lines": "", "texts": "", "files": []}
        assert not claim_cache.is_current(
            {"record": {"computed": {}}, "fingerprints": {"statement": "x", "lines": ""}}, {"statement": "x", "lines": ""}
        )


def test_a_claim_that_names_code_behind_a_rejected_one_is_not_stored():
    def record(id_, verdict="holds", code=()):
        more = {"fingerprints": {}} if verdict == "holds" else {}
        return {"verdict": verdict, "claim": {"id": id_, "code": list(code)}} | more

    records = [record("before", code=["f"]), record("bad", "rejected"), record("behind", code=["f"]), record("bare")]
    assert list(claim_cache.select_reusable(records)) == ["before", "bare"]
