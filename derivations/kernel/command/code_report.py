"""`python -m derivations code`: the code witness alone, on what scripts name as their code, and the reasons why it does not read the rest."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click

from ..core import claims
from ..core.claims import EVERY, Refused
from ..errors import quantity
from ..run.worker import load_script
from ..traced.witness import Code, code


def main(targets: list[tuple[str, Path]], as_json: bool) -> int:
    """Prints a line a topic, or the verdicts as JSON; 1 where code computes something else than its claim."""
    found: dict[str, Code] = {}
    wrong: list[str] = []
    for topic, script in targets:
        here: dict[str, Code] = {}
        if trouble := load_script(script):
            raise click.ClickException(f"{script}:{trouble[0]}: {trouble[1]}")
        for claim in claims.LOADED[0].claims:
            try:
                here[f"{topic}#{claim.id}"] = code(claim)
            except Refused as error:
                wrong.append(str(error))
        here = {name: said for name, said in here.items() if said.state != "not named"}
        found |= here
        if here and not as_json:
            click.echo(f"    {topic:28} {told(list(here.values()))}")
    if as_json:
        click.echo(json.dumps({name: asdict(said) for name, said in found.items()}, indent=1))
    else:
        reasons = Counter(said.reason.partition(": ")[2] for said in found.values() if said.state == "not read")
        for reason, count in reasons.most_common():
            click.echo(f"{count:4} not read: {reason}")
        click.echo(
            f"{quantity(len(found), 'claim')} with code: {told(list(found.values()))}, {sum(said.seconds for said in found.values()):.1f} s"
        )
    for message in wrong:
        click.secho(message, fg="red", err=True)
    return int(bool(wrong))


def told(said: list[Code]) -> str:
    proved = [one for one in said if one.state == "proved"]
    everywhere = sum(one.scope == EVERY for one in proved)
    more = f", {len(proved) - everywhere} at the shapes that are said" * (everywhere < len(proved))
    return f"{everywhere} proved at every shape{more}" + f", {len(said) - len(proved)} not read" * (len(proved) < len(said))
