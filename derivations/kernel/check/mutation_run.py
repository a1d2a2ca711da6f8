"""Have the witnesses check mutants of claims in several processes: `python -m derivations mutants`.

A witness covers a mutant if it gives a verdict on the original claim. It must then reject the mutant, unless the judge finds that the
mutant is true. The gate: no mutant survives, none is left unclassified, every control is accepted, and no mutant is printed like its claim.
"""

from __future__ import annotations

import gc
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path

from ..attack import mutant_trials
from ..attack.claim_mutants import make_mutants
from ..core import claims
from ..store import certificates, mutant_results, project_files
from ..store.import_closure import hashes
from ..store.store import Differs, settings
from . import worker
from .dask_cluster import open_executor

CHUNK = 20  # mutants per task: few, so that all processes finish at about the same time


class ScriptFailed(Exception):
    """A script fails before it has stated its claims."""


def make_claims_and_mutants(script: str) -> dict:
    """Return {id: (claim, mutants)} for the claims of a script. Raise NotStated if the script fails."""
    path = Path(project_files.ROOT, script)  # `script` may be relative to the root, as it is for a worker of a cluster
    return make_cached(str(path), project_files.file_hash(path))


@cache  # each process handles several tasks of the same script
def make_cached(script: str, digest: str) -> dict:
    """Return what `make_claims_and_mutants` returns, cached by path and content of the script."""
    problem = worker.load_script(Path(script))
    if problem:
        raise ScriptFailed(f"{script}:{problem[0]}: {problem[1]}")
    found = {claim.id: (claim, make_mutants(claim)) for claim in claims.LOADED[0].claims}
    gc.freeze()  # the cache keeps these objects, so the garbage collector need not visit them
    return found


def survey_script(script: str) -> dict:
    """Return, for each claim of a script, a fingerprint of what its results depend on and the number of its mutants."""
    return {
        id_: {"fingerprint": fingerprint(claim), "mutants": len(found)} for id_, (claim, found) in make_claims_and_mutants(script).items()
    }


def fingerprint(claim) -> str:
    """Return a hash of what a witness can see of a claim, including the snippet files that it names and all that they import.

    The claim's file, line, title and reasons are left out.
    """
    bare = replace(claim, file="", line=0, title="", steps=tuple(replace(s, reason="") for s in claim.steps))
    files = [project_files.ROOT / (name.rpartition(".")[0].replace(".", "/") + ".py") for name, *_ in claim.code]
    return sha256(repr((bare, hashes(files))).encode()).hexdigest()


def try_controls(script: str, id_: str, names: list, known: dict) -> dict:
    """Have the named witnesses check a claim's controls. `known` holds their answers to the claim itself."""
    return mutant_trials.try_controls(*make_claims_and_mutants(script)[id_], names, known)


def try_mutants(script: str, id_: str, names: list, start: int, stop: int) -> list:
    """Return the outcome for each of the claim's mutants from `start` to `stop - 1` under each of the named witnesses."""
    claim, found = make_claims_and_mutants(script)[id_]
    return [said for mutant in found[start:stop] for said in mutant_trials.try_mutant_with_witnesses(mutant, claim, names)]


def certified_answers(topic: str) -> dict:
    """Return {id: {witness: "accepted" or "not applicable"}} from a topic's certificate; {} if it has no valid one."""
    try:
        claims = certificates.load(topic)["claims"]
    except certificates.CertificateError:
        return {}
    return {
        claim["id"]: {w["name"]: "not applicable" if w["verdict"] == "not applicable" else "accepted" for w in claim["witnesses"]}
        for claim in claims
    }


def run(targets: list, fresh: bool, jobs: int, progress=lambda done, more: None, cluster: str = "") -> dict:
    """Return {topic: {id: result}} for (topic, script) pairs. Try only mutants without a stored result, and those that a recheck picks.

    `progress(done, more)` is called with the numbers of trials that were finished and added. Raise Differs if a recheck finds another
    result.
    """
    results: dict = {}
    current = mutant_results.depends_on()
    targets = [(topic, project_files.name_of(script) if cluster else str(script)) for topic, script in targets]
    with open_executor(jobs, cluster) as pool:
        surveys = {topic: pool.submit(survey_script, script) for topic, script in targets}
        waiting: dict = {}
        stored: dict = {}
        for topic, script in targets:
            said, read, results[topic] = certified_answers(topic), mutant_results.recorded_reads(topic), {}
            for id_, known in surveys[topic].result().items():
                found = {} if fresh else mutant_results.get(known["fingerprint"], current, read)
                if settings.recheck.picks(f"{topic}#{id_}"):
                    stored[topic, id_], found = found, {}
                results[topic][id_] = known | {"witnesses": found}
                missing = [name for name in mutant_trials.WITNESSES if name not in found]
                if missing:
                    progress(0, 1 + known["mutants"])
                    waiting[pool.submit(try_controls, script, id_, missing, said.get(id_, {}))] = topic, script, id_, 1
        while waiting:
            for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                topic, script, id_, count = waiting.pop(done)
                result, said = results[topic][id_], done.result()
                progress(count, 0)
                if isinstance(said, list):
                    mutant_results.add_outcomes(result["witnesses"], said)
                else:
                    result["witnesses"] |= {
                        name: mutant_results.empty_result() | {"alike": said["alike"]} | w for name, w in said["witnesses"].items()
                    }
                    covering = [name for name, w in said["witnesses"].items() if w["covers"]]
                    for start in range(0, result["mutants"] if covering else 0, CHUNK):
                        stop = min(start + CHUNK, result["mutants"])
                        waiting[pool.submit(try_mutants, script, id_, covering, start, stop)] = topic, script, id_, stop - start
                if not any((other[0], other[2]) == (topic, id_) for other in waiting.values()):
                    store_results(topic, id_, result, stored.get((topic, id_), {}), current)
    for topic, found in results.items():
        for result in found.values():
            result |= mutant_results.claim_result(result["witnesses"])
        if certificates.is_topic(topic):
            mutant_results.put_survey(topic, surveys[topic].result())
    mutant_results.STORE.prune()
    return results


def store_results(topic: str, id_: str, result: dict, stored: dict, current: dict) -> None:
    """Store the results of a claim when all its mutants were tried. Raise Differs if they differ from the results in `stored`."""
    if any(stored[name] != result["witnesses"].get(name) for name in stored):
        mutant_results.STORE.clear()
        raise Differs(settings.recheck.difference(f"the mutants of {topic}#{id_}"))
    if certificates.is_topic(topic):
        mutant_results.put(result["fingerprint"], result["witnesses"], current, mutant_results.recorded_reads(topic))
