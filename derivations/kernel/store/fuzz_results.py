"""Store the counts of fuzzing under a digest of everything that they depend on."""

from __future__ import annotations

from . import dependencies, project_files
from .import_closure import hashes
from .store import Store, digest

STORE = Store("fuzz", by_digest=True)
ROOMS = ("attack", "exact", "sympy", "pytorch")


def depends_on() -> str:
    """Return a digest of everything that the counts depend on."""
    files = [
        path for path in project_files.kernel_files() if path.suffix == ".py" and project_files.room_of(path).partition("/")[0] in ROOMS
    ]
    versions = dependencies.library_versions() | {name: dependencies.installed_version(name) for name in ("torch", "numpy")}
    return digest(versions, hashes(files))


def get() -> dict | None:
    """Return the counts for the current kernel, or None if there are none."""
    return STORE.get(depends_on())


def put(result: dict) -> None:
    """Store counts, unless counts of more claims are stored already."""
    before = get()
    if before is None or before["claims"] <= result["claims"]:
        STORE.put(result["depends_on"], result)
