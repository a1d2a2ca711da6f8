"""Trees within SymPy expressions, as in `Sum(p[i]*x[i], i)` where p is a definition. SymPy treats such a tree as an opaque term."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.matrices.expressions.matexpr import MatrixExpr
from sympy.stats.rv import is_random

from ..core.expr import Expr, show, walk
from ..errors import KernelError


def hold(tree: Expr) -> Any:
    """Return the SymPy object that represents a tree: the object it was read from, a number, or a holder."""
    if tree.origin is not None:
        return tree.origin
    if tree.op == "const":
        return sp.Rational(tree.data.numerator, tree.data.denominator)
    if not tree.shape:
        return Held(tree)
    if len(tree.shape) > 2 or any(n.op == "const" and n.data == 1 for n in tree.shape):
        raise KernelError(
            f"{show(tree)} cannot stand in a SymPy expression: a vector or a matrix with no axis of length 1 can", code="wrong-shape"
        )
    return HeldMatrix(tree)


class Holder(sp.Basic):
    """A SymPy object that contains a tree. It depends on all symbols of the tree. Substitutions are recorded, and are an error when it is read."""

    tree: Expr
    changes: tuple

    def __new__(cls, tree: Expr, changes: tuple = ()) -> Any:
        made = sp.Basic.__new__(cls)
        made.tree, made.changes = tree, changes
        return made

    @property
    def func(self) -> Any:
        """A constructor that returns this object, since SymPy rebuilds expressions from their parts and there are none here."""
        return lambda *parts: self

    def released(self) -> Expr:
        """Return the tree. Raise KernelError if SymPy substituted something in it."""
        for old, new in self.changes:
            raise KernelError(
                f"SymPy put {new} for {old} in {self}, and cannot look into it: keep Sum, Derivative and the like unevaluated, or write "
                "the definition out",
                code="changed-by-sympy",
            )
        return self.tree

    def _hashable_content(self) -> tuple:
        origins = (str(s.origin) for s in walk(self.tree) if s.origin is not None)
        return (repr(self.tree), *origins, *(str(x) for change in self.changes for x in change))

    @property
    def free_symbols(self) -> set:
        named = {s.origin for n in walk(self.tree) for s in (n, *n.shape) if s.origin is not None}
        found = {self}.union(named, *(s.free_symbols for s in named))
        for old, new in self.changes:
            found = (found - {old}) | new.free_symbols
        return found

    def _eval_derivative(self, by: Any) -> Any:
        return sp.Derivative(self, by, evaluate=False)

    def _eval_derivative_n_times(self, by: Any, times: Any) -> Any:
        return sp.Derivative(self, (by, times), evaluate=False)

    def _eval_subs(self, old: Any, new: Any) -> Any:
        return self.xreplace({old: new})

    def xreplace(self, rule: Mapping) -> Any:
        return self._xreplace(rule)[0]

    def _xreplace(self, rule: Mapping) -> tuple:
        if self in rule:
            return rule[self], True
        inside = self.free_symbols - {self}
        changes = tuple((old, new) for old, new in rule.items() if old != new and inside & getattr(old, "free_symbols", set()))
        return (type(self)(self.tree, self.changes + changes), True) if changes else (self, False)

    def _sympystr(self, printer: Any) -> str:
        return show(self.tree)

    _latex = _pretty = _sympyrepr = _sympystr


class Held(Holder, sp.AtomicExpr):
    """A holder of a scalar."""

    is_commutative = True


class HeldMatrix(Holder, MatrixExpr):
    """A holder of a matrix or of a vector, which is a column to SymPy."""

    @property
    def shape(self) -> tuple:
        sizes = tuple(map(hold_size, self.tree.shape))
        return sizes if len(sizes) == 2 else (*sizes, sp.Integer(1))


def hold_size(size: Expr) -> Any:
    return sp.Symbol(size.data[0], integer=True, positive=True) if size.op == "symbol" else hold(size)


@is_random.register(Holder)
def holds_random(x: Holder) -> bool:
    return any(s.op == "symbol" and s.data[1] == "random" for s in walk(x.tree))
