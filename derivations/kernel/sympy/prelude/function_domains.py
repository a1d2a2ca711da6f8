"""Logarithms, roots and absolute values of real numbers. The sign of the argument must follow from the assumptions.

SymPy's logarithm and root of a negative number are complex. Here they are undefined.
"""

from __future__ import annotations

import sympy as sp

from .inequalities import Signs, found_where
from .limits import approached
from .outcome import Fails, NotSettled
from .steps import told

DEPTH = 4  # of the search for a sign


def shown(test, v) -> bool:
    """Return whether the test holds for v, expanded or factored."""
    return test(v, DEPTH) or v.is_Add and any(form != v and test(form, DEPTH) for form in (sp.factor_terms(v), sp.factor(v)))


def comes_to_be_positive(v, signs, goes) -> bool:
    """Return whether v is positive near the limit: its limit is positive, or it is 0 and that of 1/v is infinite."""
    there = approached(v, *goes)
    if there == 0:
        return v != 0 and approached(1 / v, *goes) == sp.oo
    return there == sp.oo or shown(signs.positive, there)


def near_limit(v, signs, goes, says):
    """Raise Fails or NotSettled unless v is positive near the limit."""
    if not comes_to_be_positive(v, signs, goes):
        if comes_to_be_positive(-v, signs, goes):
            raise Fails(f"{says.format(v)}, which is negative near the limit")
        refuse_where(approached(v, *goes), signs, lambda at: at.is_negative, f"{says.format(v)}: near the limit {{}} is negative")
        raise NotSettled(f"{says.format(v)}, and whether that is positive near the limit")


def log(v, signs=None, goes=None):
    """Return the logarithm of v, which must be positive. If it depends on the variable of a limit, this must hold near the limit."""
    v, signs = sp.sympify(v), signs or Signs([], [], [])
    if v.is_positive or shown(signs.positive, v):
        return sp.log(v)
    if goes:
        near_limit(v, signs, goes, "the logarithm of {} is taken")
        return sp.log(v)
    if v.is_positive is False or shown(signs.nonnegative, -v):
        raise Fails(f"the logarithm of {v} is taken, which is not positive")
    refuse_where(v, signs, lambda at: at.is_positive is False, "the logarithm of {} is taken, which is not positive")
    raise NotSettled(f"whether {v} is positive, of which a logarithm is taken")


def refuse_where(v, signs, test, says):
    """Raise Fails if there are small values that satisfy the assumptions and at which the test holds for v."""
    where = found_where(v, signs, test) if signs.whole else None
    if where is not None:
        raise Fails(f"{says.format(v)} at {told({str(s): x for s, x in where.items()})}")


def power(base, exponent, signs=None, goes=None):
    """Return a power. If the exponent is not an integer, the base must be positive, or nonnegative if the exponent is positive."""
    base, exponent, signs = sp.sympify(base), sp.sympify(exponent), signs or Signs([], [], [])
    if not exponent.is_integer:
        from_zero = bool(exponent.is_positive)
        test = signs.nonnegative if from_zero else signs.positive
        if not (base.is_positive or from_zero and base.is_nonnegative or shown(test, base)):
            if goes:
                near_limit(base, signs, goes, f"the power {exponent} of {{}} is taken")
                return base**exponent
            if base.is_nonnegative is False or shown(signs.positive, -base):
                raise Fails(f"the power {exponent} of {base} is taken, which is negative or not real")
            refuse_where(
                base, signs, lambda at: at.is_nonnegative is False, f"the power {exponent} of {{}} is taken, which is negative or not real"
            )
            raise NotSettled(f"whether {base} is not negative, of which the power {exponent} is taken")
    return base**exponent


def unfolded(e, signs):
    """Return an expression without absolute values of known sign. SymPy makes an absolute value of the root of a square."""
    return e.replace(sp.Abs, lambda v: modulus(v, signs))


def modulus(v, signs):
    """Return the absolute value, as v or -v if the sign is known."""
    v = sp.sympify(v)
    if v.is_real and shown(signs.nonnegative, v):
        return v
    return -v if v.is_real and shown(signs.nonnegative, -v) else sp.Abs(v)
