"""Find the fences of a page that include a named region of a snippet, and read the files that they include."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..snippet_source import Library, Snippet, parse
from . import page_dependencies

FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)(?P=fence)[ \t]*$", re.M | re.S)
# The claim language's examples are one script, and tests/kernel/language/test_recipes.py checks its claims.
RECIPES = "tests/kernel/language/recipes"
INCLUDE = re.compile(rf'\s*--8<-- "(?:snippets/|(?={RECIPES}\.py))(?P<topic>[\w/]+)\.py:(?P<section>[\w-]+)"\s*')


@dataclass(frozen=True)
class RegionInclude:
    """A fence whose only content is the include of one region."""

    first: int  # the lines of its opening and closing marks on the page, counted from 1
    last: int
    indent: str
    topic: str
    section: str


def find_includes(page: str) -> Iterator[RegionInclude]:
    """Yield the fences of a page that include one region, in page order."""
    for fence in FENCE.finditer(page):
        include = INCLUDE.fullmatch(fence["body"])
        if include:
            first = line_number(page, fence.start())
            yield RegionInclude(first, first + fence[0].count("\n"), fence["indent"], include["topic"], include["section"])


def code_path(topic: str) -> str:
    """Return the path of a topic's code below the project's root: its snippet, or the examples of the claim language."""
    return f"{topic}.py" if topic == RECIPES else f"snippets/{topic}.py"


def read_snippet(root: Path, topic: str) -> Snippet:
    """Return a topic's code; an empty snippet if there is no such file."""
    return parse(code_path(topic), read_text(root / code_path(topic)))


def snippet_library(root: Path) -> Library:
    """Return the library of all snippets. Each file that it reads is noted as a dependency of the page."""
    return Library(root, read_text)


def read_text(path: Path) -> str:
    """Return the text of a file, "" if there is none, and note the file as a dependency of the page."""
    page_dependencies.note_files([path])
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def line_number(text: str, position: int) -> int:
    """Return the line, counted from 1, of a position in a text."""
    return text.count("\n", 0, position) + 1
