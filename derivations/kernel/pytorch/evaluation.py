"""A tree of the claim to its value at every point of a trial, with a bound: one rule for each node.

The rules say how a node takes its parts; what is computed with them is in `error_bounds.py` and `tensor_operations.py`.
"""

from __future__ import annotations

from math import prod

import torch

from ..core.expr import Expr, free_indices, show, sqrt, walk
from ..core.operators import AVERAGES, STAND_INS, variable
from . import error_bounds, tensor_operations
from .error_bounds import Value, gamma, number
from .errors import Disagrees, NotForTorch
from .evaluation_cache import has, place
from .nondifferentiable_points import refuse_corners
from .trial import OUTCOME, POINT, Trial, along, averaged, pick


def evaluate(e: Expr, t: Trial, axes: dict | None = None, deep: int | None = None) -> Value:
    """e at all points of the trial; axes says which leading axis an index runs along, deep is the first that is still unused."""
    if axes is None or t.remembered.state is None:  # within a tree, the trial stays as it is
        t.remembered.refresh(t)
    axes = t.axes if axes is None else axes
    deep = 2 + len(t.axes) if deep is None else deep
    rule = RULES.get(e.op)
    if rule is None:
        raise NotForTorch(f"PyTorch has no counterpart of '{e.op}'")
    at = place(e, axes, deep)
    if at not in t.remembered.found:
        x = rule(e, t, axes, deep)
        t.remembered.keep(at, x)
        return x
    return t.remembered.found[at]


def aligned(parts: list, e: Expr) -> list:
    """Scalars beside a tensor, with axes of size one for the tensor's."""
    return [
        x if argument.shape or not e.shape else Value(*(y[(...,) + (None,) * len(e.shape)] for y in x))
        for x, argument in zip(parts, e.args)
    ]


def entrywise(rule):
    def run(e, t, axes, deep):
        return rule(*aligned([evaluate(a, t, axes, deep) for a in e.args], e), t.exactly)

    return run


def raised(e, t, axes, deep):
    """A power; that an exponent of sizes and whole numbers is whole is known, whatever its roundings would be."""
    base, exponent = e.args
    whole = whole_number(exponent, t)
    power = evaluate(exponent, t, axes, deep) if whole is None else t.lead(number(whole))
    if whole is None and is_whole(exponent) and (power.e < 0.25).all():  # then it is the whole number next to what was computed
        power = Value(power.v.round(), torch.zeros_like(power.v))
    return error_bounds.power(evaluate(base, t, axes, deep), power, t.exactly)


def is_whole(e: Expr) -> bool:
    """Is e made of sizes, indices and whole numbers, so that it is whole itself?"""
    if e.op in ("add", "mul", "neg", *STAND_INS):
        return all(map(is_whole, e.args))
    return e.op == "index" or e.op == "symbol" and e.data[1] == "size" or e.op == "const" and e.data.denominator == 1


def whole_number(e: Expr, t: Trial) -> int | None:
    """What e is worth, where it is made of sizes and whole numbers; else None."""
    if e.op == "const":
        return int(e.data) if e.data.denominator == 1 else None
    if e.op == "symbol":
        return t.size(e) if e.data[1] == "size" and e.data[0] not in t.values else None
    parts = [whole_number(x, t) for x in e.args]
    rule = {"add": sum, "mul": prod, "neg": lambda x: -x[0], "paren": sum, "defined": sum}.get(e.op)
    return rule(parts) if rule and not e.shape and None not in parts else None


def function(e, t, axes, deep):
    if e.data not in FUNCTIONS:
        raise NotForTorch(f"PyTorch has no counterpart of '{e.data}'")
    if e.data == "norm":
        return evaluate(sqrt(e.args[0] @ e.args[0]), t, axes, deep)
    return FUNCTIONS[e.data](evaluate(e.args[0], t, axes, deep))


FUNCTIONS = {
    "abs": error_bounds.absolute,
    "exp": error_bounds.exponential,
    "log": error_bounds.logarithm,
    "cos": error_bounds.cosine,
    "sin": error_bounds.sine,
    "tanh": error_bounds.tangent,
    "norm": None,  # written out
    "largest": tensor_operations.largest,
}


def rounded(e, t, axes, deep):
    """What overflows has no value here, and that none does is to be stated."""
    x = evaluate(e.args[0], t, axes, deep)
    found = error_bounds.to_single(x)
    if t.overflows and (x.v.isfinite() & (x.e == 0) & ~found.v.isfinite()).any():
        raise Disagrees(f"{show(e)} overflows, and nothing stated says that no exponent leaves the format's range")
    return found


def of_one(operation):
    """A rule that computes with the value of the only part."""

    def run(e, t, axes, deep):
        return operation(evaluate(e.args[0], t, axes, deep))

    return run


def matmul(e, t, axes, deep):
    a, b = (evaluate(x, t, axes, deep) for x in e.args)
    return tensor_operations.matmul(a, b, len(e.args[0].shape) == 1, len(e.args[1].shape) == 1)


def inverse(e, t, axes, deep):
    return tensor_operations.inverse(evaluate(e.args[0], t, axes, deep), show(e.args[0]))


def sum_(e, t, axes, deep):
    return tensor_operations.add_up(evaluate(e.args[0], t, {**axes, e.data: deep}, deep + 1), deep, t.size(e.data[1]))


def each(e, t, axes, deep):
    body = evaluate(e.args[0], t, {**axes, e.data: deep}, deep + 1)
    return tensor_operations.along_first(body, deep, t.size(e.data[1]), t.leading)


def array(e, t, axes, deep):
    return tensor_operations.stack([evaluate(x, t, axes, deep) for x in e.args], t.shape(e))


def entry(e, t, axes, deep):
    return pick(evaluate(e.args[0], t, axes, deep), e.args[1:], t, axes)


def derivative(e, t, axes, deep):
    """By autograd; and its bound, by the error rules.

    Every path from the result to the variable is a product of slopes, and the error rules, given an error at the variable alone,
    add up the absolute values of these products. The bound is that sum, times gamma for 64 roundings a node.
    """
    body, by = e.args
    target = variable(by)
    if any(n.op in ("rounded", "rank") and has(n, target) for n in walk(body)):
        raise Disagrees(f"{show(e)}: what goes in steps is differentiated")
    if any(n.op == "derivative" for n in walk(body)):
        raise NotForTorch("a derivative of a derivative, of which autograd carries no bound")
    refuse_corners(e, t, axes, deep, evaluate)
    name, known = target.data[0], t.values[target.data[0]]
    # One copy of the variable for each value of the body's indices, and for each outcome that is not averaged over, so that one sum
    # differentiates all. An index of the variable alone says which of the slopes is taken.
    apart = (POINT,) if averaged(body) else (POINT, OUTCOME)
    if OUTCOME in apart and any(n.op in AVERAGES and has(n, target) for n in walk(body)):
        raise NotForTorch("the derivative of an average beside what is random itself")
    lead = [max([1, *(x.v.shape[k] for x in t.values.values())]) if k in apart else 1 for k in range(t.leading)]
    for i in free_indices(body):
        lead[axes[i.data]] = t.size(i.data[1])
    step = 2.0**-26
    with torch.inference_mode(False):
        leaf = known.v.expand(*lead, *known.v.shape[t.leading :]).clone().requires_grad_()
        values = {n: Value(*(y.clone() for y in x)) for n, x in t.values.items()}  # of which gradients may be kept
        there = t.but({**values, name: Value(leaf, torch.zeros_like(leaf) + step)})
        there.weights = t.weights and Value(*(x.clone() for x in t.weights))
        at = evaluate(body, there, axes, deep)
        if at.v.is_complex():
            raise NotForTorch("the derivative of a complex number")
        slope = torch.autograd.grad(at.v.sum(), leaf, allow_unused=True)[0] if at.v.requires_grad else None
    slope = torch.zeros_like(leaf) if slope is None else slope
    paths = at.e.detach()[(...,) + (None,) * len(target.shape)] / step
    found = Value(slope, gamma(64 * sum(1 for _ in walk(body))) * (paths + slope.abs()).expand(slope.shape))
    return pick(found, by.args[1:], t, axes) if by.op == "entry" else found


def average(x: Value, t: Trial) -> Value:
    if t.weights is None:
        raise NotForTorch("an expectation of what is not random")
    if x.v.shape[OUTCOME] == 1:
        return x
    w = t.weights
    mean = tensor_operations.add_up(
        Value(w.v * x.v, w.v * x.e + w.e * x.v.abs() + error_bounds.rounding(w.v * x.v)), OUTCOME, w.v.shape[OUTCOME]
    )
    one = x.v.narrow(OUTCOME, 0, 1)
    same = ((x.v == one) & (x.e == 0)).all(OUTCOME, keepdim=True)  # one number in every outcome is its own mean
    return Value(torch.where(same, one, mean.v), torch.where(same, 0.0, mean.e))


def expectation(e, t, axes, deep):
    return average(evaluate(e.args[0], t, axes, deep), t)


def variance(e, t, axes, deep):
    x = evaluate(e.args[0], t, axes, deep)
    first, second = average(x, t), average(error_bounds.multiply(x, x, t.exactly), t)
    square = error_bounds.multiply(first, first, t.exactly)
    return error_bounds.add(second, Value(-square.v, square.e), t.exactly)


def from_symbol(e, t, axes, deep):
    name = e.data[0]
    if e.data[1] != "size" and name not in t.values:
        raise Disagrees(f"no value is given for {name}")
    return t.values[name] if name in t.values else t.lead(number(t.size(e)))


def filled(make):
    def run(e, t, axes, deep):
        v = make(e, t)
        return t.lead(Value(v, torch.zeros_like(v)), v.dim())

    return run


def through(change):
    def run(e, t, axes, deep):
        return Value(*map(change, evaluate(e.args[0], t, axes, deep)))

    return run


def negative(e, t, axes, deep):
    x = evaluate(e.args[0], t, axes, deep)
    return Value(-x.v, x.e)


RULES = {
    "const": lambda e, t, axes, deep: t.lead(number(e.data)),
    "imaginary": lambda e, t, axes, deep: t.lead(Value(torch.tensor(1j, dtype=torch.complex128), torch.tensor(0.0, dtype=torch.float64))),
    "symbol": from_symbol,
    "index": lambda e, t, axes, deep: Value(
        *(
            along(y, axes[e.data], t)
            for y in (torch.arange(1.0, t.size(e.data[1]) + 1, dtype=torch.float64), torch.zeros(t.size(e.data[1]), dtype=torch.float64))
        )
    ),
    "defined": through(lambda x: x),
    "paren": through(lambda x: x),
    "add": entrywise(error_bounds.add),
    "neg": negative,
    "mul": entrywise(error_bounds.multiply),
    "div": entrywise(error_bounds.divide),
    "pow": raised,
    "matmul": matmul,
    "transpose": through(lambda x: x.transpose(-2, -1)),
    "inverse": inverse,
    "eye": filled(lambda e, t: torch.eye(t.size(e.shape[0]), dtype=torch.float64)),
    "fill": filled(lambda e, t: torch.full(t.shape(e), float(e.data), dtype=torch.float64)),
    "array": array,
    "sum": sum_,
    "each": each,
    "entry": entry,
    "function": function,
    "softmax": of_one(tensor_operations.softmax),
    "derivative": derivative,
    "rank": of_one(tensor_operations.rank),
    "rounded": rounded,
    "expectation": expectation,
    "variance": variance,
}
