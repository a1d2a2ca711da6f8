"""Where on a page something stands: its file, its lines, and the blocks written on it."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from click import ClickException


class PageError(ClickException):
    """A page that may not be built, as one line: file, line, what is wrong, what to do.

    A ClickException, since both generators are click programs: each prints the message and stops, without a traceback.
    `span` holds the first and the last line of what is wrong, counted in the text that the extension was given; (0, 0) where
    that is the page as a whole.
    """

    def __init__(self, message: str, span: tuple[int, int] = (0, 0)):
        super().__init__(message)
        self.span = span

    def over(self, first: int, last: int) -> "PageError":
        """The same, where more is wrong than the line that it names."""
        self.span = (first, last)
        return self


@dataclass(frozen=True)
class Opening:
    """The first line of a block: `/// name | argument`; and the line that closes it."""

    line: int
    slashes: str
    name: str
    argument: str
    end: int = 0


RANKS = ("theorem", "claim", "routine")  # what a claim is on a page: its result, a step towards it, or a thing known

_BLOCK = re.compile(r"^[ \t]*(/{3,})[ \t]*([\w-]*)[ \t]*(?:\|[ \t]*(.*?))?[ \t]*$")
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})(.*)$")


class Source:
    """The text of one page as the generator handed it over, that is, without its front matter."""

    def __init__(self, text: str, docs: Path, path: Path | None = None):
        self.text = text.rstrip("\n")
        self.docs = docs
        self.path = path
        self.lines = self.text.split("\n")

    def changed(self, lines: list[str]) -> "Source":
        """The same page with other lines, as many of them: what was left out of it keeps its place."""
        other = Source("\n".join(lines), self.docs, self.path)
        other.found = self.found
        return other

    @cached_property
    def found(self) -> tuple[Path | None, int]:
        """The page's file and how many lines of front matter it has; (None, 0) where no file holds this text.

        No generator tells an extension which page it works on, so the file is the one in the docs folder that ends
        in this text, with nothing but front matter before it.
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

    def file(self) -> tuple[Path | None, int]:
        """The page's file and how many lines of front matter it has."""
        return self.found

    def name(self) -> str:
        """The page as an error names it."""
        path, _ = self.found
        return "a page" if path is None else f"{self.docs.name}/{path.relative_to(self.docs).as_posix()}"

    def error(self, line: int, message: str, last: int = 0) -> PageError:
        """The error that stops the build; `line` counts from 1 in this text, and 0 stands for the whole page. What is wrong goes
        to the line `last`."""
        place = f"{self.name()}:{line + self.found[1]}" if line else self.name()
        return PageError(f"{place}: {message}", (line, max(line, last)))

    def line_of(self, *needles: str) -> int:
        """The line of the first needle found outside fences; the needles run from the longest to the shortest."""
        prose = self._without_fences()
        for needle in needles:
            at = prose.find(needle)
            if needle and at >= 0:
                return prose.count("\n", 0, at) + 1
        return 0

    def openings(self) -> list[Opening]:
        """Every block opened on the page, in order. Raises PageError where one is left open or closes nothing."""
        found, stack = [], []
        for number, line in enumerate(self._without_fences().split("\n"), start=1):
            match = _BLOCK.match(line)
            if not match:
                continue
            slashes, name, argument = match[1], match[2], match[3] or ""
            if name:
                stack.append(len(found))
                found.append(Opening(number, slashes, name.lower(), argument))
            elif stack and found[stack[-1]].slashes == slashes:
                at = stack.pop()
                closed = found[at] = replace(found[at], end=number)
                body = self.lines[closed.line : number - 1]
                if closed.name in (*RANKS, "derivation") and any(map(str.strip, body)):
                    message = f"a '{closed.name}' block holds no text; close it with '{slashes}'"
                    raise self.error(closed.line + 1, message).over(closed.line, number)
            else:
                raise self.error(number, f"'{slashes}' closes no block")
        if stack:
            left = found[stack[-1]]
            raise self.error(left.line, f"the '{left.name}' block is left open; close it with '{left.slashes}'")
        return found

    def fence_around(self, number: int) -> tuple[int, int] | None:
        """The first and the last line of the code fence that a line stands in, if it stands in one."""
        within = self._within_fences()
        if not within[number - 1]:
            return None
        first = last = number
        while first > 1 and within[first - 2] == within[number - 1]:
            first -= 1
        while last < len(within) and within[last] == within[number - 1]:
            last += 1
        return first, last

    def _within_fences(self) -> list[int]:
        """For each line which fence it belongs to, counted from 1; 0 is none."""
        found, fence, count = [], "", 0
        for line in self.lines:
            match = _FENCE.match(line)
            if fence:
                found.append(count)
                if match and match[1].startswith(fence) and not match[2].strip():
                    fence = ""
            elif match:
                fence, count = match[1], count + 1
                found.append(count)
            else:
                found.append(0)
        return found

    def _without_fences(self) -> str:
        """The text with the lines of code fences blanked, so that lines keep their numbers."""
        return "\n".join("" if fence else line for line, fence in zip(self.lines, self._within_fences()))
