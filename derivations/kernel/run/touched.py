"""Which topics a change of files touches: a certificate's inputs say what it came from, and its claims which topics they use."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from . import certificates, refusals
from .certificates import CertificateError

KERNEL = "derivations/kernel/"


@dataclass
class Touched:
    """What a change asks for."""

    kernel: list = field(default_factory=list)  # files of the checker itself: every topic has to be checked again
    topics: set = field(default_factory=set)
    pages: set = field(default_factory=set)  # topics of which the page, or a picture on it, changed
    gone: list = field(default_factory=list)  # topics whose script is not there any more


@dataclass
class Known:
    """What a topic came from when it was last checked."""

    inputs: set
    uses: set  # other topics
    refused: bool


def touched(paths: set) -> Touched:
    """What the paths ask for, each given from the root; one that ends in "/" is a folder that was moved or removed."""
    found = Touched(kernel=sorted(p for p in paths if p.startswith(KERNEL) and of_the_checker(p)))
    topics = {topic: known(topic) for topic in certificates.topics()}
    found.topics = {topic for topic, it in topics.items() if any(concerns(p, topic, it) for p in paths)}
    found.pages = {topic for topic in topics if any(of_the_page(p, topic) for p in paths)}
    found.gone = sorted(topic for topic in map(topic_of, paths) if topic and topic not in topics)
    found.topics |= users(found.topics | set(found.gone), topics)
    return found


def of_the_checker(path: str) -> bool:
    if path.endswith("/"):
        return True
    return path.endswith((".py", ".v")) and not certificates.is_aside(Path(path.removeprefix(KERNEL)))


def known(topic: str) -> Known:
    """What a topic came from; read again only where its files are others than those that were read well."""
    stamps = [*map(stamp, (certificates.path_of(topic), refusals.path_of(topic), certificates.STORE / "key"))]
    if topic not in _read or _read[topic][0] != stamps:
        it, was_read = read(topic)
        _read[topic] = stamps if was_read else None, it
    return _read[topic][1]


_read: dict[str, tuple] = {}  # by topic: the stamps of its files, and what was read there


def stamp(path: Path) -> tuple:
    """By what it is seen at once whether a file is still the one that was read."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def read(topic: str) -> tuple[Known, bool]:
    """From the certificate, whether or not it still holds, and from what was refused; and whether all that is there could be read."""
    refused, was_read = refusals.known(topic), True
    try:
        held = certificates.read(certificates.path_of(topic), "", "")
        uses = {use for claim in held["claims"] for use in claim["uses"]}
        inputs = {*held["inputs"]}
    except (CertificateError, KeyError, TypeError):
        uses, inputs = set(), set()
        was_read = not certificates.path_of(topic).exists()
    if refused:
        uses, inputs = uses | {*refused["uses"]}, inputs | {*refused["inputs"]}
    elif refusals.path_of(topic).exists():
        was_read = False
    return Known(inputs, {use.partition("#")[0] for use in uses if "#" in use}, not inputs or refused is not None), was_read


def concerns(path: str, topic: str, it: Known) -> bool:
    """What was refused may have stopped before it imported what is wrong: any snippet may mend it."""
    if path.startswith(KERNEL):
        return False  # the whole checker, or nothing of it
    script = f"derivations/{topic}.py"
    if path.endswith("/") and any(f"{name}/".startswith(path) for name in it.inputs | {script}):
        return True
    return path in it.inputs or path == script or it.refused and path.startswith("snippets/") and path.endswith(".py")


def of_the_page(path: str, topic: str) -> bool:
    return path in (f"docs/{topic}.md", f"docs/figures/{topic}.py", f"snippets/{topic}.py")


def topic_of(path: str) -> str:
    """The topic that a path would be the script of; "" for any other."""
    parts = Path(path).parts
    here = len(parts) == 3 and parts[0] == "derivations" and path.endswith(".py") and parts[2] != "__init__.py"
    return f"{parts[1]}/{parts[2].removesuffix('.py')}" if here and not path.startswith(KERNEL) else ""


def users(of: set, topics: dict) -> set:
    """The topics that use claims of these, directly or through others."""
    found: set = set()
    while more := {topic for topic, it in topics.items() if it.uses & (of | found)} - found:
        found |= more
    return found
