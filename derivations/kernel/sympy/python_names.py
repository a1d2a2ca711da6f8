"""Identifiers in a program: the names of the claim, changed where Python, SymPy or the program uses the same name."""

from __future__ import annotations

import builtins
import keyword

from .prelude_selection import names

# The names of SymPy that the translation itself writes; the prelude has others.
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
    """Return a name as a Python string literal."""
    return f'"{checked(name)}"'


def checked(name: str) -> str:
    """Return a name. Raise ValueError unless it is an ASCII identifier, so that no other text gets into a program."""
    if not (name.isidentifier() and name.isascii()):
        raise ValueError(f"{name!r} is no name")
    return name


class Names:
    """A one-to-one map from the things that a program names to identifiers."""

    def __init__(self) -> None:
        self.by_thing: dict[tuple[str, str], str] = {}
        self.used = set(TAKEN | names())

    def of(self, kind: str, name: str) -> str:
        """Return the identifier of a thing. Underscores are appended if the name is in use; no name of a claim ends in one."""
        if (kind, name) not in self.by_thing:
            identifier = checked(name)
            while identifier in self.used:
                identifier += "_"
            self.used.add(identifier)
            self.by_thing[kind, name] = identifier
        return self.by_thing[kind, name]
