"""Record which files and environment variables a script and its snippets read.

An audit hook sees every file that Python code opens, `os.environ` reports each name that the project's code looks up, and `sys.modules`
shows which of the project's modules were imported. Files of Python, of installed libraries and of the kernel are left out: a certificate
keeps the versions of the libraries and the hashes of the kernel's files.

These are not tracked: the names in a folder, whether a file exists, what C code or another process reads, the clock, and the machine.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType

from ..store.dependencies import Reads
from ..store.project_files import ABSENT, file_state

KERNEL = f"{Path(__file__).parents[1]}{os.sep}"
# Names of the standard library's files begin with one of these, whether it is a folder, a zip file, or frozen.
STANDARD_LIBRARY = (os.path.join(os.path.dirname(sysconfig.get_path("stdlib")), "python"), "<frozen")
INSTALLED = ("site-packages", "dist-packages")
SYSTEM = ("/proc/", "/dev/", "/sys/")


@cache
def is_installed(file: str) -> bool:
    """Return whether a file belongs to Python or to an installed library."""
    return file.startswith(STANDARD_LIBRARY) or any(name in file.split(os.sep) for name in INSTALLED)


@cache
def is_tracked(file: str) -> bool:
    """Return whether a file with this absolute path is recorded when it is opened.

    Compiled files are not recorded, because modules are found in `sys.modules`.
    """
    return os.path.isabs(file) and not (is_installed(file) or file.startswith((KERNEL, *SYSTEM)) or file.endswith(".pyc"))


def imported_files(folders: tuple[Path, ...]) -> list[str]:
    """Return the Python files in these folders that are loaded as modules, except installed libraries."""
    named = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    files = {os.path.realpath(file) for file in named if isinstance(file, str) and os.path.isabs(file) and not is_installed(file)}
    return sorted(file for file in files if file.endswith(".py") and file.startswith(tuple(f"{folder}{os.sep}" for folder in folders)))


class Recorder:
    """A record of what all threads read, or only what the given thread reads."""

    def __init__(self, thread: int | None):
        self.thread = thread
        self.reads = Reads()
        self.written: set[str] = set()  # files that the script created, which are not inputs

    def record_file(self, path: object, flags: int) -> None:
        """Record a file that is opened for reading, with its current state, unless the script created it."""
        if not isinstance(path, (str, bytes, os.PathLike)) or self.thread not in (None, threading.get_ident()):
            return
        name = os.path.abspath(os.fsdecode(path))
        if not is_tracked(name) or name in self.reads.files or name in self.written:
            return
        if flags & (os.O_TRUNC | os.O_EXCL):
            self.written.add(name)
        elif flags & os.O_ACCMODE != os.O_WRONLY:
            self.reads.files[name] = ABSENT  # set first, because state() opens the file too and calls this method again
            self.reads.files[name] = file_state(name)

    def record_variable(self, name: object) -> None:
        """Record an environment variable if the nearest caller outside the standard library belongs to the project."""
        frame: FrameType | None = sys._getframe(2)
        while frame and frame.f_code.co_filename.startswith(STANDARD_LIBRARY):
            frame = frame.f_back
        by_project = frame is not None and is_tracked(frame.f_code.co_filename)
        if by_project and isinstance(name, str) and name not in self.reads.variables:
            self.reads.variables.append(name)


_active: list[Recorder] = []
_installed: list[bool] = []  # not empty once the audit hook is installed, which cannot be removed


def _hook(event: str, arguments: tuple) -> None:
    if event == "open" and _active:
        path, _, flags = arguments
        _active[-1].record_file(path, flags or 0)


@contextmanager
def record_reads(all_threads: bool = True) -> Iterator[Recorder]:
    """Record what this process reads in the `with` block; if not `all_threads`, only what the current thread reads."""
    if not _installed:
        sys.addaudithook(_hook)
        _installed.append(True)
    recorder = Recorder(None if all_threads else threading.get_ident())
    kind, method = type(os.environ), "__getitem__"  # `get`, `in` and os.getenv call it too
    look_up = getattr(kind, method)

    def recording_look_up(environ: os._Environ, name: str) -> str:
        recorder.record_variable(name)
        return look_up(environ, name)

    setattr(kind, method, recording_look_up)
    _active.append(recorder)
    try:
        yield recorder
    finally:
        _active.remove(recorder)
        setattr(kind, method, look_up)
