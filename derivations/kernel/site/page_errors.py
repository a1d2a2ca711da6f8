"""What a mistake does to a page: it stops the build, or, while the page is served to its author, it stands in its place as a box.

Strict is how this begins, and nothing in the environment or in mkdocs.yml changes that: only `shown()`, which the hook of
`mkdocs serve` enters (serve_hook.py), and `collected()`, whose pages are thrown away (`check --page`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape

from .page_source import PageError

Tell = Callable[[PageError], None]

_tell: list[Tell] = []  # who hears of a mistake instead of having the build stopped; nobody, and it stops


def shown(tell: Tell | None) -> None:
    """From now on mistakes are boxes on pages, each also told to `tell`; None makes them stop the build again."""
    _tell[:] = [tell] if tell else []


@contextmanager
def collected() -> Iterator[list[PageError]]:
    """All mistakes that are met inside, none of which stops anything. What is rendered meanwhile is for nobody to read."""
    found: list[PageError] = []
    before = _tell[:]
    _tell[:] = [found.append]
    try:
        yield found
    finally:
        _tell[:] = before


def are_shown() -> bool:
    return bool(_tell)


def tolerate(error: PageError) -> None:
    """Raise the error; or, where mistakes are shown, tell of it and go on."""
    if not _tell:
        raise error
    _tell[-1](error)


def box(message: str, head: str = "A page with this is not built") -> str:
    """A mistake as HTML that may stand anywhere text may; everything in it is escaped."""
    return (
        f'<span class="mistake" role="note"><span class="mistake__head">{escape(head)}</span>'
        f'<span class="mistake__message">{escape(message)}</span></span>'
    )
