"""SymPy expressions as trees, so that a script may state a claim in SymPy's own terms.

SymPy rewrites much when an expression is built; what arrives here is what SymPy made of it, operands in the order in which SymPy holds
them. `with evaluate(False):` keeps sums and products of numbers as they are written; matrices are kept by MatMul, MatAdd and Transpose.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import sympy as sp
from sympy.logic.boolalg import Boolean

from ..core.expr import Expr
from . import sympy_matrices, sympy_scalars, sympy_stats, sympy_sums
from .opaque_terms import Holder
from .sympy_reading import Reading, Unreadable

HINTS = {
    "Float": "numbers are exact: write Rational(1, 2), not 0.5",
    "Infinity": "it is no number; a limit says to=oo",
    "NegativeInfinity": "it is no number; a limit says to=oo",
    "ComplexInfinity": "something was divided by zero when it was built",
    "NaN": "SymPy found no value when it was built",
    "Pi": "only rational numbers are known here",
    "Integral": "only finite sums are known here",
    "Limit": "state a limit by derivation.limit",
    "MatPow": "write MatMul(A, A)",
    "AppliedUndef": "only exp, log, Abs, sqrt, sin, cos, sinh, cosh and tanh are known",
    "OuterProduct": "state its entries",
    "Product": "write it as exp of a Sum of logarithms, or state its factors",
    "Min": "state the two cases",
    "Max": "state the two cases",
    "Piecewise": "state the cases, each under its assumptions",
    "sign": "state the cases, each under its assumptions",
    "tan": "write sin(x)/cos(x)",
    "MatrixSlice": "state its entries",
}


class Relation(NamedTuple):
    """One relation of SymPy: "=", "!=" or "<=" between two trees, or "->" with what moves where."""

    left: Expr
    sign: str
    right: Expr
    towards: tuple = ()


def read_relation_in_place(e: Any, reading: Reading) -> Expr:
    raise Unreadable(f"{e} is a relation, and a number, a vector or a matrix is needed here")


RULES = (
    (sp.Symbol, sympy_scalars.read_symbol),  # which is a Boolean to SymPy, too
    (Holder, lambda e, reading: e.released()),
    (Boolean, read_relation_in_place),
    *sympy_stats.RULES,  # a random symbol is a symbol, and a random matrix a matrix
    *sympy_sums.RULES,
    *sympy_matrices.RULES,
    *sympy_scalars.RULES,
)
READING = Reading(RULES, HINTS)


def convert(e: Any) -> Expr:
    """A SymPy expression as a tree; an error that names a node that has no counterpart."""
    return READING(e)


DECIDED = (
    "vacuous: SymPy made this equation {} when it was built, so there is nothing left to prove. Keep what is written: "
    "Eq(Transpose(MatMul(A, B)), MatMul(Transpose(B), Transpose(A)), evaluate=False), or `with evaluate(False):` around sums and products"
)
STRICT = "{} is strict, and only <= can be stated; Le(a, b) is a <= b"


def relation(e: Any) -> Relation:
    """What a SymPy relation says; one that SymPy has decided on its own says nothing."""
    if e in (sp.true, sp.false):
        raise Unreadable(DECIDED.format(e))
    if isinstance(e, (sp.StrictLessThan, sp.StrictGreaterThan)):
        raise Unreadable(STRICT.format(e))
    if isinstance(e, sp.Equality) and isinstance(e.lhs, sp.Limit):
        return limit(e.lhs, e.rhs)
    for kind, sign in ((sp.Equality, "="), (sp.Unequality, "!="), (sp.LessThan, "<=")):
        if isinstance(e, kind):
            return Relation(convert(e.lhs), sign, convert(e.rhs))
    if isinstance(e, sp.GreaterThan):
        return Relation(convert(e.rhs), "<=", convert(e.lhs))
    raise Unreadable(f"an equation is needed, not {e}")


def limit(e: Any, value: Any) -> Relation:
    body, variable, to, side = e.args
    if str(side) != ("-" if to is sp.oo else "+"):
        raise Unreadable(f"a limit at {to} is taken from above: Limit(..., dir='+')")
    return Relation(convert(body), "->", convert(value), (variable, to))


def end_of_limit(to: Any) -> Any:
    """What a variable goes to, "oo" or a number; anything else as it is."""
    if to is sp.oo:
        return "oo"
    return int(to) if isinstance(to, sp.Integer) else to
