"""Bound what a program changes by subtracting a number from all exponents before it takes exponentials, as a stable softmax does.

Each exponent is then rounded once more, with an error of at most u times the range of the exponents, 0 among them.
"""

from __future__ import annotations

from contextlib import suppress

import torch
from torch import Tensor

from ..core.expr import Expr, symbols
from ..core.operators import BINDERS
from .errors import CannotDecide, UndefinedValue
from .evaluation import evaluate
from .trial import Trial


def exponent_range(trees: list[Expr], t: Trial) -> tuple[Tensor, Tensor]:
    """Return the smallest and the largest exponent in some trees, or 0, at each point of a trial; both have one axis."""
    t.remembered.refresh(t)
    low = high = torch.zeros(1, dtype=torch.float64)
    for e in trees:
        for x in exponents(e, t, t.axes, 2 + len(t.axes)):
            flat = x.nan_to_num(0).reshape(len(x), -1)
            low, high = torch.minimum(low, flat.amin(1)), torch.maximum(high, flat.amax(1))
    return low, high


def exponents(e: Expr, t: Trial, axes: dict, deep: int) -> list[Tensor]:
    """Return the values of the arguments of all exponentials and softmaxes in a tree, except where one has no value or is random."""
    found = []
    is_random = any(s.data[1] == "random" for s in symbols(e).values())
    if not is_random and (e.op == "softmax" or (e.op, e.data) == ("function", "exp")):
        with suppress(CannotDecide, UndefinedValue):
            x = evaluate(e.args[0], t, axes, deep).value
            found.append(x.real if x.is_complex() else x)
    inner = ({**axes, e.data: deep}, deep + 1) if e.op in BINDERS else (axes, deep)
    return found + [x for part in e.args for x in exponents(part, t, *inner)]
