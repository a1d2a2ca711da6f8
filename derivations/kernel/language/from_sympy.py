"""The conversion of SymPy expressions to trees, so that scripts can state claims in SymPy's terms.

SymPy rewrites expressions when it builds them. The tree is that of the result, with operands in SymPy's order. `with evaluate(False):`
keeps sums and products of numbers as they are written; MatMul, MatAdd and Transpose keep matrices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import sympy as sp
from sympy.logic.boolalg import Boolean

from ..core.expr import Expr
from . import sympy_matrices, sympy_scalars, sympy_stats, sympy_sums
from .sympy_reading import Reading, Unreadable
from .trees_in_sympy import Holder

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
    """A SymPy relation: "=", "!=" or "<=" between two trees, or "->" with the variable of the limit and where it tends to."""

    left: Expr
    sign: str
    right: Expr
    towards: tuple = ()


def read_relation_in_place(e: Any, reading: Reading) -> Expr:
    raise Unreadable(f"{e} is a relation, and a number, a vector or a matrix is needed here", code="wrong-relation")


RULES = (
    (sp.Symbol, sympy_scalars.read_symbol),  # first, because a Symbol is also a Boolean
    (Holder, lambda e, reading: e.released()),
    (Boolean, read_relation_in_place),
    *sympy_stats.RULES,  # before the symbols and matrices that they derive from
    *sympy_sums.RULES,
    *sympy_matrices.RULES,
    *sympy_scalars.RULES,
)
READING = Reading(RULES, HINTS)


def convert(e: Any) -> Expr:
    """Return the tree of a SymPy expression. Raise Unreadable, which names the node, if one has no counterpart."""
    return READING(e)


DECIDED = (
    "vacuous: SymPy made this equation {} when it was built, so there is nothing left to prove. Keep what is written: "
    "Eq(Transpose(MatMul(A, B)), MatMul(Transpose(B), Transpose(A)), evaluate=False), or `with evaluate(False):` around sums and products"
)
STRICT = "{} is strict, and only <= can be stated; Le(a, b) is a <= b"


def relation(e: Any) -> Relation:
    """Return a SymPy relation as trees. Raise Unreadable for a strict one, and for one that SymPy has evaluated to true or false."""
    if e in (sp.true, sp.false):
        raise Unreadable(DECIDED.format(e), code="decided-by-sympy")
    if isinstance(e, (sp.StrictLessThan, sp.StrictGreaterThan)):
        raise Unreadable(STRICT.format(e), code="strict-inequality")
    if isinstance(e, sp.Equality) and isinstance(e.lhs, sp.Limit):
        return limit(e.lhs, e.rhs)
    for kind, sign in ((sp.Equality, "="), (sp.Unequality, "!="), (sp.LessThan, "<=")):
        if isinstance(e, kind):
            return Relation(convert(e.lhs), sign, convert(e.rhs))
    if isinstance(e, sp.GreaterThan):
        return Relation(convert(e.rhs), "<=", convert(e.lhs))
    raise Unreadable(f"an equation is needed, not {e}", code="wrong-relation")


def limit(e: Any, value: Any) -> Relation:
    """Return the relation that a SymPy Limit has a value. Raise Unreadable unless it is taken from above."""
    body, variable, to, side = e.args
    if str(side) != ("-" if to is sp.oo else "+"):
        raise Unreadable(f"a limit at {to} is taken from above: Limit(..., dir='+')", code="unknown-limit")
    return Relation(convert(body), "->", convert(value), (variable, to))


def end_of_limit(to: Any) -> Any:
    """Return where a variable tends to, "oo" or an integer. Return anything else unchanged."""
    if to is sp.oo:
        return "oo"
    return int(to) if isinstance(to, sp.Integer) else to
