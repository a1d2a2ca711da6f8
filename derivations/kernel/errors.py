"""The one error that every room may raise, what no room may hide, and how slips of a script are met: a name that does not exist, == between expressions."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from dis import opmap
from inspect import signature
from types import FrameType, TracebackType

VOCABULARY: list[str] = []  # the names that a script may use; the kernel's own `__init__` fills it


class KernelError(Exception):
    """Something the kernel refuses; the message says what, and what to do next."""


class Untracked(KernelError):
    """A script or a snippet does what could make its claims depend on something that is not tracked. Who calls one lets it through."""


def quantity(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 claim", "2 claims"."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def nearest(name: str, known: Iterable[str], has: str) -> str:
    """Which of the known names was probably meant, and which there are."""
    known = list(known)
    close = get_close_matches(name, known, n=1)
    return (f"did you mean {close[0]}? {has[0].upper()}{has[1:]} " if close else f"{has} ") + ", ".join(known)


# What a method or an operator of other libraries is called here.
INSTEAD = {
    "sum": "a sum is written total(x[i], i), with i = index('i', n)",
    "mean": "a mean is written total(x[i], i) / n, with i = index('i', n); an expectation E(x)",
    "var": "a variance is written Var(x)",
    "max": "the largest entry of a vector is written largest(x)",
    "amax": "the largest entry of a vector is written largest(x)",
    "abs": "an absolute value is written absolute(x)",
    "dot": "a product is written a @ b",
    "mm": "a product is written a @ b",
    "matmul": "a product is written a @ b",
    "t": "a transpose is written A.T",
    "mT": "a transpose is written A.T",
    "transpose": "a transpose is written A.T",
    "inv": "an inverse is written inverse(A)",
    "pow": "a power is written x**2",
    "grad": "a derivative is written diff(y, x)",
}

# By what Python says of an expression that is given to its own functions.
NOT_NUMBERS = {
    "bad operand type for abs()": INSTEAD["abs"],
    "must be real number, not Expr": "the functions of derivations.kernel take expressions: exp, log, sqrt, cos, sin, tanh",
}


def hint(error: BaseException) -> str:
    """Return Python's message, followed by what to write instead where that is known. The error was raised in a script's own line."""
    if isinstance(error, (NameError, ImportError)) and not isinstance(error, AttributeError):
        return unknown_name(error)
    if isinstance(error, AttributeError) and type(error.obj).__module__.startswith("derivations.kernel."):
        return unknown_attribute(error)
    if isinstance(error, TypeError):
        return misfit(str(error))
    return str(error)


def unknown_name(error: NameError | ImportError) -> str:
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


def unknown_attribute(error: AttributeError) -> str:
    name = error.name or ""
    if type(error.obj).__name__ == "Expr":
        if name in INSTEAD:
            return f"{error}; {INSTEAD[name]}"
        if name in VOCABULARY:
            return f"{error}; write {name}(...), which is a function"
        return f"{error}; {nearest(name, ['T', *VOCABULARY], 'there are')}"
    methods = [one for one in dir(error.obj) if not one.startswith("_") and callable(getattr(error.obj, one))]
    return f"{error}; {nearest(name, methods, 'it has')}"


def misfit(message: str) -> str:
    """Return the message of a TypeError. If a call does not fit one of the kernel's functions, add what the function takes."""
    for beginning, instead in NOT_NUMBERS.items():
        if message.startswith(beginning):
            return f"{message}; {instead}"
    name = message.partition("(")[0]
    function = getattr(sys.modules.get("derivations.kernel"), name, None) if name in VOCABULARY else None
    if function is None:
        return message
    plain = str(signature(function)).partition(" -> ")[0]
    purpose = (function.__doc__ or "").partition("\n")[0]
    return f"{message}; write {name}{re.sub(': [^,)]+', '', plain)}: {purpose[:1].lower()}{purpose[1:]}"


def in_a_script(trace: TracebackType | None) -> bool:
    """Return whether an error came up in a script's own line, and not in what that line called. Python's own import machinery is passed over."""
    last = ""
    while trace:
        if not trace.tb_frame.f_code.co_filename.startswith("<frozen"):
            last = trace.tb_frame.f_globals.get("__name__", "")
        trace = trace.tb_next
    return is_script(last)


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
