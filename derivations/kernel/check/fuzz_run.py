"""Random claims put before the witnesses, several processes at once: `python -m derivations fuzz`.

What becomes of a claim follows from its seed and its number. The counts are kept, and stand for as long as nothing changes on which they
depend: the kernel's witnesses, who drafts the claims, who judges them, and the libraries.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice

from ..attack import fuzz_claim
from ..store.fuzz_results import depends_on
from .dask_cluster import processes

CHUNK = 100  # claims to a task
UNDECIDED = 0.05  # the largest share of claims of which the judge may be unable to tell
LISTED = 5  # of one kind of fault, so many are shown


def attempts(seed: int, start: int, stop: int) -> dict:
    """What became of the claims with these numbers."""
    result = nothing()
    for number in range(start, stop):
        add(result, counted(fuzz_claim.fuzz_one(seed, number)))
    return result


def nothing() -> dict:
    return {"claims": 0, "families": {}, "witnesses": {}, "faults": [], "faulty": {}, "refused": {}, "refused_listed": []}


def counted(o: fuzz_claim.Outcome) -> dict:
    """One outcome, in the form of a sum of many."""
    return {
        "claims": 1,
        "families": {o.family: {o.truth: 1}},
        "witnesses": {name: {f"{o.truth}, {said}": 1} for name, said in o.said.items()},
        "faults": [[name, what, script] for name, what, script in o.faults],
        "faulty": dict(Counter(f"{name}, {o.family}" for name, *_ in o.faults)),
        "refused": dict(Counter(f"{name}, {o.family}" for name, _ in o.refused)),
        "refused_listed": [[name, o.family, where] for name, where in o.refused],
    }


def add(to: dict, more: dict) -> None:
    to["claims"] += more["claims"]
    for part in ("families", "witnesses"):
        for name, counts in more[part].items():
            to[part][name] = dict(Counter(to[part].get(name, {})) + Counter(counts))
    for part in ("faulty", "refused"):
        to[part] = dict(Counter(to[part]) + Counter(more[part]))
    to["faults"] = few(to["faults"] + more["faults"], lambda fault: fault[0])
    to["refused_listed"] = few(to["refused_listed"] + more["refused_listed"], lambda said: tuple(said[:2]))


def few(found: list, kind: Callable) -> list:
    """At most LISTED of each kind, the smallest first."""
    kinds: dict = {}
    for one in sorted(found, key=lambda one: (len(one[-1]), one)):
        kinds.setdefault(kind(one), []).append(one)
    return [one for ones in kinds.values() for one in ones[:LISTED]]


def run(seed: int, claims: int, jobs: int, minutes: float | None = None, progress: Callable = lambda done: None, cluster: str = "") -> dict:
    """The counts of so many claims, or of as many as there was time for."""
    result, began = nothing(), time.monotonic()
    left = iter(range(0, claims, CHUNK))
    with processes(jobs, cluster) as pool:

        def begin(count: int) -> set[Future]:
            late = minutes is not None and time.monotonic() - began > 60 * minutes
            return {pool.submit(attempts, seed, at, min(at + CHUNK, claims)) for at in islice(left, 0 if late else count)}

        waiting = begin(2 * getattr(pool, "size", jobs))
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                add(result, future.result())
                progress(future.result()["claims"])
            waiting |= begin(len(done))
    return result | {"seed": seed, "seconds": round(time.monotonic() - began), "shares": fuzz_claim.SHARES, "depends_on": depends_on()}


def passes(result: dict) -> bool:
    """The gate. A witness that accepted nothing true, or refused nothing false, has not been tried; nor has any where the judge cannot tell."""
    tried = all(
        result["witnesses"].get(name, {}).get(said, 0) for name in fuzz_claim.SHARES for said in ("true, accepted", "false, refused")
    )
    undecided = sum(counts.get("undecided", 0) for counts in result["families"].values())
    return tried and not result["faulty"] and undecided <= UNDECIDED * result["claims"]
