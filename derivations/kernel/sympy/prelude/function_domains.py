"""Functions that have a value only where what they are taken of has a sign: it has to be shown, from the symbols or from what is stated.

SymPy's own logarithm and root of a negative number are complex. Here they have no value, as a logarithm and a root are of real numbers.
"""

from __future__ import annotations

import sympy as sp

from .inequalities import Signs, found_where
from .limits import approached
from .outcome import Fails, NotSettled
from .steps import told

DEPTH = 4  # how far a sign is looked for


def shown(test, v) -> bool:
    """Does the test hold of v as it stands, or of its factors?"""
    return test(v, DEPTH) or v.is_Add and any(form != v and test(form, DEPTH) for form in (sp.factor_terms(v), sp.factor(v)))


def comes_to_be_positive(v, signs, goes) -> bool:
    """Is v shown to be positive near the limit: where it goes, or where its inverse goes if it goes to 0?"""
    there = approached(v, *goes)
    if there == 0:
        return v != 0 and approached(1 / v, *goes) == sp.oo
    return there == sp.oo or shown(signs.positive, there)


def near_limit(v, signs, goes, says):
    """v is shown to be positive near the limit, or else Fails or NotSettled."""
    if not comes_to_be_positive(v, signs, goes):
        if comes_to_be_positive(-v, signs, goes):
            raise Fails(f"{says.format(v)}, which is negative near the limit")
        refuse_where(approached(v, *goes), signs, lambda at: at.is_negative, f"{says.format(v)}: near the limit {{}} is negative")
        raise NotSettled(f"{says.format(v)}, and whether that is positive near the limit")


def log(v, signs=None, goes=None):
    """The logarithm of what is shown to be positive; of what moves with the variable of a limit, near it."""
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
    """Fails if there are values at which v has no place there, and nothing stated rules them out."""
    where = found_where(v, signs, test) if signs.whole else None
    if where is not None:
        raise Fails(f"{says.format(v)} at {told({str(s): x for s, x in where.items()})}")


def power(base, exponent, signs=None, goes=None):
    """A power; one that is not whole is taken of what is shown to be positive, or of 0 and more where the exponent is positive."""
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
    """An expression whose absolute values are taken apart where a sign is shown: the root of a square is one in SymPy."""
    return e.replace(sp.Abs, lambda v: modulus(v, signs))


def modulus(v, signs):
    """The absolute value: v or -v where its sign is shown."""
    v = sp.sympify(v)
    if v.is_real and shown(signs.nonnegative, v):
        return v
    return -v if v.is_real and shown(signs.nonnegative, -v) else sp.Abs(v)
