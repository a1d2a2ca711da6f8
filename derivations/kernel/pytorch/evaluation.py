"""Evaluate a tree of a claim at every point of a trial, with error bounds: one rule for each operator.

The rules evaluate the arguments of a node; the arithmetic is in `error_bounds.py` and `bounded_operations.py`. A rule takes the node `e`, the
trial `t`, the leading axis of each free index, `axes`, and the first leading axis that is unused, `deep`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import torch

from ..core.constructors import sqrt
from ..core.expr import Expr, free_indices, show, walk
from ..core.number_formats import FORMATS
from ..core.operators import AVERAGE_OPERATORS, TRANSPARENT, differentiation_symbol
from . import bounded_operations, error_bounds
from .error_bounds import BoundedValue, gamma, number
from .errors import CannotDecide, Disagreement
from .evaluation_cache import cache_key, contains_leaf
from .nondifferentiable_points import reject_corners
from .trial import OUTCOME, POINT, Trial, along_axis, is_averaged, take_entry

SMALLEST_ORDINARY = 2.0**-256  # a product of four values that are not smaller does not underflow

Rule = Callable[[Expr, Trial, dict, int], BoundedValue]


def evaluate(e: Expr, t: Trial, axes: dict | None = None, deep: int | None = None) -> BoundedValue:
    """Evaluate e at all points of a trial. `axes` maps indices to the leading axes that they run along; `deep` is the first unused axis."""
    if axes is None or t.remembered.state is None:  # within one tree, the trial does not change
        t.remembered.refresh(t)
    axes = t.axes if axes is None else axes
    deep = 2 + len(t.axes) if deep is None else deep
    rule = RULES.get(e.op)
    if rule is None:
        raise CannotDecide(f"PyTorch has no counterpart of '{e.op}'")
    key = cache_key(e, axes, deep)
    if key not in t.remembered.found:
        x = rule(e, t, axes, deep)
        t.remembered.keep(key, x)
        return x
    return t.remembered.found[key]


def align_scalars(parts: list[BoundedValue], e: Expr) -> list[BoundedValue]:
    """Return the values of the arguments of e; scalars get axes of size one so that they broadcast with a tensor."""
    return [
        x if argument.shape or not e.shape else BoundedValue(*(y[(...,) + (None,) * len(e.shape)] for y in x))
        for x, argument in zip(parts, e.args)
    ]


def entrywise(rule: Callable[..., BoundedValue]) -> Rule:
    """Return the rule of an operation on entries."""

    def run(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
        return rule(*align_scalars([evaluate(a, t, axes, deep) for a in e.args], e), t.exactly)

    return run


def power(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    """Evaluate a power. An exponent made of sizes and integers is taken as an exact integer, even if it was computed with rounding."""
    base, exponent = e.args
    whole = integer_value(exponent, t)
    power = evaluate(exponent, t, axes, deep) if whole is None else t.lead(number(whole))
    if whole is None and is_integer(exponent) and (power.error < 0.25).all():  # then it is the integer nearest to the computed value
        power = BoundedValue(power.value.round(), torch.zeros_like(power.value))
    return error_bounds.power(one_unless_needed(evaluate(base, t, axes, deep), t), power, t.exactly)


def quotient(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    a, b = align_scalars([evaluate(x, t, axes, deep) for x in e.args], e)
    return error_bounds.divide(a, one_unless_needed(b, t), t.exactly)


def one_unless_needed(x: BoundedValue, t: Trial) -> BoundedValue:
    """Return x with 1 where a condition says that the value is not needed, so that a division or a logarithm is defined there."""
    if t.needed is None:
        return x
    needed = t.needed[(...,) + (None,) * (x.value.dim() - t.leading)]
    return BoundedValue(torch.where(needed, x.value, 1.0), torch.where(needed, x.error, 0.0))


def is_integer(e: Expr) -> bool:
    """Return whether e is made of sizes, indices and integers, so that it is an integer."""
    if e.op in ("add", "mul", "neg", *TRANSPARENT):
        return all(map(is_integer, e.args))
    return e.op == "index" or e.op == "symbol" and e.data[1] == "size" or e.op == "const" and e.data.denominator == 1


def integer_value(e: Expr, t: Trial) -> int | None:
    """Return the value of e if it is made of sizes and integers; else None."""
    if e.op == "const":
        return int(e.data) if e.data.denominator == 1 else None
    if e.op == "symbol":
        return t.size(e) if e.data[1] == "size" and e.data[0] not in t.values else None
    parts = [integer_value(x, t) for x in e.args]
    rules: dict[str, Callable] = {"add": sum, "mul": prod, "neg": lambda x: -x[0], "paren": sum, "defined": sum}
    rule = rules.get(e.op)
    return rule(parts) if rule and not e.shape and None not in parts else None


def function(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    if e.data not in FUNCTIONS:
        raise CannotDecide(f"PyTorch has no counterpart of '{e.data}'")
    operation = FUNCTIONS[e.data]
    if operation is None:
        return evaluate(sqrt(e.args[0] @ e.args[0]), t, axes, deep)
    x = evaluate(e.args[0], t, axes, deep)
    return operation(one_unless_needed(x, t) if e.data == "log" else x)


FUNCTIONS: dict[str, Callable[[BoundedValue], BoundedValue] | None] = {
    "abs": error_bounds.absolute,
    "exp": error_bounds.exponential,
    "log": error_bounds.logarithm,
    "cos": error_bounds.cosine,
    "sin": error_bounds.sine,
    "tanh": error_bounds.tangent,
    "norm": None,  # `function` writes it as a root
    "largest": bounded_operations.largest,
}


def rounded(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    """Round to a format. Raise Disagreement on overflow if the claim does not assume that exponents stay in range."""
    x = evaluate(e.args[0], t, axes, deep)
    result = error_bounds.round_to_format(x, FORMATS[e.data], t.unbounded)
    if t.overflows and (x.value.isfinite() & (x.error == 0) & ~result.value.isfinite()).any():
        raise Disagreement(f"{show(e)} overflows, and nothing stated says that no exponent leaves the format's range", code="overflow")
    return result


def unary(operation: Callable[[BoundedValue], BoundedValue]) -> Rule:
    """Return the rule that applies an operation to the value of the only argument."""

    def run(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
        return operation(evaluate(e.args[0], t, axes, deep))

    return run


def matmul(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    a, b = (evaluate(x, t, axes, deep) for x in e.args)
    return bounded_operations.matmul(a, b, len(e.args[0].shape) == 1, len(e.args[1].shape) == 1)


def inverse(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    return bounded_operations.inverse(evaluate(e.args[0], t, axes, deep), show(e.args[0]))


def sum_(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    return bounded_operations.sum_along(evaluate(e.args[0], t, {**axes, e.data: deep}, deep + 1), deep, t.size(e.data[1]))


def each(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    body = evaluate(e.args[0], t, {**axes, e.data: deep}, deep + 1)
    return bounded_operations.move_to_tensor_axis(body, deep, t.size(e.data[1]), t.leading)


def array(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    return bounded_operations.stack([evaluate(x, t, axes, deep) for x in e.args], t.shape(e))


def where(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    """Evaluate a scalar under a condition. It need not have a value where the condition fails."""
    holds = condition_holds(e, t, axes, deep)
    inside = t.but(t.values)
    inside.needed = holds if t.needed is None else holds & t.needed
    return keep_where(holds, evaluate(e.args[0], inside, axes, deep))


def condition_holds(e: Expr, t: Trial, axes: dict, deep: int) -> torch.Tensor:
    """Return where the condition of a `where` node holds. Positions are small integers, which fp64 computes exactly."""
    left, right = (evaluate(x, t, axes, deep).value.round() for x in e.args[1:])
    return left <= right if e.data == "<=" else left < right


def keep_where(holds: torch.Tensor, x: BoundedValue) -> BoundedValue:
    """Return the value where a condition holds, and 0 elsewhere."""
    return BoundedValue(*(torch.where(holds, y, 0.0) for y in x))


def entry(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    return take_entry(evaluate(e.args[0], t, axes, deep), e.args[1:], t, axes)


def derivative(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    """Differentiate by autograd, and bound the error by the error rules.

    Each path from the result to the variable contributes a product of derivatives. Given an error of the variable alone, the error rules add
    up the absolute values of these products. The bound is that sum, times gamma for 64 roundings a node. Where a value is so large or so
    small that its powers may overflow or underflow, autograd may lose a whole path, and the bound is the sum itself.
    """
    body, by = e.args
    target = differentiation_symbol(by)
    if any(n.op in ("rounded", "rank") and contains_leaf(n, target) for n in walk(body)):
        raise Disagreement(f"{show(e)}: what goes in steps is differentiated", code="no-derivative")
    if any(n.op == "derivative" for n in walk(body)):
        raise CannotDecide("a derivative of a derivative, of which autograd carries no bound")
    reject_corners(e, t, axes, deep, evaluate)
    name, known = target.data[0], t.values[target.data[0]]
    # One copy of the variable for each value of the body's indices, and for each outcome that is not averaged over, so that the gradient of
    # one sum gives all derivatives. An index that occurs only in the variable selects one of them.
    separate = (POINT,) if is_averaged(body) else (POINT, OUTCOME)
    if OUTCOME in separate and any(n.op in AVERAGE_OPERATORS and contains_leaf(n, target) for n in walk(body)):
        raise CannotDecide("the derivative of an average beside what is random itself")
    lead_sizes = [max([1, *(x.value.shape[k] for x in t.values.values())]) if k in separate else 1 for k in range(t.leading)]
    for i in free_indices(body):
        lead_sizes[axes[i.data]] = t.size(i.data[1])
    step = 2.0**-26
    with torch.inference_mode(False):
        leaf = known.value.expand(*lead_sizes, *known.value.shape[t.leading :]).clone().requires_grad_()
        values = {n: BoundedValue(*(y.clone() for y in x)) for n, x in t.values.items()}  # copies, which may record gradients
        perturbed = t.but({**values, name: BoundedValue(leaf, torch.zeros_like(leaf) + step)})
        perturbed.needed = None if t.needed is None else needed_by(body, t.needed, axes)
        perturbed.weights = t.weights and BoundedValue(*(x.clone() for x in t.weights))
        value = evaluate(body, perturbed, axes, deep)
        if value.value.is_complex():
            raise CannotDecide("the derivative of a complex number")
        gradient = torch.autograd.grad(value.value.sum(), leaf, allow_unused=True)[0] if value.value.requires_grad else None
    gradient = torch.zeros_like(leaf) if gradient is None else gradient
    path_sum = value.error.detach()[(...,) + (None,) * len(target.shape)] / step
    extreme = has_extreme_values(perturbed).reshape(-1, *(1,) * (gradient.dim() - 1))
    relative_error = torch.where(extreme, 1.0, gamma(64 * sum(1 for _ in walk(body))))
    result = BoundedValue(gradient, relative_error * (path_sum + gradient.abs()).expand(gradient.shape))
    return take_entry(result, by.args[1:], t, axes) if by.op == "entry" else result


def has_extreme_values(t: Trial) -> torch.Tensor:
    """Return a mask of the points of a trial where some value that was computed is outside the range of ordinary values."""
    mask = torch.zeros(1, dtype=torch.bool)
    for x in t.remembered.found.values():
        size = x.value.detach().abs()
        at_most = size + x.error.detach()
        extreme = (size > 1 / SMALLEST_ORDINARY) | (at_most < SMALLEST_ORDINARY) & (at_most > 0)
        mask = mask | extreme.flatten(1).any(1)
    return mask


def needed_by(body: Expr, needed: torch.Tensor, axes: dict) -> torch.Tensor:
    """Return where the value of a tree is needed: for some value of each index that it does not contain."""
    own = {axes[i.data] for i in free_indices(body)}
    for axis in set(range(needed.dim())) - own:
        needed = needed.any(axis, keepdim=True)
    return needed.clone()


def average(x: BoundedValue, t: Trial) -> BoundedValue:
    """Return the weighted mean over the outcomes of a trial."""
    if t.weights is None:
        raise CannotDecide("an expectation of what is not random")
    if x.value.shape[OUTCOME] == 1:
        return x
    w = t.weights
    mean = bounded_operations.sum_along(
        BoundedValue(w.value * x.value, w.value * x.error + w.error * x.value.abs() + error_bounds.rounding_error(w.value * x.value)),
        OUTCOME,
        w.value.shape[OUTCOME],
    )
    first = x.value.narrow(OUTCOME, 0, 1)
    constant = ((x.value == first) & (x.error == 0)).all(OUTCOME, keepdim=True)  # a constant is its own mean, exactly
    return BoundedValue(torch.where(constant, first, mean.value), torch.where(constant, 0.0, mean.error))


def expectation(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    return average(evaluate(e.args[0], t, axes, deep), t)


def variance(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    x = evaluate(e.args[0], t, axes, deep)
    first, second = average(x, t), average(error_bounds.multiply(x, x, t.exactly), t)
    square = error_bounds.multiply(first, first, t.exactly)
    return error_bounds.add(second, BoundedValue(-square.value, square.error), t.exactly)


def symbol(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    name = e.data[0]
    if e.data[1] != "size" and name not in t.values:
        raise Disagreement(f"no value is given for {name}", code="missing-value")
    return t.values[name] if name in t.values else t.lead(number(t.size(e)))


def constant_tensor(make: Callable[[Expr, Trial], torch.Tensor]) -> Rule:
    """Return the rule of a constant tensor, which `make` creates."""

    def run(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
        v = make(e, t)
        return t.lead(BoundedValue(v, torch.zeros_like(v)), v.dim())

    return run


def rearrange(change: Callable[[torch.Tensor], torch.Tensor]) -> Rule:
    """Return the rule of an operation that only moves entries: the bounds move with them."""

    def run(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
        return BoundedValue(*map(change, evaluate(e.args[0], t, axes, deep)))

    return run


def negate(e: Expr, t: Trial, axes: dict, deep: int) -> BoundedValue:
    x = evaluate(e.args[0], t, axes, deep)
    return BoundedValue(-x.value, x.error)


RULES: dict[str, Rule] = {
    "const": lambda e, t, axes, deep: t.lead(number(e.data)),
    "imaginary": lambda e, t, axes, deep: t.lead(
        BoundedValue(torch.tensor(1j, dtype=torch.complex128), torch.tensor(0.0, dtype=torch.float64))
    ),
    "symbol": symbol,
    "index": lambda e, t, axes, deep: BoundedValue(
        *(
            along_axis(y, axes[e.data], t)
            for y in (torch.arange(1.0, t.size(e.data[1]) + 1, dtype=torch.float64), torch.zeros(t.size(e.data[1]), dtype=torch.float64))
        )
    ),
    "defined": rearrange(lambda x: x),
    "paren": rearrange(lambda x: x),
    "add": entrywise(error_bounds.add),
    "neg": negate,
    "mul": entrywise(error_bounds.multiply),
    "div": quotient,
    "pow": power,
    "matmul": matmul,
    "transpose": rearrange(lambda x: x.transpose(-2, -1)),
    "inverse": inverse,
    "eye": constant_tensor(lambda e, t: torch.eye(t.size(e.shape[0]), dtype=torch.float64)),
    "fill": constant_tensor(lambda e, t: torch.full(t.shape(e), float(e.data), dtype=torch.float64)),
    "array": array,
    "sum": sum_,
    "each": each,
    "where": where,
    "entry": entry,
    "function": function,
    "softmax": unary(bounded_operations.softmax),
    "derivative": derivative,
    "rank": unary(bounded_operations.rank),
    "rounded": rounded,
    "expectation": expectation,
    "variance": variance,
}
