"""The names that an answer may use beside those of its script: the claim language's, and `sum` and `delta` as formulas write them."""

from typing import Any

from .. import absolute, cos, exp, eye, largest, log, norm, ones, sin, softmax, sqrt, tanh, total, zeros  # noqa: F401
from ..core.expr import Expr, lift

e = exp(1)


def ln(x: Any) -> Expr:
    """Return the natural logarithm."""
    return log(x)


def sum(body: Any, *indices: Any) -> Any:
    """Return a sum over indices."""
    if any(isinstance(one, Expr) for one in (body, *indices)):
        return total(lift(body), *map(lift, indices))
    from sympy import Sum  # the script uses SymPy

    return Sum(body, *indices)


def delta(row: Any, column: Any) -> Any:
    """Return 1 if two indices are equal, otherwise 0."""
    if isinstance(row, Expr):
        return eye(row.data[1])[row, column]
    from sympy import KroneckerDelta

    return KroneckerDelta(row, column)
