"""Compare what code computes with what a claim says: their entries must have the same normal form at every position."""

from __future__ import annotations

from itertools import product

from ..core.expr import Expr, show, symbols
from ..errors import KernelError
from ..exact.counterexample_search import find_counterexample
from ..exact.order_decision import Unequal
from ..exact.polynomial_printing import shorten_text, show_polynomial
from ..exact.proofs import find_difference
from .axes import Axis, FixedAxis, MergedAxis, SymbolicAxis, axis_of_size, iterate_positions
from .call_arguments import substitute, take_entry, to_kernel_index
from .computed_formula import make_formula
from .entries import to_number
from .errors import ComputesSomethingElse, NotRead
from .tensor_values import TensorValue
from .tracing import Trace, list_conditions

MAX_ENTRIES = 400  # compared one by one


def compare_with_tree(value: TensorValue, claimed: Expr, free: list[Expr], reading: Trace) -> list[str]:
    """Return the conditions, beyond the assumptions, under which a tensor equals an expression.

    Raise NotRead if no proof is found, and ComputesSomethingElse if a counterexample is found.
    """
    shape = [i.data[1] for i in free] + list(claimed.shape)
    axes = tuple(map(axis_of_size, shape))
    if value.axes != axes:
        raise NotRead(f"it gives the axes {[show_length(a) for a in value.axes]}, and the claim has {[show_length(a) for a in axes]}")
    needed: list[str] = []
    along_axes = [[(i, ())] if isinstance(axis, SymbolicAxis) else list(iterate_positions(axis)) for i, axis in zip(free, axes)]
    along_axes += [list(iterate_positions(axis)) for axis in axes[len(free) :]]
    all_positions = list(product(*along_axes))
    if len(all_positions) > MAX_ENTRIES:
        raise NotRead(f"{len(all_positions)} entries are too many to compare")
    for combination in all_positions:
        position = tuple(p for p, _ in combination)
        computed = to_number(value.at(position))
        expected = substitute(
            take_entry(claimed, tuple(map(to_kernel_index, position[len(free) :]))), {i: to_kernel_index(p) for i, p in zip(free, position)}
        )
        needed += compare_entries(computed, expected, reading)
    is_general = all(isinstance(axis, SymbolicAxis) for axis in axes)
    reading.formulas.append(make_formula(computed, position[len(free) :], reading) if is_general else None)
    return list(dict.fromkeys(needed))


def compare_entries(computed: Expr, claimed: Expr, reading: Trace) -> list[str]:
    """Return the conditions, beyond the assumptions, under which two entries are equal; raise as `compare_with_tree` does."""
    facts = reading.facts()
    facts.near = (computed, claimed)
    try:
        residual = find_difference(computed, claimed, facts)
    except KernelError as error:
        if isinstance(error, Unequal) and not reading.sizes.guards():  # else the sides may differ at other sizes only
            reject_different(computed, claimed, reading)
        raise NotRead(f"the exact witness does not decide it: {error}") from None
    if residual:
        reject_different(computed, claimed, reading)
        raise NotRead(f"not shown to be equal: they differ by {shorten_text(show_polynomial(residual, computed, claimed), 200)}")
    return list_conditions(facts)


def reject_different(computed: Expr, claimed: Expr, reading: Trace) -> None:
    """Raise ComputesSomethingElse if the entries differ at a point where the assumptions and the conditions so far hold.

    An entry with an unknown number (`Reading.unknown`) has no counterexample.
    """
    if reading.opaque & set(symbols(computed)):
        return
    try:
        found = find_counterexample(computed, claimed, (*reading.given, *reading.assumptions))
    except (KernelError, RecursionError, ArithmeticError, ValueError):
        return
    if found:
        raise ComputesSomethingElse(
            f"{found}, where {shorten_text(show(computed), 200)} is computed and {shorten_text(show(claimed), 200)} is claimed"
        )


def show_length(axis: Axis) -> str:
    """Return the length of an axis as text."""
    if isinstance(axis, FixedAxis):
        return str(axis.n)
    if isinstance(axis, SymbolicAxis):
        return show(axis.size)
    return ("*" if isinstance(axis, MergedAxis) else "+").join(map(show_length, axis.parts))
