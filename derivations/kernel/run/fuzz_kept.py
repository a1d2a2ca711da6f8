"""What became of random claims, kept like certificates: for as long as nothing changes on which the counts depend."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from . import certificates
from .importing import hashes

STORE = "fuzz.json"
ROOMS = ("attack", "exact", "sympy", "pytorch")


def depends_on() -> str:
    """A hash of all that the counts depend on."""
    files = [path for path in certificates.kernel_files() if path.suffix == ".py" and certificates.room(path).partition("/")[0] in ROOMS]
    versions = certificates.versions() | {name: certificates.installed(name) for name in ("torch", "numpy")}
    return sha256(repr((sorted(versions.items()), hashes(files))).encode()).hexdigest()


def path() -> Path:
    return certificates.STORE / STORE


def kept() -> dict | None:
    """What was counted last, if it still stands."""
    try:
        content = certificates.read(path(), "what became of random claims", "run: python -m derivations fuzz")
        return content if content["depends_on"] == depends_on() else None
    except (certificates.CertificateError, KeyError, TypeError):
        return None


def keep(result: dict) -> None:
    """Store the counts, unless others that stand are of more claims."""
    before = kept()
    if before is None or before["claims"] <= result["claims"]:
        certificates.write(path(), result)


def standing(seed: int, claims: int) -> dict | None:
    """Counts that are kept and stand, of these claims and perhaps of more."""
    before = kept()
    return before if before and before["seed"] == seed and before["claims"] >= claims else None
