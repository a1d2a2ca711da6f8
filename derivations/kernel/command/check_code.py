"""`python -m derivations code`: run the code witness on the code that claims name, and count the reasons why it cannot read the rest."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click

from ..core import claims
from ..core.claims import EVERY_SHAPE, Rejected
from ..errors import quantity
from ..script.loading import load_script
from ..traced.witness import CodeVerdict, check_code


def main(targets: list[tuple[str, Path]], as_json: bool) -> int:
    """Print a line for each topic, or the verdicts as JSON. Return 1 if some code computes something other than its claim, else 0."""
    found: dict[str, CodeVerdict] = {}
    wrong: list[str] = []
    for topic, script in targets:
        here: dict[str, CodeVerdict] = {}
        if trouble := load_script(script):
            raise click.ClickException(f"{script}:{trouble.line}: {trouble.message}")
        for claim in claims.LOADED[0].claims:
            try:
                here[f"{topic}#{claim.id}"] = check_code(claim)
            except Rejected as error:
                wrong.append(str(error))
        here = {name: verdict for name, verdict in here.items() if verdict.state != "not named"}
        found |= here
        if here and not as_json:
            click.echo(f"    {topic:28} {summary(list(here.values()))}")
    if as_json:
        click.echo(json.dumps({name: asdict(verdict) for name, verdict in found.items()}, indent=1))
    else:
        verdicts = list(found.values())
        reasons = Counter(verdict.reason.partition(": ")[2] for verdict in verdicts if verdict.state == "not read")
        for reason, count in reasons.most_common():
            click.echo(f"{count:4} not read: {reason}")
        seconds = sum(verdict.seconds for verdict in verdicts)
        click.echo(f"{quantity(len(found), 'claim')} with code: {summary(verdicts)}, {seconds:.1f} s")
    for message in wrong:
        click.secho(message, fg="red", err=True)
    return int(bool(wrong))


def summary(verdicts: list[CodeVerdict]) -> str:
    """Return how many pieces of code are proved, and how many are not read."""
    proved = [verdict for verdict in verdicts if verdict.state == "proved"]
    everywhere = sum(verdict.scope == EVERY_SHAPE for verdict in proved)
    some = f", {len(proved) - everywhere} at the shapes named in their scope" * (everywhere < len(proved))
    return f"{everywhere} proved at every shape{some}" + f", {len(verdicts) - len(proved)} not read" * (len(proved) < len(verdicts))
