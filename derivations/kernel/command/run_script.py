"""Check a script that is run on its own: `python derivations/scaling/variance.py` checks it in this process and prints its steps."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from ..check.claim_records import check_claim, reject_idle_definition
from ..core.claims import Claim, Derivation, Rejected
from ..printing.plain_text import SIGNS, plain


def run_script(derivation: Derivation) -> NoReturn:
    """Check one derivation, print its steps, and exit with status 0 only if every claim is accepted."""
    click.secho(derivation.title, bold=True)
    accepted = [print_claim(claim, derivation.claims) for claim in derivation.claims]
    sys.exit(not all(accepted))


def print_claim(claim: Claim, stated: list[Claim]) -> bool:
    """Print one of the stated claims and what the witnesses say about it. Return whether it is accepted."""
    click.echo(f"\n{claim.id}{': ' * bool(claim.title)}{claim.title}  [{claim.kind}, line {claim.line}]")
    click.echo(f"    {plain(claim.start)}")
    for step in claim.steps:
        click.echo(f"      {SIGNS[step.relation]} {plain(step.expr)}" + (f"      ({step.reason})" if step.reason else ""))
    try:
        reject_idle_definition(claim, stated)
        checked = check_claim(claim)
    except Rejected as error:
        click.secho(f"    REJECTED {error}", fg="red")
        return False
    for a in checked["assumptions"]:
        click.echo(f"    given: {a['text'].replace('$', '')}")
        click.echo(f"           without it, {a['needed']}")
    for w in checked["witnesses"]:
        click.echo(f"    {w['name']}: {w['verdict']}{', ' * bool(w['scope'])}{w['scope']} ({w['note']})")
    return True
