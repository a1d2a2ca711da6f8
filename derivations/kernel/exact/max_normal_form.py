"""The normal form of a maximum.

The payload of its atom ("largest") holds the entries as one polynomial in the index RUNS, and its head what that index runs over. A few
entries that are written out are stored as their sum instead, each marked by a factor ("place"), sorted and without duplicates; the head
then holds their number. What preserves the order is taken out of the maximum: a common summand, a factor that is visibly nonnegative, and
an exponential.
"""

from __future__ import annotations

from ..core.expr import Expr
from .atom_payloads import Unsupported, instantiate, is_real, make_payload
from .exponentials_and_logs import exponential
from .index_renaming import canonical_term
from .normal_form import Facts, factor_sign, multiply, reduce_term
from .polynomials import MAXIMUM_INDEX, Polynomial, add, atom, constant, rename_indices, scale
from .rational_numbers import Fraction

MAX_WRITTEN_OUT = 4  # the largest number of entries that is written out: each may add indices of its own


def maximum_over(p: Polynomial, runs: tuple, size: Expr, facts: Facts) -> Polynomial:
    """Return the maximum of p over the free index `runs`, which runs over a range of this size."""
    return maximum_of([p], facts, runs, size.data[0] if size.op == "symbol" else str(size.data))


def maximum_of(entries: list, facts: Facts, runs: tuple = (), size: str = "") -> Polynomial:
    """Return the maximum of these polynomials or, with an index `runs`, of the values of the only one.

    Raise Unsupported unless they are real.
    """
    if not all(is_real(f[0]) for p in entries for _, factors in p for f, _ in factors):
        raise Unsupported("the largest of what is not real", code="not-real")
    shift = common_terms(entries, runs)
    differences = [add(p, scale(shift, -1)) for p in entries]
    return add(shift, factored_maximum(differences, facts, runs, size))


def common_terms(entries: list, runs: tuple) -> Polynomial:
    """Return the terms that all entries share."""
    first, *others = entries
    return {term: c for term, c in first.items() if not (runs and uses_index(term[1], runs)) and all(p.get(term) == c for p in others)}


def uses_index(factors: tuple, index: tuple) -> bool:
    """Return whether one of the factors has this index."""
    return any(index in indices for (_, indices), _ in factors)


def factored_maximum(entries: list, facts: Facts, runs: tuple, size: str) -> Polynomial:
    """Return the maximum of entries without common terms."""
    if not any(entries):
        return {}
    factor, rest = shared_factor(entries, facts, runs)
    if factor != constant(1):
        return multiply(factor, factored_maximum(rest, facts, runs, size), facts)
    if exponents := read_exponents(entries):
        return exponential(maximum_of(exponents, facts, runs, size), facts)
    return maximum_atom(entries, runs, size)


def shared_factor(entries: list, facts: Facts, runs: tuple) -> tuple:
    """Return (a visibly nonnegative factor of all entries, the quotients)."""
    if runs and (split := split_varying_part(entries[0], facts, runs)):
        return split
    number, shared = min(abs(c) for p in entries for c in p.values()), None
    for p in entries:
        for _, factors in p:
            powers = dict(fixed_factors(factors, runs))
            shared = (
                powers
                if shared is None
                else {f: closer_to_zero(e, powers[f]) for f, e in shared.items() if f in powers and (e > 0) == (powers[f] > 0)}
            )
    nonnegative = tuple(sorted(((f, e) for f, e in (shared or {}).items() if factor_sign(f, e, facts)), key=repr))
    inverse = {((), tuple((f, -e) for f, e in nonnegative)): 1 / number}
    return {((), nonnegative): Fraction(number)}, [multiply(p, inverse, facts) for p in entries]


def closer_to_zero(a: Fraction, b: Fraction) -> Fraction:
    """Return the exponent with the smaller absolute value."""
    return min(a, b, key=abs)


def fixed_factors(factors: tuple, runs: tuple) -> list:
    """Return the factors that do not depend on the index `runs` or on a bound index."""
    return [(f, e) for f, e in factors if f[0][0] != "delta" and runs not in f[1] and not any(i[0] == "b" for i in f[1])]


def split_varying_part(p: Polynomial, facts: Facts, runs: tuple) -> tuple:
    """Return the same if the polynomial is one varying part times a constant factor of any form, otherwise ()."""
    parts: dict = {}
    for (bound, factors), c in p.items():
        constant_factors = fixed_factors(factors, runs)
        key = bound, tuple(x for x in factors if x not in constant_factors)
        parts[key] = add(parts.get(key, {}), {((), tuple(constant_factors)): c})
    if len(parts) != 1:
        return ()
    (((bound, varying), factor),) = parts.items()
    part = reduce_term(dict(enumerate(bound)), list(varying), facts)
    for sign in (1, -1):
        if factor != constant(sign) and facts.is_nonnegative(scale(factor, sign)):
            return scale(factor, sign), [scale(part, sign)]
    return ()


def read_exponents(entries: list) -> list:
    """Return the exponents if every entry is an exponential, otherwise []."""
    exponents = []
    for p in entries:
        ((bound, factors), c), *others = p.items() or [(((0,), ()), 0)]
        if others or bound or c != 1 or any(f[0][0] != "exp" for f, _ in factors):
            return []
        exponents.append(add(*(scale(instantiate(f[0][-1], f[1]), e) for f, e in factors)))
    return exponents


def maximum_atom(entries: list, runs: tuple, size: str | int) -> Polynomial:
    """Return the atom of a maximum that cannot be simplified further."""
    if not runs:
        distinct = sorted({repr(sorted(p.items(), key=repr)): p for p in entries}.items())
        if len(distinct) == 1:
            return distinct[0][1]
        size = len(distinct)
        entries = [add(*(mark_entry(p, k) for k, (_, p) in enumerate(distinct, 1)))]
    running: Polynomial = {}
    for (bound, factors), c in entries[0].items():
        term = canonical_term(tuple(enumerate(bound)), tuple(rename_indices(factors, {runs: MAXIMUM_INDEX})))
        running[term] = running.get(term, 0) + c
    frozen, indices = make_payload(running)
    return atom(("largest", size, frozen), *indices)


def mark_entry(p: Polynomial, place: int) -> Polynomial:
    """Return p with the mark of the entry at this position."""
    mark = ((("place", place), ()), Fraction(1))
    return {(bound, tuple(sorted((mark, *factors), key=repr))): c for (bound, factors), c in p.items()}


def split_marked_entries(p: Polynomial, count: int) -> list:
    """Return the marked entries of a payload, without their marks."""
    entries: list = [{} for _ in range(count)]
    for (bound, factors), c in p.items():
        ((place,),) = ([f[0][1]] for f, _ in factors if f[0][0] == "place")
        entries[place - 1][bound, tuple(x for x in factors if x[0][0][0] != "place")] = c
    return entries
