"""The fences of a page that include named regions of a snippet, and the files that hold them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..snippet_source import Library, Snippet, parse
from . import page_dependencies

FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)(?P=fence)[ \t]*$", re.M | re.S)
# The claim language's examples are one script, and tests/kernel/test_recipes.py checks its claims.
RECIPES = "tests/kernel/recipes"
INCLUDE = re.compile(rf'\s*--8<-- "(?:snippets/|(?={RECIPES}\.py))(?P<topic>[\w/]+)\.py:(?P<section>[\w-]+)"\s*')


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


def snippet_of(root: Path, topic: str) -> Snippet:
    """Return a topic's file of code; an empty one where there is no such file."""
    return parse(home(topic), text_of(root / home(topic)))


def library(root: Path) -> Library:
    """Return all snippets. What is read of them is noted as a page's dependency."""
    return Library(root, text_of)


def text_of(path: Path) -> str:
    page_dependencies.note_files([path])
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def line_at(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
