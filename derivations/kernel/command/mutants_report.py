"""`python -m derivations mutants`: try the mutants of claims, and print a table of the outcomes and every surviving mutant."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import click

from ..check import mutation_run, runner
from ..check.affected_topics import find_affected
from ..errors import quantity
from ..store import rejections
from ..store.mutant_results import COUNTS, passes, totals
from ..store.store import Differs
from .git_changes import changed_files

Targets = list[tuple[str, Path]]  # topics and their scripts
Results = dict[str, dict[str, Any]]  # the outcomes of each claim's mutants, by topic and id

# Files on which the outcomes of all topics depend
CHECKER = re.compile(r"derivations/(?!kernel/site/)(kernel/|__)|requirements\.txt$|pyproject\.toml$")


def main(
    targets: tuple[str, ...],
    as_json: bool,
    fresh: bool,
    jobs: int,
    share: str = "1/1",
    record_counts: Callable[..., None] = lambda run, **counts: None,
    cluster: str = "",
    since: str = "",
) -> int:
    """Try the mutants of the named topics, or of all, and print the table. Return 0 only if no mutant survived.

    `record_counts` is called with the counts. Raise ValueError if the share is malformed or contains no topic, and GitError if git cannot
    tell what changed `since`.
    """
    wanted = select_affected(runner.find_targets(targets), share, since) if since else select_share(runner.find_targets(targets), share)
    if not wanted:
        click.echo(f"the changes since {since} affect no topic, so there are no mutants to try", err=as_json)
        if as_json:
            click.echo(json.dumps({"topics": {}, "totals": {}, "passes": True}, indent=1))
        return 0
    with click.progressbar(length=0, label="Trying mutants", file=sys.stderr, show_pos=True) as bar:

        def progress(done: int, more: int) -> None:
            bar.length = (bar.length or 0) + more
            bar.update(done)

        try:
            results = mutation_run.run(wanted, fresh, jobs, progress, cluster)
        except BrokenProcessPool:
            click.secho("a process that tried mutants died, perhaps from lack of memory; try again with fewer --jobs", fg="red", err=True)
            return 1
        except (mutation_run.ScriptFailed, Differs) as error:
            click.secho(str(error), fg="red", err=True)
            return 1
    rejections.end_round()
    passed = passes(results)
    if as_json:
        click.echo(json.dumps({"topics": results, "totals": totals(results), "passes": passed}, indent=1))
    else:
        print_table(results)
    for topic, claims in results.items():
        print_failures(topic, claims)
    record_counts("mutants", **count_outcomes(results))
    return int(not passed)


def count_outcomes(results: Results) -> dict[str, int]:
    """Return the number of claims, of mutants tried, and of mutants that survived or are unclassified."""
    left = sum(counts["survived"] + counts["unclassified"] for counts in totals(results).values())
    claims = [claim for topic in results.values() for claim in topic.values()]
    return {"claims": len(claims), "tried": sum(claim["mutants"] for claim in claims), "left": left}


def select_share(targets: Targets, share: str) -> Targets:
    """Return every N-th target, starting at the K-th, for a share "K/N". The N shares together have each target once.

    Raise ValueError if the share is malformed or contains no target.

    >>> [share_of(["a", "b", "c", "d", "e"], f"{k}/2") for k in (1, 2)]
    [['a', 'c', 'e'], ['b', 'd']]
    """
    match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", share)
    first, shares = map(int, match.groups()) if match else (0, 0)
    if not 1 <= first <= shares:
        raise ValueError(f"expected --share K/N with K from 1 to N, found {share!r}")
    if not (chosen := targets[first - 1 :: shares]):
        raise ValueError(f"the share {share} of {quantity(len(targets), 'topic')} contains none")
    return chosen


def select_affected(targets: Targets, share: str, commit: str) -> Targets:
    """Return the targets that changes since the commit affect. If the checker changed, add the share of all targets."""
    paths = changed_files(commit)
    topics = find_affected(paths).topics | (
        {topic for topic, _ in select_share(targets, share)} if any(map(CHECKER.match, paths)) else set()
    )
    return [target for target in targets if target[0] in topics]


def print_failures(topic: str, claims: dict[str, Any]) -> None:
    """Print each mutant that survived, is unclassified or prints like its claim, and each control that a witness rejected."""
    for id_, result in claims.items():
        for mutant in result["alike"]:
            click.secho(f"{topic}#{id_}: a page would show the claim and this mutant in the same way: {mutant}", fg="red", err=True)
        for name, w in result["witnesses"].items():
            for o in w["listed"]:
                if o["outcome"] != "equivalent":
                    click.secho(
                        f"{topic}#{id_}: {o['outcome']}, {name}, {o['operator']} at {o['path']}: {o['mutant']} ({o['how']})",
                        fg="red",
                        err=True,
                    )
            for control in w["failed"]:
                click.secho(f"{topic}#{id_}: {name} rejects an equivalent form of the claim, the control {control}", fg="red", err=True)


def print_table(results: Results) -> None:
    """Print the outcomes by claim and witness, and a summary."""
    names = sorted({name for claims in results.values() for r in claims.values() for name in r["witnesses"]})
    click.echo(f"{'killed / survived / equivalent / unclassified':44}" + "".join(f"{name:>24}" for name in names))
    for topic, claims in results.items():
        for id_, result in claims.items():
            if result["mutants"]:
                click.echo(f"{topic + '#' + id_:44}" + "".join(f"{format_cell(result['witnesses'][name]):>24}" for name in names))
    sums = totals(results)
    click.echo(f"{'total':44}" + "".join(f"{format_cell(sums[name] | {'covers': True}):>24}" for name in names))
    mutants = sum(r["mutants"] for claims in results.values() for r in claims.values())
    tried = sum(bool(r["mutants"]) for claims in results.values() for r in claims.values())
    controls, failed = (sum(w[k] for w in sums.values()) for k in ("controls", "controls failed"))
    alike = sum(len(r["alike"]) for claims in results.values() for r in claims.values())
    click.echo(
        f"{quantity(mutants, 'mutant')} of {quantity(tried, 'claim')}, {alike} printed like the claim; "
        f"{quantity(controls, 'control')}, {failed} of them rejected: {'passed' if passes(results) else 'NOT passed'}"
    )


def format_cell(w: dict[str, Any]) -> str:
    """Return a witness's counts as a cell of the table."""
    return " / ".join(str(w[k]) for k in COUNTS) if w["covers"] else "-"
