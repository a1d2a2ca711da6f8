"""The test whether an expression is 0."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

import sympy as sp
from mpmath import mp

from .outcome import NotSettled
from .zero_quotients import coefficients, is_zero_quotient

VALUES = {
    sp.Add: mp.fsum,
    sp.Mul: mp.fprod,
    sp.Pow: lambda x: mp.power(*x),
    sp.exp: lambda x: mp.exp(*x),
    sp.log: lambda x: mp.log(*x),
    sp.cos: lambda x: mp.cos(*x),
    sp.sin: lambda x: mp.sin(*x),
    sp.tanh: lambda x: mp.tanh(*x),
    sp.Abs: lambda x: abs(*x),
    sp.Max: lambda x: max(x),
    type(sp.I): lambda x: mp.mpc(0, 1),
}


def value_of(e, values: dict):
    """Return the value of e. Common subexpressions are evaluated once, unlike in SymPy's own evalf."""
    if e not in values:
        if e.is_Rational:
            values[e] = mp.mpf(e.p) / e.q
        elif e.func in VALUES:
            values[e] = VALUES[e.func]([value_of(x, values) for x in e.args])
        else:
            values[e] = mp.mpmathify(e.evalf(50))
    return values[e]


def away_from_zero(difference) -> bool:
    """Return whether the difference is certainly not 0 at one point. This rejects false claims fast and never accepts any."""
    names = sorted(difference.free_symbols, key=str)
    with mp.workdps(40):
        values = {s: mp.mpf(k + 2) if s.is_integer else mp.mpf(2 * k + 3) / (k + 7) for k, s in enumerate(names)}
        try:
            value = value_of(difference, values)
        except (TypeError, ValueError, ArithmeticError):  # a part is undefined there or is no number
            return False
        return bool(mp.isfinite(value) and abs(value) > mp.mpf(10) ** -15 * max([1, *map(abs, values.values())]))


@lru_cache(maxsize=20)
def basis(ideal: tuple, names: tuple):
    """Return a Groebner basis of the equations. Every polynomial that follows from them has the remainder 0."""
    return sp.groebner(list(ideal), *names, order="grevlex", field=True)


def reduces(difference, ideal=(), beside=()) -> bool:
    """Return whether SymPy proves that the difference is 0. Heuristics such as equals() are not used.

    `ideal` lists what is 0 by assumption, and `beside` the symbols of other differences, so that one basis serves for all of them.
    """
    if not ideal and is_zero_quotient(difference):  # a denominator may be 0 by assumption
        return True
    with_maxima = difference
    written = difference.xreplace({x: sp.Dummy(real=True) for x in difference.atoms(sp.Max)})  # for arbitrary values of these
    if ideal and written.is_polynomial(*written.free_symbols) and follows(written, ideal):
        return True
    difference = sp.expand(written)
    if difference == 0:
        return True
    if ideal:
        names = tuple(sorted(difference.free_symbols.union(beside, *(g.free_symbols for g in ideal)), key=str))
        known = basis(tuple(ideal), names)
        return is_in(known, difference) if difference.is_polynomial(*names) else reduces_beside_roots(written, known)
    difference = difference.replace(sp.sign, lambda x: x / sp.Abs(x))  # the derivative of an absolute value, which has none at 0
    return (
        is_zero_quotient(difference)
        or any(simplify(difference) == 0 for simplify in (in_exponentials, lambda x: sp.cancel(sp.together(x)), sp.simplify, logs_apart))
        or (moduli := pairs_as_moduli(with_maxima)) != with_maxima
        and reduces(moduli)
    )


def pairs_as_moduli(e):
    """Return e with (a + b + |a - b|)/2 in place of each maximum of two numbers."""
    return e.replace(lambda x: x.func == sp.Max and len(x.args) == 2, lambda x: (sum(x.args) + sp.Abs(x.args[0] - x.args[1])) / 2)


def follows(polynomial, ideal) -> bool:
    """Return whether each coefficient of a polynomial, in the symbols without equations, is 0 by assumption."""
    equations = tuple(g for g in ideal if g != 0)
    names = tuple(sorted(set().union(*(g.free_symbols for g in equations)), key=str))
    found = coefficients(polynomial, names) if equations else None
    return found is not None and all(is_in(basis(equations, names), c) for c in found)


def is_in(known, polynomial) -> bool:
    """Return whether a polynomial is 0 by assumption."""
    try:
        return known.reduce(polynomial)[1] == 0
    except sp.CoercionFailed:
        raise NotSettled("what is 0 by assumption, beside numbers that are no fractions") from None


def reduces_beside_roots(difference, known) -> bool:
    """Return True if an expression with square roots and absolute values is 0 by assumption, which may make their squares equal.

    Each term is written with a single root of something nonnegative. Raise NotSettled if the terms do not cancel, since two roots may still
    be equal.
    """
    half = [x for x in difference.atoms(sp.Pow) if x.exp.is_Rational and x.exp.q == 2 and x.base.is_nonnegative]
    sizes = [x for x in difference.atoms(sp.Abs) if x.args[0].is_real]
    roots = {square: sp.Dummy() for square in [*(x.base for x in half), *(x.args[0] ** 2 for x in sizes)]}
    named = {x: roots[x.base] ** (2 * x.exp) for x in half} | {x: roots[x.args[0] ** 2] for x in sizes}
    polynomial = sp.expand(difference.xreplace(named))
    squares = {root: sp.expand(square) for square, root in roots.items() if polynomial.has(root)}
    if not squares or not all(e.is_polynomial(*known.gens, *squares) for e in (polynomial, *squares.values())):
        raise NotSettled("what is 0 by assumption, beside what is no polynomial")
    beside_root = {}
    for powers, coefficient in sp.Poly(polynomial, *squares).terms():
        outside = sp.prod(square ** (k // 2) for square, k in zip(squares.values(), powers, strict=True))
        inside = sp.prod(square ** (k % 2) for square, k in zip(squares.values(), powers, strict=True))
        inside = known.reduce(sp.expand(inside))[1]
        beside_root[inside] = beside_root.get(inside, 0) + coefficient * outside
    if all(inside == 0 or known.reduce(sp.expand(times))[1] == 0 for inside, times in beside_root.items()):
        return True
    raise NotSettled("whether roots are the same by what is 0 by assumption")


def in_exponentials(e):
    """Return e with cosines, sines and hyperbolic tangents as exponentials, over one denominator."""
    if not e.has(sp.cos, sp.sin, sp.tanh):
        return e
    written = sp.expand(e.rewrite(sp.exp))
    return written if written == 0 else sp.cancel(sp.together(written))


def logs_apart(e):
    """Return e with logarithms expanded where SymPy knows the factors to be positive, over one denominator."""
    return sp.expand(e.replace(sp.log, lambda x: sp.expand_log(sp.log(sp.factor(sp.together(x))))))


def vanishes(difference, ideal=()) -> bool:
    """Return whether SymPy reduces the difference to 0."""
    return not (not ideal and away_from_zero(difference)) and reduces(difference, ideal)


def left_over(difference) -> str:
    """Return a difference for messages. Long ones are neither expanded nor printed, because that would take too long."""
    long = sum(1 for _ in islice(sp.preorder_traversal(difference), 40)) == 40
    return "an expression of forty parts and more is left over" if long else f"{sp.expand(difference)} is left over"


def contradictory(ideal: list) -> bool:
    """Return whether the equations have no solution, not even a complex one."""
    equations = [g for g in ideal if g != 0]
    if any(g.is_number for g in equations):
        return True
    names = set().union(*(g.free_symbols for g in equations))
    return bool(equations) and basis(tuple(equations), tuple(sorted(names, key=str))).exprs == [1]
