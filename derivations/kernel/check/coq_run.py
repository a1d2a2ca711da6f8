"""Have Coq check every claim that it can state, and store the results: `python -m derivations coq`.

The results of a topic are valid as long as its certificate and Coq's version do not change. The verdict on each source is also stored under
a digest of the source, so that it can be used again after the certificate has changed.
"""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable
from concurrent.futures import as_completed
from functools import cache
from pathlib import Path

from ..coq import coq_process
from ..coq import witness as coq_witness
from ..coq.combined_files import group_by_imports
from ..coq.coq_process import NO_PROOF, STOPPED
from ..coq.file_audit import imported_preludes
from ..coq.prelude_files import PRELUDES, add_imports
from ..core import claims
from ..script.loading import load_script
from ..store import certificates, coq_results, coq_verdict_cache, project_files, rejections
from ..store.coq_verdict_cache import Answer
from ..store.import_closure import hashes
from ..store.project_files import ROOT
from ..store.store import digest, settings
from . import coq_open_claims
from .dask_cluster import CheckoutMismatch, ClusterExecutor

OPEN_PREFIX = "stated, and not proved: "
FOLDER = ROOT / "docs" / "coq"  # the site publishes it unchanged
OnAnswer = Callable[[str, Answer], None]  # called with the name of a source and Coq's answer, as soon as it is known
Prover = Callable[[dict[str, str], OnAnswer], dict[str, Answer]]  # returns Coq's answers to sources, by name


def proof_keys(texts: dict[str, str]) -> dict[str, str]:
    """Return for each source a digest of everything that Coq's verdict on it depends on."""
    version = coq_process.version()
    return {
        name: digest(text, {prelude: PRELUDES[prelude].text for prelude in add_imports(imported_preludes(text))}, COQ_RUNNER, version)
        for name, text in texts.items()
    }


def hash_coq_runner() -> dict[str, str]:
    """Return the hashes of coq_process.py, which runs Coq, and of everything that it imports."""
    return hashes([Path(coq_process.__file__)])


COQ_RUNNER = hash_coq_runner()  # computed now, because this process has just loaded these files


def is_verdict(answer: Answer) -> bool:
    """Return whether an answer is a verdict. If Coq was stopped or could not be run, it is none."""
    return answer[0] or answer[1].startswith(NO_PROOF)


def make_local_prover(jobs: int, on_checked: Callable[[int], None]) -> Prover:
    """Return a function that runs Coq on this machine. It calls `on_checked(n)` each time that one of n sources has been checked."""

    def prove(texts: dict[str, str], on_answer: OnAnswer) -> dict[str, Answer]:
        def report(key: str, answer: Answer) -> None:
            on_answer(key, answer)
            on_checked(len(texts))

        return coq_witness.prove(texts, jobs=jobs, told=report, apart=frozenset(coq_open_claims.read_reasons()))

    return prove


def make_cluster_prover(workers: ClusterExecutor, on_checked: Callable[[int], None]) -> Prover:
    """Return a function that runs Coq on the workers of a cluster. The workers must have the same version of Coq as this machine."""

    def prove(texts: dict[str, str], on_answer: OnAnswer) -> dict[str, Answer]:
        apart, version = frozenset(coq_open_claims.read_reasons()), coq_witness.version()
        found: dict[str, Answer] = {}
        groups = [{key: texts[key] for key in group} for group in group_by_imports(texts, apart, workers.size)]
        for done in as_completed([workers.submit(prove_on_worker, group, apart, version) for group in groups]):
            for key, answer in done.result().items():
                found[key] = answer
                on_answer(key, answer)
                on_checked(len(texts))
        return {key: found[key] for key in texts}

    return prove


def prove_on_worker(texts: dict[str, str], apart: frozenset[str], version: str) -> dict[str, Answer]:
    """Run Coq on a worker. Raise CheckoutMismatch if its version of Coq is not `version`."""
    if coq_witness.version() != version:
        raise CheckoutMismatch(f"a worker has another Coq: {coq_witness.version() or 'none'}, not {version}")
    return coq_witness.prove(texts, process_folder(), jobs=1, apart=apart)


@cache
def process_folder() -> str:
    """Return the folder where this process has Coq check files. It is removed when the process ends."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return folder.name


def run(topics: list[str], fresh: bool, prove: Prover) -> dict[str, dict[str, dict]]:
    """Return {topic: {id: result}}. Raise Differs if a recheck gives a different verdict.

    `prove` is what `make_local_prover` or `make_cluster_prover` returns.
    """
    sources: dict[str, dict[str, coq_witness.Source]] = {}  # of the topics without stored results
    results: dict[str, dict[str, dict]] = {}
    for topic in topics:
        stored = None if fresh or settings.recheck.one_in else stored_results(topic)
        if stored is None:
            sources[topic] = make_sources(topic)
        else:
            results[topic] = stored
    texts = {f"{topic}#{id_}": source.text for topic, found in sources.items() for id_, source in found.items() if source.text}
    verdicts = coq_verdict_cache.prove(texts, proof_keys(texts), prove, is_verdict, fresh)
    for topic, found in sources.items():
        exceptions = coq_open_claims.read_reasons(topic)
        results[topic] = {
            id_: make_result(f"{topic}#{id_}", source, verdicts, exceptions.pop(f"{topic}#{id_}", "")) for id_, source in found.items()
        }
        results[topic] |= {key.partition("#")[2]: unknown_claim_result(key) for key in exceptions}
        if all(result["ok"] is not False for result in results[topic].values()):
            coq_results.put(topic, results[topic], coq_witness.version())
        else:
            coq_results.STORE.delete(topic)
    publish_sources({topic: results[topic] for topic in topics}, every=set(topics) == set(certificates.topics()))
    coq_verdict_cache.STORE.prune()
    rejections.end_round()
    return {topic: results[topic] for topic in topics}


def make_result(key: str, source: coq_witness.Source, verdicts: dict[str, Answer], exception: str = "") -> dict:
    """Return Coq's result for a claim, with the numbers of the steps that it proves, counted from 1.

    `verdicts` maps claims to Coq's answers. `exception` is the reason in `derivations/coq_open.toml` why Coq does not prove the claim, if
    the claim is listed there. If Coq proves only some steps of a chain, the claim does not count as proved.
    """
    ok, message = verdicts[key] if source.text else (None, source.reason)
    if exception and ok is False and message.startswith((NO_PROOF, STOPPED)):
        ok, message = None, f"{OPEN_PREFIX}{exception}"
    elif exception and ok is not False:
        ok, message = False, f"{'Coq proves it' if ok else 'Coq cannot state it'}, so it is not open: take it out of {coq_open_claims.NAME}"
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
    """Return the outcome of a result: "proved", "open", "not for Coq", or "NOT proved", which is an error."""
    if result["ok"] is None:
        return "open" if result["message"].startswith(OPEN_PREFIX) else "not for Coq"
    return "proved" if result["ok"] else "NOT proved"


def unknown_claim_result(key: str) -> dict:
    """Return the result for an entry of `derivations/coq_open.toml` that names no claim."""
    return coq_results.NOT_STATED | {"ok": False, "message": f"{coq_open_claims.NAME} names it, and there is no such claim: take it out"}


def publish_sources(results: dict[str, dict[str, dict]], every: bool) -> None:
    """Write the sources that Coq proved, and the preludes that they import, to the folder that the site links to.

    Remove outdated files from the folders of these topics, or from the whole folder if `every`.
    """
    proved = {
        FOLDER.parent / result["file"]: result["source"] for found in results.values() for result in found.values() if result["steps"]
    }
    proved |= {FOLDER / f"{name}.v": prelude.text for name, prelude in coq_witness.PRELUDES.items()}
    folders = [FOLDER] if every else [coq_process.path_of_source(topic + "#x", FOLDER).parent for topic in results]
    for outdated in {path for folder in folders for path in folder.rglob("*.v")} - proved.keys():
        outdated.unlink(missing_ok=True)
    for path, text in proved.items():
        project_files.write_text(path, text)


def make_sources(topic: str) -> dict[str, coq_witness.Source]:
    """Return the Coq source of each claim of a topic, by id. If Coq cannot state a claim, the source has a reason instead of a text.

    Raise RuntimeError if the script cannot be loaded, which should not happen, because it has passed the check.
    """
    problem = load_script(certificates.script_of(topic))
    if problem:
        raise RuntimeError(f"{topic}: {problem.message}")
    return {claim.id: coq_witness.source(claim, topic) for claim in claims.LOADED[0].claims}


def stored_results(topic: str) -> dict[str, dict] | None:
    """Return the stored results of a topic if they belong to its certificate and to this version of Coq, otherwise None."""
    content = coq_results.get(certificates.load(topic))
    return content["claims"] if content and content["coq"] == coq_witness.version() else None
