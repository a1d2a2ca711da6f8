"""`check --page TOPIC`: report everything about one topic that `make test` would reject: its claims, page, code, tests, and test inputs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from ..check import runner
from ..errors import quantity
from ..store import certificates, project_files
from . import line_coverage
from .progress import print_result
from .sympy_programs import publish_programs

if TYPE_CHECKING:
    from ..site.page_lint import Finding

# Tests that run for every topic; the name of each test contains the topic
ALL_TOPIC_TESTS = ("tests/snippets/test_public.py", "tests/kernel/test_golden.py")


def find_page_errors(topic: str) -> list[Finding]:
    """Return what is wrong with a topic's page, code and pictures. Run no tests."""
    from ..site import page_lint  # imported late, because it loads PyTorch, which `check` itself does not need

    return page_lint.check_topic(project_files.ROOT, topic, time.time_ns())


def find_course_errors(topic: str) -> list[str]:
    """Return the parts that the topic's page lacks, and the wrong links to the next page, on this page and on the page before it."""
    from ..site import course_boxes, page_source

    root, errors = project_files.ROOT, []
    before = course_boxes.find_neighbours((root / "mkdocs.yml").read_text(encoding="utf-8"), f"{topic}.md")[0].removesuffix(".md")
    try:
        missing = course_boxes.find_missing_parts((root / "docs" / f"{topic}.md").read_text(encoding="utf-8"))
        errors = [f"docs/{topic}.md lacks, for a page of the course: {'; '.join(missing)}"] if missing else []
        for page in filter(certificates.is_topic, (before, topic)):
            errors += [f"docs/{page}.md: {error}" for error in course_boxes.check_next_link(root, page)]
    except (OSError, UnicodeDecodeError, page_source.PageError):
        pass  # a page that cannot be read is reported by `find_page_errors`
    return errors


def check_page(topic: str, more: list[str], fresh: bool, jobs: int) -> int:
    """Print everything that is wrong with a topic. Return 1 if there are errors, else 0. Raise UsageError if there are further targets."""
    if more:
        raise click.UsageError("--page takes one topic, and no other topics can be named")
    if not certificates.is_topic(topic):
        raise click.UsageError(f"there is no topic '{topic}'; python -m derivations list shows all topics")
    (result,) = runner.check_all(runner.find_targets((topic,)), fresh, jobs, lambda done, more: None)
    publish_programs([result])
    print_result(result, quiet=False)
    errors = [
        str(error)
        for error in (
            *find_page_errors(topic),
            *find_course_errors(topic),
            *find_test_errors(topic),
            *find_all_topic_test_errors(topic),
            *find_style_errors(topic),
        )
    ]
    for error in errors:
        click.secho(error, fg="red", err=True)
    count = len(errors) + (not result.holds)
    click.echo(f"{topic}: {quantity(count, 'error') if count else 'no errors'}")
    return bool(count)


def find_test_errors(topic: str) -> list[str]:
    """Run the topic's tests and the examples of its snippet. Return the failures, or else the shown lines that did not run."""
    chapter, _, name = topic.partition("/")
    test, snippet = f"tests/{chapter}/test_{name}.py", f"snippets/{topic}.py"
    existing = [path for path in (snippet, test) if (project_files.ROOT / path).is_file()]
    missing = [
        f"{path}: this file is missing; write it, or create the topic with python -m derivations new"
        for path in sorted({snippet, test} - {*existing})
    ]
    if not existing:
        return missing
    command = [sys.executable, "-m", "pytest", "--quiet", "--tb=line", "--color=no", "-p", "no:cacheprovider", "-m", "not coq"]
    with TemporaryDirectory() as folder:
        executed = Path(folder) / "lines"
        environment = os.environ | {line_coverage.TRACED_FILE: str(project_files.ROOT / snippet), line_coverage.OUTPUT_FILE: str(executed)}
        command += ["-p", line_coverage.__name__, *existing]
        done = subprocess.run(command, cwd=project_files.ROOT, capture_output=True, text=True, env=environment)
        lines = set(json.loads(executed.read_text(encoding="utf-8"))) if executed.is_file() else set()
    if done.returncode == 0:
        return missing + [f"{snippet}:{line}: {message}" for line, message in line_coverage.find_unreached(topic, lines)]
    again = f"python -m pytest {' '.join(existing)}"
    return missing + (parse_failures(done.stdout, str(project_files.ROOT)) or [f"{existing[-1]}: its tests fail; run: {again}"])


def find_all_topic_test_errors(topic: str) -> list[str]:
    """Return the failures of the tests that run for every topic, such as those of public functions, for this topic."""
    existing = [path for path in ALL_TOPIC_TESTS if (project_files.ROOT / path).is_file()]
    if not existing:
        return []
    command = [sys.executable, "-m", "pytest", "--quiet", "--tb=line", "--color=no", "-p", "no:cacheprovider", "-k", topic, *existing]
    done = subprocess.run(command, cwd=project_files.ROOT, capture_output=True, text=True)
    if done.returncode == 0:
        return []
    again = f"run: python -m pytest {' '.join(existing)} -k {topic}"
    return [f"{failure}; {again}" for failure in parse_failures(done.stdout, str(project_files.ROOT))] or [
        f"the tests of all topics fail; {again}"
    ]


def find_style_errors(topic: str) -> list[str]:
    """Return what ruff reports about the topic's files. `make lint`, which takes longer, checks their types."""
    chapter, _, name = topic.partition("/")
    files = [f"derivations/{topic}.py", f"snippets/{topic}.py", f"tests/{chapter}/test_{name}.py", f"docs/figures/{topic}.py"]
    existing = [path for path in files if (project_files.ROOT / path).is_file()]
    if not existing:
        return []
    done = run_ruff("check", "--quiet", "--output-format", "concise", *existing)
    again = f"python -m ruff check --fix {' '.join(existing)}"
    errors = [f"{line}; correct it, or run: {again}" for line in (done.stdout + done.stderr).strip().splitlines()]
    # Status 2 means that the file cannot be parsed, which `ruff check` has reported.
    unformatted = [path for path in existing if run_ruff("format", "--check", "--quiet", path).returncode == 1]
    return errors + [f"{path}: not formatted; run: python -m ruff format {path}" for path in unformatted]


def run_ruff(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ruff in the project's root."""
    return subprocess.run([sys.executable, "-m", "ruff", *arguments], cwd=project_files.ROOT, capture_output=True, text=True)


def parse_failures(output: str, root: str = "") -> list[str]:
    """Return a message for each failure in pytest's output, with its file and line or, if there is no line, with the test's name."""
    lines = re.findall(rf"^{re.escape(root)}/(\S+\.py):(\d+): (.*)$", output, flags=re.M)
    named = re.findall(r"^(?:FAILED|ERROR) ((\S+?\.py)\S*)", output, flags=re.M)
    explained = {"DocTestFailure": "the output differs; python -m pytest with this file shows the expected and the actual output"}
    found = [f"{file}:{line}: the test fails: {explained.get(message, message)}" for file, line, message in lines]
    return found + [f"{name}: the test fails" for name, file in named if file not in {file for file, _, _ in lines}]
