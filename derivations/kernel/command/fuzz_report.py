"""`python -m derivations fuzz`: check random claims, and print each that a witness got wrong as a script to paste."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import click

from ..attack.fuzz_claim import ANSWERS
from ..check import fuzz_run
from ..errors import quantity
from ..store import fuzz_results


def main(
    seed: int,
    claims: int,
    minutes: float | None,
    as_json: bool,
    fresh: bool,
    jobs: int,
    record_counts: Callable[..., None] = lambda run, **counts: None,
    cluster: str = "",
) -> int:
    """Try the claims, or use stored counts, and print the tables. Return 0 only if no witness made a mistake.

    `record_counts` is called with the counts of a complete run, also if there were mistakes.
    """
    result = None if fresh else fuzz_results.get()
    if result is None or result["seed"] != seed or result["claims"] < claims:
        with click.progressbar(length=claims, label="Trying random claims", file=sys.stderr, show_pos=True) as bar:
            try:
                result = fuzz_run.run(seed, claims, jobs, minutes, bar.update, cluster)
            except BrokenProcessPool:
                click.secho(
                    "a process that tried random claims died, perhaps from lack of memory; try again with fewer --jobs", fg="red", err=True
                )
                return 1
        fuzz_results.put(result)
    passed = fuzz_run.passes(result)
    if as_json:
        click.echo(json.dumps(result | {"passes": passed}, indent=1))
    else:
        print_tables(result, passed)
    print_faults(result)
    if result["claims"] >= claims:
        record_counts("fuzz", seed=result["seed"], tried=result["claims"], faults=sum(result["faulty"].values()))
    return int(not passed)


def print_tables(result: dict[str, Any], passed: bool) -> None:
    """Print how many claims of each family were true and false, what each witness said about them, and a summary."""
    click.echo(f"{'':24}{'true':>10}{'false':>10}{'undecided':>11}")
    for family, counts in sorted(result["families"].items()):
        click.echo(f"{family:24}" + "".join(f"{counts.get(truth, 0):>{width}}" for truth, width in TRUTHS))
    sums = {truth: sum(c.get(truth, 0) for c in result["families"].values()) for truth, _ in TRUTHS}
    click.echo(f"{'total':24}" + "".join(f"{sums[truth]:>{width}}" for truth, width in TRUTHS))
    click.echo(f"\n{'':24}" + "".join(f"{said:>16}" for said in ANSWERS))
    for name, counts in result["witnesses"].items():
        for truth, _ in TRUTHS:
            click.echo(f"{f'{name}, of {truth}':24}" + "".join(f"{counts.get(f'{truth}, {said}', 0):>16}" for said in ANSWERS))
    for name, count in sorted(result["refused"].items()):
        click.echo(f"true but rejected, outside what the witness promises to accept: {name}: {count}")
    shares = ", ".join(f"{name} 1 in {share}" for name, share in result["shares"].items())
    rate = result["claims"] / max(1, result["seconds"])
    faults = sum(result["faulty"].values())
    click.echo(
        f"{quantity(result['claims'], 'random claim')} with seed {result['seed']} in {result['seconds']} s, {rate:.0f} per second; checked by "
        f"{shares}; {quantity(faults, 'fault')}: {'passed' if passed else 'NOT passed'}"
    )


TRUTHS = (("true", 10), ("false", 10), ("undecided", 11))  # each with the width of its column


def print_faults(result: dict[str, Any]) -> None:
    """Print the listed faults as scripts, and how many faults of each kind there are."""
    for name, what, script in result["faults"]:
        click.secho(f"\n{name}: {what}", fg="red", err=True)
        click.echo(script, err=True)
    for kind, count in sorted(result["faulty"].items()):
        click.secho(f"{kind}: {quantity(count, 'fault')}", fg="red", err=True)
