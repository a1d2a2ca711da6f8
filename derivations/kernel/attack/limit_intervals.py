"""Measure the distance between an expression and its stated limit far out, in interval arithmetic.

An interval shows where digits cancel: it becomes wide, where a plain number would merely be wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mpmath import iv, mp, mpf
from mpmath.libmp import ComplexResult

from ..core.expr import Expr, walk
from .mpmath_evaluation import DIGITS, CannotTell, UndecidedHere, Undefined, evaluate_scalar

PRECISION = 400  # digits of an interval: enough to add exp(-800) to 1
# Larger than exp(49), which occurs in a mutant of seven squared; and the inverse is no noise, as a smaller number might be.
FAR = (mpf(10) ** 45, mpf(10) ** 30)
NEARER = tuple(map(mpf, (10**9, 10**6, 10**4, 800, 400, 200, 100)))  # for expressions that lose all digits at FAR
WIDEST = mpf(10) ** -30  # the largest relative width of an interval that still counts as a number
SETTLED = mpf(10) ** -8  # the largest relative difference between two distances that have settled
COMPARABLE = 1000  # the largest ratio between two constants that belong to one scale


class NotEnclosed(Exception):
    """A value for which interval arithmetic finds no useful interval."""


def measure_distances(e: Expr, to: Expr, variable: Expr, end: Any, env: dict) -> tuple:
    """Return |e - to| at two places, the second nearer to the end ("oo" or 0). Raise CannotTell if the digits do not suffice.

    Raise UndecidedHere if the distance still becomes smaller, as that of exp(10**9)/x does: it may tend to 0 or not.
    """
    unit = find_unit(e, variable, end)
    found = []
    for far in (*FAR, *NEARER):
        if far in NEARER and unit is None:
            break
        x = far if far in FAR else far * unit
        x = x if end == "oo" else 1 / far if far in FAR else unit / far
        if variable.data[1] == "size":
            x = mp.ceil(x)
        gap = measure_gap(e, to, variable, x, env)
        if gap is not None:
            found.append((far, gap))
        if len(found) == 2:
            break
    if len(found) < 2:
        raise CannotTell("the digits do not suffice far out")
    (far, last), (_, before) = found
    if last > SETTLED and abs(last - before) > SETTLED * last and (far < FAR[0] or last < before):
        raise UndecidedHere("it has not settled where digits suffice")
    return before, last


def find_unit(e: Expr, variable: Expr, end: Any) -> Any:
    """Return the scale of the variable, set by the constants that it is multiplied by: 1/N for N*x. Return None if these differ much."""
    units: set[Fraction] = set()

    def collect(node: Expr, parent: Expr | None) -> None:
        if node == variable:
            constants = [a for a in parent.args if a.op == "const" and a.data] if parent is not None and parent.op in ("mul", "div") else []
            factor = Fraction(abs(constants[0].data)) if constants else Fraction(1)
            units.add(1 / factor if constants and parent is not None and parent.op == "mul" else factor)
        for a in node.args:
            collect(a, node)

    collect(e, None)
    if not units or max(units) > COMPARABLE * min(units):
        return None
    unit = max(units) if end == "oo" else min(units)
    return mpf(unit.numerator) / unit.denominator


def measure_gap(e: Expr, to: Expr, variable: Expr, x: Any, env: dict) -> Any:
    """Return |e - to| where the variable is x; None if the interval is too wide or infinite, or if there is none."""
    here = env | {variable.data[0]: int(x) if variable.data[1] == "size" else {(): x}}
    before = iv.dps
    iv.dps = PRECISION
    try:
        with mp.workdps(2 * DIGITS):
            gap = abs(enclose(e, variable, iv.mpf(x), here) - iv.mpf(evaluate_scalar(to, here)))
            low, high = mpf(gap.a), mpf(gap.b)
    except (NotEnclosed, ComplexResult, OverflowError):
        return None
    finally:
        iv.dps = before
    return None if not mp.isfinite(high) or high - low > WIDEST * (1 + low) else high


def enclose(e: Expr, variable: Expr, x: Any, env: dict) -> Any:
    """Return an interval that contains the value where the variable is in the interval x.

    A part without the variable is evaluated in mpmath, and so is an operator without a rule: a sum, a softmax or a norm.
    """
    if variable not in set(walk(e)):
        return iv.mpf(evaluate_scalar(e, env))
    if e == variable:
        return x
    rule = RULES.get(e.op)
    if rule is None or e.op == "function" and e.data not in FUNCTIONS:
        return iv.mpf(evaluate_scalar(e, env))
    return rule(e, [enclose(a, variable, x, env) for a in e.args])


def power(e: Expr, parts: list) -> Any:
    base, exponent = parts
    p = e.args[1]
    if p.op == "const" and p.data.denominator == 1:
        return base ** int(p.data)
    if base.a <= 0:
        raise Undefined("a root of a negative number") if base.b < 0 else NotEnclosed("the base may be negative")
    return iv.exp(exponent * iv.log(base))


def quotient(e: Expr, parts: list) -> Any:
    numerator, denominator = parts
    if denominator.a == denominator.b == 0:
        raise Undefined("a division by zero")
    return numerator / denominator


def function(e: Expr, parts: list) -> Any:
    (a,) = parts
    if e.data == "log" and a.b < 0:
        raise Undefined("a logarithm of what is not positive")
    return FUNCTIONS[e.data](a)


def tanh(a: Any) -> Any:
    """Return the hyperbolic tangent by the exponential function, because mpmath's intervals have no tanh."""
    return 1 - 2 / (1 + iv.exp(2 * a))


FUNCTIONS = {"exp": iv.exp, "log": iv.log, "abs": abs, "cos": iv.cos, "sin": iv.sin, "tanh": tanh}
RULES: dict[str, Callable[[Expr, list], Any]] = {
    "add": lambda e, parts: parts[0] + parts[1],
    "neg": lambda e, parts: -parts[0],
    "mul": lambda e, parts: parts[0] * parts[1],
    "div": quotient,
    "paren": lambda e, parts: parts[0],
    "defined": lambda e, parts: parts[0],
    "pow": power,
    "function": function,
}
