"""Name and hash the project's files, and list the files of the kernel that a check loads."""

from __future__ import annotations

import hashlib
import math
import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ABSENT = "absent"
TIMESTAMP_MARGIN = 10**9  # in ns; at least twice the resolution of any file system's timestamps
# A process that checks a script loads none of these files and rooms.
UNLOADED_CHECK_FILES = (
    "dask_cluster",
    "snippet_mutation",
    "coq_run",
    "coq_open_claims",
    "fuzz_run",
    "mutation_run",
    "process_pool",
    "sympy_program_files",
    "proving_witnesses",
    "affected_topics",
)
UNLOADED_STORE_FILES = (
    "coq_verdict_cache",
    "coq_results",
    "complete_run_counts",
    "fuzz_results",
    "import_closure",
    "mutant_results",
    "rejections",
)
UNLOADED = (
    "attack",
    "browser",
    "command",
    "coq",
    "site",
    *(f"check/{name}.py" for name in UNLOADED_CHECK_FILES),
    *(f"store/{name}.py" for name in UNLOADED_STORE_FILES),
)


def relative(path: Path) -> str:
    """Return a path relative to the root, with slashes. Raise ValueError if it lies outside."""
    return path.relative_to(ROOT).as_posix()


def name_of(path: str | Path) -> str:
    """Return a path relative to the root if it lies below the root, otherwise the path itself."""
    return relative(Path(path)) if Path(path).is_relative_to(ROOT) else Path(path).as_posix()


# Contents ------------------------------------------------------------------------------------------------------------------------


@cache
def _hash_of(path: str, modified: int, size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's content. Raise OSError if it cannot be read."""
    stat = path.stat()
    return _hash_of(str(path), stat.st_mtime_ns, stat.st_size)


def file_state(name: str | Path) -> str:
    """Return the SHA-256 of a file's content, or ABSENT if it cannot be read. The name is absolute or relative to the root."""
    path = Path(ROOT, name)
    try:
        return file_hash(path) if path.is_file() else ABSENT
    except OSError:
        return ABSENT


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, unless it already has this content. The site ignores the name of the incomplete file."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)


# The kernel ------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KernelFiles:
    """A list of the kernel's files, and the modification times that show whether it is out of date."""

    folders: dict[str, float]  # modification times
    files: list[Path]
    checker_files: list[Path]  # files that a check of a script loads


def kernel_folder() -> Path:
    """Return the folder of the kernel."""
    return ROOT / "derivations" / "kernel"


def kernel_files() -> list[Path]:
    """Return all source files of the kernel, sorted."""
    return list(list_kernel().files)


def checker_files() -> list[Path]:
    """Return the source files of the kernel that a check of a script loads."""
    return list(list_kernel().checker_files)


def list_kernel() -> KernelFiles:
    """Return the list of the kernel's files, from the cache if no folder has changed."""
    home = kernel_folder()
    if (known := _kernel_files.get(home)) and all(folder_stamp(folder) == was for folder, was in known.folders.items()):
        return known
    walked = list(os.walk(home))
    folders = {folder: folder_stamp(folder) for folder, _, _ in walked}
    files = sorted(Path(folder, name) for folder, _, names in walked for name in names if name.endswith((".py", ".v")))
    _kernel_files[home] = KernelFiles(folders, files, [path for path in files if not is_unloaded(path.relative_to(home))])
    return _kernel_files[home]


_kernel_files: dict[Path, KernelFiles] = {}


def folder_stamp(folder: str) -> float:
    """Return the modification time of a folder in ns, or NaN if it is so recent that another change could have the same time."""
    try:
        modified = os.stat(folder).st_mtime_ns
    except OSError:
        return math.nan
    return modified if time.time_ns() - modified > TIMESTAMP_MARGIN else math.nan


def room_of(path: Path) -> str:
    """Return the folder of a kernel file relative to the kernel; "" for a file directly in the kernel's folder."""
    return "/".join(path.parts[len(kernel_folder().parts) : -1])


def is_unloaded(path: Path) -> bool:
    """Return whether no check of a script loads a file. The path is relative to the kernel."""
    return path.parts[0] in UNLOADED or path.as_posix() in UNLOADED
