"""Places along an axis and the numbers that code has for them, which count from 0; and whether two places are one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..core.expr import Expr, eye, lift
from .axes import Axis, Count, Joined, Length, Merged, Place, Run, added, length
from .entries import ZERO, Entry, is_const, number, plus, times
from .errors import NotRead, Sized
from .operation_rules import Call


def numbered(axis: Axis, place: Place) -> Expr:
    """A place along an axis as the number that code has for it, from 0 on."""
    if isinstance(axis, Count):
        return lift(place)
    if isinstance(axis, Run):
        return lift(place.data - 1) if place.op == "const" else Expr("add", (place, lift(-1)))
    if isinstance(axis, Joined):
        which, own = place
        start: Length = {}
        for part in axis.parts[:which]:
            start = added(start, length(part))
        return plus(number_of(start, axis), numbered(axis.parts[which], own))
    raise Sized("places along an axis that was made of two are numbered")


def number_of(of: Length, axis: Axis) -> Expr:
    sizes = {part.size.data[0]: part.size for part in getattr(axis, "parts", ()) if isinstance(part, Run)}
    result: Any = lift(0)
    for names, k in of.items():
        one: Any = lift(k)
        for name in names:
            if name not in sizes:
                raise Sized("places along an axis that was made of two are numbered")
            one = times(one, sizes[name])
        result = plus(result, one)
    return result


def same_place(axis: Axis, p: Any, q: Any) -> Any:
    """1 where two places along an axis are one, and 0 elsewhere."""
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
    """The place that is counted from 0, or backwards from the end."""
    at = call.reading.sizes.length(k)
    if any(c < 0 for c in at.values()) and at.keys() <= {()}:
        at = added(length(axis), at)
    if isinstance(axis, Count) and at.keys() <= {()}:
        return at.get((), 0)
    if isinstance(axis, Run) and at.keys() <= {()}:
        return first_of(axis, at.get((), 0))
    if isinstance(axis, Joined):
        start: dict = {}
        for which, part in enumerate(axis.parts):
            here = added(at, {names: -c for names, c in start.items()})
            if isinstance(part, Count) and here.keys() <= {()} and 0 <= here.get((), 0) < part.n:
                return which, here.get((), 0)
            start = added(start, length(part))
    raise Sized("a place that is counted along an axis whose length is not known")


def first_of(axis: Run, k: int) -> Any:
    """The place k from the front of what runs to a symbol, where there is one at each size: the first."""
    if k == 0:
        return lift(1)
    raise Sized("a place beyond the first of an axis whose length is not known", (axis.size.data[0],))


def shifted(e: Expr) -> tuple[Expr | None, Fraction]:
    """(i, k) of i + k."""
    if e.op == "index":
        return e, Fraction(0)
    if e.op == "add" and e.args[0].op == "index" and e.args[1].op == "const":
        return e.args[0], e.args[1].data
    return None, Fraction(0)


def place_at(axis: Axis, e: Entry, negative: bool = False) -> Any:
    """A number that code has for a place, as that place; some operations count backwards from the end too."""
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
