"""The files and environment variables that a check read, and hashes of what they are now."""

from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ABSENT = "absent"


@dataclass
class Reads:
    """What a check read beside the checker: files by absolute path, with their state when they were read, and names of variables."""

    files: dict[str, str] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)


@cache
def _hash_of(path: str, modified: int, size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's content; OSError if it cannot be read."""
    stat = path.stat()
    return _hash_of(str(path), stat.st_mtime_ns, stat.st_size)


def state(path: str) -> str:
    """Return the SHA-256 of a file's content, or ABSENT where there is no file that can be read."""
    try:
        return file_hash(Path(path)) if os.path.isfile(path) else ABSENT
    except OSError:
        return ABSENT


def variable(name: str, key: bytes) -> str:
    """Return a hash of a variable's value, or ABSENT. Without the key, the hash does not reveal the value."""
    value = os.environ.get(name)
    return ABSENT if value is None else hmac.new(key, f"{name}\0{value}".encode(errors="surrogateescape"), hashlib.sha256).hexdigest()
