"""Derivatives of what has roots and moduli, and of what is known at a point alone."""

from __future__ import annotations

from itertools import islice, product

import sympy as sp

from .outcome import Fails, NotSettled
from .sign import Signs
from .steps import told


def slope(body, by, off=(), above=(), positive=(), nonzero=(), back=()):
    """The derivative of body, of whose symbols only such signs are known as hold near a point; `back` puts the others in afterwards.

    Roots and moduli are taken of what is in `off`, which also lists how far entries are apart of which the largest is taken; larger powers,
    of what is in `above`. Where one of these is 0 there may be no derivative; of a larger power there is one if what it is taken of is
    nowhere negative. `positive` and `nonzero` list what is so.
    """
    signs = Signs([sp.sympify(e) for e in positive], [], [sp.sympify(e) for e in nonzero])
    for inside in map(sp.sympify, (*off, *(e for e in above if not sp.sympify(e).is_nonnegative))):
        if not apart(inside, signs):
            where = zero_of(inside, signs)
            if where is None:
                raise NotSettled(
                    f"whether {inside} is 0, of which a root or a modulus is differentiated, or by which an entry is the largest"
                )
            raise Fails(f"a root, a modulus or a largest entry turns on {inside}, which is 0 at {told(where)}, and has no slope there")
    found = sp.diff(body, by).subs(dict(back))
    return found.replace(sp.sign, lambda e: sp.S(1) if signs.positive(e) else -sp.S(1) if signs.positive(-e) else sp.sign(e))


def apart(e, signs) -> bool:
    """Is e proved not to be 0?"""
    if signs.nonzero(e, 12):
        return True
    return e.is_Mul and all(apart(x, signs) for x in e.args) or e.is_Pow and bool(e.exp.is_positive) and apart(e.base, signs)


def zero_of(e, signs):
    """Small values of its symbols at which it is 0, and which nothing that is known rules out; None if none is found."""
    names = sorted(e.free_symbols.union(*(x.free_symbols for x in [*signs.positives, *signs.nonzeros])), key=str)
    for values in islice(product((0, 1, -1), repeat=len(names)), 3**7):
        at = dict(zip(names, values))
        fits = all(
            not (v == 0 and s.is_nonzero or v <= 0 and s.is_positive or v < 0 and s.is_nonnegative or v != 0 and s.is_zero)
            for s, v in at.items()
        )
        held = all(x.subs(at).is_positive for x in signs.positives) and all(x.subs(at).is_nonzero for x in signs.nonzeros)
        if fits and held and e.subs(at) == 0:
            return {str(s): v for s, v in at.items()}
    return None
