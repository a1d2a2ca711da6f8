"""Record what a page depends on while it is rendered, so that builds know which pages a change affects.

A dependency is a string: "topic:chapter/topic" for a topic's certificate or its rejected claims, "file:PATH" for a file, "within:PATH" for
the files in a folder, "all" for all topics.
"""

from collections.abc import Iterable
from pathlib import Path

_recording: list[set[str]] = []  # the dependencies of the current page; empty outside `begin` and `end`


def begin() -> None:
    """Start recording the dependencies of a page."""
    _recording[:] = [set()]


def note(*names: str) -> None:
    """Record dependencies of the current page; do nothing if no page is being recorded."""
    for dependencies in _recording:
        dependencies.update(names)


def note_files(paths: Iterable[str | Path]) -> None:
    """Record that the current page depends on files."""
    note(*(f"file:{Path(path)}" for path in paths))


def end() -> set[str]:
    """Stop recording, and return the dependencies of the page."""
    found: set[str] = set().union(*_recording)
    _recording.clear()
    return found
