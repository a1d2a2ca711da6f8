"""Fences of a page: code comes from a file that runs, and what a reader types in a terminal, or reads as plain text, is read as prose is."""

import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import nearest
from ..printing.relation_signs import fault_of_code, fault_of_text
from .code_regions import FENCE, INCLUDE, home, line_at, snippet_of
from .page_source import Source

BY_HAND = ("console", "text")  # what is no code of ours
AROUND = re.compile(r"<pre|<code|^[ \t]*;*-+8<-+|~~~|```", re.M | re.I)
BLOCK = re.compile(r"[ \t]*/{3,}(?: [a-z]+(?: \| [\w/#:.-]+)?)?[ \t]*")  # a block of a page, shown as it is written
COMMAND = re.compile(r"\$ [A-Za-z.~/_][\w.~/-]*(?: .*)?")  # a program by its name or its path, and what it is given
TELLS = re.compile(r"\$ (?:echo|printf)\b|\$ .* -c\b")
_NUMBER = r"[-+]?\.?\d[\d.eE+-]*"
# A call and its value, or values alone
RESULT = re.compile(rf".*\w\(.*\)\W*{_NUMBER}.*|[\s\d.,eE+\[\]()-]*\d[\s\d.,eE+\[\]()-]*|\s*tensor\(.*")
COLUMNS = re.compile(r"(?=.*[\d\[\](){}]).*\S(?: {2,}|\t\s*)\S.*")  # with a number or a bracket in one of them
DRAWN = re.compile(r"(?<![^\W_])_+(?![^\W_])")  # a line, of which two are a sign of equality

Wrong = tuple[int, int, str]  # the first line, the last one, and what is wrong


def refuse_by_hand(source: Source, root: Path) -> None:
    """Raise PageError at code that no file holds, and at text in a fence that states a relation."""
    for first, last, said in by_hand(source.text, root):
        raise source.error(first, said).over(first, last)


def by_hand(text: str, root: Path) -> Iterator[Wrong]:
    """Fences that are no include, includes of nothing, relations in fences of text, and markup that would be a way around a fence."""
    for fence in FENCE.finditer(text):
        language = re.split(r"[\s{]", fence["info"].strip())[0]
        first = line_at(text, fence.start())
        last = first + fence[0].count("\n")
        if language in BY_HAND:
            yield from ((line, line, said) for line, said in of_words(fence["body"], language, first + 1))
        elif said := of_code(root, fence["body"], language):
            yield first, last, said
    rest = FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), text)
    for tag in AROUND.finditer(rest):
        line = line_at(rest, tag.start())
        yield line, line, f"{tag[0]} by hand; show code in a fence with an include of a section"


def of_words(body: str, language: str, first: int) -> Iterator[tuple[int, str]]:
    """The lines of a fence of text that state a relation, or show a result: a console holds commands, and text holds words, or a block as
    it is written."""
    continued = False
    for line, words in enumerate(body.split("\n"), start=first):
        if language == "console":
            fault = of_console(words.strip(), continued)
            continued = words.rstrip().endswith("\\")
        else:
            fault = "" if BLOCK.fullmatch(words) else of_plain(words)
        if not fault and (drawn := DRAWN.search(words)) and not BLOCK.fullmatch(words):
            fault = f"draws a line ({drawn[0]})"
        if fault:
            yield line, f"{words.strip()!r} {fault}, and no test runs it; show a claim, include the line of a file, or say it in words"


def of_console(words: str, continued: bool) -> str:
    """What is wrong with a line that a reader types; '' where nothing is."""
    if words and not continued and not COMMAND.fullmatch(words):
        return "is no command in a console: one begins with '$ ' and a program; what it prints is shown by an example in a pycon fence"
    if TELLS.match(words):
        return "is a command that prints what it is told, and not what is so; leave it out"
    return fault_of_code(words.removeprefix("$ "))


def of_plain(words: str) -> str:
    """What is wrong with a line of plain text; '' where nothing is."""
    if words.strip() and RESULT.fullmatch(words.strip()):
        return "looks like a result"
    return "looks like a row of results" if COLUMNS.fullmatch(words.strip()) else fault_of_text(words)


def of_code(root: Path, body: str, language: str) -> str:
    """What is wrong with a fence of code; "" where nothing is."""
    include = INCLUDE.fullmatch(body)
    there = snippet_of(root, include["topic"]).regions if include else {}
    section = there.get(include["section"]) if include else None
    if include and section is None and there:
        return f"{home(include['topic'])} has no section {include['section']!r}; {nearest(include['section'], there, 'it has')}"
    if section is None:
        wanted = "expected an include of a section of snippets/"
        return f'{wanted} (a line --8<-- "snippets/CHAPTER/TOPIC.py:SECTION"), found {body.strip()[:40]!r}'
    right = "pycon" if section.is_example else "python"
    if language != right:
        kind = "output" if right == "pycon" else "code"
        return f"a section of {kind} in a {language!r} fence; open it with ```{right}"
    return ""
