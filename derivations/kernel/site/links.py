"""The ways from one page to the others, and to the files that stand beside the pages."""

import posixpath
from dataclasses import dataclass
from pathlib import Path

from ..printing.mathml import prose
from . import full_source, page_dependencies, page_summary
from .claim_html import ClaimError


@dataclass(frozen=True)
class Ways:
    """The ways from the page at `path`, which is written as it stands below `docs`; None for a page that shows no claim."""

    docs: Path
    path: str | None

    def to(self, path: str) -> str:
        """The way to another page, or to a file beside the pages."""
        return posixpath.relpath(path, posixpath.dirname(self.path or "") or ".")

    def file(self, name: str, text: str = "") -> str:
        """The way to a file beside the pages, which has to hold the text."""
        path = self.docs / name
        page_dependencies.note_files([path])
        if text and not (path.is_file() and path.read_text(encoding="utf-8") == text):
            command = "coq" if name.endswith(".v") else "check"
            raise ClaimError(f"{self.docs.name}/{name} is not what was checked; run 'python -m derivations {command}'")
        return self.to(name)

    def heading(self, path: str) -> str:
        """The title of another page, as HTML; "" where there is no such page."""
        if path == self.path or not (self.docs / path).is_file():
            return ""
        page_dependencies.note_files([self.docs / path])
        text = (self.docs / path).read_text(encoding="utf-8-sig", errors="replace")
        return prose(page_summary.heading(text))

    def code(self, snippet: str) -> str:
        """The address of the whole file that holds a function, on the page of its topic; "" where no page has its name."""
        topic = "/".join(snippet.split(".")[1:-1])
        page = f"{topic}.md"
        if not (self.docs / page).is_file():
            return ""
        return f"{'' if page == self.path else self.to(page)}#{full_source.anchor(topic)}"
