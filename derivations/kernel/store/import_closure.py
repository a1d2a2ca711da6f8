"""Hash a file together with all project files that it imports, so that a stored result becomes invalid when one of them changes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ..snippet_source import Snippet
from . import project_files


def hashes(files: Iterable[Path]) -> dict[str, str]:
    """Return the hashes of these files and of all project files that they import, directly or indirectly, by path relative to the root."""
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
    """Return the project files that a file imports, in functions too. `digest` is the hash of the file, which makes the cache safe.

    Files that only start a script or a command (cli.py, worker.py) are left out, since no verdict depends on them.
    """
    # `parse` would cache the syntax trees of the whole kernel.
    origins = [one.origin for one in Snippet(project_files.relative(path), path.read_text(encoding="utf-8")).imports]
    modules = {one.module for one in origins} | {f"{one.module}.{one.name}" for one in origins if one.name}
    names = {project_files.ROOT.joinpath(*module.split(".")).with_suffix(".py") for module in modules}
    return tuple(sorted(name for name in names if name.name not in ("cli.py", "worker.py") and name.is_file()))
