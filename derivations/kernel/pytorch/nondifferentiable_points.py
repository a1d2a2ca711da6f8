"""Where a derivative has no value: what a root, a modulus or a power is taken of is 0 there, and the slopes on its two sides differ.

At such a point autograd gives some number all the same, or none, so that both sides of it are looked at: the difference of the two slopes
shrinks with the step where there is a derivative, and stays where there is a corner.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import torch
from torch import Tensor

from ..core.expr import Expr, show, symbols
from ..core.operators import BENT, BINDERS, variable
from .error_bounds import COVER, Value
from .errors import Disagrees
from .evaluation_cache import has
from .trial import OUTCOME, POINT, Trial, at_point

STEPS = (2.0**-18, 2.0**-22)
Evaluate = Callable[..., Value]


def refuse_corners(e: Expr, t: Trial, axes: dict, deep: int, evaluate: Evaluate):
    """Disagrees if a derivative is taken at a point of the trial where there is none; the point is shown."""
    body, by = e.args
    target = variable(by)
    doubtful = zeros(body, target, t, axes, deep, evaluate)
    for point in doubtful.nonzero().flatten().tolist():
        there = t.but({name: Value(at_point(x.v, point), at_point(x.e, point)) for name, x in t.values.items()})
        for place in places(by, t):
            if has_corner(body, target, place, there, axes, deep, evaluate):
                raise Disagrees(f"{show(e)} has no value at {shown(body, there)}: the slopes on the two sides of that point differ")


def zeros(e: Expr, target: Expr, t: Trial, axes: dict, deep: int, evaluate: Evaluate) -> Tensor:
    """At which points something is exactly 0 that a root, a modulus or a power that is not whole is taken of; or two entries are the largest."""
    found = torch.zeros(max(len(x.v) for x in t.values.values()), dtype=torch.bool)
    if not has(e, target):
        return found
    fractional = e.op == "pow" and not (e.args[1].op == "const" and e.args[1].data.denominator == 1)
    corner = at_zero if fractional else CORNERS[e.data] if e.op == "function" and e.data in BENT else None
    if corner is not None:
        found = found | corner(evaluate(e.args[0], t, axes, deep))
    inside = ({**axes, e.data: deep}, deep + 1) if e.op in BINDERS else (axes, deep)
    for part in e.args:
        found = found | zeros(part, target, t, *inside, evaluate)
    return found


def at_zero(x: Value) -> Tensor:
    return ((x.v == 0) & (x.e == 0)).flatten(1).any(1)


def at_ties(x: Value) -> Tensor:
    return ((x.v == x.v.amax(-1, keepdim=True)).sum(-1) > 1).flatten(1).any(1)


# At which points a function has a corner, by the value of its argument. At the corner of a norm, autograd has no number.
CORNERS: dict[str, Callable[[Value], Tensor] | None] = {"abs": at_zero, "largest": at_ties, "norm": None}


def places(by: Expr, t: Trial) -> list:
    """The entries that a derivative is taken by, at every value of its indices."""
    if by.op != "entry":
        return [()]
    return list(product(*([int(i.data) - 1] if i.op == "const" else range(t.size(i.data[1])) for i in by.args[1:])))


def has_corner(body: Expr, target: Expr, place: tuple, t: Trial, axes: dict, deep: int, evaluate: Evaluate) -> bool:
    """Do the slopes on the two sides of a point differ, however small the step; or has one side no value?"""

    def at(distance: float) -> Value:
        known = t.values[target.data[0]]
        moved = known.v.clone()
        moved[(..., *place)] += distance
        return evaluate(body, t.but({**t.values, target.data[0]: Value(moved, known.e)}), axes, deep)

    middle = at(0)
    if not middle.v.isfinite().all():
        return False
    jumps = []
    for step in STEPS:
        try:
            left, right = at(-step), at(step)
        except Disagrees:  # it has no value on one side
            return True
        bound = COVER * (left.e + 2 * middle.e + right.e) / step
        jumps.append((((right.v - middle.v) - (middle.v - left.v)).abs() / step, bound))
    (far, _), (near, bound) = jumps
    return bool(((near > 2 * bound) & (near > far / 2)).any())


def shown(body: Expr, t: Trial) -> str:
    """The values of what the body names, at the one point of a trial."""
    texts = []
    for name, s in sorted(symbols(body).items()):
        if name in t.values and t.values[name].v.shape[OUTCOME] == 1:
            v = t.values[name].v
            texts.append(f"{name} = {v.reshape(v.shape[t.leading :]).tolist() if s.shape else format(v.flatten()[POINT].item(), 'g')}")
    return ", ".join(texts)
