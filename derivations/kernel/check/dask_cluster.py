"""Run tasks on a Dask cluster instead of in processes on this machine (`--cluster ADDRESS`).

The results of workers are trusted like those of this machine's processes. Therefore all workers must have the same files and the same
versions of libraries: each task carries a digest of them, and a worker with another digest rejects the task. If a worker dies, the
scheduler gives its task to another worker. If the cluster stops, the command ends, and finished results remain stored.
"""

from __future__ import annotations

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
from ..store import project_files
from ..store.dependencies import Reads, installed, variable, variable_called, versions
from ..store.store import digest
from . import runner
from .process_pool import of_this_machine

PATIENCE = 20  # seconds that a scheduler has to answer
START = "dask scheduler; then, in a checkout of this project on each machine: dask worker --no-nanny ADDRESS"
FOLDERS = ("derivations", "snippets")  # the folders whose files tasks depend on


class ClusterError(KernelError):
    """The cluster cannot be used; the message says what to do."""

    code = "unusable-cluster"


class OtherCheckout(ClusterError):
    """A worker has other files or libraries than this machine."""

    code = "different-checkout"


def checkout() -> dict[str, str]:
    """Return what tasks depend on: the hash of each file, and the versions of Python and the libraries, by name."""
    root = project_files.ROOT
    files = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): project_files.file_hash(path) for path in files} | versions()


def unlike(here: dict[str, str], there: dict[str, str]) -> list[str]:
    """Return the names of the files and libraries that differ between two checkouts."""
    return sorted(name for name in {**here, **there} if here.get(name) != there.get(name))


def on_a_worker(wanted: str, task: Callable, *arguments: Any) -> Any:
    """Run a task on a worker. Raise OtherCheckout unless the digest of the worker's checkout is `wanted`.

    Raise ClusterError if the worker is a daemon process, since the task may need processes of its own.
    """
    if multiprocessing.current_process().daemon:
        raise ClusterError(f"a worker that may not start processes can run no task; {START}", code="worker-broken")
    if digest(checkout()) != wanted:
        raise OtherCheckout("has other files, or other versions of libraries")
    return task(*arguments)


def in_a_process(task: Callable, *arguments: Any) -> Any:
    """Run a task in a process of the worker's pool. The worker itself runs tasks in threads, where time limits do not work."""
    return own_processes().submit(task, *arguments).result()


@cache
def own_processes() -> Executor:
    """Return the process pool of this worker, which is made on first use."""
    return of_this_machine(os.cpu_count() or 1)


class Asking(Executor):
    """An executor that runs tasks on the workers of a cluster. Each task carries the digest of this machine's checkout."""

    def __init__(self, client: Any):
        self.workers, self.state = client.get_executor(pure=False), digest(checkout())
        self.size = sum(client.nthreads().values())  # the number of tasks that run at the same time

    def submit(self, task: Callable, /, *arguments: Any, **keywords: Any) -> Future:
        """Run a task in a process that a worker starts."""
        return self.directly(in_a_process, partial(task, **keywords), *arguments)

    def directly(self, task: Callable, /, *arguments: Any) -> Future:
        """Run a task in a thread of a worker."""
        return self.workers.submit(on_a_worker, self.state, task, *arguments)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut down the executor without waiting for running tasks."""
        self.workers.shutdown(wait=False)


def processes(jobs: int, address: str = "") -> AbstractContextManager[Executor]:
    """Return an executor: the cluster at `address` if there is one, otherwise `jobs` processes on this machine."""
    return executor(address) if address else of_this_machine(jobs)


@contextmanager
def executor(address: str) -> Iterator[Asking]:
    """Connect to the cluster at an address, and yield its workers as an executor.

    Raise ClusterError if no scheduler answers, if there are no workers, if a worker has another checkout, or if the cluster stops.
    """
    try:
        from distributed import CancelledError, Client
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker, NoValidWorkerError
    except ImportError:
        raise ClusterError("a cluster needs Dask: pip install distributed", code="unusable-cluster") from None
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address} ({type(error).__name__}); start one: {START}", code="no-scheduler"
        ) from None
    with client:
        require_alike(client, address)
        try:
            with Asking(client) as workers:
                yield workers
        except (CancelledError, CommClosedError, KilledWorker, NoValidWorkerError) as error:
            raise ClusterError(
                f"the cluster at {address} went away ({type(error).__name__}); what was finished is kept, run the command again",
                code="cluster-lost",
            ) from None


def require_alike(client: Any, address: str) -> None:
    """Raise ClusterError unless there are workers and all have the same checkout as this machine."""
    here, said = checkout(), client.run(checkout, on_error="return")
    if not said:
        raise ClusterError(f"the cluster at {address} has no worker; start some: {START}", code="no-worker")
    for worker, there in sorted(said.items()):
        if not isinstance(there, dict):
            raise ClusterError(
                f"the worker {worker} cannot load this project ({type(there).__name__}: {there}); start it in a checkout of it",
                code="worker-broken",
            )
        if different := unlike(here, there):
            more = f" and {len(different) - 3} more" if len(different) > 3 else ""
            raise OtherCheckout(
                f"the worker {worker} has another checkout: {', '.join(different[:3])}{more} differ; bring both to the same commit"
            )


# Checking scripts on workers ----------------------------------------------------------------------------------------------------------


def asking(workers: Asking) -> Callable:
    """Return a function that checks a script on a worker, to be used instead of `runner.run`."""

    def ask(topic: str, script: Path, progress: Callable, stop: Any, before: dict) -> tuple:
        nonce = secrets.token_bytes()
        said = as_here(workers.directly(check_there, topic, project_files.named(script), before, nonce).result())
        progress(len(said["records"]), len(said["records"]))
        last, reads, variables = said.pop("last"), said.pop("reads"), said.pop("variables")
        result = runner.Result(topic, script, **said, reads=Reads(**reads))
        result.problems += [f"{script}: a worker checked it, and has another {name}" for name in unlike_there(last, variables, nonce)]
        return result, last

    return ask


def check_there(topic: str, script: str, before: dict, nonce: bytes) -> tuple[str, dict]:
    """Check a script on a worker. Return the root of the worker's checkout, and the result as plain values.

    Values of environment variables are returned as hashes with the key `nonce`.
    """
    result, last = runner.run(topic, Path(project_files.ROOT, script), lambda done, more: None, Event(), before)
    said = {part: getattr(result, part) for part in ("title", "records", "problems", "stated")}
    variables = {name: variable(name, nonce) for name in result.reads.variables}
    return str(project_files.ROOT), said | {"last": last, "reads": asdict(result.reads), "variables": variables}


def unlike_there(last: dict | None, variables: dict, nonce: bytes) -> list[str]:
    """Return the names of the libraries and variables that a worker's check read and that differ on this machine.

    `variables` holds hashes with the key `nonce`, so that workers do not send the values.
    """
    libraries = (last or {}).get("libraries", {})
    found = [name for name, version in libraries.items() if installed(name) != version]
    return sorted(found + [variable_called(name) for name, was in variables.items() if variable(name, nonce) != was])


def as_here(said: tuple[str, dict]) -> dict:
    """Return the result of `check_there` with the root of this checkout instead of the worker's in all paths."""
    there, result = (json.dumps(part) for part in said)
    here_ = json.dumps(str(project_files.ROOT))[1:-1]
    return json.loads(re.sub(rf"(?<![\w./-]){re.escape(there[1:-1])}(?=[/\"])", lambda m: here_, result))
