"""A folder that a team and its CI share (`--shared ADDRESS`): what one machine found, the others need not find again.

It stands at any address that fsspec knows: a path, or an object store. What is in it has for its name a hash of what it rests on, and with it
a hash of its own, by which what was half written or damaged is told. That catches faults, not malice: who can write there can forge; so
nothing is taken on its word, one in so many is tried again in every run, and where one comes out otherwise, nothing of it is taken.

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
        self.fault = ""  # why it is left alone
        self.doubted: list[str] = []  # the topics, or Coq's sources, of which it held something that is not so, or might have
        try:
            self.files, self.root = fsspec.core.url_to_fs(address)
        except (ImportError, ValueError, OSError) as error:
            raise NoFolder(f"{address} is no folder that can be shared: {error}") from None

    def take(self, of: str) -> dict | None:
        """What is there of this hash, whole; else nothing."""
        text = self.tried(lambda: self.files.cat_file(self.path(of)))
        try:
            digest, _, body = text.decode().partition("\n")
            content = json.loads(body) if digest == sha256(body.encode()).hexdigest() else None
        except (AttributeError, UnicodeError, ValueError):
            return None
        return content if isinstance(content, dict) else None

    def has(self, of: str) -> bool:
        return bool(self.tried(lambda: self.files.exists(self.path(of))))

    def give(self, of: str, content: dict) -> None:
        body = json.dumps(content, sort_keys=True)
        text = f"{sha256(body.encode()).hexdigest()}\n{body}".encode()

        def put() -> None:
            self.files.makedirs(self.files._parent(self.path(of)), exist_ok=True)
            self.files.pipe_file(self.path(of), text)

        self.tried(put)

    def remove(self, of: str) -> None:
        self.tried(lambda: self.files.rm_file(self.path(of)))

    def path(self, of: str) -> str:
        return f"{self.root.rstrip('/')}/{of[:2]}/{of}"

    def tried(self, do: Any) -> Any:
        """What it gives; nothing where it is not there. A folder that fails once is left alone, and why is kept."""
        if self.fault:
            return None
        try:
            return do()
        except FileNotFoundError:
            return None
        except Exception as error:  # each store has its own: whatever it is, the work is done without it
            self.fault = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:160]}"
            return None
