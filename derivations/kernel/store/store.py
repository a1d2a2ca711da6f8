"""Store results for reuse: of checks, proofs, mutants, fuzzing, pages, figures, notebooks and the search index.

A result is a JSON object. Its key is either a digest of everything that it depends on, or a name such as that of a topic. In the second
case the result contains its dependencies, and the function that reads it compares them. Files are written atomically, with a seal over the kind, the key and the content.
A file that was damaged, edited, moved, or written in another checkout or format counts as missing. The seal catches mistakes, not
malice: anyone who can write to the store can forge a seal. To verify stored results, compute them again: run
`python -m derivations check --fresh`, or `--replay N` for a sample.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import KernelError

FORMAT = 1  # increase it when the content of any kind of result changes: results in another format count as missing
FOLDER = Path(__file__).resolve().parents[3] / ".certificates"


class StoreError(KernelError):
    """A stored result must not be used. The message says why."""

    code = "unusable-result"


class Missing(StoreError):
    """There is no result with this key."""

    code = "missing-result"


class Differs(KernelError):
    """A result that was computed again differs from the stored one, although its dependencies are unchanged."""

    code = "different-result"


class InvalidFolder(KernelError):
    """An address cannot be used as a folder. The message says why."""

    code = "not-a-folder"


def digest(*parts: Any) -> str:
    """Return the SHA-256 of JSON values in hexadecimal."""
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def secret() -> bytes:
    """Return the random key that seals the results of this checkout. It is generated on first use."""
    path = FOLDER / "key"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        fresh = FOLDER / f"key.{secrets.token_hex()}"
        fresh.write_text(secrets.token_hex())
        fresh.chmod(0o600)
        with contextlib.suppress(FileExistsError):  # another process was faster: use its key
            os.link(fresh, path)
        fresh.unlink()
    return path.read_bytes()


# Folders -----------------------------------------------------------------------------------------------------------------------


class Folder:
    """A folder at an address that fsspec supports: a local path, or an object store. The constructor may raise InvalidFolder."""

    def __init__(self, address: str):
        import fsspec  # takes 40 ms, and processes that check scripts do not need it

        try:
            self.files, self.root = fsspec.core.url_to_fs(address)
        except Exception as error:  # the type of error depends on the file system
            raise InvalidFolder(f"{address} is not a folder that can be shared: {error}") from None
        self.is_local = "file" in self.files.protocol
        self.address = address
        self.faults: dict[str, str] = {}  # why reading or writing failed, by "read" or "write"

    def read(self, name: str) -> bytes:
        """Return the content of a file. Raise FileNotFoundError, or another error of the file system."""
        return self.files.cat_file(f"{self.root}/{name}")

    def write(self, name: str, data: bytes) -> None:
        """Write a file atomically. Object stores do so by themselves; a local file is renamed when it is complete."""
        path = f"{self.root}/{name}"
        self.files.makedirs(path.rpartition("/")[0], exist_ok=True)
        if not self.is_local:
            self.files.pipe_file(path, data)
            return
        partial = f"{path}.{os.getpid()}.{secrets.token_hex(4)}.partial"
        self.files.pipe_file(partial, data)
        os.replace(partial, path)

    def attempt(self, operation: str, run: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of `run`, or None if the file is missing or `run` fails. After a failure, do not try this operation again.

        The operation is "read" or "write".
        """
        if operation in self.faults:
            return None
        try:
            return run(*arguments)
        except FileNotFoundError:
            return None
        except Exception as error:  # the type of error depends on the file system; continue without the folder
            self.faults[operation] = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:160]}"
            return None


@cache
def folder_at(address: str) -> Folder:
    """Return the folder at an address. Raise InvalidFolder if the address is invalid."""
    return Folder(address)


# Sealed files --------------------------------------------------------------------------------------------------------------------


def seal_result(name: str, value: dict, key: bytes) -> bytes:
    """Return the content of the file for a result: a line with the seal, then JSON."""
    body = json.dumps(value, sort_keys=True).encode()
    return compute_seal(name, body, key) + b"\n" + body


def compute_seal(name: str, body: bytes, key: bytes) -> bytes:
    """Return a keyed hash of the format, the name and the content of a file."""
    return hmac.new(key, f"{FORMAT} {name}\n".encode() + body, sha256).hexdigest().encode()


def open_sealed(name: str, data: bytes, key: bytes) -> dict:
    """Return the result in a file's content. Raise StoreError if the seal does not match."""
    found, _, body = data.partition(b"\n")
    if not hmac.compare_digest(found, compute_seal(name, body, key)):
        raise StoreError("was damaged, edited, moved, or written in another checkout or format")
    return json.loads(body)


# Settings of a command -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recheck:
    """A sample of stored results that are computed again although nothing changed: one result in `one_in`, or none if that is 0.

    The same seed always picks the same results, so that a difference can be reproduced. The default seed is the date.
    """

    one_in: int = 0
    seed: str = field(default_factory=lambda: time.strftime("%Y-%m-%d"))

    def picks(self, name: str) -> bool:
        """Return whether the result with this name is in the sample."""
        return bool(self.one_in) and int(digest(self.seed, name), 16) % self.one_in == 0

    def difference(self, name: str) -> str:
        """Return the message for a result that differs from the stored one."""
        return (
            f"{name}: differs from its stored result, although nothing that it depends on changed (recheck of 1 in {self.one_in}, seed "
            f"{self.seed}); the stored results of this kind were deleted: run the command again, and look for what the result depends on"
        )


@dataclass
class Settings:
    """The settings of every store in this process."""

    shared: Folder | None = None  # a folder that several people share
    recheck: Recheck = field(default_factory=Recheck)


settings = Settings(recheck=Recheck(int(os.environ.get("REPLAY") or 0)))  # for builds of the site; other commands have options


# The store -----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Store:
    """The stored results of one kind. If their keys are digests, the shared folder is used too, if there is one."""

    kind: str
    by_digest: bool = False
    max_results: int = 10_000  # the number of results that `prune` keeps

    def path(self, key: str) -> Path:
        """Return the path of a result on this machine."""
        return FOLDER / self.kind / key

    def get(self, key: str) -> dict | None:
        """Return the result with this key from this machine or from the shared folder, or None if neither has a valid one."""
        try:
            value = self.require(key)
        except StoreError:
            return self._shared(key)
        if self.by_digest:
            with contextlib.suppress(OSError):
                os.utime(self.path(key))  # `prune` keeps the most recently used results
        return value

    def require(self, key: str) -> dict:
        """Return the result with this key from this machine. Raise Missing if there is none, or StoreError if it is invalid."""
        try:
            data = folder_at(str(FOLDER)).read(f"{self.kind}/{key}")
        except FileNotFoundError:
            raise Missing("is missing") from None
        except OSError as error:
            raise StoreError(f"cannot be read ({type(error).__name__})", code="unusable-result") from None
        return open_sealed(f"{self.kind}/{key}", data, secret())

    def _shared(self, key: str) -> dict | None:
        name, folder = f"{self.kind}/{key}", settings.shared
        data = folder.attempt("read", folder.read, name) if folder and self.by_digest else None
        if data is None:
            return None
        try:
            value = open_sealed(name, data, b"")
        except StoreError:
            return None
        self._write(key, value)
        return value

    def put(self, key: str, value: dict) -> None:
        """Store a result on this machine, and in the shared folder if its key is a digest."""
        self._write(key, value)
        folder = settings.shared
        if folder and self.by_digest:
            name = f"{self.kind}/{key}"
            folder.attempt("write", folder.write, name, seal_result(name, value, b""))

    def _write(self, key: str, value: dict) -> None:
        data, path = seal_result(f"{self.kind}/{key}", value, secret()), self.path(key)
        if not (path.is_file() and path.read_bytes() == data):  # do not touch an unchanged file, since servers watch it
            folder_at(str(FOLDER)).write(f"{self.kind}/{key}", data)

    def delete(self, key: str) -> None:
        """Delete the result with this key on this machine, if there is one."""
        self.path(key).unlink(missing_ok=True)

    def keys(self) -> list[str]:
        """Return the keys of all results on this machine, sorted."""
        folder = FOLDER / self.kind
        return sorted(path.relative_to(folder).as_posix() for path in self.files() if path.suffix != ".partial")

    def files(self) -> Iterator[Path]:
        """Yield the paths of all files of this kind on this machine, including incomplete ones."""
        return (path for path in (FOLDER / self.kind).rglob("*") if path.is_file())

    def clear(self) -> None:
        """Delete every result of this kind on this machine."""
        for path in list(self.files()):
            path.unlink(missing_ok=True)

    def prune(self) -> None:
        """Delete all but the `max_results` most recently used results. Without this, results with digests as keys would accumulate."""
        stored = sorted(((path.stat().st_mtime, path) for path in self.files()), reverse=True)
        for _, path in stored[self.max_results :]:
            path.unlink(missing_ok=True)

    def reuse(
        self,
        key: str,
        compute: Callable[[], dict],
        holds: Callable[[dict], bool] = lambda value: True,
        may_be_stored: Callable[[dict], bool] = lambda value: True,
    ) -> dict:
        """Return the stored result if it `holds`. Otherwise compute it, and store it if it `may_be_stored`.

        Raise Differs if a recheck gives a different result. The entries "depends" are not compared, since a second computation may read
        more or fewer files than the first.
        """
        stored = self.get(key)
        if stored is not None and holds(stored):
            if settings.recheck.picks(f"{self.kind}/{key}") and compute() | {"depends": 0} != stored | {"depends": 0}:
                self.clear()
                raise Differs(settings.recheck.difference(key))
            return stored
        value = compute()
        if may_be_stored(value):
            self.put(key, value)
        return value
