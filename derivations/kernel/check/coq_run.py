"""Have Coq check every claim that it can state, and store the results: `python -m derivations coq`.

The results of a topic are valid as long as its certificate and Coq's version do not change. The verdict on each source is also stored by a
digest of the source, and can be used again after the certificate has changed.
"""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable
from concurrent.futures import as_completed
from functools import cache
from pathlib import Path
from typing import Any

from ..coq import coq_process
from ..coq import witness as coq_witness
from ..coq.combined_files import group_by_imports
from ..coq.coq_process import NO_PROOF, STOPPED
from ..coq.file_audit import imported_preludes
from ..coq.prelude_files import PRELUDES, add_imports
from ..core import claims
from ..store import certificates, coq_proof_cache, coq_results, project_files, rejections
from ..store.import_closure import hashes
from ..store.project_files import ROOT
from ..store.store import digest, settings
from . import coq_exceptions
from .dask_cluster import CheckoutMismatch
from .worker import load_script

OPEN_PREFIX = "stated, and not proved: "
FOLDER = ROOT / "docs" / "coq"  # the site publishes it unchanged


def proof_keys(texts: dict[str, str]) -> dict[str, str]:
    """Return for each source a digest of everything that Coq's verdict on it depends on."""
    version = coq_process.version()
    return {
        name: digest(text, {one: PRELUDES[one].text for one in add_imports(imported_preludes(text))}, COQ_RUNNER, version)
        for name, text in texts.items()
    }


def hash_coq_runner() -> dict[str, str]:
    """Return the hashes of the module that runs Coq and of everything that it imports."""
    return hashes([Path(coq_process.__file__)])


COQ_RUNNER = hash_coq_runner()  # hashed now, because these files are the ones that this process has loaded


def is_verdict(answer: tuple[bool, str]) -> bool:
    """Return whether Coq reached a verdict. If it was stopped or could not be run, there is none."""
    return answer[0] or answer[1].startswith(NO_PROOF)


def make_local_prover(jobs: int, told: Callable) -> Callable:
    """Return a function that runs Coq on this machine. It calls `told(n)` each time that one of n sources has been checked."""

    def ask(some: dict, decided: Callable) -> dict:
        def both(key: str, said: tuple) -> None:
            decided(key, said)
            told(len(some))

        return coq_witness.prove(some, jobs=jobs, told=both, apart=frozenset(coq_exceptions.read_reasons()))

    return ask


def make_cluster_prover(workers: Any, told: Callable) -> Callable:
    """Return a function that runs Coq on the workers of a cluster. The workers must have the same version of Coq as this machine."""

    def ask(some: dict, decided: Callable) -> dict:
        apart, version, found = frozenset(coq_exceptions.read_reasons()), coq_witness.version(), {}
        groups = [{key: some[key] for key in group} for group in group_by_imports(some, apart, workers.size)]
        for done in as_completed([workers.submit(prove_on_worker, group, apart, version) for group in groups]):
            for key, said in done.result().items():
                found[key] = said
                decided(key, said)
                told(len(some))
        return {key: found[key] for key in some}

    return ask


def prove_on_worker(some: dict, apart: frozenset, version: str) -> dict:
    """Run Coq on a worker. Raise OtherCheckout if its version of Coq is not `version`."""
    if coq_witness.version() != version:
        raise CheckoutMismatch(f"a worker has another Coq: {coq_witness.version() or 'none'}, not {version}")
    return coq_witness.prove(some, process_folder(), jobs=1, apart=apart)


@cache
def process_folder() -> str:
    """Return the folder where this process has Coq check files. It is removed when the process ends."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return folder.name


def run(topics: list, fresh: bool, ask: Callable) -> dict:
    """Return {topic: {id: result}}. `ask` is what `make_local_prover` or `make_cluster_prover` returns. Raise Differs if a recheck finds another verdict."""
    wanted, results = {}, {}
    for topic in topics:
        found = None if fresh or settings.recheck.one_in else stored_results(topic)
        if found is None:
            wanted[topic] = make_sources(topic)
        else:
            results[topic] = found
    texts = {f"{topic}#{id_}": s.text for topic, found in wanted.items() for id_, s in found.items() if s.text}
    verdicts = coq_proof_cache.prove(texts, proof_keys(texts), ask, is_verdict, fresh)
    for topic, found in wanted.items():
        known = coq_exceptions.read_reasons(topic)
        results[topic] = {id_: make_result(f"{topic}#{id_}", s, verdicts, known.pop(f"{topic}#{id_}", "")) for id_, s in found.items()}
        results[topic] |= {key.partition("#")[2]: unknown_claim_result(key) for key in known}
        if all(r["ok"] is not False for r in results[topic].values()):
            coq_results.put(topic, results[topic], coq_witness.version())
        else:
            coq_results.STORE.delete(topic)
    publish_sources({topic: results[topic] for topic in topics}, every=set(topics) == set(certificates.topics()))
    coq_proof_cache.STORE.prune()
    rejections.end_round()
    return {topic: results[topic] for topic in topics}


def make_result(key: str, source: coq_witness.Source, verdicts: dict, why: str = "") -> dict:
    """Return Coq's result for a claim, with the numbers of the steps that it proves, counted from 1.

    `verdicts` maps claims to Coq's answers. `why` is the reason given in `derivations/coq_open.toml` if Coq is not expected to prove the
    claim. If Coq proves only some steps of a chain, the claim does not count as proved.
    """
    ok, message = verdicts[key] if source.text else (None, source.reason)
    if why and ok is False and message.startswith((NO_PROOF, STOPPED)):
        ok, message = None, f"{OPEN_PREFIX}{why}"
    elif why and ok is not False:
        ok, message = False, f"{'Coq proves it' if ok else 'Coq cannot state it'}, so it is not open: take it out of {coq_exceptions.NAME}"
    steps = source.steps if ok else ()
    if ok and not source.whole:
        ok, message = None, f"proved for step {', '.join(map(str, steps))} only: {source.reason}"
    return {
        "ok": ok,
        "message": message,
        "scope": source.scope,
        "steps": list(steps),
        "source": source.text or "",
        "file": coq_process.path_of_source(key, FOLDER).relative_to(FOLDER.parent).as_posix(),
    }


def describe_outcome(result: dict) -> str:
    """Return the outcome in words: "proved", "open", "not for Coq", or "NOT proved", which is an error."""
    if result["ok"] is None:
        return "open" if result["message"].startswith(OPEN_PREFIX) else "not for Coq"
    return "proved" if result["ok"] else "NOT proved"


def unknown_claim_result(key: str) -> dict:
    """Return the result for an entry of `derivations/coq_open.toml` that names no claim."""
    return coq_results.NOT_STATED | {"ok": False, "message": f"{coq_exceptions.NAME} names it, and there is no such claim: take it out"}


def publish_sources(results: dict, every: bool):
    """Write the sources that Coq proved, and the preludes that they import, to the folder that the site links to.

    Remove outdated files from the folders of these topics, or from the whole folder if `every`.
    """
    proved = {FOLDER.parent / r["file"]: r["source"] for claims in results.values() for r in claims.values() if r["steps"]}
    proved |= {FOLDER / f"{name}.v": shared.text for name, shared in coq_witness.PRELUDES.items()}
    homes = [FOLDER] if every else [coq_process.path_of_source(topic + "#x", FOLDER).parent for topic in results]
    for old in {path for home in homes for path in home.rglob("*.v")} - proved.keys():
        old.unlink(missing_ok=True)
    for path, text in proved.items():
        project_files.write_text(path, text)


def make_sources(topic: str) -> dict:
    """Return the Coq source of each claim of a topic by id. A claim that Coq cannot state has no text but a reason.

    Raise RuntimeError if the script cannot be loaded, which should not happen because it has passed the check.
    """
    problem = load_script(certificates.script_of(topic))
    if problem:
        raise RuntimeError(f"{topic}: {problem[1]}")
    return {claim.id: coq_witness.source(claim, topic) for claim in claims.LOADED[0].claims}


def stored_results(topic: str):
    """Return the stored results if they belong to the topic's certificate and to this version of Coq, otherwise None."""
    content = coq_results.get(certificates.load(topic))
    return content["claims"] if content and content["coq"] == coq_witness.version() else None
