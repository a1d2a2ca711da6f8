"""Store Coq's results for the claims of a topic. They are valid only together with the certificate for which they were made."""

from __future__ import annotations

from . import certificates, project_files
from .dependencies import Dependencies
from .store import Store, digest

STORE = Store("coq")
NOT_STATED: dict = {"ok": None, "message": "not stated in Coq", "scope": "", "source": "", "file": "", "steps": []}  # proved steps
PROGRAMS = "sympy"  # the folder in docs/ where SymPy programs are published

_certificates: dict[str, dict] = {}  # the certificates of the current build
_is_building = [False]


def begin_build() -> None:
    """Return the same certificates from `load` until `end_build`, so that all pages agree even if topics are checked meanwhile."""
    end_build()
    _is_building[0] = True


def end_build() -> None:
    """Load certificates afresh from now on."""
    _certificates.clear()
    _is_building[0] = False


def load(topic: str) -> dict:
    """Return the certificate of a topic with Coq among the witnesses of each claim, and of each step that Coq proves.

    If Coq was not run, it is not added. Raise CertificateError if the topic has no valid certificate.
    """
    if topic not in _certificates:
        content = add_coq(topic)
        if not _is_building[0]:
            return content
        _certificates[topic] = content
    return _certificates[topic]


def add_coq(topic: str) -> dict:
    """Return the certificate as `load` does, but always read the stored files."""
    content = certificates.load(topic)
    results = get(content)
    for claim in content["claims"]:
        for witness in claim["witnesses"]:
            if witness["name"] == "sympy" and witness.get("source"):
                witness["file"] = f"{PROGRAMS}/{program_path(topic, claim['id'])}"
        if results is None:
            continue
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


def program_path(topic: str, id_: str) -> str:
    """Return the path of a claim's published SymPy program, relative to the folder of programs."""
    return f"{topic}/{id_}.py"


def get(certificate: dict) -> dict | None:
    """Return the results for this certificate, {"coq": version, "claims": {id: result}}, or None if there are none."""
    results = STORE.get(certificate["topic"])
    return results if results and results["certificate"] == results_digest(certificate) else None


def put(topic: str, results: dict, coq: str) -> None:
    """Store the results of the Coq version `coq` for the current certificate of a topic."""
    STORE.put(topic, {"certificate": results_digest(certificates.load(topic)), "coq": coq, "claims": results})


def results_digest(certificate: dict) -> str:
    """Return a digest of a certificate's topic and dependencies, the files of the Coq witness, and the list of open Coq proofs."""
    coq = [path for path in project_files.kernel_files() if project_files.room_of(path).partition("/")[0] == "coq"]
    files = [*map(project_files.file_hash, coq), project_files.file_state("derivations/coq_open.toml")]
    return digest(certificate["topic"], Dependencies.of(certificate).stored(), files)
