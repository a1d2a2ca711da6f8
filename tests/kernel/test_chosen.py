"""Test selection by changed files (tests/chosen.py): files that a change can affect run, and a sample of the others, chosen by the commit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import chosen

ROOT = Path(chosen.__file__).resolve().parents[1]
HERE = "tests/scaling/test_variance.py"


def none(name):
    return False


def reached(*paths, files=(HERE,)):
    return chosen.choice([ROOT / file for file in files], {*paths}, none)


@pytest.mark.parametrize(
    "path",
    [
        HERE,
        "snippets/scaling/variance.py",  # it imports this
        "tests/conftest.py",
        "requirements.txt",
        ".ci/run",
    ],
)
def test_a_change_of_what_a_file_rests_on_reaches_it(path):
    assert reached(path) == {HERE: "reached"}


def test_a_change_of_what_its_imports_import_reaches_it():
    assert reached("snippets/attention/formula.py", files=["tests/layers/test_head.py"])


@pytest.mark.parametrize(
    "path",
    [
        "snippets/predecessors/lstm.py",
        "docs/scaling/variance.md",
        "derivations/kernel/exact/nonnegativity.py",
        "README.md",
        "docs/labs/scores.py",
    ],
)
def test_other_changes_do_not(path):
    assert reached(path) == {}


@pytest.mark.parametrize(
    "file, path",
    [
        ("kernel/language/test_functions", "derivations/kernel/language/functions.py"),
        ("kernel/traced/test_tracing", "derivations/kernel/__init__.py"),
        ("kernel/exact/test_expectations", "derivations/kernel/check/worker.py"),
        ("kernel/coq/test_reals", "derivations/kernel/coq/reals/prelude_reals.v"),
        ("seeing/test_heads", "snippets/seeing/recall.json"),
    ],
)
def test_packages_and_what_is_no_python_count_too(file, path):
    assert (ROOT / path).is_file() and reached(path, files=[f"tests/{file}.py"])


@pytest.mark.parametrize("file", ["scaling/test_variance", "kernel/exact/test_expectations"])
def test_what_is_loaded_is_within_reach(file):
    """Asked of a fresh interpreter, which knows better."""
    code = (
        "import sys, importlib.util as util; spec = util.spec_from_file_location('t', sys.argv[1]); "
        "spec.loader.exec_module(util.module_from_spec(spec)); print(*(m.__file__ for m in sys.modules.values() if getattr(m, '__file__', 0)))"
    )
    path = ROOT / "tests" / f"{file}.py"
    said = subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    loaded = {Path(name).relative_to(ROOT).as_posix() for name in said if name.startswith((f"{ROOT}/derivations", f"{ROOT}/snippets"))}
    assert loaded and loaded <= chosen.within_reach(path)


def test_a_conftest_reaches_what_stands_below_it():
    names = ["tests/kernel/exact/test_expectations.py", "tests/site/test_terms.py"]
    assert reached("tests/kernel/conftest.py", files=names[:1]) and not reached("tests/kernel/conftest.py", files=[HERE])


def test_a_topic_that_a_file_names_reaches_it(tmp_path):
    file = tmp_path / "tests" / "test_it.py"
    file.parent.mkdir()
    file.write_text('NAMES = ["scaling/variance#scaled", "snippets.predecessors.lstm.cell"]\n')
    named = {path.relative_to(ROOT).as_posix() for path in chosen.of_topics(file)}
    assert "derivations/predecessors/lstm.py" not in named and named >= {
        "derivations/scaling/variance.py",
        "docs/scaling/variance.md",
        "snippets/predecessors/lstm.py",
    }


@pytest.mark.parametrize(
    "text", ["ROOT / name", "for path in topics():", "home.rglob('*')", "subprocess.run(['ls'])", "Path(__file__).parent"]
)
def test_what_looks_for_files_itself_may_be_reached_by_anything(tmp_path, monkeypatch, text):
    monkeypatch.setattr(chosen, "ROOT", tmp_path)
    (tmp_path / "tests").mkdir()
    file = tmp_path / "tests" / "test_it.py"
    file.write_text(f"{text}\n")
    assert chosen.roams(file)
    file.write_text("assert 1 + 1 == 2\n")
    assert not chosen.roams(file)


def test_each_file_is_drawn_at_one_commit_in_twenty():
    names = [f"tests/test_{k}.py" for k in range(400)]
    drawn = [{name for name in names if chosen.drawn_by(commit)(name)} for commit in map(str, range(60))]
    assert all(5 <= len(some) <= 45 for some in drawn) and drawn[0] != drawn[1]
    assert len(set().union(*drawn)) > 320


TESTS = {
    "tests/test_one.py": "import snippets.one\n\ndef test_it():\n    assert snippets.one.X == 1\n",
    "tests/test_two.py": "def test_it():\n    raise Exception('it ran')\n",
    "snippets/__init__.py": "",
    "snippets/one.py": "X = 1\n",
}


@pytest.fixture
def project(tmp_path):
    """A repository of two test files of which one fails, and the plugin, which draws none of the others."""
    for name, text in TESTS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    plugin = (ROOT / "tests/chosen.py").read_text().replace("% OF_REST == 0", "% OF_REST < 0")
    (tmp_path / "tests/chosen.py").write_text(plugin)
    (tmp_path / "derivations").symlink_to(ROOT / "derivations")
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\ntestpaths = ["tests"]\naddopts = ["--import-mode=importlib"]\n')
    git = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    return tmp_path


def run(project, *options):
    code = f"import pathlib, sys; from derivations.kernel.store import project_files; project_files.ROOT = pathlib.Path({str(project)!r})"
    start = f"{code}; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    command = [sys.executable, "-c", start, "-p", "no:cacheprovider", "-p", "tests.chosen", *options]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(project)})
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("beside", [(), ("-n", "2")])
def test_what_changed_is_tested_and_nothing_else(project, beside):
    assert run(project, *beside)[0] == 1  # without a commit all are run
    (project / "snippets/one.py").write_text("X = 20\n")
    code, said = run(project, "--since", "HEAD", *beside)
    assert code == 1 and "tests/test_one.py" in said and "it ran" not in said and "1 failed" in said
    assert beside or "chosen by what changed: 1 reached" in said


@pytest.mark.slow
def test_what_another_run_chose_is_none_of_this_ones(project, monkeypatch):
    monkeypatch.setenv(chosen.KEPT, "{}")
    assert "it ran" in run(project)[1]


@pytest.mark.slow
def test_a_commit_that_is_none_is_said_in_a_line(project):
    code, said = run(project, "--since", "nowhere")
    assert code == 4 and "--since nowhere: git cannot tell what changed" in said and "Traceback" not in said
