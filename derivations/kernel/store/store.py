"""The one store for results that may be used again: of checks, proofs, mutants, fuzzing, pages, figures, notebooks and search.

A result is a JSON object. Its key is a digest of everything that it depends on, or a name such as a topic; then the result says itself what
it depends on, and its reader compares. A file is written whole or not at all, with a seal over its kind, its key and its content. So a file
that was damaged, edited, moved, or written in another checkout or format counts as missing. This catches mistakes, not malice: anyone who can write to
the store can forge a seal. Trust rests on computing again: `python -m derivations check --fresh`, or `--replay N` for a sample.
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

FORMAT = 1  # to be raised whenever the content of any kind of result changes: results in another format count as missing
FOLDER = Path(__file__).resolve().parents[3] / ".certificates"


class StoreError(KernelError):
    """A stored result that must not be used; the message says why."""


class Missing(StoreError):
    """There is no result with this key."""


class Differs(KernelError):
    """A result that was computed again differs from the stored one, although nothing that it depends on changed."""


class NoFolder(KernelError):
    """An address that is no folder; the message says why."""


def digest(*parts: Any) -> str:
    """Return a digest of JSON values, for example of everything that a result depends on."""
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def secret() -> bytes:
    """Return the random key that seals this checkout's results, made on first use."""
    path = FOLDER / "key"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        fresh = FOLDER / f"key.{secrets.token_hex()}"
        fresh.write_text(secrets.token_hex())
        fresh.chmod(0o600)
        with contextlib.suppress(FileExistsError):  # another process was first: its key counts
            os.link(fresh, path)
        fresh.unlink()
    return path.read_bytes()


# Folders -----------------------------------------------------------------------------------------------------------------------


class Folder:
    """Files below an address that fsspec knows: a path, or an object store."""

    def __init__(self, address: str):
        import fsspec  # takes 40 ms, and the processes that check scripts store nothing

        try:
            self.files, self.root = fsspec.core.url_to_fs(address)
        except Exception as error:  # each kind of file system has its own errors for an address that it cannot read
            raise NoFolder(f"{address} is no folder that can be shared: {error}") from None
        self.is_local = "file" in self.files.protocol
        self.address = address
        self.faults: dict[str, str] = {}  # why nothing is read any more, or written

    def read(self, name: str) -> bytes:
        return self.files.cat_file(f"{self.root}/{name}")

    def write(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all. Object stores do so by themselves; elsewhere the file is renamed when it is complete."""
        path = f"{self.root}/{name}"
        self.files.makedirs(path.rpartition("/")[0], exist_ok=True)
        if not self.is_local:
            self.files.pipe_file(path, data)
            return
        partial = f"{path}.{os.getpid()}.{secrets.token_hex(4)}.partial"
        self.files.pipe_file(partial, data)
        os.replace(partial, path)

    def attempt(self, what: str, do: Callable[..., Any], *arguments: Any) -> Any:
        """Call `do`; return None if the file is missing. A folder that fails once to be read or written is not tried again."""
        if what in self.faults:
            return None
        try:
            return do(*arguments)
        except FileNotFoundError:
            return None
        except Exception as error:  # each kind of file system has its own: the work is done without the folder
            self.faults[what] = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:160]}"
            return None


@cache
def folder_at(address: str) -> Folder:
    return Folder(address)


# Sealed files --------------------------------------------------------------------------------------------------------------------


def sealed(name: str, value: dict, key: bytes) -> bytes:
    """Return a result as the content of a file: a line with its seal, and JSON."""
    body = json.dumps(value, sort_keys=True).encode()
    return seal(name, body, key) + b"\n" + body


def seal(name: str, body: bytes, key: bytes) -> bytes:
    return hmac.new(key, f"{FORMAT} {name}\n".encode() + body, sha256).hexdigest().encode()


def opened(name: str, data: bytes, key: bytes) -> dict:
    """Return the result in a file's content. Raise StoreError if the seal does not fit."""
    found, _, body = data.partition(b"\n")
    if not hmac.compare_digest(found, seal(name, body, key)):
        raise StoreError("was damaged, edited, moved, or written in another checkout or format")
    return json.loads(body)


# Settings of a command -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recheck:
    """The sample of stored results that are computed again although nothing changed: one in `one_in`, none by 0. A seed always picks the
    same ones, so that a difference can be reproduced; the default is the day."""

    one_in: int = 0
    seed: str = field(default_factory=lambda: time.strftime("%Y-%m-%d"))

    def picks(self, name: str) -> bool:
        return bool(self.one_in) and int(digest(self.seed, name), 16) % self.one_in == 0

    def difference(self, name: str) -> str:
        """Return the message about a result that was computed again and differs from the stored one."""
        return (
            f"{name}: differs from its stored result, although nothing that it depends on changed (recheck of 1 in {self.one_in}, seed "
            f"{self.seed}); the stored results of this kind were deleted: run the command again, and look for what the result depends on"
        )


@dataclass
class Settings:
    """What holds for every store of this process."""

    shared: Folder | None = None  # a folder that a team shares
    recheck: Recheck = field(default_factory=Recheck)


settings = Settings(recheck=Recheck(int(os.environ.get("REPLAY") or 0)))  # a command has options instead; a build of the site has none


# The store -----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Store:
    """The results of one kind. Those whose keys are digests are also read from and written to the shared folder, if there is one."""

    kind: str
    by_digest: bool = False
    most: int = 10_000  # of those whose keys are digests, `prune` leaves so many

    def path(self, key: str) -> Path:
        """Return where a result is stored on this machine."""
        return FOLDER / self.kind / key

    def get(self, key: str) -> dict | None:
        """Return the result with this key, from this machine or else from the shared folder; None if there is none to be trusted."""
        try:
            value = self.require(key)
        except StoreError:
            return self._shared(key)
        if self.by_digest:
            with contextlib.suppress(OSError):
                os.utime(self.path(key))  # for `prune`
        return value

    def require(self, key: str) -> dict:
        """Return the result with this key from this machine. Raise Missing, or another StoreError that says what is wrong with it."""
        try:
            data = folder_at(str(FOLDER)).read(f"{self.kind}/{key}")
        except FileNotFoundError:
            raise Missing("is missing") from None
        except OSError as error:
            raise StoreError(f"cannot be read ({type(error).__name__})") from None
        return opened(f"{self.kind}/{key}", data, secret())

    def _shared(self, key: str) -> dict | None:
        name, folder = f"{self.kind}/{key}", settings.shared
        data = folder.attempt("read", folder.read, name) if folder and self.by_digest else None
        if data is None:
            return None
        try:
            value = opened(name, data, b"")
        except StoreError:
            return None
        self._write(key, value)
        return value

    def put(self, key: str, value: dict) -> None:
        """Store a result."""
        self._write(key, value)
        folder = settings.shared
        if folder and self.by_digest:
            name = f"{self.kind}/{key}"
            folder.attempt("write", folder.write, name, sealed(name, value, b""))

    def _write(self, key: str, value: dict) -> None:
        data, path = sealed(f"{self.kind}/{key}", value, secret()), self.path(key)
        if not (path.is_file() and path.read_bytes() == data):  # a file that stays the same is not newer for those who watch it
            folder_at(str(FOLDER)).write(f"{self.kind}/{key}", data)

    def delete(self, key: str) -> None:
        self.path(key).unlink(missing_ok=True)

    def keys(self) -> list[str]:
        """Return the keys of everything that is stored on this machine."""
        home = FOLDER / self.kind
        return sorted(path.relative_to(home).as_posix() for path in self.files() if path.suffix != ".partial")

    def files(self) -> Iterator[Path]:
        return (path for path in (FOLDER / self.kind).rglob("*") if path.is_file())

    def clear(self) -> None:
        """Delete every result of this kind on this machine."""
        for path in list(self.files()):
            path.unlink(missing_ok=True)

    def prune(self) -> None:
        """Delete all but the `most` results that were used last: a result that a digest names is never replaced."""
        stored = sorted(((path.stat().st_mtime, path) for path in self.files()), reverse=True)
        for _, path in stored[self.most :]:
            path.unlink(missing_ok=True)

    def reuse(
        self,
        key: str,
        compute: Callable[[], dict],
        holds: Callable[[dict], bool] = lambda value: True,
        may_be_stored: Callable[[dict], bool] = lambda value: True,
    ) -> dict:
        """Return the stored result if it `holds`; else compute it, and store it if it may be. Raise Differs if a recheck finds another one.

        What the results say in "depends" is not compared: computing again may read more, or less, than the first time.
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
