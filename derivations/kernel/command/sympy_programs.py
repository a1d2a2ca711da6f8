"""`python -m derivations sympy`: the claims' SymPy programs as files that anyone can run."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from ..errors import quantity
from ..run import certificates, programs, runner


def publish(results: list, to: Path | None = None) -> list:
    """The programs of the topics that were checked; of a topic that does not hold, those of before stay."""
    claims = {r.topic: [record["claim"] for record in r.records] if r.holds else None for r in results if certificates.is_topic(r.topic)}
    every = to is None and set(claims) == set(certificates.topics())
    return programs.publish(claims, to or programs.folder(), every)


@click.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC ...]")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="The folder to write to.  [default: docs/sympy]")
@click.option("--run", "run_them", is_flag=True, help="Run each of them in a process of its own.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Processes at once.")
def sympy(targets, out, run_them, jobs):
    """Write every claim's SymPy program, which needs SymPy alone. With --run, exit 0 only if all of them hold."""
    try:
        wanted = runner.find(targets)
    except LookupError as error:
        raise click.UsageError(str(error)) from None
    outside = [str(path) for topic, path in wanted if not certificates.is_topic(topic)]
    if outside:
        raise click.UsageError(f"{outside[0]} is not one of the project's topics; running it shows whether its claims hold")
    results = runner.check_all(wanted, False, jobs, lambda done, more: None)
    if not all(result.holds for result in results):
        raise click.ClickException("not all claims hold; python -m derivations check says which")
    files = publish(results, out)
    missing = [
        (f"{r.topic}#{c['id']}", programs.why_none(c))
        for r in results
        for c in map(lambda x: x["claim"], r.records)
        if not programs.text_of(c)
    ]
    definitions = sum(record["claim"]["kind"] == "definition" for r in results for record in r.records)
    click.echo(f"{quantity(len(files), 'program')} in {out or programs.folder()}; definitions, which have nothing to prove: {definitions}")
    for name, why in missing:
        if why != programs.NOTHING:
            click.echo(f"no program for {name}: {why}")
    if run_them:
        sys.exit(not run_all(files, jobs))


def run_all(files: list, jobs: int) -> bool:
    """Run each, and say which do not hold."""
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        said = list(pool.map(programs.run, files))
    bad = [(path, text) for path, (holds, text) in zip(files, said) if not holds]
    for path, text in bad:
        click.secho(f"{path}: {text}", fg="red", err=True)
    click.echo(f"{len(files) - len(bad)} of {quantity(len(files), 'program')} ran and hold")
    return not bad
