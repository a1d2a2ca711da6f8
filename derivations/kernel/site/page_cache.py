"""What was made for a page, kept from one build to the next, sealed, with what it was made from (page_dependencies.py) and what that was like.

It is taken for as long as all of that is so, and all that any page may depend on. In each build some of it is made all the same. If one
comes out otherwise, then what is kept cannot be trusted, and nothing of it is.
"""

import hashlib
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..run import certificates
from . import PageError, incremental_build, page_dependencies

ONE_IN = 20  # of what is kept, about so much is made all the same


@dataclass
class Build:
    """What holds for one build."""

    around: str = ""
    digests: dict[str, str] = field(default_factory=dict)  # of what was noted, each looked at once
    state: incremental_build.State = field(default_factory=incremental_build.state_now)

    def digest(self, name: str) -> str:
        if name not in self.digests:
            self.digests[name] = hashlib.sha256(repr(self.state(name)).encode()).hexdigest()
        return self.digests[name]


_build = [Build()]


def begin(around: str) -> None:
    """A build begins; `around` is a digest of what any page may depend on, "" where that is not known: then nothing is kept."""
    _build[0] = Build(around)


def folder() -> Path:
    return certificates.STORE / "pages"


def kept(name: str, source: str, make: Callable[[], Any], may_be_kept: Callable[[Any], bool] = lambda made: True) -> Any:
    """What is made for a page from its source and from what is noted meanwhile: as it is kept, if it holds, or made now."""
    if not _build[0].around:  # nobody said what a build is made from
        return make()
    path = folder() / f"{name}.json"
    before = holding(path)
    if before is None:
        return made_now(path, source, make, may_be_kept)
    if random.randrange(ONE_IN):
        return before["made"]
    now = make()
    if now != before["made"]:
        shutil.rmtree(folder())
        raise PageError(
            f"docs/{name}: it was kept as something else than what it comes out as, though nothing that it is known to be made from "
            f"changed; all that was kept is removed, so build again"
        )
    return now


def holding(path: Path) -> dict[str, Any] | None:
    """What is kept there, if it holds."""
    if not path.is_file():
        return None
    try:
        before = certificates.read(path, "", "")
    except certificates.CertificateError:
        return None
    build = _build[0]
    holds = before["around"] == build.around and all(build.digest(name) == was for name, was in before["came_from"].items())
    return before if holds else None


def made_now(path: Path, source: str, make: Callable[[], Any], may_be_kept: Callable[[Any], bool]) -> Any:
    """It is kept unless something that it is made from may have changed meanwhile."""
    incremental_build.begin()
    try:
        now = make()
    finally:
        names = {*page_dependencies.end(), f"file:{source}"}
    if may_be_kept(now) and not any(map(incremental_build.later, names)):
        build = _build[0]
        certificates.write(path, {"around": build.around, "came_from": {name: build.digest(name) for name in names}, "made": now})
    return now
