"""What earlier checks said of a topic's claims, kept so that a change of one claim, or of one snippet, has those checked again that it
touches (again.py).

All of it lapses where the checker, a library or anything that was read is not as it was, but for Python files of the project. A topic
that does not hold keeps what it has of claims that do, so that an author who mends one need not wait for the others.
"""

from __future__ import annotations

from pathlib import Path

from . import certificates
from .certificates import FORMAT, CertificateError


def path_of(topic: str) -> Path:
    return certificates.STORE / "claims" / f"{topic}.json"


def load(topic: str) -> dict:
    """What was kept, if it may be taken over; else nothing."""
    try:
        content = certificates.read(path_of(topic), "", "")
    except CertificateError:
        return {}
    if (content.get("format"), content.get("topic")) != (FORMAT, topic):
        return {}
    checker = set(map(certificates.named, certificates.checker_files()))
    free = {name for name in content["inputs"] if name.endswith(".py") and name not in checker and not Path(name).is_absolute()}
    return content if free.issuperset(certificates.changes(content)) else {}


def save(topic: str, claims: dict, depended: dict) -> None:
    """Keep what was said of the claims that hold, {id: {"record", "stands_on"}}, and what that check depended on."""
    certificates.write(path_of(topic), depended | {"topic": topic, "claims": claims})


def remove(topic: str) -> None:
    path_of(topic).unlink(missing_ok=True)
