"""How an error of the kernel ends a script that runs on its own: with its message alone, naming file and line."""

from __future__ import annotations

import sys
from pathlib import Path

from ..core.claims import Refused
from ..errors import KernelError


def plain(kind, error, trace):
    if not issubclass(kind, KernelError):
        return sys.__excepthook__(kind, error, trace)
    print(error if isinstance(error, Refused) else f"{caller_of(trace)}: {error}", file=sys.stderr)


def caller_of(trace) -> str:
    """File and line of the last frame outside the kernel."""
    kernel, where = str(Path(__file__).parents[1]), ""
    while trace:
        if not trace.tb_frame.f_code.co_filename.startswith(kernel):
            where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return where
