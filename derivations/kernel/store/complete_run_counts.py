"""Record the counts of the last full runs of mutation testing and fuzzing, which take too long to repeat in every build.

The counts are recorded with their commits in a tracked file next to the scripts, so that anyone can reproduce them.
"""

from __future__ import annotations

import datetime
import json
import subprocess

from .certificates import CertificateError
from .project_files import ROOT

NAME = "derivations/whole_runs.json"
FILE = ROOT / NAME
COUNTS = {"mutants": ("claims", "tried", "left"), "code": ("topics", "tried", "left"), "fuzz": ("seed", "tried", "faults")}


class NotRecorded(Exception):
    """Counts cannot be recorded, because nobody could reproduce them. The message says why, and what to do."""


def record(run: str, **counts: int) -> None:
    """Record the counts of a full run of the current commit.

    Raise NotRecorded if there are uncommitted changes, and CertificateError if the file with earlier counts is invalid.
    """
    runs = read() | {run: {"commit": commit(), "date": datetime.date.today().isoformat()} | counts}
    FILE.write_text(json.dumps(dict(sorted(runs.items())), indent=1) + "\n", encoding="utf-8")


def commit() -> str:
    """Return the hash of the current commit. Raise NotRecorded if there are uncommitted changes."""
    if git("status", "--porcelain", "--", ".", f":(exclude){NAME}"):
        raise NotRecorded("there are uncommitted changes, so nobody could reproduce the counts; commit them first")
    return git("rev-parse", "HEAD")


def git(*command: str) -> str:
    """Return the output of a git command. Raise NotRecorded if it fails."""
    try:
        return subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotRecorded(
            f"git cannot tell which commit is checked out here ({error}); record the counts in a clone of the repository"
        ) from None


def read() -> dict[str, dict]:
    """Return the commit, date and counts of each recorded run, by its name. Raise CertificateError if the file is invalid."""
    try:
        runs = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
        for run, entry in runs.items():
            datetime.date.fromisoformat(entry["date"])
            int(entry["commit"], 16)
            if any(type(entry[count]) is not int for count in COUNTS[run]):
                raise ValueError(f"the counts of {run} must be integers: {', '.join(COUNTS[run])}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CertificateError(f"{NAME} is invalid ({error!r}); delete it, and run: python -m derivations mutants --record") from None
    return runs
