"""Compare what code computes with what a claim says: their entries must have the same normal form at every position."""

from __future__ import annotations

from itertools import product

from ..core.expr import Expr, show, symbols
from ..errors import KernelError
from ..exact.counterexample_search import counterexample
from ..exact.polynomial_printing import in_short, show_polynomial
from ..exact.proofs import equal
from .axes import Axis, Count, Merged, Run, along, places
from .call_arguments import entry, put, spot
from .entries import number
from .errors import Different, NotRead
from .tensor_values import Value
from .tracing import Reading

MAX_ENTRIES = 400  # compared one by one


def same(value: Value, claimed: Expr, free: list[Expr], reading: Reading) -> list[str]:
    """Return the conditions, beyond the assumptions, under which a tensor equals an expression.

    Raise NotRead if no proof is found, and Different if a counterexample is.
    """
    shape = [i.data[1] for i in free] + list(claimed.shape)
    axes = tuple(map(along, shape))
    if value.axes != axes:
        raise NotRead(f"it gives the axes {[show_length(a) for a in value.axes]}, and the claim has {[show_length(a) for a in axes]}")
    needed: list[str] = []
    along_axes = [[(i, ())] if isinstance(axis, Run) else list(places(axis)) for i, axis in zip(free, axes)]
    along_axes += [list(places(axis)) for axis in axes[len(free) :]]
    all_positions = list(product(*along_axes))
    if len(all_positions) > MAX_ENTRIES:
        raise NotRead(f"{len(all_positions)} entries are too many to compare")
    for combination in all_positions:
        position = tuple(p for p, _ in combination)
        computed = number(value.at(position))
        expected = put(entry(claimed, tuple(map(spot, position[len(free) :]))), {i: spot(p) for i, p in zip(free, position)})
        needed += compare_entries(computed, expected, reading)
    return list(dict.fromkeys(needed))


def compare_entries(computed: Expr, claimed: Expr, reading: Reading) -> list[str]:
    """Return the conditions, beyond the assumptions, under which two entries are equal; raise as `same` does."""
    facts = reading.facts()
    facts.near = (computed, claimed)
    try:
        residual = equal(computed, claimed, facts)
    except KernelError as error:
        raise NotRead(f"the normal form does not decide it: {error}") from None
    if residual:
        reject_different(computed, claimed, reading)
        raise NotRead(f"not shown to be equal: they differ by {in_short(show_polynomial(residual, computed, claimed), 200)}")
    return facts.unstated


def reject_different(computed: Expr, claimed: Expr, reading: Reading) -> None:
    """Raise Different if the entries differ at a point where the assumptions and the conditions so far hold.

    An entry with an unknown number (`Reading.unknown`) has no counterexample.
    """
    if reading.opaque & set(symbols(computed)):
        return
    try:
        found = counterexample(computed, claimed, (*reading.given, *reading.supposed))
    except (KernelError, RecursionError, ArithmeticError, ValueError):
        return
    if found:
        raise Different(f"{found}, where {in_short(show(computed), 200)} is computed and {in_short(show(claimed), 200)} is claimed")


def show_length(axis: Axis) -> str:
    """Return the length of an axis as text."""
    if isinstance(axis, Count):
        return str(axis.n)
    if isinstance(axis, Run):
        return show(axis.size)
    return ("*" if isinstance(axis, Merged) else "+").join(map(show_length, axis.parts))
