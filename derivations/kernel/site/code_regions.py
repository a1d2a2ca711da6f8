"""The named regions of a file of code, and the fences of a page that include them."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from doctest import DocTestParser
from functools import lru_cache
from pathlib import Path

from . import page_dependencies

FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)(?P=fence)[ \t]*$", re.M | re.S)
# The claim language's examples are one script, and tests/kernel/test_recipes.py checks its claims.
RECIPES = "tests/kernel/recipes"
INCLUDE = re.compile(rf'\s*--8<-- "(?:snippets/|(?={RECIPES}\.py))(?P<topic>[\w/]+)\.py:(?P<section>[\w-]+)"\s*')
# What includes a section takes a mark anywhere in a line, in many forms, and leaves the line out; so lines with anything like one are marks.
ALIKE = re.compile(r"-8<-")
MARK = re.compile(r"(?P<comment># )?--8<-- \[(?P<type>start|end):(?P<name>[A-Za-z][A-Za-z0-9_-]*)\]")
DIRECTIVE = re.compile(r"#\s*doctest\s*:", re.IGNORECASE)


@dataclass(frozen=True)
class Section:
    """Some lines of a file, as a page includes them."""

    name: str
    first: int  # its first line in the file, counted from 1
    body: str

    @property
    def example(self) -> bool:
        return ">>>" in self.body

    @property
    def lines(self) -> range:
        return range(self.first, self.first + self.body.count("\n"))


@dataclass(frozen=True)
class Included:
    """A fence that includes one region, and nothing else."""

    first: int  # the lines of the fence on the page, counted from 1
    last: int
    indent: str
    topic: str
    section: str


def included(page: str) -> Iterator[Included]:
    """The regions that a page includes, in the order in which they stand there."""
    for fence in FENCE.finditer(page):
        include = INCLUDE.fullmatch(fence["body"])
        if include:
            first = line_at(page, fence.start())
            yield Included(first, first + fence[0].count("\n"), fence["indent"], include["topic"], include["section"])


def home(topic: str) -> str:
    """The file of a topic's code: its snippet, or the examples of the claim language."""
    return f"{topic}.py" if topic == RECIPES else f"snippets/{topic}.py"


def sections_of(root: Path, topic: str) -> dict[str, str]:
    """The named sections of a topic's snippet, and their text."""
    return {name: section.body for name, section in sections(text_of(root / home(topic))).items()}


@lru_cache(maxsize=256)
def sections(text: str) -> dict[str, Section]:
    """The named sections of a file, where `mismarked` says nothing of it; else those whose marks are in order."""
    lines, found, opened = text.split("\n"), {}, {}
    for number, line in enumerate(lines, start=1):
        mark = MARK.fullmatch(line)
        if mark and mark["type"] == "start":
            opened.setdefault(mark["name"], number)
        elif mark and mark["name"] in opened and mark["name"] not in found:
            first = opened[mark["name"]] + 1
            found[mark["name"]] = Section(mark["name"], first, "".join(f"{one}\n" for one in lines[first - 1 : number - 1]))
    return found


@lru_cache(maxsize=256)
def mismarked(text: str) -> list[tuple[int, str]]:
    """Lines by which a page would show something else than what stands in the file and is run: marks that are not alone on their line, or
    in another; examples that are not run, or not compared. Each with what is wrong; nothing of a file that is no Python."""
    try:
        tree = ast.parse(text)
        comments = {one.start[0] for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type == tokenize.COMMENT}
    except (SyntaxError, tokenize.TokenError):
        return []  # that is said of its own
    documented = ast.get_docstring(tree, clean=False) or ""
    docstring = range(tree.body[0].lineno, tree.body[0].end_lineno + 1) if documented else range(0)
    wrong = [*misformed(text, comments, docstring), *disordered(text)]
    for section in sections(text).values():
        said = misread(section, documented) if section.first in docstring else "'>>>' in code; an example stands in the module's docstring"
        if said and (section.first in docstring or section.example):
            wrong.append((section.first - 1, f"{section.name!r}: {said}"))
    return sorted(wrong)


def misformed(text: str, comments: set[int], docstring: range) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        mark = MARK.fullmatch(line)
        if not mark and ALIKE.search(line):
            yield (
                number,
                f"{line.strip()!r} holds a mark, so a page leaves the line out, or shows another; a mark is '# --8<-- [start:NAME]' or "
                "'# --8<-- [end:NAME]', alone on its line, and without '# ' in a docstring",
            )
        elif mark and mark["comment"] and number not in comments:
            yield number, f"{line!r} is no comment, so what is shown would not be run; in a docstring write it without '# '"
        elif mark and not mark["comment"] and number not in docstring:
            yield number, f"{line!r} stands in code; write '# ' before it"
        if DIRECTIVE.search(line):
            yield number, "a directive of doctest, by which an example need not give what is shown; write one that gives it"


def disordered(text: str) -> Iterator[tuple[int, str]]:
    first, opened = {}, None
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


def misread(section: Section, docstring: str) -> str:
    """What of a section of examples is neither typed nor compared with what is given; "" where nothing is."""
    if section.body not in docstring:
        return "this section reads otherwise where it is run; write it without '\\\\'"
    try:
        words = "".join(one for one in DocTestParser().parse(section.body) if isinstance(one, str)).strip()
    except ValueError:
        return ""  # that is said of its own
    return f"{words.splitlines()[0]!r} is neither typed nor what is given, so nothing compares it; write it on the page" if words else ""


def text_of(path: Path) -> str:
    page_dependencies.note_files([path])
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def line_at(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
