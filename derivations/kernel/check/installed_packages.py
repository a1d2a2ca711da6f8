"""The installed packages that modules are a part of.

All packages are looked through once, by the process that waits while others load what they check with; it hands on what it found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import packages_distributions, version
from threading import Lock

ONE_AT_A_TIME = Lock()
KNOWN: dict[str, list[str]] = {}


def homes() -> Mapping[str, list[str]]:
    """The packages that each module may be a part of."""
    with ONE_AT_A_TIME:
        if not KNOWN:
            know(packages_distributions())
    return KNOWN


def know(found: Mapping[str, list[str]]) -> None:
    """Take it from who looked."""
    KNOWN.update(found)


def versions(modules: Iterable[str]) -> dict[str, str]:
    """Version by name of every installed package that one of these modules is a part of, as who asks would import it."""
    names = {home for module in modules for home in homes().get(module, ())}
    return {name: version(name) for name in sorted(names)}
