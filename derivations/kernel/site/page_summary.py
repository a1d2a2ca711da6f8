"""The heading of a page, and the first sentence of its first paragraph, from its Markdown."""

import re

from . import claim_formats

_HEADING = re.compile(r"^# (.+?)(?:\s*\{[^}]*\})?\s*$", re.M)
_LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*\)(?:\{[^}]*\})?")
_MARKS = re.compile(r"(\*\*|\*|`|__)(?=\S)(.*?)(?<=\S)\1")
_END = re.compile(r"(?<![A-Z])(?<!e\.g)(?<!i\.e)[.?!][\"')\]]*(?=\s+[A-Z0-9\"(‘“]|$)")
_NO_TEXT = ("#", "/", "`", "|", "-", ">", "!", "{", ":", "    ")


def find_heading(markdown: str) -> str:
    """Return the heading of a page as Markdown; "" if it has none."""
    match = _HEADING.search(markdown)
    return match[1] if match else ""


def find_first_sentence(markdown: str) -> str:
    """Return the first sentence of the first paragraph, as plain text; "" if there is no paragraph."""
    paragraphs = (part for part in re.split(r"\n[ \t]*\n", markdown) if part.strip() and not part.startswith(_NO_TEXT))
    text = _plain_text(next(paragraphs, ""))
    end = _END.search(text)
    return text[: end.end()] if end else text


def _plain_text(markdown: str) -> str:
    """Return the text of Markdown without links, marks and LaTeX, on one line."""
    text = _MARKS.sub(lambda match: match[2], _LINK.sub(lambda match: match[1], " ".join(markdown.split())))
    return claim_formats.to_plain_text(text)
