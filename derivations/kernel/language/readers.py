"""SymPy's expressions are read as trees. Its reader is loaded with the first of them, for SymPy takes a while."""

from __future__ import annotations

from ..core.expr import READERS, Expr, Reader


def knows(value) -> bool:
    return type(value).__module__.partition(".")[0] == "sympy"


def expression(value) -> Expr:
    from .from_sympy import convert

    return convert(value)


def equation(value) -> tuple:
    from .from_sympy import sides

    return sides(value)


READERS.append(Reader(knows, expression, equation))
