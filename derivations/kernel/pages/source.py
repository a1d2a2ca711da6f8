"""Where on a page something stands: its file, its lines, and the blocks written on it."""

import re
from dataclasses import dataclass
from pathlib import Path

from click import ClickException


class PageError(ClickException):
    """A page that may not be built, as one line: file, line, what is wrong, what to do.

    A ClickException, since both generators are click programs: each prints the message and stops, without a traceback.
    """


@dataclass(frozen=True)
class Opening:
    """The first line of a block: `/// name | argument`."""

    line: int
    slashes: str
    name: str
    argument: str


_BLOCK = re.compile(r"^[ \t]*(/{3,})[ \t]*([\w-]*)[ \t]*(?:\|[ \t]*(.*?))?[ \t]*$")
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})(.*)$")


class Source:
    """The text of one page as the generator handed it over, that is, without its front matter."""

    def __init__(self, text: str, docs: Path, path: Path | None = None):
        self.text = text.rstrip("\n")
        self.docs = docs
        self.path = path
        self.lines = self.text.split("\n")

    def file(self) -> tuple[Path | None, int]:
        """The page's file and how many lines of front matter it has; (None, 0) where no file holds this text.

        No generator tells an extension which page it works on, so the file is the one in the docs folder that ends
        in this text, with nothing but front matter before it.
        """
        if self.path:
            return self.path, 0
        for path in sorted(self.docs.rglob("*.md")):
            content = path.read_text(encoding="utf-8-sig").rstrip()
            if content.endswith(self.text.rstrip()):
                front = content[: len(content) - len(self.text.rstrip())]
                if not front.strip() or front.startswith("---"):
                    return path, front.count("\n")
        return None, 0

    def error(self, line: int, message: str) -> PageError:
        """The error that stops the build; `line` counts from 1 in this text, and 0 stands for the whole page."""
        path, before = self.file()
        name = "a page" if path is None else f"{self.docs.name}/{path.relative_to(self.docs).as_posix()}"
        return PageError(f"{name}:{line + before}: {message}" if line else f"{name}: {message}")

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
                stack.append(Opening(number, slashes, name.lower(), argument))
                found.append(stack[-1])
            elif stack and stack[-1].slashes == slashes:
                closed = stack.pop()
                body = self.lines[closed.line : number - 1]
                if closed.name in ("claim", "derivation") and any(map(str.strip, body)):
                    raise self.error(closed.line + 1, f"a '{closed.name}' block holds no text; close it with '{slashes}'")
            else:
                raise self.error(number, f"'{slashes}' closes no block")
        if stack:
            left = stack[-1]
            raise self.error(left.line, f"the '{left.name}' block is left open; close it with '{left.slashes}'")
        return found

    def _without_fences(self) -> str:
        """The text with the lines of code fences blanked, so that lines keep their numbers."""
        kept, fence = [], ""
        for line in self.lines:
            match = _FENCE.match(line)
            if fence:
                if match and match[1].startswith(fence) and not match[2].strip():
                    fence = ""
                line = ""
            elif match:
                fence, line = match[1], ""
            kept.append(line)
        return "\n".join(kept)
