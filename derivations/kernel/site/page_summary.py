"""What a page is about, in its own words: its heading, and the first sentence of its first paragraph."""

import re

from . import claim_export

_HEADING = re.compile(r"^# (.+?)(?:\s*\{[^}]*\})?\s*$", re.M)
_LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*\)(?:\{[^}]*\})?")
_MARKS = re.compile(r"(\*\*|\*|`|__)(?=\S)(.*?)(?<=\S)\1")
_END = re.compile(r"(?<![A-Z])(?<!e\.g)(?<!i\.e)[.?!][\"')\]]*(?=\s+[A-Z0-9\"(‘“]|$)")
_NO_TEXT = ("#", "/", "`", "|", "-", ">", "!", "{", ":", "    ")


def heading(markdown: str) -> str:
    """The title that a page gives itself; "" where it has none."""
    match = _HEADING.search(markdown)
    return match[1] if match else ""


def first_sentence(markdown: str) -> str:
    """The first sentence of the first paragraph, as plain text; "" where there is no paragraph."""
    paragraphs = (one for one in re.split(r"\n[ \t]*\n", markdown) if one.strip() and not one.startswith(_NO_TEXT))
    text = words(next(paragraphs, ""))
    end = _END.search(text)
    return text[: end.end()] if end else text


def words(markdown: str) -> str:
    """Markdown of one line or more as plain text."""
    said = _MARKS.sub(lambda match: match[2], _LINK.sub(lambda match: match[1], " ".join(markdown.split())))
    return claim_export.plain(said)
