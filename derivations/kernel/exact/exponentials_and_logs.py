"""Exponentials, logarithms and powers of polynomials in normal form, with the signs that they require."""

from __future__ import annotations

from .atom_payloads import function_atom, instantiate
from .normal_form import Facts, factor_sign, is_bit, multiply, raise_to_allowed_power
from .polynomials import Polynomial, add, atom, constant, factorise, scale, sort_by_text
from .rational_numbers import Fraction


def exponential(p: Polynomial, facts: Facts) -> Polynomial:
    """Return exp(p), with one atom for each term of p, so that exp(a + b) and exp(a) exp(b) have the same normal form."""
    result = constant(1)
    for (bound, factors), c in p.items():
        logs = [f for f, power in factors if f[0][0] == "log" and power == 1]
        rest = [(f, power) for f, power in factors if not logs or f != logs[0]]
        bit = next((f for f, power in factors if is_bit(f[0], facts) and not bound), None)
        if logs and not bound and not rest:
            result = multiply(result, raise_to(instantiate(logs[0][0][1], logs[0][1]), c, facts), facts)
        elif bit:  # exp(kx) = 1 + k (exp(x) - 1)
            other = exponential({((), tuple((f, power) for f, power in factors if f != bit)): c}, facts)
            chosen = multiply({((), ((bit, Fraction(1)),)): Fraction(1)}, add(other, constant(-1)), facts)
            result = multiply(result, add(constant(1), chosen), facts)
        else:
            result = multiply(result, function_atom("exp", {(bound, factors): Fraction(1)}, c), facts)
    return result


def logarithm(p: Polynomial, facts: Facts, known_positive: bool = False) -> Polynomial:
    """Return log(p). Unless `known_positive` is true, require that p is positive.

    Factors that all terms share are split off if they are visibly positive: log(ab) = log(a) + log(b) for a > 0, since then b > 0 too.
    A factor that may be negative stays inside, even if its power is even: log(x^2) is not 2 log(x).
    """
    if not known_positive:
        facts.require_sign("positive", p, "its logarithm is taken")
    number, shared = shared_factors(p, facts)
    rest = multiply(p, {((), tuple((f, -e) for f, e in shared)): 1 / number}, facts)
    parts = [scale(function_atom("log", constant(prime)), e) for prime, e in factorise(number)]
    for (head, indices), power in shared:
        if head[0] == "sum":
            log = logarithm(instantiate(head[1], indices), facts, known_positive=True)
        else:
            log = instantiate(head[1], indices) if head[0] == "exp" else function_atom("log", atom_or_prime(head, indices))
        parts.append(scale(log, power))
    return add(*parts) if rest == constant(1) else add(*parts, function_atom("log", rest))


def atom_or_prime(head: tuple, indices: tuple) -> Polynomial:
    """Return the polynomial of an atom; for the atom of a prime number, the number."""
    return constant(head[1]) if head[0] == "prime" else atom(head, *indices)


def shared_factors(p: Polynomial, facts: Facts) -> tuple:
    """Return (a positive number, powers of visibly positive atoms) that divide every term of p and add no denominators to the quotient."""
    shared = None
    for _, factors in p:
        term_powers = {f: e for f, e in factors if not any(i[0] == "b" for i in f[1]) and factor_sign(f, Fraction(1), facts) == "positive"}
        previous = term_powers if shared is None else shared
        shared = {f: min(e, previous[f], key=abs) for f, e in term_powers.items() if f in previous and (e > 0) == (previous[f] > 0)}
    return min(map(abs, p.values()), default=Fraction(1)), sort_by_text((shared or {}).items())


def raise_to(p: Polynomial, power: Fraction, facts: Facts) -> Polynomial:
    """Return a rational power of p. Require that p is nonzero for negative powers and nonnegative for fractional ones."""
    if power < 0:
        facts.divisors.append(p)
        facts.require_sign("nonzero", p, "something is divided by it")
    if power.denominator != 1:
        facts.require_sign("nonnegative", p, "a root of it is taken")
    return raise_to_allowed_power(p, power, facts)
