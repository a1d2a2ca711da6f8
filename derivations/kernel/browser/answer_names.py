"""The names that an answer may use beside those of its script: the claim language's, and `sum` and `delta` as formulas write them."""

import builtins
from fractions import Fraction as exact_fraction  # noqa: F401, N813
from types import GeneratorType
from typing import Any, NamedTuple

from .. import absolute as number_size
from .. import array, cos, exp, eye, inverse, largest, log, norm, ones, sin, softmax, sqrt, tanh, total, zeros  # noqa: F401
from ..core.expr import Expr, lift

e = exp(1)


def absolute(x: Any) -> Expr:
    """Return the absolute value of a number, or the norm of a vector."""
    return norm(x) if isinstance(x, Expr) and len(x.shape) == 1 else number_size(x)


def ln(x: Any) -> Expr:
    """Return the natural logarithm."""
    return log(x)


def sum(body: Any, *indices: Any) -> Any:
    """Return a sum over indices, or Python's sum if the script means that. A last term must be that of the index."""
    if isinstance(body, (list, tuple, GeneratorType)):
        return builtins.sum(body, *indices)
    if indices and isinstance(indices[-1], Last):
        *others, index, last = indices
        size = index.data[1] if isinstance(index, Expr) else index.upper - index.lower + 1
        if str(last.term) != str(size):
            raise ValueError(f"a sum runs over all values of its index here, and {index} ends with {size}")
        indices = (*others, index)
    if any(isinstance(one, Expr) for one in (body, *indices)):
        return total(lift(body), *map(lift, indices))
    from sympy import Sum  # the script uses SymPy

    return Sum(body, *indices)


class Last(NamedTuple):
    """The last term that a sum names."""

    term: Any


def delta(row: Any, column: Any) -> Any:
    """Return 1 if two indices are equal, otherwise 0."""
    if isinstance(row, Expr):
        return eye(row.data[1])[row, column]
    from sympy import KroneckerDelta

    return KroneckerDelta(row, column)


def implicit_product(left: Any, right: Any) -> Any:
    """Return a product that was written without a sign: of numbers, of a number and an array, or of matrices."""
    if isinstance(left, Expr) and isinstance(right, Expr) and left.shape and right.shape:
        if len(left.shape) == len(right.shape) == 1:
            raise TypeError("a product of two vectors needs a sign: @ for the dot product, * for the products of their entries")
        return left @ right
    return matrix_product(left, right) if is_sympy_matrix(left) and is_sympy_matrix(right) else left * right


def matrix_product(left: Any, right: Any) -> Any:
    """Return the product of two matrices, or of a matrix or a vector and a vector."""
    if is_sympy_matrix(left):
        from sympy import MatMul

        return MatMul(left, right)
    return left @ right


def dot_product(left: Any, right: Any) -> Any:
    """Return a product that was written with a dot: like one without a sign, but of two vectors the dot product."""
    is_of_vectors = isinstance(left, Expr) and isinstance(right, Expr) and len(left.shape) == len(right.shape) == 1
    return left @ right if is_of_vectors else implicit_product(left, right)


def power(base: Any, exponent: Any) -> Any:
    """Return a power, or for a matrix its inverse if the exponent is -1, and otherwise its transpose: the exponent is a `T`."""
    if isinstance(base, Expr) and len(base.shape) == 2:
        return inverse(base) if exponent == -1 else base.T
    if is_sympy_matrix(base):
        from sympy import Inverse

        return Inverse(base) if exponent == -1 else transpose(base)
    return base**exponent


def transpose(x: Any) -> Any:
    """Return a transpose."""
    if is_sympy_matrix(x):
        from sympy import Transpose

        return Transpose(x)
    return x.T


def is_sympy_matrix(x: Any) -> bool:
    """Return whether something is a matrix of SymPy, whose operators simplify before anything is shown."""
    return getattr(x, "is_Matrix", False)
