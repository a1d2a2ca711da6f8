"""The registration of the SymPy reader with core. It loads the reader only when a SymPy expression arrives, because SymPy loads slowly."""

from __future__ import annotations

import sys
from typing import Any

from ..core.expr import READERS, Expr, Reader


def knows(value: Any) -> bool:
    """Return whether a value is a SymPy object. If SymPy is not loaded, it cannot be one. A mutable Matrix is not a Basic."""
    sympy = sys.modules.get("sympy")
    return sympy is not None and isinstance(value, (sympy.Basic, sympy.MatrixBase))


def is_relation(value: Any) -> bool:
    """Return whether a value is a SymPy relation, such as Eq or Le, or one that SymPy has evaluated. A Symbol is a Boolean to SymPy, too."""
    return (
        knows(value) and isinstance(value, sys.modules["sympy"].logic.boolalg.Boolean) and not isinstance(value, sys.modules["sympy"].Expr)
    )


def expression(value: Any) -> Expr:
    """Return the tree of a SymPy expression."""
    from .from_sympy import convert

    return convert(value)


def held(tree: Expr) -> Any:
    """Return a SymPy object that represents a tree within a SymPy expression."""
    from .trees_in_sympy import hold

    return hold(tree)


READERS.append(Reader(knows, expression))
Expr._sympy_ = held  # type: ignore[attr-defined]  # SymPy calls this method to convert foreign objects
