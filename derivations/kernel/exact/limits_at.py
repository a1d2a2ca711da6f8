"""Counterexamples to limits: numbers for all that stands still, at which the series goes elsewhere."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, product

from ..core.expr import BINDERS, Expr, show, symbols
from ..errors import KernelError
from . import values
from .facts import facts_of
from .limits import limit
from .payloads import Unknown
from .reading import read
from .search import candidates, holds, show_array, shown
from .showing import show_polynomial
from .values import Undefined

TRIED = 240


def other_limit(left: Expr, right: Expr, towards: tuple, given: tuple) -> str:
    """Where left goes elsewhere than to right, at numbers at which the assumptions hold; '' if none is found."""
    variable, to = towards
    still, about = (tuple(a for a in given if (a.args == (variable,)) is which) for which in (False, True))
    trees = (left, right, *(x for a in still for x in a.args))
    if any(s.data[1] == "random" for s in symbols(*trees).values()):
        return ""
    for env, _ in islice(candidates((left, right), still), TRIED):
        env = {name: value for name, value in env.items() if name != variable.data[0]}
        try:
            if not all(holds(a, env, left, right) for a in still):
                continue
            where, stated = shown(env, left, right), values.evaluate(right, env)[()]
            at = ", ".join(f"{name} = {show_array(v)}" for name, v in where.items())
            found = limit_at(at_numbers(left, env), variable, to, stated, about)
        except (Unknown, Undefined, KeyError, KernelError):
            continue
        if found:
            return f"at {at} the series gives {found} as {show(variable)} -> {to}, and {values.show_value(stated)} is stated" if at else ""
    return ""


def limit_at(e: Expr, variable: Expr, to, stated, about: tuple) -> str:
    """The limit of what holds numbers and the variable alone; '' if it is what is stated, or if that is not settled."""
    facts = facts_of(about)
    with facts.moves(variable.data[0]):
        found = limit(read(e, facts), variable, to, facts)
    if facts.unstated or not values.differ(values.polynomial_value(found, {}), stated):
        return ""
    return show_polynomial(found)


def at_numbers(e: Expr, env: dict) -> Expr:
    """The tree with numbers for what env gives: sizes, scalars, tensors entry by entry, and indices that nothing binds."""
    shape = tuple(at_numbers(s, env) for s in e.shape)
    if e.op == "symbol" and e.data[0] in env:
        value = env[e.data[0]]
        if e.data[1] == "size":
            return constant(Fraction(value))
        entries = {place: constant(values.fraction(v)) for place, v in value.items()}
        return entries[()] if not shape else Expr("array", tuple(entries[p] for p in product(*(range(int(s.data)) for s in shape))), shape)
    if e.op == "index" and ("index", e.data[0]) in env:
        return constant(Fraction(env["index", e.data[0]] + 1))
    data = (e.data[0], at_numbers(e.data[1], env)) if e.op in ("index", *BINDERS) else e.data
    inside = {name: value for name, value in env.items() if name != ("index", e.data[0])} if e.op in BINDERS else env
    return Expr(e.op, tuple(at_numbers(x, inside) for x in e.args), shape, data)


def constant(value: Fraction) -> Expr:
    return Expr("const", (), (), value)
