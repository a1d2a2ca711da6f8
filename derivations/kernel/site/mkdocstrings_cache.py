"""Record the side effects that mkdocstrings has while a page is rendered, and repeat them for a page that is not rendered again.

While it renders a page, mkdocstrings registers the anchor of each documented name with autorefs, for links, and adds the name to the
inventory of the site. A page from the cache is not rendered, so these registrations are stored with the page.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

KERNEL = "derivations.kernel"  # every page is assumed to depend on all files of this package
Told = dict[str, list]  # "read": names; "anchors": arguments of register_anchor after the page; "items": inventory entries


def is_known(told: Told) -> bool:
    """Return whether all names that mkdocstrings read for a page belong to the kernel. It does not report the files that it reads."""
    return all(name == KERNEL or name.startswith(f"{KERNEL}.") for name in told["read"])


@contextmanager
def noted(plugins: Any) -> Iterator[Told]:
    """Record what mkdocstrings reads and registers while a page is rendered.

    Meanwhile an empty inventory replaces the site's, so the entries of this page reach the site's inventory only by `tell`.
    """
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
    """Call `note` with the arguments of every call of the method `home.name`, before the method itself."""
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
    """Register the recorded anchors and inventory entries of a page.

    As in mkdocstrings, an alias (an entry whose priority is not 1) does not replace an entry of the same name.
    """
    for identifier, anchor, title, primary in told["anchors"]:
        plugins["autorefs"].register_anchor(page, identifier, anchor, title=title, primary=primary)
    for item in told["items"]:
        inventory = plugins["mkdocstrings"].handlers.inventory
        if item["priority"] == 1 or item["name"] not in inventory:
            inventory.register(**item)
