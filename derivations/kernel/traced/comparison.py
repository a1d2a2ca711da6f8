"""Whether what code computes is what a claim says: the two have one normal form at every place."""

from __future__ import annotations

from itertools import product
from typing import Any

from ..core.expr import Expr, show, symbols
from ..errors import KernelError
from ..exact.counterexample_search import counterexample
from ..exact.polynomial_printing import in_short, show_polynomial
from ..exact.proofs import equal
from .axes import Run, along, places
from .call_arguments import entry, put, spot
from .entries import number
from .errors import Different, NotRead
from .tensor_values import Value
from .tracing import Reading

MOST = 400  # entries that are compared one by one


def same(value: Value, want: Expr, free: list[Expr], reading: Reading) -> list[str]:
    """What the proof that the two are equal needs beside what is assumed. NotRead where it is not found, Different where a number shows why."""
    shape = [i.data[1] for i in free] + list(want.shape)
    axes = tuple(map(along, shape))
    if value.axes != axes:
        raise NotRead(f"it gives the axes {[shown(a) for a in value.axes]}, and the claim has {[shown(a) for a in axes]}")
    needed: list[str] = []
    spots = [[(i, ())] if isinstance(axis, Run) else list(places(axis)) for i, axis in zip(free, axes)]
    spots += [list(places(axis)) for axis in axes[len(free) :]]
    everywhere = list(product(*spots))
    if len(everywhere) > MOST:
        raise NotRead(f"{len(everywhere)} entries are too many to compare")
    for chosen in everywhere:
        place = tuple(p for p, _ in chosen)
        have = number(value.at(place))
        wanted = put(entry(want, tuple(map(spot, place[len(free) :]))), {i: spot(p) for i, p in zip(free, place)})
        needed += compared(have, wanted, reading)
    return list(dict.fromkeys(needed))


def compared(have: Expr, want: Expr, reading: Reading) -> list[str]:
    facts = reading.facts()
    facts.near = (have, want)
    try:
        residual = equal(have, want, facts)
    except KernelError as error:
        raise NotRead(f"the normal form does not decide it: {error}") from None
    if residual:
        refuse_different(have, want, reading)
        raise NotRead(f"not shown to be equal: they differ by {in_short(show_polynomial(residual, have, want), 200)}")
    return facts.unstated


def refuse_different(have: Expr, want: Expr, reading: Reading) -> None:
    """Different where a number shows it at which all holds that was supposed. Of a number of which nothing is known nothing is shown."""
    if reading.opaque & set(symbols(have)):
        return
    try:
        found = counterexample(have, want, (*reading.given, *reading.supposed))
    except (KernelError, RecursionError, ArithmeticError, ValueError):
        return
    if found:
        raise Different(f"{found}, where {in_short(show(have), 200)} is computed and {in_short(show(want), 200)} is claimed")


def shown(axis: Any) -> str:
    parts = getattr(axis, "parts", ())
    sign = "*" if type(axis).__name__ == "Merged" else "+"
    return sign.join(map(shown, parts)) if parts else str(axis.n) if hasattr(axis, "n") else show(axis.size)
