"""Find lines of a snippet's sections that its tests do not run, with a pytest plugin that records the lines that run.

A page shows sections of snippets, and a line that no test runs could be wrong. Therefore `check --page` traces the tests in the snippet's
file and reports each line with code that did not run. Python traces whole lines, so an unused half of `a if b else c`, or an unused
statement after a colon on the same line, is not found.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from ..store import project_files

TRACED_FILE, OUTPUT_FILE = "LINES_OF", "LINES_TO"  # environment variables: the file to trace, and the file to write the line numbers to
_executed: set[int] = set()


def pytest_configure(config: Any) -> None:
    """Start tracing in this thread and in later ones, before any test is loaded."""
    traced = os.environ.get(TRACED_FILE, "")
    if traced:
        tracer = trace_file(traced)
        threading.settrace(tracer)
        sys.settrace(tracer)


def pytest_unconfigure(config: Any) -> None:
    """Stop tracing and write the numbers of the lines that ran."""
    if os.environ.get(OUTPUT_FILE):
        sys.settrace(None)
        threading.settrace(None)
        Path(os.environ[OUTPUT_FILE]).write_text(json.dumps(sorted(_executed)), encoding="utf-8")


def trace_file(path: str) -> Any:
    """Return a trace function that records the lines that run in the file."""

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        _executed.add(frame.f_lineno)
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != path:
            return None
        _executed.add(frame.f_lineno)
        return line

    return call


def find_unreached(topic: str, executed: set[int]) -> Iterator[tuple[int, str]]:
    """Yield the first line of each block of shown lines that the tests did not execute, with a message."""
    from ..site.included_regions import read_snippet

    snippet = read_snippet(project_files.ROOT, topic)
    lines = snippet.text.split("\n")
    shown = {line for region in snippet.regions.values() if not region.is_example for line in region.lines}
    try:
        left = sorted((snippet.executable_lines & shown) - executed)
    except SyntaxError:
        return  # syntax errors are reported elsewhere
    for line in left:
        if line - 1 not in left:
            last = next(number for number in range(line, len(lines) + 1) if number + 1 not in left)
            yield (
                line,
                f"a page shows {lines[line - 1].strip()!r}{f' and what follows, to line {last},' if last > line else ''} and no test or "
                "example of the topic runs it; test it, or remove it",
            )
