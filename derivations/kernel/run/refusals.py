"""What the last check refused: kept, so that a page that is being written can say why a claim does not stand on it.

Nothing vouches for what is in here. It is sealed like a certificate, lies where certificates do not (`.certificates/refused/`), and
is gone as soon as the topic holds.
"""

from __future__ import annotations

import time
from pathlib import Path

from . import certificates
from .certificates import CertificateError
from .inputs import Reads

AGAIN = "run: python -m derivations check"


def path_of(topic: str) -> Path:
    return certificates.STORE / "refused" / f"{topic}.json"


def save(topic: str, script: Path, title: str, records: list, problems: list, imported: list, reads: Reads | None = None) -> None:
    """Keep what was said of each claim, and of the script as a whole."""
    inputs = sorted(p for p in {script, *map(Path, imported)} if p.is_file())
    read = certificates.stored(reads)
    content = read | {
        "format": certificates.FORMAT,
        "topic": topic,
        "script": certificates.relative(script),
        "title": title,
        "claims": [claim(record) for record in records],
        "problems": list(problems),
        "uses": sorted({use for record in records for use in record["claim"].get("uses", ()) if "#" in use}),
        "inputs": read["inputs"] | {certificates.named(p): certificates.file_hash(p) for p in inputs},
    }
    if known(topic) != content:
        certificates.write(path_of(topic), content)


def claim(record: dict) -> dict:
    """Of one claim: which it is, and why it is refused; "" where it holds. `stated` is text, for pages show no formula of these."""
    stated = record["claim"]
    return {
        "id": stated["id"],
        "title": stated.get("title", ""),
        "line": stated["line"],
        "stated": record.get("stated") or stated.get("stated") or stated.get("latex", ""),
        "message": record["message"] if record["verdict"] != "holds" else "",
    }


def known(topic: str) -> dict | None:
    """What was kept without its seal; None where nothing was, or what was cannot be trusted."""
    try:
        content = certificates.read(path_of(topic), f"what was refused of '{topic}'", AGAIN)
    except CertificateError:
        return None
    return {k: v for k, v in content.items() if k != "seal"}


def changed(content: dict) -> list:
    """Return the files and variables that are not as they were when this was refused."""
    return certificates.changes_of({"variables": {}} | content)


def remove(topic: str) -> None:
    path_of(topic).unlink(missing_ok=True)


def topics() -> list:
    """The topics of which something is kept."""
    folder = certificates.STORE / "refused"
    return sorted(p.relative_to(folder).with_suffix("").as_posix() for p in folder.glob("*/*.json"))


# A round of checks that has ended ---------------------------------------------------------------------------------------------


def bell() -> Path:
    """The file that is written when a round of checks has ended: what shows pages watches this one, not each certificate."""
    path = certificates.STORE / "checked"
    if not path.exists():
        certificates.STORE.mkdir(exist_ok=True)
        path.touch()
    return path


def ring() -> None:
    """Tell whoever shows pages that certificates may have changed."""
    bell().write_text(f"{time.time_ns()}\n")
