"""Reuse the result of rendering a page in later builds, as long as everything that it depends on (page_dependencies.py) is unchanged."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..store.store import Differs, Store, digest
from . import PageError, incremental_build, page_dependencies

STORE = Store("pages")


@dataclass
class Build:
    """The state of one build: a digest of what every page depends on, and the digests of the dependencies so far."""

    shared: str = ""
    digests: dict[str, str] = field(default_factory=dict)  # of dependencies, each computed once
    read_state: incremental_build.ReadState = field(default_factory=incremental_build.make_state_reader)

    def digest(self, name: str) -> str:
        """Return a digest of the current state of a dependency."""
        if name not in self.digests:
            self.digests[name] = digest(repr(self.read_state(name)))
        return self.digests[name]


_build = [Build()]


def begin_build(shared: str) -> None:
    """Begin a build. `shared` is a digest of what any page may depend on; if it is "", nothing is stored."""
    _build[0] = Build(shared)


def reuse(name: str, source: str, render: Callable[[], Any], may_be_stored: Callable[[Any], bool] = lambda result: True) -> Any:
    """Return the stored result for a page if its dependencies are unchanged; otherwise call `render` and store the result.

    `source` is the path of the page. `may_be_stored` can exclude a new result. Raise PageError if a recheck finds that a stored result
    differs from a new one.
    """
    build = _build[0]
    if not build.shared:
        return render()

    def compute() -> dict[str, Any]:
        incremental_build.begin_page()
        try:
            result = render()
        finally:
            names = {*page_dependencies.end(), f"file:{source}"}
        return {"depends": {"shared": build.shared, "digests": {name: build.digest(name) for name in names}}, "result": result}

    def holds(stored: dict[str, Any]) -> bool:
        depends = stored["depends"]
        return depends.get("shared") == build.shared and all(build.digest(name) == was for name, was in depends["digests"].items())

    def is_settled(new: dict[str, Any]) -> bool:
        # No dependency may have changed while the page was rendered.
        return may_be_stored(new["result"]) and not any(map(incremental_build.may_have_changed, new["depends"]["digests"]))

    try:
        return STORE.reuse(name, compute, holds, is_settled)["result"]
    except Differs as error:
        raise PageError(f"docs/{error}") from None
