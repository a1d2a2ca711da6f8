"""Names in a program: a claim's own where Python has no other use for them."""

from __future__ import annotations

import builtins
import keyword

from .prelude_selection import names

# What the translation itself may write, beside what is carried.
SYMPY = frozenset(
    [
        "Abs",
        "Add",
        "Array",
        "Function",
        "I",
        "Integer",
        "KroneckerDelta",
        "Matrix",
        "Rational",
        "Symbol",
        "cos",
        "diff",
        "exp",
        "eye",
        "ones",
        "sin",
        "tanh",
        "zeros",
    ]
)
TAKEN = SYMPY | {
    *keyword.kwlist,
    *keyword.softkwlist,
    *dir(builtins),
    "claim",
    "given",
    "assumed",
    "verdict",
    "known",
    "numbers",
    "product",
    "sympy",
}


def quoted(name: str) -> str:
    """A name as a Python string."""
    return f'"{checked(name)}"'


def checked(name: str) -> str:
    if not (name.isidentifier() and name.isascii()):
        raise ValueError(f"{name!r} is no name")
    return name


class Names:
    """One identifier for each thing that is named, and no identifier for two."""

    def __init__(self):
        self.by_thing, self.used = {}, set(TAKEN | names())

    def of(self, kind: str, name: str) -> str:
        """The identifier of a thing; underscores are added where Python, SymPy or the program uses the name. No claim's name ends in one."""
        if (kind, name) not in self.by_thing:
            free = checked(name)
            while free in self.used:
                free += "_"
            self.used.add(free)
            self.by_thing[kind, name] = free
        return self.by_thing[kind, name]
