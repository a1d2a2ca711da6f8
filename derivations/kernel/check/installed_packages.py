"""Find the installed packages that contain given modules.

Searching all packages is slow. Therefore the parent process does it once, while the fork server loads its libraries, and passes the result
on to its child processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import packages_distributions, version
from threading import Lock

SEARCH_LOCK = Lock()
PACKAGES: dict[str, list[str]] = {}


def packages_by_module() -> Mapping[str, list[str]]:
    """Return the packages that may contain each top-level module, by the module's name."""
    with SEARCH_LOCK:
        if not PACKAGES:
            set_packages(packages_distributions())
    return PACKAGES


def set_packages(found: Mapping[str, list[str]]) -> None:
    """Store the result of a search, for example of one by the parent process."""
    PACKAGES.update(found)


def versions(modules: Iterable[str]) -> dict[str, str]:
    """Return the version, by name, of each installed package that may contain one of these top-level modules."""
    names = {package for module in modules for package in packages_by_module().get(module, ())}
    return {name: version(name) for name in sorted(names)}
