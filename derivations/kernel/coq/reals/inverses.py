"""Inverses in what is refuted: each is a matrix of its own, of which the theorem assumes that its products with the other are the identity."""

from __future__ import annotations

from fractions import Fraction
from itertools import count

from ...core.claims import Claim
from ...core.expr import Expr, free_indices, symbols, walk
from ..algebraic_structures import NotForCoq
from .notation import PLACES, at, size_of
from .rounding import Values, is_matrix


def replaced(claim: Claim) -> tuple:
    """Both sides with a symbol for each inverse, and these as {symbol: matrix}."""
    trees = (claim.start, claim.steps[0].expr)
    taken, found = symbols(*trees), {}
    names = (name for k in count(1) if (name := f"inverse_{k}") not in taken)

    def without(e: Expr) -> Expr:
        if e.op == "derivative" and any(n.op == "inverse" for n in walk(e)):
            raise NotForCoq("an inverse in a derivative, which is not stated over the reals yet")
        if e.op != "inverse":
            return Expr(e.op, tuple(map(without, e.args)), e.shape, e.data)
        (matrix,) = e.args
        if free_indices(matrix) or any(n.op == "inverse" for n in walk(matrix)):
            raise NotForCoq("an inverse of an inverse, or of what an index changes, which is not stated over the reals yet")
        if matrix not in found:
            found[matrix] = Expr("symbol", (), e.shape, (next(names), "real"))
        return found[matrix]

    return *map(without, trees), {symbol: matrix for matrix, symbol in found.items()}


def premises(symbol: Expr, matrix: Expr) -> list:
    """That it is the inverse, at every place."""
    places, size = list(PLACES[:2]), size_of(symbol.shape[0])
    below = "".join(f"({p} < {size})%nat -> " for p in places)
    products = (Expr("matmul", pair, symbol.shape) for pair in ((matrix, symbol), (symbol, matrix)))
    return [f"(forall {' '.join(places)}, {below}{at(p, places)} = identity {' '.join(places)})" for p in products]


def value(claim: Claim, matrix: Expr) -> tuple:
    """The inverse of a matrix at the counterexample, entry by entry. Coq checks that it is."""
    rows = Values(claim).at(matrix, {})
    if not is_matrix(rows):
        raise NotForCoq("an inverse of a matrix whose entries are no fractions at the counterexample")
    return tuple(tuple(Expr("const", (), (), x) for x in row) for row in inverse(rows))


def inverse(rows: list) -> list:
    """By elimination, with the identity beside the matrix."""
    n = len(rows)
    both = [[*row, *(Fraction(i == j) for j in range(n))] for i, row in enumerate(rows)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if both[i][k]), None)
        if pivot is None:
            raise NotForCoq("an inverse of a matrix that has none at the counterexample")
        both[k], both[pivot] = both[pivot], both[k]
        both[k] = [x / both[k][k] for x in both[k]]
        both = [row if i == k else [x - row[k] * y for x, y in zip(row, both[k])] for i, row in enumerate(both)]
    return [row[n:] for row in both]
