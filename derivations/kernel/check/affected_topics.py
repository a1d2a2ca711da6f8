"""Find the topics that a change of files affects.

A topic is affected if one of its certificate's inputs changed, or if its claims use claims of an affected topic.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..store import certificates, project_files, rejections, store

KERNEL = "derivations/kernel/"


@dataclass
class AffectedTopics:
    """What must be checked or rendered again after a change."""

    checker_files: list[str] = field(default_factory=list)  # if there are any, every topic must be checked again
    topics: set[str] = field(default_factory=set)  # topics that must be checked again
    pages: set[str] = field(default_factory=set)  # topics whose page, figures or snippets changed
    removed: list[str] = field(default_factory=list)  # topics whose script was removed


@dataclass
class LastCheck:
    """The inputs of a topic's last check, and its result."""

    inputs: set[str]  # the names of the files that the check read
    uses: set[str]  # the topics whose claims it uses
    rejected: bool  # whether the topic was rejected or never checked


def find_affected(paths: set[str]) -> AffectedTopics:
    """Return what must be checked or rendered again after changes to these paths, which are relative to the project's root.

    A path that ends in "/" is a folder that was moved or removed.
    """
    found = AffectedTopics(checker_files=sorted(p for p in paths if p.startswith(KERNEL) and is_checker_file(p)))
    topics = {topic: last_check(topic) for topic in certificates.topics()}
    found.topics = {topic for topic, check in topics.items() if any(affects(p, topic, check) for p in paths)}
    found.pages = {topic for topic in topics if any(is_page_source(p, topic) for p in paths)}
    found.removed = sorted(topic for topic in map(topic_of_script, paths) if topic and topic not in topics)
    found.topics |= find_users(found.topics | set(found.removed), topics)
    return found


def is_checker_file(path: str) -> bool:
    """Return whether a path in the kernel's folder is a folder, or a file that a check of a script loads."""
    if path.endswith("/"):
        return True
    return path.endswith((".py", ".v")) and not project_files.is_unloaded(Path(path.removeprefix(KERNEL)))


def last_check(topic: str) -> LastCheck:
    """Return the inputs and the result of a topic's last check, even if its certificate is stale. Read the files only if they changed."""
    files = (certificates.STORE.path(topic), rejections.STORE.path(topic), store.FOLDER / "key")
    stamps = [*map(file_stamp, files)]
    if topic not in _last_checks or _last_checks[topic][0] != stamps:
        _last_checks[topic] = stamps, read_last_check(topic)
    return _last_checks[topic][1]


_last_checks: dict[str, tuple[list, LastCheck]] = {}  # by topic: the stamps of its stored files, and their content


def file_stamp(path: Path) -> tuple:
    """Return the times, size and inode of a file, which show whether it has changed, or () if it cannot be read."""
    try:
        stat = path.stat()
    except OSError:
        return ()
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino


def read_last_check(topic: str) -> LastCheck:
    """Read a topic's last check from its certificate and its stored rejection."""
    certificate, rejection = certificates.STORE.get(topic), rejections.get(topic)
    inputs = {name for stored in (certificate, rejection) if stored for name in stored["inputs"]}
    uses = {use for claim in certificate["claims"] for use in claim["uses"]} if certificate else set()
    uses |= set(rejection["uses"]) if rejection else set()
    return LastCheck(inputs, {use.partition("#")[0] for use in uses if "#" in use}, not inputs or rejection is not None)


def affects(path: str, topic: str, last: LastCheck) -> bool:
    """Return whether a change to a path affects a topic directly. `last` is the topic's last check.

    Any snippet may affect a rejected topic, because its script may have stopped before it imported the snippet that must be corrected.
    """
    if path.startswith(KERNEL):
        return False  # a changed checker affects all topics, which `find_affected` reports separately
    script = f"derivations/{topic}.py"
    if path.endswith("/") and any(f"{name}/".startswith(path) for name in last.inputs | {script}):
        return True
    return path in last.inputs or path == script or last.rejected and path.startswith("snippets/") and path.endswith(".py")


def is_page_source(path: str, topic: str) -> bool:
    """Return whether a topic's page is rendered from the file with this path."""
    return path in (f"docs/{topic}.md", f"docs/figures/{topic}.py", f"snippets/{topic}.py")


def topic_of_script(path: str) -> str:
    """Return the topic whose script would have this path, or "" if no topic's script would."""
    parts = Path(path).parts
    is_script = len(parts) == 3 and parts[0] == "derivations" and path.endswith(".py") and parts[2] != "__init__.py"
    return f"{parts[1]}/{parts[2].removesuffix('.py')}" if is_script and not path.startswith(KERNEL) else ""


def find_users(used: set[str], topics: dict[str, LastCheck]) -> set[str]:
    """Return the topics that use claims of the used topics, directly or indirectly."""
    found: set[str] = set()
    while more := {topic for topic, last in topics.items() if last.uses & (used | found)} - found:
        found |= more
    return found
