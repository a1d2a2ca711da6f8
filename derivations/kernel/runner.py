"""Checking scripts: from the cache where a certificate still holds, else each in a fresh process, several at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from . import certificates
from .certificates import ROOT, CertificateError

TIME_LIMIT = 300  # seconds a script may take

# Each script has a process of its own, forked from one that has SymPy loaded and has run nothing yet.
CONTEXT = multiprocessing.get_context("forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn")
if CONTEXT.get_start_method() == "forkserver":
    CONTEXT.set_forkserver_preload(["derivations.kernel.worker"])
os.environ["PYTHONHASHSEED"] = "0"  # for the processes started from here: a check gives the same messages every time


@dataclass
class Result:
    """What came of one script: a record a claim, and problems that belong to no claim."""

    topic: str
    script: Path
    title: str = ""
    records: list = field(default_factory=list)
    problems: list = field(default_factory=list)  # "file:line: message"
    cached: bool = False
    stated: int = 0

    @property
    def holds(self) -> bool:
        return bool(self.records) and not self.problems and all(r["verdict"] == "holds" for r in self.records)


def find(targets: tuple) -> list:
    """(topic, script) pairs for topics, chapters and paths; all topics if none is named."""
    known = certificates.topics()
    if not targets:
        return [(t, ROOT / "derivations" / f"{t}.py") for t in known]
    found = []
    for target in targets:
        path = Path(target)
        if target in known:
            matches = [target]
        elif any(t.startswith(target.rstrip("/") + "/") for t in known):
            matches = [t for t in known if t.startswith(target.rstrip("/") + "/")]
        elif path.is_file():
            inside = [t for t in known if (ROOT / "derivations" / f"{t}.py") == path.resolve()]
            found += [(t, path.resolve()) for t in inside] or [(str(path), path.resolve())]
            continue
        else:
            raise LookupError(f"'{target}' is neither a topic, nor a chapter, nor a script; python -m derivations list shows the topics")
        found += [(t, ROOT / "derivations" / f"{t}.py") for t in matches]
    return list(dict.fromkeys(found))


def check_all(targets: list, fresh: bool, jobs: int, progress) -> list:
    """Results in the order of targets. progress(done, total) is called as claims are settled."""
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        results = list(pool.map(lambda t: check_script(*t, fresh, progress), targets))
    check_uses(results)
    return results


def check_uses(results: list):
    """Add a problem for each use of a claim of another topic that is not there, and for topics that use each other in a circle."""
    ids = {r.topic: {record["claim"]["id"] for record in r.records} for r in results}
    links = {}
    for result in results:
        for record in result.records:
            for use in record["claim"].get("uses", ()):
                topic, mark, id_ = use.partition("#")
                if not mark:
                    continue
                if topic not in ids:
                    ids[topic] = stored_ids(topic)
                if id_ not in ids[topic]:
                    refuse(result, record, f"it uses '{use}', and there is no such claim that holds")
                links.setdefault(result.topic, set()).add(topic)
        for record in result.records:
            if "#" in "".join(record["claim"].get("uses", ())) and circle(links, result.topic):
                refuse(result, record, "its uses lead back to its own topic: " + " → ".join(circle(links, result.topic)))


def refuse(result: Result, record: dict, message: str):
    record.update(verdict="refused", message=message)
    certificates.remove(result.topic)


def stored_ids(topic: str) -> set:
    try:
        return {c["id"] for c in certificates.load(topic)["claims"]}
    except CertificateError:
        return set()


def circle(links: dict, start: str) -> list:
    """A way along the links from start back to it, or []."""
    ways = [[start]]
    while ways:
        way = ways.pop()
        for following in sorted(links.get(way[-1], ())):
            if following == start:
                return [*way, start]
            if following not in way:
                ways.append([*way, following])
    return []


def check_script(topic: str, script: Path, fresh: bool, progress) -> Result:
    inside = certificates.is_topic(topic)
    if inside and not fresh:
        try:
            content = certificates.load(topic)
            progress(len(content["claims"]), len(content["claims"]))
            records = [{"verdict": "holds", "message": "", "claim": c, "seconds": sum(w["seconds"] for w in c["witnesses"])} for c in content["claims"]]
            return Result(topic, script, content["title"], records, cached=True)
        except CertificateError:
            pass
    result, imported = run(topic, script, progress)
    if inside and result.holds:
        certificates.save(topic, script, result.title, [r["claim"] for r in result.records], [Path(p) for p in imported])
    elif inside:
        certificates.remove(topic)
    return result


def run(topic: str, script: Path, progress):
    """Check a script in a process of its own, reading its records as they come."""
    result, imported, finished, late = Result(topic, script), [], False, False
    deadline = time.monotonic() + TIME_LIMIT
    with tempfile.NamedTemporaryFile("r", errors="replace") as said:
        records, sender = CONTEXT.Pipe(duplex=False)
        process = CONTEXT.Process(target=work, args=(str(script), str(ROOT), sender, said.name))
        process.start()
        sender.close()
        try:
            while not finished and not late:
                late = not records.poll(max(0.0, deadline - time.monotonic()))
                if not late:
                    imported, finished = take(records.recv(), result, progress)
        except EOFError:
            pass
        process.join(0 if late else 5)
        end(process)
        last = (said.read().strip().splitlines() or [""])[-1]
    if late:
        result.problems.append(f"{script}: checking took longer than {TIME_LIMIT} s and was stopped; split it into smaller claims")
    elif not finished:
        result.problems.append(f"{script}: the process that checked it died (exit {process.exitcode}){': ' + last if last else ''}")
    return result, imported


def work(*arguments):
    """In the new process. The worker, and SymPy with it, is not loaded in the process that only waits."""
    from . import worker
    worker.main(*arguments)


def end(process):
    """End a script's process, and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.join()


def take(event: dict, result: Result, progress):
    """One record of the worker's into the result; (files imported, True) at the last."""
    kind = event.pop("event")
    if kind == "loaded":
        result.title, result.stated = event["title"], event["count"]
        progress(0, event["count"])
    elif kind == "claim":
        result.records.append(event)
        progress(1, 0)
    elif kind == "done" and len(result.records) < result.stated:
        result.problems.append(f"{result.script}: {result.stated} claims are stated, and {len(result.records)} were checked")
    elif kind == "problem":
        result.problems.append(f"{result.script}:{event['line']}: {event['message']}" + (f"\n    {event['source']}" if event["source"] else ""))
    return event.get("imported", []), kind == "done"
