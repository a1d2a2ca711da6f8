"""Whatever a script or a snippet reads, its certificate falls when that changes, and stands when something else does."""

import builtins
import contextlib
import importlib
import os
import platform
import posix
import re
import resource
import shutil
import sqlite3  # noqa: F401  loaded, as a library may have
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import shared_memory  # noqa: F401
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
import torch

from derivations.kernel.run import certificates, coq_results, inputs, mutants_kept, refusals, runner, tracking, warm
from derivations.kernel.run.certificates import CertificateError, load
from derivations.kernel.run.touched import touched

TOPIC = "chapter/tiny"
HEAD = """from derivations.kernel import Derivation, matrix, sizes

n, m = sizes("n m")
A, B = matrix("A", n, m), matrix("B", n, m)
derivation = Derivation("A sum transposed")
"""
CLAIM = 'derivation.identity("sum", (A + B).T, A.T + B.T)\n'
SNIPPET_CLAIM = 'derivation.identity("sum", (A + B).T, A.T + B.T, code=[("snippets.chapter.tiny.transposed", A, B)])\n'


@pytest.fixture
def places(tree, tmp_path):
    """The tree, a folder outside of it, and a package of snippets in it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    package = tree.root / "snippets" / "chapter"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").write_text("")
    return SimpleNamespace(tree=tree, outside=outside, beside=tree.script.parent, snippets=package)


def check(tree, fresh=True):
    return runner.check_script(TOPIC, tree.script, fresh, lambda done, more: None)


def checked(tree):
    result = check(tree)
    assert result.holds, (result.problems, result.records)
    return load(TOPIC)


def stale() -> str:
    """What is said of the certificate; "" while it holds."""
    try:
        load(TOPIC)
    except CertificateError as error:
        return str(error)
    return ""


def in_script(places, text: str):
    places.tree.script.write_text(HEAD + text + CLAIM)


def in_snippet(places, text: str):
    """The text in a function that a claim names, and that no one else calls."""
    body = "".join(f"    {line}\n" for line in text.splitlines())
    (places.snippets / "tiny.py").write_text(f"def transposed(a, b):\n{body}    return (a + b).mT\n")
    places.tree.script.write_text(f"import sys\nsys.path.insert(0, {str(places.tree.root)!r})\n" + HEAD + SNIPPET_CLAIM)


def in_what_a_snippet_calls(places, text: str):
    """The text in a function that a snippet calls, and that is no snippet itself: of those less is taken."""
    body = "".join(f"    {line}\n" for line in text.splitlines())
    (places.snippets / "helps_tiny.py").write_text(f"def read():\n{body}")
    in_snippet(places, f"from snippets.{places.snippets.name} import helps_tiny\nhelps_tiny.read()\n")


WRITTEN = {"in the script": in_script, "in what a snippet calls": in_what_a_snippet_calls}


# One of each ------------------------------------------------------------------------------------------------------------------


@dataclass
class Reading:
    """A way to read: what is there before, the text that reads it, how it is changed then, and what is said to have changed."""

    made: Callable
    text: str
    changed: Callable
    said: str


def of_file(text: str, name: str, made: Callable | None = None, changed: Callable | None = None, home: str = "beside") -> Reading:
    def path(places) -> Path:
        return getattr(places, home) / name

    def write(places):
        path(places).parent.mkdir(exist_ok=True)
        path(places).write_text("[1, 2]\n")

    return Reading(
        lambda places: made(path(places)) if made else write(places),
        text.replace("PATH", f"<{home}/{name}>"),
        lambda places: changed(path(places)) if changed else path(places).write_text("[1, 3]\n"),
        "/" + name.partition("/")[0],
    )


def new(path: Path):
    path.write_text("")


FILES = {
    "open": of_file("open(PATH).read()", "a.json"),
    "a JSON file": of_file("import json\nwith open(PATH) as file: json.load(file)", "b.json"),
    "a file outside the root": of_file("open(PATH).read()", "c.txt", home="outside"),
    "bytes": of_file("open(PATH, 'rb').read(1)", "d.bin"),
    "to read and to write": of_file("open(PATH, 'r+').close()", "e.txt"),
    "pathlib": of_file("from pathlib import Path\nPath(PATH).read_text()", "f.txt"),
    "a path up and down again": of_file(
        "import os\nopen(os.path.join(os.path.dirname(PATH), '..', 'outside', 'g.txt'))", "g.txt", home="outside"
    ),
    "a relative path": of_file("import os\nos.chdir(os.path.dirname(PATH))\nopen('h.txt').read()", "h.txt", home="outside"),
    "os.open": of_file("import os\nos.read(os.open(PATH, os.O_RDONLY), 1)", "i.txt"),
    "from a folder's descriptor": of_file(
        "import os\nfolder = os.open(os.path.dirname(PATH), os.O_RDONLY)\nos.open('j.txt', os.O_RDONLY, dir_fd=folder)",
        "j.txt",
        home="outside",
    ),
    "mmap": of_file("import mmap\nwith open(PATH) as file: mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)[:1]", "k.txt"),
    "numpy.load": of_file(
        "import numpy\nnumpy.load(PATH)", "l.npy", lambda path: numpy.save(path, [1, 2]), lambda path: numpy.save(path, [1, 3])
    ),
    "numpy.loadtxt": of_file("import numpy\nnumpy.loadtxt(PATH, dtype=str)", "m.txt"),
    "numpy.memmap": of_file("import numpy\nnumpy.memmap(PATH, dtype='u1', mode='r')", "n.bin"),
    "torch.load": of_file(
        "import torch\ntorch.load(PATH)",
        "o.pt",
        lambda path: torch.save(torch.tensor([1, 2]), path),
        lambda path: torch.save(torch.tensor([1, 3]), path),
    ),
    "torch.load with mmap": of_file(
        "import torch\ntorch.load(PATH, mmap=True)",
        "p.pt",
        lambda path: torch.save(torch.tensor([1, 2]), path),
        lambda path: torch.save(torch.tensor([1, 3]), path),
    ),
    "a configuration": of_file(
        "import configparser\nconfigparser.ConfigParser().read(PATH)", "q.ini", lambda path: path.write_text("[a]\nb=1")
    ),
    "a size": of_file("import os\nos.path.getsize(PATH)", "s.txt", changed=lambda path: path.write_text("longer than before\n")),
    "an archive": of_file(
        "import zipfile\nzipfile.is_zipfile(PATH)",
        "t.zip",
    ),
    "through a link": of_file(
        "open(PATH)",
        "u.txt",
        lambda path: (path.with_name("real").write_text("1"), path.symlink_to("real")),
        lambda path: (path.unlink(), path.with_name("other").write_text("2"), path.symlink_to("other")),
        home="outside",
    ),
    "a file that goes": of_file("open(PATH)", "v.txt", changed=lambda path: path.unlink()),
    "exists": of_file("import os\nassert os.path.exists(PATH)", "w.txt", changed=lambda path: path.unlink()),
    "does not exist": of_file("import os\nassert not os.path.exists(PATH)", "x.txt", lambda path: None, new),
    "Path.is_file": of_file("from pathlib import Path\nassert not Path(PATH).is_file()", "y.txt", lambda path: None, new),
    "Path.is_dir": of_file("from pathlib import Path\nassert not Path(PATH).is_dir()", "z", lambda path: None, Path.mkdir),
    "access": of_file("import os\nassert not os.access(PATH, os.R_OK)", "aa.txt", lambda path: None, new),
    "lexists": of_file("import os\nassert not os.path.lexists(PATH)", "ab.txt", lambda path: None, new),
    "not there to open": of_file("try: open(PATH)\nexcept OSError: pass", "ac.txt", lambda path: None, new),
    "made if it is not there": of_file("try: open(PATH, 'x')\nexcept OSError: pass", "ad.txt"),
    "listdir": of_file("import os\nos.listdir(os.path.dirname(PATH))", "af/one", changed=lambda path: new(path.with_name("two"))),
    "scandir": of_file("import os\nlist(os.scandir(os.path.dirname(PATH)))", "ag/one", changed=lambda path: path.unlink()),
    "glob": of_file(
        "import glob, os\nglob.glob(os.path.dirname(PATH) + '/*.x')", "ah/one", changed=lambda path: new(path.with_name("2.x"))
    ),
    "Path.iterdir": of_file("from pathlib import Path\nlist(Path(PATH).parent.iterdir())", "ai/one", changed=lambda path: path.unlink()),
    "walk": of_file("import os\nlist(os.walk(os.path.dirname(PATH)))", "aj/one", changed=lambda path: (path.unlink(), path.mkdir())),
    "rglob": of_file("from pathlib import Path\nlist(Path(PATH).parent.rglob('*'))", "ak/one", changed=lambda path: path.unlink()),
    "a folder that is not there": of_file("import glob\nglob.glob(PATH + '/*')", "al", lambda path: None, Path.mkdir),
    "a folder from within": of_file(
        "import os\nos.chdir(os.path.dirname(PATH))\nos.listdir()", "am/one", changed=lambda path: path.unlink()
    ),
    "fwalk": of_file("import os\nlist(os.fwalk(os.path.dirname(PATH)))", "an/one", changed=lambda path: path.unlink()),
    "a helper outside the root": of_file("import sys, os\nsys.path.append(os.path.dirname(PATH))\nimport ao", "ao.py", home="outside"),
    "a helper by its name": of_file(
        "import sys, os, importlib\nsys.path.append(os.path.dirname(PATH))\nimportlib.import_module('ap')", "ap.py", home="outside"
    ),
    "a helper that is forgotten again": of_file(
        "import sys, os\nsys.path.append(os.path.dirname(PATH))\nimport aq\ndel sys.modules['aq']", "aq.py"
    ),
    "a helper by its path": of_file("import runpy\nrunpy.run_path(PATH)", "ar.py", home="outside"),
    "a helper by its file": of_file(
        "from importlib.util import module_from_spec, spec_from_file_location\nspec = spec_from_file_location('as_', PATH)\n"
        "spec.loader.exec_module(module_from_spec(spec))",
        "as_.py",
        home="outside",
    ),
    "a helper that is not there": of_file(
        "try: import local_settings\nexcept ImportError: pass", "local_settings.py", lambda path: None, new
    ),
    "one before a helper": of_file(
        "import sys, os\nsys.path[:0] = [os.path.dirname(PATH), os.path.dirname(PATH) + '/deep']\nimport at",
        "at.py",
        lambda path: ((path.parent / "deep").mkdir(), new(path.parent / "deep" / "at.py")),
        new,
        home="outside",
    ),
    "a package before a helper": of_file(
        "import sys, os\nsys.path.append(os.path.dirname(PATH))\nimport au",
        "au",
        lambda path: new(path.with_name("au.py")),
        lambda path: (path.mkdir(), new(path / "__init__.py")),
        home="outside",
    ),
}


def longer(path: Path):
    path.write_text("longer than before\n")


def executable(path: Path):
    path.chmod(0o755)


def a_link(path: Path):
    path.parent.mkdir(exist_ok=True)
    path.with_name("one").write_text("[1, 2]\n")
    path.with_name("two").write_text("[1, 2]\n")
    path.symlink_to("one")


def led_on(path: Path):
    path.unlink()
    path.symlink_to("two")


def a_copy(path: Path):
    path.unlink()
    path.write_text("[1, 2]\n")


# What a file is like, where its content stays or is never read
LOOKS = {
    "an entry's size": of_file(
        "import os\n[entry.stat().st_size for entry in os.scandir(os.path.dirname(PATH))]", "ba/one", changed=longer, home="outside"
    ),
    "an entry's kind": of_file(
        "import os\n[entry.is_symlink() for entry in os.scandir(os.path.dirname(PATH))]", "bb/link", a_link, a_copy, home="outside"
    ),
    "an entry's permissions": of_file(
        "import os\nwith os.scandir(os.path.dirname(PATH)) as found: [entry.stat().st_mode for entry in found]",
        "bc/one",
        changed=executable,
    ),
    "an entry, by posix": of_file("import posix, os\n[e.stat() for e in posix.scandir(os.path.dirname(PATH))]", "bd/one", changed=longer),
    "a link in a folder that is walked": of_file(
        "from pathlib import Path\nlist(Path(PATH).parent.rglob('*'))", "be/link", a_link, a_copy, home="outside"
    ),
    "readlink": of_file("import os\nos.readlink(PATH)", "bf.link", a_link, led_on, home="outside"),
    "Path.readlink": of_file("from pathlib import Path\nPath(PATH).readlink()", "bg.link", a_link, led_on, home="outside"),
    "islink": of_file("import os\nassert os.path.islink(PATH)", "bh.link", a_link, a_copy, home="outside"),
    "is_symlink": of_file(
        "from pathlib import Path\nassert not Path(PATH).is_symlink()", "bi.txt", None, lambda path: (path.unlink(), a_link(path))
    ),
    "realpath": of_file("import os\nos.path.realpath(PATH)", "bj.link", a_link, led_on, home="outside"),
    "to execute": of_file("import os\nos.access(PATH, os.X_OK)", "bk.txt", changed=executable),
    "permissions": of_file("import os\nos.stat(PATH).st_mode", "bl.txt", changed=executable),
    "permissions of what is linked": of_file(
        "import os\nos.stat(PATH).st_mode", "bm.link", a_link, lambda path: executable(path.with_name("one")), home="outside"
    ),
    "a folder's permissions": of_file("import os\nos.stat(PATH).st_mode", "bn", Path.mkdir, lambda path: path.chmod(0o700)),
    "stat, by posix": of_file("from posix import stat\nassert stat(PATH)", "bo.txt", changed=longer),
    "open, by posix": of_file("import posix\nposix.read(posix.open(PATH, posix.O_RDONLY), 1)", "bp.txt"),
    "access, by posix": of_file("import posix\nassert not posix.access(PATH, 0)", "bq.txt", lambda path: None, new),
    "listdir, by posix": of_file("import posix, os\nposix.listdir(os.path.dirname(PATH))", "br/one", changed=lambda path: path.unlink()),
    "fstat": of_file("import os\nwith open(PATH) as file: os.fstat(file.fileno()).st_mode", "bw.txt", changed=executable),
    "fstat, by posix": of_file("import posix\nwith open(PATH) as file: posix.fstat(file.fileno())", "bx.txt", changed=executable),
    "stat of a descriptor": of_file("import os\nwith open(PATH) as file: os.stat(file.fileno())", "by.txt", changed=executable),
    "the size of what is open": of_file("import os\nos.path.getsize(os.open(PATH, os.O_RDONLY))", "bz.txt", changed=executable),
    "by PyTorch": of_file("import torch\ntorch.from_file(PATH, size=1, dtype=torch.uint8)", "bs.bin"),
    "by PyTorch's storage": of_file("import torch\ntorch.UntypedStorage.from_file(PATH, nbytes=1)", "bt.bin"),
    "by a storage of one kind": of_file("import torch\ntorch.ByteStorage.from_file(PATH, False, 1)", "bu.bin"),
    "by NumPy": of_file("import numpy\nnumpy.fromfile(PATH, dtype='u1')", "bv.bin"),
}


def of_variable(text: str, name: str, before: str | None = "1") -> Reading:
    def change(value: str | None):
        def act(places):
            os.environ.pop(name, None)
            os.environ.update({name: value} if value is not None else {})

        return act

    return Reading(change(before), text.replace("NAME", repr(name)), change("2"), f"the environment variable {name}")


VARIABLES = {
    "environ": of_variable("import os\nos.environ[NAME]", "TRACK_A"),
    "get": of_variable("import os\nos.environ.get(NAME)", "TRACK_B"),
    "getenv": of_variable("import os\nos.getenv(NAME)", "TRACK_C"),
    "in": of_variable("import os\nassert NAME not in os.environ", "TRACK_D", None),
    "a default": of_variable("from os import environ\nenviron.get(NAME, 'no')", "TRACK_E", None),
    "getenv of nothing": of_variable("from os import getenv\nassert getenv(NAME) is None", "TRACK_F", None),
    "as bytes": of_variable("import os\nos.environb[NAME.encode()]", "TRACK_G"),
    "getenvb": of_variable("import os\nos.getenvb(NAME.encode())", "TRACK_H"),
    "setdefault": of_variable("import os\nos.environ.setdefault(NAME, '3')", "TRACK_I"),
    "pop": of_variable("import os\nos.environ[NAME] = os.environ.pop(NAME)", "TRACK_J"),
    "pop of nothing": of_variable("import os\nos.environ.pop(NAME, None)", "TRACK_K", None),
    "del": of_variable("import os\ntry: del os.environ[NAME]\nexcept KeyError: pass", "TRACK_L"),
    "in a path": of_variable("import os\nos.path.expandvars('$' + NAME)", "TRACK_M"),
    "KeyError": of_variable("import os\ntry: os.environ[NAME]\nexcept KeyError: pass", "TRACK_N", None),
}


@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("readings", [FILES, LOOKS, VARIABLES], ids=["files", "looks", "variables"])
def test_a_change_of_anything_that_is_read_is_noticed_and_named(readings, write, places):
    """All are read by one script, so that it is checked once; then each in turn is changed on its own, and put back."""
    homes = {home: getattr(places, home) for home in ("beside", "outside")}

    def text(reading):
        return re.sub(r"<(beside|outside)/([^>]+)>", lambda found: repr(str(homes[found[1]] / found[2])), reading.text)

    kept = dict(os.environ)
    try:
        for reading in readings.values():
            reading.made(places)
        write(places, "\n".join(map(text, readings.values())) + "\n")
        content = checked(places.tree)
        saved = places.tree.certificate.read_text()
        seen = {}
        for name, reading in readings.items():
            assert not stale(), f"{name}: stale before anything changed: {stale()}"
            with put_back(places):
                reading.changed(places)
                seen[name] = stale()
            assert places.tree.certificate.read_text() == saved
        missed = {name: said for name, said in seen.items() if readings[name].said not in said}
        assert not missed, missed
        assert all("is stale, since" in said for said in seen.values())
        assert content["inputs"].keys() >= {"derivations/chapter/tiny.py"}
    finally:
        os.environ.clear()
        os.environ.update(kept)


@contextlib.contextmanager
def put_back(places):
    """What is changed within, in the folders and in the environment, is as it was afterwards."""
    variables = dict(os.environ)
    copies = {folder: folder.with_name(f"copy of {folder.name}") for folder in (places.beside, places.outside)}
    for folder, copy in copies.items():
        shutil.copytree(folder, copy, symlinks=True)
    try:
        yield
    finally:
        for folder, copy in copies.items():
            shutil.rmtree(folder)
            copy.rename(folder)
        os.environ.clear()
        os.environ.update(variables)


def test_a_change_of_what_was_not_read_leaves_it_standing(places, monkeypatch):
    for home in (places.beside, places.outside, places.snippets):
        (home / "read.txt").write_text("1")
        (home / "unread.txt").write_text("1")
    text = "import os\n" + "".join(f"open({str(home / 'read.txt')!r})\n" for home in (places.beside, places.outside, places.snippets))
    in_script(places, text + "os.environ.get('TRACK_READ')\n")
    content = checked(places.tree)
    assert {name for name in content["inputs"] if name.endswith(".txt")} == {
        "derivations/chapter/read.txt",
        "snippets/chapter/read.txt",
        str(places.outside / "read.txt"),
    }
    for home in (places.beside, places.outside, places.snippets):
        (home / "unread.txt").write_text("2")
        (home / "new.txt").write_text("2")
        (home / "new_module.py").write_text("2")
    monkeypatch.setenv("TRACK_UNREAD", "1")
    os.utime(places.beside / "read.txt")
    assert not stale()


def test_of_python_and_its_libraries_nothing_is_kept(places):
    """Their versions are."""
    in_script(places, "import json.tool, numpy.testing, sympy.stats, torch.fft, wave, difflib\nnumpy.random.default_rng(1).random()\n")
    content = checked(places.tree)
    kernel = {certificates.relative(path) for path in certificates.checker_files()}
    assert content["inputs"].keys() - kernel == {"derivations/chapter/tiny.py"}
    assert not content["folders"] and not content["variables"]
    assert "wave" in content["sought"]["derivations/chapter"] and "numpy" in content["versions"]
    (places.beside / "wave.py").write_text("")
    assert "since derivations/chapter/wave.py changed" in stale()


def test_a_librarys_file_that_a_script_opens_itself_is_kept(places):
    in_script(places, "import sympy\nopen(sympy.__file__)\n")
    assert any(name.endswith("sympy/__init__.py") for name in checked(places.tree)["inputs"])


def test_no_value_of_a_variable_is_kept(places, monkeypatch):
    monkeypatch.setenv("TRACK_SECRET", "hunter2, in clear")
    in_script(places, "import os\nos.environ['TRACK_SECRET']\n")
    kept = checked(places.tree)["variables"]
    assert kept.keys() == {"TRACK_SECRET"} and len(bytes.fromhex(kept["TRACK_SECRET"])) == 32
    for path in places.tree.store.rglob("*"):
        assert path.is_dir() or b"hunter2" not in path.read_bytes()
    (places.tree.store / "key").write_text("another key")
    assert inputs.variable("TRACK_SECRET", certificates.key()) != kept["TRACK_SECRET"]


def test_what_a_script_set_itself_is_no_dependency(places, monkeypatch):
    monkeypatch.delenv("TRACK_OWN", raising=False)
    text = "import os, tempfile\nos.environ['TRACK_OWN'] = '1'\nos.environ['TRACK_OWN']\n"
    text += "with tempfile.NamedTemporaryFile('w+') as file:\n    file.write('1'); file.flush(); open(file.name).read()\n"
    text += f"open({str(places.outside / 'own.txt')!r}, 'w').close()\nopen({str(places.outside / 'own.txt')!r}).close()\n"
    in_script(places, text)
    content = checked(places.tree)
    assert not [name for name in content["inputs"] if not name.startswith("derivations/")] and "TRACK_OWN" not in content["variables"]
    monkeypatch.setenv("TRACK_OWN", "2")
    (places.outside / "own.txt").write_text("2")
    assert not stale()


CHANGED_MEANWHILE = {
    "read, then written": "open(PATH).read()\nopen(PATH, 'w').write('2')\n",
    "read, then written with its old time": "import os\nold = os.stat(PATH)\nopen(PATH).read()\nopen(PATH, 'w').write('2')\n"
    "os.utime(PATH, ns=(old.st_atime_ns, 1))\n",
    "missed, then made": "import os\nif not os.path.exists(PATH + '2'):\n    open(PATH + '2', 'w').write('2')\n",
}


@pytest.mark.parametrize("text", CHANGED_MEANWHILE.values(), ids=CHANGED_MEANWHILE)
def test_what_changes_while_it_is_checked_is_said_and_nothing_is_kept(text, places):
    path = places.outside / "data.txt"
    path.write_text("1")
    in_script(places, text.replace("PATH", repr(str(path))))
    result = check(places.tree)
    assert not result.holds and not places.tree.certificate.exists()
    assert [f"{path}" in problem and "changed while it was checked" in problem for problem in result.problems] == [True]


def test_a_cache_of_the_scripts_own_is_refused_once_and_then_kept(places):
    path = places.outside / "cache.txt"
    in_script(
        places, f"from pathlib import Path\npath = Path({str(path)!r})\nif not path.exists(): path.write_text('1')\npath.read_text()\n"
    )
    assert not check(places.tree).holds
    assert str(path) in checked(places.tree)["inputs"]
    path.write_text("2")
    assert f"{path} changed" in stale()


# What could not be tracked ----------------------------------------------------------------------------------------------------

REFUSED = {
    "a process": ("import subprocess\nsubprocess.run(['true'])", "it starts a process"),
    "a shell": ("import os\nos.system('true')", "it starts a process"),
    "a pipe": ("import os\nos.popen('true')", "it starts a process"),
    "a fork": ("import os\nos.fork()", "it starts a process"),
    "another program": ("import os\nos.execv('/bin/true', ['true'])", "it starts a process"),
    "posix_spawn": ("import os\nos.posix_spawn('/bin/true', ['true'], {})", "it starts a process"),
    "PyTorch's own": ("import torch\ntorch.multiprocessing.get_context('fork').Process(target=int).start()", "it starts a process"),
    "of the machine": ("import platform\nplatform.processor()", "it asks what this machine is like"),
    "its name and system": ("import os\nos.uname()", "it asks what this machine is like"),
    "its name, by posix": ("import posix\nposix.uname()", "it asks what this machine is like"),
    "in words": ("import platform\nplatform.platform()", "it asks what this machine is like"),
    "its kind": ("import platform\nplatform.machine()", "it asks what this machine is like"),
    "its cores": ("import os\nos.cpu_count()", "it asks what this machine is like"),
    "its cores, by another": ("import torch\ntorch.multiprocessing.cpu_count()", "it asks what this machine is like"),
    "its disk": ("import os\nos.statvfs('/')", "it asks what this machine is like"),
    "its disk, by shutil": ("import shutil\nshutil.disk_usage('/')", "it asks what this machine is like"),
    "its load": ("import os\nos.getloadavg()", "it asks what this machine is like"),
    "its memory": ("import os\nos.sysconf('SC_PAGE_SIZE')", "it asks what this machine is like"),
    "its processes": ("import os\nopen('/proc/self/status')", "it asks what this machine is like"),
    "its devices": ("import os\nos.path.exists('/sys/class')", "it asks what this machine is like"),
    "when a file was changed": ("import os\nos.path.getmtime('/')", "it asks when a file was changed"),
    "an attribute": ("import os\nos.getxattr('/', 'user.x')", "it reads an attribute that lies beside a file"),
    "its attributes": ("import os\nos.listxattr('/')", "it reads an attribute that lies beside a file"),
    "what Python began with": ("import posix\nposix.environ[b'HOME']", "it reads the environment that Python began with"),
    "some of it": ("import posix\nposix.environ.get(b'HOME')", "it reads the environment that Python began with"),
    "all of it": ("import posix\ndict(posix.environ.items())", "it reads the environment that Python began with"),
    "a connection": ("import socket\nsocket.create_connection(('127.0.0.1', 9))", "it opens a connection"),
    "the machine's name": ("import socket\nsocket.gethostname()", "it opens a connection"),
    "a C library": ("import ctypes\nctypes.CDLL(None)", "it loads a library in C"),
    "shared memory": ("import sys\nsys.modules['_posixshmem'].shm_open('/x', 0, 0)", "it opens memory that other processes share"),
    "a database": ("import sys\nsys.modules['sqlite3'].connect(':memory:')", "it opens a database"),
    "the environment": ("import os\ndict(os.environ)", "it reads the whole environment"),
    "its names": ("import os\nlist(os.environ)", "it reads the whole environment"),
    "its size": ("import os\nlen(os.environ)", "it reads the whole environment"),
    "its text": ("import os\nrepr(os.environ)", "it reads the whole environment"),
    "a copy": ("import os\nos.environ.copy()", "it reads the whole environment"),
    "an environment with more": ("import os\nos.environ | {'A': '1'}", "it reads the whole environment"),
    "behind os.environ": ("import os\nos.environ._data.get(b'HOME')", "it reads the environment behind os.environ"),
    "behind os.environb": ("import os\nos.environb._data[b'HOME']", "it reads the environment behind os.environ"),
    "all behind it": ("import os\ndict(os.environ._data)", "it reads the environment behind os.environ"),
    "a version": ("import importlib.metadata\nimportlib.metadata.version('pyyaml')", "it asks which packages are installed"),
    "one of a listed library": ("from importlib import metadata\nmetadata.version('torch')", "it asks which packages are installed"),
    "all packages": ("from importlib import metadata\nlist(metadata.distributions())", "it asks which packages are installed"),
    "a file as a package's": (
        "import pathlib, importlib.metadata as metadata\nmetadata.PathDistribution(pathlib.Path('/etc')).read_text('hostname')",
        "it asks which packages are installed",
    ),
    "a folder as a package's": (
        "from importlib import metadata\nmetadata.FastPath('/etc').children()",
        "it asks which packages are installed",
    ),
    "an operator": ("import torch\ntorch.ops.aten.from_file('/etc/hostname', None, 1)", "it reads a file by an operator"),
    "a kind of it": ("import torch\ntorch.ops.aten.from_file.default('/etc/hostname', None, 1)", "it reads a file by an operator"),
    "the process's input": ("import os\nos.fstat(0)", "it asks what the process's own input or output is like"),
    "its output": ("import os\nos.stat(1)", "it asks what the process's own input or output is like"),
}


# Modules of Python and libraries that are not listed, in each way to have them
IMPORTS = {
    "a database": ("import sqlite3", "sqlite3"),
    "shared memory": ("from multiprocessing.shared_memory import SharedMemory", "multiprocessing.shared_memory"),
    "what it is made of": ("import _posixshmem", "_posixshmem"),
    "a page": ("import http.client", "http.client"),
    "a table of users": ("import pwd", "pwd"),
    "by its name": ("import importlib; importlib.import_module('sqlite3')", "sqlite3"),
    "by its name, in a package": ("import importlib; importlib.import_module('dbm.gnu')", "dbm.gnu"),
    "by what import calls": ("__import__('shelve')", "shelve"),
    "by a text that is run": ("exec('import dbm')", "dbm"),
    "from text to text": ("exec('exec(\"import dbm\")')", "dbm"),
    "a library": ("import yaml", "yaml"),
    "a part of one": ("from pygments.lexers import PythonLexer", "pygments.lexers"),
    "PyTorch's own processes": ("import torch.multiprocessing", "torch.multiprocessing"),
    "from PyTorch": ("from torch import multiprocessing", "torch.multiprocessing"),
    "PyTorch's hub": ("import torch.hub", "torch.hub"),
}


@pytest.mark.parametrize("text, module", IMPORTS.values(), ids=IMPORTS)
def test_what_is_not_listed_may_not_be_imported_loaded_or_not(text, module):
    for _ in range(2):
        with tracking.recorded() as recorder, pytest.raises(tracking.Untracked) as caught:
            exec(compile(f"\n{text}", "/of/a/script.py", "exec"), {})
        assert str(caught.value).startswith(f"/of/a/script.py:2: the module '{module}' is not among") and "; read files with" in str(
            caught.value
        )
        assert recorder.refused == [str(caught.value)]
        sys.modules.setdefault(module.partition(".")[0], __import__(module.partition(".")[0]))


def test_a_module_in_c_is_not_loaded_by_its_file(places):
    text = (
        "from importlib.machinery import ExtensionFileLoader as Loader, ModuleSpec as Spec\nfrom importlib.util import find_spec\n"
        "file = find_spec('syslog').origin\nLoader('syslog', file).create_module(Spec('syslog', None, origin=file))\n"
    )
    in_script(places, text)
    (problem,) = check(places.tree).problems
    assert re.search(r"tiny\.py:9: .*the module 'syslog' is not among", problem)


def test_what_python_and_libraries_import_for_themselves_is_theirs():
    text = "import shutil, zipfile, sympy, numpy.testing, statistics, logging, torch.utils.data\nshutil.which('x')\nsympy.sqrt(8)\n"
    with tracking.recorded() as recorder:
        exec(compile(text, "/of/a/script.py", "exec"), {})
    assert recorder.refused == []


@pytest.mark.parametrize("write", [in_script, in_snippet, in_what_a_snippet_calls])
def test_a_database_is_refused_wherever_it_is_read(write, places):
    text = "import sqlite3\nk = sqlite3.connect(f'file:{__file__}?mode=ro', uri=True)\n"
    write(places, text)
    result = check(places.tree)
    said = [*result.problems, *(record["message"] for record in result.records)]
    assert any("the module 'sqlite3' is not among" in one for one in said) and not places.tree.certificate.exists()


@pytest.mark.parametrize("text, says", REFUSED.values(), ids=REFUSED)
def test_what_could_not_be_tracked_is_refused_with_its_place_and_what_to_do(text, says):
    with tracking.recorded() as recorder, pytest.raises(tracking.Untracked) as caught:
        exec(compile(text, "/of/a/script.py", "exec"), {})
    assert re.fullmatch(rf"/of/a/script\.py:2: {says}.*; (compute|keep|use|read) .*", str(caught.value))
    assert recorder.refused == [str(caught.value)]


def test_the_same_outside_of_a_check_is_not_refused():
    with tracking.recorded():
        pass
    assert subprocess.run(["true"], env=dict(os.environ)).returncode == 0


@pytest.mark.parametrize("text, says", list(REFUSED.values())[::7], ids=list(REFUSED)[::7])
def test_it_is_refused_in_a_script(text, says, places):
    in_script(places, text + "\n")
    (problem,) = check(places.tree).problems
    assert re.search(rf"tiny\.py:7: .*{says}", problem) and not places.tree.certificate.exists()


SAID_OF_SNIPPETS = {
    name: REFUSED[name] for name in ("a process", "another program", "the machine's name", "its names", "its cores", "its disk")
}


@pytest.mark.parametrize("text, says", SAID_OF_SNIPPETS.values(), ids=SAID_OF_SNIPPETS)
def test_it_is_refused_in_a_snippet_too(text, says, places):
    in_snippet(places, text)
    (record,) = check(places.tree).records
    assert record["verdict"] == "refused" and re.search(
        rf"a snippet is refused: \S*snippets/chapter/tiny\.py:3: .*{says}", record["message"]
    )


@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
def test_who_catches_the_refusal_is_refused_all_the_same(write, places):
    write(places, "import os\ntry: os.fork()\nexcept BaseException: pass\n")
    result = check(places.tree)
    assert not result.holds and not places.tree.certificate.exists()
    assert ["tiny.py:" in problem and "it starts a process" in problem for problem in result.problems] == [True]


def test_a_process_that_a_thread_starts_is_refused(places):
    in_script(places, "import os, threading\nthread = threading.Thread(target=os.fork)\nthread.start()\nthread.join()\n")
    result = check(places.tree)
    assert not result.holds and "it starts a process" in result.problems[0]


# Where else it is used --------------------------------------------------------------------------------------------------------


def test_nothing_of_the_project_is_loaded_before_its_reading_is_recorded(places):
    """The process that scripts are forked from loads the kernel and libraries alone."""
    ours = "[name for name in sys.modules if re.match(r'snippets|derivations\\.(?!kernel|__main__)', name)]"
    in_script(places, f"import re, sys\nassert not {ours}, {ours}\n")
    checked(places.tree)


def test_a_recorder_leaves_everything_as_it_was(tmp_path):
    names = ("stat", "lstat", "access", "open", "readlink", "uname", "cpu_count", "statvfs")
    before = [getattr(os, name) for name in names]
    others = [dict(vars(module)) for module in (posix, platform, os.path, torch)], dict(vars(torch.UntypedStorage))
    imports = (builtins.__import__, importlib.import_module)
    finders, looked = list(sys.meta_path), dict(vars(type(os.environ)))
    with tracking.recorded() as recorder:
        (tmp_path / "x").exists()
        assert [getattr(os, name) for name in names] != before
    assert str(tmp_path / "x") in recorder.read.files
    assert [getattr(os, name) for name in names] == before and sys.meta_path == finders
    assert others == ([dict(vars(module)) for module in (posix, platform, os.path, torch)], dict(vars(torch.UntypedStorage)))
    assert imports == (builtins.__import__, importlib.import_module)
    assert dict(vars(type(os.environ))) == looked and not os.supports_dir_fd - {
        function for function in vars(os).values() if callable(function)
    }
    (tmp_path / "y").exists()
    (tmp_path / "z").write_text("")
    assert recorder.read.files.keys() == {str(tmp_path / "x")}


def test_what_was_refused_is_out_of_date_when_what_it_read_changes(places, monkeypatch):
    data = places.beside / "data.txt"
    data.write_text("1")
    in_script(places, f"import os\nopen({str(data)!r})\nos.environ.get('TRACK_Z')\nderivation.identity('bad', A, 2 * A)\n")
    runner.check_all([(TOPIC, places.tree.script)], True, 1, lambda done, more: None)
    kept = refusals.known(TOPIC)
    assert refusals.changed(kept) == []
    data.write_text("2")
    assert refusals.changed(kept) == ["derivations/chapter/data.txt"]
    monkeypatch.setenv("TRACK_Z", "1")
    assert refusals.changed(kept) == ["derivations/chapter/data.txt", "the environment variable TRACK_Z"]


def test_a_change_of_what_was_read_touches_the_topic(places):
    data, folder = places.beside / "data.json", places.snippets / "listed"
    folder.mkdir()
    data.write_text("1")
    in_script(
        places, f"import os\nopen({str(data)!r})\nos.listdir({str(folder)!r})\ntry: import local_settings\nexcept ImportError: pass\n"
    )
    checked(places.tree)
    beside, listed = "derivations/chapter", "snippets/chapter/listed"
    for path in (f"{beside}/data.json", f"{beside}/local_settings.py", f"{listed}/new.txt", f"{listed}/"):
        assert touched({path}).topics == {TOPIC}, path
    for path in (f"{beside}/other.json", f"{beside}/settings.py", "snippets/chapter/new.txt", f"{listed}/deep/new.txt"):
        assert touched({path}).topics == set(), path


def test_what_coq_said_falls_with_what_was_read(places, monkeypatch):
    monkeypatch.setenv("TRACK_Y", "1")
    (places.beside / "data.txt").write_text("1")
    in_script(places, "import os\nos.environ['TRACK_Y']\nos.listdir()\nopen('data.txt')\n")
    before = coq_results.identity(checked(places.tree))
    assert before == coq_results.identity(checked(places.tree))
    monkeypatch.setenv("TRACK_Y", "2")
    second = coq_results.identity(checked(places.tree))
    (places.beside / "another.txt").write_text("1")
    third = coq_results.identity(checked(places.tree))
    assert len({before, second, third}) == 3


def test_what_became_of_mutants_falls_with_what_was_read(places, monkeypatch):
    monkeypatch.setenv("TRACK_X", "1")
    data = places.beside / "data.txt"
    data.write_text("1")
    in_script(places, "import os\nos.environ['TRACK_X']\nopen('data.txt')\n")
    checked(places.tree)
    current = {name: "as it is" for name in mutants_kept.WITNESSES}
    mutants_kept.keep(TOPIC, {"sum": {"witnesses": {name: {"depends_on": "as it is"} for name in current}}})

    def kept():
        return mutants_kept.kept(TOPIC, current)

    assert kept()["sum"]["witnesses"].keys() == current.keys()
    data.write_text("2")
    assert kept() == {}
    checked(places.tree)
    assert kept() == {}
    data.write_text("1")
    checked(places.tree)
    assert kept()
    monkeypatch.setenv("TRACK_X", "2")
    checked(places.tree)
    assert kept() == {}


@pytest.mark.parametrize("kept", [True, False])
def test_what_a_library_reads_while_it_is_imported_is_its_own(tmp_path, monkeypatch, kept):
    """It asks for hundreds of variables of its own then, and makes folders; what it reads for a script later is the script's."""
    monkeypatch.setattr(sys, "dont_write_bytecode", not kept)
    for name in ("helps", "asks"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    package = tmp_path / "site-packages"
    package.mkdir()
    (package / "asks.py").write_text(
        f"import os\nos.environ.get('TRACK_OWN')\ndict(os.environ)\nos.listdir({str(tmp_path)!r})\nos.path.exists({str(tmp_path / 'x')!r})\n"
        f"def later():\n    os.environ.get('TRACK_LATER')\n    return os.path.exists({str(tmp_path / 'y')!r})\n"
    )
    helper = tmp_path / "helpers"
    helper.mkdir()
    (helper / "helps.py").write_text("import os\nos.environ.get('TRACK_HELPER')\nimport asks\n")
    monkeypatch.syspath_prepend(package)
    monkeypatch.syspath_prepend(helper)
    monkeypatch.setattr(tracking, "LIBRARIES", tracking.LIBRARIES | {"asks"})
    with tracking.recorded() as recorder:
        exec(compile("import helps, asks\nasks.later()\n", "/of/a/script.py", "exec"), {})
    read = recorder.read
    assert read.variables == {"TRACK_LATER", "TRACK_HELPER"} and read.folders == {}
    assert read.files.keys() == {str(tmp_path / "y"), str(helper / "helps.py")}
    assert read.sought[str(helper)] == {"helps": ["helps.py"], "asks": []} and str(package) not in read.sought


def test_the_folders_on_the_way_to_a_resolved_path_are_no_dependency(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    with tracking.recorded() as recorder:
        exec(compile(f"from pathlib import Path\nPath({str(tmp_path / 'link' / 'x')!r}).resolve()\n", "/of/a/script.py", "exec"), {})
    assert recorder.read.files == {str(tmp_path / "link"): inputs.FOLDER, str(tmp_path / "x"): inputs.ABSENT}


def test_a_shared_folder_in_memory_is_one_like_any_other(places, tmp_path):
    shared = Path("/dev/shm")
    if sys.platform == "darwin":
        pytest.skip("macOS has no /dev/shm")
    with tempfile.NamedTemporaryFile("w", dir=shared, suffix=".txt") as file:
        file.write("1")
        file.flush()
        in_script(places, f"open({file.name!r}).read()\n")
        checked(places.tree)
        assert not stale()
        file.write("2")
        file.flush()
        assert f"since {file.name} changed" in stale()


@pytest.mark.parametrize(
    "text",
    [
        "import time\nassert (time.timezone, time.tzname[0], time.localtime(0).tm_hour) == (0, 'UTC', 0)",
        "import locale\nassert locale.setlocale(locale.LC_ALL, '') in ('C.UTF-8', 'C')",
        "import locale\nassert locale.localeconv()['decimal_point'] == '.' and not locale.localeconv()['thousands_sep']",
        "import os\nassert os.environ['TZ'] == 'UTC' and 'LANGUAGE' not in os.environ and 'LC_NUMERIC' not in os.environ",
        "import sys\nassert sys.argv == sys.orig_argv == [__file__]",
    ],
    ids=["time zone", "locale", "decimal point", "variables", "arguments"],
)
@pytest.mark.parametrize(
    "where", [{}, {"TZ": "Asia/Tokyo", "LC_ALL": "C", "LANGUAGE": "de", "LANG": "de_DE.UTF-8", "LC_NUMERIC": "de_DE.UTF-8"}]
)
def test_the_time_zone_the_locale_and_the_arguments_are_the_same_everywhere(text, where, places, monkeypatch):
    for name, value in where.items():
        monkeypatch.setenv(name, value)
    in_script(places, text + "\n")
    checked(places.tree)


def test_a_library_may_know_what_the_machine_is_like(tmp_path, monkeypatch):
    """What it tells the project's code is not refused: pools and the like ask for themselves."""
    package = tmp_path / "site-packages"
    package.mkdir()
    (package / "cores.py").write_text("import os\ndef number():\n    return os.cpu_count(), os.uname(), os.path.getmtime('/')\n")
    monkeypatch.syspath_prepend(package)
    monkeypatch.setattr(tracking, "LIBRARIES", tracking.LIBRARIES | {"cores"})
    with tracking.recorded() as recorder:
        exec(compile("import cores\ncores.number()\n", "/of/a/script.py", "exec"), {})
    assert recorder.refused == []


def test_python_copies_a_file_with_its_attributes(tmp_path):
    (tmp_path / "a").write_text("")
    with tracking.recorded() as recorder:
        exec(compile(f"import shutil\nshutil.copy2({str(tmp_path / 'a')!r}, {str(tmp_path / 'b')!r})\n", "/of/a/script.py", "exec"), {})
    assert recorder.refused == [] and str(tmp_path / "a") in recorder.read.files


TOLD = """
import locale, os, time
from derivations.kernel.run import worker

def told():
    print(time.timezone, time.tzname[0], locale.setlocale(locale.LC_ALL, ""))

for zone in {zones}:
    os.environ |= {{"TZ": zone, "LC_ALL": "C"}}
    time.tzset()
    told()
    worker.be_anywhere()
    told()
"""


def test_a_process_that_is_elsewhere_is_brought_to_where_all_are():
    zones = ["Asia/Tokyo", "JST-9", "America/New_York"]
    elsewhere = os.environ | {"TZ": zones[0], "LC_ALL": "C", "PYTHONPATH": str(certificates.ROOT)}
    ran = subprocess.run([sys.executable, "-c", TOLD.format(zones=zones)], env=elsewhere, capture_output=True, text=True, check=True)
    said = list(map(str.split, ran.stdout.splitlines()))
    assert len(said) == 2 * len(zones)
    for before, after in zip(said[::2], said[1::2]):
        assert before[1] != "UTC" and after[:2] == ["0", "UTC"] and after[2] in ("C.UTF-8", "C")


def test_what_nobody_heeds_is_passed_over_at_once(monkeypatch):
    told = []
    monkeypatch.setattr(tracking.Recorder, "told", lambda self, event, arguments: told.append(event))
    with tracking.recorded():
        id(told), sys._getframe()  # of which Python tells, a million times in a check
        open(__file__).close()
    assert "open" in told and not {"builtins.id", "sys._getframe"} & {*told}


def test_memory_that_is_given_back_is_used_again():
    if sys.platform != "linux":
        pytest.skip("mallopt is the C library's of Linux")
    warm.keep_memory()
    held = [torch.ones(2**20) for _ in range(20)]  # of a thousand pages each
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5):
        held.clear()
        held += [torch.ones(2**20) for _ in range(20)]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 10_000
