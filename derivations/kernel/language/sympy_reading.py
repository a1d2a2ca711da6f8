"""A SymPy expression on its way to a tree: what reads it, and which indices are bound where it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..core.expr import Expr
from ..errors import KernelError


class Unreadable(KernelError):
    """Something of SymPy that has no counterpart here; the message says what to write instead."""


class Place(NamedTuple):
    """What a SymPy index stands for: an index that counts from 1, as here, and the number that SymPy counts from."""

    variable: Expr
    first: int


Rule = Callable[[Any, "Reading"], Expr]


@dataclass(frozen=True)
class Reading:
    """Rules by class of node, first match first, and the indices that the sums around bind."""

    rules: tuple[tuple[Any, Rule], ...]  # a class of nodes, or several
    hints: Mapping[str, str]
    bound: Mapping[Any, Place] = field(default_factory=dict)

    def __call__(self, e: Any) -> Expr:
        """The tree of a SymPy expression. Of matrices, an axis of length 1 is left out: a column is a vector, 1 by 1 a number."""
        for kind, rule in self.rules:
            if isinstance(e, kind):
                return rule(e, self)
        name = type(e).__name__
        raise Unreadable(f"the SymPy node {name} in {e} is not known here; {self.hints.get(name, OTHERWISE)}")

    def within(self, index: Any, place: Place) -> Reading:
        """The same, inside a sum that binds an index."""
        return replace(self, bound={**self.bound, index: place})


OTHERWISE = "write it with the kernel's own functions"
