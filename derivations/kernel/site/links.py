"""Relative links from one page to other pages, and to files in the docs folder."""

import posixpath
from dataclasses import dataclass
from pathlib import Path

from ..printing.mathml import render_text
from . import full_source, page_dependencies, page_summary
from .claim_html import ClaimError


@dataclass(frozen=True)
class PageLinks:
    """The links from the page at `path`, relative to `docs`; None for a page that shows no claim."""

    docs: Path
    path: str | None

    def to_page(self, path: str) -> str:
        """Return the link to another page or file, given by its path below `docs`."""
        return posixpath.relpath(path, posixpath.dirname(self.path or "") or ".")

    def to_file(self, name: str, text: str = "") -> str:
        """Return the link to a file in the docs folder. Raise ClaimError if `text` is given and is not the content of the file."""
        path = self.docs / name
        page_dependencies.note_files([path])
        if text and not (path.is_file() and path.read_text(encoding="utf-8") == text):
            command = "coq" if name.endswith(".v") else "check"
            raise ClaimError(f"{self.docs.name}/{name} is not the file that was checked; run 'python -m derivations {command}'")
        return self.to_page(name)

    def find_heading(self, path: str) -> str:
        """Return the title of another page, as HTML; "" if there is no such page, or it is this one."""
        if path == self.path or not (self.docs / path).is_file():
            return ""
        page_dependencies.note_files([self.docs / path])
        text = (self.docs / path).read_text(encoding="utf-8-sig", errors="replace")
        return render_text(page_summary.find_heading(text))

    def to_code(self, snippet: str) -> str:
        """Return the link to the file of a function on the page of its topic; "" if the topic has no page."""
        topic = "/".join(snippet.split(".")[1:-1])
        page = f"{topic}.md"
        if not (self.docs / page).is_file():
            return ""
        return f"{'' if page == self.path else self.to_page(page)}#{full_source.file_anchor(topic)}"
