"""Tasks on other machines: a Dask cluster in the place of this machine's processes (`--cluster ADDRESS`).

A worker is trusted as a process of this machine is, and so has to have the same checkout and the same libraries: each task says what this
machine has, and a worker that has something else refuses it. What becomes of a task does not depend on who ran it. A task whose worker dies
is given to another one; where the cluster goes, the command ends, and what was finished is kept.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import re
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from threading import Event
from typing import Any

from ..errors import KernelError
from . import certificates, inputs, runner
from .pool import of_this_machine

PATIENCE = 20  # seconds until a scheduler has to answer
START = "dask scheduler; then, in a checkout of this project on each machine: dask worker --no-nanny ADDRESS"
FOLDERS = ("derivations", "snippets")  # what tasks are made of


class ClusterError(KernelError):
    """A cluster that cannot be used; the message says what to do."""


class OtherCheckout(ClusterError):
    """A worker has something else than who asks it."""


def checkout() -> dict[str, str]:
    """What tasks depend on: a hash of each file, and versions."""
    root = certificates.ROOT
    files = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): certificates.file_hash(path) for path in files} | certificates.versions()


def digest(state: dict[str, str]) -> str:
    return hashlib.sha256(repr(sorted(state.items())).encode()).hexdigest()


def unlike(here: dict[str, str], there: dict[str, str]) -> list[str]:
    return sorted(name for name in {**here, **there} if here.get(name) != there.get(name))


def on_a_worker(wanted: str, task: Callable, *arguments: Any) -> Any:
    """Run a task, if this machine has what the other one has."""
    if multiprocessing.current_process().daemon:
        raise ClusterError(f"a worker that may not start processes can run no task; {START}")
    if digest(checkout()) != wanted:
        raise OtherCheckout("has other files, or other versions of libraries")
    return task(*arguments)


def in_a_process(task: Callable, *arguments: Any) -> Any:
    """Run a task as this machine's own are, in a process of its own kind: a worker is a thread, and a limit of time needs more."""
    return own_processes().submit(task, *arguments).result()


@cache
def own_processes() -> Executor:
    return of_this_machine(os.cpu_count() or 1)


class Asking(Executor):
    """The workers of a cluster, as an executor; each task says what it depends on."""

    def __init__(self, client: Any):
        self.workers, self.state = client.get_executor(pure=False), digest(checkout())
        self.size = sum(client.nthreads().values())  # tasks at once

    def submit(self, task: Callable, /, *arguments: Any, **keywords: Any) -> Future:
        return self.directly(in_a_process, partial(task, **keywords), *arguments)

    def directly(self, task: Callable, /, *arguments: Any) -> Future:
        return self.workers.submit(on_a_worker, self.state, task, *arguments)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.workers.shutdown(wait=False)


def processes(jobs: int, address: str = "") -> AbstractContextManager[Executor]:
    """Processes of this machine, or the cluster at an address."""
    return executor(address) if address else of_this_machine(jobs)


@contextmanager
def executor(address: str) -> Iterator[Asking]:
    """The cluster at an address. ClusterError where none answers, none has a worker, or one has another checkout; and where it goes."""
    try:
        from distributed import CancelledError, Client
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker, NoValidWorkerError
    except ImportError:
        raise ClusterError("a cluster needs Dask: pip install distributed") from None
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address} ({type(error).__name__}); start one: {START}") from None
    with client:
        require_alike(client, address)
        try:
            with Asking(client) as workers:
                yield workers
        except (CancelledError, CommClosedError, KilledWorker, NoValidWorkerError) as error:
            raise ClusterError(
                f"the cluster at {address} went away ({type(error).__name__}); what was finished is kept, run the command again"
            ) from None


def require_alike(client: Any, address: str) -> None:
    """ClusterError unless there are workers, and all have what this machine has."""
    here, said = checkout(), client.run(checkout, on_error="return")
    if not said:
        raise ClusterError(f"the cluster at {address} has no worker; start some: {START}")
    for worker, there in sorted(said.items()):
        if not isinstance(there, dict):
            raise ClusterError(
                f"the worker {worker} cannot load this project ({type(there).__name__}: {there}); start it in a checkout of it"
            )
        if different := unlike(here, there):
            more = f" and {len(different) - 3} more" if len(different) > 3 else ""
            raise OtherCheckout(
                f"the worker {worker} has another checkout: {', '.join(different[:3])}{more} differ; bring both to the same commit"
            )


# What a worker does ----------------------------------------------------------------------------------------------------------


def asking(workers: Asking) -> Callable:
    """What checks a script on a worker, in the place of `runner.run`."""

    def ask(topic: str, script: Path, progress: Callable, stop: Any, before: dict, replay: int = 0) -> tuple:
        nonce = secrets.token_bytes()
        said = as_here(workers.directly(check_there, topic, certificates.named(script), before, replay, nonce).result())
        progress(len(said["records"]), len(said["records"]))
        last, reads, variables = said.pop("last"), said.pop("reads"), said.pop("variables")
        result = runner.Result(topic, script, **said, reads=inputs.Reads(**reads))
        result.problems += [f"{script}: a worker checked it, and has another {name}" for name in unlike_there(last, variables, nonce)]
        return result, last

    return ask


def check_there(topic: str, script: str, before: dict, replay: int, nonce: bytes) -> tuple[str, dict]:
    """A check of a script of this checkout, as plain values, and where this checkout is."""
    result, last = runner.run(topic, Path(certificates.ROOT, script), lambda done, more: None, Event(), before, replay)
    said = {part: getattr(result, part) for part in ("title", "records", "problems", "stated")}
    variables = {name: inputs.variable(name, nonce) for name in result.reads.variables}
    return str(certificates.ROOT), said | {"last": last, "reads": asdict(result.reads), "variables": variables}


def unlike_there(last: dict | None, variables: dict, nonce: bytes) -> list[str]:
    """What the check read that is otherwise here: libraries, and variables, which are compared without being told."""
    libraries = (last or {}).get("libraries", {})
    found = [name for name, version in libraries.items() if certificates.installed(name) != version]
    return sorted(found + [certificates.variable_called(name) for name, was in variables.items() if inputs.variable(name, nonce) != was])


def as_here(said: tuple[str, dict]) -> dict:
    """The same with this checkout in the place of the worker's, wherever a path begins with it."""
    there, result = (json.dumps(part) for part in said)
    here_ = json.dumps(str(certificates.ROOT))[1:-1]
    return json.loads(re.sub(rf"(?<![\w./-]){re.escape(there[1:-1])}(?=[/\"])", lambda m: here_, result))
