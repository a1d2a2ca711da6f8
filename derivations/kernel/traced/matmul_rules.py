"""Rules for products, inverses and linear solves of matrices and vectors."""

from __future__ import annotations

from typing import Any

from ..core.constructors import inverse
from ..core.expr import Expr
from .axes import SymbolicAxis, iterate_positions
from .entries import add_entries, multiply_entries
from .errors import NotRead
from .operation_rules import Call, rule
from .tensor_values import TensorValue, apply_entrywise, common_axis, sum_along


@rule("mm.default")
def mm(call: Call, a: TensorValue, b: TensorValue) -> TensorValue:
    inner = common_axis(a.axes[1], b.axes[0])
    return TensorValue((a.axes[0], b.axes[1]), lambda p: sum_along(inner, lambda k: multiply_entries(a.at((p[0], k)), b.at((k, p[1])))))


@rule("bmm.default")
def bmm(call: Call, a: TensorValue, b: TensorValue) -> TensorValue:
    inner, batch = common_axis(a.axes[2], b.axes[1]), common_axis(a.axes[0], b.axes[0])
    return TensorValue(
        (batch, a.axes[1], b.axes[2]), lambda p: sum_along(inner, lambda k: multiply_entries(a.at((p[0], p[1], k)), b.at((p[0], k, p[2]))))
    )


@rule("mv.default")
def mv(call: Call, a: TensorValue, b: TensorValue) -> TensorValue:
    inner = common_axis(a.axes[1], b.axes[0])
    return TensorValue((a.axes[0],), lambda p: sum_along(inner, lambda k: multiply_entries(a.at((p[0], k)), b.at((k,)))))


@rule("vdot.default")
def vdot(call: Call, a: TensorValue, b: TensorValue) -> TensorValue:
    if call.out.dtype.is_complex:
        raise NotRead("a product with conjugates")
    return dot(call, a, b)


@rule("dot.default")
def dot(call: Call, a: TensorValue, b: TensorValue) -> TensorValue:
    inner = common_axis(a.axes[0], b.axes[0])
    return TensorValue((), lambda p: sum_along(inner, lambda k: multiply_entries(a.at((k,)), b.at((k,)))))


@rule("addmm.default")
def addmm(call: Call, c: TensorValue, a: TensorValue, b: TensorValue, beta: Any = 1, alpha: Any = 1) -> TensorValue:
    scale_c, scale_product = call.reading.sizes.tree(beta), call.reading.sizes.tree(alpha)
    return apply_entrywise(lambda x, y: add_entries(multiply_entries(scale_c, x), multiply_entries(scale_product, y)), c, mm(call, a, b))


@rule("baddbmm.default")
def baddbmm(call: Call, c: TensorValue, a: TensorValue, b: TensorValue, beta: Any = 1, alpha: Any = 1) -> TensorValue:
    scale_c, scale_product = call.reading.sizes.tree(beta), call.reading.sizes.tree(alpha)
    return apply_entrywise(lambda x, y: add_entries(multiply_entries(scale_c, x), multiply_entries(scale_product, y)), c, bmm(call, a, b))


def invert(a: TensorValue) -> Expr:
    """Return the inverse of a square matrix that the claim names; raise NotRead for any other matrix."""
    if len(a.axes) == 2 and a.axes[0] == a.axes[1] and isinstance(a.axes[0], SymbolicAxis):
        (i, _), (j, _) = (next(iter(iterate_positions(axis))) for axis in a.axes)
        e = a.at((i, j))
        if isinstance(e, Expr) and e.op == "entry" and e.args[1:] == (i, j):
            return inverse(e.args[0])
    raise NotRead("the inverse of what is not a matrix of the claim's")


@rule("linalg_inv_ex.default")
def inv(call: Call, a: TensorValue, check_errors: bool = False) -> list:
    result = invert(a)
    return [TensorValue(a.axes, lambda p: Expr("entry", (result, *p))), None]


@rule("_linalg_solve_ex.default")
def solve(call: Call, a: TensorValue, b: TensorValue, left: bool = True, check_errors: bool = False) -> list:
    inverse_matrix = TensorValue(a.axes, lambda p: Expr("entry", (invert(a), *p)))
    if not left or len(b.axes) != 2:
        raise NotRead("equations that stand the other way round")
    return [mm(call, inverse_matrix, b), None, None, None]
