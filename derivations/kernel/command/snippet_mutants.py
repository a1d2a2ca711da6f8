"""`python -m derivations mutants --code`: corrupt the source of snippets, and report what the code witness says about each mutant."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import click

from ..attack.snippet_mutant_trials import OUTCOMES
from ..check import snippet_mutation
from ..errors import quantity


def main(
    targets: list[tuple[str, Path]],
    as_json: bool,
    jobs: int,
    record_counts: Callable[..., None] = lambda run, **counts: None,
    cluster: str = "",
) -> int:
    """Print a line for each topic and each mutant that is not killed. Return 0 only if no mutant survived or is unclassified.

    `record_counts` is called with the counts.
    """
    with click.progressbar(length=len(targets), label="Trying corrupted snippets", file=sys.stderr, show_pos=True) as bar:
        results = snippet_mutation.run(targets, jobs, bar.update, cluster)
    total: Counter = sum((counts for counts, _ in results.values()), Counter())
    if as_json:
        topics = {topic: {"counts": counts, "left": left} for topic, (counts, left) in results.items()}
        click.echo(json.dumps({"topics": topics, "totals": total}, indent=1))
    else:
        for topic, (counts, left) in results.items():
            if counts:
                click.echo(f"{topic:28} {summary(counts)}")
            for claim, name, what, outcome in left:
                click.echo(f"    {outcome}: {name} under {claim}: {what}")
        click.echo(f"{quantity(sum(total.values()), 'corrupted snippet')}: {summary(total)}")
    surviving = total["survived"] + total["unclassified"]
    record_counts("code", topics=sum(bool(counts) for counts, _ in results.values()), tried=sum(total.values()), left=surviving)
    return int(bool(surviving))


def summary(counts: Counter) -> str:
    """Return the number of mutants with each outcome."""
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome] or outcome == "killed")
