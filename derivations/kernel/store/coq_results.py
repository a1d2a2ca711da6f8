"""Coq's results for the claims of a topic, stored beside its certificate and valid for just that certificate."""

from __future__ import annotations

from . import certificates, project_files
from .dependencies import Dependencies
from .store import Store, digest

STORE = Store("coq")
NOT_STATED: dict = {"ok": None, "message": "not stated in Coq", "scope": "", "source": "", "file": "", "steps": []}  # steps: those proved
PROGRAMS = "sympy"  # the folder of the pages' folder where SymPy's programs are published

_certificates: dict[str, dict] = {}  # those that the pages of one build show
_is_building = [False]


def begin_build() -> None:
    """Show the same certificates on all pages until `end_build`, whatever is checked meanwhile."""
    end_build()
    _is_building[0] = True


def end_build() -> None:
    _certificates.clear()
    _is_building[0] = False


def load(topic: str) -> dict:
    """Return the certificate of a topic with Coq's verdicts beside those of the other witnesses, and beside the steps that it proves.

    Where Coq was not run, it is not named.
    """
    if topic not in _certificates:
        content = with_coq(topic)
        if not _is_building[0]:
            return content
        _certificates[topic] = content
    return _certificates[topic]


def with_coq(topic: str) -> dict:
    content = certificates.load(topic)
    results = get(content)
    for claim in content["claims"]:
        for witness in claim["witnesses"]:
            if witness["name"] == "sympy" and witness.get("source"):
                witness["file"] = f"{PROGRAMS}/{program_of(topic, claim['id'])}"
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


def program_of(topic: str, id_: str) -> str:
    """Return where a claim's program is published, from the folder of the programs."""
    return f"{topic}/{id_}.py"


def get(certificate: dict) -> dict | None:
    """Return Coq's results for just these claims: {"coq": its version, "claims": {id: result}}."""
    results = STORE.get(certificate["topic"])
    return results if results and results["certificate"] == identity(certificate) else None


def put(topic: str, results: dict, coq: str) -> None:
    """Store the results of this version of Coq for the claims as they are."""
    STORE.put(topic, {"certificate": identity(certificates.load(topic)), "coq": coq, "claims": results})


def identity(certificate: dict) -> str:
    """Return a digest of what two certificates share that were made from the same things, and of how Coq is run."""
    coq = [path for path in project_files.kernel_files() if project_files.room(path).partition("/")[0] == "coq"]
    asked = [*map(project_files.file_hash, coq), project_files.state("derivations/coq_open.toml")]
    return digest(certificate["topic"], Dependencies.of(certificate).stored(), asked)
