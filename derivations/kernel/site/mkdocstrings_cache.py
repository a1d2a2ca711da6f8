"""Record the side effects that mkdocstrings has while a page is rendered, and repeat them for a page that is not rendered again.

While it renders a page, mkdocstrings registers the anchor of each documented name with autorefs, for links, and adds the name to the
inventory of the site. A page from the cache is not rendered, so these registrations are stored with the page.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

KERNEL = "derivations.kernel"  # every page is assumed to depend on all files of this package
# "read": names; "anchors": arguments of `register_anchor` after the page; "items": entries of the inventory
Registrations = dict[str, list[Any]]


def is_known(registrations: Registrations) -> bool:
    """Return whether all names that mkdocstrings read for a page belong to the kernel. It does not report the files that it reads."""
    return all(name == KERNEL or name.startswith(f"{KERNEL}.") for name in registrations["read"])


@contextmanager
def record_registrations(plugins: Any) -> Iterator[Registrations]:
    """Record what mkdocstrings reads and registers while a page is rendered.

    Meanwhile an empty inventory replaces the site's, so only `repeat_registrations` adds the entries of this page to the site's inventory.
    """
    registrations: Registrations = {"read": [], "anchors": [], "items": []}
    if "mkdocstrings" not in plugins:
        yield registrations
        return

    def record_anchor(page: Any, identifier: str, anchor: str | None = None, *, title: str | None = None, primary: bool = True) -> None:
        registrations["anchors"].append([identifier, anchor, title, primary])

    def record_name(identifier: str, options: Any) -> None:
        registrations["read"].append(identifier)

    handlers = plugins["mkdocstrings"].handlers
    inventory, handlers.inventory = handlers.inventory, type(handlers.inventory)()
    try:
        with ExitStack() as stack:
            stack.enter_context(call_before(plugins["autorefs"], "register_anchor", record_anchor))
            for handler in handlers.seen_handlers:
                stack.enter_context(call_before(handler, "collect", record_name))
            yield registrations
        registrations["items"] = [vars(item) for item in handlers.inventory.values()]
    finally:
        handlers.inventory = inventory


@contextmanager
def call_before(owner: Any, name: str, record: Callable[..., None]) -> Iterator[None]:
    """Inside the context, call `record` before every call of the method `owner.name`, with the same arguments."""
    method = getattr(owner, name)

    def record_and_call(*arguments: Any, **keywords: Any) -> Any:
        record(*arguments, **keywords)
        return method(*arguments, **keywords)

    setattr(owner, name, record_and_call)
    try:
        yield
    finally:
        delattr(owner, name)


def repeat_registrations(registrations: Registrations, page: Any, plugins: Any) -> None:
    """Register the recorded anchors and inventory entries of a page.

    As in mkdocstrings, an alias (an entry whose priority is not 1) does not replace an entry of the same name.
    """
    for identifier, anchor, title, primary in registrations["anchors"]:
        plugins["autorefs"].register_anchor(page, identifier, anchor, title=title, primary=primary)
    for item in registrations["items"]:
        inventory = plugins["mkdocstrings"].handlers.inventory
        if item["priority"] == 1 or item["name"] not in inventory:
            inventory.register(**item)
