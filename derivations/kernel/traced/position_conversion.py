"""Convert between positions along an axis and the indices of code, which count from 0; compare positions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..core.constructors import eye
from ..core.expr import Expr, lift
from .axes import Axis, FixedAxis, JoinedAxis, Length, MergedAxis, Position, SymbolicAxis, add_lengths, axis_length
from .entries import ZERO, Entry, add_entries, is_const, multiply_entries, to_number
from .errors import NeedsNumericSize, NotRead
from .operation_rules import Call


def index_of_position(axis: Axis, position: Position) -> Expr:
    """Return the index that code has for a position along an axis, counted from 0."""
    if isinstance(axis, FixedAxis):
        return lift(position)
    if isinstance(axis, SymbolicAxis):
        return lift(position.data - 1) if position.op == "const" else Expr("add", (position, lift(-1)))
    if isinstance(axis, JoinedAxis):
        part_number, inner = position
        start: Length = {}
        for part in axis.parts[:part_number]:
            start = add_lengths(start, axis_length(part))
        return to_number(add_entries(length_to_tree(start, axis), index_of_position(axis.parts[part_number], inner)))
    raise NeedsNumericSize("places along an axis that was made of two are numbered")


def length_to_tree(terms: Length, axis: Axis) -> Expr:
    """Return a length as a tree. Its sizes must be lengths of parts of the axis."""
    sizes = {part.size.data[0]: part.size for part in getattr(axis, "parts", ()) if isinstance(part, SymbolicAxis)}
    result: Any = lift(0)
    for names, k in terms.items():
        term: Any = lift(k)
        for name in names:
            if name not in sizes:
                raise NeedsNumericSize("places along an axis that was made of two are numbered")
            term = multiply_entries(term, sizes[name])
        result = add_entries(result, term)
    return result


def same_position(axis: Axis, p: Any, q: Any) -> Any:
    """Return 1 where two positions along an axis are the same, and 0 elsewhere."""
    if p == q:
        return lift(1)
    if isinstance(axis, SymbolicAxis):
        return Expr("entry", (eye(axis.size), p, q))
    if isinstance(axis, FixedAxis):
        return ZERO
    if isinstance(axis, MergedAxis):
        result: Any = lift(1)
        for part, x, y in zip(axis.parts, p, q):
            result = multiply_entries(result, same_position(part, x, y))
        return result
    return same_position(axis.parts[p[0]], p[1], q[1]) if p[0] == q[0] else ZERO


def position_of_index(call: Call, axis: Axis, k: Any) -> Any:
    """Return the position of an index, which counts from 0, or backwards from the end."""
    offset = call.reading.sizes.length(k)
    if any(c < 0 for c in offset.values()) and offset.keys() <= {()}:
        offset = add_lengths(axis_length(axis), offset)
    if isinstance(axis, FixedAxis) and offset.keys() <= {()}:
        return offset.get((), 0)
    if isinstance(axis, SymbolicAxis) and offset.keys() <= {()}:
        return position_of_symbolic(axis, offset.get((), 0))
    if isinstance(axis, JoinedAxis):
        start: dict = {}
        for part_number, part in enumerate(axis.parts):
            local = add_lengths(offset, {names: -c for names, c in start.items()})
            if isinstance(part, FixedAxis) and local.keys() <= {()} and 0 <= local.get((), 0) < part.n:
                return part_number, local.get((), 0)
            start = add_lengths(start, axis_length(part))
    raise NeedsNumericSize("a place that is counted along an axis whose length is not known")


def position_of_symbolic(axis: SymbolicAxis, k: int) -> Any:
    """Return position k of a symbolic axis; raise `NeedsNumericSize` for k > 0, which need not exist at every size."""
    if k == 0:
        return lift(1)
    raise NeedsNumericSize("a place beyond the first of an axis whose length is not known", (axis.size.data[0],))


def split_shift(e: Expr) -> tuple[Expr | None, Fraction]:
    """Return (i, k) if e is i + k for an index i and a constant k, else (None, 0)."""
    if e.op == "index":
        return e, Fraction(0)
    if e.op == "add" and e.args[0].op == "index" and e.args[1].op == "const":
        return e.args[0], e.args[1].data
    return None, Fraction(0)


def position_of_entry(axis: Axis, e: Entry, negative: bool = False) -> Any:
    """Return the position of an index that is an entry of a tensor. Negative indices count from the end if `negative`."""
    if isinstance(e, bool):
        raise NotRead("a place that is a truth value")
    e = to_number(e)
    if is_const(e) and isinstance(axis, FixedAxis):
        if e.data.denominator != 1 or not (-axis.n if negative else 0) <= e.data < axis.n:
            raise NotRead(f"place {e.data} of {axis.n}")
        return int(e.data) % axis.n
    if is_const(e) and isinstance(axis, SymbolicAxis) and e.data == 0:
        return lift(1)
    i, k = split_shift(e)
    if i is not None and k == -1 and isinstance(axis, SymbolicAxis) and i.data[1] == axis.size:
        return i
    names = (axis.size.data[0],) if isinstance(axis, SymbolicAxis) else ()
    raise NeedsNumericSize("a place that is computed", names)
