"""What earlier checks said of a topic's claims, kept so that a change of one claim, or of one snippet, has those checked again that it
touches (again.py).

All of it lapses where the checker, a library or anything that was read is not as it was, but for the script and the snippets that some claim's
code may run. Nothing is kept of a script that imports snippets, or that is imported, since what it does to them no claim tells. A topic that
does not hold keeps what it has of claims that do, so that an author who mends one need not wait for the others; but behind one that was
refused none that names code, as that may have left something behind.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from . import certificates, inputs, times
from .certificates import CertificateError
from .shared import Shared

FORMAT = 2


def path_of(topic: str) -> Path:
    return certificates.STORE / "claims" / f"{topic}.json"


def load(topic: str) -> dict:
    """What was kept, if it may be taken over; else nothing."""
    try:
        return usable(topic, certificates.read(path_of(topic), "", ""))
    except CertificateError:
        return {}


def usable(topic: str, content: dict) -> dict:
    """The content, if it is of this topic and what it depended on is as it was, but for what may be otherwise; else nothing."""
    try:
        if (content["kept"], content["topic"]) != (FORMAT, topic):
            return {}
        free = {
            certificates.named(certificates.script_of(topic)),
            *(file for kept in content["claims"].values() for file in kept["stands_on"]["files"]),
        }
        return content if free.issuperset(certificates.changes(content)) else {}
    except (KeyError, TypeError, AttributeError, ValueError):
        return {}


def of_records(records: list) -> dict:
    """{id: {"record", "stands_on"}} of those that may be taken over."""
    found, clean = {}, True
    for r in records:
        clean = clean and r["verdict"] == "holds"
        if "stands_on" in r and (clean or not r["claim"]["code"]):
            found[r["claim"]["id"]] = {"record": times.without(r["claim"]), "stands_on": r["stands_on"]}
    return found


def save(topic: str, claims: dict, depended: dict) -> None:
    """Keep what was said of claims, and what that check depended on."""
    certificates.write(path_of(topic), depended | {"kept": FORMAT, "topic": topic, "claims": claims})


def remove(topic: str) -> None:
    path_of(topic).unlink(missing_ok=True)


# In a folder that is shared ---------------------------------------------------------------------------------------------------


def address(topic: str) -> str:
    """A hash of what is asked before a script runs: the checker, libraries, and the script. The rest is asked of what is found there."""
    files = [certificates.script_of(topic), *certificates.checker_files()]
    of = [certificates.FORMAT, FORMAT, {certificates.named(path): certificates.file_hash(path) for path in files}, certificates.versions()]
    return hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()


def taken(topic: str, shared: Shared) -> dict:
    """What another machine kept, if it may be taken over; else nothing."""
    return usable(topic, shared.take(address(topic)) or {})


def given(topic: str, shared: Shared) -> None:
    """Share what is kept; not what depends on the value of a variable, which no other machine can tell."""
    content = load(topic)
    if content and all(was == inputs.ABSENT for was in content["variables"].values()):
        shared.give(address(topic), {part: content[part] for part in content if part != "seal"})
