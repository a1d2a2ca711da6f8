"""Rules that rewrite functions, roundings, expectations and variances; see `rewrite_rules.py`."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.constructors import E, Var, absolute, exp, function, log, ones, rounded, sqrt
from ..core.expr import Expr, lift, walk
from .rebuild_trees import rebuild


def of_function(e: Expr) -> Iterator[Expr]:
    """Rewrite a function of a scalar, or the largest entry of a vector."""
    (a,) = e.args
    if e.shape:
        return
    if e.data == "largest":
        yield from of_largest(a)
    if e.data == "exp":
        if a.op == "add":
            yield exp(a.args[0]) * exp(a.args[1])
        if a.op == "neg":
            yield 1 / exp(a.args[0])
        if a.op == "mul" and a.args[0] == lift(2):
            yield exp(a.args[1]) ** 2
        if a.op == "function" and a.data == "log":
            yield a.args[0]
    if e.data == "log":
        if a.op == "function" and a.data == "exp":
            yield a.args[0]
        if a.op == "mul":
            yield log(a.args[0]) + log(a.args[1])
        if a.op == "pow" and a.args[1].op == "const":
            yield a.args[1].data * log(a.args[0])
        if a.op == "div":
            yield log(a.args[0]) - log(a.args[1])
    if e.data == "abs":
        yield absolute(a.args[0] if a.op == "neg" else -a)
        if a.op in ("mul", "div"):
            yield rebuild(a, tuple(map(absolute, a.args)))
        if a.op == "symbol" and a.data[1] == "real":
            yield a
        if a.op == "pow" and a.args[1] == lift(2):
            yield a
        if a.op == "function" and a.data in ("exp", "abs"):
            yield a
        yield sqrt(a**2)


def of_largest(a: Expr) -> Iterator[Expr]:
    """Rewrite the largest entry of a; moving a factor out of it needs a nonnegative factor."""
    if a.op == "add":
        for vector, shift in (a.args, a.args[::-1]):
            if shift.op == "mul" and shift.args[1].op == "fill" and not shift.args[0].shape:
                yield function("largest", vector) + shift.args[0] * shift.args[1].data
    if a.op == "mul" and not a.args[0].shape:
        yield a.args[0] * function("largest", a.args[1])
    if a.op == "function" and a.data == "exp":
        yield exp(function("largest", a.args[0]))
    if a.op == "array":
        yield function("largest", Expr("array", a.args[::-1], a.shape))
    yield function("largest", a + 2 * ones(*a.shape)) - 2
    yield function("largest", 2 * a) / 2
    yield log(function("largest", exp(a)))


def of_rounded(e: Expr) -> Iterator[Expr]:
    """Rewrite a rounding."""
    (a,) = e.args
    if a.op == "neg":
        yield -rounded(a.args[0])
    if a.op == "rounded":
        yield a
    if a.op == "mul" and a.args[0] == lift(2):
        yield 2 * rounded(a.args[1])
    if a.op in ("symbol", "const"):
        yield a
    yield rounded(e)
    if a.op in ("add", "mul"):
        yield rounded(rebuild(a, a.args[::-1]))


def of_expectation(e: Expr) -> Iterator[Expr]:
    """Rewrite an expectation."""
    (a,) = e.args
    if a.op in ("add", "neg"):
        yield rebuild(a, tuple(map(E, a.args)))
    if a.op == "mul":
        left, right = a.args
        yield E(left) * E(right)
        if not is_random(left):
            yield left * E(right)
    if a.op == "sum":
        yield Expr("sum", (E(a.args[0]),), (), a.data)
    if not is_random(a):
        yield a
    if a.op == "pow" and a.args[1] == lift(2):
        yield Var(a.args[0]) + E(a.args[0]) ** 2


def of_variance(e: Expr) -> Iterator[Expr]:
    """Rewrite a variance."""
    (a,) = e.args
    yield E(a**2) - E(a) ** 2
    yield E((a - E(a)) ** 2)
    if a.op == "add":
        yield Var(a.args[0]) + Var(a.args[1])
        if not is_random(a.args[1]):
            yield Var(a.args[0])
    if a.op == "neg":
        yield Var(a.args[0])
    if a.op == "mul" and not is_random(a.args[0]):
        yield a.args[0] ** 2 * Var(a.args[1])
    if a.op == "sum":
        yield Expr("sum", (Var(a.args[0]),), (), a.data)


def is_random(e: Expr) -> bool:
    return any(s.op == "symbol" and s.data[1] == "random" for s in walk(e))
