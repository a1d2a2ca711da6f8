"""`python -m derivations coq`: what Coq proves of the claims, and what it does not."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from typing import Any

import click

from ..coq import witness
from ..errors import quantity
from ..run import cluster, coq, runner
from ..run.certificates import CertificateError
from ..run.shared import Shared
from . import sympy_programs
from .progress import Progress

NOT_HERE = (
    "not run: coqc is not installed. On Debian or Ubuntu: apt-get install coq libcoq-mathcomp-algebra "
    "libcoq-coquelicot libcoq-interval libcoq-mathcomp-analysis"
)


def main(wanted: list, fresh: bool, replay: int, jobs: int, address: str, shared: Shared | None) -> int:
    """The exit code."""
    if not witness.available():
        raise click.ClickException(NOT_HERE)
    with Progress() as progress, cluster.executor(address) if address else nullcontext() as workers:
        checked = runner.check_all(wanted, False, jobs, lambda done, more: None)
        if not all(result.holds for result in checked):
            raise click.ClickException("not all claims hold; python -m derivations check says which")
        sympy_programs.publish(checked)
        begun: list[int] = []

        def told(total: int) -> None:
            progress(1, 0 if begun else total)
            begun.append(total)

        ask = coq.there(workers, told) if workers else coq.here(jobs, told)
        try:
            results = coq.run([topic for topic, _ in wanted], fresh, coq.How(ask, replay, shared, otherwise))
        except CertificateError as error:
            raise click.ClickException(str(error)) from None
    return report(results)


def otherwise(key: str) -> None:
    message = f"{key}: Coq says something else than was kept of it; nothing that was kept is taken, and all are asked for again"
    click.secho(message, fg="red", err=True)


def report(results: dict[str, dict[str, Any]]) -> int:
    all_: Counter[str] = Counter()
    for topic, found in results.items():
        here = Counter(map(coq.outcome, found.values()))
        all_ += here
        told_of = f"{here['proved']} proved, {here['not for Coq']} not for Coq" + f", {here['open']} open" * bool(here["open"])
        click.echo(f"{'NO ' if here['NOT proved'] else 'ok '} {topic:28} {told_of}")
        for id_, r in found.items():
            if r["ok"] is False:
                click.secho(f"    {topic}#{id_}: {r['message']}", fg="red", err=True)
    more = "".join(f"; {all_[outcome]} {outcome}" for outcome in ("open", "NOT proved") if all_[outcome])
    click.echo(f"{quantity(all_['proved'], 'claim')} proved by Coq, {told_of_axioms(results)}{more}")
    return int(bool(all_["NOT proved"]))


def told_of_axioms(results: dict[str, dict[str, Any]]) -> str:
    """On what the proofs rest: on nothing, or how many of them on axioms of Coq's libraries."""
    resting = sum(bool(r["ok"]) and "nothing assumed" not in r["message"] for found in results.values() for r in found.values())
    return f"of which {resting} rest on the axioms of its reals, the others on nothing" if resting else "nothing assumed"
