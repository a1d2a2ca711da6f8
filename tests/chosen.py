"""A pytest plugin that selects the test files that a change may affect, and a sample of one in 20 of the others.

    make test SINCE=main        # changes since then, including uncommitted ones

A change affects a test file if it touches a file that the test file or its conftest files import, a file of a topic that they name, an
import of one of these, or a data file next to one of these. A test file that searches for files or starts a process may be affected by any
change, so it is always selected. The sample depends on the commit. CI uses this selection for proposed changes; before a version is
published, the tests of all files have passed.
"""

import ast
import json
import os
import re
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
KEPT = "TESTS_CHOSEN"  # the environment variable that passes the selection to the processes of pytest-xdist
OF_REST = 20
# A change of one of these files may affect any test.
ALL = re.compile(r"(requirements\.txt|pyproject\.toml|Makefile|\.ci/.*|tests/(conftest|chosen)\.py|(derivations|snippets)/__init__\.py)$")
ROAMS = re.compile(r"\b(ROOT|topics|rglob|glob|iterdir|listdir|subprocess|Popen|CliRunner|cli|__file__|runpy|site)\b")
TOPIC = re.compile(r"\b([a-z0-9_]+/[a-z0-9_]+)\b")
SNIPPET = re.compile(r"\bsnippets\.([a-z0-9_]+\.[a-z0-9_]+)\b")
HOMES = ("derivations/{}.py", "snippets/{}.py", "docs/{}.md", "docs/figures/{}.py")


def pytest_addoption(parser):
    parser.addoption("--since", metavar="COMMIT", help="Of the test files those that what changed since then may reach, and some others.")


def pytest_configure(config):
    """Select the test files if --since is given. Raise UsageError if its commit does not exist."""
    commit = config.getoption("--since")
    if hasattr(config, "workerinput"):
        return
    os.environ.pop(KEPT, None)  # a selection holds for the processes of one run only
    if not commit:
        return
    from derivations.kernel.command import git_changes  # not at the top: load nothing of the project if nothing is selected

    try:
        files = test_files(config)
        os.environ[KEPT] = json.dumps(choice(files, git_changes.changed_files(commit), drawn_by(git_changes.run_git("rev-parse", "HEAD"))))
    except git_changes.GitError as error:
        raise pytest.UsageError(f"--since {commit}: {error}") from None


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        os.environ.pop(KEPT, None)


def pytest_report_header():
    """Return a line with the number of selected files for each reason."""
    if KEPT in os.environ:
        chosen = chosen_now()
        counts = ", ".join(f"{list(chosen.values()).count(why)} {why}" for why in sorted({*chosen.values()}))
        return f"chosen by what changed: {counts or 'no test file'}; the others are not run"


def pytest_ignore_collect(collection_path, config):
    """Return True for a file that is not selected, and None to leave the decision to pytest."""
    if KEPT in os.environ and collection_path.suffix == ".py" and collection_path.is_relative_to(ROOT):
        return collection_path.relative_to(ROOT).as_posix() not in chosen_now() or None
    return None


def pytest_collection_modifyitems(config, items):
    """Deselect tests in files that are not selected, since pytest also collects every file that is named on its command line."""
    if KEPT in os.environ:
        wanted = [item for item in items if name_of(item.path) in chosen_now()]
        config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
        items[:] = wanted


def pytest_sessionfinish(session, exitstatus):
    """Exit successfully if no test was selected."""
    if KEPT in os.environ and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


@cache
def chosen_now() -> dict[str, str]:
    """Return the selected files, each with the reason."""
    return json.loads(os.environ[KEPT])


def test_files(config) -> list[Path]:
    """Return the files that may contain tests, including examples in docstrings."""
    homes = [ROOT / home for home in config.getini("testpaths")]
    files = {path for home in homes for path in ([home] if home.is_file() else home.rglob("*.py"))}
    return sorted(path for path in files if path.name != "conftest.py" and "bench" not in path.parts)


def choice(files: list[Path], paths: set[str], drawn) -> dict[str, str]:
    """Return the selected files by name, each with the reason: "reached", "roaming" or "drawn"."""
    every = any(ALL.match(path) for path in paths)
    why = {name_of(file): "reached" if every or reaches(file, paths) else "roaming" if roams(file) else "" for file in files}
    return {name: said or "drawn" for name, said in why.items() if said or drawn(name)}


def drawn_by(commit: str):
    """Return a function that says whether a file name belongs to the sample of a commit."""
    return lambda name: int(sha256(f"{commit}{name}".encode()).hexdigest(), 16) % OF_REST == 0


def reaches(file: Path, paths: set[str]) -> bool:
    """Return whether a change of these paths may affect a test file."""
    return bool(paths & within_reach(file))


def within_reach(file: Path) -> set[str]:
    """Return the names of a file, its conftest files, the topics that these name, all their imports, and the data files of these."""
    around = [file, *(home / "conftest.py" for home in file.parents if home.is_relative_to(ROOT / "tests"))]
    waiting = [path for one in around if one.is_file() for path in (one, *of_topics(one))]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [*imported(path), *beside(path.parent)] if path.suffix == ".py" else []
    return {name_of(path) for path in found}


@cache
def imported(file: Path) -> frozenset[Path]:
    """Return the project files that a file imports, in functions too, and the `__init__.py` files of their packages."""
    names: set[tuple[Path, str]] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            home = file.parents[node.level - 1] if node.level else ROOT
            names |= {(home, ".".join(filter(None, (node.module, alias.name)))) for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {(ROOT, alias.name) for alias in node.names}
    return frozenset(path for home, name in names for path in modules(home, name) if path != file)


def modules(home: Path, name: str) -> list[Path]:
    """Return the files of a dotted name, which may end with a name in a module, and of the packages that contain it."""
    on_the_way = [home.joinpath(*name.split(".")[:k]) for k in range(name.count(".") + 2)]
    return [path for one in on_the_way for path in (one.with_suffix(".py"), one / "__init__.py") if path.is_file()]


@cache
def beside(folder: Path) -> tuple[Path, ...]:
    """Return the data files in a folder that a module there may read, such as stored numbers and Coq preludes."""
    read = folder.is_relative_to(ROOT / "derivations") or folder.is_relative_to(ROOT / "snippets")
    return tuple(path for path in folder.iterdir() if read and path.is_file() and path.suffix != ".py")


def of_topics(file: Path) -> set[Path]:
    """Return the files of the topics that a file names, and of the snippets that it names."""
    text = file.read_text(encoding="utf-8")
    named = {home.format(topic) for topic in {*TOPIC.findall(text)} & all_topics() for home in HOMES}
    named |= {f"snippets/{name.replace('.', '/')}.py" for name in SNIPPET.findall(text)}
    return {path for name in named if (path := ROOT / name).is_file()}


@cache
def all_topics() -> frozenset[str]:
    """Return the names of all topics."""
    from derivations.kernel.store import certificates

    return frozenset(certificates.topics())


def roams(file: Path) -> bool:
    """Return whether a test file may read files that it does not name. The docstrings of snippets and of the language read no files."""
    return file.is_relative_to(ROOT / "tests") and bool(ROAMS.search(file.read_text(encoding="utf-8")))


def name_of(path: Path) -> str:
    """Return a path relative to the root."""
    return path.relative_to(ROOT).as_posix()
