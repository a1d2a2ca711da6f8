"""Reject derivatives at points where a function is not differentiable, such as a root or an absolute value at 0.

At such a point autograd may still return a number. So the difference quotients on the two sides are compared: their difference shrinks with the
step if there is a derivative, and does not if there is a corner.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import torch
from torch import Tensor

from ..core.expr import Expr, show, symbols
from ..core.operators import BINDERS, NONSMOOTH, differentiation_symbol
from .error_bounds import COVER, BoundedValue
from .errors import Disagreement
from .evaluation_cache import contains_leaf
from .trial import OUTCOME, POINT, Trial, at_point

STEPS = (2.0**-18, 2.0**-22)
Evaluate = Callable[..., BoundedValue]


def reject_corners(e: Expr, t: Trial, axes: dict, deep: int, evaluate: Evaluate) -> None:
    """Raise Disagrees if a derivative is taken at a point of the trial where there is none; the message shows the point."""
    body, by = e.args
    target = differentiation_symbol(by)
    doubtful = possible_corners(body, target, t, axes, deep, evaluate)
    for point in doubtful.nonzero().flatten().tolist():
        at_point_ = t.but({name: BoundedValue(at_point(x.value, point), at_point(x.error, point)) for name, x in t.values.items()})
        for position in differentiated_positions(by, t):
            if has_corner(body, target, position, at_point_, axes, deep, evaluate):
                raise Disagreement(
                    f"{show(e)} has no value at {show_point(body, at_point_)}: the slopes on the two sides of that point differ",
                    code="no-derivative",
                )


def possible_corners(e: Expr, target: Expr, t: Trial, axes: dict, deep: int, evaluate: Evaluate) -> Tensor:
    """Return a mask of the points where e may have a corner: the argument of a root, absolute value or non-integer power is exactly 0, or two
    entries are the largest."""
    mask = torch.zeros(max(len(x.value) for x in t.values.values()), dtype=torch.bool)
    if not contains_leaf(e, target):
        return mask
    fractional = e.op == "pow" and not (e.args[1].op == "const" and e.args[1].data.denominator == 1)
    corner = at_zero if fractional else CORNERS[e.data] if e.op == "function" and e.data in NONSMOOTH else None
    if corner is not None:
        mask = mask | corner(evaluate(e.args[0], t, axes, deep))
    inner = ({**axes, e.data: deep}, deep + 1) if e.op in BINDERS else (axes, deep)
    for part in e.args:
        mask = mask | possible_corners(part, target, t, *inner, evaluate)
    return mask


def at_zero(x: BoundedValue) -> Tensor:
    """Return a mask of the points where an entry is exactly 0."""
    return ((x.value == 0) & (x.error == 0)).flatten(1).any(1)


def at_ties(x: BoundedValue) -> Tensor:
    """Return a mask of the points where the largest entry occurs twice."""
    return ((x.value == x.value.amax(-1, keepdim=True)).sum(-1) > 1).flatten(1).any(1)


# The points where a function has a corner, by the value of its argument. Autograd has no value at the corner of a norm.
CORNERS: dict[str, Callable[[BoundedValue], Tensor] | None] = {"abs": at_zero, "largest": at_ties, "norm": None}


def differentiated_positions(by: Expr, t: Trial) -> list:
    """Return the positions of the entries with respect to which a derivative is taken."""
    if by.op != "entry":
        return [()]
    return list(product(*([int(i.data) - 1] if i.op == "const" else range(t.size(i.data[1])) for i in by.args[1:])))


def has_corner(body: Expr, target: Expr, position: tuple, t: Trial, axes: dict, deep: int, evaluate: Evaluate) -> bool:
    """Return whether the difference quotients on the two sides of a point differ for small steps, or one side has no value."""

    def evaluate_at(distance: float) -> BoundedValue:
        known = t.values[target.data[0]]
        moved = known.value.clone()
        moved[(..., *position)] += distance
        return evaluate(body, t.but({**t.values, target.data[0]: BoundedValue(moved, known.error)}), axes, deep)

    middle = evaluate_at(0)
    if not middle.value.isfinite().all():
        return False
    differences = []
    for step in STEPS:
        try:
            left, right = evaluate_at(-step), evaluate_at(step)
        except Disagreement:  # one side has no value
            return True
        bound = COVER * (left.error + 2 * middle.error + right.error) / step
        differences.append((((right.value - middle.value) - (middle.value - left.value)).abs() / step, bound))
    (coarse, _), (fine, bound) = differences
    return bool(((fine > 2 * bound) & (fine > coarse / 2)).any())


def show_point(body: Expr, t: Trial) -> str:
    """Return the values of the symbols of an expression at the only point of a trial, as text."""
    texts = []
    for name, s in sorted(symbols(body).items()):
        if name in t.values and t.values[name].value.shape[OUTCOME] == 1:
            v = t.values[name].value
            texts.append(f"{name} = {v.reshape(v.shape[t.leading :]).tolist() if s.shape else format(v.flatten()[POINT].item(), 'g')}")
    return ", ".join(texts)
