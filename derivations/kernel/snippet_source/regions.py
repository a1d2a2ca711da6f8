"""Find the named regions of a file, which pages include, and check the marks that delimit them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MARK = re.compile(r"(?P<comment># )?--8<-- \[(?P<type>start|end):(?P<name>[A-Za-z][A-Za-z0-9_-]*)\]")
# pymdownx.snippets accepts a mark anywhere in a line and in many forms, and leaves that line out.
MARK_LIKE = re.compile(r"-8<-")
DOCTEST_DIRECTIVE = re.compile(r"#\s*doctest\s*:", re.IGNORECASE)
_START = re.compile(r"^[# ]*--8<--[ \t]+\[start:[^\n]*\n", re.M)
_END = re.compile(r"\n*\n[# ]*--8<--[ \t]+\[end:[^\n]*")

Fault = tuple[int, str]  # a line, and a message


@dataclass(frozen=True)
class Region:
    """A named part of a file that pages can include."""

    name: str
    first: int  # its first line in the file, counted from 1
    body: str

    @property
    def is_example(self) -> bool:
        return ">>>" in self.body

    @property
    def lines(self) -> range:
        return range(self.first, self.first + self.body.count("\n"))


def find_regions(text: str) -> dict[str, Region]:
    """Return the regions of a file by name. Regions whose marks are incomplete or out of order are left out."""
    lines = text.split("\n")
    found: dict[str, Region] = {}
    opened: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        mark = MARK.fullmatch(line)
        if mark and mark["type"] == "start":
            opened.setdefault(mark["name"], number)
        elif mark and mark["name"] in opened and mark["name"] not in found:
            first = opened[mark["name"]] + 1
            found[mark["name"]] = Region(mark["name"], first, "".join(f"{one}\n" for one in lines[first - 1 : number - 1]))
    return found


def remove_marks(text: str) -> str:
    """Return a file's text without the marks of its regions."""
    return _START.sub("", _END.sub("", text))


def malformed_marks(text: str, comment_lines: set[int], docstring_lines: range) -> Iterator[Fault]:
    """Yield faults for marks that share a line with other text or are in the wrong place, and for doctest directives."""
    for number, line in enumerate(text.split("\n"), start=1):
        mark = MARK.fullmatch(line)
        if not mark and MARK_LIKE.search(line):
            yield (
                number,
                f"{line.strip()!r} holds a mark, so a page leaves the line out, or shows another; a mark is '# --8<-- [start:NAME]' or "
                "'# --8<-- [end:NAME]', alone on its line, and without '# ' in a docstring",
            )
        elif mark and mark["comment"] and number not in comment_lines:
            yield number, f"{line!r} is no comment, so what is shown would not be run; in a docstring write it without '# '"
        elif mark and not mark["comment"] and number not in docstring_lines:
            yield number, f"{line!r} stands in code; write '# ' before it"
        if DOCTEST_DIRECTIVE.search(line):
            yield number, "a directive of doctest, by which an example need not give what is shown; write one that gives it"


def unpaired_marks(text: str) -> Iterator[Fault]:
    """Yield faults for marks that overlap, repeat a name, or have no counterpart."""
    first: dict[str, int] = {}
    opened = None
    for number, line in enumerate(text.split("\n"), start=1):
        mark = MARK.fullmatch(line)
        if mark and mark["type"] == "start":
            if mark["name"] in first:
                yield number, f"{mark['name']!r} begins on line {first[mark['name']]} already; give each section a name of its own"
            if opened:
                yield number, f"{mark['name']!r} begins within {opened!r}, which shows it too; close that one before"
            first.setdefault(mark["name"], number)
            opened = mark["name"]
        elif mark:
            if mark["name"] != opened:
                yield number, f"{mark['name']!r} is not open here; a section ends once, after it begins"
            opened = None
    if opened:
        yield first[opened], f"{opened!r} is left open; end it with '--8<-- [end:{opened}]'"
