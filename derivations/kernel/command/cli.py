"""The command line, `python -m derivations`: the commands and their options."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from ..check import runner
from ..check.proving_witnesses import provers
from ..errors import KernelError, quantity
from ..store import certificates, durations, project_files
from ..store.certificates import CertificateError
from . import new_topic, sympy_programs
from .progress import Progress, print_result
from .store_options import store_options, use_store

cluster_option = click.option("--cluster", metavar="ADDRESS", default="", help="Run the tasks on a Dask cluster; see MAINTAINING.md.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Check the claims of the site's topics, and report on them."""


@main.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC or path/to/script.py ...]")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON record for each claim to standard output.")
@click.option("--fresh", is_flag=True, help="Check everything again; ignore stored results.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Number of scripts to check at once.")
@cluster_option
@store_options
@click.option("--watch", "watching", is_flag=True, help="Keep running, and check again whatever a change affects; Ctrl-C ends it.")
@click.option("--page", "page", metavar="TOPIC", help="Check everything about one topic: its claims, page, code and tests.")
def check(
    targets: tuple[str, ...],
    as_json: bool,
    fresh: bool,
    jobs: int,
    cluster: str,
    shared: str | None,
    replay: int,
    seed: str,
    watching: bool,
    page: str | None,
) -> None:
    """Check the claims of topics or scripts. Exit with status 0 only if all are accepted."""
    if (cluster or replay or shared) and (watching or page):
        raise click.UsageError("--cluster, --replay and --shared cannot be combined with --watch or --page")
    if watching + as_json + bool(page) > 1:
        raise click.UsageError("use only one of --watch, --page and --json")
    if page is not None:
        from .check_page import check_page

        sys.exit(check_page(page, [*targets], fresh, jobs))
    if watching:
        from .check_page import find_page_errors
        from .watch import watch

        find_targets(targets)
        watch(lambda: find_existing_targets(targets), jobs, fresh, find_page_errors)
        return
    wanted = find_targets(targets)
    if not wanted:
        raise click.UsageError("there is no topic to check")
    with Progress() as progress, use_store(shared, replay, seed):
        if cluster:
            results = check_on_cluster(cluster, wanted, fresh, progress)
        else:
            results = runner.check_all(wanted, fresh, jobs, progress)
    sympy_programs.publish_programs(results)
    if as_json:
        records = [flatten_record(result, r) for result in results for r in result.records]
        problems = [{"id": None, "topic": r.topic, "verdict": "rejected", "message": problem} for r in results for problem in r.problems]
        click.echo(json.dumps(records + problems, indent=1))
    for result in results:
        print_result(result, quiet=as_json)
    if not as_json:
        click.echo(summary(results))
    sys.exit(not all(r.holds for r in results))


def summary(results: Sequence[runner.Result]) -> str:
    """Return the last line of a check.

    >>> summary([])
    '0 claims in 0 topics: all accepted'
    """
    claims = sum(len(r.records) for r in results)
    unchanged = sum(r.cached or bool(record.get("reused")) for r in results for record in r.records)
    verdict = "all accepted" if all(r.holds for r in results) else "NOT all accepted"
    since = f" ({unchanged} unchanged since the last check)" if unchanged else ""
    return f"{quantity(claims, 'claim')} in {quantity(len(results), 'topic')}: {verdict}{since}"


def check_on_cluster(address: str, wanted: list[runner.Target], fresh: bool, progress: Callable[[int, int], None]) -> list[runner.Result]:
    """Return the results of a check by the workers of a cluster. Raise UsageError for a script outside the project."""
    from ..check import dask_cluster

    outside = [topic for topic, _ in wanted if not certificates.is_topic(topic)]
    if outside:
        raise click.UsageError(f"{outside[0]} is not one of the project's topics, so the machines of the cluster do not have it")
    with report_cluster_errors(), dask_cluster.connect(address) as workers:
        return runner.check_all(wanted, fresh, workers.size, progress, options=runner.Options(run=dask_cluster.make_cluster_check(workers)))


@contextmanager
def report_cluster_errors() -> Iterator[None]:
    """Report a cluster's errors as errors of the command."""
    from ..check.dask_cluster import ClusterError

    try:
        yield
    except ClusterError as error:
        raise click.ClickException(str(error)) from None


def find_targets(targets: tuple[str, ...]) -> list[runner.Target]:
    """Return the named topics and scripts, or all topics if none is named. Raise UsageError if one does not exist."""
    try:
        return runner.find_targets(targets)
    except LookupError as error:
        raise click.UsageError(str(error)) from None


def find_existing_targets(targets: tuple[str, ...]) -> list[runner.Target]:
    """Return the named topics and scripts that still exist, or all topics if none is named."""
    try:
        return runner.find_targets(targets)
    except LookupError:
        existing: list[runner.Target] = []
        for target in targets:
            with suppress(LookupError):
                existing += runner.find_targets((target,))
        return existing


def flatten_record(result: runner.Result, record: dict[str, Any]) -> dict[str, Any]:
    """Return a claim's record as `check --json` prints it."""
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
        "cached": result.cached or bool(record.get("reused")),
        **({"error_code": record["error_code"]} if "error_code" in record else {}),
    }


@main.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC ...]")
@click.option("--fresh", is_flag=True, help="Run Coq on every file again; ignore stored results.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Number of files to check at once.")
@cluster_option
@store_options
def coq(targets: tuple[str, ...], fresh: bool, jobs: int, cluster: str, shared: str | None, replay: int, seed: str) -> None:
    """Check claims with Coq. Exit with status 0 only if it proves every claim that it can state, except those known to be open."""
    from .check_coq import main as run_coq

    wanted = find_targets(targets)
    with report_cluster_errors(), use_store(shared, replay, seed):
        sys.exit(run_coq(wanted, fresh, jobs, cluster))


@main.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC ...]")
@click.option("--json", "as_json", is_flag=True, help="Write the table as JSON to standard output.")
@click.option("--share", metavar="K/N", default="1/1", show_default=True, help="Take every N-th topic, starting at the K-th.")
@click.option(
    "--since",
    metavar="COMMIT",
    default="",
    help="Take only the topics that changed since that commit; if the checker changed, add those of --share.",
)
@click.option("--fresh", is_flag=True, help="Try every mutant again; ignore stored results.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Number of processes.")
@cluster_option
@store_options
@click.option("--record", is_flag=True, help="Store the counts of all topics, with the current commit, for the trust page.")
@click.option("--code", "of_code", is_flag=True, help="Corrupt the source of the snippets that claims name, instead of the claims.")
def mutants(
    targets: tuple[str, ...],
    as_json: bool,
    share: str,
    since: str,
    fresh: bool,
    jobs: int,
    cluster: str,
    shared: str | None,
    replay: int,
    seed: str,
    record: bool,
    of_code: bool,
) -> None:
    """Corrupt every claim on purpose. Exit with status 0 only if each witness rejects every false mutant that it covers."""
    from .git_changes import GitError
    from .mutants_report import main as run_mutants
    from .snippet_mutants import main as run_code_mutants

    if record and (targets or since or share != "1/1"):
        raise click.UsageError("--record stores the counts of a whole run: leave out topics, --share and --since")
    if of_code and (since or replay or shared):
        raise click.UsageError("the results of --code are not stored: leave out --since, --replay and --shared")
    try:
        with counts_recorder(record) as record_counts, report_cluster_errors(), use_store(shared, replay, seed):
            if of_code:
                sys.exit(run_code_mutants(find_targets(targets), as_json, jobs, record_counts, cluster))
            sys.exit(run_mutants(targets, as_json, fresh, jobs, share, record_counts, cluster, since))
    except (LookupError, ValueError, GitError) as error:
        raise click.UsageError(str(error)) from None


@main.command()
@click.option("--seed", default=0, show_default=True, help="Seed of the random claims.")
@click.option("--claims", type=click.IntRange(1), default=200_000, show_default=True, help="Number of claims.")
@click.option("--minutes", type=click.FloatRange(0), help="Start no more claims after this time.")
@click.option("--json", "as_json", is_flag=True, help="Write the counts as JSON to standard output.")
@click.option("--fresh", is_flag=True, help="Try all claims again; ignore stored counts.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Number of processes.")
@cluster_option
@click.option("--record", is_flag=True, help="Store the counts, with the current commit, for the trust page.")
def fuzz(seed: int, claims: int, minutes: float | None, as_json: bool, fresh: bool, jobs: int, cluster: str, record: bool) -> None:
    """Check random claims, true and false. Exit with status 0 only if no witness accepts a false one."""
    from .fuzz_report import main as run_fuzz

    with counts_recorder(record) as record_counts, report_cluster_errors():
        sys.exit(run_fuzz(seed, claims, minutes, as_json, fresh, jobs, record_counts, cluster))


@contextmanager
def counts_recorder(wanted: bool) -> Iterator[Callable[..., None]]:
    """Yield a function that stores the counts of a run, or does nothing unless `wanted`. Fail before the run if it cannot store them."""
    from ..store import complete_run_counts

    try:
        if wanted:
            complete_run_counts.commit()
        yield complete_run_counts.record if wanted else lambda run, **counts: None
    except (complete_run_counts.NotRecorded, CertificateError) as error:
        raise click.ClickException(str(error)) from None


main.add_command(sympy_programs.sympy)


@main.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC ...]")
@click.option("--json", "as_json", is_flag=True, help="Write the report as JSON to standard output.")
def uses(targets: tuple[str, ...], as_json: bool) -> None:
    """Report unnecessary uses, and results that nothing uses. Exit with status 0 if every claim is proved without its uses."""
    from .uses_report import main as report_uses

    try:
        sys.exit(report_uses(find_targets(targets), as_json))
    except CertificateError as error:
        raise click.ClickException(str(error)) from None


@main.command()
@click.argument("targets", nargs=-1, metavar="[TOPIC ...]")
@click.option("--json", "as_json", is_flag=True, help="Write the verdicts as JSON to standard output.")
def code(targets: tuple[str, ...], as_json: bool) -> None:
    """Compare code with the claims that name it. Exit with status 0 if none of it contradicts its claim."""
    from .check_code import main as read_code

    sys.exit(read_code(find_targets(targets), as_json))


@main.command("list")
def list_() -> None:
    """List the topics and their titles. If a topic has no valid certificate, say why."""
    for topic in certificates.topics():
        try:
            content = certificates.load(topic)
            click.echo(f"{topic:28} {quantity(len(content['claims']), 'claim'):>10}  {content['title']}")
        except CertificateError as error:
            click.echo(f"{topic:28}   - {error}")


@main.command()
@click.argument("site", type=click.Path(exists=True, file_okay=False, path_type=Path))
def finish(site: Path) -> None:
    """Finish a site that Zensical built. Write the search index, the content security policy and the downloads."""
    from ..site import finish_build

    try:
        lacking = finish_build.finish(site, project_files.ROOT / "mkdocs.yml")
    except (KernelError, CertificateError) as error:
        raise click.ClickException(str(error)) from None
    for page in lacking:
        click.echo(f"not built: {page}", err=True)


@main.command()
@click.argument("topic", metavar="CHAPTER/TOPIC")
def new(topic: str) -> None:
    """Create the files of a topic and add its page to the navigation."""
    try:
        for path in new_topic.create(topic):
            click.echo(path)
    except new_topic.ScaffoldError as error:
        raise click.UsageError(str(error)) from None
    click.echo(new_topic.next_steps(topic), err=True)  # standard output lists only the created files
