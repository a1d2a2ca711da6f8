"""What earlier checks said of a topic's claims, kept so that a change of one claim, or of one snippet, has those checked again that it
touches (again.py).

All of it lapses where the checker, a library or anything that was read is not as it was, but for the script and the snippets that some claim's
code may run. Nothing is kept of a script that imports snippets, or that is imported, since what it does to them no claim tells. A topic that
does not hold keeps what it has of claims that do, so that an author who mends one need not wait for the others; but behind one that was
refused none that names code, as that may have left something behind.
"""

from __future__ import annotations

from pathlib import Path

from . import certificates, times
from .certificates import CertificateError

FORMAT = 2


def path_of(topic: str) -> Path:
    return certificates.STORE / "claims" / f"{topic}.json"


def load(topic: str) -> dict:
    """What was kept, if it may be taken over; else nothing."""
    try:
        content = certificates.read(path_of(topic), "", "")
    except CertificateError:
        return {}
    if (content.get("kept"), content.get("topic")) != (FORMAT, topic):
        return {}
    free = {
        certificates.named(certificates.script_of(topic)),
        *(file for kept in content["claims"].values() for file in kept["stands_on"]["files"]),
    }
    return content if free.issuperset(certificates.changes(content)) else {}


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
