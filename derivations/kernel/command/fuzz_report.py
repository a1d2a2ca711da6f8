"""`python -m derivations fuzz`: what became of random claims, and each that a witness got wrong as a script to paste."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool

import click

from ..attack.fuzz_claim import SAID
from ..check import fuzz_run
from ..store import fuzz_results


def main(
    seed: int,
    claims: int,
    minutes: float | None,
    as_json: bool,
    fresh: bool,
    jobs: int,
    keep: Callable = lambda run, **counts: None,
    cluster: str = "",
) -> int:
    """Try the claims, or take what was counted of them before; print the tables; 0 only if the gate is passed. `keep` is given the counts."""
    result = None if fresh else fuzz_results.get()
    if result is None or result["seed"] != seed or result["claims"] < claims:
        with click.progressbar(length=claims, label="Trying random claims", file=sys.stderr, show_pos=True) as bar:
            try:
                result = fuzz_run.run(seed, claims, jobs, minutes, bar.update, cluster)
            except BrokenProcessPool:
                click.secho(
                    "a process that tried random claims died, perhaps for want of memory; try again with fewer --jobs", fg="red", err=True
                )
                return 1
        fuzz_results.put(result)
    good = fuzz_run.passes(result)
    if as_json:
        click.echo(json.dumps(result | {"passes": good}, indent=1))
    else:
        tables(result, good)
    complain(result)
    if result["claims"] >= claims:  # with its faults, too
        keep("fuzz", seed=result["seed"], tried=result["claims"], faults=sum(result["faulty"].values()))
    return int(not good)


def tables(result: dict, good: bool) -> None:
    click.echo(f"{'':24}{'true':>10}{'false':>10}{'undecided':>11}")
    for family, counts in sorted(result["families"].items()):
        click.echo(f"{family:24}" + "".join(f"{counts.get(truth, 0):>{width}}" for truth, width in TRUTHS))
    sums = {truth: sum(c.get(truth, 0) for c in result["families"].values()) for truth, _ in TRUTHS}
    click.echo(f"{'in all':24}" + "".join(f"{sums[truth]:>{width}}" for truth, width in TRUTHS))
    click.echo(f"\n{'':24}" + "".join(f"{said:>16}" for said in SAID))
    for name, counts in result["witnesses"].items():
        for truth, _ in TRUTHS:
            click.echo(f"{f'{name}, of {truth}':24}" + "".join(f"{counts.get(f'{truth}, {said}', 0):>16}" for said in SAID))
    for name, count in sorted(result["refused"].items()):
        click.echo(f"true, not promised, and refused: {name}: {count}")
    shares = ", ".join(f"{name} 1 in {share}" for name, share in result["shares"].items())
    rate = result["claims"] / max(1, result["seconds"])
    click.echo(
        f"{result['claims']} random claims of seed {result['seed']} in {result['seconds']} s, {rate:.0f} a second; asked of {shares}; "
        f"{sum(result['faulty'].values())} faults: {'passed' if good else 'NOT passed'}"
    )


TRUTHS = (("true", 10), ("false", 10), ("undecided", 11))


def complain(result: dict) -> None:
    """Each fault that is listed, as a script; the counts say how many more there are."""
    for name, what, script in result["faults"]:
        click.secho(f"\n{name}: {what}", fg="red", err=True)
        click.echo(script, err=True)
    for kind, count in sorted(result["faulty"].items()):
        click.secho(f"{kind}: {count} faults", fg="red", err=True)
