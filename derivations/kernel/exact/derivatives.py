"""Derivatives of a normal form with respect to an entry of a symbol."""

from __future__ import annotations

from .atom_payloads import Unsupported, contains_symbol, instantiate
from .index_sums import fresh_index, sum_over_index
from .integer_powers import split_base_and_exponent
from .matrix_words import INVERSE
from .normal_form import (
    Facts,
    multiply,
    raise_to_allowed_power,
    reduce_term,
)
from .polynomials import Polynomial, add, atom, rename_indices, scale
from .rational_numbers import Fraction


def differentiate(p: Polynomial, head: tuple, where: tuple, facts: Facts) -> Polynomial:
    """Return the derivative of p with respect to the entry of the symbol `head` at the indices `where`."""
    result, p = differentiate_moduli(p, head, where, facts)
    for (bound, factors), c in p.items():
        held = {("b", k): fresh_index() for k in range(len(bound))}
        total, smooth = differentiate_moduli(reduce_term({}, rename_indices(factors, held), facts), head, where, facts)
        for (inner, free), c2 in smooth.items():
            if inner:  # a sum that is stored as an atom, with its own bound indices
                total = add(total, differentiate({(inner, free): c2}, head, where, facts))
                continue
            for k, (f, power) in enumerate(free):
                others = scale(reduce_term({}, free[:k] + free[k + 1 :], facts), c2)
                total = add(total, multiply(others, differentiate_factor(f, power, head, where, facts), facts))
        for (_, k), token in held.items():
            total = sum_over_index(total, token, bound[k], facts)
        result = add(result, scale(total, c))
    return result


def differentiate_moduli(p: Polynomial, head: tuple, where: tuple, facts: Facts) -> tuple[Polynomial, Polynomial]:
    """Return (the derivative of some terms, the remaining terms). The terms are those of the form |a| a r, which have a derivative also at
    a = 0.

    The derivative is 2|a| a' r + |a| a r'.
    """
    moduli = {
        f for (bound, factors) in p if not bound for f, power in factors if f[0][0] == "abs" and power == 1 and contains_symbol(f[0], head)
    }
    result: dict = {}
    for f in sorted(moduli, key=repr):
        selected = {term: c for term, c in p.items() if not term[0] and dict(term[1]).get(f) == 1}
        inside = instantiate(f[0][1], f[1])
        rest = divide_exactly({((), tuple(x for x in factors if x[0] != f)): c for (_, factors), c in selected.items()}, inside, facts)
        if rest is None:
            continue
        p = {term: c for term, c in p.items() if term not in selected}
        factor = add(
            scale(multiply(differentiate(inside, head, where, facts), rest, facts), 2),
            multiply(inside, differentiate(rest, head, where, facts), facts),
        )
        result = add(result, multiply({((), ((f, Fraction(1)),)): Fraction(1)}, factor, facts))
    return result, p


MAX_DIVISION_STEPS = 50


def divide_exactly(p: Polynomial, a: Polynomial, facts: Facts) -> Polynomial | None:
    """Return r with p = a r by long division, or None if a does not divide p or one of them contains a sum."""
    if any(bound for bound, _ in (*p, *a)):
        return None
    atoms = sorted({f for _, factors in (*p, *a) for f, _ in factors}, key=repr)

    def order(term: tuple) -> list:
        powers = dict(term[1])
        return [powers.get(f, Fraction(0)) for f in atoms]

    lead = max(a, key=order)
    result: Polynomial = {}
    inverse_ = {((), tuple((f, -power) for f, power in lead[1])): 1 / a[lead]}
    for _ in range(MAX_DIVISION_STEPS):
        if not p:
            return result
        top = max(p, key=order)
        if any(dict(top[1]).get(f, 0) < power for f, power in lead[1]):
            return None
        part = multiply({top: p[top]}, inverse_, facts)
        result, p = add(result, part), add(p, scale(multiply(part, a, facts), -1))
    return None


def any_contains(polynomials: list, head: tuple) -> bool:
    """Return whether one of the polynomials contains the symbol with this head."""
    return any(contains_symbol(f[0], head) for p in polynomials for _, factors in p for f, _ in factors)


NOT_SHOWN = "where it is 0, a slope is not shown to exist"


def differentiate_factor(f: tuple, power: Fraction, head_by: tuple, where: tuple, facts: Facts) -> Polynomial:
    """Return the derivative of f^power with respect to the entry of the symbol `head_by` at the indices `where`."""
    head, indices = f
    if head[0] in ("moment", "joint"):
        if not any_contains(facts.parameters, head_by):
            return {}
        raise Unsupported(f"the derivative of a moment by {head_by[1]}, which an assumption ties to it", code="unknown-derivative")
    of_inverse = head[0] == "inverse" and head[1] == head_by[1] or head[0] == INVERSE and contains_symbol(head, head_by)
    varies = head == head_by or of_inverse or isinstance(head[-1], tuple) and contains_symbol(head, head_by)
    if varies and power.denominator != 1 and power < 1:
        base = {((), ((f, Fraction(1)),)): Fraction(1)}
        inner = instantiate(head[1], indices) if head[0] == "sum" else base
        facts.require_sign("nonzero", inner, f"a root of it is differentiated: {NOT_SHOWN}")
    result = reduce_term({}, [(f, power - 1)], facts)
    if head == head_by:
        same = reduce_term({}, [((("delta",), tuple(pair)), Fraction(1)) for pair in zip(indices, where)], facts)
        return scale(multiply(result, same, facts), power)
    if of_inverse:
        return scale(multiply(result, differentiate_inverse(f, head_by, where, facts), facts), power)
    if head[0] in ("exp", "log", "sum", "abs") and contains_symbol(head, head_by):
        inner = instantiate(head[1], indices)
        chain = scale(differentiate(inner, head_by, where, facts), power)
        if head[0] == "abs":
            facts.require_sign("nonzero", inner, f"its absolute value is differentiated: {NOT_SHOWN}")
            factor = multiply(inner, reduce_term({}, [(f, Fraction(-1))], facts), facts)
            result = multiply(result, factor, facts)
        if head[0] == "exp":
            return multiply(reduce_term({}, [(f, power)], facts), chain, facts)
        if head[0] == "log":
            result = multiply(result, raise_to_allowed_power(inner, Fraction(-1), facts), facts)
        return multiply(result, chain, facts)
    if head[0] == "whole" and contains_symbol(head, head_by):
        base, times = split_base_and_exponent(instantiate(head[1], indices))
        facts.require_sign("nonzero", base, f"a power of it is differentiated: {NOT_SHOWN}")
        factor = multiply(differentiate(base, head_by, where, facts), raise_to_allowed_power(base, Fraction(-1), facts), facts)
        return multiply(scale(multiply(times, factor, facts), power), reduce_term({}, [(f, power)], facts), facts)
    if contains_symbol(head, head_by):
        raise Unsupported(f"the derivative of {head[0]}", code="unknown-derivative")
    return {}


def differentiate_inverse(f: tuple, head_by: tuple, where: tuple, facts: Facts) -> Polynomial:
    """Return the derivative of an entry of M^-1, that of -M^-1 dM M^-1. It exists, since M is also invertible near the point."""
    (head, (row, column)) = f
    if head[0] == "inverse":  # dM has a single entry, 1
        return scale(multiply(atom(head, row, where[0]), atom(head, where[1], column), facts), -1)
    ends = fresh_index(), fresh_index()
    inside = differentiate(instantiate(head[2], ends), head_by, where, facts)
    outside = multiply(inverse_entry(head, (row, ends[0]), facts), inverse_entry(head, (ends[1], column), facts), facts)
    product = multiply(inside, outside, facts)
    for index in ends:
        product = sum_over_index(product, index, head[1], facts)
    return scale(product, -1)


def inverse_entry(head: tuple, at: tuple, facts: Facts) -> Polynomial:
    """Return the atom of an inverse at a row and a column."""
    return reduce_term({}, [((head, at), Fraction(1))], facts)
