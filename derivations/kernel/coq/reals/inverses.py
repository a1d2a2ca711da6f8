"""State the inverses in a refuted relation: each becomes a new matrix, whose products with the inverted one are assumed to be the identity."""

from __future__ import annotations

from fractions import Fraction
from itertools import count

from ...core.claims import Claim
from ...core.expr import Expr, free_indices, symbols, walk
from ..algebraic_structures import NotForCoq
from .notation import PLACES, show_entry, size_of
from .rounding import Values, is_matrix


def replace_inverses(claim: Claim) -> tuple[Expr, Expr, dict[Expr, Expr]]:
    """Return both sides with a symbol in place of each inverse, and {symbol: inverted matrix}.

    Raise NotForCoq for an inverse in a derivative, of an inverse, or of a matrix with a free index.
    """
    trees = (claim.start, claim.steps[0].expr)
    taken = symbols(*trees)
    found: dict[Expr, Expr] = {}  # the symbol for the inverse of each matrix
    names = (name for k in count(1) if (name := f"inverse_{k}") not in taken)

    def replace(e: Expr) -> Expr:
        if e.op == "derivative" and any(n.op == "inverse" for n in walk(e)):
            raise NotForCoq("an inverse in a derivative, which is not stated over the reals yet")
        if e.op != "inverse":
            return Expr(e.op, tuple(map(replace, e.args)), e.shape, e.data)
        (matrix,) = e.args
        if free_indices(matrix) or any(n.op == "inverse" for n in walk(matrix)):
            raise NotForCoq("an inverse of an inverse, or of what an index changes, which is not stated over the reals yet")
        if matrix not in found:
            found[matrix] = Expr("symbol", (), e.shape, (next(names), "real"))
        return found[matrix]

    left, right = map(replace, trees)
    return left, right, {symbol: matrix for matrix, symbol in found.items()}


def premises(symbol: Expr, matrix: Expr) -> list[str]:
    """Return the premises that the symbol is the inverse of the matrix: both products are the identity, entry by entry."""
    places, size = list(PLACES[:2]), size_of(symbol.shape[0])
    below = "".join(f"({p} < {size})%nat -> " for p in places)
    products = (Expr("matmul", pair, symbol.shape) for pair in ((matrix, symbol), (symbol, matrix)))
    return [f"(forall {' '.join(places)}, {below}{show_entry(p, places)} = identity {' '.join(places)})" for p in products]


def value(claim: Claim, matrix: Expr) -> tuple[tuple[Expr, ...], ...]:
    """Return the inverse of a matrix at the counterexample, as rows of constants. Coq checks that it is the inverse."""
    rows = Values(claim).at(matrix, {})
    if not is_matrix(rows):
        raise NotForCoq("an inverse of a matrix whose entries are no fractions at the counterexample")
    return tuple(tuple(Expr("const", (), (), x) for x in row) for row in inverse(rows))


def inverse(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """Return the inverse of a matrix by Gauss-Jordan elimination. Raise NotForCoq if it is singular."""
    n = len(rows)
    augmented = [[*row, *(Fraction(i == j) for j in range(n))] for i, row in enumerate(rows)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if augmented[i][k]), None)
        if pivot is None:
            raise NotForCoq("an inverse of a matrix that has none at the counterexample")
        augmented[k], augmented[pivot] = augmented[pivot], augmented[k]
        augmented[k] = [x / augmented[k][k] for x in augmented[k]]
        augmented = [row if i == k else [x - row[k] * y for x, y in zip(row, augmented[k])] for i, row in enumerate(augmented)]
    return [row[n:] for row in augmented]
