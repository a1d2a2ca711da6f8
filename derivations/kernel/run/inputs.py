"""What a check may read beside the checker, as it is now: files, folders and variables, each by a hash or by what it is instead; and
what a file is like, where that was asked.

A certificate keeps what these were like when the check read them, and holds for as long as they are like that.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from functools import cache
from importlib.machinery import all_suffixes
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG, filemode

ABSENT, FOLDER, OTHER = "absent", "a folder", "neither file nor folder"
ALL = "*"  # for the name of a variable: the environment as a whole
UNLISTED = "__pycache__"  # comes and goes with every import


@cache
def _hash_of(path: str, modified: int, size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def file_hash(path: Path) -> str:
    stat = path.stat()
    return _hash_of(str(path), stat.st_mtime_ns, stat.st_size)


def state(path: str) -> str:
    """A file's hash, or what is there instead; who may not look finds nothing."""
    try:
        stat = os.stat(path)
        if S_ISREG(stat.st_mode):
            return _hash_of(path, stat.st_mtime_ns, stat.st_size)
    except (OSError, ValueError):
        return ABSENT
    return FOLDER if S_ISDIR(stat.st_mode) else OTHER


def look(path: str) -> str:
    """What a file is like without its content: its type, its permissions and how long it is; of a link where it leads, and what is there."""
    try:
        found = os.lstat(path)
        said = like(found)
        return f"{said} to {os.readlink(path)}: {like_behind(path)}" if S_ISLNK(found.st_mode) else said
    except (OSError, ValueError):
        return ABSENT


def like_behind(path: str) -> str:
    try:
        return like(os.stat(path))
    except OSError:
        return ABSENT


def like(found: os.stat_result) -> str:
    return filemode(found.st_mode) + (f" {found.st_size}" if S_ISREG(found.st_mode) else "")


def listing(path: str) -> str:
    """A hash of the names in a folder and of which of them are folders, and which are links."""
    try:
        with os.scandir(path) as entries:
            names = sorted(entry.name + "/" * entry.is_dir() + "@" * entry.is_symlink() for entry in entries if entry.name != UNLISTED)
    except OSError:
        return ABSENT
    return hashlib.sha256("\0".join(names).encode(errors="surrogateescape")).hexdigest()


def modules(folder: str, names: list[str]) -> dict[str, list[str]]:
    """By name, what Python would find in the folder if a module of that name were imported."""
    try:
        there = set(os.listdir(folder))
    except OSError:
        there = set()
    return {name: [found for end in ("", *all_suffixes()) if (found := name + end) in there] for name in names}


def variable(name: str, key: bytes) -> str:
    """A hash of a variable's value, which tells nobody who has not the key what the value is; ALL stands for all of them."""
    value = repr(sorted(os.environ.items())) if name == ALL else os.environ.get(name)
    return ABSENT if value is None else hmac.new(key, f"{name}\0{value}".encode(errors="surrogateescape"), hashlib.sha256).hexdigest()
