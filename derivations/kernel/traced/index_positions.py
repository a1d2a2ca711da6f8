"""Convert between positions along an axis and the indices of code, which count from 0; compare positions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..core.expr import Expr, eye, lift
from .axes import Axis, Count, Joined, Length, Merged, Place, Run, added, length
from .entries import ZERO, Entry, is_const, number, plus, times
from .errors import NotRead, Sized
from .operation_rules import Call


def numbered(axis: Axis, position: Place) -> Expr:
    """Return the index that code has for a position along an axis, counted from 0."""
    if isinstance(axis, Count):
        return lift(position)
    if isinstance(axis, Run):
        return lift(position.data - 1) if position.op == "const" else Expr("add", (position, lift(-1)))
    if isinstance(axis, Joined):
        part_number, inner = position
        start: Length = {}
        for part in axis.parts[:part_number]:
            start = added(start, length(part))
        return number(plus(length_to_tree(start, axis), numbered(axis.parts[part_number], inner)))
    raise Sized("places along an axis that was made of two are numbered")


def length_to_tree(terms: Length, axis: Axis) -> Expr:
    """Return a length as a tree. Its sizes must be lengths of parts of the axis."""
    sizes = {part.size.data[0]: part.size for part in getattr(axis, "parts", ()) if isinstance(part, Run)}
    result: Any = lift(0)
    for names, k in terms.items():
        term: Any = lift(k)
        for name in names:
            if name not in sizes:
                raise Sized("places along an axis that was made of two are numbered")
            term = times(term, sizes[name])
        result = plus(result, term)
    return result


def same_place(axis: Axis, p: Any, q: Any) -> Any:
    """Return 1 where two positions along an axis are the same, and 0 elsewhere."""
    if p == q:
        return lift(1)
    if isinstance(axis, Run):
        return Expr("entry", (eye(axis.size), p, q))
    if isinstance(axis, Count):
        return ZERO
    if isinstance(axis, Merged):
        result: Any = lift(1)
        for part, x, y in zip(axis.parts, p, q):
            result = times(result, same_place(part, x, y))
        return result
    return same_place(axis.parts[p[0]], p[1], q[1]) if p[0] == q[0] else ZERO


def place_of(call: Call, axis: Axis, k: Any) -> Any:
    """Return the position of an index, which counts from 0, or backwards from the end."""
    offset = call.reading.sizes.length(k)
    if any(c < 0 for c in offset.values()) and offset.keys() <= {()}:
        offset = added(length(axis), offset)
    if isinstance(axis, Count) and offset.keys() <= {()}:
        return offset.get((), 0)
    if isinstance(axis, Run) and offset.keys() <= {()}:
        return position_of_symbolic(axis, offset.get((), 0))
    if isinstance(axis, Joined):
        start: dict = {}
        for part_number, part in enumerate(axis.parts):
            local = added(offset, {names: -c for names, c in start.items()})
            if isinstance(part, Count) and local.keys() <= {()} and 0 <= local.get((), 0) < part.n:
                return part_number, local.get((), 0)
            start = added(start, length(part))
    raise Sized("a place that is counted along an axis whose length is not known")


def position_of_symbolic(axis: Run, k: int) -> Any:
    """Return position k of a symbolic axis; raise `Sized` for k > 0, which need not exist at every size."""
    if k == 0:
        return lift(1)
    raise Sized("a place beyond the first of an axis whose length is not known", (axis.size.data[0],))


def shifted(e: Expr) -> tuple[Expr | None, Fraction]:
    """Return (i, k) if e is i + k for an index i and a constant k, else (None, 0)."""
    if e.op == "index":
        return e, Fraction(0)
    if e.op == "add" and e.args[0].op == "index" and e.args[1].op == "const":
        return e.args[0], e.args[1].data
    return None, Fraction(0)


def place_at(axis: Axis, e: Entry, negative: bool = False) -> Any:
    """Return the position of an index that is an entry of a tensor. Negative indices count from the end if `negative`."""
    if isinstance(e, bool):
        raise NotRead("a place that is a truth value")
    e = number(e)
    if is_const(e) and isinstance(axis, Count):
        if e.data.denominator != 1 or not (-axis.n if negative else 0) <= e.data < axis.n:
            raise NotRead(f"place {e.data} of {axis.n}")
        return int(e.data) % axis.n
    if is_const(e) and isinstance(axis, Run) and e.data == 0:
        return lift(1)
    i, k = shifted(e)
    if i is not None and k == -1 and isinstance(axis, Run) and i.data[1] == axis.size:
        return i
    names = (axis.size.data[0],) if isinstance(axis, Run) else ()
    raise Sized("a place that is computed", names)
