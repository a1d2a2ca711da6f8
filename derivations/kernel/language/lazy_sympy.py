"""SymPy's expressions are read as trees. Its reader is loaded with the first of them, for SymPy takes a while."""

from __future__ import annotations

import sys
from typing import Any

from ..core.expr import READERS, Expr, Reader


def knows(value: Any) -> bool:
    """Is it an object of SymPy's, which has to be loaded for there to be one? A mutable Matrix is none of its Basic."""
    sympy = sys.modules.get("sympy")
    return sympy is not None and isinstance(value, (sympy.Basic, sympy.MatrixBase))


def is_relation(value: Any) -> bool:
    """Is it Eq, Le and the like, or what SymPy has made of one? A Symbol is a Boolean to SymPy as well."""
    return (
        knows(value) and isinstance(value, sys.modules["sympy"].logic.boolalg.Boolean) and not isinstance(value, sys.modules["sympy"].Expr)
    )


def expression(value: Any) -> Expr:
    from .from_sympy import convert

    return convert(value)


def held(tree: Expr) -> Any:
    from .opaque_terms import hold

    return hold(tree)


READERS.append(Reader(knows, expression))
Expr._sympy_ = held  # type: ignore[attr-defined]  # by this name SymPy asks what stands in its expressions for another's object
