"""Decide at which points of a trial an assumption about numbers holds."""

from __future__ import annotations

import torch
from torch import Tensor

from ..core.assumptions import Assumption, is_random
from ..core.expr import Expr
from .bounded_operations import product
from .error_bounds import BoundedValue
from .evaluation import evaluate
from .trial import Trial


def full_symbol(x: Expr) -> list[str]:
    """Return the name of the symbol, in a list, if x stands for all its entries; else an empty list.

    That is a scalar symbol, or an entry of a symbol at free indices that are all different.
    """
    if x.op == "paren":
        return full_symbol(x.args[0])
    if x.op == "entry" and all(i.op == "index" for i in x.args[1:]) and len(set(x.args[1:])) == len(x.args[1:]):
        x = x.args[0]
    return [x.data[0]] if x.op == "symbol" else []


def evaluate_exactly(x: Expr, t: Trial) -> BoundedValue:
    """Evaluate x with no bound where no rounding took place: with one, a boundary such as h - 2 = 0 could not be decided."""
    before, t.exactly = t.exactly, True
    value = evaluate(x, t)
    t.exactly = before
    return value


def holds(a: Assumption, t: Trial) -> Tensor:
    """Return a mask of the points at which an assumption about numbers certainly holds."""
    if a.kind == "representable":
        found = [evaluate_exactly(x, t) for x in a.args]
        return torch.stack([((x.value.to(torch.float32).double() == x.value) & (x.error == 0)).flatten(1).all(1) for x in found]).all(0)
    elif a.kind == "zero_or_one" and not is_random(a.args[0]):  # all outcomes of what is random are 0 or 1
        x = evaluate(a.args[0], t)
        good = ((x.value == 0) | (x.value == 1)) & (x.error == 0)
    elif a.kind == "product":
        left, right = (evaluate(x, t).value for x in a.args[:2])  # the error bounds are not needed
        x = product(left, right, len(a.args[0].shape) == 1, len(a.args[1].shape) == 1)
        good = x == (float(a.args[2].data) * torch.eye(*x.shape[-2:], dtype=torch.float64) if a.args[2].data else 0)
    elif a.kind == "invertible":
        x = evaluate(a.args[0], t)
        found, info = torch.linalg.inv_ex(x.value)
        good = (info == 0) & (torch.linalg.matrix_norm(found) * torch.linalg.matrix_norm(x.value) < 1e6)
    elif a.kind in ("positive", "nonnegative", "nonzero", "variance"):
        x = evaluate_exactly(a.args[-1], t)
        good = x.value.abs() > x.error if a.kind == "nonzero" else x.value > x.error if a.kind == "positive" else x.value >= x.error
    else:
        return torch.tensor(True)
    return good.flatten(1).all(1)
