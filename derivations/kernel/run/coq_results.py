"""What Coq said of the claims of a topic, kept beside the topic's certificate for as long as both stand."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from . import certificates, coq_open, programs

NOT_STATED = {"ok": None, "message": "not stated in Coq", "scope": "", "source": "", "file": "", "steps": []}  # steps: those proved


_held: dict[str, dict] = {}
_is_held = [False]


def hold() -> None:
    """From here on what was loaded once stands: all pages of a build show the same certificates."""
    release()
    _is_held[0] = True


def release() -> None:
    _held.clear()
    _is_held[0] = False


def load(topic: str) -> dict:
    """The certificate of a topic with Coq's verdicts beside those of the other witnesses, and beside the steps that it proves.

    Where Coq was not asked, it is not named.
    """
    if topic not in _held:
        content = loaded(topic)
        if not _is_held[0]:
            return content
        _held[topic] = content
    return _held[topic]


def loaded(topic: str) -> dict:
    content = programs.load(topic)
    results = results_for(topic, content)
    for claim in content["claims"] if results else ():
        result = results["claims"].get(claim["id"], NOT_STATED)
        proves = "refuted" if claim["kind"] == "refutation" else "proved"
        verdict, scope = (proves, result["scope"]) if result["ok"] else ("not applicable", "")
        claim["witnesses"].append(
            {
                "name": "coq",
                "verdict": verdict,
                "scope": scope,
                "note": result["message"],
                "seconds": 0.0,
                "source": result["source"],
                "file": result["file"] if result["steps"] else "",
            }
        )
        for k in result["steps"]:
            claim["steps"][k - 1]["witnesses"].append("coq")
    return content


def results_for(topic: str, certificate: dict):
    """What Coq said of just these claims, if it was asked on this machine; None otherwise."""
    try:
        results = certificates.read(path_of(topic), f"what Coq said of '{topic}'", f"run: python -m derivations coq {topic}")
    except certificates.CertificateError:
        return None
    return results if results.get("certificate") == identity(certificate) else None


def save(topic: str, results: dict, coq: str):
    """Seal and store what this version of Coq said of the claims as they are."""
    certificates.write(path_of(topic), {"certificate": identity(certificates.load(topic)), "coq": coq, "claims": results})


def path_of(topic: str) -> Path:
    return certificates.STORE / "coq" / f"{topic}.json"


def identity(certificate: dict) -> str:
    """What two certificates share that were made from the same files, variables and libraries; and how Coq is asked."""
    asked = [certificates.file_hash(path) for path in certificates.kernel_files() if certificates.room(path).partition("/")[0] == "coq"]
    read = [certificate[kind] for kind in ("inputs", "variables")]
    of = [certificate["topic"], read, certificate["versions"], asked, coq_open.reasons(certificate["topic"])]
    return hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()
