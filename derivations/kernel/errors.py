"""The base class of the kernel's errors, and advice for common mistakes in scripts, such as a misspelt name or == between expressions."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from dis import opmap
from inspect import signature
from types import FrameType, TracebackType

VOCABULARY: list[str] = []  # the names that a script may use; the `__init__` of the kernel fills it


class KernelError(Exception):
    """An error in a script or a claim. The message says what is wrong and what to do next."""


def quantity(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, in the plural if needed: "1 claim", "2 claims"."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def suggest_names(name: str, known: Iterable[str], has: str) -> str:
    """Return a text that suggests the closest known name, if one is close, and then lists all. `has` introduces the list, as "it takes"."""
    known = list(known)
    close = get_close_matches(name, known, n=1)
    return (f"did you mean {close[0]}? {has[0].upper()}{has[1:]} " if close else f"{has} ") + ", ".join(known)


# The methods of other libraries, and what to write instead.
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

# The beginnings of the messages of Python's own functions when they get an expression, and what to write instead.
NOT_NUMBERS = {
    "bad operand type for abs()": INSTEAD["abs"],
    "must be real number, not Expr": "the functions of derivations.kernel take expressions: exp, log, sqrt, cos, sin, tanh",
}


def explain(error: BaseException) -> str:
    """Return the message of an error that a line of a script raised, followed by what to write instead, if that is known."""
    if isinstance(error, (NameError, ImportError)) and not isinstance(error, AttributeError):
        return unknown_name(error)
    if isinstance(error, AttributeError) and type(error.obj).__module__.startswith("derivations.kernel."):
        return unknown_attribute(error)
    if isinstance(error, TypeError):
        return explain_type_error(str(error))
    return str(error)


def unknown_name(error: NameError | ImportError) -> str:
    """Return the message of an error about a name that does not exist, with the name that was probably meant."""
    match = re.search(r"name '(\w+)'", str(error))
    name = match[1] if match else ""
    if isinstance(error, ImportError):
        if error.name != "derivations.kernel" or not match:
            return str(error)
        return f"derivations.kernel has no {name}; {suggest_names(name, VOCABULARY, 'it has')}"
    if name in VOCABULARY:
        return f"{error}; write 'from derivations.kernel import {name}'"
    if get_close_matches(name, VOCABULARY, n=1):
        return f"{error}; {suggest_names(name, VOCABULARY, 'the kernel has')}"
    return f"{error}; it is used before anything has this name"


def unknown_attribute(error: AttributeError) -> str:
    """Return the message of an error about an attribute that does not exist, with what to write instead."""
    name = error.name or ""
    if type(error.obj).__name__ == "Expr":
        if name in INSTEAD:
            return f"{error}; {INSTEAD[name]}"
        if name in VOCABULARY:
            return f"{error}; write {name}(...), which is a function"
        return f"{error}; {suggest_names(name, ['T', *VOCABULARY], 'there are')}"
    methods = [method for method in dir(error.obj) if not method.startswith("_") and callable(getattr(error.obj, method))]
    return f"{error}; {suggest_names(name, methods, 'it has')}"


def explain_type_error(message: str) -> str:
    """Return the message of a TypeError. If it is about a call of one of the kernel's functions, add the signature and the purpose."""
    for prefix, instead in NOT_NUMBERS.items():
        if message.startswith(prefix):
            return f"{message}; {instead}"
    name = message.partition("(")[0]
    function = getattr(sys.modules.get("derivations.kernel"), name, None) if name in VOCABULARY else None
    if function is None:
        return message
    plain = str(signature(function)).partition(" -> ")[0]
    purpose = (function.__doc__ or "").partition("\n")[0]
    return f"{message}; write {name}{re.sub(': [^,)]+', '', plain)}: {purpose[:1].lower()}{purpose[1:]}"


def raised_in_script(trace: TracebackType | None) -> bool:
    """Return whether a line of a script raised the error itself, rather than code that it called. Python's import machinery is ignored."""
    last = ""
    while trace:
        if not trace.tb_frame.f_code.co_filename.startswith("<frozen"):
            last = trace.tb_frame.f_globals.get("__name__", "")
        trace = trace.tb_next
    return is_script(last)


class Scripts:
    """The state that decides whether a comparison of expressions is an error. `watched` is true while scripts may run."""

    watched = True

    def check_comparison(self, frame: FrameType) -> None:
        """Raise KernelError if the frame is at an == or != of a script, whose author means values while Python compares trees.

        Looking a symbol up in a dictionary compares trees as well, so only the operator is an error.
        """
        if is_script(frame.f_globals.get("__name__", "")) and frame.f_code.co_code[frame.f_lasti] == opmap["COMPARE_OP"]:
            raise KernelError(
                "== and != compare trees here, not values, so they are refused. For a Kronecker delta write eye(n)[i, l]; "
                "to claim that two sides are equal write derivation.identity(id, left, right), or derivation.refute that they are not"
            )


def is_script(module: str) -> bool:
    """Return whether a module of this name is a script: run by `check`, run on its own, or imported by another script."""
    in_topics = module.startswith("derivations.") and not module.startswith("derivations.kernel")
    return in_topics or module in ("derivation", "__main__")


scripts = Scripts()
