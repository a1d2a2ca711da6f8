"""Check the front matter of a page: it must be readable, and it may state no relation.

A generator removes front matter that it can read, and passes on the rest as text, which would become a heading. The title and the
description in front matter are shown to readers, so they follow the rules for prose.
"""

import re
from collections.abc import Iterator

import yaml

from ..printing.handwritten_relations import find_text_fault
from .page_source import PageError, Source

_FRONT = re.compile(r"-{3}[ \t]*\n(.*?\n)?(?:-{3}|\.{3})[ \t]*(?:\n|$)", re.DOTALL)


def check_front_matter(source: Source) -> None:
    """Raise PageError if the page begins with front matter: the generator would have removed it if it were valid."""
    match = _FRONT.match(source.text)
    if not match:
        return
    last = match[0].rstrip("\n").count("\n") + 1
    try:
        content = yaml.safe_load(match[1] or "")
        if not isinstance(content, dict):
            raise source.error(
                1, "the front matter is not a list of 'name: value' lines; write such lines, or begin with the heading", last
            )
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" ({getattr(error, 'problem', '')}, line {mark.line + 2})" if mark else ""
        raise source.error(1, f"the front matter is not YAML{place}; correct it, or begin with the heading", last) from None


def check_front_matter_text(source: Source) -> None:
    """Raise PageError if the front matter, which the generator has removed from the page, states a relation."""
    path, lines = source.location
    if not path or not lines:
        return
    match = _FRONT.match(path.read_text(encoding="utf-8-sig", errors="replace"))
    if not match:
        return
    try:
        content = yaml.load(match[1] or "", yaml.BaseLoader)
    except yaml.YAMLError:
        return  # a generator that can read it removes it; one that cannot leaves it to `check_front_matter`
    for text in _texts(content):
        if fault := find_text_fault(text):
            at = next((n for n, line in enumerate(match[1].split("\n"), start=2) if text.split("\n")[0] in line), 1)
            raise PageError(f"{source.name()}:{at}: the front matter says {text!r}, which {fault}; say it in words")


def blank_front_matter(source: Source) -> Source:
    """Return the page with empty lines in place of its front matter, so that line numbers stay valid."""
    match = _FRONT.match(source.text)
    lines = match[0].rstrip("\n").count("\n") + 1 if match else 0
    return source.with_lines([""] * lines + source.lines[lines:])


def _texts(content: object) -> Iterator[str]:
    """Yield all texts in a YAML document, including the names of entries."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for name, value in content.items():
            yield from (*_texts(name), *_texts(value))
    elif isinstance(content, list):
        for entry in content:
            yield from _texts(entry)
