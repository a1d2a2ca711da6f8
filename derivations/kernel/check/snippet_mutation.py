"""Have the code witness check mutated snippets, several topics at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import as_completed
from pathlib import Path

from ..attack.snippet_mutant_trials import try_mutations
from ..core import claims
from ..core.claims import Claim
from ..script.loading import load_script
from ..store.project_files import ROOT, name_of
from ..traced import witness
from ..traced.witness import CallVerdict
from .dask_cluster import open_executor

LiveMutation = tuple[str, str, str, str]  # the claim, the function, the change and the outcome of a mutation that was not killed


def run(
    targets: list[tuple[str, Path]], jobs: int, progress: Callable[[int], None], cluster: str = ""
) -> dict[str, tuple[Counter, list[LiveMutation]]]:
    """Return {topic: (number of mutations by outcome, mutations that were not killed)} for (topic, script) pairs.

    `progress(1)` is called after each topic.
    """
    with open_executor(jobs, cluster) as pool:
        waiting = {pool.submit(try_topic, topic, name_of(script) if cluster else str(script)): topic for topic, script in targets}
        found = {}
        for done in as_completed(waiting):
            found[waiting[done]] = done.result()
            progress(1)
    return {topic: found[topic] for topic, _ in targets}


def try_topic(topic: str, script: str) -> tuple[Counter, list[LiveMutation]]:
    """Try the mutations of each function that a topic's claims name, with the first call of it that is proved."""
    load_script(Path(ROOT, script))
    counts: Counter = Counter()
    live: list[LiveMutation] = []
    for claim, k, verdict in first_proved_calls(list(claims.LOADED[0].claims)):
        name = claim.code[k][0].partition("[")[0]
        for mutation, outcome in try_mutations(claim, k, verdict):
            counts[outcome] += 1
            if outcome != "killed":
                live.append((f"{topic}#{claim.id}", name, mutation.what, outcome))
    return counts, live


def first_proved_calls(stated: list[Claim]) -> Iterator[tuple[Claim, int, CallVerdict]]:
    """Yield (claim, number of the call, verdict on the call) for the first proved call of each function."""
    seen = set()
    for claim in stated:
        for k, (name, *_) in enumerate(claim.code):
            if (bare := name.partition("[")[0]) in seen:
                continue
            verdict = witness.check_call(claim, k)
            if verdict.state == "proved":
                seen.add(bare)
                yield claim, k, verdict
