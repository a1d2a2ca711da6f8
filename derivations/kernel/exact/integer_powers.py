"""Powers whose exponent is an unknown whole number, made of sizes and indices. They need no logarithm of the base.

x^(2n + 1) becomes x (x^n)^2: one atom for each product of sizes in the exponent, as an exponential has one for each of its terms. The
payload of such an atom ("whole") is that product times the base. A base that is visibly positive is written with exponentials instead, so
a base is never a size. (-1)^n has an atom of its own ("turn").
"""

from __future__ import annotations

from .atom_payloads import Unsupported, function_atom
from .exponentials_and_logs import exponential, logarithm, raise_to
from .normal_form import Facts, factor_sign, multiply, take_content
from .polynomials import Polynomial, constant
from .rational_numbers import Fraction

COUNT_HEADS = ("size", "value")  # the heads of atoms that are positive whole numbers


def is_whole(exponent: Polynomial) -> bool:
    """Return whether the exponent is made of sizes, indices and whole numbers by sums and products."""
    return all(
        not bound and c.denominator == 1 and all(f[0][0] in COUNT_HEADS and e.denominator == 1 and e > 0 for f, e in factors)
        for (bound, factors), c in exponent.items()
    )


def raise_to_whole_power(base: Polynomial, exponent: Polynomial, facts: Facts) -> Polynomial:
    """Return the power of a base whose sign is not known. Raise Unsupported for a power of 0 whose exponent may be 0."""
    if not base:
        if facts.is_positive(exponent):
            return {}
        raise Unsupported("a power of 0 whose exponent may be 0")
    if any(c < 0 for c in exponent.values()):
        facts.require_sign("nonzero", base, "something is divided by it")
    result = constant(1)
    for (_, factors), c in exponent.items():
        part = raise_to_count(base, factors, int(c), facts) if factors else raise_to(base, c, facts)
        result = multiply(result, part, facts)
    return result


def raise_to_count(base: Polynomial, count: tuple, times: int, facts: Facts) -> Polynomial:
    """Return base^(times * count), where count is a product of sizes and indices."""
    if len(base) == 1 and not next(iter(base))[0]:
        (((_, factors), c),) = base.items()
        result = exponential(multiply({((), count): Fraction(times)}, logarithm(constant(abs(c)), facts), facts), facts)
        if c < 0 and times % 2:
            result = multiply(result, function_atom("turn", parity_product(count)), facts)
        for f, e in factors:
            result = multiply(result, raise_atom_to_count(f, e, count, times, facts), facts)
        return result
    content, primitive = take_content(base, True, facts)
    if content != constant(1):
        return multiply(raise_to_count(content, count, times, facts), raise_to_count(primitive, count, times, facts), facts)
    return count_power(next(iter(next(iter(function_atom("sum", primitive)))[1]))[0], count, times)


def raise_atom_to_count(f: tuple, e: Fraction, count: tuple, times: int, facts: Facts) -> Polynomial:
    """Return (f^e)^(times * count) for an atom f."""
    base = {((), ((f, Fraction(1)),)): Fraction(1)}
    if f[0][0] == "i":
        if times % 2:
            raise Unsupported("a power of the imaginary unit whose exponent may be odd")
        return function_atom("turn", parity_product(count)) if times % 4 else constant(1)
    if factor_sign(f, Fraction(1), facts) == "positive":
        return exponential(multiply({((), count): e * times}, logarithm(base, facts), facts), facts)
    if e.denominator == 1:
        return count_power(f, count, int(e) * times)
    return count_power(next(iter(next(iter(function_atom("sum", {((), ((f, e),)): Fraction(1)})))[1]))[0], count, times)


def parity_product(count: tuple) -> Polynomial:
    """Return a product of the same sizes with every power 1: it is odd exactly where `count` is."""
    return {((), tuple((f, Fraction(1)) for f, _ in count)): Fraction(1)}


def count_power(f: tuple, count: tuple, times: int) -> Polynomial:
    """Return the atom of f^count, to the power `times`."""
    inside = tuple(sorted((*count, (f, Fraction(1))), key=repr))
    return function_atom("whole", {((), inside): Fraction(1)}, times)


def split_base_and_exponent(inside: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return the base and the exponent of a power, both as polynomials, from their product, which an atom's payload holds.

    The factors of the exponent are the positive whole numbers, such as sizes.
    """
    (((_, factors), _),) = inside.items()
    parts = [tuple(x for x in factors if (x[0][0][0] in COUNT_HEADS) is which) for which in (False, True)]
    return tuple({((), part): Fraction(1)} for part in parts)  # type: ignore[return-value]
