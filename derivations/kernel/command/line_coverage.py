"""Which lines of a snippet's sections its tests run: a pytest plugin that takes them down, and what is left.

A page shows sections. A line of one that no test runs could say anything. So the tests that `check --page` runs are watched, line by
line, in the one file; whatever compiles to something and is not reached is a finding. Python tells of lines: of `a if b else c`, or of
what follows a colon on the same line, one half may be dead and is not found.
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

OF, TO = "LINES_OF", "LINES_TO"  # variables: the file that is watched, and the one that its lines are written to
_run: set[int] = set()


def pytest_configure(config: Any) -> None:
    """Begin, in this thread and in those that come, before any test is loaded."""
    watched = os.environ.get(OF, "")
    if watched:
        tracer = tracing(watched)
        threading.settrace(tracer)
        sys.settrace(tracer)


def pytest_unconfigure(config: Any) -> None:
    if os.environ.get(TO):
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        Path(os.environ[TO]).write_text(json.dumps(sorted(_run)), encoding="utf-8")


def tracing(watched: str) -> Any:
    """What Python tells of each function that is called; of those of the file also of each line."""

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        _run.add(frame.f_lineno)
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != watched:
            return None
        _run.add(frame.f_lineno)
        return line

    return call


def unreached(topic: str, run: set[int]) -> Iterator[tuple[int, str]]:
    """The lines of the sections of a topic's code that were not run, those that follow one another told of once."""
    from ..site.code_regions import snippet_of

    snippet = snippet_of(project_files.ROOT, topic)
    lines = snippet.text.split("\n")
    shown = {line for region in snippet.regions.values() if not region.is_example for line in region.lines}
    try:
        left = sorted((snippet.executable_lines & shown) - run)
    except SyntaxError:
        return  # that is said of its own
    for line in left:
        if line - 1 not in left:
            last = next(one for one in range(line, len(lines) + 1) if one + 1 not in left)
            yield (
                line,
                f"a page shows {lines[line - 1].strip()!r}{f' and what follows, to line {last},' if last > line else ''} and no test or "
                "example of the topic runs it; test it, or take it away",
            )
