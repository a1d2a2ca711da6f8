"""The last runs of the attacks over all there is, which take too long for each build.

Their counts stand in a file beside the scripts, each with the commit that it is of, so that anyone can count again.
"""

from __future__ import annotations

import datetime
import json
import subprocess

from .certificates import ROOT, CertificateError

NAME = "derivations/whole_runs.json"
FILE = ROOT / NAME
COUNTS = {"mutants": ("claims", "tried", "left"), "code": ("topics", "tried", "left"), "fuzz": ("seed", "tried", "faults")}


class NotRecorded(Exception):
    """Counts that nobody could make again; the message says why, and what to do."""


def record(run: str, **counts: int) -> None:
    """Keep the counts of a whole run of what is checked out. Raises NotRecorded, CertificateError."""
    runs = read() | {run: {"commit": commit(), "date": datetime.date.today().isoformat()} | counts}
    FILE.write_text(json.dumps(dict(sorted(runs.items())), indent=1) + "\n", encoding="utf-8")


def commit() -> str:
    """The commit that is checked out as it is. Raises NotRecorded."""
    if said("status", "--porcelain", "--", ".", f":(exclude){NAME}"):
        raise NotRecorded("there are changes that are not committed, and counts of them could not be made again; commit, then count")
    return said("rev-parse", "HEAD")


def said(*command: str) -> str:
    try:
        return subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotRecorded(f"git does not say what is checked out here ({error}); record in a clone of the repository") from None


def read() -> dict[str, dict]:
    """By run, its commit, its date and its counts; nothing where none was recorded. Raises CertificateError."""
    try:
        runs = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
        for run, kept in runs.items():
            datetime.date.fromisoformat(kept["date"])
            int(kept["commit"], 16)
            if any(type(kept[count]) is not int for count in COUNTS[run]):
                raise ValueError(f"the counts of {run} are {', '.join(COUNTS[run])}, whole numbers")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CertificateError(
            f"{NAME} does not hold what a run counted ({error!r}); delete it, and run: python -m derivations mutants --record"
        ) from None
    return runs
