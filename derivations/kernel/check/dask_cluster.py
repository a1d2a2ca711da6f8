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
from ..store.dependencies import Reads, describe_variable, hash_variable, installed_version, library_versions
from ..store.store import digest
from . import runner
from .process_pool import local_pool

CONNECT_TIMEOUT = 20  # seconds
HOW_TO_START = "dask scheduler; then, in a checkout of this project on each machine: dask worker --no-nanny ADDRESS"
FOLDERS = ("derivations", "snippets")  # the folders whose files tasks depend on


class ClusterError(KernelError):
    """The cluster cannot be used; the message says what to do."""

    code = "unusable-cluster"


class CheckoutMismatch(ClusterError):
    """A worker has other files or libraries than this machine."""

    code = "different-checkout"


def describe_checkout() -> dict[str, str]:
    """Return what tasks depend on: the hash of each file, and the versions of Python and the libraries, by name."""
    root = project_files.ROOT
    files = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): project_files.file_hash(path) for path in files} | library_versions()


def find_differences(first: dict[str, str], second: dict[str, str]) -> list[str]:
    """Return the names of the files and libraries that differ between two checkouts."""
    return sorted(name for name in {**first, **second} if first.get(name) != second.get(name))


def run_on_worker(expected: str, task: Callable, *arguments: Any) -> Any:
    """Run a task on a worker. Raise CheckoutMismatch unless the digest of the worker's checkout is `expected`.

    Raise ClusterError if the worker is a daemon process, since such a process cannot start the processes that the task may need.
    """
    if multiprocessing.current_process().daemon:
        raise ClusterError(f"a worker that cannot start processes cannot run a task; {HOW_TO_START}", code="worker-broken")
    if digest(describe_checkout()) != expected:
        raise CheckoutMismatch("has other files, or other versions of libraries")
    return task(*arguments)


def run_in_process(task: Callable, *arguments: Any) -> Any:
    """Run a task in a process of the worker's pool. The worker itself runs tasks in threads, in which time limits do not work."""
    return worker_pool().submit(task, *arguments).result()


@cache
def worker_pool() -> Executor:
    """Return the process pool of this worker, which is created on first use."""
    return local_pool(os.cpu_count() or 1)


class ClusterExecutor(Executor):
    """An executor that runs tasks on the workers of a cluster. Each task carries the digest of this machine's checkout."""

    def __init__(self, client: Any):
        self.workers, self.checkout = client.get_executor(pure=False), digest(describe_checkout())
        self.size = sum(client.nthreads().values())  # the number of tasks that run at the same time

    def submit(self, task: Callable, /, *arguments: Any, **keywords: Any) -> Future:
        """Run a task in a process that a worker starts."""
        return self.submit_to_thread(run_in_process, partial(task, **keywords), *arguments)

    def submit_to_thread(self, task: Callable, /, *arguments: Any) -> Future:
        """Run a task in a thread of a worker."""
        return self.workers.submit(run_on_worker, self.checkout, task, *arguments)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut down the executor without waiting for running tasks."""
        self.workers.shutdown(wait=False)


def open_executor(jobs: int, address: str = "") -> AbstractContextManager[Executor]:
    """Return an executor: the cluster at `address` if it is not empty, otherwise `jobs` processes on this machine."""
    return connect(address) if address else local_pool(jobs)


@contextmanager
def connect(address: str) -> Iterator[ClusterExecutor]:
    """Connect to the cluster at an address, and yield its workers as an executor.

    Raise ClusterError if no scheduler answers, if there are no workers, if a worker's checkout differs, or if the cluster stops.
    """
    try:
        from distributed import CancelledError, Client
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker, NoValidWorkerError
    except ImportError:
        raise ClusterError("a cluster needs Dask: pip install distributed", code="unusable-cluster") from None
    try:
        client = Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address} ({type(error).__name__}); start one: {HOW_TO_START}", code="no-scheduler"
        ) from None
    with client:
        require_same_checkout(client, address)
        try:
            with ClusterExecutor(client) as workers:
                yield workers
        except (CancelledError, CommClosedError, KilledWorker, NoValidWorkerError) as error:
            raise ClusterError(
                f"the cluster at {address} stopped ({type(error).__name__}); finished results are stored, so run the command again",
                code="cluster-lost",
            ) from None


def require_same_checkout(client: Any, address: str) -> None:
    """Raise ClusterError unless there are workers and all have the same checkout as this machine."""
    own, checkouts = describe_checkout(), client.run(describe_checkout, on_error="return")
    if not checkouts:
        raise ClusterError(f"the cluster at {address} has no worker; start some: {HOW_TO_START}", code="no-worker")
    for worker, checkout in sorted(checkouts.items()):
        if not isinstance(checkout, dict):
            raise ClusterError(
                f"the worker {worker} cannot load this project ({type(checkout).__name__}: {checkout}); start it in a checkout of it",
                code="worker-broken",
            )
        if different := find_differences(own, checkout):
            more = f" and {len(different) - 3} more" if len(different) > 3 else ""
            raise CheckoutMismatch(
                f"the worker {worker} has another checkout: {', '.join(different[:3])}{more} differ; bring both to the same commit"
            )


# Checking scripts on workers ----------------------------------------------------------------------------------------------------------


def make_cluster_check(workers: ClusterExecutor) -> Callable:
    """Return a function that checks a script on a worker, to be used instead of `runner.run_worker`."""

    def check(topic: str, script: Path, progress: runner.Progress, stop: Event, earlier: dict) -> tuple[runner.Result, dict | None]:
        key = secrets.token_bytes()
        future = workers.submit_to_thread(check_script_on_worker, topic, project_files.name_of(script), earlier, key)
        content = replace_root(*future.result())
        progress(len(content["records"]), len(content["records"]))
        last, reads, variables = content.pop("last"), content.pop("reads"), content.pop("variables")
        result = runner.Result(topic, script, **content, reads=Reads(**reads))
        differences = find_input_differences(last, variables, key)
        result.problems += [f"{script}: a worker checked it, and has another {name}" for name in differences]
        return result, last

    return check


def check_script_on_worker(topic: str, script: str, earlier: dict, key: bytes) -> tuple[str, dict]:
    """Check a script on a worker. Return the root of the worker's checkout, and the result as JSON values.

    The values of environment variables are returned as hashes with this key.
    """
    result, last = runner.run_worker(topic, Path(project_files.ROOT, script), lambda done, more: None, Event(), earlier)
    content = {name: getattr(result, name) for name in ("title", "records", "problems", "stated")}
    variables = {name: hash_variable(name, key) for name in result.reads.variables}
    return str(project_files.ROOT), content | {"last": last, "reads": asdict(result.reads), "variables": variables}


def find_input_differences(last: dict | None, variables: dict[str, str], key: bytes) -> list[str]:
    """Return the names of the libraries and variables that a worker's check read and that differ on this machine.

    `variables` contains hashes with this key, so that workers need not send the values.
    """
    libraries = (last or {}).get("libraries", {})
    found = [name for name, version in libraries.items() if installed_version(name) != version]
    return sorted(found + [describe_variable(name) for name, hashed in variables.items() if hash_variable(name, key) != hashed])


def replace_root(root: str, content: dict) -> dict:
    """Return the content with the root of this checkout in all paths instead of `root`, the root of a worker's checkout."""
    other_root, own_root = (json.dumps(path)[1:-1] for path in (root, str(project_files.ROOT)))
    return json.loads(re.sub(rf"(?<![\w./-]){re.escape(other_root)}(?=[/\"])", lambda match: own_root, json.dumps(content)))
