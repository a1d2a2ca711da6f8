"""Evaluate trees of sizes and numbers at the values of a trace."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import add, gt, mul, neg, truediv

from ..core.expr import Expr

OPERATIONS: dict[str, Callable] = {
    "add": add,
    "mul": mul,
    "neg": neg,
    "div": truediv,
    "pow": pow,
    "abs": abs,
    **{name: getattr(math, name) for name in ("exp", "log", "sqrt", "cos", "sin", "tanh")},
}
COMPARISONS = {"=": math.isclose, "!=": lambda a, b: not math.isclose(a, b), ">": gt, ">=": lambda a, b: a >= b or math.isclose(a, b)}


def evaluate_tree(tree: Expr, at: dict[Expr, float]) -> float | None:
    """Return the value of a tree as a float, or None if a part of it has no known value."""
    if tree in at:
        return at[tree]
    if tree.op == "const":
        return float(tree.data)
    parts = [evaluate_tree(a, at) for a in tree.args]
    operation = OPERATIONS.get(tree.data if tree.op == "function" else tree.op)
    if operation is None or not parts or None in parts:
        return None
    try:
        return float(operation(*parts))
    except (ArithmeticError, ValueError, TypeError):
        return None
