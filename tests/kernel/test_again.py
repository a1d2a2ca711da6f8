"""What an earlier check said of a claim is taken over where nothing changed that its verdict rests on, and nowhere else."""

import ast
import importlib
import json
import subprocess
import sys

import pytest

import snippets
from derivations.kernel import Derivation, matrix, sizes
from derivations.kernel.core import claims
from derivations.kernel.core.claims import Refused
from derivations.kernel.run import again, certificates, earlier, fingerprints, inputs, worker

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
    monkeypatch.setattr(fingerprints, "ROOT", project.root)
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


# What is kept -----------------------------------------------------------------------------------------------------------------


def kept_with(project, **more):
    """What a check keeps that read a file, a folder and a variable."""
    reads = certificates.Reads(
        files={str(project.root / "data.txt"): inputs.state(str(project.root / "data.txt"))},
        folders={str(project.root / "data"): inputs.listing(str(project.root / "data"))},
        variables=["SOME_VARIABLE"],
    )
    content, changed = certificates.depended_on(project.script, [project.snippet], reads=reads, **more)
    assert not changed
    earlier.save("chapter/sums", {"moved": {}}, content)


CHANGES = {
    "the kernel": lambda project, patch: edit(project.kernel / "exact/values.py", '"""', '"""An edit. '),
    "a new file of the kernel": lambda project, patch: (project.kernel / "exact/new.py").touch(),
    "what is kept": lambda project, patch: edit(earlier.path_of("chapter/sums"), "moved", "other"),
    "what it is kept for": lambda project, patch: earlier.path_of("chapter/sums").rename(
        earlier.path_of("chapter/sums").with_name("tiny.json")
    ),
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
    assert earlier.load("chapter/sums")["claims"] == {"moved": {}}
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
    assert {"data.txt", "derivations/chapter/sums.py"} < {*content["inputs"]} and "snippets/chapter/sums.py" not in content["inputs"]
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
    record = {"computed": {}}
    assert not again.still({"record": record, "stands_on": {"told": "", "lines": "", "texts": ""}}, {"told": "", "lines": "", "texts": ""})
    assert again.still({"record": record, "stands_on": {"told": "x", "lines": "", "texts": ""}}, {"told": "x", "lines": "", "texts": "y"})


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


def reached(text, *names):
    return fingerprints.reached(set(names), [ast.parse(text)])


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return g()\ndef g(): pass",
        "def f():\n    return C().h()\nclass C:\n    def h(self):\n        return g()\ndef g(): pass",
        "from a import g as g_plain\ndef f():\n    return g_plain()\ndef g(): pass",
        "def f():\n    return getattr(a, 'g')()\ndef g(): pass",
        "K = g\ndef f(): pass\ndef g(): pass",
        "def f(x=g): pass\ndef g(): pass",
        "class f(g): pass\nclass g: pass",
        "@g\ndef f(): pass\ndef g(f): pass",
    ],
)
def test_what_a_function_may_use_is_reached(text):
    assert "g" in reached(text, "f")


def test_what_it_does_not_name_is_not_reached():
    assert "g" not in reached("def f():\n    return h()\ndef h(): pass\ndef g(): pass", "f")
