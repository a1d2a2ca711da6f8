"""Write an expression as data, and read it again. A reader's browser compares such an expression with a claim; it runs no text."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..core.expr import Expr, show


def write_data(value: Any) -> Any:
    """Return an expression, or a part of one, as lists, texts and numbers.

    Examples:
        >>> from derivations.kernel import scalars
        >>> x = scalars("x")
        >>> write_data(x + 1)
        ['expression', 'add', [['expression', 'symbol', [], [], ['tuple', 'x', 'real']], ['expression', 'const', [], [], ['fraction', '1']]], [], None]
        >>> read_data(write_data(x + 1)) == x + 1
        True
    """
    if isinstance(value, Expr):
        return ["expression", value.op, list(map(write_data, value.args)), list(map(write_data, value.shape)), write_data(value.data)]
    if isinstance(value, tuple):
        return ["tuple", *map(write_data, value)]
    if isinstance(value, Fraction):
        return ["fraction", str(value)]
    if value is None or isinstance(value, (str, int)):
        return value
    raise TypeError(f"{value!r} is no part of an expression")


def read_data(data: Any) -> Any:
    """Return what `write_data` wrote."""
    if not isinstance(data, list):
        return data
    kind, *parts = data
    if kind == "tuple":
        return tuple(map(read_data, parts))
    if kind == "fraction":
        return Fraction(parts[0])
    op, args, shape, own = parts
    return Expr(op, tuple(map(read_data, args)), tuple(map(read_data, shape)), read_data(own))


def describe_call(call: Any) -> str:
    """Return a call of a claim's code as text, so that a changed call can be told from the one that was traced."""
    if isinstance(call, Expr):
        return show(call)
    if isinstance(call, dict):
        return ", ".join(f"{name}={describe_call(value)}" for name, value in call.items())
    if isinstance(call, (tuple, list)):
        return f"({', '.join(map(describe_call, call))})"
    return repr(call)
