"""The options for the use of stored results: `--shared`, `--replay` and `--seed`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from ..store.store import Folder, InvalidFolder, Recheck, settings

FAILURES = {"read": "read from", "write": "written to"}


def store_options(command: Callable) -> Callable:
    """Add these options to a command."""
    options = [
        click.option("--shared", metavar="ADDRESS", help="Also use the results in a folder that a team shares; see MAINTAINING.md."),
        click.option("--replay", type=click.IntRange(0), default=0, metavar="N", help="Compute one stored result in N again, and compare."),
        click.option("--seed", metavar="TEXT", default="", help="Selects the results that --replay computes again; the date if not given."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@contextmanager
def use_store(shared: str | None, replay: int, seed: str = "") -> Iterator[None]:
    """Apply the options while a command runs. Report at the end if the shared folder could not be used."""
    folder, before = open_folder(shared), (settings.shared, settings.recheck)
    settings.shared, settings.recheck = folder, Recheck(replay, seed) if seed else Recheck(replay)
    if replay:
        click.echo(f"computing one stored result in {replay} again (--seed {settings.recheck.seed})", err=True)
    try:
        yield
    finally:
        settings.shared, settings.recheck = before
        for operation, fault in folder.faults.items() if folder else ():
            click.secho(f"{shared}: nothing could be {FAILURES[operation]} it: {fault}", fg="yellow", err=True)


def open_folder(address: str | None) -> Folder | None:
    """Return the shared folder, or None if there is no address. Raise UsageError if the address is invalid."""
    if address == "":
        raise click.UsageError("--shared needs an address")
    try:
        return Folder(address) if address else None
    except InvalidFolder as error:
        raise click.UsageError(str(error)) from None
