"""A certificate expires if a file or variable that the script or a snippet read changes, and stays valid if anything else changes."""

import os
from types import SimpleNamespace

import numpy
import pytest
import torch

from derivations.kernel.check import input_tracking, runner
from derivations.kernel.check.affected_topics import find_affected
from derivations.kernel.store import coq_results, mutant_results, project_files, rejections, store
from derivations.kernel.store.certificates import CertificateError, load
from derivations.kernel.store.dependencies import Reads, hash_variable

TOPIC = "chapter/tiny"
HEAD = """from derivations.kernel import Derivation, matrix, sizes

n, m = sizes("n m")
A, B = matrix("A", n, m), matrix("B", n, m)
derivation = Derivation("A sum transposed")
"""
CLAIM = 'derivation.identity("sum", (A + B).T, A.T + B.T)\n'
SNIPPET_CLAIM = 'derivation.identity("sum", (A + B).T, A.T + B.T, code=[("snippets.chapter.tiny.transposed", A, B)])\n'


@pytest.fixture
def places(tree, tmp_path):
    """The tree, a folder outside of it, and a package of snippets in it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    package = tree.root / "snippets" / "chapter"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").write_text("")
    return SimpleNamespace(tree=tree, outside=outside, beside=tree.script.parent, snippets=package)


def check(tree, fresh=True):
    return runner.check_script(TOPIC, tree.script, fresh, lambda done, more: None)


def checked(tree):
    result = check(tree)
    assert result.holds, (result.problems, result.records)
    return load(TOPIC)


def stale() -> str:
    """What is said of the certificate; "" while it holds."""
    try:
        load(TOPIC)
    except CertificateError as error:
        return str(error)
    return ""


def in_script(places, text: str):
    places.tree.script.write_text(HEAD + text + CLAIM)


def in_snippet(places, text: str):
    """The text in a function that a claim names, and that no one else calls."""
    body = "".join(f"    {line}\n" for line in text.splitlines())
    (places.snippets / "tiny.py").write_text(f"def transposed(a, b):\n{body}    return (a + b).mT\n")
    places.tree.script.write_text(f"import sys\nsys.path.insert(0, {str(places.tree.root)!r})\n" + HEAD + SNIPPET_CLAIM)


def in_what_a_snippet_calls(places, text: str):
    """The text in a function that a snippet calls, and that is no snippet itself: of those less is taken."""
    body = "".join(f"    {line}\n" for line in text.splitlines())
    (places.snippets / "helps_tiny.py").write_text(f"def read():\n{body}")
    in_snippet(places, f"from snippets.{places.snippets.name} import helps_tiny\nhelps_tiny.read()\n")


def write_text(path, number):
    path.write_text(f"[{number}]\n")


def write_array(path, number):
    with path.open("wb") as file:
        numpy.save(file, [number])


def write_tensor(path, number):
    torch.save(torch.tensor([number]), path)


# What reads PATH, and what writes a number there.
FILES = {
    "open": ("open(PATH).read()", write_text),
    "a JSON file": ("import json\nwith open(PATH) as file: json.load(file)", write_text),
    "bytes": ("open(PATH, 'rb').read(1)", write_text),
    "pathlib": ("from pathlib import Path\nPath(PATH).read_text()", write_text),
    "a relative path": ("import os\nos.chdir(os.path.dirname(PATH))\nopen(os.path.basename(PATH)).read()", write_text),
    "numpy.load": ("import numpy\nnumpy.load(PATH)", write_array),
    "numpy.loadtxt": ("import numpy\nnumpy.loadtxt(PATH, dtype=str)", write_text),
    "torch.load": ("import torch\ntorch.load(PATH)", write_tensor),
    "a helper by its path": ("import runpy\nrunpy.run_path(PATH)", write_text),
}


@pytest.mark.parametrize("write", [in_script, in_what_a_snippet_calls], ids=["in the script", "in what a snippet calls"])
@pytest.mark.parametrize("home", ["beside", "outside"])
def test_a_change_of_a_file_that_was_read_is_noticed_and_named(home, write, places):
    paths = {name: getattr(places, home) / f"{number}.data" for number, name in enumerate(FILES)}
    for name, (_, put) in FILES.items():
        put(paths[name], 1)
    write(places, "".join(f"{text.replace('PATH', repr(str(paths[name])))}\n" for name, (text, _) in FILES.items()))
    checked(places.tree)
    for name, (_, put) in FILES.items():
        assert not stale(), name
        put(paths[name], 2)
        assert f"{paths[name].name} changed" in stale(), name
        put(paths[name], 1)
    paths["open"].unlink()
    assert "0.data changed" in stale()


def test_a_file_that_was_missing_is_noticed_when_it_appears(places):
    path = places.beside / "settings.json"
    in_script(places, f"try: open({str(path)!r})\nexcept OSError: pass\n")
    assert checked(places.tree)["inputs"]["derivations/chapter/settings.json"] == project_files.ABSENT
    path.write_text("")
    assert "settings.json changed" in stale()


VARIABLES = {
    "environ": ("os.environ[NAME]", "1"),
    "get": ("os.environ.get(NAME)", "1"),
    "getenv": ("os.getenv(NAME)", "1"),
    "get of nothing": ("os.environ.get(NAME)", None),
    "in": ("assert NAME not in os.environ", None),
    "with a default": ("os.environ.get(NAME, 'no')", None),
}


@pytest.mark.parametrize("write", [in_script, in_what_a_snippet_calls], ids=["in the script", "in what a snippet calls"])
@pytest.mark.parametrize("text, value", VARIABLES.values(), ids=VARIABLES)
def test_a_change_of_a_variable_that_was_read_is_noticed_and_named(text, value, write, places, monkeypatch):
    if value:
        monkeypatch.setenv("TRACK_A", value)
    write(places, f"import os\n{text.replace('NAME', repr('TRACK_A'))}\n")
    assert set(checked(places.tree)["variables"]) == {"TRACK_A"} and not stale()
    monkeypatch.setenv("TRACK_A", "2")
    assert "since the environment variable TRACK_A changed" in stale()


def test_a_change_of_what_was_not_read_leaves_it_standing(places, monkeypatch):
    for home in (places.beside, places.outside, places.snippets):
        (home / "read.txt").write_text("1")
        (home / "unread.txt").write_text("1")
    text = "import os\n" + "".join(f"open({str(home / 'read.txt')!r})\n" for home in (places.beside, places.outside, places.snippets))
    in_script(places, text + "os.environ.get('TRACK_READ')\n")
    content = checked(places.tree)
    assert {name for name in content["inputs"] if name.endswith(".txt")} == {
        "derivations/chapter/read.txt",
        "snippets/chapter/read.txt",
        str(places.outside / "read.txt"),
    }
    for home in (places.beside, places.outside, places.snippets):
        (home / "unread.txt").write_text("2")
        (home / "new.txt").write_text("2")
        (home / "new_module.py").write_text("2")
    monkeypatch.setenv("TRACK_UNREAD", "1")
    os.utime(places.beside / "read.txt")
    assert not stale()


def test_of_python_and_its_libraries_only_versions_are_kept(places):
    in_script(places, "import json.tool, numpy.testing, sympy.stats, torch.fft, wave, difflib\nnumpy.random.default_rng(1).random()\n")
    content = checked(places.tree)
    kernel = {project_files.relative(path) for path in project_files.checker_files()}
    assert content["inputs"].keys() - kernel == {"derivations/chapter/tiny.py"}
    assert not content["variables"] and content["versions"].keys() > {"numpy", "sympy", "torch"}


def test_no_value_of_a_variable_is_kept(places, monkeypatch):
    monkeypatch.setenv("TRACK_SECRET", "hunter2, in clear")
    in_script(places, "import os\nos.environ['TRACK_SECRET']\n")
    kept = checked(places.tree)["variables"]
    assert kept.keys() == {"TRACK_SECRET"} and len(bytes.fromhex(kept["TRACK_SECRET"])) == 32
    for path in places.tree.store.rglob("*"):
        assert path.is_dir() or b"hunter2" not in path.read_bytes()
    (places.tree.store / "key").write_text("another key")
    assert hash_variable("TRACK_SECRET", store.secret()) != kept["TRACK_SECRET"]


def test_a_file_that_a_script_wrote_itself_is_no_dependency(places):
    own = places.outside / "own.txt"
    text = "import tempfile\n"
    text += "with tempfile.NamedTemporaryFile('w+') as file:\n    file.write('1'); file.flush(); open(file.name).read()\n"
    text += f"open({str(own)!r}, 'w').close()\nopen({str(own)!r}).close()\n"
    in_script(places, text)
    assert not [name for name in checked(places.tree)["inputs"] if not name.startswith("derivations/")]
    own.write_text("2")
    assert not stale()


def test_a_file_that_changes_during_the_check_is_reported_and_nothing_is_kept(places):
    path = places.outside / "data.txt"
    path.write_text("1")
    in_script(places, f"open({str(path)!r}).read()\nopen({str(path)!r}, 'w').write('2')\n")
    result = check(places.tree)
    assert not result.holds and not places.tree.certificate.exists()
    assert [f"{path}" in problem and "changed while it was checked" in problem for problem in result.problems] == [True]


def test_a_recorder_leaves_everything_as_it_was(tmp_path):
    before = dict(vars(type(os.environ)))
    with input_tracking.record_reads() as recorder:
        assert dict(vars(type(os.environ))) != before
        (tmp_path / "x").write_text("")
        (tmp_path / "x").read_text()
    assert dict(vars(type(os.environ))) == before
    (tmp_path / "y").write_text("")
    (tmp_path / "y").read_text()
    assert recorder.written == {str(tmp_path / "x")} and recorder.reads == Reads()


# Imported modules -------------------------------------------------------------------------------------------------------------


def test_a_change_of_what_an_import_imports_is_noticed(places):
    folder = places.beside
    (folder / "third.py").write_text("def swap(a, b):\n    return b, a\n")
    (folder / "second.py").write_text("from third import swap\n")
    places.tree.script.write_text(
        HEAD + 'from second import swap\nderivation.identity("sum", (A + B).T, sum(swap(A.T, B.T)[1:], swap(A.T, B.T)[0]))\n'
    )
    assert "derivations/chapter/third.py" in checked(places.tree)["inputs"]
    (folder / "third.py").write_text("def swap(a, b):\n    return 2 * b, a\n")
    with pytest.raises(CertificateError, match="third.py changed"):
        load(TOPIC)


def test_a_change_of_a_late_import_is_noticed(places):
    (places.beside / "late.py").write_text("factor = 1\n")
    places.tree.script.write_text(
        HEAD + 'def f():\n    from late import factor\n    return factor\nderivation.identity("sum", (A + B).T, A.T + f() * B.T)\n'
    )
    assert "derivations/chapter/late.py" in checked(places.tree)["inputs"]


WRITES_ITSELF = """
from pathlib import Path
Path({path!r}).write_text({text!r})
"""


def test_a_script_that_was_edited_while_it_was_checked_is_not_certified_as_it_is_now(places):
    """Here the script does to itself what an editor does during the check."""
    bad = HEAD + 'derivation.identity("bad", (A + B).T, A.T - B.T)\n'
    places.tree.script.write_text(HEAD + CLAIM + WRITES_ITSELF.format(path=str(places.tree.script), text=bad))
    runner.check_script(TOPIC, places.tree.script, False, lambda done, more: None)
    assert places.tree.script.read_text() == bad
    with pytest.raises(CertificateError):
        load(TOPIC)


def test_an_import_that_was_edited_while_it_was_checked_is_not_certified_as_it_is_now(places):
    helper = places.tree.script.with_name("helper.py")
    helper.write_text("factor = 1\n")
    places.tree.script.write_text(
        HEAD
        + 'from helper import factor\nderivation.identity("sum", (A + B).T, A.T + factor * B.T)\n'
        + WRITES_ITSELF.format(path=str(helper), text="factor = 2\n")
    )
    runner.check_script(TOPIC, places.tree.script, False, lambda done, more: None)
    with pytest.raises(CertificateError):
        load(TOPIC)


# Where else it is used --------------------------------------------------------------------------------------------------------


def test_nothing_of_the_project_is_loaded_before_its_reading_is_recorded(places):
    """The process that scripts are forked from loads the kernel and libraries alone."""
    ours = "[name for name in sys.modules if re.match(r'snippets|derivations\\.(?!kernel|__main__)', name)]"
    in_script(places, f"import re, sys\nassert not {ours}, {ours}\n")
    checked(places.tree)


def test_what_was_refused_is_out_of_date_when_what_it_read_changes(places, monkeypatch):
    data = places.beside / "data.txt"
    data.write_text("1")
    in_script(places, f"import os\nopen({str(data)!r})\nos.environ.get('TRACK_Z')\nderivation.identity('bad', A, 2 * A)\n")
    runner.check_all([(TOPIC, places.tree.script)], True, 1, lambda done, more: None)
    rejection = rejections.get(TOPIC)
    assert rejections.find_changes(rejection) == []
    data.write_text("2")
    assert rejections.find_changes(rejection) == ["derivations/chapter/data.txt"]
    monkeypatch.setenv("TRACK_Z", "1")
    assert rejections.find_changes(rejection) == ["derivations/chapter/data.txt", "the environment variable TRACK_Z"]


def test_a_change_of_what_was_read_touches_the_topic(places):
    data = places.beside / "data.json"
    data.write_text("1")
    in_script(places, f"open({str(data)!r})\n")
    checked(places.tree)
    assert find_affected({"derivations/chapter/data.json"}).topics == find_affected({"derivations/chapter/"}).topics == {TOPIC}
    assert find_affected({"derivations/chapter/other.json"}).topics == set()


def test_what_coq_said_falls_with_what_was_read(places, monkeypatch):
    monkeypatch.setenv("TRACK_Y", "1")
    data = places.beside / "data.txt"
    data.write_text("1")
    in_script(places, "import os\nos.environ['TRACK_Y']\nopen('data.txt')\n")
    before = coq_results.results_digest(checked(places.tree))
    assert before == coq_results.results_digest(checked(places.tree))
    monkeypatch.setenv("TRACK_Y", "2")
    second = coq_results.results_digest(checked(places.tree))
    data.write_text("2")
    third = coq_results.results_digest(checked(places.tree))
    assert len({before, second, third}) == 3


def test_what_became_of_mutants_falls_with_what_was_read(places, monkeypatch):
    monkeypatch.setenv("TRACK_X", "1")
    data = places.beside / "data.txt"
    data.write_text("1")
    in_script(places, "import os\nos.environ['TRACK_X']\nopen('data.txt')\n")
    checked(places.tree)
    current = {name: "as it is" for name in mutant_results.WITNESSES}
    results = {name: {"killed": 1} for name in current}
    mutant_results.put("fingerprint", results, current, mutant_results.recorded_reads(TOPIC))

    def stored():
        return mutant_results.get("fingerprint", current, mutant_results.recorded_reads(TOPIC))

    assert stored() == results
    data.write_text("2")
    checked(places.tree)
    assert stored() == {}
    data.write_text("1")
    checked(places.tree)
    assert stored() == results
    monkeypatch.setenv("TRACK_X", "2")
    checked(places.tree)
    assert stored() == {}
