"""`python -m derivations coq`: have Coq check the claims, and report which of them it proves."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from ..check import coq_run, dask_cluster, runner
from ..coq import witness
from ..errors import quantity
from ..store.certificates import CertificateError
from ..store.store import Differs
from . import sympy_programs
from .progress import Progress

NOT_INSTALLED = (
    "not run: coqc is not installed. On Debian or Ubuntu: apt-get install coq libcoq-mathcomp-algebra "
    "libcoq-coquelicot libcoq-interval libcoq-mathcomp-analysis"
)


def main(wanted: list[tuple[str, Path]], fresh: bool, jobs: int, address: str) -> int:
    """Check the claims with Coq, on a cluster if there is an address, and print the report. Return the exit status."""
    if not witness.available():
        raise click.ClickException(NOT_INSTALLED)
    with Progress() as progress, dask_cluster.connect(address) if address else nullcontext() as workers:
        checked = runner.check_all(wanted, False, jobs, lambda done, more: None)
        if not all(result.holds for result in checked):
            raise click.ClickException("not all claims are accepted; python -m derivations check says which")
        sympy_programs.publish_programs(checked)
        totals: list[int] = []

        def count(total: int) -> None:
            progress(1, 0 if totals else total)
            totals.append(total)

        ask = coq_run.make_cluster_prover(workers, count) if workers else coq_run.make_local_prover(jobs, count)
        try:
            results = coq_run.run([topic for topic, _ in wanted], fresh, ask)
        except (CertificateError, Differs) as error:
            raise click.ClickException(str(error)) from None
    return report(results)


def report(results: dict[str, dict[str, Any]]) -> int:
    """Print a line for each topic, the errors, and a summary. Return 1 if Coq failed to prove a claim, else 0."""
    total: Counter[str] = Counter()
    for topic, found in results.items():
        here = Counter(map(coq_run.describe_outcome, found.values()))
        total += here
        counts = f"{here['proved']} proved, {here['not for Coq']} not for Coq" + f", {here['open']} open" * bool(here["open"])
        click.echo(f"{'NO ' if here['NOT proved'] else 'ok '} {topic:28} {counts}")
        for id_, r in found.items():
            if r["ok"] is False:
                click.secho(f"    {topic}#{id_}: {r['message']}", fg="red", err=True)
    others = "".join(f"; {total[outcome]} {outcome}" for outcome in ("open", "NOT proved") if total[outcome])
    click.echo(f"{quantity(total['proved'], 'claim')} proved by Coq, {describe_axioms(results)}{others}")
    return int(bool(total["NOT proved"]))


def describe_axioms(results: dict[str, dict[str, Any]]) -> str:
    """Return how many proofs use axioms of Coq's libraries."""
    count = sum(bool(r["ok"]) and "nothing assumed" not in r["message"] for found in results.values() for r in found.values())
    return f"{count} of them with the axioms of its real numbers, the others without axioms" if count else "without axioms"
