"""Why the last check rejected a topic, stored so that its page can show it while somebody works on it. Deleted as soon as the topic holds."""

from __future__ import annotations

import time
from pathlib import Path

from . import store
from .certificates import relative
from .dependencies import Dependencies, Reads
from .store import Store

STORE = Store("rejections")


def put(topic: str, script: Path, title: str, records: list, problems: list, imported: list, reads: Reads | None = None) -> None:
    """Store what was said of each claim, and of the script as a whole."""
    depends = Dependencies.now([script, *imported], reads)
    content = {
        "topic": topic,
        "script": relative(script),
        "title": title,
        "claims": [claim(record) for record in records],
        "problems": list(problems),
        "uses": sorted({use for record in records for use in record["claim"].get("uses", ()) if "#" in use}),
    }
    STORE.put(topic, depends.stored() | content)


def claim(record: dict) -> dict:
    """Return which claim it is, and why it is rejected; "" if it holds. `stated` is text: pages show no formulas of these."""
    stated = record["claim"]
    return {
        "id": stated["id"],
        "title": stated.get("title", ""),
        "line": stated["line"],
        "stated": record.get("stated") or stated.get("stated") or stated.get("latex", ""),
        "message": record["message"] if record["verdict"] != "holds" else "",
    }


def get(topic: str) -> dict | None:
    """Return what was stored, whether or not anything changed since."""
    return STORE.get(topic)


def changes(content: dict) -> list[str]:
    """Return the files and variables that are not as they were when the topic was rejected."""
    return Dependencies.of(content).changes()


# The end of a round of checks -------------------------------------------------------------------------------------------------


def round_file() -> Path:
    """Return the file that is written when a round of checks has ended. A server of pages watches this one, not each certificate."""
    path = store.FOLDER / "checked"
    if not path.exists():
        store.FOLDER.mkdir(exist_ok=True)
        path.touch()
    return path


def end_round() -> None:
    """Tell a server of pages that certificates may have changed."""
    round_file().write_text(f"{time.time_ns()}\n")
