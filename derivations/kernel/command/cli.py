"""The command line: `python -m derivations check | list | new`."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path

import click

from ..check import runner
from ..check.proving_witnesses import provers
from ..errors import KernelError, quantity
from ..store import certificates, durations, project_files
from ..store.certificates import CertificateError
from . import new_topic, sympy_programs
from .progress import Progress, report
from .storing import store_options, using_store

ON_A_CLUSTER = click.option("--cluster", metavar="ADDRESS", default="", help="Run the tasks on a Dask cluster; see CONTRIBUTING.md.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main():
    """State, check and list the derivations."""


@main.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC or path/to/script.py ...]")
@click.option("--json", "as_json", is_flag=True, help="One JSON record a claim on standard output.")
@click.option("--fresh", is_flag=True, help="Prove everything again; trust no certificate.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Scripts checked at once.")
@ON_A_CLUSTER
@store_options
@click.option("--watch", "watching", is_flag=True, help="Stay, and check again what a change touches; Ctrl-C ends it.")
@click.option("--page", "page", metavar="TOPIC", help="All that would be refused of one topic: its claims, its page, its code and tests.")
def check(targets, as_json, fresh, jobs, cluster, shared, replay, seed, watching, page):
    """Check derivations. Exit 0 only if every claim holds."""
    if (cluster or replay or shared) and (watching or page):
        raise click.UsageError("--cluster, --replay and --shared check once: leave --watch and --page out")
    if watching + as_json + bool(page) > 1:
        raise click.UsageError("--watch, --page and --json are for one at a time")
    if page is not None:
        from .check_page import check_page

        sys.exit(check_page(page, [*targets], fresh, jobs))
    if watching:
        from .check_page import look
        from .watch import watch

        chosen(targets)
        watch(lambda: chosen(targets, still=True), jobs, fresh, look)
        return
    wanted = chosen(targets)
    if not wanted:
        raise click.UsageError("there is no derivation to check")
    with Progress() as progress, using_store(shared, replay, seed):
        if cluster:
            results = checked_there(cluster, wanted, fresh, progress)
        else:
            results = runner.check_all(wanted, fresh, jobs, progress)
    sympy_programs.publish(results)
    if as_json:
        click.echo(
            json.dumps(
                [flat(result, r) for result in results for r in result.records]
                + [{"id": None, "topic": result.topic, "verdict": "refused", "message": p} for result in results for p in result.problems],
                indent=1,
            )
        )
    for result in results:
        report(result, quiet=as_json)
    claims, good = sum(len(r.records) for r in results), all(r.holds for r in results)
    if not as_json:
        cached = sum(r.cached or bool(record.get("taken")) for r in results for record in r.records)
        click.echo(
            f"{quantity(claims, 'claim')} in {quantity(len(results), 'derivation')}, "
            f"{cached} of them by earlier checks that still hold: {'all hold' if good else 'NOT all hold'}"
        )
    sys.exit(not good)


def checked_there(address: str, wanted: list, fresh: bool, progress) -> list:
    """The results of a check by the workers of a cluster."""
    from ..check import dask_cluster

    outside = [topic for topic, _ in wanted if not certificates.is_topic(topic)]
    if outside:
        raise click.UsageError(f"{outside[0]} is no topic, and other machines do not have it")
    with on_a_cluster(), dask_cluster.executor(address) as workers:
        return runner.check_all(wanted, fresh, workers.size, progress, how=runner.How(ask=dask_cluster.asking(workers)))


@contextmanager
def on_a_cluster():
    """What goes wrong with a cluster is said in its own words."""
    from ..check.dask_cluster import ClusterError

    try:
        yield
    except ClusterError as error:
        raise click.ClickException(str(error)) from None


def chosen(targets, still: bool = False) -> list:
    """The topics and scripts that are named; of those once found, a later look passes over what is not there."""
    try:
        return runner.find(targets)
    except LookupError as error:
        if not still:
            raise click.UsageError(str(error)) from None
    return [pair for target in targets for pair in found_or_nothing(target)]


def found_or_nothing(target) -> list:
    try:
        return runner.find((target,))
    except LookupError:
        return []


def flat(result, record: dict) -> dict:
    claim = record["claim"]
    return {
        "id": claim["id"],
        "topic": result.topic,
        "kind": claim["kind"],
        "scope": claim["scope"],
        "line": claim["line"],
        "latex": claim.get("latex", ""),
        "verdict": record["verdict"],
        "witnesses": [{k: v for k, v in durations.without(w).items() if k != "source"} for w in claim["witnesses"]],
        "provers": provers(claim),
        "code": durations.without(claim.get("computed", {"state": "not asked"})),
        "seconds": record["seconds"],
        "message": record["message"],
        "cached": result.cached or bool(record.get("taken")),
    }


@main.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC ...]")
@click.option("--fresh", is_flag=True, help="Ask Coq again, whatever it said before.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Files checked at once.")
@ON_A_CLUSTER
@store_options
def coq(targets, fresh, jobs, cluster, shared, replay, seed):
    """Have Coq check every claim that it can state. A theorem that it does not prove is an error."""
    from .coq_report import main as ask_coq

    wanted = chosen(targets)
    with on_a_cluster(), using_store(shared, replay, seed):
        sys.exit(ask_coq(wanted, fresh, jobs, cluster))


@main.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC ...]")
@click.option("--json", "as_json", is_flag=True, help="The table as JSON on standard output.")
@click.option("--share", metavar="K/N", default="1/1", show_default=True, help="Of the topics only each N-th, from the K-th on.")
@click.option(
    "--since",
    metavar="COMMIT",
    default="",
    help="Only the topics that a change since then touches, and the share where the checker changed.",
)
@click.option("--fresh", is_flag=True, help="Try every mutant again.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Processes at once.")
@ON_A_CLUSTER
@store_options
@click.option("--record", is_flag=True, help="Keep the counts of all topics for the trust page, with the commit that they are of.")
@click.option(
    "--code", "of_code", is_flag=True, help="Corrupt the snippets that claims name in their own source, and read them as mathematics."
)
def mutants(targets, as_json, share, since, fresh, jobs, cluster, shared, replay, seed, record, of_code):
    """Corrupt every claim in the ways a slip would. Exit 0 only if every witness notices every false one."""
    from .git_changes import NoCommit
    from .mutants_report import main as run_mutants
    from .snippet_mutants import main as run_code_mutants

    if record and (targets or since or share != "1/1"):
        raise click.UsageError("--record keeps the counts of a whole run; name no topics and no share, and leave --since out")
    if (since or replay) and of_code:
        raise click.UsageError("corrupted snippets are tried whole, and nothing is kept of them: leave --since and --replay out")
    if shared and of_code:
        raise click.UsageError("what becomes of corrupted snippets is not kept, nor shared: leave --shared out")
    try:
        with recorded(record) as keep, on_a_cluster(), using_store(shared, replay, seed):
            if of_code:
                sys.exit(run_code_mutants(chosen(targets), as_json, jobs, keep, cluster))
            sys.exit(run_mutants(targets, as_json, fresh, jobs, share, keep, cluster, since))
    except (LookupError, ValueError, NoCommit) as error:
        raise click.UsageError(str(error)) from None


@main.command()
@click.option("--seed", default=0, show_default=True, help="What the claims follow from, with their numbers.")
@click.option("--claims", type=click.IntRange(1), default=200_000, show_default=True, help="How many.")
@click.option("--minutes", type=click.FloatRange(0), help="Begin no more claims after so many.")
@click.option("--json", "as_json", is_flag=True, help="The counts as JSON on standard output.")
@click.option("--fresh", is_flag=True, help="Try them again, whatever was counted before.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Processes at once.")
@ON_A_CLUSTER
@click.option("--record", is_flag=True, help="Keep the counts for the trust page, with the commit that they are of.")
def fuzz(seed, claims, minutes, as_json, fresh, jobs, cluster, record):
    """Make random claims, true and false, and ask the witnesses. Exit 0 only if none accepts what is false."""
    from .fuzz_report import main as run_fuzz

    with recorded(record) as keep, on_a_cluster():
        sys.exit(run_fuzz(seed, claims, minutes, as_json, fresh, jobs, keep, cluster))


@contextmanager
def recorded(wanted: bool):
    """What keeps the counts of a run, if they are wanted: said before it begins where they cannot be kept."""
    from ..store import full_runs

    try:
        if wanted:
            full_runs.commit()
        yield full_runs.record if wanted else lambda run, **counts: None
    except (full_runs.NotRecorded, CertificateError) as error:
        raise click.ClickException(str(error)) from None


main.add_command(sympy_programs.sympy)


@main.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC ...]")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON on standard output.")
def uses(targets, as_json):
    """Report uses that no proof needs, and results that nothing uses. Exit 0 if every claim is proved without what it uses."""
    from .uses_report import main as report_uses

    try:
        sys.exit(report_uses(chosen(targets), as_json))
    except CertificateError as error:
        raise click.ClickException(str(error)) from None


@main.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC ...]")
@click.option("--json", "as_json", is_flag=True, help="The verdicts as JSON on standard output.")
def code(targets, as_json):
    """Read the code that claims name as mathematics. Exit 0 if none of it computes something else than its claim."""
    from .code_report import main as read_code

    sys.exit(read_code(chosen(targets), as_json))


@main.command("list")
def list_():
    """List the derivations, their titles and whether their certificates hold."""
    for topic in certificates.topics():
        try:
            content = certificates.load(topic)
            click.echo(f"{topic:28} {quantity(len(content['claims']), 'claim'):>10}  {content['title']}")
        except CertificateError as error:
            click.echo(f"{topic:28}   - {error}")


@main.command()
@click.argument("site", type=click.Path(exists=True, file_okay=False, path_type=Path))
def finish(site):
    """Finish a site that Zensical built, as `mkdocs build` does by itself: what search asks, the policy, what readers take along."""
    from ..site import finish_build

    try:
        lacking = finish_build.finish(site, project_files.ROOT / "mkdocs.yml")
    except (KernelError, CertificateError) as error:
        raise click.ClickException(str(error)) from None
    for page in lacking:
        click.echo(f"not built: {page}", err=True)


@main.command()
@click.argument("topic", metavar="CHAPTER/TOPIC")
def new(topic):
    """Make the four files of a topic and add its page to the navigation."""
    try:
        for path in new_topic.create(topic):
            click.echo(path)
    except new_topic.ScaffoldError as error:
        raise click.UsageError(str(error)) from None
    click.echo(new_topic.next_steps(topic), err=True)  # apart from the list of what was made
