"""Reuse the result of rendering a page in later builds, as long as everything that it depends on (page_dependencies.py) is unchanged."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..store.store import Differs, Store, digest
from . import PageError, incremental_build, page_dependencies

STORE = Store("pages")


@dataclass
class Build:
    """The state of one build: a digest of what every page depends on, and the digests of the dependencies seen so far."""

    around: str = ""
    digests: dict[str, str] = field(default_factory=dict)  # of dependencies, each computed once
    state: incremental_build.State = field(default_factory=incremental_build.state_now)

    def digest(self, name: str) -> str:
        """Return a digest of the current state of a dependency."""
        if name not in self.digests:
            self.digests[name] = digest(repr(self.state(name)))
        return self.digests[name]


_build = [Build()]


def begin(around: str) -> None:
    """Begin a build. `around` is a digest of what any page may depend on; if it is "", nothing is stored."""
    _build[0] = Build(around)


def reuse(name: str, source: str, make: Callable[[], Any], may_be_stored: Callable[[Any], bool] = lambda made: True) -> Any:
    """Return the stored result for a page if its dependencies are unchanged; otherwise call `make` and store the result.

    `may_be_stored` can exclude a new result. Raise PageError if a recheck finds that a stored result differs from a new one.
    """
    build = _build[0]
    if not build.around:
        return make()

    def compute() -> dict[str, Any]:
        incremental_build.begin()
        try:
            made = make()
        finally:
            names = {*page_dependencies.end(), f"file:{source}"}
        return {"depends": {"around": build.around, "came_from": {one: build.digest(one) for one in names}}, "made": made}

    def holds(stored: dict[str, Any]) -> bool:
        was = stored["depends"]
        return was["around"] == build.around and all(build.digest(one) == digest_ for one, digest_ in was["came_from"].items())

    def is_settled(made: dict[str, Any]) -> bool:  # no dependency may have changed during the render
        return may_be_stored(made["made"]) and not any(map(incremental_build.later, made["depends"]["came_from"]))

    try:
        return STORE.reuse(name, compute, holds, is_settled)["made"]
    except Differs as error:
        raise PageError(f"docs/{error}") from None
