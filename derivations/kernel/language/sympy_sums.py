"""The conversion of SymPy's sums, indices and indexed symbols.

The entries of an IndexedBase count from 1, as in formulas; those of a matrix count from 0, as in SymPy. An index runs from 1 to n or from 0
to n - 1, and must be shifted to fit: `x[i + 1]` if i counts from 0, `x[i]` if it counts from 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp
from sympy.stats.rv import RandomSymbol

from ..core.constructors import eye, index, total
from ..core.expr import Expr, lift, show, symbol
from .sympy_reading import Place, Reading, Rule, Unreadable
from .sympy_scalars import counted, sign_of
from .trees_in_sympy import Held


def read_sum(e: Any, reading: Reading) -> Expr:
    """Return a sum. SymPy's first limits belong to the innermost sum."""
    places = []
    for variable, low, high in reversed(e.limits):
        place = place_of(variable, low, high, reading)
        reading = reading.within(variable, place)
        places.append(place)
    body = e.function
    if isinstance(body, sp.Mul) and len(body.args) == 2 and body.args[0] == 1:  # Sum adds a factor of 1 if nothing is evaluated
        body = body.args[1]
    return total(reading(body), *(place.variable for place in places))


def place_of(variable: Any, low: Any, high: Any, reading: Reading) -> Place:
    """Return the meaning of an index that runs from `low` to `high`. Raise Unreadable unless it counts from 0 or 1 to a size."""
    name = variable.name

    def at(size: Expr) -> Expr:
        return replace(index(name, size), origin=variable)

    if isinstance(variable, sp.Dummy) or name.startswith("_"):
        raise Unreadable(f"the index {variable} was made by SymPy; write the sum with an index of your own", code="unknown-range")
    if any(bound in high.free_symbols for bound in reading.bound):
        raise Unreadable(f"the index {name} runs to {high}, which is no size; sum over all, and multiply by what picks", code="not-a-size")
    if low == 1:
        return Place(at(reading(high)), 1)
    if low == 0 and high.is_Integer:
        return Place(at(lift(int(high) + 1)), 0)
    if low == 0 and isinstance(high, sp.Add) and len(high.args) == 2 and -1 in high.args:
        (size,) = (x for x in high.args if x != -1)
        return Place(at(reading(size)), 0)
    raise Unreadable(f"the index {name} runs from {low} to {high}; from 1 to n, or from 0 to n - 1, is known here", code="unknown-range")


def of_index(e: Any, reading: Reading) -> Place | None:
    """Return the meaning of an index that a sum binds or that has a range, or None if `e` is no index."""
    if e in reading.bound:
        return reading.bound[e]
    if isinstance(e, Held) and e.tree.op == "index":
        return Place(e.tree, 1)
    if isinstance(e, sp.Idx):
        if e.lower is None or e.upper is None:
            raise Unreadable(f"the index {e} has no range: Idx({e.name!r}, (1, n))", code="unknown-range")
        return place_of(e, e.lower, e.upper, reading)
    return None


def entry_index(e: Any, first: int, reading: Reading, what: str) -> Expr:
    """Return the index or number that selects an entry of `what`, whose entries SymPy counts from `first`."""
    if e.is_Integer:
        return lift(int(e) + 1 - first)
    terms = e.args if isinstance(e, sp.Add) else (e,)
    shift = sum(int(t) for t in terms if t.is_Integer)
    others = [t for t in terms if not t.is_Integer]
    place = of_index(others[0], reading) if len(others) == 1 else None
    if place is None:
        raise Unreadable(
            f"{e} in {what} is no index: Idx('i', (1, n)), the index of a sum, or a number picks an entry", code="not-an-index"
        )
    if place.first + shift != first:
        name, wanted = others[0], first - place.first
        written = f"{name} + {wanted}" if wanted > 0 else f"{name} - {-wanted}" if wanted else str(name)
        raise Unreadable(
            f"{what} counts from {first}, and {name} from {place.first}: write {written} there, and not {e}", code="shifted-index"
        )
    return place.variable


def read_index(e: Any, reading: Reading) -> Expr:
    place = of_index(e, reading)
    assert place  # an Idx is an index
    return counted(place)


def read_base(e: Any, reading: Reading) -> Expr:
    """Return the vector or matrix of an IndexedBase, which is random if its label is."""
    if e.shape is None:
        raise Unreadable(f"the shape of {e} is not known: IndexedBase({e.name!r}, shape=(n,), real=True)", code="unknown-shape")
    if isinstance(e.label, RandomSymbol):
        kind = "random"
    elif sign_of(e.label) == "size":
        raise Unreadable(f"the entries of {e} are integers, which cannot be said here; real=True is known", code="unknown-sympy-assumption")
    else:
        kind = "real"
    return replace(symbol(e.label.name, kind, tuple(map(reading, e.shape))), origin=e)


def read_indexed(e: Any, reading: Reading) -> Expr:
    base = reading(e.base)
    return base[tuple(entry_index(i, 1, reading, str(e.base)) for i in e.indices)]


def read_element(e: Any, reading: Reading) -> Expr:
    """Read an entry of a SymPy matrix as a tree. Indices of axes of length 1 are dropped."""
    matrix, *places = e.args
    tree = reading(matrix)
    needed = [place for place, length in zip(places, matrix.shape) if length != 1]
    return tree[tuple(entry_index(i, 0, reading, str(matrix)) for i in needed)] if needed else tree


def read_delta(e: Any, reading: Reading) -> Expr:
    """Return an entry of the identity matrix."""
    left, right = (of_index(i, reading) for i in e.args[:2])
    size = next((place.variable.data[1] for place in (left, right) if place), None)
    if size is None:
        raise Unreadable(f"{e} has no index among its arguments: Idx('i', (1, n)) is one", code="not-an-index")
    first = next(place.first for place in (left, right) if place)
    if left and right and (left.variable.data[1], left.first) != (right.variable.data[1], right.first):
        raise Unreadable(
            f"the two indices of {e} do not run alike: {show(left.variable.data[1])}, {show(right.variable.data[1])}",
            code="index-of-another-size",
        )
    return eye(size)[tuple(entry_index(i, first, reading, str(e)) for i in e.args[:2])]


RULES: tuple[tuple[type, Rule], ...] = (
    (sp.Idx, read_index),
    (sp.Sum, read_sum),
    (sp.IndexedBase, read_base),
    (sp.Indexed, read_indexed),
    (sp.matrices.expressions.matexpr.MatrixElement, read_element),
    (sp.KroneckerDelta, read_delta),
)
