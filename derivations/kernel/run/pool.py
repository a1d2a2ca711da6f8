"""Processes of this machine that try mutants and random claims."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor

from . import runner, worker


def of_this_machine(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, mp_context=runner.CONTEXT, initializer=start)


def start() -> None:
    runner.end_with_parent()
    worker.limit_memory()
    worker.collect_seldom()  # trees and numbers come and go by the million, and none of them is held by a cycle
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
