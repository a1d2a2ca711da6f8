"""A tree within a SymPy expression, as `Sum(p[i]*x[i], i)` where p is a definition: SymPy sees one thing that it cannot look into."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.matrices.expressions.matexpr import MatrixExpr
from sympy.stats.rv import is_random

from ..core.expr import Expr, named, show, walk
from ..errors import KernelError


def hold(tree: Expr) -> Any:
    """What SymPy is given for a tree: the SymPy object it was read from, a number, or a holder."""
    if tree.origin is not None:
        return tree.origin
    if tree.op == "const":
        return sp.Rational(tree.data.numerator, tree.data.denominator)
    if not tree.shape:
        return Held(tree)
    if len(tree.shape) > 2 or any(n.op == "const" and n.data == 1 for n in tree.shape):
        raise KernelError(f"{show(tree)} cannot stand in a SymPy expression: a vector or a matrix with no axis of length 1 can")
    return HeldMatrix(tree)


class Holder(sp.Basic):
    """Equal where the trees are, and dependent on all that the tree names."""

    tree: Expr

    def __new__(cls, tree: Expr) -> Any:
        made = sp.Basic.__new__(cls)
        made.tree = tree
        return made

    @property
    def func(self) -> Any:
        """SymPy takes expressions apart and makes them again; there is nothing to take apart here."""
        return lambda *parts: self

    def _hashable_content(self) -> tuple:
        return (repr(self.tree), *(str(s.origin) for s in walk(self.tree)))

    @property
    def free_symbols(self) -> set:
        found = {s.origin for s in named(self.tree) if s.origin is not None}
        return {self}.union(found, *(s.free_symbols for s in found))

    def _sympystr(self, printer: Any) -> str:
        return show(self.tree)

    _latex = _pretty = _sympyrepr = _sympystr


class Held(Holder, sp.AtomicExpr):
    """A number."""


class HeldMatrix(Holder, MatrixExpr):
    """A vector, which is a column to SymPy, or a matrix."""

    @property
    def shape(self) -> tuple:
        sizes = tuple(map(hold_size, self.tree.shape))
        return sizes if len(sizes) == 2 else (*sizes, sp.Integer(1))


def hold_size(size: Expr) -> Any:
    return sp.Symbol(size.data[0], integer=True, positive=True) if size.op == "symbol" else hold(size)


@is_random.register(Holder)
def holds_random(x: Holder) -> bool:
    return any(s.op == "symbol" and s.data[1] == "random" for s in walk(x.tree))
