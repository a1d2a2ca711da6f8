"""`python -m derivations mutants`: the table of what became of the mutants, and what stands in the way of passing."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool

import click

from ..errors import quantity
from ..run import mutation, refusals, runner
from ..run.mutants_kept import COUNTS, passes, totals
from ..run.shared import Shared
from ..run.touched import touched
from .git_changes import changed

# What mutants may come to something else by, beside topics.
ATTACKED = re.compile(r"derivations/(?!kernel/site/)(kernel/|__)|requirements\.txt$|pyproject\.toml$")


def main(
    targets: tuple,
    as_json: bool,
    fresh: bool,
    jobs: int,
    share: str = "1/1",
    keep: Callable = lambda run, **counts: None,
    cluster: str = "",
    shared: Shared | None = None,
    since: str = "",
    replay: int = 0,
) -> int:
    """Try the mutants of the derivations named, or of all; print the table; 0 only if the gate is passed. `keep` is given the counts.

    Raises ValueError where the share is none, or holds no topic, and NoCommit where nobody knows what changed `since`.
    """
    wanted = touched_of(runner.find(targets), share, since) if since else share_of(runner.find(targets), share)
    if not wanted:
        click.echo(f"nothing that changed since {since} touches a topic: there is no mutant to try", err=as_json)
        if as_json:
            click.echo(json.dumps({"topics": {}, "totals": {}, "passes": True}, indent=1))
        return 0
    with click.progressbar(length=0, label="Trying mutants", file=sys.stderr, show_pos=True) as bar:

        def progress(done, more):
            bar.length += more
            bar.update(done)

        try:
            results = mutation.run(wanted, fresh, jobs, progress, cluster, shared, replay, otherwise)
        except BrokenProcessPool:
            click.secho("a process that tried mutants died, perhaps for want of memory; try again with fewer --jobs", fg="red", err=True)
            return 1
        except mutation.NotStated as error:
            click.secho(str(error), fg="red", err=True)
            return 1
    refusals.ring()
    good = passes(results)
    if as_json:
        click.echo(json.dumps({"topics": results, "totals": totals(results), "passes": good}, indent=1))
    else:
        table(results)
    for topic, claims in results.items():
        complain(topic, claims)
    keep("mutants", **counted(results))
    return int(not good)


def otherwise(topic: str) -> None:
    message = f"{topic}: its mutants come to something else than was kept of them; nothing that was kept is taken, and all are tried again"
    click.secho(message, fg="red", err=True)


def counted(results: dict) -> dict:
    """How many claims there are, how many mutants of them were tried, and how many of these were left alive or untold."""
    left = sum(said["survived"] + said["unclassified"] for said in totals(results).values())
    claims = [claim for topic in results.values() for claim in topic.values()]
    return {"claims": len(claims), "tried": sum(claim["mutants"] for claim in claims), "left": left}


def share_of(targets: list, share: str) -> list:
    """Of the targets each N-th, from the K-th on: the N shares have each target once.

    >>> [share_of(["a", "b", "c", "d", "e"], f"{k}/2") for k in (1, 2)]
    [['a', 'c', 'e'], ['b', 'd']]
    """
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", share)
    first, of = map(int, found.groups()) if found else (0, 0)
    if not 1 <= first <= of:
        raise ValueError(f"expected --share K/N with K from 1 to N, found {share!r}")
    if not (chosen := targets[first - 1 :: of]):
        raise ValueError(f"the share {share} of {len(targets)} topics holds none")
    return chosen


def touched_of(targets: list, share: str, commit: str) -> list:
    """Of the targets those that a change since the commit touches, and the share of all where the checkers, or who attacks them, changed."""
    paths = changed(commit)
    topics = touched(paths).topics | ({topic for topic, _ in share_of(targets, share)} if any(map(ATTACKED.match, paths)) else set())
    return [target for target in targets if target[0] in topics]


def complain(topic: str, claims: dict):
    """What stands in the way of passing, one by one."""
    for id_, result in claims.items():
        for mutant in result["alike"]:
            click.secho(f"{topic}#{id_}: a page would show the claim and this mutant alike: {mutant}", fg="red", err=True)
        for name, w in result["witnesses"].items():
            for o in w["listed"]:
                if o["outcome"] != "equivalent":
                    click.secho(
                        f"{topic}#{id_}: {o['outcome']}, {name}, {o['operator']} at {o['path']}: {o['mutant']} ({o['how']})",
                        fg="red",
                        err=True,
                    )
            for control in w["failed"]:
                click.secho(f"{topic}#{id_}: {name} does not accept a control that changes nothing, {control}", fg="red", err=True)


def table(results: dict):
    names = sorted({name for claims in results.values() for r in claims.values() for name in r["witnesses"]})
    click.echo(f"{'killed / survived / equivalent / unclassified':44}" + "".join(f"{name:>24}" for name in names))
    for topic, claims in results.items():
        for id_, result in claims.items():
            if result["mutants"]:
                click.echo(f"{topic + '#' + id_:44}" + "".join(f"{cell(result['witnesses'][name]):>24}" for name in names))
    sums = totals(results)
    click.echo(f"{'in all':44}" + "".join(f"{cell(sums[name] | {'covers': True}):>24}" for name in names))
    mutants = sum(r["mutants"] for claims in results.values() for r in claims.values())
    tried = sum(bool(r["mutants"]) for claims in results.values() for r in claims.values())
    controls, failed = (sum(w[k] for w in sums.values()) for k in ("controls", "controls failed"))
    click.echo(
        f"{quantity(mutants, 'mutant')} of {quantity(tried, 'claim')}, {sum(len(r['alike']) for c in results.values() for r in c.values())} printed as the claim is; {quantity(controls, 'control')}, {failed} of them not accepted: {'passed' if passes(results) else 'NOT passed'}"
    )


def cell(w: dict) -> str:
    return " / ".join(str(w[k]) for k in COUNTS) if w["covers"] else "-"
