"""The one error that every room may raise, and how slips of a script are met: a name that does not exist, == between expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from dis import opmap
from types import FrameType

VOCABULARY: list[str] = []  # the names that a script may use; the kernel's own `__init__` fills it


class KernelError(Exception):
    """Something the kernel refuses; the message says what, and what to do next."""


def nearest(name: str, known: Iterable[str], has: str) -> str:
    """Which of the known names was probably meant, and which there are."""
    known = list(known)
    close = get_close_matches(name, known, n=1)
    return (f"did you mean {close[0]}? {has[0].upper()}{has[1:]} " if close else f"{has} ") + ", ".join(known)


def unknown_name(error: NameError | ImportError) -> str:
    """What Python says of a name that a script uses and nothing defines, and what to write in its place."""
    found = re.search(r"name '(\w+)'", str(error))
    name = found[1] if found else ""
    if isinstance(error, ImportError):
        if error.name != "derivations.kernel" or not found:
            return str(error)
        return f"derivations.kernel has no {name}; {nearest(name, VOCABULARY, 'it has')}"
    if name in VOCABULARY:
        return f"{error}; write 'from derivations.kernel import {name}'"
    if get_close_matches(name, VOCABULARY, n=1):
        return f"{error}; {nearest(name, VOCABULARY, 'the kernel has')}"
    return f"{error}; it is used before anything has this name"


class Scripts:
    """While a script may be stating its claims, == between expressions is refused there. What checks them afterwards compares trees
    all the time, and need not be watched."""

    watched = True

    def refuse_comparison(self, frame: FrameType) -> None:
        """Refuse == and != written in a script, which means values and would be told about trees.

        Looking a symbol up in a dictionary compares as well, so only the operator is refused.
        """
        if is_script(frame.f_globals.get("__name__", "")) and frame.f_code.co_code[frame.f_lasti] == opmap["COMPARE_OP"]:
            raise KernelError(
                "== and != compare trees here, not values, so they are refused. For a Kronecker delta write eye(n)[i, l]; "
                "to claim that two sides are equal write derivation.identity(id, left, right), or derivation.refute that they are not"
            )


def is_script(module: str) -> bool:
    """Whether a module of this name is a script: run by `check`, run on its own, or imported by one of those."""
    ours = module.startswith("derivations.") and not module.startswith("derivations.kernel")
    return ours or module in ("derivation", "__main__")


scripts = Scripts()
