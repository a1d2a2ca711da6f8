"""The command line: `python -m derivations check | list | new`."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from ..errors import KernelError, quantity
from ..run import certificates, runner, times
from ..run.certificates import CertificateError
from ..run.proofs import provers
from . import new_topic, sympy_programs
from .progress import Progress, report

SHARED = click.option("--shared", metavar="ADDRESS", help="Take from, and give to, a folder of a team; see CONTRIBUTING.md.")
ON_A_CLUSTER = click.option("--cluster", metavar="ADDRESS", default="", help="Run the tasks on a Dask cluster; see CONTRIBUTING.md.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main():
    """State, check and list the derivations."""


@main.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC or path/to/script.py ...]")
@click.option("--json", "as_json", is_flag=True, help="One JSON record a claim on standard output.")
@click.option("--fresh", is_flag=True, help="Prove everything again; trust no certificate.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Scripts checked at once.")
@click.option(
    "--replay", type=click.IntRange(0), default=0, metavar="N", help="Check one claim in N again that an earlier check vouches for."
)
@ON_A_CLUSTER
@SHARED
@click.option("--watch", "watching", is_flag=True, help="Stay, and check again what a change touches; Ctrl-C ends it.")
@click.option("--page", "page", metavar="TOPIC", help="All that would be refused of one topic: its claims, its page, its code and tests.")
def check(targets, as_json, fresh, jobs, replay, cluster, shared, watching, page):
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
    with Progress() as progress, sharing(shared) as folder:
        how = runner.How(replay=replay, shared=folder)
        if cluster:
            results = checked_there(cluster, wanted, fresh, progress, how)
        else:
            results = runner.check_all(wanted, fresh, jobs, progress, how=how)
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


@contextmanager
def sharing(address: str | None):
    """The folder at an address, if one is named; what went wrong with it is said at the end."""
    from ..run.shared import NoFolder, Shared

    if address == "":
        raise click.UsageError("--shared needs an address, and was given none")
    try:
        folder = Shared(address) if address else None
    except NoFolder as error:
        raise click.UsageError(str(error)) from None
    try:
        yield folder
    finally:
        for to, fault in folder.faults.items() if folder else ():
            click.secho(f"{address}: nothing could be {FAILED[to]} it: {fault}", fg="yellow", err=True)
        if folder and folder.doubted:
            click.secho(
                f"{address} held what is not so: something came out otherwise. Nothing was taken from it: all that it vouched for was found "
                f"anew, and put right there: {', '.join(folder.doubted)}",
                fg="red",
                err=True,
            )


FAILED = {"read": "read from", "write": "written to"}


def checked_there(address: str, wanted: list, fresh: bool, progress, how: runner.How) -> list:
    """The results of a check by the workers of a cluster."""
    from ..run import cluster

    outside = [topic for topic, _ in wanted if not certificates.is_topic(topic)]
    if outside:
        raise click.UsageError(f"{outside[0]} is no topic, and other machines do not have it")
    with on_a_cluster(), cluster.executor(address) as workers:
        return runner.check_all(wanted, fresh, workers.size, progress, how=replace(how, ask=cluster.asking(workers)))


@contextmanager
def on_a_cluster():
    """What goes wrong with a cluster is said in its own words."""
    from ..run.cluster import ClusterError

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
        "witnesses": [{k: v for k, v in times.without(w).items() if k != "source"} for w in claim["witnesses"]],
        "provers": provers(claim),
        "code": times.without(claim.get("computed", {"state": "not asked"})),
        "seconds": record["seconds"],
        "message": record["message"],
        "cached": result.cached or bool(record.get("taken")),
    }


@main.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC ...]")
@click.option("--fresh", is_flag=True, help="Ask Coq again, whatever it said before.")
@click.option("--replay", type=click.IntRange(0), default=0, metavar="N", help="Ask again for one kept verdict in N, of all topics.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Files checked at once.")
@ON_A_CLUSTER
@SHARED
def coq(targets, fresh, replay, jobs, cluster, shared):
    """Have Coq check every claim that it can state. A theorem that it does not prove is an error."""
    from .coq_report import main as ask_coq

    wanted = chosen(targets)
    with on_a_cluster(), sharing(shared) as folder:
        sys.exit(ask_coq(wanted, fresh, replay, jobs, cluster, folder))


@main.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC ...]")
@click.option("--json", "as_json", is_flag=True, help="The table as JSON on standard output.")
@click.option(
    "--replay",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Try one claim in N again of which it is kept what became of its mutants.",
)
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
@SHARED
@click.option("--record", is_flag=True, help="Keep the counts of all topics for the trust page, with the commit that they are of.")
@click.option(
    "--code", "of_code", is_flag=True, help="Corrupt the snippets that claims name in their own source, and read them as mathematics."
)
def mutants(targets, as_json, share, since, fresh, replay, jobs, cluster, shared, record, of_code):
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
        with recorded(record) as keep, on_a_cluster(), sharing(shared) as folder:
            if of_code:
                sys.exit(run_code_mutants(chosen(targets), as_json, jobs, keep, cluster))
            sys.exit(run_mutants(targets, as_json, fresh, jobs, share, keep, cluster, folder, since, replay))
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
    from ..run import whole_runs

    try:
        if wanted:
            whole_runs.commit()
        yield whole_runs.record if wanted else lambda run, **counts: None
    except (whole_runs.NotRecorded, CertificateError) as error:
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
        lacking = finish_build.finish(site, certificates.ROOT / "mkdocs.yml")
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
