"""Means of exponentials of Gaussian numbers, by integration."""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

ENTRY, SLOPE = sp.Symbol("entry", real=True), sp.Symbol("slope")
MEAN, VARIANCE = sp.Symbol("mean", real=True), sp.Symbol("variance", positive=True)


def linear(e, s):
    """(slope, rest) with e = slope * s + rest and s in neither; None where e is not linear in s."""
    slope = sp.expand(e).coeff(s, 1)
    rest = sp.expand(e - slope * s)
    return None if slope.has(s) or rest.has(s) else (slope, rest)


@lru_cache(maxsize=200)
def gaussian_integral(body, m, v):
    """The integral of body, in which ENTRY stands for the random number, times its density."""
    density = sp.exp(-((ENTRY - m) ** 2) / (2 * v)) / sp.sqrt(2 * sp.pi * v)
    return sp.simplify(sp.integrate(sp.expand(body * density), (ENTRY, -sp.oo, sp.oo), conds="none"))


def term_mean(term, s, m, v):
    """For exp of something linear in s, from one integral that is taken once, whatever the slope, the mean and the variance."""
    fixed, moving = term.as_independent(s, as_Add=False)
    split = linear(moving.args[0], s) if moving.func is sp.exp else None
    if split is None:
        return fixed * gaussian_integral(moving.xreplace({s: ENTRY}), m, v)
    slope, rest = split
    found = gaussian_integral(sp.exp(SLOPE * ENTRY), MEAN, VARIANCE)
    return fixed * sp.exp(rest) * found.xreplace({SLOPE: slope, MEAN: m, VARIANCE: v})


def gaussian_mean(body, s, m, v):
    """The mean of body over s, term by term."""
    return sp.Add(*(term_mean(sp.powsimp(term, combine="exp"), s, m, v) for term in sp.Add.make_args(sp.expand(body))))
