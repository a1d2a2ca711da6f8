"""What is read while a script is checked: the files opened or asked for, the folders listed, the modules looked for, the variables.

Python tells an audit hook of each file that it opens and of each folder that it lists. It tells of no question whether a file
exists or what it is like, and of no look at the environment, so `os.stat` and its kin and `os.environ` are watched as well, by either
of their names, in `os` and in `posix`, a file's descriptor taken for the file; so is PyTorch's own reader of files. Of a file that is
opened the content is kept; of one that is asked for also its type, its permissions, its size and where it leads; the same of each file
in a folder that is scanned by the project's own code.

Refused is what could not be seen or is another on each machine, where the project's own code asks for it: what starts a process or opens
a connection, loads a library in C, reads the whole environment or a copy of it that `os.environ` keeps or Python began with, extended
attributes, what the machine is like, when a file was changed, which packages are installed, a file by an operator of PyTorch's. So is
each module of Python's own, and each library, that is not listed in `MODULES` and `LIBRARIES`: what is listed reads nothing, or so that
it is seen here. `worker.py` fixes the time zone, the locale and the arguments of the process, so that they are the same everywhere.

Not seen: what a library in C opens or asks by itself, what it was told while it was imported, and PyTorch's functions under names of its
own insides; the clock, and when a file was changed, where `os.stat` tells it; whose a file is, its number and how many names it has;
which process this is, whose, in which folder, with which Python and how many threads; randomness. What Python and the installed libraries
read of themselves, and what they read while they are imported, is left out: a certificate keeps the versions of those that are imported.
"""

from __future__ import annotations

import builtins
import importlib
import os
import platform
import re
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.util import source_from_cache
from pathlib import Path
from types import FrameType
from typing import Any

from ..errors import Untracked
from . import inputs

KERNEL = f"{Path(__file__).parents[1]}{os.sep}"
STREAMS = (0, 1, 2)  # the descriptors of what a process is given, and of what it prints
SYSTEM = ("/proc/", "/dev/", "/sys/")  # of the machine, not of anybody's files
MACHINES = ("/proc/", "/sys/")  # of which each has another
SHARED = "/dev/shm/"  # but this is a folder like any other
PACKAGES = ("site-packages", "dist-packages")
MOMENTARY = re.compile(r"(?<=\.pyc)\.\d+$")  # behind the name of what is compiled, until it is written
PYTHONS = tuple(
    f"{os.path.realpath(path)}{os.sep}" for name, path in sysconfig.get_paths().items() if name in ("stdlib", "platstdlib")
) + tuple(f"{path}{os.sep}" for path in {os.path.dirname(os.__file__)})

PROCESS = "it starts a process, and what that reads cannot be tracked; compute the result in Python, or read it from a file"
CONNECTION = "it opens a connection, and what comes from there cannot be tracked; keep what is needed in a file, and read that"
LIBRARY = "it loads a library in C, and what that reads cannot be tracked; use a package that is installed"
WHOLE = "it reads the whole environment, of which something changes with every shell; read the variables it needs by their names"
MACHINE = "it asks what this machine is like, and a page is to say the same on every one; keep the number in the script"
CHANGED = "it asks when a file was changed, and a copy of it was changed at another time; read what is in the file"
ATTRIBUTES = "it reads an attribute that lies beside a file, and those are not tracked; keep what is needed in a file, and read that"
BEGAN = "it reads the environment that Python began with, which is not tracked; use os.environ, by the names of the variables"
BEHIND = "it reads the environment behind os.environ, which is not tracked; use os.environ, by the names of the variables"
INSTALLED = (
    "it asks which packages are installed, or what is kept of one; use __version__ of a library that the script imports, or a number"
)
OPERATOR = "it reads a file by an operator of PyTorch's insides, which is not tracked; use open, torch.load or torch.from_file"
STREAM = (
    "it asks what the process's own input or output is like, which is another in each run; keep what is needed in a file, and read that"
)
DATABASE = "it opens a database, and what is read there is not tracked; keep what is needed in a file of text, and read that"
MEMORY = "it opens memory that other processes share, and what is there is not tracked; keep what is needed in a file, and read that"
UNLISTED = "the module '{}' is not among those that a script or a snippet may import, since what it reads may not be seen; {}"
INSTEAD = "read files with open or pathlib, compute with Python, PyTorch, NumPy and SymPy"

# What the project's own code may import of Python: what reads nothing, what reads so that it is seen here, and what is refused in use.
LISTED = """__future__ abc array ast base64 binascii bisect builtins bz2 calendar cmath codecs collections colorsys configparser contextlib
    contextvars copy copyreg csv dataclasses datetime decimal difflib enum errno fnmatch fractions functools genericpath glob graphlib gzip
    hashlib heapq hmac html importlib inspect io itertools json keyword linecache locale logging lzma math mmap numbers operator os pathlib
    pickle platform posix posixpath pprint queue random re reprlib runpy secrets shutil statistics string struct sys tarfile tempfile
    textwrap threading time tokenize tomllib traceback types typing unicodedata warnings wave weakref xml zipfile zlib
    ctypes socket subprocess"""
MODULES = frozenset(LISTED.split())
LIBRARIES = frozenset(["derivations", "jaxtyping", "mpmath", "numpy", "snippets", "sympy", "torch"])
SHARING = ("torch.multiprocessing", "torch.distributed", "torch.hub")  # of these libraries, what reads from other processes and machines

OF_THE_MACHINE = ("uname", "cpu_count", "process_cpu_count", "statvfs", "fstatvfs", "sysconf", "confstr", "pathconf", "fpathconf")
OF_THE_MACHINE += ("getloadavg", "getlogin", "sched_getaffinity")
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "pty.spawn")
CONNECTS = ("connect", "bind", "getaddrinfo", "gethostbyname", "gethostbyaddr", "gethostname", "sendto", "sendmsg")
REFUSED = dict.fromkeys(STARTS, PROCESS) | {f"socket.{name}": CONNECTION for name in CONNECTS} | {"sqlite3.connect": DATABASE}


@dataclass
class Read:
    """What was read, by absolute path or by name; of files and folders, what they were like before."""

    files: dict[str, str] = field(default_factory=dict)  # inputs.state
    looks: dict[str, str] = field(default_factory=dict)  # inputs.look
    folders: dict[str, str] = field(default_factory=dict)  # inputs.listing
    sought: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # inputs.modules, by folder
    variables: set[str] = field(default_factory=set)

    def record(self) -> dict:
        """The same as plain values."""
        return asdict(self) | {"variables": sorted(self.variables)}


# Whose code asks --------------------------------------------------------------------------------------------------------------


@cache
def kind_of(file: str) -> str:
    """Whose code stands in a file: Python's, that of its imports, a library's, the kernel's or the project's."""
    if file.startswith(("<frozen importlib", "<frozen zipimport")) or "/importlib/metadata/" in file:
        return "import"
    if file == __file__ or file.startswith("<"):  # what is run from a text is its caller's
        return "python"
    if any(package in file.split(os.sep) for package in PACKAGES):
        return "library"
    if file.startswith(PYTHONS):
        return "python"
    return "kernel" if file.startswith(KERNEL) else "project"


@cache
def is_of_a_library(file: str) -> bool:
    """Known at once, since SymPy imports within its functions, thousands of times."""
    return kind_of(file) == "library"


def nearest(*passed: str) -> tuple[str, str, int]:
    """The first frame, from within, whose code is of another kind than those passed over: kind, file and line."""
    frame: FrameType | None = sys._getframe(1)
    while frame and kind_of(frame.f_code.co_filename) in passed:
        frame = frame.f_back
    return (kind_of(frame.f_code.co_filename), frame.f_code.co_filename, frame.f_lineno) if frame else ("project", "", 0)


def asker() -> tuple[str, str, int]:
    """Who had Python or a library do something: the kernel, or a script, a snippet or a helper."""
    return nearest("python", "library", "import")


def by_an_import() -> bool:
    """Whether a library, or a part of Python, asks while it is imported; not Python itself, which looks for a module or opens it."""
    return at_once() != "import" and nearest("python", "library")[0] == "import"


def at_once() -> str:
    """Whose code calls what is watched, Python's own included."""
    frame: FrameType | None = sys._getframe(1)
    while frame and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return kind_of(frame.f_code.co_filename) if frame else "project"


def by_its_own_lines(*through: str) -> bool:
    """Whether it is the project's own code that calls what is watched, be it text that it runs, or through code of these kinds."""
    frame: FrameType | None = sys._getframe(1)
    while frame and (frame.f_code.co_filename in (__file__, "<string>") or kind_of(frame.f_code.co_filename) in through):
        frame = frame.f_back
    return frame is None or kind_of(frame.f_code.co_filename) == "project"


def by_the_project() -> bool:
    """Whether the project's own code asks, and no library for it."""
    return nearest("python")[0] == "project"


def of_a_path() -> bool:
    """Whether it is asked on the way to resolving a path, of the folders that lie on it."""
    frame: FrameType | None = sys._getframe(1)
    while frame and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name == "_joinrealpath"


# What is told -----------------------------------------------------------------------------------------------------------------


class Recorder:
    """Takes down what is read, by all threads or by one. `refused` holds what was refused, whatever became of the error that said so."""

    def __init__(self, thread: int | None = None) -> None:
        self.read = Read()
        self.thread = thread
        self.refused: list[str] = []
        self.own: set[str] = set()  # files and variables that the script wrote
        self.here = threading.local()  # inside: what is done there is this recorder's own doing

    def told(self, event: str, arguments: tuple) -> None:
        """An audit event."""
        if not self.heeds():
            return
        if event in REFUSED:
            self.refuse(REFUSED[event])
        elif event == LIBRARIES_IN_C and by_the_project():
            self.refuse(LIBRARY)
        elif event in ATTRIBUTES_ASKED and at_once() != "python":  # Python itself does so where it copies a file
            self.refuse(ATTRIBUTES)
        elif event in TAKEN:
            with self.inside():
                TAKEN[event](self, *arguments)

    def heeds(self) -> bool:
        """Whether this is done in a thread that is recorded, and not by the recorder."""
        return self.thread in (None, threading.get_ident()) and not getattr(self.here, "inside", False)

    @contextmanager
    def inside(self) -> Iterator[None]:
        self.here.inside = True
        try:
            yield
        finally:
            self.here.inside = False

    def refuse(self, why: str) -> None:
        kind, file, line = asker()
        if kind != "kernel":
            self.refused.append(f"{file}:{line}: {why}" if file else why)
            raise Untracked(self.refused[-1])

    def opened(self, path: Any, mode: str | None, flags: int | None) -> None:
        if isinstance(path, int):
            return
        flags, name = flags or 0, where(path)
        fresh, new = flags & os.O_TRUNC, flags & os.O_CREAT and flags & os.O_EXCL
        reads = not by_tempfile() if new else flags & os.O_ACCMODE != os.O_WRONLY and not fresh
        if reads:
            self.file(name)
        if fresh or new:
            self.own.add(name)

    def asked(self, path: Any, folder: int | None = None) -> None:
        """Whether a file is there, or what it is like; of a descriptor, the file that it was opened for."""
        if not self.heeds() or nearest("python")[0] == "import":
            return  # who asks for a library's version is told it: versions are kept
        with self.inside():
            if isinstance(path, int) and path in STREAMS:
                return self.asked_of_a_stream()
            name = where(path, folder)
            if not os.path.isabs(name) or isinstance(path, int) and not os.path.lexists(name):
                return  # a pipe, or a file that has no name by now
            self.file(name)
            self.look(name)

    def asked_of_a_stream(self) -> None:
        if by_its_own_lines():
            self.refuse(STREAM)

    def look(self, name: str) -> None:
        """What a file is like, beside what is in it."""
        if name in self.own or name in self.read.looks or is_aside(name) or by_an_import():
            return
        if os.path.islink(name) or not of_a_path():
            self.read.looks[name] = inputs.look(name)

    def file(self, name: str) -> None:
        name = source_of(name)
        if name.startswith(MACHINES) and by_the_project():
            self.refuse(MACHINE)
        if name in self.own or name in self.read.files or is_aside(name) or by_an_import():
            return
        state = inputs.state(name)
        if state != inputs.FOLDER or os.path.islink(name) or not of_a_path():
            self.read.files[name] = state

    def listed(self, path: Any) -> None:
        name = where("." if path is None else path)
        if name not in self.read.folders and not is_aside(name) and nearest("python", "library")[0] != "import":
            self.read.folders[name] = inputs.listing(name)

    def scanned(self, path: Any) -> None:
        """A folder is listed, and whoever does so himself may ask each entry what it is like. Python's own `walk` and `glob` do not."""
        self.listed(path)
        name = where("." if path is None else path)
        if name in self.read.folders and at_once() != "python":
            for entry in os.listdir(name) if os.path.isdir(name) else ():
                if entry != inputs.UNLISTED:
                    self.look(os.path.join(name, entry))

    def loaded(self, module: str, file: str | None, *rest: Any) -> None:
        """A module in C is loaded from a file; other imports are told of when their files are opened."""
        if by_its_own_lines("import") and not may_import(module):
            self.refuse(UNLISTED.format(module, INSTEAD))
        if file is not None:
            self.file(where(file))

    def imported(self, module: Any) -> None:
        """The project's own code imports a module, whether or not it is loaded already."""
        if isinstance(module, str) and self.heeds() and not may_import(module):
            self.refuse(UNLISTED.format(module, INSTEAD))

    def looked_for(self, module: str, homes: Iterable | None) -> None:
        """Python looks for a module; where there is none today, there may be one tomorrow, and where there is one, another before it."""
        if not self.heeds():
            return
        with self.inside():
            self.sought(module.rpartition(".")[2], [home for home in (sys.path if homes is None else homes) if isinstance(home, str)])

    def sought(self, name: str, homes: list[str]) -> None:
        for folder in [where(home or ".") for home in homes]:
            if not is_a_librarys(folder) and not is_aside(f"{folder}{os.sep}") and name not in self.read.sought.get(folder, {}):
                self.read.sought.setdefault(folder, {}).update(inputs.modules(folder, [name]))
                if os.path.isdir(inner := os.path.join(folder, name)):
                    self.file(os.path.join(inner, "__init__.py"))

    def variable(self, name: Any) -> None:
        name = os.fsdecode(name) if isinstance(name, (str, bytes)) else ""
        if name and name not in self.own and self.heeds() and not by_an_import() and asker()[0] != "kernel":
            self.read.variables.add(name)

    def environment(self) -> None:
        """All variables: refused where the project's own code asks, kept where a library does for it."""
        if not self.heeds() or by_an_import():
            return
        if by_the_project():
            self.refuse(WHOLE)
        self.variable(inputs.ALL)

    def asked_for(self, why: str) -> None:
        """What is refused to the project's own code; libraries may know it."""
        if self.heeds() and not by_an_import() and by_the_project():
            self.refuse(why)

    def asked_behind(self) -> None:
        """The dictionary behind `os.environ`, which Python itself reads for whoever asks as he should."""
        if self.heeds() and at_once() == "project":
            self.refuse(BEHIND)

    def asked_of_packages(self) -> None:
        """What is installed, which libraries may know. Python looks for itself, and reads without being seen."""
        if self.heeds() and not by_an_import() and nearest("python", "import")[0] == "project":
            self.refuse(INSTALLED)

    def set(self, name: Any) -> None:
        if isinstance(name, (str, bytes)) and self.heeds():
            self.own.add(os.fsdecode(name))


TAKEN: dict[str, Callable] = {
    "open": Recorder.opened,
    "os.listdir": Recorder.listed,
    "os.scandir": Recorder.scanned,
    "import": Recorder.loaded,
}
LIBRARIES_IN_C, ATTRIBUTES_ASKED = "ctypes.dlopen", ("os.getxattr", "os.listxattr")
HEEDED = frozenset([*REFUSED, *TAKEN, LIBRARIES_IN_C, *ATTRIBUTES_ASKED])  # the events that a recorder does something about


def where(path: Any, folder: int | None = None) -> str:
    """The absolute path; `folder` is a descriptor that a relative one begins at. Where it leads through a link, it goes on doing so."""
    if isinstance(path, int):
        return path_of(path)
    name = os.path.join(os.getcwd() if folder is None else path_of(folder), os.fsdecode(path))
    if os.pardir in name.split(os.sep):  # behind a link, a folder's parent is not the one before it in the path
        name = os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name))
    return os.path.normpath(name)


def path_of(descriptor: int) -> str:
    import fcntl  # not on Windows

    if hasattr(fcntl, "F_GETPATH"):
        return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
    return os.readlink(f"/proc/self/fd/{descriptor}")


def source_of(name: str) -> str:
    """The module's text where Python reads what it made of it, or writes that, which it does under a name of the moment."""
    compiled = MOMENTARY.sub("", name)
    try:
        return source_from_cache(compiled) if compiled.endswith(".pyc") else name
    except ValueError:
        return name


def is_aside(name: str) -> bool:
    """Whether a file is the checker's, the machine's, or a library's that is not read by the project's own code."""
    return (
        name.startswith((KERNEL, *SYSTEM))
        and not name.startswith(SHARED)
        or name.rpartition(os.sep)[2].startswith("<")  # what is run from a text has no file
        or is_a_librarys(name)
        and not by_the_project()
    )


def may_import(module: str) -> bool:
    """Whether the project's own code may: a module of its own, or one that is listed."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return top in MODULES
    if top in LIBRARIES:
        return not any(f"{module}.".startswith(f"{one}.") for one in SHARING)
    loaded = sys.modules.get(top)
    homes = [getattr(loaded, "__file__", None), *getattr(loaded, "__path__", ())]
    return not any(isinstance(home, str) and kind_of(f"{home}{os.sep}") == "library" for home in homes)


def is_a_librarys(name: str) -> bool:
    zipped = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    return kind_of(f"{name}{os.sep}") in ("python", "library") or name.endswith(zipped)


def by_tempfile() -> bool:
    """Whether a name is made up until one is free: nothing depends on that."""
    frame: FrameType | None = sys._getframe(1)
    while frame and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename == tempfile.__file__


# Where it is told from --------------------------------------------------------------------------------------------------------

_recorders: list[Recorder] = []  # the one at work, if any
_hooked: list[bool] = []  # a hook stays for as long as its process


def _hook(event: str, arguments: tuple) -> None:
    if event in HEEDED and _recorders:  # Python tells of each `id` and of each look at a frame, too
        _recorders[-1].told(event, arguments)


@contextmanager
def recorded(all_threads: bool = True) -> Iterator[Recorder]:
    """Record what this process reads meanwhile, or what this thread of it does."""
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked.append(True)
    recorder = Recorder(None if all_threads else threading.get_ident())
    restore = [watch(recorder) for watch in (_watch_files, _watch_variables, _watch_imports, _watch_machine, _watch_packages, _watch_torch)]
    _recorders.append(recorder)
    try:
        yield recorder
    finally:
        _recorders.remove(recorder)
        for put_back in reversed(restore):
            put_back()


def _watch_files(recorder: Recorder) -> Callable[[], None]:
    """Have the functions that ask about a file say so. The C functions are asked as before."""
    before = {name: getattr(os, name) for name in ("stat", "lstat", "access", "readlink", "open", "fstat")}

    def asking(function: Callable) -> Callable:
        def ask(path: Any, *arguments: Any, dir_fd: int | None = None, **options: Any) -> Any:
            recorder.asked(path, dir_fd)
            return function(path, *arguments, dir_fd=dir_fd, **options)

        return ask

    def open_(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is None:
            return before["open"](path, flags, mode)
        with recorder.inside():  # the hook is not told where a relative path begins
            recorder.opened(where(path, dir_fd), None, flags)
            return before["open"](path, flags, mode, dir_fd=dir_fd)

    def fstat(fd: int) -> os.stat_result:
        recorder.asked(fd)
        return before["fstat"](fd)

    put = {name: asking(function) for name, function in before.items()} | {"open": open_, "fstat": fstat}
    capable = [known for known in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids)]
    homes = [os, posix] if (posix := sys.modules.get(os.name)) else [os]
    for name, function in put.items():
        for home in homes:
            setattr(home, name, function)
        for known in capable:
            known |= {function} if before[name] in known else set()

    def put_back() -> None:
        for name, function in before.items():
            for home in homes:
                setattr(home, name, function)
            for known in capable:
                known.discard(put[name])

    return put_back


def _watch_variables(recorder: Recorder) -> Callable[[], None]:
    """Have `os.environ`, `os.environb` and what goes through them (`os.getenv`, `get`, `in`) say what is looked at."""
    kind = type(os.environ)
    before = {name: getattr(kind, name) for name in ("__getitem__", "__setitem__", "__delitem__", "__iter__", "__len__", "__repr__")}

    def one(name: str, say: Callable) -> Callable:
        def act(self: Any, key: Any, *value: Any) -> Any:
            say(key)
            return before[name](self, key, *value)

        return act

    def every(name: str) -> Callable:
        def act(self: Any) -> Any:
            recorder.environment()
            return before[name](self)

        return act

    def removed(key: Any) -> None:
        recorder.variable(key)
        recorder.set(key)

    says = {"__getitem__": recorder.variable, "__setitem__": recorder.set, "__delitem__": removed}
    for name in before:
        setattr(kind, name, one(name, says[name]) if name in says else every(name))
    data = os.environ._data  # type: ignore[attr-defined]
    os.environ._data = behind = _Watched(data, recorder.asked_behind)  # type: ignore[attr-defined]
    others = [other for other in [getattr(os, "environb", None)] if other is not None and other._data is data]
    for other in others:
        other._data = behind

    def put_back() -> None:
        data.clear()
        dict.update(data, dict.items(behind))
        for environ in [os.environ, *others]:
            environ._data = data  # type: ignore[attr-defined]
        for name, function in before.items():
            setattr(kind, name, function)

    return put_back


def _watch_imports(recorder: Recorder) -> Callable[[], None]:
    """Be the first whom Python asks for a module, and have none. The hook is told of `import` only, not of `import_module`."""

    class Asked:
        @staticmethod
        def find_spec(name: str, path: Iterable | None, target: Any = None) -> None:
            recorder.looked_for(name, path)

    before = (builtins.__import__, importlib.import_module)

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        caller = sys._getframe().f_back  # there is none where a thread begins with it
        if level or caller and is_of_a_library(caller.f_code.co_filename) or not by_its_own_lines():
            return before[0](name, globals, locals, fromlist, level)
        parts = [f"{name}.{part}" for part in fromlist or () if f"{name}.{part}" in SHARING]
        for part in [name, *parts]:
            recorder.imported(part)
        found = before[0](name, globals, locals, fromlist, level)
        recorder.imported(name)  # of a library it is known by now where it lies
        return found

    def import_module(name: str, package: str | None = None) -> Any:
        refuse = recorder.imported if by_its_own_lines() else lambda module: None
        refuse(name)
        found = before[1](name, package)
        refuse(name)
        return found

    sys.meta_path.insert(0, Asked)  # type: ignore[arg-type]
    builtins.__import__, importlib.import_module = import_, import_module

    def put_back() -> None:
        sys.meta_path.remove(Asked)  # type: ignore[arg-type]
        builtins.__import__, importlib.import_module = before

    return put_back


def _watch_machine(recorder: Recorder) -> Callable[[], None]:
    """Refuse to the project's own code what is another on each machine, and the environment that Python began with."""
    posix = sys.modules.get(os.name)
    asked = [(home, name, MACHINE) for home in (os, posix) if home for name in OF_THE_MACHINE if hasattr(home, name)]
    asked += [(platform, name, MACHINE) for name in ("uname", "platform")]
    asked += [(os.path, name, CHANGED) for name in ("getmtime", "getatime", "getctime")]
    asked += [(shared, "shm_open", MEMORY)] if (shared := sys.modules.get("_posixshmem")) else []
    before = [(home, name, getattr(home, name)) for home, name, _ in asked]
    environ = getattr(posix, "environ", None)

    def refusing(function: Callable, why: str) -> Callable:
        def ask(*arguments: Any, **options: Any) -> Any:
            recorder.asked_for(why)
            return function(*arguments, **options)

        return ask

    for (home, name, function), (_, _, why) in zip(before, asked):
        setattr(home, name, refusing(function, why))
    if environ is not None:
        posix.environ = _Watched(environ, lambda: recorder.asked_for(BEGAN))  # type: ignore[union-attr]

    def put_back() -> None:
        for home, name, function in before:
            setattr(home, name, function)
        if environ is not None:
            posix.environ = environ  # type: ignore[union-attr]

    return put_back


class _Watched(dict):
    """A copy of the environment, which says when it is read."""

    def __init__(self, environ: dict, asked: Callable[[], None]) -> None:
        super().__init__(environ)
        self.asked = asked


def _reading(name: str) -> Callable:
    def read(self: _Watched, *arguments: Any) -> Any:
        self.asked()
        return getattr(dict, name)(self, *arguments)

    return read


for _name in ("__getitem__", "__contains__", "__iter__", "__len__", "__repr__", "__or__", "__ror__", "__eq__", "get", "items", "keys"):
    setattr(_Watched, _name, _reading(_name))
for _name in ("values", "copy", "pop", "popitem", "setdefault"):
    setattr(_Watched, _name, _reading(_name))


def _watch_packages(recorder: Recorder) -> Callable[[], None]:
    """Refuse to the project's own code what Python reads of installed packages, or of what it is told is one."""
    from importlib import metadata

    places = ((metadata.Distribution, "discover"), (metadata.PathDistribution, "__init__"), (metadata.FastPath, "__init__"))  # type: ignore[attr-defined]
    before = [(home, name, vars(home).get(name)) for home, name in places]

    def telling(function: Callable) -> Callable:
        def ask(self: Any, *arguments: Any, **options: Any) -> Any:
            recorder.asked_of_packages()
            return function(self, *arguments, **options)

        return ask

    for home, name, function in before:
        setattr(home, name, classmethod(telling(function.__func__)) if isinstance(function, classmethod) else telling(getattr(home, name)))

    def put_back() -> None:
        for home, name, function in before:
            if function is None:
                delattr(home, name)
            else:
                setattr(home, name, function)

    return put_back


class _Refused:
    """An operator of PyTorch's that the project's own code does not use; `recorder` says so. Libraries find the operator itself."""

    def __init__(self, operator: Any, recorder: Recorder) -> None:
        self.operator = operator
        self.recorder = recorder

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self.recorder.asked_for(OPERATOR)
        return self.operator(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        self.recorder.asked_for(OPERATOR)
        return getattr(self.operator, name)


def _watch_torch(recorder: Recorder) -> Callable[[], None]:
    """Have PyTorch's own reader of files say what it reads, where PyTorch is loaded; a worker has it loaded first."""
    torch = sys.modules.get("torch")
    homes = [home for home in (torch, getattr(torch, "UntypedStorage", None)) if hasattr(home, "from_file")]
    before = [(home, home.from_file, "from_file" in vars(home)) for home in homes]  # type: ignore[union-attr]

    def telling(function: Callable) -> Callable:
        def from_file(filename: Any, *arguments: Any, **options: Any) -> Any:
            if recorder.heeds():
                with recorder.inside():
                    recorder.file(where(filename))
            return function(filename, *arguments, **options)

        return from_file

    for home, function, _ in before:
        home.from_file = staticmethod(telling(function)) if isinstance(home, type) else telling(function)
    operators = getattr(getattr(torch, "ops", None), "aten", None)
    operator = getattr(operators, "from_file", None)
    if operator is not None:
        operators.from_file = _Refused(operator, recorder)  # type: ignore[union-attr]

    def put_back() -> None:
        if operator is not None:
            operators.from_file = operator  # type: ignore[union-attr]
        for home, function, own in before:
            if own:
                home.from_file = function
            else:
                del home.from_file  # type: ignore[union-attr]

    return put_back
