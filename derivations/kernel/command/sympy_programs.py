"""`python -m derivations sympy`: write the claims' SymPy programs as files that anyone can run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from ..check import runner, sympy_program_files
from ..errors import quantity
from ..store import certificates


def publish_programs(results: Sequence[runner.Result], to: Path | None = None) -> list[Path]:
    """Write the programs of checked topics and return their paths. If a topic has a rejected claim, its old programs stay."""
    claims = {r.topic: [record["claim"] for record in r.records] if r.holds else None for r in results if certificates.is_topic(r.topic)}
    every = to is None and set(claims) == set(certificates.topics())
    return sympy_program_files.publish_programs(claims, to or sympy_program_files.program_folder(), every)


@click.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC ...]")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder to write to.  [default: docs/sympy]")
@click.option("--run", "run_them", is_flag=True, help="Run each program in a separate process.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Number of processes.")
def sympy(targets: tuple[str, ...], out: Path | None, run_them: bool, jobs: int) -> None:
    """Write each claim's SymPy program, which needs only SymPy. With --run, exit with status 0 only if all programs succeed."""
    try:
        wanted = runner.find_targets(targets)
    except LookupError as error:
        raise click.UsageError(str(error)) from None
    outside = [str(path) for topic, path in wanted if not certificates.is_topic(topic)]
    if outside:
        raise click.UsageError(f"{outside[0]} is not one of the project's topics; run that script itself to check its claims")
    results = runner.check_all(wanted, False, jobs, lambda done, more: None)
    if not all(result.holds for result in results):
        raise click.ClickException("not all claims are accepted; python -m derivations check says which")
    files = publish_programs(results, out)
    missing = [
        (f"{r.topic}#{record['claim']['id']}", sympy_program_files.explain_missing_program(record["claim"]))
        for r in results
        for record in r.records
        if not sympy_program_files.program_text(record["claim"])
    ]
    definitions = sum(record["claim"]["kind"] == "definition" for r in results for record in r.records)
    click.echo(
        f"{quantity(len(files), 'program')} in {out or sympy_program_files.program_folder()}; definitions, which have nothing to prove: {definitions}"
    )
    for name, why in missing:
        if why != sympy_program_files.DEFINITION_NOTE:
            click.echo(f"no program for {name}: {why}")
    if run_them:
        sys.exit(not run_programs(files, jobs))


def run_programs(files: Sequence[Path], jobs: int) -> bool:
    """Run the programs, print the errors of those that fail, and return whether all succeed."""
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        results = list(pool.map(sympy_program_files.run_program, files))
    failed = [(path, text) for path, (holds, text) in zip(files, results) if not holds]
    for path, text in failed:
        click.secho(f"{path}: {text}", fg="red", err=True)
    click.echo(f"{len(files) - len(failed)} of {quantity(len(files), 'program')} succeeded")
    return not failed
