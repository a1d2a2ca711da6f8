"""Have the witnesses check random claims in several processes: `python -m derivations fuzz`.

A claim's seed and number determine its outcome. The counts are stored and remain valid until something that they depend on changes: the
witnesses, the modules that draft and judge claims, or the libraries.
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
MAX_LISTED = 5  # faults of one kind


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
    """Return the first MAX_LISTED items of each kind, ordered by the length of their last entry, which is a script."""
    kinds: dict = {}
    for item in sorted(found, key=lambda item: (len(item[-1]), item)):
        kinds.setdefault(kind(item), []).append(item)
    return [item for items in kinds.values() for item in items[:MAX_LISTED]]


def run(seed: int, claims: int, jobs: int, minutes: float | None = None, progress: Callable = lambda done: None, cluster: str = "") -> dict:
    """Try `claims` random claims, or as many as fit into `minutes`, and return the counts.

    `progress(n)` is called when n more claims have been tried.
    """
    result, began = empty_counts(), time.monotonic()
    starts = iter(range(0, claims, CHUNK))
    with open_executor(jobs, cluster) as pool:

        def submit(count: int) -> set[Future]:
            late = minutes is not None and time.monotonic() - began > 60 * minutes
            return {pool.submit(try_claims, seed, at, min(at + CHUNK, claims)) for at in islice(starts, 0 if late else count)}

        waiting = submit(2 * getattr(pool, "size", jobs))
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                add_counts(result, future.result())
                progress(future.result()["claims"])
            waiting |= submit(len(done))
    return result | {"seed": seed, "seconds": round(time.monotonic() - began), "shares": fuzz_claim.SHARES, "depends_on": depends_on()}


def passes(result: dict) -> bool:
    """Return whether the run passes.

    There must be no faults. Each witness must have accepted a true claim and rejected a false one; otherwise it was not really tested. The
    judge must have decided enough claims.
    """
    tried = all(
        result["witnesses"].get(name, {}).get(said, 0) for name in fuzz_claim.SHARES for said in ("true, accepted", "false, refused")
    )
    undecided = sum(counts.get("undecided", 0) for counts in result["families"].values())
    return tried and not result["faulty"] and undecided <= MAX_UNDECIDED_SHARE * result["claims"]
