"""Describe what a result depends on, and find what has changed since."""

from __future__ import annotations

import hashlib
import hmac
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version

from .project_files import ABSENT, file_state, name_of
from .store import secret

LIBRARIES = ("python", "sympy", "mpmath", "python-flint", "quicktions")  # every check depends on these


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of Python and the libraries on which every check depends."""
    return {name: installed_version(name) for name in LIBRARIES}


@cache
def installed_version(name: str) -> str:
    """Return the version of Python or of a library, or "" if the library is not installed."""
    try:
        return python_version() + " -O" * sys.flags.optimize if name == "python" else version(name)
    except PackageNotFoundError:
        return ""


def hash_variable(name: str, key: bytes) -> str:
    """Return a keyed hash of an environment variable's value, or ABSENT. The key prevents guessing the value from the hash."""
    value = os.environ.get(name)
    return ABSENT if value is None else hmac.new(key, f"{name}\0{value}".encode(errors="surrogateescape"), hashlib.sha256).hexdigest()


def describe_variable(name: str) -> str:
    """Return how messages name an environment variable."""
    return f"the environment variable {name}"


@dataclass
class Reads:
    """The files and environment variables that a check read, without the files of the checker."""

    files: dict[str, str] = field(default_factory=dict)  # by absolute path: the state of the file when it was read
    variables: list[str] = field(default_factory=list)  # names


@dataclass
class Dependencies:
    """The dependencies of a result, with the state of each."""

    inputs: dict[str, str] = field(default_factory=dict)  # hashes of files, or ABSENT, by path relative to the root
    variables: dict[str, str] = field(default_factory=dict)  # hashes of values, or ABSENT
    versions: dict[str, str] = field(default_factory=dict)  # of libraries

    @classmethod
    def of(cls, stored: dict) -> Dependencies:
        """Return the dependencies that a stored result contains."""
        return cls(stored["inputs"], stored["variables"], stored["versions"])

    @classmethod
    def now(cls, files: Iterable[str | Path], reads: Reads | None = None, libraries: dict[str, str] | None = None) -> Dependencies:
        """Return the dependencies on these files in their current state, on `reads` in their recorded state, and on these libraries."""
        reads = reads or Reads()
        inputs = {name_of(path): was for path, was in reads.files.items()} | {name_of(path): file_state(path) for path in files}
        return cls(inputs, {name: hash_variable(name, secret()) for name in reads.variables}, libraries or {})

    def stored(self) -> dict:
        """Return the dependencies as JSON values, for `of`."""
        return asdict(self)

    def merged(self, other: Dependencies) -> Dependencies:
        """Return the union of both. If both contain a dependency, take its state from `other`."""
        return Dependencies(self.inputs | other.inputs, self.variables | other.variables, self.versions | other.versions)

    def with_earlier(self, earlier: Dependencies) -> Dependencies:
        """Return these dependencies and those of an earlier check whose records are used again.

        Files of the earlier check are recorded in their current state.
        """
        now = Dependencies({name: file_state(name) for name in earlier.inputs}, earlier.variables, earlier.versions)
        return now.merged(self)

    def changes(self) -> list[str]:
        """Return the names of the files, variables and libraries that have changed, sorted."""
        found = [name for name, was in self.inputs.items() if file_state(name) != was]
        found += [describe_variable(name) for name, was in self.variables.items() if hash_variable(name, secret()) != was]
        found += [name for name, was in self.versions.items() if installed_version(name) != was]
        return sorted(found)
