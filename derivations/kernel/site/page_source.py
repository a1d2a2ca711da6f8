"""The source of a page: its file, its lines, and the blocks on it, for errors that name the place of a mistake."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from click import ClickException


class PageError(ClickException):
    """A mistake on a page; the message is one line with the file, the line, what is wrong, and what to do.

    It is a ClickException because both generators are click programs, which print the message and stop without a traceback. `span` is
    the first and the last line of the mistake, in the text that the extension received; (0, 0) is the whole page.
    """

    def __init__(self, message: str, span: tuple[int, int] = (0, 0)):
        super().__init__(message)
        self.span = span

    def over(self, first: int, last: int) -> "PageError":
        """Set the span to the given lines, and return the error."""
        self.span = (first, last)
        return self


@dataclass(frozen=True)
class Opening:
    """The first line of a block, `/// name | argument`, and the number of the line that closes it."""

    line: int
    slashes: str
    name: str
    argument: str
    end: int = 0


RANKS = ("theorem", "claim", "routine")  # of a claim on a page: the page's result, a step towards it, or a known fact

_BLOCK = re.compile(r"^[ \t]*(/{3,})[ \t]*([\w-]*)[ \t]*(?:\|[ \t]*(.*?))?[ \t]*$")
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})(.*)$")


class Source:
    """The text of one page as the extension receives it, without its front matter."""

    def __init__(self, text: str, docs: Path, path: Path | None = None):
        self.text = text.rstrip("\n")
        self.docs = docs
        self.path = path
        self.lines = self.text.split("\n")

    def with_lines(self, lines: list[str]) -> "Source":
        """Return the same page with the same number of other lines, so that line numbers stay valid."""
        other = Source("\n".join(lines), self.docs, self.path)
        other.location = self.location
        return other

    @cached_property
    def location(self) -> tuple[Path | None, int]:
        """The page's file and the number of lines of its front matter; (None, 0) if no file contains this text.

        Generators do not tell an extension which page it processes, so this is the file in the docs folder that ends with this text and
        has only front matter before it.
        """
        if self.path:
            return self.path, 0
        wanted = self.text.rstrip()
        for path in sorted(path for path in self.docs.rglob("*.md") if path.is_file()):
            content = path.read_text(encoding="utf-8-sig", errors="replace").rstrip()
            if content.endswith(wanted):
                front = content[: len(content) - len(wanted)]
                if not front.strip() or front.startswith("---"):
                    return path, front.count("\n")
        return None, 0

    @property
    def path_in_docs(self) -> str:
        """The path of the page's file below the docs folder; "" if no file contains this text."""
        path, _ = self.location
        return path.relative_to(self.docs).as_posix() if path else ""

    def name(self) -> str:
        """Return the name of the page for errors."""
        return f"{self.docs.name}/{self.path_in_docs}" if self.path_in_docs else "a page"

    def error(self, line: int, message: str, last: int = 0) -> PageError:
        """Return an error about the lines `line` to `last`, counted from 1 in this text; line 0 is the whole page."""
        place = f"{self.name()}:{line + self.location[1]}" if line else self.name()
        return PageError(f"{place}: {message}", (line, max(line, last)))

    def line_of(self, *needles: str) -> int:
        """Return the line of the first needle that occurs outside fences; 0 if none does. Pass the most specific needle first."""
        prose = self._without_fences()
        for needle in needles:
            at = prose.find(needle)
            if needle and at >= 0:
                return prose.count("\n", 0, at) + 1
        return 0

    def openings(self) -> list[Opening]:
        """Return all blocks of the page, in order. Raise PageError if a block is not closed, or a closing line has no block."""
        openings: list[Opening] = []
        stack: list[int] = []  # the indices of open blocks
        for number, line in enumerate(self._without_fences().split("\n"), start=1):
            match = _BLOCK.match(line)
            if not match:
                continue
            slashes, name, argument = match[1], match[2], match[3] or ""
            if name:
                stack.append(len(openings))
                openings.append(Opening(number, slashes, name.lower(), argument))
            elif stack and openings[stack[-1]].slashes == slashes:
                at = stack.pop()
                closed = openings[at] = replace(openings[at], end=number)
                body = self.lines[closed.line : number - 1]
                if closed.name in (*RANKS, "derivation") and any(map(str.strip, body)):
                    message = f"a '{closed.name}' block contains no text; close it with '{slashes}' on the next line"
                    raise self.error(closed.line + 1, message).over(closed.line, number)
            else:
                raise self.error(number, f"'{slashes}' closes no block; delete it, or open a block above it")
        if stack:
            unclosed = openings[stack[-1]]
            raise self.error(unclosed.line, f"the '{unclosed.name}' block is not closed; close it with '{unclosed.slashes}'")
        return openings

    def fence_around(self, number: int) -> tuple[int, int] | None:
        """Return the first and the last line of the code fence around a line; None if there is none."""
        fences = self._fence_numbers()
        if not fences[number - 1]:
            return None
        first = last = number
        while first > 1 and fences[first - 2] == fences[number - 1]:
            first -= 1
        while last < len(fences) and fences[last] == fences[number - 1]:
            last += 1
        return first, last

    def _fence_numbers(self) -> list[int]:
        """Return for each line the number of the fence it belongs to, counted from 1; 0 outside fences."""
        numbers, marker, count = [], "", 0
        for line in self.lines:
            match = _FENCE.match(line)
            if marker:
                numbers.append(count)
                if match and match[1].startswith(marker) and not match[2].strip():
                    marker = ""
            elif match:
                marker, count = match[1], count + 1
                numbers.append(count)
            else:
                numbers.append(0)
        return numbers

    def _without_fences(self) -> str:
        """Return the text with the lines of code fences blanked, so that line numbers stay valid."""
        return "\n".join("" if fence else line for line, fence in zip(self.lines, self._fence_numbers()))
