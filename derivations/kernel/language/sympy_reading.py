"""The framework for converting SymPy expressions: a table of rules, and the indices that are bound at the current node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..core.expr import Expr
from ..errors import KernelError


class Unreadable(KernelError):
    """An error for a SymPy object without a counterpart. The message says what to write instead."""

    code = "unknown-sympy-node"


class Place(NamedTuple):
    """An index of the kernel, which counts from 1, for an index of SymPy, which counts from `first`: 0 or 1."""

    variable: Expr
    first: int


Rule = Callable[[Any, "Reading"], Expr]


@dataclass(frozen=True)
class Reading:
    """A converter: rules by class of node, of which the first match applies, and the indices that enclosing sums bind."""

    rules: tuple[tuple[Any, Rule], ...]  # a class of nodes, or a tuple of classes
    hints: Mapping[str, str]
    bound: Mapping[Any, Place] = field(default_factory=dict)

    def __call__(self, e: Any) -> Expr:
        """Return the tree of a SymPy expression. Axes of length 1 are left out: a column becomes a vector, a 1×1 matrix a number."""
        for kind, rule in self.rules:
            if isinstance(e, kind):
                return rule(e, self)
        name = type(e).__name__
        raise Unreadable(f"the SymPy node {name} in {e} is not known here; {self.hints.get(name, OTHERWISE)}", code="unknown-sympy-node")

    def within(self, index: Any, place: Place) -> Reading:
        """Return the converter for the body of a sum that binds an index."""
        return replace(self, bound={**self.bound, index: place})


OTHERWISE = "write it with the kernel's own functions"
