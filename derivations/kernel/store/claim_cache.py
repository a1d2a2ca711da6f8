"""Store the records of claims that hold, so that after an edit only the affected claims are checked again.

The records of a topic are stored together, under a digest of the topic's name, the checker, and the versions of Python and the libraries.
Each record comes with fingerprints of what its verdict depends on: the statement of the claim, and the lines of code that it may run
(check/claim_fingerprints.py). The records of a topic are used only if all other files that its check read are unchanged. The script and the
snippets may change, since the fingerprints cover the parts of them that matter. Nothing is stored for a script that imports snippets or
that another script imports, since its fingerprints do not cover how one affects the other.

If a topic is rejected, the records of the claims that hold are stored, so that an author who corrects one claim need not wait for the
others. Records of claims that name code are stored only up to the first rejected claim, since that claim may have had side effects.
"""

from __future__ import annotations

from . import certificates, durations, project_files
from .dependencies import Dependencies, library_versions
from .project_files import file_hash, relative
from .store import Store, digest

STORE = Store("claims", by_digest=True, max_results=300)


def key(topic: str) -> str:
    """Return a digest of the topic's name, the checker, and the versions of the libraries, all known before the script runs."""
    return digest(topic, {relative(path): file_hash(path) for path in project_files.checker_files()}, library_versions())


def get(topic: str) -> dict:
    """Return the stored records of a topic: {"claims": {id: {"record", "fingerprints"}}, "depends": the dependencies of their check}.

    Return {} if there are none, or if they may not be used.
    """
    content = STORE.get(key(topic))
    if content is None:
        return {}
    fingerprinted = {file for stored in content["claims"].values() for file in stored["fingerprints"]["files"]}
    may_change = {relative(certificates.script_of(topic))} | fingerprinted
    depends = Dependencies.of(content)
    return {"claims": content["claims"], "depends": depends} if may_change.issuperset(depends.changes()) else {}


def put(topic: str, records: list, depends: Dependencies) -> None:
    """Store the reusable records of a topic with the dependencies of their check."""
    checker = set(map(relative, project_files.checker_files()))
    inputs = {name: was for name, was in depends.inputs.items() if name not in checker}
    STORE.put(key(topic), depends.stored() | {"inputs": inputs, "claims": select_reusable(records)})


def delete(topic: str) -> None:
    """Delete the stored records of a topic."""
    STORE.delete(key(topic))


def select_reusable(records: list) -> dict:
    """Return {id: {"record", "fingerprints"}} of the records that a later check may use."""
    found, all_hold = {}, True
    for r in records:
        all_hold = all_hold and r["verdict"] == "holds"
        if "fingerprints" in r and (all_hold or not r["claim"]["code"]):
            found[r["claim"]["id"]] = {"record": durations.without(r["claim"]), "fingerprints": r["fingerprints"]}
    return found


def is_current(stored: dict, fingerprints: dict) -> bool:
    """Return whether everything that a stored verdict depends on is unchanged. If it names a line of code, line numbers count too."""
    was = stored["fingerprints"]
    parts = ("statement", "texts") if ".py:" in stored["record"]["computed"].get("reason", "") else ("statement", "lines")
    return all(was[part] and was[part] == fingerprints[part] for part in parts)


def differs(stored: dict, record: dict) -> bool:
    """Return whether a recheck gave a different record, although everything that the verdict depends on is unchanged."""
    if "fingerprints" not in record or not is_current(stored, record["fingerprints"]):
        return False  # the claim was rejected, or has changed
    return durations.without(record["claim"] | {"line": 0}) != durations.without(stored["record"] | {"line": 0})
