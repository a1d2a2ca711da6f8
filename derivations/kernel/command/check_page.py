"""`check --page TOPIC`: all that `make test` would refuse of one topic: its claims, its page, the code on it, its tests, and its rows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from ..run import certificates, runner
from . import line_coverage
from .progress import report
from .sympy_programs import publish

# Tests that are run for every topic, each under a name that has the topic in it.
SWEEPS = ("tests/snippets/test_public.py", "tests/kernel/test_golden.py")


def look(topic: str) -> list:
    """What is wrong with a topic's page, its code and its pictures; nothing is tested."""
    from ..site import page_lint  # it loads PyTorch, which checking leaves to its own processes

    return page_lint.of_topic(certificates.ROOT, topic, time.time_ns())


def unwritten(topic: str) -> list:
    """Return what the page lacks of a page of the course, and the links to the next page that are wrong on it and on the page before it."""
    from ..site import course_boxes, page_source

    root, said = certificates.ROOT, []
    before = course_boxes.neighbours((root / "mkdocs.yml").read_text(encoding="utf-8"), f"{topic}.md")[0].removesuffix(".md")
    try:
        lacks = course_boxes.lacking((root / "docs" / f"{topic}.md").read_text(encoding="utf-8"))
        said = [f"docs/{topic}.md lacks, for a page of the course: {'; '.join(lacks)}"] if lacks else []
        for one in filter(certificates.is_topic, (before, topic)):
            said += [f"docs/{one}.md: {wrong}" for wrong in course_boxes.wrong_next(root, one)]
    except (OSError, UnicodeDecodeError, page_source.PageError):
        pass  # a page that cannot be read is reported by `look`
    return said


def check_page(topic: str, more: list, fresh: bool, jobs: int) -> int:
    """Print every finding; 1 if there is any."""
    if more:
        raise click.UsageError("--page names the one topic that is looked at")
    if not certificates.is_topic(topic):
        raise click.UsageError(f"there is no derivation '{topic}'; python -m derivations list shows those there are")
    (result,) = runner.check_all(runner.find((topic,)), fresh, jobs, lambda done, more: None)
    publish([result])
    report(result, quiet=False)
    found = [str(one) for one in (*look(topic), *unwritten(topic), *tested(topic), *swept(topic), *formed(topic))]
    for said in found:
        click.secho(said, fg="red", err=True)
    count = len(found) + (not result.holds)
    click.echo(f"{topic}: {count} to refuse" if count else f"{topic}: nothing to refuse")
    return bool(count)


def tested(topic: str) -> list:
    """What the examples in the topic's snippet, and its tests, fail with; where they do not, the lines on its page that none of them runs."""
    chapter, _, name = topic.partition("/")
    test, snippet = f"tests/{chapter}/test_{name}.py", f"snippets/{topic}.py"
    there = [path for path in (snippet, test) if (certificates.ROOT / path).is_file()]
    missing = [
        f"{path}: there is no such file; make it, or begin the topic with python -m derivations new" for path in {snippet, test} - {*there}
    ]
    if not there:
        return sorted(missing)
    command = [sys.executable, "-m", "pytest", "--quiet", "--tb=line", "--color=no", "-p", "no:cacheprovider", "-m", "not coq"]
    with TemporaryDirectory() as folder:
        told = Path(folder) / "lines"
        watched = os.environ | {line_coverage.OF: str(certificates.ROOT / snippet), line_coverage.TO: str(told)}
        command += ["-p", line_coverage.__name__, *there]
        done = subprocess.run(command, cwd=certificates.ROOT, capture_output=True, text=True, env=watched)
        run = set(json.loads(told.read_text(encoding="utf-8"))) if told.is_file() else set()
    if done.returncode == 0:
        return sorted(missing) + [f"{snippet}:{line}: {said}" for line, said in line_coverage.unreached(topic, run)]
    said = failures(done.stdout, str(certificates.ROOT))
    again = f"python -m pytest {' '.join(there)}"
    return sorted(missing) + (said or [f"{there[-1]}: its tests fail; run: {again}"])


def swept(topic: str) -> list:
    """Return what fails of the tests that are run for every topic, such as those of public functions, where they are run for this one."""
    there = [path for path in SWEEPS if (certificates.ROOT / path).is_file()]
    if not there:
        return []
    command = [sys.executable, "-m", "pytest", "--quiet", "--tb=line", "--color=no", "-p", "no:cacheprovider", "-k", topic, *there]
    done = subprocess.run(command, cwd=certificates.ROOT, capture_output=True, text=True)
    if done.returncode == 0:
        return []
    again = f"run: python -m pytest {' '.join(there)} -k {topic}"
    return [f"{said}; {again}" for said in failures(done.stdout, str(certificates.ROOT))] or [f"the tests of all topics fail; {again}"]


def formed(topic: str) -> list:
    """What ruff has against the form of the topic's files; types are for `make lint`, which takes longer."""
    chapter, _, name = topic.partition("/")
    files = [f"derivations/{topic}.py", f"snippets/{topic}.py", f"tests/{chapter}/test_{name}.py", f"docs/figures/{topic}.py"]
    there = [path for path in files if (certificates.ROOT / path).is_file()]
    if not there:
        return []
    done = ruff("check", "--quiet", "--output-format", "concise", *there)
    again = f"python -m ruff check --fix {' '.join(there)}"
    said = [f"{line}; mend it, or run: {again}" for line in (done.stdout + done.stderr).strip().splitlines()]
    unformed = [name for name in there if ruff("format", "--check", "--quiet", name).returncode == 1]  # 2: what `check` told of already
    return said + [f"{name}: ruff would set it otherwise; run: python -m ruff format {name}" for name in unformed]


def ruff(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "ruff", *arguments], cwd=certificates.ROOT, capture_output=True, text=True)


def failures(output: str, root: str = "") -> list:
    """pytest's own lines on what failed: each with its file and line, or with the test's name where it says no line."""
    lines = re.findall(rf"^{re.escape(root)}/(\S+\.py):(\d+): (.*)$", output, flags=re.M)
    named = re.findall(r"^(?:FAILED|ERROR) ((\S+?\.py)\S*)", output, flags=re.M)
    shown = {"DocTestFailure": "the output is another; python -m pytest with this file shows what was expected and what came"}
    found = [f"{file}:{line}: the test fails: {shown.get(said, said)}" for file, line, said in lines]
    return found + [f"{name}: the test fails" for name, file in named if file not in {file for file, _, _ in lines}]
