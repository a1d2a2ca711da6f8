"""The SymPy programs of the claims that hold, beside the pages: what is published is the text whose run vouched.

A certificate holds each program's text. Files are written from there, never made again.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from . import certificates

FOLDER = "sympy"  # of the pages' folder
NOTHING = "a definition has nothing to prove"
TIME_LIMIT = 300  # seconds that one program may run


def folder() -> Path:
    return certificates.ROOT / "docs" / FOLDER


def file_of(topic: str, id_: str) -> str:
    """Where a claim's program stands, from the folder of the programs."""
    return f"{topic}/{id_}.py"


def load(topic: str) -> dict:
    """The certificate of a topic, with the name of the file beside every program."""
    content = certificates.load(topic)
    for claim in content["claims"]:
        for witness in claim["witnesses"]:
            if witness["name"] == "sympy" and witness.get("source"):
                witness["file"] = f"{FOLDER}/{file_of(topic, claim['id'])}"
    return content


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
    wanted = {to / file_of(topic, claim["id"]): text for topic, records in found.items() for claim in records if (text := text_of(claim))}
    stays = {old for topic in claims.keys() - found.keys() for old in (to / topic).rglob("*.py")}
    for home in [to] if every else [to / topic for topic in found]:
        for old in set(home.rglob("*.py")) - wanted.keys() - stays:
            old.unlink(missing_ok=True)
    for path, text in wanted.items():
        certificates.put(path, text)
    return list(wanted)


def run(path: Path) -> tuple:
    """(does it hold, what it printed): a program in a process of its own, which finds SymPy and nothing of ours."""
    try:
        said = subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True, timeout=TIME_LIMIT, cwd=path.parent)
    except subprocess.TimeoutExpired:
        return False, f"it took longer than {TIME_LIMIT} s"
    return said.returncode == 0, (said.stdout + said.stderr).strip()
