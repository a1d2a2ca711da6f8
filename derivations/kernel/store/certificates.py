"""Certificates: the records that pages are rendered from, and when one may be used.

A certificate may be used only if a run of the checker on this machine sealed it, nobody edited it since, and everything that it depends on is
unchanged: the checker, the versions of libraries, the project's modules that were imported, and the files and environment variables that
input_tracking.py saw the script and its snippets read.
"""

from __future__ import annotations

from pathlib import Path

from . import project_files
from .dependencies import Dependencies, Reads, versions
from .project_files import file_hash, relative
from .store import Missing, Store, StoreError, secret

STORE = Store("certificates")


class CertificateError(Exception):
    """A certificate that must not be shown; the message says why, and what to do."""


def script_of(topic: str) -> Path:
    return project_files.ROOT / "derivations" / f"{topic}.py"


def is_topic(topic: str) -> bool:
    parts = topic.split("/")
    return len(parts) == 2 and all(p.isidentifier() for p in parts) and parts[0] != "kernel" and script_of(topic).is_file()


def topics() -> list[str]:
    """Return all topics, by chapter and name."""
    home = project_files.ROOT / "derivations"
    found = (path.relative_to(home).with_suffix("").as_posix() for path in home.glob("*/*.py"))
    return sorted(topic for topic in found if is_topic(topic) and not topic.endswith("/__init__"))


# Dependencies of a check -------------------------------------------------------------------------------------------------------------


def depended_on(
    script: Path,
    imported: list[Path],
    began: int | None = None,
    libraries: dict[str, str] | None = None,
    reads: Reads | None = None,
    earlier: Dependencies | None = None,
    loaded: int | None = None,
) -> tuple[Dependencies, list[str]]:
    """Return what a check depends on, and what of it changed since the check `began` (in ns), or the checker since it was `loaded`.

    `earlier` is what an earlier check depended on whose records are used again.
    """
    checker = project_files.checker_files()
    found = Dependencies.now([], reads)
    if earlier:
        found = found.with_earlier(earlier)
    changed = found.changes()
    since = dict.fromkeys([script, *imported], began) | dict.fromkeys(checker, loaded or began)
    changed += [relative(path) for path, was in since.items() if was and (not path.exists() or path.stat().st_mtime_ns > was)]
    found.inputs |= Dependencies.now(since).inputs
    found.versions = versions() | found.versions | (libraries or {})
    return found, sorted(set(changed))


def changes(content: dict) -> list[str]:
    """Return what a certificate depends on that is not as it was, new files of the checker included."""
    new = [name for name in map(relative, project_files.checker_files()) if name not in content["inputs"]]
    return sorted({*Dependencies.of(content).changes(), *new, *(versions().keys() - content["versions"].keys())})


# Storing and loading -----------------------------------------------------------------------------------------------------------------


def put(topic: str, title: str, claims: list[dict], depends: Dependencies) -> None:
    """Store the certificate of a topic whose claims all hold."""
    STORE.put(topic, depends.stored() | {"topic": topic, "script": relative(script_of(topic)), "title": title, "claims": claims})


def load(topic: str) -> dict:
    """Return the certificate of a topic. Raise CertificateError if there is none that may be used."""
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
    if changed := changes(content):
        raise CertificateError(
            f"the certificate of '{topic}' is stale, since {', '.join(changed)} changed; run: python -m derivations check {topic}"
        )


def identity(topic: str) -> str:
    """Return a hash of a topic's certificate. Raise CertificateError if there is none that may be used. Read it only if it changed."""
    path = STORE.path(topic)
    now = (file_hash(path), secret()) if path.is_file() else None
    was, known = _known.get(path, (None, {}))
    if now and now == was and is_topic(topic):
        reject_stale(topic, known)
    else:
        known = {part: value for part, value in load(topic).items() if part != "claims"}
        _known[path] = now, known
    return _known[path][0][0]


_known: dict[Path, tuple] = {}  # by file: (hash of the file and the key, the certificate without its claims)
