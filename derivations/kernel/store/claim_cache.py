"""Store the records of claims that hold, so that after an edit only the affected claims are checked again.

The records of a topic are stored together, under a digest of the topic's name, the checker, and the versions of Python and the libraries.
Each record contains what its verdict depends on: the statement of the claim, and the lines of code that it may run
(check/claim_fingerprints.py). The records of a topic are used only if all other files that its check read are unchanged; changes of the
script and the snippets are allowed, since each record contains the parts of them that matter. Nothing is stored for a script that imports
snippets or that another script imports, since the records do not show how it affects them.

If a topic is rejected, the records of the claims that hold are stored, so that an author who corrects one claim need not wait for the
others. Records of claims that name code are stored only up to the first rejected claim, since that claim may have left side effects.
"""

from __future__ import annotations

from . import certificates, durations, project_files
from .dependencies import Dependencies, library_versions
from .project_files import file_hash, relative
from .store import Store, digest

STORE = Store("claims", by_digest=True, most=300)


def key(topic: str) -> str:
    """Return a digest of the topic's name, the checker, and the versions of the libraries, all known before the script runs."""
    return digest(topic, {relative(path): file_hash(path) for path in project_files.checker_files()}, library_versions())


def get(topic: str) -> dict:
    """Return the stored records of a topic: {"claims": {id: {"record", "stands_on"}}, "depends": the dependencies of their check}.

    Return {} if there are none, or if they may not be used.
    """
    content = STORE.get(key(topic))
    if content is None:
        return {}
    free = {relative(certificates.script_of(topic)), *(file for one in content["claims"].values() for file in one["stands_on"]["files"])}
    depends = Dependencies.of(content)
    return {"claims": content["claims"], "depends": depends} if free.issuperset(depends.changes()) else {}


def put(topic: str, records: list, depends: Dependencies) -> None:
    """Store the reusable records of a topic with the dependencies of their check."""
    checker = set(map(relative, project_files.checker_files()))
    inputs = {name: was for name, was in depends.inputs.items() if name not in checker}
    STORE.put(key(topic), depends.stored() | {"inputs": inputs, "claims": select_reusable(records)})


def delete(topic: str) -> None:
    """Delete the stored records of a topic."""
    STORE.delete(key(topic))


def select_reusable(records: list) -> dict:
    """Return {id: {"record", "stands_on"}} of the records that a later check may use."""
    found, clean = {}, True
    for r in records:
        clean = clean and r["verdict"] == "holds"
        if "stands_on" in r and (clean or not r["claim"]["code"]):
            found[r["claim"]["id"]] = {"record": durations.without(r["claim"]), "stands_on": r["stands_on"]}
    return found


def is_current(stored: dict, stands_on: dict) -> bool:
    """Return whether everything that a verdict depends on is unchanged. If the verdict names a line of code, line numbers matter too."""
    was = stored["stands_on"]
    parts = ("told", "texts") if ".py:" in stored["record"]["computed"].get("reason", "") else ("told", "lines")
    return all(was[part] and was[part] == stands_on[part] for part in parts)


def differs(stored: dict, record: dict) -> bool:
    """Return whether a recheck gave a different record, although everything that the verdict depends on is unchanged."""
    if "stands_on" not in record or not is_current(stored, record["stands_on"]):
        return False  # the claim was rejected, or has changed
    return durations.without(record["claim"] | {"line": 0}) != durations.without(stored["record"] | {"line": 0})
