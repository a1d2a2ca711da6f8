"""The SymPy programs of the claims that hold, beside the pages: what is published is the text whose run vouched.

A certificate holds each program's text. Files are written from there, never made again.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ..store import project_files
from ..store.coq_results import PROGRAMS, program_of

NOTHING = "a definition has nothing to prove"
TIME_LIMIT = 300  # seconds that one program may run


def folder() -> Path:
    return project_files.ROOT / "docs" / PROGRAMS


def text_of(claim: dict) -> str:
    """The program of a claim's record; "" if there is none."""
    return next((w.get("source", "") for w in claim["witnesses"] if w["name"] == "sympy"), "")


def why_none(claim: dict) -> str:
    """Why a claim's record has no program."""
    return next((w["note"] for w in claim["witnesses"] if w["name"] == "sympy"), "SymPy was not asked")


def publish(claims: dict, to: Path, every: bool) -> list:
    """Write the programs of {topic: records of its claims}, and remove what else stands there. The files that hold a program, in order.

    Of a topic that is refused, None, what stands there stays: no page links to what is not as it was checked, and it is back once mended.
    """
    found = {topic: records for topic, records in claims.items() if records is not None}
    wanted = {
        to / program_of(topic, claim["id"]): text for topic, records in found.items() for claim in records if (text := text_of(claim))
    }
    stays = {old for topic in claims.keys() - found.keys() for old in (to / topic).rglob("*.py")}
    for home in [to] if every else [to / topic for topic in found]:
        for old in set(home.rglob("*.py")) - wanted.keys() - stays:
            old.unlink(missing_ok=True)
    for path, text in wanted.items():
        project_files.put(path, text)
    return list(wanted)


def run(path: Path) -> tuple:
    """(does it hold, what it printed): a program in a process of its own, which finds SymPy and nothing of ours."""
    try:
        said = subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True, timeout=TIME_LIMIT, cwd=path.parent)
    except subprocess.TimeoutExpired:
        return False, f"it took longer than {TIME_LIMIT} s"
    return said.returncode == 0, (said.stdout + said.stderr).strip()
