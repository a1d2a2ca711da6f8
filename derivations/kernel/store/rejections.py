"""Store why the last check rejected a topic, so that its page can show the reasons while an author works on it.

The reasons are deleted as soon as the topic holds.
"""

from __future__ import annotations

import time
from pathlib import Path

from . import store
from .certificates import relative
from .dependencies import Dependencies, Reads
from .store import Store

STORE = Store("rejections")


def put(
    topic: str, script: Path, title: str, records: list[dict], problems: list[str], imported: list[str], reads: Reads | None = None
) -> None:
    """Store the message about each claim, and the problems of the script as a whole."""
    depends = Dependencies.now([script, *imported], reads)
    content = {
        "topic": topic,
        "script": relative(script),
        "title": title,
        "claims": [summarize_claim(record) for record in records],
        "problems": list(problems),
        "uses": sorted({use for record in records for use in record["claim"].get("uses", ()) if "#" in use}),
    }
    STORE.put(topic, depends.stored() | content)


def summarize_claim(record: dict) -> dict:
    """Return the id, title, line and statement of a claim, and the message of its rejection, or "" if it holds.

    The statement is plain text, since pages show no formulas of rejected claims.
    """
    stated = record["claim"]
    return {
        "id": stated["id"],
        "title": stated.get("title", ""),
        "line": stated["line"],
        "stated": record.get("stated") or stated.get("stated") or stated.get("latex", ""),
        "message": record["message"] if record["verdict"] != "holds" else "",
    }


def get(topic: str) -> dict | None:
    """Return the stored rejection of a topic, even if it is out of date, or None if there is none."""
    return STORE.get(topic)


def find_changes(content: dict) -> list[str]:
    """Return the names of the files and variables that have changed since the topic was rejected."""
    return Dependencies.of(content).changes()


# The end of a round of checks -------------------------------------------------------------------------------------------------


def round_file() -> Path:
    """Return the file that is written at the end of a round of checks. `mkdocs serve` watches this file, not each certificate."""
    path = store.FOLDER / "checked"
    if not path.exists():
        store.FOLDER.mkdir(exist_ok=True)
        path.touch()
    return path


def end_round() -> None:
    """Notify `mkdocs serve` that certificates may have changed."""
    round_file().write_text(f"{time.time_ns()}\n")
