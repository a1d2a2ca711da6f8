"""The records of claims that hold, stored so that an edit of one claim or snippet has only those checked again that it touches.

They are stored by topic under a digest of the checker and of Python's and the libraries' versions, each with what its verdict depends on: how
the claim is stated, and the lines that its code may run (check/claim_fingerprints.py). A topic's records are used only if everything else that its
check read is unchanged, except the script and the snippets, of which each record says itself what matters. Nothing is stored for a script that
imports snippets or is imported, since no claim tells what it does to them. If a topic is rejected, the records of its claims that hold are
stored, so that an author who corrects one need not wait for the others; but those of claims that name code only up to the first rejected
claim, as that may have left something behind.
"""

from __future__ import annotations

from . import certificates, durations, project_files
from .dependencies import Dependencies, versions
from .project_files import file_hash, relative
from .store import Store, digest

STORE = Store("claims", by_digest=True, most=300)


def key(topic: str) -> str:
    """Return a digest of what is known before a script runs, apart from the script."""
    return digest(topic, {relative(path): file_hash(path) for path in project_files.checker_files()}, versions())


def get(topic: str) -> dict:
    """Return {id: {"record", "stands_on"}}, and "depends", what their check depended on; {} if they may not be used."""
    content = STORE.get(key(topic))
    if content is None:
        return {}
    free = {relative(certificates.script_of(topic)), *(file for one in content["claims"].values() for file in one["stands_on"]["files"])}
    depends = Dependencies.of(content)
    return {"claims": content["claims"], "depends": depends} if free.issuperset(depends.changes()) else {}


def put(topic: str, records: list, depends: Dependencies) -> None:
    """Store the records of the claims that hold, with what their check depended on."""
    checker = set(map(relative, project_files.checker_files()))
    inputs = {name: was for name, was in depends.inputs.items() if name not in checker}
    STORE.put(key(topic), depends.stored() | {"inputs": inputs, "claims": reusable(records)})


def delete(topic: str) -> None:
    STORE.delete(key(topic))


def reusable(records: list) -> dict:
    """Return {id: {"record", "stands_on"}} of the records that a later check may use."""
    found, clean = {}, True
    for r in records:
        clean = clean and r["verdict"] == "holds"
        if "stands_on" in r and (clean or not r["claim"]["code"]):
            found[r["claim"]["id"]] = {"record": durations.without(r["claim"]), "stands_on": r["stands_on"]}
    return found


def is_current(stored: dict, stands_on: dict) -> bool:
    """Return whether nothing changed that a verdict depends on. If the verdict names a line of the code, no line may have moved."""
    was = stored["stands_on"]
    parts = ("told", "texts") if ".py:" in stored["record"]["computed"].get("reason", "") else ("told", "lines")
    return all(was[part] and was[part] == stands_on[part] for part in parts)


def differs(stored: dict, record: dict) -> bool:
    """Return whether a claim that was checked again got another record, although nothing changed that its verdict depends on."""
    if "stands_on" not in record or not is_current(stored, record["stands_on"]):
        return False  # rejected, or another claim by now
    return durations.without(record["claim"] | {"line": 0}) != durations.without(stored["record"] | {"line": 0})
