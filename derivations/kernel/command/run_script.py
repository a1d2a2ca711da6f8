"""A script run on its own: `python derivations/scaling/variance.py` checks it in this process and prints its steps."""

from __future__ import annotations

import sys

import click

from ..check.claim_records import check_claim
from ..core.claims import Refused
from ..printing.plain_text import SIGNS, plain


def run_alone(derivation):
    """Check one derivation and print its steps; the exit code is 0 only if every claim holds."""
    click.secho(derivation.title, bold=True)
    good = True
    for claim in derivation.claims:
        click.echo(f"\n{claim.id}{': ' * bool(claim.title)}{claim.title}  [{claim.kind}, line {claim.line}]")
        click.echo(f"    {plain(claim.start)}")
        for step in claim.steps:
            click.echo(f"      {SIGNS[step.relation]} {plain(step.expr)}" + (f"      ({step.reason})" if step.reason else ""))
        try:
            for a in (checked := check_claim(claim))["assumptions"]:
                click.echo(f"    given: {a['text'].replace('$', '')}")
                click.echo(f"           without it, {a['needed']}")
            for w in checked["witnesses"]:
                click.echo(f"    {w['name']}: {w['verdict']}{', ' * bool(w['scope'])}{w['scope']} ({w['note']})")
        except Refused as error:
            good = False
            click.secho(f"    REFUSED {error}", fg="red")
    sys.exit(not good)
