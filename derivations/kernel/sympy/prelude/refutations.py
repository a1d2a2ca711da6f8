"""Refutations: both sides at one exact counterexample."""

from __future__ import annotations

import sympy as sp
from sympy.core.evalf import PrecisionExhausted

from .outcome import Fails, NotSettled, quiet
from .tensors import flat, shape_of

EQUAL = {"=": "both sides are equal at the counterexample", "<=": "the left side is not larger"}


def breaks(relation: str, difference) -> bool:
    """Return whether left - right is not 0 or, if left <= right is refuted, whether it is positive."""
    if difference.is_Rational:
        return difference != 0 and (relation == "=" or bool(difference > 0))
    try:
        value = difference.evalf(50, strict=True)
    except PrecisionExhausted:  # it is 0 or very small
        if sp.simplify(difference) == 0:
            return False
        raise NotSettled("whether the sides differ, which a hundred digits do not show") from None
    return bool(abs(value) > sp.Float(10) ** -40 and (relation == "=" or value.is_real and value > 0))


def rank(matrix):
    """Return the rank of a matrix of numbers."""
    return sp.Integer(matrix.applyfunc(sp.simplify).rank())


def refutation(claim, relation, tell=quiet):
    """Check that the relation fails in at least one entry."""
    left, right, *parts = claim()
    a, b = flat(left), flat(right)
    if any(not v.is_finite for v in (*a, *b, *parts)):
        raise Fails("a side does not exist at the counterexample")
    loose = sorted({str(s) for v in (*a, *b) for s in v.free_symbols})
    if loose:
        raise Fails(f"whether the sides differ depends on {', '.join(loose)}")
    if shape_of(left) != shape_of(right):
        raise Fails("the two sides have different shapes")
    if not any(breaks(relation, x - y) for x, y in zip(a, b)):
        raise Fails(EQUAL[relation])
    tell(f"left: {', '.join(map(str, a))}")
    tell(f"right: {', '.join(map(str, b))}")
    tell("step 1: " + ("the sides differ" if relation == "=" else "the left side is larger") + " ... holds")
    return "refuted", "exact counterexample", "both sides evaluated with SymPy's exact numbers"


def refutation_of_law(claim, relation, tell=quiet):
    """Check the same for a law, whose sides are computed from moments before the numbers are substituted."""
    left, right, numbers = claim()
    difference = sp.simplify((left - right).subs(numbers))
    if difference.free_symbols:
        raise Fails(f"whether the sides differ depends on {', '.join(sorted(map(str, difference.free_symbols)))}")
    if not breaks(relation, difference):
        raise Fails(EQUAL[relation])
    tell(f"step 1: left - right is {difference} ... holds")
    return "refuted", "exact counterexample", "both sides evaluated from the stated moments"
