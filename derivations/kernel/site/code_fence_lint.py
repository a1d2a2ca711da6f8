"""Check the fences of a page: code must be an include from a file that runs; commands and plain text must not state relations or results.

Fences of commands and of plain text are typed by hand, so they follow the rules for prose.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import suggest_names
from ..printing.handwritten_relations import find_code_fault, find_text_fault
from .findings import Fault
from .included_regions import FENCE, INCLUDE, code_path, line_number, read_snippet
from .page_source import Source

TYPED_BY_HAND = ("console", "text")  # the languages of fences that need no include
OTHER_CODE_MARKUP = re.compile(r"<pre|<code|^[ \t]*;*-+8<-+|~~~|```", re.M | re.I)
BLOCK = re.compile(r"[ \t]*/{3,}(?: [a-z]+(?: \| [\w/#:.-]+)?)?[ \t]*")  # the marks of a block, as on a page about writing pages
COMMAND = re.compile(r"\$ [A-Za-z.~/_][\w.~/-]*(?: .*)?")  # a program by its name or path, and its arguments
PRINTING_COMMAND = re.compile(r"\$ (?:echo|printf)\b|\$ .* -c\b")
_NUMBER = r"[-+]?\.?\d[\d.eE+-]*"
# A call and its value, or only values.
RESULT = re.compile(rf".*\w\(.*\)\W*{_NUMBER}.*|[\s\d.,eE+\[\]()-]*\d[\s\d.,eE+\[\]()-]*|\s*tensor\(.*")
COLUMNS = re.compile(r"(?=.*[\d\[\](){}]).*\S(?: {2,}|\t\s*)\S.*")  # one of them has a number or a bracket
DRAWN_LINE = re.compile(r"(?<![^\W_])_+(?![^\W_])")  # two such lines look like an equals sign

FenceFault = tuple[int, int, str]  # first line, last line, and a message


def reject_fence_faults(source: Source, root: Path) -> None:
    """Raise PageError if a fence of the page has a fault."""
    for first, last, message in find_fence_faults(source.text, root):
        raise source.error(first, message).over(first, last)


def find_fence_faults(text: str, root: Path) -> Iterator[FenceFault]:
    """Yield the faults of the fences of a page, and of other markup that would show code without a fence.

    Faults are code that is not an include, includes of regions that do not exist, and relations or results in text and commands."""
    for fence in FENCE.finditer(text):
        language = re.split(r"[\s{]", fence["info"].strip())[0]
        first = line_number(text, fence.start())
        last = first + fence[0].count("\n")
        if language in TYPED_BY_HAND:
            yield from ((line, line, message) for line, message in find_typed_text_faults(fence["body"], language, first + 1))
        elif message := find_include_fault(root, fence["body"], language):
            yield first, last, message
    rest = FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), text)
    for tag in OTHER_CODE_MARKUP.finditer(rest):
        line = line_number(rest, tag.start())
        yield line, line, f"{tag[0]} is typed by hand; show code in a fence that includes a section"


def find_typed_text_faults(body: str, language: str, first: int) -> Iterator[Fault]:
    """Yield (line, message) for each faulty line in a fence of commands or of text: one that states a relation or shows a result.

    `first` is the page's line number of the first line of the body."""
    continued = False  # whether the last line ended in a backslash
    for line, words in enumerate(body.split("\n"), start=first):
        if language == "console":
            fault = find_command_fault(words.strip(), continued)
            continued = words.rstrip().endswith("\\")
        else:
            fault = "" if BLOCK.fullmatch(words) else find_plain_text_fault(words)
        if not fault and (drawn := DRAWN_LINE.search(words)) and not BLOCK.fullmatch(words):
            fault = f"draws a line ({drawn[0]})"
        if fault:
            yield line, f"{words.strip()!r} {fault}, and no test runs it; show a claim, include the line from a file, or say it in words"


def find_command_fault(words: str, continued: bool) -> str:
    """Return what is wrong with a line of a console, or "". `continued` says whether it continues the line before."""
    if words and not continued and not COMMAND.fullmatch(words):
        return "is not a command; begin each line of a console with '$ ' and a program, and show output by an example in a pycon fence"
    if PRINTING_COMMAND.match(words):
        return "prints text that is typed here instead of a result; leave it out"
    return find_code_fault(words.removeprefix("$ "))


def find_plain_text_fault(words: str) -> str:
    """Return what is wrong with a line of plain text, or ""."""
    if words.strip() and RESULT.fullmatch(words.strip()):
        return "looks like a result"
    return "looks like a row of results" if COLUMNS.fullmatch(words.strip()) else find_text_fault(words)


def find_include_fault(root: Path, body: str, language: str) -> str:
    """Return what is wrong with a fence of code, or ""."""
    include = INCLUDE.fullmatch(body)
    regions = read_snippet(root, include["topic"]).regions if include else {}
    section = regions.get(include["section"]) if include else None
    if include and section is None and regions:
        return (
            f"{code_path(include['topic'])} has no section {include['section']!r}; {suggest_names(include['section'], regions, 'it has')}"
        )
    if section is None:
        wanted = "expected an include of a section of snippets/"
        return f'{wanted} (a line --8<-- "snippets/CHAPTER/TOPIC.py:SECTION"), found {body.strip()[:40]!r}'
    expected = "pycon" if section.is_example else "python"
    if language != expected:
        kind = "output" if expected == "pycon" else "code"
        return f"a section of {kind} in a {language!r} fence; open it with ```{expected}"
    return ""
