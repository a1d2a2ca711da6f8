"""Derivatives of expressions with roots and absolute values, and of expressions with assumptions that hold only at a point."""

from __future__ import annotations

from itertools import product

import sympy as sp

from .inequalities import Signs, found_where
from .outcome import Fails, NotSettled
from .steps import told


def slope(body, by, off=(), moduli=(), above=(), positive=(), nonzero=(), back=()):
    """Return the derivative of body. Its symbols have only the signs that hold near a point; `back` maps them to the original symbols.

    `off` lists the arguments of roots, and the gaps between entries under a maximum. `moduli` lists the arguments of absolute values, and
    `above` those of larger fractional powers. Where one of these is 0, the derivative may not exist. It exists for a larger power of
    something nonnegative, and for absolute values if the derivatives on both sides agree. `positive` and `nonzero` are assumptions.
    """
    signs = Signs([sp.sympify(e) for e in positive], [], [sp.sympify(e) for e in nonzero])
    body, back = sp.sympify(body), dict(back)
    forth = {point: near for near, point in back.items()}
    near = [[e for e in map(sp.sympify, some) if e.subs(forth).has(by) and not apart(e, signs)] for some in (off, moduli, above)]
    bent, doubtful = [e for e in near[0] + near[2] if not e.subs(forth).is_nonnegative], near[0] + near[1]
    if bent or doubtful and not meets(body, by, signs):
        refuse(body, by, bent or doubtful, signs, forth)
    found = sp.diff(body, by).subs(back)
    return found.replace(sp.sign, lambda e: sp.S(1) if signs.positive(e) else -sp.S(1) if signs.positive(-e) else sp.sign(e))


def meets(body, by, signs) -> bool:
    """Return whether the derivatives on both sides of each absolute value agree where it is 0. Roots and nested ones are not handled.

    Near a point, body equals one of the expressions with u or -u in place of each absolute value |u|. Two that differ in one place agree
    where its u is 0. If their derivatives agree there, too, then so do those of all expressions that meet at the point.
    """
    moduli = sorted((m for m in body.atoms(sp.Abs) if m.has(by) and not apart(m.args[0], signs)), key=str)
    roots = [p for p in body.atoms(sp.Pow) if p.has(by) and not p.exp.is_integer and not apart(p.base, signs)]
    if roots or len(moduli) > 3 or any(m.args[0].has(sp.Abs) for m in moduli):
        return False
    for chosen in product((1, -1), repeat=len(moduli)):
        for k, m in enumerate(moduli):
            sides = [(*chosen[:k], sign, *chosen[k + 1 :]) for sign in (1, -1)]
            up, down = (sp.diff(body.subs({x: c * x.args[0] for x, c in zip(moduli, signs_)}), by) for signs_ in sides)
            if not vanishes_with(up - down, m.args[0], by):
                return False
    return True


def vanishes_with(e, u, by) -> bool:
    """Return whether e is shown to be 0 wherever u is, by solving each factor of u for a symbol in which it is linear."""
    for factor, _ in sp.factor_list(u)[1]:
        names = [s for s in [by, *sorted(factor.free_symbols, key=str)] if factor.is_polynomial(s)]
        name = next((s for s in names if sp.degree(factor, s) == 1 and factor.coeff(s).is_number), None)
        if name is None or sp.simplify(e.subs(name, -factor.coeff(name, 0) / factor.coeff(name))) != 0:
            return False
    return True


def refuse(body, by, doubtful, signs, forth):
    """Raise Fails if a point without a derivative is found, else NotSettled."""
    for inside in doubtful:
        where = found_where(inside, signs, lambda v: v == 0)
        if where is not None and has_no_slope(body, by, {forth.get(s, s): v for s, v in where.items()}):
            at = told({str(s): v for s, v in where.items()})
            raise Fails(f"a root or a modulus of {inside} is differentiated, which is 0 at {at}, and there it has no slope")
    raise NotSettled(f"a slope is not shown to exist where {doubtful[0]} is 0, of which a root or a modulus is differentiated")


def has_no_slope(body, by, where) -> bool:
    """Return whether the one-sided derivatives at these values differ or are not real. If SymPy cannot compute them, return False."""
    moving, step = sp.Symbol("moving", real=True), sp.Symbol("step", positive=True)
    along = body.subs(by, moving).subs({s: where.get(s, sp.Integer(1)) for s in body.free_symbols})
    at = where.get(by, sp.Integer(1))
    try:
        sides = [along.subs(moving, at + sign * step) for sign in (1, -1)]
        if any(x.is_real is False for x in sides):
            return True
        slopes = [sp.limit((x - along.subs(moving, at)) / (sign * step), step, 0, "+") for x, sign in zip(sides, (1, -1))]
    except (NotImplementedError, ValueError, TypeError):
        return False
    return any(s.is_real is False or s.is_finite is False for s in slopes) or sp.simplify(slopes[0] - slopes[1]).is_zero is False


def apart(e, signs) -> bool:
    """Return whether e is proved not to be 0."""
    if signs.nonzero(e, 12):
        return True
    return e.is_Mul and all(apart(x, signs) for x in e.args) or e.is_Pow and bool(e.exp.is_positive) and apart(e.base, signs)
