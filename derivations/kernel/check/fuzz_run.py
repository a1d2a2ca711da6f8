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
from .dask_cluster import open_executor

CHUNK = 100  # claims per task
MAX_UNDECIDED_SHARE = 0.05  # the largest share of claims that the judge may leave undecided
MAX_LISTED = 5  # how many faults of one kind are listed


def try_claims(seed: int, start: int, stop: int) -> dict:
    """Return the counts for the claims with numbers from `start` to `stop - 1`."""
    result = empty_counts()
    for number in range(start, stop):
        add_counts(result, count_outcome(fuzz_claim.fuzz_one(seed, number)))
    return result


def empty_counts() -> dict:
    """Return the counts of no claims."""
    return {"claims": 0, "families": {}, "witnesses": {}, "faults": [], "faulty": {}, "refused": {}, "refused_listed": []}


def count_outcome(o: fuzz_claim.Outcome) -> dict:
    """Return one outcome as counts, which `add_counts` can add to others."""
    return {
        "claims": 1,
        "families": {o.family: {o.truth: 1}},
        "witnesses": {name: {f"{o.truth}, {said}": 1} for name, said in o.said.items()},
        "faults": [[name, what, script] for name, what, script in o.faults],
        "faulty": dict(Counter(f"{name}, {o.family}" for name, *_ in o.faults)),
        "refused": dict(Counter(f"{name}, {o.family}" for name, _ in o.refused)),
        "refused_listed": [[name, o.family, where] for name, where in o.refused],
    }


def add_counts(to: dict, more: dict) -> None:
    """Add counts to other counts in place."""
    to["claims"] += more["claims"]
    for part in ("families", "witnesses"):
        for name, counts in more[part].items():
            to[part][name] = dict(Counter(to[part].get(name, {})) + Counter(counts))
    for part in ("faulty", "refused"):
        to[part] = dict(Counter(to[part]) + Counter(more[part]))
    to["faults"] = shortest_of_each_kind(to["faults"] + more["faults"], lambda fault: fault[0])
    to["refused_listed"] = shortest_of_each_kind(to["refused_listed"] + more["refused_listed"], lambda said: tuple(said[:2]))


def shortest_of_each_kind(found: list, kind: Callable) -> list:
    """Return at most LISTED items of each kind, those whose last entry (a script) is shortest first."""
    kinds: dict = {}
    for one in sorted(found, key=lambda one: (len(one[-1]), one)):
        kinds.setdefault(kind(one), []).append(one)
    return [one for ones in kinds.values() for one in ones[:MAX_LISTED]]


def run(seed: int, claims: int, jobs: int, minutes: float | None = None, progress: Callable = lambda done: None, cluster: str = "") -> dict:
    """Try `claims` random claims, or as many as fit into `minutes`, and return the counts.

    `progress(n)` is called when n more claims have been tried.
    """
    result, began = empty_counts(), time.monotonic()
    left = iter(range(0, claims, CHUNK))
    with open_executor(jobs, cluster) as pool:

        def begin(count: int) -> set[Future]:
            late = minutes is not None and time.monotonic() - began > 60 * minutes
            return {pool.submit(try_claims, seed, at, min(at + CHUNK, claims)) for at in islice(left, 0 if late else count)}

        waiting = begin(2 * getattr(pool, "size", jobs))
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                add_counts(result, future.result())
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
    return tried and not result["faulty"] and undecided <= MAX_UNDECIDED_SHARE * result["claims"]
