"""What an earlier check said of a claim is taken over where nothing changed that its verdict rests on, and nowhere else."""

import importlib
import json
import subprocess
import sys
from types import ModuleType

import pytest

import snippets
from derivations.kernel import Derivation, matrix, sizes
from derivations.kernel.core import claims
from derivations.kernel.core.claims import Refused
from derivations.kernel.run import again, certificates, earlier, fingerprints, inputs, records, worker

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

    def run(one_in=10**9):
        for name in [name for name in sys.modules if name.startswith("snippets.")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        assert worker.load_script(project.script) is None
        made = set()
        for one in claims.LOADED[0].claims:
            found = again.checked(one, kept.get(one.id), one_in)
            kept[one.id] = json.loads(json.dumps({"record": found.record, "stands_on": found.stands_on}))
            made |= set() if found.taken else {one.id}
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
        (project.parts, "    return x\n", "    return 2 * x\n", set()),  # of a function that none of them uses
        (project.snippet, "\n\ndef plus", "\n\n# a comment\ndef plus", set()),
        (project.parts, "x + y", "y + x", {"moved"}),  # in a module that the snippet imports
        (project.snippet, "FACTOR = 2\n", "FACTOR = 1 + 1\n", {"twice", "moved"}),  # what stands at the top is everybody's
    ):
        edit(path, old, new)
        assert check() == touched, (old, new)
    assert check.kept["bare"]["record"]["line"] == 10  # where it stands now


def test_what_becomes_false_is_refused(project, check):
    check()
    edit(project.parts, "x + y", "x - y")
    with pytest.raises(Refused, match="moved"):
        check()


def test_one_that_comes_out_otherwise_is_told(project, check):
    check()
    assert check(one_in=1) == ALL
    check.kept["moved"]["record"]["scope"] = "some shapes"
    with pytest.raises(again.Otherwise, match="it comes out otherwise than it did"):
        check(one_in=1)


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
        return worker.check_claims(project.script, lambda event, **content: said.append(content.get("taken")), check.kept, 10**9)

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

    edit(project.kernel / "run/again.py", f"REPLAYED = {again.REPLAYED}", f"REPLAYED = {10**9}")
    assert ran() == (0, ALL)
    edit(project.parts, "x + y", "x - y")
    assert ran() == (1, {"moved"}) and not project.certificate.with_name("sums.json").exists()
    edit(project.parts, "x - y", "x + y")
    assert ran() == (0, {"moved"})  # what stood beside it stands
    assert ran("--fresh") == (0, ALL)
    kept = project.store / "claims/chapter/sums.json"
    assert ran("--replay", str(10**9)) == (0, set()) and ran("--replay", "1") == (0, ALL)
    lie = json.loads(kept.read_text().replace("every shape", "some shapes"))
    monkeypatch.setattr(certificates, "STORE", project.store)
    certificates.write(kept, {key: value for key, value in lie.items() if key != "seal"})
    assert ran("--replay", "1") == (1, ALL) and not kept.exists()
    assert ran() == (0, ALL)


@pytest.mark.parametrize("slip", ["derivation.idenity('more', A, A)", "derivation.identity('more', A + B.T, B.T + A)"])
def test_a_script_that_stopped_behind_a_claim_that_holds_passes_once_it_is_corrected(tree, command, slip):
    """The message quotes the script, so that its size is recorded with the claims that are kept."""
    good = tree.script.read_text()
    tree.script.write_text(f"{good}{slip}\n")
    said = command("check")
    assert said.exit_code == 1 and "tiny.py:7: " in said.output and list(earlier.load("chapter/tiny")["claims"]) == ["sum"]
    tree.script.write_text(good)
    said = command("check")
    assert said.exit_code == 0, said.output


# What is kept -----------------------------------------------------------------------------------------------------------------


KEPT = {"stands_on": {"files": ["snippets/chapter/sums.py"]}}


def kept_with(project, **more):
    """What a check keeps that read a file, a folder and a variable."""
    reads = certificates.Reads(
        files={str(project.root / "data.txt"): inputs.state(str(project.root / "data.txt"))},
        folders={str(project.root / "data"): inputs.listing(str(project.root / "data"))},
        variables=["SOME_VARIABLE"],
    )
    content, changed = certificates.depended_on(project.script, [project.snippet, project.parts], reads=reads, **more)
    assert not changed
    earlier.save("chapter/sums", {"moved": KEPT}, content)


CHANGES = {
    "the kernel": lambda project, patch: edit(project.kernel / "exact/exact_evaluation.py", '"""', '"""An edit. '),
    "a new file of the kernel": lambda project, patch: (project.kernel / "exact/new.py").touch(),
    "what is kept": lambda project, patch: edit(earlier.path_of("chapter/sums"), "moved", "other"),
    "what it is kept for": lambda project, patch: earlier.path_of("chapter/sums").rename(
        earlier.path_of("chapter/sums").with_name("tiny.json")
    ),
    "a module that no claim's code may run": lambda project, patch: edit(project.parts, "x + y", "y + x"),
    "a file that was read": lambda project, patch: (project.root / "data.txt").write_text("2"),
    "a folder that was listed": lambda project, patch: (project.root / "data/new").touch(),
    "a variable": lambda project, patch: patch.setenv("SOME_VARIABLE", "other"),
    "a library": lambda project, patch: patch.setattr(certificates, "installed", lambda name: "0"),
    "the format": lambda project, patch: patch.setattr(earlier, "FORMAT", 0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_taken_over_where_anything_changed_but_python_files_of_the_project(project, change, monkeypatch):
    (project.root / "data").mkdir()
    (project.root / "data.txt").write_text("1")
    kept_with(project)
    edit(project.snippet, "FACTOR = 2", "FACTOR = 3")
    edit(project.script, "derivation = ", "# a comment\nderivation = ")
    assert earlier.load("chapter/sums")["claims"] == {"moved": KEPT}
    CHANGES[change](project, monkeypatch)
    assert earlier.load("chapter/sums" if change != "what it is kept for" else "chapter/tiny") == {}


def test_what_was_read_for_a_claim_that_is_taken_over_is_read_for_the_new_certificate(project):
    (project.root / "data").mkdir()
    (project.root / "data.txt").write_text("1")
    kept_with(project)
    edit(project.snippet, "FACTOR = 2", "FACTOR = 3")
    before = earlier.load("chapter/sums")
    content, changed = certificates.depended_on(project.script, [], before=before)
    assert not changed
    assert {"data.txt", "derivations/chapter/sums.py"} < {*content["inputs"]}
    assert content["inputs"]["snippets/chapter/sums.py"] == certificates.file_hash(
        project.snippet
    )  # as it is now, so that a change is seen
    assert "data" in content["folders"] and "SOME_VARIABLE" in content["variables"]


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
    hashes = [fingerprints.told(claim(state)) for state in STATED.values()]
    assert len({*hashes}) == len(STATED) and all(hashes)
    assert fingerprints.told(claim(STATED["plain"])) == hashes[0]  # where it stands does not count


def test_what_has_no_hash_is_never_taken_over():
    made = claim(lambda of: of.identity("a", A + B, B + A, code=[("snippets.none.none", object())]))
    assert fingerprints.told(made) == ""
    record, nothing = {"computed": {}}, {"told": "", "lines": "l", "texts": "t"}
    assert not again.still({"record": record, "stands_on": nothing}, nothing)
    assert again.still({"record": record, "stands_on": nothing | {"told": "x"}}, {"told": "x", "lines": "l", "texts": "y"})


def test_a_verdict_that_names_a_line_falls_when_lines_move():
    before = {"record": {"computed": {"reason": "f: not read (chapter/sums.py:3)"}}, "stands_on": {"told": "x", "lines": "l", "texts": "t"}}
    assert again.still(before, {"told": "x", "lines": "l", "texts": "t"})
    assert not again.still(before, {"told": "x", "lines": "l", "texts": "moved"})


def test_what_is_not_seen_by_witnesses_is_asked_of_what_is_taken_over(monkeypatch):
    one = claim(STATED["plain"])
    before = again.checked(one, None)
    monkeypatch.setattr(again.secrets, "randbelow", lambda n: 1)
    taken = again.checked(one, {"record": before.record, "stands_on": before.stands_on})
    assert taken.taken and taken.record == before.record

    def refuse(claim):
        raise Refused(claim.file, claim.line, claim.id, "not as shown")

    monkeypatch.setattr(again, "refuse_unseen", refuse)
    with pytest.raises(Refused):
        again.checked(one, {"record": before.record, "stands_on": before.stands_on})


def test_what_is_not_seen_by_witnesses_is_asked_once_of_a_claim_before_they_are(monkeypatch):
    said = []
    for home in (again, records):
        monkeypatch.setattr(home, "refuse_unseen", lambda claim: said.append("unseen"))
    monkeypatch.setattr(records, "verdicts", lambda *asked: said.append("witnesses") or [])
    monkeypatch.setattr(records, "record", lambda *of: {})
    again.checked(claim(STATED["plain"]), None)
    records.check_claim(claim(STATED["plain"]))
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
    monkeypatch.setattr(certificates, "ROOT", tmp_path)
    found = fingerprints.code(claim(lambda of: of.identity("a", A + B, B + A, code=[code])))
    assert found["files"] == ["snippets/planted.py"]
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
        monkeypatch.setattr(certificates, "ROOT", tmp_path)
        made = claim(lambda of: of.identity("a", A + B, B + A, code=[("snippets.planted.f", A)]))
        assert fingerprints.code(made) == {"lines": "", "texts": "", "files": []}
        assert not again.still({"record": {"computed": {}}, "stands_on": {"told": "x", "lines": ""}}, {"told": "x", "lines": ""})


def test_a_claim_that_names_code_behind_one_that_is_refused_is_not_kept():
    def record(id_, verdict="holds", code=()):
        more = {"stands_on": {}} if verdict == "holds" else {}
        return {"verdict": verdict, "claim": {"id": id_, "code": list(code)}} | more

    records = [record("before", code=["f"]), record("bad", "refused"), record("behind", code=["f"]), record("bare")]
    assert list(earlier.of_records(records)) == ["before", "bare"]
