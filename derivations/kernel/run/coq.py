"""`python -m derivations coq`: have Coq check every claim it can state, and keep what it says beside the certificates.

Results are kept as long as the certificate they belong to, and Coq itself, stay as they are; and by their sources for longer.
"""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable
from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..coq import witness as coq_witness
from ..coq.combined_files import shared_out
from ..coq.coq_process import NO_PROOF, STOPPED
from ..core import claims
from . import certificates, coq_kept, coq_open, coq_results, refusals
from .certificates import ROOT
from .cluster import OtherCheckout
from .shared import Shared
from .worker import load_script

OPEN = "stated, and not proved: "
FOLDER = ROOT / "docs" / "coq"  # published as it is


@dataclass(frozen=True)
class How:
    """How Coq is asked."""

    ask: Callable  # of {key: source}, what it says of each; and tells of each as it is decided
    replay: int = 0  # ask again for one kept verdict in so many; by 0, topics that are as they were stand unasked
    shared: Shared | None = None  # a folder of what it said on other machines
    otherwise: Callable = print  # told the name of a source of which it now says something else than was kept


def here(jobs: int, told: Callable) -> Callable:
    """Asks the Coq of this machine; told(n) is called as each of n files is checked."""

    def ask(some: dict, decided: Callable) -> dict:
        def both(key: str, said: tuple) -> None:
            decided(key, said)
            told(len(some))

        return coq_witness.prove(some, jobs=jobs, told=both, apart=frozenset(coq_open.reasons()))

    return ask


def there(workers: Any, told: Callable) -> Callable:
    """Asks the workers of a cluster, each of which has to have the Coq of this machine."""

    def ask(some: dict, decided: Callable) -> dict:
        apart, version, found = frozenset(coq_open.reasons()), coq_witness.version(), {}
        groups = [{key: some[key] for key in group} for group in shared_out(some, apart, workers.size)]
        for done in as_completed([workers.submit(prove_there, group, apart, version) for group in groups]):
            for key, said in done.result().items():
                found[key] = said
                decided(key, said)
                told(len(some))
        return {key: found[key] for key in some}

    return ask


def prove_there(some: dict, apart: frozenset, version: str) -> dict:
    if coq_witness.version() != version:
        raise OtherCheckout(f"a worker has another Coq: {coq_witness.version() or 'none'}, not {version}")
    return coq_witness.prove(some, own_folder(), jobs=1, apart=apart)


@cache
def own_folder() -> str:
    """Where this process has Coq check files; it goes with the process."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return folder.name


def run(topics: list, fresh: bool, how: How) -> dict:
    """{topic: {id: result}}."""
    wanted, results = {}, {}
    for topic in topics:
        kept = None if fresh or how.replay else stored(topic)
        if kept is None:
            wanted[topic] = sources(topic)
        else:
            results[topic] = kept
    texts = {f"{topic}#{id_}": s.text for topic, found in wanted.items() for id_, s in found.items() if s.text}
    verdicts = coq_kept.prove(texts, 0 if fresh else how.replay or coq_kept.REPLAYED, how.ask, how.otherwise, how.shared)
    for topic, found in wanted.items():
        known = coq_open.reasons(topic)
        results[topic] = {id_: result(f"{topic}#{id_}", s, verdicts, known.pop(f"{topic}#{id_}", "")) for id_, s in found.items()}
        results[topic] |= {key.partition("#")[2]: no_claim(key) for key in known}
        if all(r["ok"] is not False for r in results[topic].values()):
            coq_results.save(topic, results[topic], coq_witness.version())
        else:
            coq_results.path_of(topic).unlink(missing_ok=True)
    publish({topic: results[topic] for topic in topics}, every=set(topics) == set(certificates.topics()))
    coq_kept.forget()
    refusals.ring()
    return {topic: results[topic] for topic in topics}


def result(key: str, source: coq_witness.Source, verdicts: dict, why: str = "") -> dict:
    """What Coq says of a claim, and the steps that it proves, counted from 1. Part of a chain is not the claim.

    `why` is what is known of a claim that it does not prove.
    """
    ok, message = verdicts[key] if source.text else (None, source.reason)
    if why and ok is False and message.startswith((NO_PROOF, STOPPED)):
        ok, message = None, f"{OPEN}{why}"
    elif why and ok is not False:
        ok, message = False, f"{'Coq proves it' if ok else 'Coq cannot state it'}, so it is not open: take it out of {coq_open.NAME}"
    steps = source.steps if ok else ()
    if ok and not source.whole:
        ok, message = None, f"proved for step {', '.join(map(str, steps))} only: {source.reason}"
    return {
        "ok": ok,
        "message": message,
        "scope": source.scope,
        "steps": list(steps),
        "source": source.text or "",
        "file": coq_witness.file_of(key, FOLDER).relative_to(FOLDER.parent).as_posix(),
    }


def outcome(result: dict) -> str:
    """What became of a claim: proved, open, not for Coq or, which is an error, not proved."""
    if result["ok"] is None:
        return "open" if result["message"].startswith(OPEN) else "not for Coq"
    return "proved" if result["ok"] else "NOT proved"


def no_claim(key: str) -> dict:
    return coq_results.NOT_STATED | {"ok": False, "message": f"{coq_open.NAME} names it, and there is no such claim: take it out"}


def publish(results: dict, every: bool):
    """Write what Coq proved where the site links to it, and what all of it imports. What no longer stands there is removed."""
    proved = {FOLDER.parent / r["file"]: r["source"] for claims in results.values() for r in claims.values() if r["steps"]}
    proved |= {FOLDER / f"{name}.v": shared.text for name, shared in coq_witness.PRELUDES.items()}
    homes = [FOLDER] if every else [coq_witness.file_of(topic + "#x", FOLDER).parent for topic in results]
    for old in {path for home in homes for path in home.rglob("*.v")} - proved.keys():
        old.unlink(missing_ok=True)
    for path, text in proved.items():
        certificates.put(path, text)


def sources(topic: str) -> dict:
    """The Coq file of each claim of a topic, or why there is none. The script has passed the check before."""
    problem = load_script(certificates.script_of(topic))
    if problem:
        raise RuntimeError(f"{topic}: {problem[1]}")
    return {claim.id: coq_witness.source(claim, topic) for claim in claims.LOADED[0].claims}


def stored(topic: str):
    """What Coq said of the claims as they are, or None."""
    content = coq_results.results_for(topic, certificates.load(topic))
    return content["claims"] if content and content["coq"] == coq_witness.version() else None
