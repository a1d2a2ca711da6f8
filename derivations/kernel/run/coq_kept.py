"""What Coq said of a source, kept under a hash of all that its verdict rests on: the text, what it imports, what judges it, Coq itself.

So a source that comes again is not proved again, whatever else changed: its script, the checker, the commit. One in so many is all the same;
and where one comes out otherwise than it did, nothing that was kept is taken.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Collection
from hashlib import sha256
from pathlib import Path

from ..coq import coq_process
from ..coq.coq_process import NO_PROOF
from ..coq.file_audit import preludes_of
from ..coq.prelude_files import PRELUDES, with_imports
from . import certificates
from .importing import hashes
from .shared import Shared

Said = tuple[bool, str]  # whether Coq proved it, and what it said
REPLAYED = 20  # of so many that are kept, one is asked for again
UNASKED = 30 * 24 * 3600  # seconds that one is kept which no run asks for


def judges() -> dict[str, str]:
    return hashes([Path(coq_process.__file__)])


JUDGES = judges()  # as they were loaded


def folder() -> Path:
    return certificates.STORE / "proofs"


def path_of(address: str) -> Path:
    return folder() / f"{address}.json"


def addresses(texts: dict[str, str]) -> dict[str, str]:
    """For each source, a hash of what the verdict on it rests on."""
    coq = coq_process.version()

    def address(text: str) -> str:
        imported = {name: PRELUDES[name].text for name in with_imports(preludes_of(text))}
        return sha256(json.dumps([text, imported, JUDGES, coq], sort_keys=True).encode()).hexdigest()

    return {key: address(text) for key, text in texts.items()}


def load(address: str, shared: Shared | None = None) -> Said | None:
    """What was said of it here, or else to others."""
    try:
        content = certificates.read(path_of(address), "", "")
        path_of(address).touch()
    except (certificates.CertificateError, OSError):
        content = shared.take(address) or {} if shared else {}
    ok, message = content.get("ok"), content.get("message")
    return (ok, message) if content.get("address") == address and isinstance(ok, bool) and isinstance(message, str) else None


def save(address: str, said: Said, shared: Shared | None = None) -> None:
    """Keep what Coq decided."""
    if is_verdict(said):
        content = {"address": address, "ok": said[0], "message": said[1]}
        certificates.write(path_of(address), content)
        if shared:
            shared.give(address, content)


def is_verdict(said: Said) -> bool:
    """Whether Coq decided: what was stopped, or could not be asked, says nothing, and contradicts nothing."""
    return said[0] or said[1].startswith(NO_PROOF)


def prove(
    texts: dict[str, str], replay: int, ask: Callable, otherwise: Callable[[str], None], shared: Shared | None = None
) -> dict[str, Said]:
    """What `ask` says of sources, or said of them; where `replay` is 0, all are asked, else one in so many of those that are kept.

    `ask` calls what it is given beside the sources with the name of each that is decided, and what was said: that is kept at once, so that a
    run that is cut short is not lost. `otherwise` is called with the name of a source of which it now says something else: all are asked then.
    """
    at = addresses(texts)
    kept = {key: said for key in texts if replay and (said := load(at[key], shared))}
    replayed = {key for key in kept if not secrets.randbelow(replay)}

    def asked(keys: Collection[str]) -> dict[str, Said]:
        return ask({key: text for key, text in texts.items() if key in keys}, lambda key, said: save(at[key], said, shared))

    found = asked(texts.keys() - kept.keys() | replayed)
    if lies := [key for key in sorted(replayed) if is_verdict(found[key]) and found[key][0] != kept[key][0]]:
        otherwise(lies[0])
        found |= asked(kept.keys() - replayed)
    undecided = {key for key in replayed if not is_verdict(found[key])} if not lies else set()
    return {key: found[key] if key in found and key not in undecided else kept[key] for key in texts}


def forget() -> None:
    """Remove what no run asked for in a long time."""
    for path in folder().glob("*.json"):
        if time.time() - path.stat().st_mtime > UNASKED:
            path.unlink(missing_ok=True)
