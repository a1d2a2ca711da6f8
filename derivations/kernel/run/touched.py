"""Which topics a change of files touches: a certificate's inputs say what it came from, and its claims which topics they use."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
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
    listed: set = field(default_factory=set)  # folders of which the names, or some of them, were read


def touched(paths: set) -> Touched:
    """What the paths ask for, each given from the root; one that ends in "/" is a folder that was moved or removed."""
    found = Touched(kernel=sorted(p for p in paths if p.startswith(KERNEL) and of_the_checker(p)))
    topics = {topic: known(topic, *map(stamp, (certificates.path_of(topic), refusals.path_of(topic)))) for topic in certificates.topics()}
    found.topics = {topic for topic, it in topics.items() if any(concerns(p, topic, it) for p in paths)}
    found.pages = {topic for topic in topics if any(of_the_page(p, topic) for p in paths)}
    found.gone = sorted(topic for topic in map(topic_of, paths) if topic and topic not in topics)
    found.topics |= users(found.topics | set(found.gone), topics)
    return found


def of_the_checker(path: str) -> bool:
    if path.endswith("/"):
        return True
    return path.endswith((".py", ".v")) and not certificates.is_aside(Path(path.removeprefix(KERNEL)))


def stamp(path: Path) -> tuple:
    """By what it is seen at once whether a file is still the one that was read."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


@lru_cache(4096)
def known(topic: str, *stamps: tuple) -> Known:
    """From the certificate, whether or not it still holds, and from what was refused; read once for as long as these files stay."""
    refused = refusals.known(topic)
    try:
        held = certificates.read(certificates.path_of(topic), "", "")
        uses = {use for claim in held["claims"] for use in claim["uses"]}
        inputs, listed = {*held["inputs"], *held["looks"]}, looked_into(held)
    except (CertificateError, KeyError, TypeError):
        uses, inputs, listed = set(), set(), set()
    if refused:
        uses, inputs, listed = (
            uses | set(refused["uses"]),
            inputs | {*refused["inputs"], *refused.get("looks", ())},
            listed | looked_into(refused),
        )
    return Known(inputs, {use.partition("#")[0] for use in uses if "#" in use}, not inputs or refused is not None, listed)


def looked_into(read: dict) -> set:
    """Names of folders that were listed, and of modules that were looked for, without their endings."""
    return {*read.get("folders", ()), *(f"{folder}/{name}" for folder, names in read.get("sought", {}).items() for name in names)}


def concerns(path: str, topic: str, it: Known) -> bool:
    """What was refused may have stopped before it imported what is wrong: any snippet may mend it."""
    if path.startswith(KERNEL):
        return False  # the whole checker, or nothing of it
    script = f"derivations/{topic}.py"
    if path.endswith("/") and any(f"{name}/".startswith(path) for name in it.inputs | it.listed | {script}):
        return True
    path = path.removesuffix("/")
    around = {path.rpartition("/")[0], path.rpartition("/")[0] + "/" + path.rpartition("/")[2].partition(".")[0]}
    return (
        path in it.inputs
        or path == script
        or bool(around & it.listed)
        or it.refused
        and path.startswith("snippets/")
        and path.endswith(".py")
    )


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
