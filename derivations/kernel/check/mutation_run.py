"""Have the witnesses check mutants of claims in several processes: `python -m derivations mutants`.

A witness covers a mutant if it gives a verdict on the original claim. It must then reject the mutant, unless the judge finds that the
mutant is true. The run passes if no mutant survives or stays unclassified, every control is accepted, and no mutant is printed like its
claim.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path

from ..attack import mutant_trials
from ..attack.claim_mutants import Mutant, make_mutants
from ..core import claims
from ..core.claims import Claim
from ..script.loading import load_script
from ..store import certificates, mutant_results, project_files
from ..store.import_closure import hashes
from ..store.store import Differs, settings
from .dask_cluster import open_executor

CHUNK = 20  # mutants per task; few, so that all processes finish at about the same time


ClaimAndMutants = tuple[Claim, list[Mutant]]


class ScriptFailed(Exception):
    """A script fails before it has stated its claims."""


def load_mutants(script: str) -> dict[str, ClaimAndMutants]:
    """Return each claim of a script with its mutants, by id. Raise ScriptFailed if the script fails."""
    path = Path(project_files.ROOT, script)  # `script` may be relative to the root, as it is for a worker of a cluster
    return load_cached(str(path), project_files.file_hash(path))


@cache  # each process handles several tasks of the same script
def load_cached(script: str, digest: str) -> dict[str, ClaimAndMutants]:
    """Return what `load_mutants` returns. `digest` is the hash of the script, so that a changed script is loaded again."""
    problem = load_script(Path(script))
    if problem:
        raise ScriptFailed(f"{script}:{problem.line}: {problem.message}")
    found = {claim.id: (claim, make_mutants(claim)) for claim in claims.LOADED[0].claims}
    gc.freeze()  # the cache keeps these objects, so the garbage collector may skip them
    return found


def survey_script(script: str) -> dict[str, dict]:
    """Return, for each claim of a script, a fingerprint of what its results depend on and the number of its mutants."""
    loaded = load_mutants(script)
    return {id_: {"fingerprint": fingerprint(claim), "mutants": len(mutants)} for id_, (claim, mutants) in loaded.items()}


def fingerprint(claim: Claim) -> str:
    """Return a hash of what a witness can see of a claim, including the snippet files that it names and all that they import.

    The claim's file, line, title and reasons are left out.
    """
    stated = replace(claim, file="", line=0, title="", steps=tuple(replace(s, reason="") for s in claim.steps))
    files = [project_files.ROOT / (name.rpartition(".")[0].replace(".", "/") + ".py") for name, *_ in claim.code]
    return sha256(repr((stated, hashes(files))).encode()).hexdigest()


def try_controls(script: str, id_: str, names: list[str], answers: dict[str, str]) -> dict:
    """Have the named witnesses check a claim's controls. `answers` contains their known answers to the claim itself."""
    claim, mutants = load_mutants(script)[id_]
    return mutant_trials.try_controls(claim, mutants, names, answers)


def try_mutants(script: str, id_: str, names: list[str], start: int, stop: int) -> list[dict]:
    """Return the outcomes of the claim's mutants from `start` to `stop - 1`, one for each mutant and named witness."""
    claim, mutants = load_mutants(script)[id_]
    return [outcome for mutant in mutants[start:stop] for outcome in mutant_trials.try_mutant_with_witnesses(mutant, claim, names)]


def certified_answers(topic: str) -> dict[str, dict[str, str]]:
    """Return {id: {witness: "accepted" or "not applicable"}} from a topic's certificate, or {} if it has no valid one."""
    try:
        claims = certificates.load(topic)["claims"]
    except certificates.CertificateError:
        return {}
    return {
        claim["id"]: {w["name"]: "not applicable" if w["verdict"] == "not applicable" else "accepted" for w in claim["witnesses"]}
        for claim in claims
    }


def run(
    targets: list[tuple[str, Path]],
    fresh: bool,
    jobs: int,
    progress: Callable[[int, int], None] = lambda done, more: None,
    cluster: str = "",
) -> dict[str, dict[str, dict]]:
    """Return {topic: {id: result}}. Try only mutants without a stored result, and those that a recheck picks.

    `progress(done, more)` is called with the numbers of trials that were finished and added. Raise Differs if a recheck finds another
    result.
    """
    results: dict[str, dict[str, dict]] = {}
    current = mutant_results.depends_on()
    scripts = {topic: project_files.name_of(script) if cluster else str(script) for topic, script in targets}
    with open_executor(jobs, cluster) as pool:
        surveys = {topic: pool.submit(survey_script, script) for topic, script in scripts.items()}
        waiting: dict[Future, tuple[str, str, int]] = {}  # the topic, the claim and the number of trials of each task
        stored: dict[tuple[str, str], dict] = {}  # the results that a recheck compares with new ones
        for topic, script in scripts.items():
            answers, reads, results[topic] = certified_answers(topic), mutant_results.recorded_reads(topic), {}
            for id_, claim in surveys[topic].result().items():
                known = {} if fresh else mutant_results.get(claim["fingerprint"], current, reads)
                if settings.recheck.picks(f"{topic}#{id_}"):
                    stored[topic, id_], known = known, {}
                results[topic][id_] = claim | {"witnesses": known}
                missing = [name for name in mutant_trials.WITNESSES if name not in known]
                if missing:
                    progress(0, 1 + claim["mutants"])
                    waiting[pool.submit(try_controls, script, id_, missing, answers.get(id_, {}))] = topic, id_, 1
        while waiting:
            for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                topic, id_, count = waiting.pop(done)
                result, outcome = results[topic][id_], done.result()
                progress(count, 0)
                if isinstance(outcome, list):
                    mutant_results.add_outcomes(result["witnesses"], outcome)
                else:
                    add_controls(result, outcome)
                    covering = [name for name, w in outcome["witnesses"].items() if w["covers"]]
                    for start in range(0, result["mutants"] if covering else 0, CHUNK):
                        stop = min(start + CHUNK, result["mutants"])
                        waiting[pool.submit(try_mutants, scripts[topic], id_, covering, start, stop)] = topic, id_, stop - start
                if not any(other[:2] == (topic, id_) for other in waiting.values()):
                    store_results(topic, id_, result, stored.get((topic, id_), {}), current)
    for topic, found in results.items():
        for result in found.values():
            result |= mutant_results.claim_result(result["witnesses"])
        if certificates.is_topic(topic):
            mutant_results.put_survey(topic, surveys[topic].result())
    mutant_results.STORE.prune()
    return results


def add_controls(result: dict, outcome: dict) -> None:
    """Add the outcome of `try_controls` to the result of a claim."""
    for name, controls in outcome["witnesses"].items():
        result["witnesses"][name] = mutant_results.empty_result() | {"alike": outcome["alike"]} | controls


def store_results(topic: str, id_: str, result: dict, stored: dict, current: dict) -> None:
    """Store the results of a claim whose mutants have all been tried. Raise Differs if they differ from the results in `stored`."""
    if any(stored[name] != result["witnesses"].get(name) for name in stored):
        mutant_results.STORE.clear()
        raise Differs(settings.recheck.difference(f"the mutants of {topic}#{id_}"))
    if certificates.is_topic(topic):
        mutant_results.put(result["fingerprint"], result["witnesses"], current, mutant_results.recorded_reads(topic))
