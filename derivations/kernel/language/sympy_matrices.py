"""The conversion of SymPy's matrices. Products keep SymPy's order and brackets.

SymPy has no vectors: a matrix with one column or one row becomes a vector, and a 1×1 matrix a number. So `q.T*k` is the dot product.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp
from sympy.matrices.expressions.matexpr import MatrixExpr

from ..core.constructors import array, eye, index, inverse, ones, total, zeros
from ..core.expr import Expr, lift, named_nodes, show, symbol
from .sympy_reading import Reading, Rule, Unreadable
from .sympy_scalars import fraction, read_sum_of_terms, unsigned


def lengths(e: Any, reading: Reading) -> tuple:
    """Return the sizes of a matrix without those that are 1."""
    return tuple(reading(n) for n in e.shape if n != 1)


def read_symbol(e: Any, reading: Reading) -> Expr:
    return replace(symbol(e.name, "real", lengths(e, reading)), origin=e)


def read_product(e: Any, reading: Reading) -> Expr:
    taken = unsigned(e)
    if taken is not None:
        return -reading(taken)
    numbers = [a for a in e.args if not getattr(a, "is_Matrix", False)]
    matrices = [a for a in e.args if getattr(a, "is_Matrix", False)]
    product = reading(matrices[0])
    rows, inner = matrices[0].shape
    for factor in matrices[1:]:
        product = times(product, (rows, inner), reading(factor), factor.shape)
        inner = factor.shape[1]
    return fraction(numbers, reading, product)


def times(left: Expr, shape: tuple, right: Expr, other: tuple) -> Expr:
    """Return the product of two trees whose SymPy shapes are given, where a column or a row is a vector and a 1×1 matrix a number."""
    if shape == (1, 1) or tuple(other) == (1, 1):
        return left * right
    if shape[1] == 1:
        raise Unreadable(
            f"a column times a row, {show(left)} and {show(right)}, is no product of vectors here; state its entries",
            code="ambiguous-matrix-operation",
        )
    return left @ right


def read_power(e: Any, reading: Reading) -> Expr:
    base, exponent = e.args
    if not (exponent.is_Integer and exponent >= 1):
        raise Unreadable(
            f"the power {exponent} of {base}: write MatMul({base}, {base}), or Inverse({base})", code="ambiguous-matrix-operation"
        )
    tree = result = reading(base)
    for _ in range(int(exponent) - 1):
        result = result @ tree
    return result


def read_transpose(e: Any, reading: Reading) -> Expr:
    tree = reading(e.arg)
    return tree.T if len(tree.shape) == 2 else tree


def read_entrywise(e: Any, reading: Reading) -> Expr:
    result, *others = map(reading, e.args)
    for factor in others:
        result = result * factor
    return result


def read_identity(e: Any, reading: Reading) -> Expr:
    sizes = lengths(e, reading)
    return eye(sizes[0]) if sizes else lift(1)


def read_filled(make: Any, value: int) -> Rule:
    def rule(e: Any, reading: Reading) -> Expr:
        sizes = lengths(e, reading)
        return make(*sizes) if sizes else lift(value)

    return rule


def read_explicit(e: Any, reading: Reading) -> Expr:
    rows = [[reading(x) for x in row] for row in e.tolist()]
    if 1 not in e.shape:
        return array(rows)
    flat = [x for row in rows for x in row]
    return array(flat) if len(flat) > 1 else flat[0]


def read_trace(e: Any, reading: Reading) -> Expr:
    """Return the sum of the diagonal entries over an index with an unused name: i for the size n, j for the size m, else a, b, ..."""
    tree = reading(e.arg)
    if not tree.shape:
        return tree
    taken = {s.data[0] for s in named_nodes(tree)} | {place.variable.data[0] for place in reading.bound.values()}
    first = {"n": "i", "m": "j"}.get(show(tree.shape[0]), "a")
    i = index(next(name for name in (first, "b", "r", "s", "t", "u") if name not in taken), tree.shape[0])
    return total(tree[i, i], i)


RULES: tuple[tuple[type, Rule], ...] = (
    (sp.MatrixSymbol, read_symbol),
    (sp.matrices.MatrixBase, read_explicit),
    (sp.MatMul, read_product),
    (sp.MatAdd, read_sum_of_terms),
    (sp.HadamardProduct, read_entrywise),
    (sp.Transpose, read_transpose),
    (sp.Inverse, lambda e, reading: inverse(reading(e.arg))),
    (sp.MatPow, read_power),
    (sp.Identity, read_identity),
    (sp.ZeroMatrix, read_filled(zeros, 0)),
    (sp.OneMatrix, read_filled(ones, 1)),
    (sp.Trace, read_trace),
)
MATRICES = (MatrixExpr, sp.matrices.MatrixBase)
