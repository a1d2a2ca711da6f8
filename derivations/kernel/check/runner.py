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

from ..errors import quantity, suggest_names
from ..store import certificates, claim_cache, durations, rejections
from ..store.certificates import CertificateError
from ..store.dependencies import Dependencies, Reads
from ..store.project_files import ROOT
from ..store.store import settings
from . import installed_packages

TIME_LIMIT = 900  # seconds for one script; generous, because the machine may be busy
MOST_SAID = 2**28  # the largest size of one record in bytes
PATIENCE = 0.2  # seconds between two looks at `stop`
PAUSE = 1.0  # seconds between the topics that somebody waits for and the others, so that the pages of the first are built meanwhile
BEHIND = 10  # the niceness of a process whose topic nobody waits for

# Each script runs in a process of its own, forked from one that has loaded SymPy and PyTorch but has run no script.
CONTEXT = multiprocessing.get_context("forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn")
LAZY = ("jaxtyping", "sympy.physics.units", "sympy.stats", "sympy.tensor.tensor", "torch.export._trace")  # imported lazily by libraries
if CONTEXT.get_start_method() == "forkserver":
    CONTEXT.set_forkserver_preload([*LAZY, f"{__package__}.preload"])
os.environ["PYTHONHASHSEED"] = "0"  # for child processes, so that a check always gives the same messages
os.environ["SYMPY_CACHE_SIZE"] = "20000"  # values cached per function; a claim and its mutants need the same ones


@dataclass
class Result:
    """The result of checking one script: a record for each claim, and the problems that belong to no claim."""

    topic: str
    script: Path
    title: str = ""
    records: list = field(default_factory=list)
    problems: list = field(default_factory=list)  # "file:line: message"
    cached: bool = False  # whether the records come from a valid certificate
    stated: int = 0  # the number of claims in the script
    imported: list = field(default_factory=list)  # files that the script imported before it ended
    reads: Reads = field(default_factory=Reads)  # what else it read
    stopped: bool = False  # the check was stopped, so there is no result

    @property
    def holds(self) -> bool:
        """Whether all claims hold and there are no problems."""
        return bool(self.records) and not self.problems and all(r["verdict"] == "holds" for r in self.records)


@dataclass(frozen=True)
class How:
    """Settings of a round of checks."""

    ask: Callable | None = None  # replaces `run`, for example to check scripts on a cluster
    loaded: int | None = None  # when the round began (in ns); a checker file that is newer counts as changed
    first: frozenset = frozenset()  # topics that somebody waits for: checked before the others, and reported at once
    ready: Callable = lambda result: None  # called with the result of each topic in `first` that holds, before it is reported


def find(targets: tuple) -> list:
    """Return (topic, script) pairs for topics, chapters and paths, or for all topics if `targets` is empty.

    Raise LookupError for a target that is none of these.
    """
    known = certificates.topics()
    if not targets:
        return [(t, certificates.script_of(t)) for t in known]
    found = []
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


def check_all(targets: list, fresh: bool, jobs: int, progress, stop: Event | None = None, how: How | None = None) -> list:
    """Check (topic, script) pairs, and return the results in the same order.

    `progress(done, more)` is called with the numbers of claims that were checked and found. Setting `stop` ends the checks that are left.
    Topics that were never checked are begun first, the longest script first, then those whose last check took longest.
    """
    how = replace(how or How(), loaded=time.time_ns())
    results = each(targets, fresh, jobs, progress, stop, how)
    done = [result for result in results.values() if not result.stopped]
    check_uses(done)
    settle(done)
    claim_cache.STORE.prune()
    return [results[target] for target in targets]


def each(targets: list, fresh: bool, jobs: int, progress, stop: Event | None, how: How) -> dict:
    """Check (topic, script) pairs, and return the results by pair.

    The topics in `how.first` are checked alone. The others begin `PAUSE` seconds later, with a lower priority.
    """
    order = sorted(targets, key=expected, reverse=True)
    stop = stop or Event()
    with ThreadPoolExecutor(max_workers=jobs) as pool, stopping(stop):

        def all_of(some: list, how: How) -> dict:
            begun = {target: pool.submit(check_script, *target, fresh, progress, stop, how) for target in some}
            return {target: one.result() for target, one in begun.items()}

        awaited = [one for one in order if one[0] in how.first]
        others = [one for one in order if one[0] not in how.first]
        results = all_of(awaited, how)
        if awaited and others:
            stop.wait(PAUSE)
        return results | all_of(others, replace(how, ask=how.ask or in_the_background) if awaited else how)


@contextmanager
def stopping(stop: Event) -> Iterator[None]:
    """Set `stop` if this thread is interrupted, for example by Ctrl-C. Otherwise the pool would wait until its threads have finished."""
    try:
        yield
    except BaseException:
        stop.set()
        raise


def expected(target: tuple) -> tuple:
    """Return a sort key by the time that a script may take: the time of its last check, and the size of its text."""
    topic, script = target
    return durations.of_topic(topic), script.stat().st_size if script.is_file() else 0


def settle(results: list):
    """Store the rejections of topics, delete those of topics that hold now, and signal the end of the round if it changed anything."""
    inside = [result for result in results if certificates.is_topic(result.topic)]
    before = set(rejections.STORE.keys())
    for result in inside:
        if result.holds:
            rejections.STORE.delete(result.topic)
        else:
            rejections.put(result.topic, result.script, result.title, result.records, result.problems, result.imported, result.reads)
    if any(not result.cached or not result.holds or result.topic in before for result in inside):
        rejections.end_round()


def check_uses(results: list):
    """Reject claims that use a missing claim of another topic, and claims of topics that use each other in a circle."""
    ids, links = {}, {}
    waiting = [(r.topic, [record["claim"] for record in r.records]) for r in results]
    while waiting:  # starts with the checked topics; those that they use are read from certificates
        topic, claims = waiting.pop(0)
        ids[topic] = {claim["id"] for claim in claims if claim["kind"] != "refutation"}  # a refutation cannot be used as a fact
        links[topic] = {use.partition("#")[0] for claim in claims for use in claim.get("uses", ()) if "#" in use}
        waiting += [(other, stored(other)) for other in sorted(links[topic] - ids.keys() - {t for t, _ in waiting})]
    for result in results:
        for record in (one for one in result.records if one["verdict"] == "holds"):
            foreign = [use for use in record["claim"].get("uses", ()) if "#" in use]
            missing = [use for use in foreign if use.partition("#")[2] not in ids[use.partition("#")[0]]]
            around = foreign and circle(links, result.topic)
            if missing:
                held = ids[missing[0].partition("#")[0]]
                refuse(result, record, unmet(missing[0], held), "unknown-claim" if held else "unchecked-topic")
            elif around:
                refuse(result, record, "its uses lead back to its own topic: " + " → ".join(around), "circular-uses")


def unmet(use: str, held: set) -> str:
    """Return why `use` cannot be used: its topic has no valid certificate, or no claim with that id. `held` contains the topic's ids."""
    topic, _, name = use.partition("#")
    if not held:
        return f"it uses '{use}', and '{topic}' was not checked as it is, or does not hold; run: python -m derivations check {topic}"
    return f"it uses '{use}', and there is no such claim that holds; {suggest_names(name, sorted(held), 'there are')}"


def refuse(result: Result, record: dict, message: str, code: str):
    """Reject a claim of a checked topic, and delete the topic's certificate."""
    record.update(verdict="refused", message=message, error_code=code)
    certificates.STORE.delete(result.topic)


def stored(topic: str) -> list:
    """Return the claims in a topic's certificate, or [] if it has no valid one."""
    try:
        return certificates.load(topic)["claims"]
    except CertificateError:
        return []


def circle(links: dict, start: str) -> list:
    """Return a path along the links from `start` back to `start`, or [] if there is none."""
    ways = [[start]]
    while ways:
        way = ways.pop()
        for following in sorted(links.get(way[-1], ())):
            if following == start:
                return [*way, start]
            if following not in way:
                ways.append([*way, following])
    return []


def check_script(topic: str, script: Path, fresh: bool, progress, stop: Event | None = None, how: How | None = None) -> Result:
    """Return the result for one script: from its certificate if that is valid, otherwise by a check, whose results are stored.

    If `fresh`, neither the certificate nor records of earlier checks are used.
    """
    stop, how = stop or Event(), how or How()
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
    picked = {id_: one for id_, one in earlier.get("claims", {}).items() if settings.recheck.picks(f"{topic}#{id_}")}
    usable = {id_: one for id_, one in earlier.get("claims", {}).items() if id_ not in picked}
    result, last = (how.ask or run)(topic, script, progress, stop, usable)
    if result.stopped:
        return result
    reject_differing(result, picked)
    if inside and last:
        keep(result, last, began, how.loaded, earlier.get("depends") if any(r.get("taken") for r in result.records) else None)
    if inside and not result.holds:
        certificates.STORE.delete(topic)
    if topic in how.first and result.holds:
        how.ready(result)
        rejections.end_round()
    return result


def reject_differing(result: Result, stored: dict):
    """Reject claims whose new record differs from the stored one, and in that case delete all stored records."""
    for record in result.records:
        one = stored.get(record["claim"]["id"])
        if one and claim_cache.differs(one, record):
            record.update(
                verdict="refused",
                message=settings.recheck.difference(f"{result.topic}#{record['claim']['id']}"),
                error_code="different-result",
            )
            claim_cache.STORE.clear()


def keep(result: Result, last: dict, began: int, loaded: int | None, earlier: Dependencies | None):
    """Store the topic's certificate if all its claims hold, and in either case the records of the claims that hold.

    Store neither if an input changed during the check; if all claims hold, add a problem that says so. Store no records of a script that
    imports snippets or is imported itself.
    """
    script, imported = result.script, [Path(p) for p in last["imported"]]
    depends, changed = certificates.depended_on(script, imported, began, last["libraries"], result.reads, earlier, loaded)
    durations.put(result.topic, {r["claim"]["id"]: r["seconds"] for r in result.records if not r.get("taken")})
    if result.holds and not changed:
        certificates.put(result.topic, result.title, [durations.without(r["claim"]) for r in result.records], depends)
    elif result.holds:
        result.problems.append(f"{script}: {', '.join(changed)} changed while it was checked; run the check again")
    if last["entangled"]:
        claim_cache.delete(result.topic)
    elif not changed:
        claim_cache.put(result.topic, result.records, depends)


def run(topic: str, script: Path, progress, stop: Event, before: dict, nice: int = 0):
    """Check a script in a separate process and read its records as they arrive.

    Return (result, last record). The last record is None if the process did not finish. `before` maps claims to the records of earlier
    checks.
    """
    result, last, late, garbled = Result(topic, script), None, False, False
    homes = looked_through_meanwhile()
    deadline = time.monotonic() + TIME_LIMIT
    with tempfile.NamedTemporaryFile("r", errors="replace") as said:
        records, sender = CONTEXT.Pipe(duplex=False)
        process = CONTEXT.Process(target=work, args=(nice, str(script), str(ROOT), sender, said.name, dict(os.environ), homes, before))
        process.start()
        sender.close()
        # The timer ends a process that stops in the middle of a record, for which `recv_bytes` would wait without end.
        waits = Timer(TIME_LIMIT + PATIENCE, end, [process])
        waits.daemon = True
        waits.start()
        try:
            while not last and not late and not stop.is_set():
                left = deadline - time.monotonic()
                if records.poll(max(0.0, min(left, PATIENCE))):
                    last = take(json.loads(records.recv_bytes(MOST_SAID)), result, progress)
                else:
                    late = left <= PATIENCE
        except EOFError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # the script itself wrote to the pipe
            garbled = True
        finally:
            waits.cancel()
        result.stopped = stop.is_set() and not last
        process.join(0 if late or result.stopped else 5)
        end(process)
        words = (said.read().strip().splitlines() or [""])[-1]
    if result.stopped:
        return result, None
    if late:
        result.problems.append(f"{script}: checking took longer than {TIME_LIMIT} s and was stopped; split it into smaller claims")
    elif garbled:
        result.problems.append(
            f"{script}: what its process says is no record of a check; let the script write to no file that it did not open"
        )
    elif not last:
        result.problems.append(f"{script}: the process that checked it died (exit {process.exitcode}){': ' + words if words else ''}")
    return result, last


def looked_through_meanwhile() -> dict:
    """Return the packages that contain each module. The process from which the others are forked loads its libraries meanwhile."""
    if CONTEXT.get_start_method() == "forkserver":
        forkserver.ensure_running()
    return dict(installed_packages.homes())


in_the_background = partial(run, nice=BEHIND)


def work(nice: int, *arguments):
    """Run the worker in the new process. It is imported here, so that the process that only waits does not load SymPy."""
    from . import worker

    end_with_parent()
    os.nice(nice)
    worker.main(*arguments)


def end_with_parent():
    """End this process as soon as its parent has ended, even if the parent was killed.

    Otherwise the fork server would go on as well, since it lives as long as the last process that it forked.
    """
    Thread(target=wait_for_parent, daemon=True).start()


def wait_for_parent():
    """Wait until the parent has ended, then end this process and its group."""
    multiprocessing.parent_process().join()
    try:
        os.killpg(os.getpid(), signal.SIGKILL)  # together with all processes that the script started
    except ProcessLookupError:
        os._exit(1)


def end(process):
    """End a script's process, and all processes that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.join()


def take(event: dict, result: Result, progress):
    """Add one of the worker's records to the result. Return the record if it is the last one, otherwise None."""
    kind = event.pop("event")
    if kind == "loaded":
        result.title, result.stated = event["title"], event["count"]
        progress(0, event["count"])
    elif kind == "claim":
        result.records.append(event)
        progress(1, 0)
    elif kind == "done":
        result.imported, result.reads = event["imported"], Reads(**event["read"])
        event = {name: event[name] for name in ("imported", "libraries", "entangled")}
    if kind == "done" and len(result.records) < result.stated:
        result.problems.append(f"{result.script}: {quantity(result.stated, 'claim')} stated, and only {len(result.records)} checked")
    if kind == "problem":
        result.problems.append(
            f"{result.script}:{event['line']}: {event['message']}" + (f"\n    {event['source']}" if event["source"] else "")
        )
    return event if kind == "done" else None
