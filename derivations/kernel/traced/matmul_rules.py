"""Rules for products, inverses and linear solves of matrices and vectors."""

from __future__ import annotations

from typing import Any

from ..core.expr import Expr, inverse
from .axes import Run, places
from .entries import plus, times
from .errors import NotRead
from .operation_rules import Call, rule
from .tensor_values import Value, entrywise, summed, together


@rule("mm.default")
def mm(call: Call, a: Value, b: Value) -> Value:
    inner = together(a.axes[1], b.axes[0])
    return Value((a.axes[0], b.axes[1]), lambda p: summed(inner, lambda k: times(a.at((p[0], k)), b.at((k, p[1])))))


@rule("bmm.default")
def bmm(call: Call, a: Value, b: Value) -> Value:
    inner, batch = together(a.axes[2], b.axes[1]), together(a.axes[0], b.axes[0])
    return Value((batch, a.axes[1], b.axes[2]), lambda p: summed(inner, lambda k: times(a.at((p[0], p[1], k)), b.at((p[0], k, p[2])))))


@rule("mv.default")
def mv(call: Call, a: Value, b: Value) -> Value:
    inner = together(a.axes[1], b.axes[0])
    return Value((a.axes[0],), lambda p: summed(inner, lambda k: times(a.at((p[0], k)), b.at((k,)))))


@rule("vdot.default")
def vdot(call: Call, a: Value, b: Value) -> Value:
    if call.out.dtype.is_complex:
        raise NotRead("a product with conjugates")
    return dot(call, a, b)


@rule("dot.default")
def dot(call: Call, a: Value, b: Value) -> Value:
    inner = together(a.axes[0], b.axes[0])
    return Value((), lambda p: summed(inner, lambda k: times(a.at((k,)), b.at((k,)))))


@rule("addmm.default")
def addmm(call: Call, c: Value, a: Value, b: Value, beta: Any = 1, alpha: Any = 1) -> Value:
    scale_c, scale_product = call.reading.sizes.tree(beta), call.reading.sizes.tree(alpha)
    return entrywise(lambda x, y: plus(times(scale_c, x), times(scale_product, y)), c, mm(call, a, b))


@rule("baddbmm.default")
def baddbmm(call: Call, c: Value, a: Value, b: Value, beta: Any = 1, alpha: Any = 1) -> Value:
    scale_c, scale_product = call.reading.sizes.tree(beta), call.reading.sizes.tree(alpha)
    return entrywise(lambda x, y: plus(times(scale_c, x), times(scale_product, y)), c, bmm(call, a, b))


def invert(a: Value) -> Expr:
    """Return the inverse of a square matrix that the claim names; raise NotRead for any other matrix."""
    if len(a.axes) == 2 and a.axes[0] == a.axes[1] and isinstance(a.axes[0], Run):
        (i, _), (j, _) = (next(iter(places(axis))) for axis in a.axes)
        e = a.at((i, j))
        if isinstance(e, Expr) and e.op == "entry" and e.args[1:] == (i, j):
            return inverse(e.args[0])
    raise NotRead("the inverse of what is not a matrix of the claim's")


@rule("linalg_inv_ex.default")
def inv(call: Call, a: Value, check_errors: bool = False) -> list:
    result = invert(a)
    return [Value(a.axes, lambda p: Expr("entry", (result, *p))), None]


@rule("_linalg_solve_ex.default")
def solve(call: Call, a: Value, b: Value, left: bool = True, check_errors: bool = False) -> list:
    inverse_matrix = Value(a.axes, lambda p: Expr("entry", (invert(a), *p)))
    if not left or len(b.axes) != 2:
        raise NotRead("equations that stand the other way round")
    return [mm(call, inverse_matrix, b), None, None, None]
