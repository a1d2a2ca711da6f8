"""The output of a check: a line for each topic, rejected claims in red, and a progress bar."""

from __future__ import annotations

import sys
from threading import Lock
from types import TracebackType

import click

from ..check.runner import Result
from ..errors import quantity


def print_result(result: Result, quiet: bool) -> None:
    """Print the errors of a topic or script to standard error and, unless `quiet`, a line with its verdict."""
    for r in result.records:
        if r["verdict"] != "holds":
            click.secho(f"{result.script}:{r['claim']['line']}: claim '{r['claim']['id']}': {r['message']}", fg="red", err=True)
    for problem in result.problems:
        click.secho(problem, fg="red", err=True)
    if not result.records and not result.problems:
        click.secho(f"{result.script}: no claim was checked", fg="red", err=True)
    if not quiet:
        accepted, reused = sum(r["verdict"] == "holds" for r in result.records), sum(bool(r.get("reused")) for r in result.records)
        unchanged = "  (unchanged)" if result.cached else f"  ({reused} unchanged)" if reused else ""
        claims = f"{accepted}/{quantity(len(result.records), 'claim')}"
        click.echo(f"{'ok ' if result.holds else 'NO '} {result.topic:28} {claims}{unchanged}")


class Progress:
    """A progress bar over all claims, which several threads may update. It is drawn only on a terminal."""

    def __enter__(self) -> Progress:
        self.lock, self.bar = Lock(), click.progressbar(length=0, label="Checking", file=sys.stderr, show_pos=True)
        self.bar.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.bar.__exit__(kind, error, traceback)

    def __call__(self, done: int, more: int) -> None:
        """Count `done` more claims as checked, and `more` as found. The total grows as scripts are loaded."""
        with self.lock:
            self.bar.length = (self.bar.length or 0) + more
            self.bar.update(done)
