"""Certificates: the records that pages are rendered from, and when one may be trusted.

A certificate is trusted only if it was sealed by a run of the checker on this machine, was not edited since, and is
unchanged in all that it depended on: the checker, the versions of libraries, and what tracking.py saw the script and its
snippets read. This catches mistakes, not malice: who can write to the store can forge a seal. Trust rests on replay:
`python -m derivations check --fresh` proves everything again.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import math
import os
import secrets
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version

from . import inputs
from .inputs import file_hash

ROOT = Path(__file__).resolve().parents[3]
STORE = ROOT / ".certificates"
LIBRARIES = ("sympy", "mpmath", "python-flint", "quicktions")
FORMAT = 5
SETTLED = 10**9  # nanoseconds: no file system's clock is coarser than half of it
# Nothing of these rooms, and none of these files, is loaded where a script is checked.
KEPT_ASIDE = (
    "cluster",
    "code_mutation",
    "coq",
    "coq_kept",
    "coq_open",
    "coq_results",
    "fuzz",
    "fuzz_kept",
    "importing",
    "mutants_kept",
    "mutation",
    "pool",
    "programs",
    "proofs",
    "touched",
    "whole_runs",
)
ASIDE = ("attack", "command", "coq", "site", *(f"run/{name}.py" for name in KEPT_ASIDE))


class CertificateError(Exception):
    """A certificate that must not be shown; the message says why, and what to do."""


def kernel() -> Path:
    return ROOT / "derivations" / "kernel"


@dataclass(frozen=True)
class Listed:
    """The kernel's files, as they were listed."""

    folders: dict  # when each was changed
    files: list
    of_checker: list  # those of its files that are loaded where a script is checked
    names: list  # of these, from the root on


def kernel_files() -> list:
    """All of the kernel's sources, room by room."""
    return list(listed().files)


def checker_files() -> list:
    """The kernel without what is never loaded where a script is checked."""
    return list(listed().of_checker)


def listed() -> Listed:
    of = kernel()
    if (known := _listed.get(of)) and all(stamp(folder) == was for folder, was in known.folders.items()):
        return known
    walked = list(os.walk(of))
    folders = {folder: stamp(folder) for folder, _, _ in walked}
    files = sorted(Path(folder, name) for folder, _, names in walked for name in names if name.endswith((".py", ".v")))
    own = [path for path in files if not is_aside(path.relative_to(of))]
    _listed[of] = Listed(folders, files, own, [named(path) for path in own])
    return _listed[of]


_listed: dict[Path, Listed] = {}


def stamp(folder: str) -> float:
    """When a folder was changed; never twice the same where that is so short ago that it may change again unseen."""
    try:
        changed = os.stat(folder).st_mtime_ns
    except OSError:
        return math.nan
    return changed if time.time_ns() - changed > SETTLED else math.nan


def room(path: Path) -> str:
    """The room that one of the kernel's files stands in; "" for the kernel's own folder."""
    return "/".join(path.parts[len(kernel().parts) : -1])


def is_aside(within: Path) -> bool:
    """Is the file of this name in the kernel's folder never loaded where a script is checked?"""
    return within.parts[0] in ASIDE or within.as_posix() in ASIDE


@cache
def versions() -> dict:
    return {name: installed(name) for name in ("python", *LIBRARIES)}


@cache
def installed(name: str) -> str:
    try:
        return python_version() + " -O" * sys.flags.optimize if name == "python" else version(name)
    except PackageNotFoundError:
        return ""


def seal(content: dict) -> str:
    text = json.dumps({k: v for k, v in content.items() if k != "seal"}, sort_keys=True)
    return hmac.new(key(), text.encode(), hashlib.sha256).hexdigest()


def key() -> bytes:
    """A random key of this checkout, made on first use."""
    path = STORE / "key"
    if not path.exists():
        STORE.mkdir(exist_ok=True)
        fresh = STORE / f"key.{secrets.token_hex()}"
        fresh.write_text(secrets.token_hex())
        fresh.chmod(0o600)
        with contextlib.suppress(FileExistsError):  # another process was first; its key stands
            os.link(fresh, path)
        fresh.unlink()
    return path.read_text().encode()


def script_of(topic: str) -> Path:
    return ROOT / "derivations" / f"{topic}.py"


def path_of(topic: str) -> Path:
    return STORE / f"{topic}.json"


@dataclass
class Reads:
    """What a check read beside the checker, by name; empty where it is not known. Of variables, only which ones."""

    files: dict = field(default_factory=dict)  # a hash, or inputs.ABSENT or what else is there
    looks: dict = field(default_factory=dict)  # what a file is like, without its content
    folders: dict = field(default_factory=dict)  # a hash of what a listing gave
    sought: dict = field(default_factory=dict)  # by folder, the modules that were looked for, and what was there of that name
    variables: list = field(default_factory=list)

    def stored(self) -> dict:
        """As it is stored, files from the root on, and hashes for the values of variables."""
        return {
            "inputs": {named(path): was for path, was in self.files.items()},
            "looks": {named(path): was for path, was in self.looks.items()},
            "folders": {named(path): was for path, was in self.folders.items()},
            "sought": {named(path): was for path, was in self.sought.items()},
            "variables": {name: inputs.variable(name, key()) for name in self.variables},
        }


def save(
    topic: str,
    script: Path,
    title: str,
    claims: list,
    imported: list,
    began: int | None = None,
    libraries: dict | None = None,
    reads: Reads | None = None,
    before: dict | None = None,
) -> list:
    """Seal and store what a run of the checker has just proved; or nothing, and return what changed since it began (in ns).

    `before` is what an earlier check depended on from which claims were taken over.
    """
    depended, changed = depended_on(script, imported, began, libraries, reads, before)
    if not changed:
        store(topic, script, title, claims, depended)
    return changed


def store(topic: str, script: Path, title: str, claims: list, depended: dict) -> None:
    write(path_of(topic), depended | {"topic": topic, "script": relative(script), "title": title, "claims": claims})


def depended_on(
    script: Path,
    imported: list,
    began: int | None = None,
    libraries: dict | None = None,
    reads: Reads | None = None,
    before: dict | None = None,
    loaded: int | None = None,
) -> tuple[dict, list]:
    """What a check depended on, as it is stored, and what of it changed since it began; of the checker, since it was `loaded` (in ns)."""
    files = sorted({script, *imported, *checker_files()})
    read = with_earlier((reads or Reads()).stored(), before or {})
    since = dict.fromkeys(files, began) | dict.fromkeys(checker_files(), loaded or began)
    changed = {relative(p) for p, was in since.items() if was and (not p.exists() or p.stat().st_mtime_ns > was)}
    content = read | {
        "format": FORMAT,
        "inputs": read["inputs"] | {named(p): file_hash(p) for p in files if p.exists()},
        "versions": versions() | (before or {}).get("versions", {}) | (libraries or {}),
    }
    return content, sorted({*changed, *changes_of(read)})


def with_earlier(read: dict, before: dict) -> dict:
    """Merge what this check read with what an earlier one read. Files that changed in between are recorded as they are now."""
    if not before:
        return read
    changed = set(changes_of(before))

    def renewed(part: str, ask: Callable) -> dict:
        return {name: ask(os.path.join(f"{ROOT}{os.sep}", name)) if name in changed else was for name, was in before[part].items()}

    sought = {
        folder: before["sought"].get(folder, {}) | read["sought"].get(folder, {}) for folder in {**before["sought"], **read["sought"]}
    }
    others = {part: before[part] | read[part] for part in ("folders", "variables")}
    files = {"inputs": renewed("inputs", inputs.state) | read["inputs"], "looks": renewed("looks", inputs.look) | read["looks"]}
    return {**others, **files, "sought": sought}


def write(path: Path, content: dict):
    """Seal and store."""
    put(path, json.dumps(content | {"seal": seal(content)}, indent=1, sort_keys=True))


def put(path: Path, text: str):
    """Have the file hold the text: whole, or not at all. What is half written has a name that no site takes in."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        half.write_text(text, encoding="utf-8")
        half.replace(path)


def read(path: Path, what: str, again: str) -> dict:
    """What was stored, with its seal unbroken; else CertificateError, which says how to make it again."""
    try:
        text = path.read_text()
        content = json.loads(text)
        if is_sealed(text, content):
            return content
    except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
        raise CertificateError(f"{what} cannot be read; {again}") from None
    raise CertificateError(f"{what} was not written by the checker as it stands; {again}")


_sealed: set[bytes] = set()  # hashes of the texts, with the key, of which the seal was seen to be unbroken


def is_sealed(text: str, content: dict) -> bool:
    """Whether the seal is unbroken; a text of which that is known is not written out again to see it."""
    known = hashlib.sha256(key() + text.encode()).digest()
    if known not in _sealed and hmac.compare_digest(content.get("seal", ""), seal(content)):
        _sealed.add(known)
    return known in _sealed


def remove(topic: str):
    path_of(topic).unlink(missing_ok=True)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def named(path: str | Path) -> str:
    """A file's or a folder's name, from the root on if it lies there."""
    return relative(Path(path)) if Path(path).is_relative_to(ROOT) else Path(path).as_posix()


def load(topic: str) -> dict:
    """The certificate of a topic; CertificateError if there is none that may be trusted."""
    script, path = script_of(topic), path_of(topic)
    again = f"run: python -m derivations check {topic}"
    if not is_topic(topic):
        raise CertificateError(f"there is no derivation '{topic}'; python -m derivations list shows those there are")
    if not path.exists():
        raise CertificateError(f"'{topic}' has no certificate: it was not checked, or a claim failed; {again}")
    content = read(path, f"the certificate of '{topic}'", f"{again} --fresh")
    if (content.get("format"), content.get("topic"), content.get("script")) != (FORMAT, topic, relative(script)):
        raise CertificateError(f"the certificate of '{topic}' was made for something else; {again} --fresh")
    refuse_stale(topic, content)
    return content


def refuse_stale(topic: str, content: dict) -> None:
    if changed := changes(content):
        raise CertificateError(
            f"the certificate of '{topic}' is stale, since {', '.join(changed)} changed; run: python -m derivations check {topic}"
        )


def standing(topic: str) -> str:
    """The seal of a topic's certificate that may be trusted; CertificateError if there is none. Read again only where it is another one."""
    path = path_of(topic)
    text = (file_hash(path), key()) if path.exists() else None
    was, known = _standing.get(path, (None, {}))
    if text and text == was and is_topic(topic):
        refuse_stale(topic, known)
    else:
        known = {part: of for part, of in load(topic).items() if part != "claims"}
        _standing[path] = text, known
    return known["seal"]


_standing: dict[Path, tuple] = {}  # (the hash of its text and the key, what it says but for its claims)


def changes(content: dict) -> list:
    """What a certificate depended on that is not as it was."""
    new = [name for name in listed().names if name not in content["inputs"]]
    libraries = [
        name
        for name, stated in (versions() | content["versions"]).items()
        if stated != installed(name) or name in versions() and content["versions"].get(name) != versions()[name]
    ]
    return sorted(changes_of(content) + new + libraries)


def changes_of(read: dict) -> list:
    """Which of the files, folders and variables that a check read are not as they were."""
    root = f"{ROOT}{os.sep}"  # a path joined to this one stays itself if it is absolute
    found = [name for name, was in read["inputs"].items() if inputs.state(os.path.join(root, name)) != was]
    found += [name for name, was in read["looks"].items() if inputs.look(os.path.join(root, name)) != was]
    found += [f"what is in {name}" for name, was in read["folders"].items() if inputs.listing(os.path.join(root, name)) != was]
    for folder, was in read["sought"].items():
        now = inputs.modules(os.path.join(root, folder), list(was))
        found += [Path(folder, one).as_posix() for name in was for one in sorted({*now[name]} ^ {*was[name]})]
    secret = key() if read["variables"] else b""
    found += [variable_called(name) for name, was in read["variables"].items() if inputs.variable(name, secret) != was]
    return sorted(set(found))


def variable_called(name: str) -> str:
    return "the environment as a whole" if name == inputs.ALL else f"the environment variable {name}"


def is_topic(topic: str) -> bool:
    parts = topic.split("/")
    return len(parts) == 2 and all(p.isidentifier() for p in parts) and parts[0] != "kernel" and script_of(topic).is_file()


def topics() -> list:
    """All topics, by chapter and name."""
    found = (p.relative_to(ROOT / "derivations").with_suffix("").as_posix() for p in (ROOT / "derivations").glob("*/*.py"))
    return sorted(t for t in found if is_topic(t) and not t.endswith("/__init__"))
