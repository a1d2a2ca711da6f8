"""What stands before a page: front matter that the generator could not read is handed on as text, and must not become a heading; and
the title and whatever else it says is text of the page, which states no relation."""

import re
from collections.abc import Iterator

import yaml

from ..printing.relation_signs import fault_of_text
from .page_source import PageError, Source

_FRONT = re.compile(r"-{3}[ \t]*\n(.*?\n)?(?:-{3}|\.{3})[ \t]*(?:\n|$)", re.DOTALL)


def refuse_front_matter(source: Source) -> None:
    """Raise PageError where the page begins with front matter: had it been in order, it would not have come this far."""
    match = _FRONT.match(source.text)
    if not match:
        return
    last = match[0].rstrip("\n").count("\n") + 1
    try:
        read = yaml.safe_load(match[1] or "")
        if not isinstance(read, dict):
            raise source.error(1, "the front matter is no list of 'name: value' lines; write those, or begin with the heading", last)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = f" ({error.problem}, line {mark.line + 2})" if mark else ""
        raise source.error(1, f"the front matter is no YAML{said}; mend it, or begin with the heading", last) from None


def refuse_stated(source: Source) -> None:
    """Raise PageError where the front matter, which the generator has taken off the page, states a relation."""
    path, lines = source.file()
    if not path or not lines:
        return
    match = _FRONT.match(path.read_text(encoding="utf-8-sig", errors="replace"))
    try:
        read = yaml.load(match[1] or "", yaml.BaseLoader) if match else None
    except yaml.YAMLError:
        return  # a generator that can read it takes it off; one that cannot leaves it to `refuse_front_matter`
    for text in texts(read):
        if fault := fault_of_text(text):
            at = next((n for n, line in enumerate(match[1].split("\n"), start=2) if text.split("\n")[0] in line), 1)
            raise PageError(f"{source.name()}:{at}: the front matter says {text!r}, which {fault}; say it in words")


def texts(read: object) -> Iterator[str]:
    """All that is written in what was read from YAML, names of entries too."""
    if isinstance(read, str):
        yield read
    elif isinstance(read, dict):
        for name, value in read.items():
            yield from (*texts(name), *texts(value))
    elif isinstance(read, list):
        for one in read:
            yield from texts(one)
