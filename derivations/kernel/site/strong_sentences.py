"""Find strong sentences without a basis: in introductions, in boxes "In practice" and in the glossary.

A sentence is strong if it says never, every, only, always, best, fastest or because, contains a number, or says something about models. Its
basis is a link in the same sentence: to a claim, a measurement, a test or a source. If a sentence cannot have a link, docs/reviewed_sentences.toml
lists it with its basis, and a reviewer has read it.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from .findings import Fault
from .page_source import Opening, Source

REVIEWED = "reviewed_sentences.toml"  # in docs/
GLOSSARY = "glossary.md"
GUIDES = "contributing/"  # rules for authors are not statements about attention

_STRONG = re.compile(r"\b(never|every|only|always|best|fastest|because|none|models)\b|(?<![\w-])\d[\d.,]*(?: ?%)?", re.IGNORECASE)
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\([^)\s]*\)")
_NOTATION = re.compile(r"(?<!\\)\$[^$\n]+\$|`[^`\n]+`")
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!et al)(?<!\b\d)[.?!][\"”’)]*\s+(?=[A-Z\[*\"“‘$`(])")
_LINKED = "\ue010"  # marks a link in a sentence


def find_strong_sentences(source: Source) -> Iterator[tuple[int, str, str]]:
    """Yield (line, sentence, strong word) for each strong sentence without a link in the parts of a page that must have a basis."""
    for line, paragraph in _find_checked_paragraphs(source):
        # A definition of the glossary ends with a link to the page that supports it.
        whole = source.path_in_docs == GLOSSARY
        for sentence in [paragraph] if whole else _SENTENCE_END.split(paragraph):
            plain = _LINK.sub(lambda match: match["text"] + _LINKED, sentence)
            strong = _STRONG.search(_NOTATION.sub("", plain))
            if strong and _LINKED not in plain:
                yield line, " ".join(sentence.split()), strong[0]


def find_faults(source: Source, reviewed: list[dict]) -> Iterator[Fault]:
    """Yield a fault for each strong sentence that has neither a link nor an entry in `reviewed`, and for each entry that no sentence needs."""
    known = {entry["text"] for entry in reviewed if entry["page"] == source.path_in_docs}
    found = set()
    for line, sentence, word in find_strong_sentences(source):
        found.add(sentence)
        if sentence not in known:
            yield (
                line,
                f"{sentence!r} says {word!r} without a basis; link to the claim, test or source that shows it, or say less",
            )
    for text in sorted(known - found):
        yield 1, f"docs/{REVIEWED} lists a sentence that is not on this page, or needs no review: {text!r}; delete the entry"


def read_reviewed(root: Path) -> list[dict]:
    """Return the reviewed sentences: dictionaries with the page, the text and the basis."""
    path = root / "docs" / REVIEWED
    return tomllib.loads(path.read_text(encoding="utf-8")).get("sentence", []) if path.is_file() else []


def _find_checked_paragraphs(source: Source) -> Iterator[tuple[int, str]]:
    """Yield (line, text) for each paragraph of the introduction, of practice boxes and of the glossary, outside other blocks and fences."""
    if source.path_in_docs.startswith(GUIDES):
        return
    openings = source.openings()
    heading = next((n for n, line in enumerate(source.lines, start=1) if line.startswith("# ")), 0)
    section = next((n for n, line in enumerate(source.lines, start=1) if n > heading and line.startswith("## ")), len(source.lines) + 1)
    last = len(source.lines) + 1 if source.path_in_docs == GLOSSARY else section
    checked = [(heading + 1, last), *((one.line + 1, one.end) for one in openings if one.name == "practice")]
    for first, end in checked:
        yield from _split_paragraphs(source, first, end, [one for one in openings if first <= one.line < end])


def _split_paragraphs(source: Source, first: int, end: int, blocks: list[Opening]) -> Iterator[tuple[int, str]]:
    """Yield (line, text) for each paragraph in the lines from `first` up to `end`, without the lines of the given blocks."""
    paragraph: list[str] = []
    for number in range(first, end + 1):
        line = source.lines[number - 1] if number < end else ""
        in_block = any(block.line <= number <= block.end for block in blocks)
        is_text = bool(line.strip()) and not in_block and not source.fence_around(number) and not line.startswith(("#", "|"))
        if is_text:
            paragraph.append(line.removeprefix(":").strip())
        elif paragraph:
            yield number - len(paragraph), "\n".join(paragraph)
            paragraph = []
