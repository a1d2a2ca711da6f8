"""Absolute values of normal forms."""

from __future__ import annotations

from .atom_payloads import Unsupported, function_atom, instantiate, is_real
from .conjugates import conjugate, is_real_polynomial
from .normal_form import (
    Facts,
    multiply,
    raise_to_allowed_power,
    reduce_term,
)
from .polynomials import Polynomial, constant, scale
from .rational_numbers import Fraction


def absolute_value(p: Polynomial, facts: Facts) -> Polynomial:
    """Return |p|: p or -p if the sign is known, the product of absolute values for a product.

    For a complex p it is the root of p times its conjugate. Raise Unsupported if the conjugate is not known.
    """
    if not is_real_polynomial(p, facts):
        conjugated = conjugate(p, facts)
        if conjugated is None:
            raise Unsupported("the absolute value of something that is not real, and whose conjugate is not known", code="not-real")
        return raise_to_allowed_power(multiply(p, conjugated, facts), Fraction(1, 2), facts)
    if facts.is_nonnegative(p):
        return p
    if facts.is_nonnegative(scale(p, -1)):
        return scale(p, -1)
    if len(p) == 1 and not next(iter(p))[0] and all(is_real(f[0]) for _, factors in p for f, _ in factors):
        (((_, factors), c),) = p.items()
        result = constant(abs(c))
        for f, power in factors:
            if power.denominator != 1:  # a root has a value only where f is nonnegative, and then it is nonnegative itself
                result = multiply(result, reduce_term({}, [(f, power)], facts), facts)
                continue
            atom_ = {((), ((f, Fraction(1)),)): Fraction(1)}
            modulus = atom_ if facts.is_nonnegative(atom_) else atom_modulus(f, atom_, facts)
            result = multiply(result, raise_to_allowed_power(modulus, power, facts), facts)
        return result
    leading = min(p.items(), key=repr)[1]
    return scale(function_atom("abs", scale(p, 1 / leading)), abs(leading))


def atom_modulus(f: tuple, polynomial: Polynomial, facts: Facts) -> Polynomial:
    """Return |f| for an atom whose sign is not known. The modulus of a rounded value is the rounded modulus."""
    if f[0][0] == "rounded":
        return function_atom(f[0][:-1], absolute_value(instantiate(f[0][-1], f[1]), facts))
    return function_atom("abs", polynomial)
