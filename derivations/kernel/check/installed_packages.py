"""Find the installed packages that contain given modules.

Searching all packages is slow. Therefore the parent process does it once, while its child processes load their libraries, and passes the
result on to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import packages_distributions, version
from threading import Lock

ONE_AT_A_TIME = Lock()
KNOWN: dict[str, list[str]] = {}


def homes() -> Mapping[str, list[str]]:
    """Return the packages that may contain each top-level module, by the module's name."""
    with ONE_AT_A_TIME:
        if not KNOWN:
            know(packages_distributions())
    return KNOWN


def know(found: Mapping[str, list[str]]) -> None:
    """Store the result of a search, for example one of the parent process."""
    KNOWN.update(found)


def versions(modules: Iterable[str]) -> dict[str, str]:
    """Return the version, by name, of each installed package that may contain one of these top-level modules."""
    names = {home for module in modules for home in homes().get(module, ())}
    return {name: version(name) for name in sorted(names)}
