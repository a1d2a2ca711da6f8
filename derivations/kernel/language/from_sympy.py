"""SymPy expressions as trees, so that a script may state a claim in SymPy's own terms.

SymPy rewrites much when an expression is built; what arrives here is what SymPy made of it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

import sympy as sp

from ..core.expr import Expr, I, absolute, exp, eye, inverse, lift, log, symbol, zeros
from ..errors import KernelError


def convert(e) -> Expr:
    """A SymPy expression as a tree; an error that names a node that has no counterpart."""
    for kind, rule in RULES:
        if isinstance(e, kind):
            return rule(e)
    raise KernelError(f"the SymPy node {type(e).__name__} in {e} is not known here; write it with the kernel's own functions")


SEEN: dict = {}  # name -> the SymPy symbol that has it, within one equation


def sides(relation) -> tuple:
    """The two sides of a SymPy equation; one that SymPy has decided on its own says nothing."""
    if relation in (sp.true, sp.false):
        raise KernelError(
            f"vacuous: SymPy made this equation {relation} when it was built, so there is nothing left to prove. "
            "Build both sides with the kernel's functions, which keep products as they are written"
        )
    if not isinstance(relation, sp.Equality):
        raise KernelError(f"an equation is needed, not {relation}")
    SEEN.clear()
    return convert(relation.lhs), convert(relation.rhs)


def from_symbol(e):
    if SEEN.setdefault(e.name, e) != e or isinstance(e, sp.Dummy):
        raise KernelError(f"two SymPy symbols are called {e.name}; one name is one thing")
    if not e.is_commutative or not e.is_real:
        raise KernelError(f"the SymPy symbol {e.name} is not stated to be real: Symbol({e.name!r}, real=True)")
    return symbol(e.name, "size" if e.is_integer and e.is_positive else "real")


def from_rational(e):
    return lift(Fraction(int(e.p), int(e.q)))


def fold(operation):
    return lambda e: reduce(operation, map(convert, e.args))


def from_power(e):
    return 1 / convert(e.base) if e.exp == -1 else convert(e.base) ** convert(e.exp)


def from_matrix_product(e):
    scalars = [convert(a) for a in e.args if not getattr(a, "is_Matrix", False)]
    matrices = [convert(a) for a in e.args if getattr(a, "is_Matrix", False)]
    return reduce(lambda a, b: a * b, [*scalars, reduce(lambda a, b: a @ b, matrices)])


RULES = [
    (sp.Rational, from_rational),
    (sp.core.numbers.ImaginaryUnit, lambda e: I),
    (sp.Symbol, from_symbol),
    (sp.MatrixSymbol, lambda e: symbol(e.name, "real", tuple(map(convert, e.shape)))),
    (sp.MatMul, from_matrix_product),
    (sp.MatAdd, fold(lambda a, b: a + b)),
    (sp.Transpose, lambda e: convert(e.arg).T),
    (sp.Inverse, lambda e: inverse(convert(e.arg))),
    (sp.Identity, lambda e: eye(convert(e.shape[0]))),
    (sp.ZeroMatrix, lambda e: zeros(*map(convert, e.shape))),
    (sp.exp, lambda e: exp(convert(e.args[0]))),
    (sp.log, lambda e: log(convert(e.args[0]))),
    (sp.Abs, lambda e: absolute(convert(e.args[0]))),
    (sp.Add, fold(lambda a, b: a + b)),
    (sp.Mul, fold(lambda a, b: a * b)),
    (sp.Pow, from_power),
]
