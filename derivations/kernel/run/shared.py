"""A folder that a team and its CI share (`--shared ADDRESS`): what one machine found, the others need not find again.

It stands at any address that fsspec knows: a path, or an object store. What is in it has for its name a hash of what it rests on, and with it
a hash of its own, by which what was half written or damaged is told. That catches faults, not malice: who can write there can forge; so
nothing is taken on its word, one in so many is tried again as it is taken, and where one comes out otherwise, nothing of it is taken.

What is not there, or cannot be reached, is found here: the folder only saves time.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from ..errors import KernelError


class NoFolder(KernelError):
    """An address that names no folder; the message says what is wrong with it."""


class Shared:
    def __init__(self, address: str):
        import fsspec

        self.address = address
        self.faults: dict[str, str] = {}  # why nothing is read from it any more, or written
        self.doubted: list[str] = []  # the topics, or Coq's sources, of which it held something that is not so, or might have
        try:
            self.files, self.root = fsspec.core.url_to_fs(address)
        except Exception as error:  # whatever a kind of store says of an address that it cannot read
            raise NoFolder(f"{address} is no folder that can be shared: {error}") from None

    def take(self, of: str) -> dict | None:
        """What is there of this hash, whole; else nothing."""
        text = self.tried("read", lambda: self.files.cat_file(self.path(of)))
        try:
            digest, _, body = text.decode().partition("\n")
            content = json.loads(body) if digest == sha256(body.encode()).hexdigest() else None
        except (AttributeError, UnicodeError, ValueError):
            return None
        return content if isinstance(content, dict) else None

    def has(self, of: str) -> bool:
        return bool(self.tried("read", lambda: self.files.exists(self.path(of))))

    def give(self, of: str, content: dict) -> None:
        body = json.dumps(content, sort_keys=True)
        text = f"{sha256(body.encode()).hexdigest()}\n{body}".encode()

        def put() -> None:
            self.files.makedirs(self.files._parent(self.path(of)), exist_ok=True)
            self.files.pipe_file(self.path(of), text)

        self.tried("write", put)

    def remove(self, of: str) -> None:
        self.tried("write", lambda: self.files.rm_file(self.path(of)))

    def path(self, of: str) -> str:
        return f"{self.root.rstrip('/')}/{of[:2]}/{of}"

    def tried(self, to: str, do: Any) -> Any:
        """What it gives; nothing where it is not there. A folder that fails once is not asked to do so again, and why is kept."""
        if to in self.faults:
            return None
        try:
            return do()
        except FileNotFoundError:
            return None
        except Exception as error:  # each store has its own: whatever it is, the work is done without it
            self.faults[to] = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:160]}"
            return None
