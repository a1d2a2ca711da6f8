"""What the reference made from docstrings tells of itself beside its page: where each name stands, for links and for the inventory.

A page that is kept is not rendered, so that what was told is kept with it, and told again.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

NAMED = re.compile(r"^\W*::: ?(\S+)", re.M)  # what mkdocstrings is to show
KERNEL = "derivations.kernel"  # of all of whose files each page is taken to be made


def is_known(markdown: str, told: list[list]) -> bool:
    """Whether all that mkdocstrings reads for a page is known: it tells no file that it reads."""
    shown = [*NAMED.findall(markdown), *(named["name"] for name, _, named in told if name == "register")]
    return all(name == KERNEL or name.startswith(f"{KERNEL}.") for name in shown)


@contextmanager
def noted(plugins: Any) -> Iterator[list[list]]:
    """A list of what is told while a page is rendered: of whom it was asked, and with what."""
    told: list[list] = []
    if "mkdocstrings" not in plugins:
        yield told
        return
    homes = {"register_anchor": plugins["autorefs"], "register": plugins["mkdocstrings"].handlers.inventory}

    def noting(name: str, tell: Callable) -> Callable:
        def telling(*given: Any, **named: Any) -> None:
            told.append([name, [*given[name == "register_anchor" :]], named])  # of an anchor not the page
            tell(*given, **named)

        return telling

    for name, home in homes.items():
        setattr(home, name, noting(name, getattr(home, name)))
    try:
        yield told
    finally:
        for name, home in homes.items():
            delattr(home, name)


def tell(told: list, page: Any, plugins: Any) -> None:
    """Tell what was told of a page; where it was told already, nothing changes."""
    if not told:
        return
    handlers = plugins["mkdocstrings"].handlers
    handlers.get_handler("python")  # whose style sheet is written if somebody asked for it
    for name, given, named in told:
        if name == "register_anchor":
            plugins["autorefs"].register_anchor(page, *given, **named)
        else:
            handlers.inventory.register(*given, **named)
