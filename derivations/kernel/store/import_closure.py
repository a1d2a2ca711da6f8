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
    """Return the project files that a file imports, also inside functions. `digest` is the hash of the file, so that changes are noticed.

    Files that only start a script or a command (cli.py, worker.py) are left out, since no verdict depends on them.
    """
    # `Snippet` is used instead of `parse`, which would cache the syntax trees of the whole kernel.
    origins = [imported.origin for imported in Snippet(project_files.relative(path), path.read_text(encoding="utf-8")).imports]
    modules = {origin.module for origin in origins} | {f"{origin.module}.{origin.name}" for origin in origins if origin.name}
    paths = {project_files.ROOT.joinpath(*module.split(".")).with_suffix(".py") for module in modules}
    return tuple(sorted(path for path in paths if path.name not in ("cli.py", "worker.py") and path.is_file()))
