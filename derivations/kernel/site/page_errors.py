"""Decide what happens after a mistake on a page: it stops the build, or a box on the page shows it while the site is served.

By default a mistake stops the build. Two functions change that: `show_errors`, which the hook of `mkdocs serve` calls (serve_hook.py), and
`collect_errors`, whose pages are thrown away (`check --page`). No setting in mkdocs.yml or in the environment does.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape

from .page_source import PageError

Report = Callable[[PageError], None]

_report: list[Report] = []  # at most one function, which receives mistakes; if there is none, a mistake stops the build


def show_errors(report: Report | None) -> None:
    """Show mistakes as boxes on pages from now on, and pass each to `report`; with None, let them stop the build again."""
    _report[:] = [report] if report else []


@contextmanager
def collect_errors() -> Iterator[list[PageError]]:
    """Collect all mistakes in a `with` block instead of stopping at the first. Pages rendered there are not for readers."""
    errors: list[PageError] = []
    before = _report[:]
    _report[:] = [errors.append]
    try:
        yield errors
    finally:
        _report[:] = before


def are_shown() -> bool:
    """Return whether mistakes are shown or collected, and do not stop the build."""
    return bool(_report)


def raise_or_report(error: PageError) -> None:
    """Raise the error, or report it and return if mistakes are shown."""
    if not _report:
        raise error
    _report[-1](error)


def render_box(message: str, head: str = "A page with this is not built") -> str:
    """Return a mistake as HTML that is valid anywhere in text; everything in it is escaped."""
    return (
        f'<span class="mistake" role="note"><span class="mistake__head">{escape(head)}</span>'
        f'<span class="mistake__message">{escape(message)}</span></span>'
    )
