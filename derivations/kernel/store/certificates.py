"""Store certificates, the records from which pages are rendered, and load one only if it is valid.

A certificate is valid only if a run of the checker on this machine sealed it, nobody has edited it since, and everything that it depends on
is unchanged: the checker, the versions of libraries, the project's modules that were imported, and the files and
environment variables that the script and its snippets read (check/input_tracking.py).
"""

from __future__ import annotations

from pathlib import Path

from . import project_files
from .dependencies import Dependencies, Reads, library_versions
from .project_files import file_hash, relative
from .store import Missing, Store, StoreError, secret

STORE = Store("certificates")


class CertificateError(Exception):
    """A certificate is missing or invalid. The message says why, and what to do."""


def script_of(topic: str) -> Path:
    """Return the path of the script of a topic."""
    return project_files.ROOT / "derivations" / f"{topic}.py"


def is_topic(topic: str) -> bool:
    """Return whether this is the name of a topic, `chapter/name`, that has a script."""
    parts = topic.split("/")
    return len(parts) == 2 and all(p.isidentifier() for p in parts) and parts[0] != "kernel" and script_of(topic).is_file()


def topics() -> list[str]:
    """Return the names of all topics, sorted."""
    folder = project_files.ROOT / "derivations"
    found = (path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/*.py"))
    return sorted(topic for topic in found if is_topic(topic) and not topic.endswith("/__init__"))


# Dependencies of a check -------------------------------------------------------------------------------------------------------------


def collect_dependencies(
    script: Path,
    imported: list[Path],
    began: int | None = None,
    libraries: dict[str, str] | None = None,
    reads: Reads | None = None,
    earlier: Dependencies | None = None,
    started: int | None = None,
) -> tuple[Dependencies, list[str]]:
    """Return the dependencies of a check, and the names of those that changed while it ran.

    A script or module has changed if it was modified after the check `began`; a file of the checker, if it was modified after the round
    `started` (times in ns). `earlier` contains the dependencies of an earlier check whose records are used again.
    """
    checker = project_files.checker_files()
    found = Dependencies.now([], reads)
    if earlier:
        found = found.with_earlier(earlier)
    changed = found.changes()
    since = dict.fromkeys([script, *imported], began) | dict.fromkeys(checker, started or began)
    changed += [relative(path) for path, time in since.items() if time and (not path.exists() or path.stat().st_mtime_ns > time)]
    found.inputs |= Dependencies.now(since).inputs
    found.versions = library_versions() | found.versions | (libraries or {})
    return found, sorted(set(changed))


def find_changes(content: dict) -> list[str]:
    """Return the names of the dependencies of a certificate that have changed, including new files of the checker and new libraries."""
    new = [name for name in map(relative, project_files.checker_files()) if name not in content["inputs"]]
    return sorted({*Dependencies.of(content).changes(), *new, *(library_versions().keys() - content["versions"].keys())})


# Storing and loading -----------------------------------------------------------------------------------------------------------------


def put(topic: str, title: str, claims: list[dict], depends: Dependencies) -> None:
    """Store the certificate of a topic whose claims all hold."""
    STORE.put(topic, depends.stored() | {"topic": topic, "script": relative(script_of(topic)), "title": title, "claims": claims})


def load(topic: str) -> dict:
    """Return the certificate of a topic. Raise CertificateError if there is no valid one."""
    again = f"run: python -m derivations check {topic}"
    if not is_topic(topic):
        raise CertificateError(f"there is no derivation '{topic}'; python -m derivations list shows those there are")
    try:
        content = STORE.require(topic)
    except Missing:
        raise CertificateError(f"'{topic}' has no certificate: it was not checked, or a claim failed; {again}") from None
    except StoreError as error:
        raise CertificateError(f"the certificate of '{topic}' {error}; {again} --fresh") from None
    reject_stale(topic, content)
    return content


def reject_stale(topic: str, content: dict) -> None:
    """Raise CertificateError if a dependency of the certificate has changed."""
    if changed := find_changes(content):
        raise CertificateError(
            f"the certificate of '{topic}' is stale, since {', '.join(changed)} changed; run: python -m derivations check {topic}"
        )


def certificate_digest(topic: str) -> str:
    """Return a hash of a topic's certificate. Raise CertificateError if there is no valid one. Read the file only if it has changed."""
    path = STORE.path(topic)
    now = (file_hash(path), secret()) if path.is_file() else None
    before, content = _loaded.get(path, (None, {}))
    if now and now == before and is_topic(topic):
        reject_stale(topic, content)
    else:
        content = {part: value for part, value in load(topic).items() if part != "claims"}
        _loaded[path] = now, content
    return _loaded[path][0][0]


_loaded: dict[Path, tuple] = {}  # by file: (hash of the file and the key, the certificate without its claims)
