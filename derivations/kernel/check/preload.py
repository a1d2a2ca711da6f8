"""Prepare the process from which the scripts' processes are forked: load and compile everything slow that they all need."""

import ctypes
import sys

from ..pytorch import witness as pytorch  # noqa: F401
from ..sympy import program_runner
from ..sympy import witness as sympy  # noqa: F401
from ..traced import witness as traced  # noqa: F401
from . import worker  # noqa: F401

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3  # parameters of mallopt
MALLOPT = {M_TRIM_THRESHOLD: 2**31 - 1, M_TOP_PAD: 2**26, M_MMAP_THRESHOLD: 2**30}  # bytes


def keep_memory() -> None:
    """Make the allocator reuse freed memory instead of returning it to the system, which must clear each page before another use.

    Witnesses create and free thousands of tensors of a few hundred kilobytes each.
    """
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)):
        for parameter, size in MALLOPT.items():
            mallopt(parameter, size)


keep_memory()
program_runner.compile_prelude()
