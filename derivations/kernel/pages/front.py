"""What stands before a page: front matter that the generator could not read is handed on as text, and must not become a heading."""

import re

import yaml

from .source import Source

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
