"""SymPy's expressions are read as trees. Its reader is loaded with the first of them, for SymPy takes a while."""

from __future__ import annotations

import sys
from typing import Any

from ..core.expr import READERS, Expr, Reader


def knows(value: Any) -> bool:
    """Is it an object of SymPy's, which has to be loaded for there to be one?"""
    return "sympy" in sys.modules and isinstance(value, sys.modules["sympy"].Basic) or is_explicit(value)


def is_explicit(value: Any) -> bool:
    """A mutable Matrix is none of SymPy's Basic."""
    return "sympy" in sys.modules and isinstance(value, sys.modules["sympy"].MatrixBase)


def is_relation(value: Any) -> bool:
    return (
        knows(value) and not isinstance(value, sys.modules["sympy"].Expr) and isinstance(value, sys.modules["sympy"].logic.boolalg.Boolean)
    )


def expression(value: Any) -> Expr:
    from .from_sympy import convert

    return convert(value)


def held(tree: Expr) -> Any:
    from .held import hold

    return hold(tree)


READERS.append(Reader(knows, expression))
Expr._sympy_ = held  # type: ignore[attr-defined]  # by this name SymPy asks what stands in its expressions for another's object
