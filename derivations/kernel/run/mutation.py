"""Running the mutants against the witnesses, several processes at once: `python -m derivations mutants`.

A witness covers a mutant if it gives a verdict on the claim itself. It must then reject the mutant, or the judge must find the
mutant true. The gate: none survives, none is left unclassified, every control is accepted, and no mutant is printed as the claim is.
"""

from __future__ import annotations

import gc
import secrets
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path

from ..attack import mutant_trials
from ..attack.claim_mutants import mutants
from ..core import claims
from . import certificates, worker
from .cluster import processes
from .importing import hashes
from .mutants_kept import depends_on, empty, keep, kept, record, taken
from .shared import Shared

REPLAYED = 20  # of so many claims whose mutants others tried, those of one are tried again
CHUNK = 20  # mutants to a task: few, so that no process waits long for the last one


class NotStated(Exception):
    """A script breaks before it has stated its claims."""


def stated(script: str) -> dict:
    """The claims of a script by id, each with its mutants."""
    path = Path(certificates.ROOT, script)  # named as every machine knows it
    return stated_in(str(path), certificates.file_hash(path))


@cache  # a process meets each script several times
def stated_in(script: str, digest: str) -> dict:
    problem = worker.load_script(Path(script))
    if problem:
        raise NotStated(f"{script}:{problem[0]}: {problem[1]}")
    found = {claim.id: (claim, mutants(claim)) for claim in claims.LOADED[0].claims}
    gc.freeze()  # they stay: the collector need not go through them again
    return found


def survey(script: str) -> dict:
    """For each claim of a script: a fingerprint of what its results depend on, and how many mutants it has."""
    return {id_: {"fingerprint": fingerprint(claim), "mutants": len(found)} for id_, (claim, found) in stated(script).items()}


def fingerprint(claim) -> str:
    """Of what a witness can see of a claim; where it stands and what it is called are no part of it."""
    bare = replace(claim, file="", line=0, title="", steps=tuple(replace(s, reason="") for s in claim.steps))
    files = [certificates.ROOT / (name.rpartition(".")[0].replace(".", "/") + ".py") for name, *_ in claim.code]
    return sha256(repr((bare, hashes(files))).encode()).hexdigest()


def try_controls(script: str, id_: str, names: list, known: dict) -> dict:
    return mutant_trials.try_controls(*stated(script)[id_], names, known)


def try_mutants(script: str, id_: str, names: list, start: int, stop: int) -> list:
    """(witness, operator, outcome, how) for each mutant of a slice and each witness named."""
    claim, found = stated(script)[id_]
    return [said for mutant in found[start:stop] for said in mutant_trials.outcomes(mutant, claim, names)]


def vouched(topic: str) -> dict:
    """By claim and witness what was said of the claim itself, where a certificate tells."""
    try:
        claims = certificates.load(topic)["claims"]
    except certificates.CertificateError:
        return {}
    return {
        claim["id"]: {w["name"]: "not applicable" if w["verdict"] == "not applicable" else "accepted" for w in claim["witnesses"]}
        for claim in claims
    }


def run(
    targets: list,
    fresh: bool,
    jobs: int,
    progress=lambda done, more: None,
    cluster: str = "",
    shared: Shared | None = None,
    replay: int = 0,
    otherwise: Callable[[str], None] = lambda topic: None,
) -> dict:
    """{topic: {id: result}} for (topic, script) pairs. What is kept and still stands is not run again, but for one claim in so many, by
    `replay`; of what others kept, a sample is. `otherwise` is told the topic of one of which something else came: all are tried then."""
    results, current, others, replayed = {}, depends_on(), set(), {}
    asked = targets
    targets = [(topic, certificates.named(script) if cluster else str(script)) for topic, script in targets]
    with processes(jobs, cluster) as pool:
        surveys = {topic: pool.submit(survey, script) for topic, script in targets}
        waiting = {}
        for topic, script in targets:
            before, said, results[topic] = {} if fresh else kept(topic, current), vouched(topic), {}
            theirs = taken(topic, current, shared) if shared and not before and not fresh else {}
            one_in = REPLAYED if theirs else replay if before else 0
            others |= {topic} if one_in else set()
            for id_, known in surveys[topic].result().items():
                was = (before or theirs).get(id_, {})
                same = was.get("fingerprint") == known["fingerprint"]
                if same and one_in and not secrets.randbelow(one_in):
                    replayed[topic, id_] = was
                results[topic][id_] = (was if same and (topic, id_) not in replayed else {"witnesses": {}}) | known
                missing = [name for name in mutant_trials.WITNESSES if name not in results[topic][id_]["witnesses"]]
                if missing:
                    progress(0, 1 + known["mutants"])
                    waiting[pool.submit(try_controls, script, id_, missing, said.get(id_, {}))] = topic, script, id_, 1
        while waiting:
            for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                topic, script, id_, count = waiting.pop(done)
                result, said = results[topic][id_], done.result()
                progress(count, 0)
                if isinstance(said, list):
                    record(result, said)
                else:
                    result["alike"] = said["alike"]
                    result["witnesses"] |= {name: empty(current[name]) | w for name, w in said["witnesses"].items()}
                    covering = [name for name, w in said["witnesses"].items() if w["covers"]]
                    for start in range(0, result["mutants"] if covering else 0, CHUNK):
                        stop = min(start + CHUNK, result["mutants"])
                        waiting[pool.submit(try_mutants, script, id_, covering, start, stop)] = topic, script, id_, stop - start
                if certificates.is_topic(topic) and topic not in others and not any(t == topic for t, *_ in waiting.values()):
                    keep(topic, results[topic])  # now, so that a run that is cut short is not lost
    if lies := [topic for (topic, id_), was in replayed.items() if was["witnesses"] != results[topic][id_]["witnesses"]]:
        otherwise(lies[0])
        if shared:
            shared.doubted += sorted(others)
        return results | run([(topic, script) for topic, script in asked if topic in others], True, jobs, progress, cluster, shared)
    for topic in filter(certificates.is_topic, results):
        keep(topic, results[topic], shared)
    return results
