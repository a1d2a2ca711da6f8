"""Have the witnesses check random claims in several processes: `python -m derivations fuzz`.

The outcome for a claim is determined by its seed and its number. The counts are stored, and are valid as long as nothing changes that they
depend on: the witnesses, the modules that draft and judge claims, and the libraries.
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

CHUNK = 100  # claims per task
UNDECIDED = 0.05  # the largest share of claims that the judge may leave undecided
LISTED = 5  # how many faults of one kind are listed


def attempts(seed: int, start: int, stop: int) -> dict:
    """Return the counts for the claims with numbers from `start` to `stop - 1`."""
    result = nothing()
    for number in range(start, stop):
        add(result, counted(fuzz_claim.fuzz_one(seed, number)))
    return result


def nothing() -> dict:
    """Return the counts of no claims."""
    return {"claims": 0, "families": {}, "witnesses": {}, "faults": [], "faulty": {}, "refused": {}, "refused_listed": []}


def counted(o: fuzz_claim.Outcome) -> dict:
    """Return one outcome as counts, which `add` can add to others."""
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
    """Add counts to other counts in place."""
    to["claims"] += more["claims"]
    for part in ("families", "witnesses"):
        for name, counts in more[part].items():
            to[part][name] = dict(Counter(to[part].get(name, {})) + Counter(counts))
    for part in ("faulty", "refused"):
        to[part] = dict(Counter(to[part]) + Counter(more[part]))
    to["faults"] = few(to["faults"] + more["faults"], lambda fault: fault[0])
    to["refused_listed"] = few(to["refused_listed"] + more["refused_listed"], lambda said: tuple(said[:2]))


def few(found: list, kind: Callable) -> list:
    """Return at most LISTED items of each kind, those whose last entry (a script) is shortest first."""
    kinds: dict = {}
    for one in sorted(found, key=lambda one: (len(one[-1]), one)):
        kinds.setdefault(kind(one), []).append(one)
    return [one for ones in kinds.values() for one in ones[:LISTED]]


def run(seed: int, claims: int, jobs: int, minutes: float | None = None, progress: Callable = lambda done: None, cluster: str = "") -> dict:
    """Try `claims` random claims, or as many as fit into `minutes`, and return the counts.

    `progress(n)` is called when n more claims have been tried.
    """
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
    """Return whether the counts pass the gate.

    There must be no faults. Each witness must have accepted a true claim and rejected a false one, since otherwise it was not really
    tested. The judge must have decided enough claims.
    """
    tried = all(
        result["witnesses"].get(name, {}).get(said, 0) for name in fuzz_claim.SHARES for said in ("true, accepted", "false, refused")
    )
    undecided = sum(counts.get("undecided", 0) for counts in result["families"].values())
    return tried and not result["faulty"] and undecided <= UNDECIDED * result["claims"]
