"""The exception hook for scripts that run on their own: errors of the kernel print only a message with file and line."""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType

from ..core.claims import Rejected
from ..errors import KernelError, explain, raised_in_script


def print_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an error of the kernel, or a mistake in a line of a script, without a traceback. Print any other error as Python does."""
    if isinstance(error, (NameError, ImportError, AttributeError, TypeError)) and raised_in_script(trace):
        print(f"{caller_of(trace)}: {explain(error)}", file=sys.stderr)
    elif isinstance(error, KernelError):
        print(error if isinstance(error, Rejected) else f"{caller_of(trace)}: {error}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


def caller_of(trace: TracebackType | None) -> str:
    """Return the file and line of the innermost frame outside the kernel."""
    kernel, where = str(Path(__file__).parents[1]), ""
    while trace:
        if not trace.tb_frame.f_code.co_filename.startswith((kernel, "<frozen")):
            where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return where
