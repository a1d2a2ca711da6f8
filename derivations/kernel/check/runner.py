"""Check scripts, several at once: use a topic's certificate if it is still valid, otherwise check its script in a new process."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import forkserver
from pathlib import Path
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING, Any

from ..errors import quantity, suggest_names
from ..store import certificates, claim_cache, durations, rejections
from ..store.certificates import CertificateError
from ..store.dependencies import Dependencies, Reads
from ..store.project_files import ROOT
from ..store.store import settings
from . import installed_packages

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkServerContext, SpawnContext
    from multiprocessing.process import BaseProcess

Target = tuple[str, Path]  # a topic, or the name of a script outside the project, and the script's path
Progress = Callable[[int, int], None]  # called with the numbers of claims that were checked and found

TIME_LIMIT = 900  # seconds for one script; generous, because the machine may be busy
TIMED_OUT = f"checking took longer than {TIME_LIMIT} s and was stopped; split it into smaller claims"
MAX_RECORD_SIZE = 2**28  # bytes
POLL_INTERVAL = 0.2  # seconds between two checks of `stop`
HEAD_START = 1.0  # seconds by which urgent topics precede the others, so that the server can build their pages first
BACKGROUND_NICENESS = 10  # of the processes of the other topics

# Each script runs in its own process, forked from one that has loaded SymPy and PyTorch but has run no script.
HAS_FORKSERVER = "forkserver" in multiprocessing.get_all_start_methods()
CONTEXT: ForkServerContext | SpawnContext = (
    multiprocessing.get_context("forkserver") if HAS_FORKSERVER else multiprocessing.get_context("spawn")
)
# Libraries import these only when they need them.
LAZY_IMPORTS = ("jaxtyping", "sympy.physics.units", "sympy.stats", "sympy.tensor.tensor", "torch.export._trace")
if HAS_FORKSERVER:
    CONTEXT.set_forkserver_preload([*LAZY_IMPORTS, f"{__package__}.preload"])
os.environ["PYTHONHASHSEED"] = "0"  # for child processes, so that a check always gives the same messages
os.environ["SYMPY_CACHE_SIZE"] = "20000"  # values cached per function; a claim and its mutants need the same ones


@dataclass
class Result:
    """The result of checking one script: a record for each claim, and the problems that concern no single claim."""

    topic: str
    script: Path
    title: str = ""
    records: list[dict] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # "file:line: message"
    cached: bool = False  # whether the records come from a valid certificate
    stated: int = 0  # the number of claims in the script
    imported: list[str] = field(default_factory=list)  # files that the script imported before it ended
    reads: Reads = field(default_factory=Reads)  # what else it read
    stopped: bool = False  # the check was stopped, so there is no result

    @property
    def holds(self) -> bool:
        """Whether all claims hold and there are no problems."""
        return bool(self.records) and not self.problems and all(r["verdict"] == "holds" for r in self.records)


@dataclass(frozen=True)
class Options:
    """The options of a round of checks."""

    run: Callable | None = None  # replaces `run_worker`, for example to check scripts on a cluster
    started: int | None = None  # when the round began (in ns); a checker file that is newer counts as changed
    urgent: frozenset[str] = frozenset()  # topics that somebody waits for: they are checked first and reported at once
    on_accepted: Callable[[Result], None] = lambda result: None  # called when an urgent topic is accepted, before it is reported


def find_targets(targets: tuple[str, ...]) -> list[Target]:
    """Return (topic, script) pairs for topics, chapters and paths, or for all topics if `targets` is empty.

    Raise LookupError for a target that is none of these.
    """
    known = certificates.topics()
    if not targets:
        return [(t, certificates.script_of(t)) for t in known]
    found: list[Target] = []
    for target in targets:
        path = Path(target)
        if target in known:
            matches = [target]
        elif any(t.startswith(target.rstrip("/") + "/") for t in known):
            matches = [t for t in known if t.startswith(target.rstrip("/") + "/")]
        elif path.is_file():
            inside = [t for t in known if certificates.script_of(t) == path.resolve()]
            found += [(t, path.resolve()) for t in inside] or [(str(path), path.resolve())]
            continue
        else:
            raise LookupError(f"'{target}' is neither a topic, nor a chapter, nor a script; python -m derivations list shows the topics")
        found += [(t, certificates.script_of(t)) for t in matches]
    return list(dict.fromkeys(found))


def check_all(
    targets: list[Target], fresh: bool, jobs: int, progress: Progress, stop: Event | None = None, options: Options | None = None
) -> list[Result]:
    """Check scripts, and return the results in the same order.

    Setting `stop` ends the remaining checks. Topics that were never checked start first, the longest script first, followed by those whose
    last check took longest.
    """
    options = replace(options or Options(), started=time.time_ns())
    results = check_each(targets, fresh, jobs, progress, stop, options)
    done = [result for result in results.values() if not result.stopped]
    check_uses(done)
    store_rejections(done)
    claim_cache.STORE.prune()
    return [results[target] for target in targets]


def check_each(
    targets: list[Target], fresh: bool, jobs: int, progress: Progress, stop: Event | None, options: Options
) -> dict[Target, Result]:
    """Check scripts, and return the result of each target.

    The urgent topics are checked alone. The others start `HEAD_START` seconds after them, with a lower priority.
    """
    order = sorted(targets, key=expected_duration, reverse=True)
    stop = stop or Event()
    with ThreadPoolExecutor(max_workers=jobs) as pool, stop_on_error(stop):

        def check(group: list[Target], options: Options) -> dict[Target, Result]:
            futures = {target: pool.submit(check_script, *target, fresh, progress, stop, options) for target in group}
            return {target: future.result() for target, future in futures.items()}

        urgent = [target for target in order if target[0] in options.urgent]
        others = [target for target in order if target[0] not in options.urgent]
        results = check(urgent, options)
        if urgent and others:
            stop.wait(HEAD_START)
        return results | check(others, replace(options, run=options.run or run_in_background) if urgent else options)


@contextmanager
def stop_on_error(stop: Event) -> Iterator[None]:
    """Set `stop` if an error or Ctrl-C ends the `with` block. Otherwise the pool would wait until all its threads have finished."""
    try:
        yield
    except BaseException:
        stop.set()
        raise


def expected_duration(target: Target) -> tuple[float, int]:
    """Return a sort key for the time that a check may take: the time of the last check, then the size of the script."""
    topic, script = target
    return durations.of_topic(topic), script.stat().st_size if script.is_file() else 0


def store_rejections(results: list[Result]) -> None:
    """Store the rejections of topics that fail, and delete those of topics that now hold.

    Announce the end of the round, unless all results are cached, hold, and had no stored rejection.
    """
    inside = [result for result in results if certificates.is_topic(result.topic)]
    before = set(rejections.STORE.keys())
    for result in inside:
        if result.holds:
            rejections.STORE.delete(result.topic)
        else:
            rejections.put(result.topic, result.script, result.title, result.records, result.problems, result.imported, result.reads)
    if any(not result.cached or not result.holds or result.topic in before for result in inside):
        rejections.end_round()


def check_uses(results: list[Result]) -> None:
    """Reject claims that use a missing claim of another topic, and claims of topics that use each other in a cycle."""
    ids: dict[str, set[str]] = {}
    links: dict[str, set[str]] = {}
    waiting = [(r.topic, [record["claim"] for record in r.records]) for r in results]
    while waiting:  # starts with the checked topics; those that they use are read from certificates
        topic, claims = waiting.pop(0)
        ids[topic] = {claim["id"] for claim in claims if claim["kind"] != "refutation"}  # a refutation cannot be used as a fact
        links[topic] = {use.partition("#")[0] for claim in claims for use in claim.get("uses", ()) if "#" in use}
        waiting += [(other, stored_claims(other)) for other in sorted(links[topic] - ids.keys() - {t for t, _ in waiting})]
    for result in results:
        for record in (record for record in result.records if record["verdict"] == "holds"):
            foreign = [use for use in record["claim"].get("uses", ()) if "#" in use]
            missing = [use for use in foreign if use.partition("#")[2] not in ids[use.partition("#")[0]]]
            cycle = find_cycle(links, result.topic) if foreign else []
            if missing:
                accepted = ids[missing[0].partition("#")[0]]
                reject(result, record, explain_missing_use(missing[0], accepted), code="unknown-claim" if accepted else "unchecked-topic")
            elif cycle:
                reject(result, record, "its uses lead back to its own topic: " + " → ".join(cycle), code="circular-uses")


def explain_missing_use(use: str, accepted: set[str]) -> str:
    """Return why a claim cannot use `use`. `accepted` contains the ids of the accepted claims of that topic."""
    topic, _, name = use.partition("#")
    if not accepted:
        return f"it uses '{use}', and '{topic}' was not checked as it is, or does not hold; run: python -m derivations check {topic}"
    return f"it uses '{use}', and there is no such claim that holds; {suggest_names(name, sorted(accepted), 'there are')}"


def reject(result: Result, record: dict, message: str, code: str) -> None:
    """Reject a claim of a checked topic, and delete the topic's certificate."""
    record.update(verdict="rejected", message=message, error_code=code)
    certificates.STORE.delete(result.topic)


def stored_claims(topic: str) -> list[dict]:
    """Return the claims in a topic's certificate, or [] if it has no valid one."""
    try:
        return certificates.load(topic)["claims"]
    except CertificateError:
        return []


def find_cycle(links: dict[str, set[str]], start: str) -> list[str]:
    """Return a path along the links from `start` back to `start`, or [] if there is none."""
    paths = [[start]]
    while paths:
        path = paths.pop()
        for topic in sorted(links.get(path[-1], ())):
            if topic == start:
                return [*path, start]
            if topic not in path:
                paths.append([*path, topic])
    return []


def check_script(
    topic: str, script: Path, fresh: bool, progress: Progress, stop: Event | None = None, options: Options | None = None
) -> Result:
    """Return the result for one script from its certificate if that is valid. Otherwise check the script and store the result.

    If `fresh`, use neither the certificate nor the records of earlier checks.
    """
    stop, options = stop or Event(), options or Options()
    if stop.is_set():
        return Result(topic, script, stopped=True)
    inside = certificates.is_topic(topic)
    if inside and not fresh and not settings.recheck.one_in:
        try:
            content, took = certificates.load(topic), durations.of_claims(topic)
            progress(len(content["claims"]), len(content["claims"]))
            records = [{"verdict": "holds", "message": "", "claim": c, "seconds": took.get(c["id"], 0.0)} for c in content["claims"]]
            return Result(topic, script, content["title"], records, cached=True)
        except CertificateError:
            pass
    began = time.time_ns()
    earlier = claim_cache.get(topic) if inside and not fresh else {}
    stored = earlier.get("claims", {})
    picked = {id_: record for id_, record in stored.items() if settings.recheck.picks(f"{topic}#{id_}")}
    usable = {id_: record for id_, record in stored.items() if id_ not in picked}
    result, last = (options.run or run_worker)(topic, script, progress, stop, usable)
    if result.stopped:
        return result
    reject_differing(result, picked)
    if inside and last:
        reused = any(record.get("reused") for record in result.records)
        store_result(result, last, began, options.started, earlier.get("depends") if reused else None)
    if inside and not result.holds:
        certificates.STORE.delete(topic)
    if topic in options.urgent and result.holds:
        options.on_accepted(result)
        rejections.end_round()
    return result


def reject_differing(result: Result, stored: dict[str, dict]) -> None:
    """Reject claims whose new record differs from the stored one. If there is such a claim, delete the stored records of all topics."""
    for record in result.records:
        earlier = stored.get(record["claim"]["id"])
        if earlier and claim_cache.differs(earlier, record):
            message = settings.recheck.difference(f"{result.topic}#{record['claim']['id']}")
            record.update(verdict="rejected", message=message, error_code="different-result")
            claim_cache.STORE.clear()


def store_result(result: Result, last: dict, began: int, started: int | None, earlier: Dependencies | None) -> None:
    """Store the topic's certificate if all its claims hold. Store the records of the claims that hold in either case.

    Store nothing if an input changed during the check; if all claims hold, report the change as a problem. Store no records if the script
    imports snippets or is imported itself. `last` is the worker's last record. `began` is the time at which the check began, and `started`
    that at which the round began (in ns).
    """
    script, imported = result.script, [Path(p) for p in last["imported"]]
    depends, changed = certificates.collect_dependencies(script, imported, began, last["libraries"], result.reads, earlier, started)
    durations.put(result.topic, {r["claim"]["id"]: r["seconds"] for r in result.records if not r.get("reused")})
    if result.holds and not changed:
        certificates.put(result.topic, result.title, [durations.without(r["claim"]) for r in result.records], depends)
    elif result.holds:
        result.problems.append(f"{script}: {', '.join(changed)} changed while it was checked; run the check again")
    if not last["reusable"]:
        claim_cache.delete(result.topic)
    elif not changed:
        claim_cache.put(result.topic, result.records, depends)


def run_worker(topic: str, script: Path, progress: Progress, stop: Event, earlier: dict, nice: int = 0) -> tuple[Result, dict | None]:
    """Check a script in a separate process and read its records as they arrive.

    Return the result and the last record, which is None if the process did not finish. `earlier` maps claims to the records of earlier
    checks.
    """
    result = Result(topic, script)
    packages = find_packages()
    with tempfile.NamedTemporaryFile("r", errors="replace") as output:
        records, sender = CONTEXT.Pipe(duplex=False)
        arguments = (nice, str(script), str(ROOT), sender, output.name, dict(os.environ), packages, earlier)
        process = CONTEXT.Process(target=run_in_worker, args=arguments)
        process.start()
        sender.close()
        last, problem = read_records(records, process, result, progress, stop)
        result.stopped = stop.is_set() and not last
        process.join(0 if result.stopped or problem == TIMED_OUT else 5)
        end_process(process)
        last_line = (output.read().strip().splitlines() or [""])[-1]
    if result.stopped:
        return result, None
    if not last and not problem:
        problem = f"the process that checked it died (exit {process.exitcode}){': ' * bool(last_line)}{last_line}"
    if problem:
        result.problems.append(f"{script}: {problem}")
    return result, last


def read_records(records: Connection, process: BaseProcess, result: Result, progress: Progress, stop: Event) -> tuple[dict | None, str]:
    """Add a worker's records to the result until the last one arrives, the time is over, or `stop` is set.

    Return the last record, or None, and a message if the process took too long or sent something else than records.
    """
    last = None
    deadline = time.monotonic() + TIME_LIMIT
    # A process that stops in the middle of a record would block `recv_bytes` for ever, so a timer ends it.
    timer = Timer(TIME_LIMIT + POLL_INTERVAL, end_process, [process])
    timer.daemon = True
    timer.start()
    try:
        while not last and not stop.is_set():
            left = deadline - time.monotonic()
            if records.poll(max(0.0, min(left, POLL_INTERVAL))):
                last = add_event(json.loads(records.recv_bytes(MAX_RECORD_SIZE)), result, progress)
            elif left <= POLL_INTERVAL:
                return last, TIMED_OUT
    except EOFError:
        pass
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # the script itself wrote to the pipe
        return last, "what its process says is no record of a check; let the script write to no file that it did not open"
    finally:
        timer.cancel()
    return last, ""


def find_packages() -> dict[str, list[str]]:
    """Return the packages that contain each module. The fork server, if there is one, loads its libraries meanwhile."""
    if HAS_FORKSERVER:
        forkserver.ensure_running()
    return dict(installed_packages.packages_by_module())


run_in_background = partial(run_worker, nice=BACKGROUND_NICENESS)


def run_in_worker(nice: int, *arguments: Any) -> None:
    """Run the worker in the new process."""
    from . import worker  # imported here so that the parent process does not load SymPy

    end_with_parent()
    os.nice(nice)
    worker.main(*arguments)


def end_with_parent() -> None:
    """End this process as soon as its parent has ended, even if the parent was killed.

    Otherwise the fork server would keep running too, since it lives as long as the last process that it forked.
    """
    Thread(target=wait_for_parent, daemon=True).start()


def wait_for_parent() -> None:
    """Wait until the parent has ended, then end this process and its group."""
    parent = multiprocessing.parent_process()
    if parent is None:  # this is the main process
        return
    parent.join()
    try:
        os.killpg(os.getpid(), signal.SIGKILL)  # together with all processes that the script started
    except ProcessLookupError:
        os._exit(1)


def end_process(process: BaseProcess) -> None:
    """End a script's process, and all processes that it started."""
    assert process.pid is not None  # it was started
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.join()


def add_event(event: dict, result: Result, progress: Progress) -> dict | None:
    """Add one of the worker's records to the result. Return the record if it is the last one, otherwise None."""
    kind = event.pop("event")
    if kind == "loaded":
        result.title, result.stated = event["title"], event["count"]
        progress(0, event["count"])
    elif kind == "claim":
        result.records.append(event)
        progress(1, 0)
    elif kind == "done":
        result.imported, result.reads = event["imported"], Reads(**event["reads"])
        event = {name: event[name] for name in ("imported", "libraries", "reusable")}
    if kind == "done" and len(result.records) < result.stated:
        result.problems.append(f"{result.script}: {quantity(result.stated, 'claim')} stated, and only {len(result.records)} checked")
    if kind == "problem":
        result.problems.append(
            f"{result.script}:{event['line']}: {event['message']}" + (f"\n    {event['source']}" if event["source"] else "")
        )
    return event if kind == "done" else None
