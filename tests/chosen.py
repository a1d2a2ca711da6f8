"""A pytest plugin: of the test files those that a change may reach, and one in 20 of the others, by the commit other ones each time.

    make test SINCE=main        # what changed since then, what is not committed included

A file is reached by what it and its conftest files import, by the topics that it names, and by what these import. One that looks for files by
itself, or starts a process, may be reached by anything. CI asks for a choice where a change is proposed; what is published has passed all.
"""

import json
import os
import re
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
KEPT = "TESTS_CHOSEN"  # in the environment: what was chosen, for the processes that pytest-xdist starts
OF_REST = 20
# What a change of these may reach, nobody tells.
ALL = re.compile(r"(requirements\.txt|pyproject\.toml|Makefile|\.ci/.*|tests/(conftest|chosen)\.py|(derivations|snippets)/__init__\.py)$")
ROAMS = re.compile(r"\b(ROOT|topics|rglob|glob|iterdir|listdir|subprocess|Popen|CliRunner|cli|__file__|runpy|site)\b")
TOPIC = re.compile(r"\b([a-z0-9_]+/[a-z0-9_]+)\b")
SNIPPET = re.compile(r"\bsnippets\.([a-z0-9_]+\.[a-z0-9_]+)\b")
HOMES = ("derivations/{}.py", "snippets/{}.py", "docs/{}.md", "docs/figures/{}.py")


def pytest_addoption(parser):
    parser.addoption("--since", metavar="COMMIT", help="Of the test files those that what changed since then may reach, and some others.")


def pytest_configure(config):
    commit = config.getoption("--since")
    if not commit or KEPT in os.environ:
        return
    from derivations.kernel.command import since  # here, so that nothing of the project is loaded where nothing is chosen

    try:
        files = test_files(config)
        os.environ[KEPT] = json.dumps(choice(files, since.changed(commit), drawn_by(since.git("rev-parse", "HEAD"))))
    except since.NoCommit as error:
        raise pytest.UsageError(f"--since {commit}: {error}") from None


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        os.environ.pop(KEPT, None)


def pytest_report_header():
    if KEPT in os.environ:
        chosen = chosen_now()
        counts = ", ".join(f"{list(chosen.values()).count(why)} {why}" for why in sorted({*chosen.values()}))
        return f"chosen by what changed: {counts or 'no test file'}; the others are not run"


def pytest_ignore_collect(collection_path, config):
    """True where a file is not chosen; None leaves it to pytest."""
    if KEPT in os.environ and collection_path.suffix == ".py" and collection_path.is_relative_to(ROOT):
        return collection_path.relative_to(ROOT).as_posix() not in chosen_now() or None
    return None


def pytest_collection_modifyitems(config, items):
    """Files that are named to pytest are collected whatever else is said of them."""
    if KEPT in os.environ:
        wanted = [item for item in items if name_of(item.path) in chosen_now()]
        config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
        items[:] = wanted


def pytest_sessionfinish(session, exitstatus):
    """Where a change reaches no test, none is asked for."""
    if KEPT in os.environ and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


@cache
def chosen_now() -> dict[str, str]:
    return json.loads(os.environ[KEPT])


def test_files(config) -> list[Path]:
    """The files that may hold tests, examples in docstrings included."""
    homes = [ROOT / home for home in config.getini("testpaths")]
    files = {path for home in homes for path in ([home] if home.is_file() else home.rglob("*.py"))}
    return sorted(path for path in files if path.name != "conftest.py" and "bench" not in path.parts)


def choice(files: list[Path], paths: set[str], drawn) -> dict[str, str]:
    """Why each file is chosen that is, by its name."""
    every = any(ALL.match(path) for path in paths)
    why = {name_of(file): "reached" if every or reaches(file, paths) else "roaming" if roams(file) else "" for file in files}
    return {name: said or "drawn" for name, said in why.items() if said or drawn(name)}


def drawn_by(commit: str):
    """Whether a name is among those that are drawn at this commit."""
    return lambda name: int(sha256(f"{commit}{name}".encode()).hexdigest(), 16) % OF_REST == 0


def reaches(file: Path, paths: set[str]) -> bool:
    return bool(paths & within_reach(file))


def within_reach(file: Path) -> set[str]:
    """The names of a file, of its conftest files, of the topics that these name, and of all that they import."""
    around = [file, *(home / "conftest.py" for home in file.parents if home.is_relative_to(ROOT / "tests"))]
    beginning = [path for path in around if path.is_file()]
    named = {path for one in beginning for path in of_topics(one)}
    return imported([*beginning, *named]) | {name_of(path) for path in named}


def of_topics(file: Path) -> set[Path]:
    """The files of the topics that a file names, and the snippets that it names."""
    text = file.read_text(encoding="utf-8")
    named = {home.format(topic) for topic in {*TOPIC.findall(text)} & all_topics() for home in HOMES}
    named |= {f"snippets/{name.replace('.', '/')}.py" for name in SNIPPET.findall(text)}
    return {path for name in named if (path := ROOT / name).is_file()}


@cache
def all_topics() -> frozenset[str]:
    from derivations.kernel.run import certificates

    return frozenset(certificates.topics())


def imported(files: list[Path]) -> set[str]:
    from derivations.kernel.run import importing

    return {*importing.hashes([path for path in files if path.suffix == ".py"])}


def roams(file: Path) -> bool:
    """Whether the tests may read what no name in them tells. The examples in docstrings of snippets and of the language read nothing."""
    return file.is_relative_to(ROOT / "tests") and bool(ROAMS.search(file.read_text(encoding="utf-8")))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
