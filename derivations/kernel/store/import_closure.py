"""Which of the project's files a file imports, and what is in them: what is kept of a result falls with any of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ..snippet_source import Snippet
from . import project_files


def hashes(files: Iterable[Path]) -> dict[str, str]:
    """By name, the files and all of the project's that they import, wherever in them they do so."""
    found: dict[str, str] = {}
    waiting = [path for path in files if path.exists()]
    while waiting:
        path = waiting.pop()
        if project_files.relative(path) not in found:
            found[project_files.relative(path)] = project_files.file_hash(path)
            waiting += imports(path, found[project_files.relative(path)])
    return dict(sorted(found.items()))


@cache
def imports(path: Path, digest: str) -> tuple[Path, ...]:
    """The project's files that a file imports. What starts a script or a command has no part in what a witness says."""
    # Not by `parse`, which would keep the syntax trees of the whole kernel.
    origins = [one.origin for one in Snippet(project_files.relative(path), path.read_text(encoding="utf-8")).imports]
    modules = {one.module for one in origins} | {f"{one.module}.{one.name}" for one in origins if one.name}
    names = {project_files.ROOT.joinpath(*module.split(".")).with_suffix(".py") for module in modules}
    return tuple(sorted(name for name in names if name.name not in ("cli.py", "worker.py") and name.is_file()))
