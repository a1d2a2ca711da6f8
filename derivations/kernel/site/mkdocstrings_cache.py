"""What the reference made from docstrings does beside its page: what it reads, and where each name stands, for links and the inventory.

A page that is kept is not rendered, so that this is kept with it, and told again.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

KERNEL = "derivations.kernel"  # of all of whose files each page is taken to be made
Told = dict[str, list]  # "read": names; "anchors": what autorefs is told but for the page; "items": those of the inventory


def is_known(told: Told) -> bool:
    """Whether all that mkdocstrings read for a page is known: it tells no file that it reads."""
    return all(name == KERNEL or name.startswith(f"{KERNEL}.") for name in told["read"])


@contextmanager
def noted(plugins: Any) -> Iterator[Told]:
    """What is told while a page is rendered, as if it were the only one; the inventory has it once it is told (`tell`)."""
    told: Told = {"read": [], "anchors": [], "items": []}
    if "mkdocstrings" not in plugins:
        yield told
        return

    def anchor(page: Any, identifier: str, anchor: str | None = None, *, title: str | None = None, primary: bool = True) -> None:
        told["anchors"].append([identifier, anchor, title, primary])

    handlers = plugins["mkdocstrings"].handlers
    inventory, handlers.inventory = handlers.inventory, type(handlers.inventory)()
    try:
        with ExitStack() as watched:
            watched.enter_context(noting(plugins["autorefs"], "register_anchor", anchor))
            for handler in handlers.seen_handlers:
                watched.enter_context(noting(handler, "collect", lambda identifier, options: told["read"].append(identifier)))
            yield told
        told["items"] = [vars(item) for item in handlers.inventory.values()]
    finally:
        handlers.inventory = inventory


@contextmanager
def noting(home: Any, name: str, note: Callable) -> Iterator[None]:
    """Have each call of a method be noted."""
    own = getattr(home, name)

    def noting_first(*given: Any, **named: Any) -> Any:
        note(*given, **named)
        return own(*given, **named)

    setattr(home, name, noting_first)
    try:
        yield
    finally:
        delattr(home, name)


def tell(told: Told, page: Any, plugins: Any) -> None:
    """Tell where the names of a page stand. As mkdocstrings has it, another name of what is shown yields to what has that name already."""
    for identifier, anchor, title, primary in told["anchors"]:
        plugins["autorefs"].register_anchor(page, identifier, anchor, title=title, primary=primary)
    for item in told["items"]:
        inventory = plugins["mkdocstrings"].handlers.inventory
        if item["priority"] == 1 or item["name"] not in inventory:
            inventory.register(**item)
