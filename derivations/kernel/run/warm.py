"""What the process has done before that the scripts' processes are forked from: what takes long, and is the same for all of them."""

import ctypes
import sys

from ..pytorch import witness as pytorch  # noqa: F401
from ..sympy import program_runner
from ..sympy import witness as sympy  # noqa: F401
from ..traced import witness as traced  # noqa: F401
from . import worker  # noqa: F401

TRIM, PAD, APART = -1, -2, -3  # of mallopt: M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD
KEPT = {TRIM: 2**31 - 1, PAD: 2**26, APART: 2**30}  # bytes


def keep_memory() -> None:
    """Have memory that is given back be used again, not asked of the system anew, which clears each page of it: a witness makes and drops
    tensors of a few hundred kilobytes by the thousand."""
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)):
        for what, size in KEPT.items():
            mallopt(what, size)


keep_memory()
program_runner.compile_prelude()
