"""The corrupted snippets of all topics, several topics at once: what became of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import as_completed
from pathlib import Path

from ..attack.snippet_mutant_trials import try_mutations
from ..core import claims
from ..store.project_files import ROOT, named
from ..traced import witness
from .dask_cluster import processes
from .worker import load_script

Left = tuple[str, str, str, str]  # the claim, the function, what was changed, and what became of it


def run(
    targets: list[tuple[str, Path]], jobs: int, progress: Callable[[int], None], cluster: str = ""
) -> dict[str, tuple[Counter, list[Left]]]:
    """By topic, how many corrupted snippets had which outcome, and those that were not killed."""
    with processes(jobs, cluster) as pool:
        waiting = {pool.submit(of_topic, topic, named(script) if cluster else str(script)): topic for topic, script in targets}
        found = {}
        for done in as_completed(waiting):
            found[waiting[done]] = done.result()
            progress(1)
    return {topic: found[topic] for topic, _ in targets}


def of_topic(topic: str, script: str) -> tuple[Counter, list[Left]]:
    """Each function that a topic's claims name is corrupted once, under the first claim whose call is proved."""
    load_script(Path(ROOT, script))
    counts: Counter = Counter()
    left: list[Left] = []
    for claim, k, said in first_calls(list(claims.LOADED[0].claims)):
        name = claim.code[k][0].partition("[")[0]
        for slip, outcome in try_mutations(claim, k, said):
            counts[outcome] += 1
            left += [(f"{topic}#{claim.id}", name, slip.what, outcome)] * (outcome != "killed")
    return counts, left


def first_calls(stated: list) -> Iterator[tuple]:
    """(claim, number of the call, what is said of it) for the first proved call of each function."""
    seen = set()
    for claim in stated:
        for k, (name, *_) in enumerate(claim.code):
            if (bare := name.partition("[")[0]) in seen:
                continue
            said = witness.check_call(claim, k)
            if said.state == "proved":
                seen.add(bare)
                yield claim, k, said
