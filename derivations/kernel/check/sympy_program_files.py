"""Publish the SymPy programs of accepted claims next to the pages.

A certificate holds the text of each program that the SymPy witness ran. The files are copies of it; no program is generated again.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ..store import project_files
from ..store.coq_results import PROGRAMS, program_path

DEFINITION_NOTE = "a definition has nothing to prove"
TIME_LIMIT = 300  # seconds for one program


def program_folder() -> Path:
    """Return the folder where programs are published."""
    return project_files.ROOT / "docs" / PROGRAMS


def program_text(claim: dict) -> str:
    """Return the program in a claim's record, or "" if there is none."""
    return next((w.get("source", "") for w in claim["witnesses"] if w["name"] == "sympy"), "")


def explain_missing_program(claim: dict) -> str:
    """Return why a claim's record has no program."""
    return next((w["note"] for w in claim["witnesses"] if w["name"] == "sympy"), "SymPy was not asked")


def publish_programs(claims: dict[str, list[dict] | None], to: Path, every: bool) -> list[Path]:
    """Write the programs of topics, remove outdated files, and return the paths of the programs in order.

    `claims` maps each topic to the records of its claims, or to None if the topic is rejected. Outdated files are removed from the folders
    of these topics, or from the whole folder if `every`. The files of a rejected topic are not changed: no page links to them, and they are
    used again as soon as the topic holds.
    """
    found = {topic: records for topic, records in claims.items() if records is not None}
    wanted = {
        to / program_path(topic, claim["id"]): text
        for topic, records in found.items()
        for claim in records
        if (text := program_text(claim))
    }
    unchanged = {path for topic in claims.keys() - found.keys() for path in (to / topic).rglob("*.py")}
    for folder in [to] if every else [to / topic for topic in found]:
        for outdated in set(folder.rglob("*.py")) - wanted.keys() - unchanged:
            outdated.unlink(missing_ok=True)
    for path, text in wanted.items():
        project_files.write_text(path, text)
    return list(wanted)


def run_program(path: Path) -> tuple[bool, str]:
    """Run a program in a separate process that cannot import modules of this project. Return whether it succeeded, and its output."""
    try:
        done = subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True, timeout=TIME_LIMIT, cwd=path.parent)
    except subprocess.TimeoutExpired:
        return False, f"it took longer than {TIME_LIMIT} s"
    return done.returncode == 0, (done.stdout + done.stderr).strip()
