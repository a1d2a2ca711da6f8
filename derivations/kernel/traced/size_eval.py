"""What a number comes to that is made of sizes and other numbers, at those of a trace."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import add, gt, mul, neg, truediv

from ..core.expr import Expr

WORTH: dict[str, Callable] = {
    "add": add,
    "mul": mul,
    "neg": neg,
    "div": truediv,
    "pow": pow,
    "abs": abs,
    **{name: getattr(math, name) for name in ("exp", "log", "sqrt", "cos", "sin", "tanh")},
}
HOLDS = {"=": math.isclose, "!=": lambda a, b: not math.isclose(a, b), ">": gt, ">=": lambda a, b: a >= b or math.isclose(a, b)}


def worth(tree: Expr, at: dict[Expr, float]) -> float | None:
    """What a tree of numbers comes to, or None where it has a part that is not known."""
    if tree in at:
        return at[tree]
    if tree.op == "const":
        return float(tree.data)
    parts = [worth(a, at) for a in tree.args]
    how = WORTH.get(tree.data if tree.op == "function" else tree.op)
    if how is None or not parts or None in parts:
        return None
    try:
        return float(how(*parts))
    except (ArithmeticError, ValueError, TypeError):
        return None
