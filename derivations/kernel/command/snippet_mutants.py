"""`python -m derivations mutants --code`: the snippets corrupted in their own source, and what the code witness said of each."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import click

from ..attack.snippet_mutant_trials import OUTCOMES
from ..check import snippet_mutation


def main(targets: list[tuple[str, Path]], as_json: bool, jobs: int, keep: Callable = lambda run, **counts: None, cluster: str = "") -> int:
    """Prints a line a topic and each that is not killed; 0 where each is killed or computes what the snippet does. `keep` is given the counts."""
    with click.progressbar(length=len(targets), label="Trying corrupted snippets", file=sys.stderr, show_pos=True) as bar:
        results = snippet_mutation.run(targets, jobs, bar.update, cluster)
    total: Counter = sum((counts for counts, _ in results.values()), Counter())
    if as_json:
        topics = {topic: {"counts": counts, "left": left} for topic, (counts, left) in results.items()}
        click.echo(json.dumps({"topics": topics, "totals": total}, indent=1))
    else:
        for topic, (counts, left) in results.items():
            if counts:
                click.echo(f"{topic:28} {told(counts)}")
            for claim, name, what, outcome in left:
                click.echo(f"    {outcome}: {name} under {claim}: {what}")
        click.echo(f"{sum(total.values())} corrupted snippets: {told(total)}")
    left = total["survived"] + total["unclassified"]
    keep("code", topics=sum(bool(counts) for counts, _ in results.values()), tried=sum(total.values()), left=left)
    return int(bool(left))


def told(counts: Counter) -> str:
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome] or outcome == "killed")
