"""Means of functions of Gaussian numbers, by integration."""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from .outcome import NotSettled

ENTRY, SLOPE = sp.Symbol("entry", real=True), sp.Symbol("slope")
MEAN, VARIANCE = sp.Symbol("mean", real=True), sp.Symbol("variance", positive=True)


def linear(e, s):
    """Return (slope, rest) with e = slope * s + rest and without s in either, or None if e is not linear in s."""
    slope = sp.expand(e).coeff(s, 1)
    rest = sp.expand(e - slope * s)
    return None if slope.has(s) or rest.has(s) else (slope, rest)


@lru_cache(maxsize=200)
def gaussian_integral(body, m, v):
    """Return the integral of body times the density, where ENTRY is the random number."""
    density = sp.exp(-((ENTRY - m) ** 2) / (2 * v)) / sp.sqrt(2 * sp.pi * v)
    return sp.simplify(sp.integrate(sp.expand(body * density), (ENTRY, -sp.oo, sp.oo), conds="none"))


def term_mean(term, s, m, v):
    """Return the mean of one term over s. For exp of a linear function, the same symbolic integral serves for every term."""
    fixed, moving = term.as_independent(s, as_Add=False)
    split = linear(moving.args[0], s) if moving.func is sp.exp else None
    if split is None:
        require_convergence(moving, s, v)
        return fixed * gaussian_integral(moving.xreplace({s: ENTRY}), m, v)
    slope, rest = split
    found = gaussian_integral(sp.exp(SLOPE * ENTRY), MEAN, VARIANCE)
    return fixed * sp.exp(rest) * found.xreplace({SLOPE: slope, MEAN: m, VARIANCE: v})


def require_convergence(moving, s, v):
    """Raise NotSettled unless the density outweighs every exponential. SymPy's own conditions for its integrals are not used."""
    for exponent in {e.args[0] for e in moving.atoms(sp.exp) if e.has(s)}:
        found = sp.Poly(exponent, s) if exponent.is_polynomial(s) else None
        if found is None or found.degree() > 2 or not sp.simplify(1 - 2 * v * sp.re(found.coeff_monomial(s**2))).is_positive:
            raise NotSettled(f"whether the mean of exp({exponent}) exists")


def absolute_values(body, entries):
    """Return the absolute values of exponentials of several entries, without oscillating factors. If their means exist, so does that of body."""
    if not body.has(sp.I, sp.cos, sp.sin):
        return []
    exponents = {sp.expand(e.args[0]) for e in sp.powsimp(sp.expand(body), combine="exp").atoms(sp.exp)}
    return [sp.exp(sp.re(e)) for e in exponents if len(sp.re(e).free_symbols & set(entries)) > 1]


def gaussian_mean(body, s, m, v):
    """Return the mean of body over s, computed term by term. Without variance, s is its mean."""
    if v == 0:
        return body.xreplace({s: m})
    return sp.Add(*(term_mean(sp.powsimp(term, combine="exp"), s, m, v) for term in sp.Add.make_args(sp.expand(body))))
