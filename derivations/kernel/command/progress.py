"""What a check prints: a line a topic, what is refused in red, and a bar while it runs."""

from __future__ import annotations

import sys
from threading import Lock

import click


def report(result, quiet: bool):
    for r in result.records:
        if r["verdict"] != "holds":
            click.secho(f"{result.script}:{r['claim']['line']}: claim '{r['claim']['id']}': {r['message']}", fg="red", err=True)
    for problem in result.problems:
        click.secho(problem, fg="red", err=True)
    if not result.records and not result.problems:
        click.secho(f"{result.script}: no claim was checked", fg="red", err=True)
    if not quiet:
        held, taken = sum(r["verdict"] == "holds" for r in result.records), sum(bool(r.get("taken")) for r in result.records)
        earlier = "  (certificate)" if result.cached else f"  ({taken} checked earlier)" if taken else ""
        click.echo(f"{'ok ' if result.holds else 'NO '} {result.topic:28} {held}/{len(result.records)} claims{earlier}")


class Progress:
    """A bar over all claims, from several threads; the total grows as scripts are read. Nothing is drawn off a terminal."""

    def __enter__(self):
        self.lock, self.bar = Lock(), click.progressbar(length=0, label="Checking", file=sys.stderr, show_pos=True)
        self.bar.__enter__()
        return self

    def __exit__(self, *error):
        self.bar.__exit__(*error)

    def __call__(self, done: int, more: int):
        with self.lock:
            self.bar.length += more
            self.bar.update(done)
