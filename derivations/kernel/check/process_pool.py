"""Start the processes on this machine that try mutants and random claims."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor

from ..script.loading import collect_garbage_rarely
from . import runner, worker


def local_pool(jobs: int) -> ProcessPoolExecutor:
    """Return a pool of `jobs` processes."""
    return ProcessPoolExecutor(jobs, mp_context=runner.CONTEXT, initializer=prepare_process)


def prepare_process() -> None:
    """Prepare a new process of the pool: limit its memory, make it end with its parent, and discard its output."""
    runner.end_with_parent()
    worker.limit_memory()
    collect_garbage_rarely()  # there are millions of short-lived trees and numbers, but no reference cycles
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
