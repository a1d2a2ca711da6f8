"""Vectors, matrices and tensors of symbols, and operations on them.

A vector is a Matrix with one column, and a tensor with three or more axes is an Array.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import sympy as sp

from .outcome import Fails


@lru_cache(maxsize=1000)
def tensor(name: str, *shape, **signs):
    """Return a tensor with a real symbol for each entry. The name has the indices of the entry, counted from 1: A[1,2].

    A sign belongs to all entries (True), or to those with indices such as (("i", "i"), (1, 2)).
    """
    made = []
    for place in product(*(range(1, n + 1) for n in shape)):
        known = {sign: True for sign, where in signs.items() if where is True or any(covers(some, place) for some in where)}
        made.append(sp.Symbol(f"{name}[{','.join(map(str, place))}]", real=True, **known))
    return sp.Array(made, tuple(map(int, shape))) if len(shape) > 2 else sp.Matrix(*shape, made) if len(shape) == 2 else sp.Matrix(made)


def covers(pattern: tuple, place: tuple) -> bool:
    """Return whether indices match a pattern. A letter matches any number, but the same number wherever it occurs."""
    known = {}
    return all(known.setdefault(i, k) == k if isinstance(i, str) else i == k for i, k in zip(pattern, place))


def shape_of(value) -> tuple:
    """Return the shape of a tensor, and () for a number."""
    return getattr(value, "shape", ())


def flat(value) -> list:
    """Return the entries in order."""
    if isinstance(value, sp.MatrixBase):
        return value.flat()
    return sp.flatten(value.tolist()) if isinstance(value, sp.NDimArray) else [sp.sympify(value)]


def stacked(parts, axes: int):
    """Return the parts stacked along a new first axis: numbers as a vector, vectors as the rows of a matrix."""
    parts = list(parts)
    made, shape = [x for part in parts for x in flat(part)], (len(parts), *shape_of(parts[0])[:axes])
    return sp.Array(made, shape) if axes > 1 else sp.Matrix(*shape, made) if axes else sp.Matrix(made)


def contract(left, right, left_axes: int, right_axes: int):
    """Return the product over the last axis of left and the first of right, if a tensor with three or more axes is involved."""
    first, last = left.shape[:left_axes][:-1], right.shape[:right_axes][1:]
    a, b = (dict(zip(product(*map(range, x.shape[:axes])), flat(x))) for x, axes in ((left, left_axes), (right, right_axes)))
    made = [
        sp.Add(*(a[(*p, k)] * b[(k, *q)] for k in range(right.shape[0])))
        for p in product(*map(range, first))
        for q in product(*map(range, last))
    ]
    shape = (*first, *last)
    return sp.Array(made, shape) if len(shape) > 2 else sp.Matrix(*shape, made) if len(shape) == 2 else sp.Matrix(made)


def times(left, right):
    """Return the entrywise product of two tensors of the same shape."""
    if isinstance(left, sp.MatrixBase):
        return left.multiply_elementwise(right)
    return sp.Array([a * b for a, b in zip(flat(left), flat(right))], left.shape)


def inverse(matrix):
    """Return the inverse. Raise Fails if the matrix is singular."""
    try:
        return matrix.inv()
    except ValueError:
        raise Fails(f"{matrix.tolist()} has no inverse, and one is taken") from None


def softmax(vector):
    """Return exp(s_j) / sum over k of exp(s_k) for each j."""
    top = vector.applyfunc(sp.exp)
    return top / sp.Add(*top.flat())


def softmax_rows(scores):
    """Return the softmax over the last axis."""
    if isinstance(scores, sp.MatrixBase):
        return sp.Matrix.vstack(*(softmax(scores[i, :]) for i in range(scores.rows)))
    width, top = scores.shape[-1], [sp.exp(s) for s in flat(scores)]
    rows = [top[k : k + width] for k in range(0, len(top), width)]
    return sp.Array([t / sp.Add(*row) for row in rows for t in row], scores.shape)


def norm(vector):
    """Return the square root of the sum of the squares."""
    return sp.sqrt(sp.Add(*(x**2 for x in vector)))


def largest(vector):
    """Return the largest entry, with shared summands, shared nonnegative factors and the exponential function moved out of the maximum."""
    entries = [sp.factor_terms(x) if x.is_Mul else sp.expand(x) for x in flat(vector)]
    shared = set.intersection(*({*sp.Add.make_args(x)} for x in entries))
    rest = [sp.factor_terms(x - sp.Add(*shared)) for x in entries]
    factors = {x for x in set.intersection(*({*sp.Mul.make_args(x)} for x in rest)) if x.is_positive or x.is_nonnegative}
    rest = [sp.Mul(*(y for y in sp.Mul.make_args(x) if y not in factors)) for x in rest]
    if all(x.func is sp.exp for x in rest):
        return sp.Add(*shared, sp.Mul(*factors, sp.exp(largest(sp.Matrix([x.args[0] for x in rest])))))
    return sp.Add(*shared, sp.Mul(*factors, sp.Max(*rest)))


def ties(vector):
    """Return expressions that are 0 where two entries are tied: all differences or, for numbers, the gap between the largest two."""
    entries = flat(vector)
    if len(entries) > 1 and all(x.is_number for x in entries):
        second, first = sorted(entries, key=lambda x: x.evalf(50))[-2:]
        return [first - second]
    return [x - y for k, x in enumerate(entries) for y in entries[:k]]


def divided(a, b):
    """Return a / b. Raise Fails if b is 0: SymPy's matrices treat 0 times infinity as 0, so this is checked first."""
    b = sp.sympify(b)
    if b.is_zero:
        raise Fails("something is divided by zero at the counterexample")
    return a / b
