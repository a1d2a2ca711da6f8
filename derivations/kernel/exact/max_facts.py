"""Signs by cases. A maximum is one of its entries and no other entry is larger; a 0-1 value is 0 or 1. What holds in each case, holds."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from .absolute_values import absolute_value
from .atom_payloads import Unsupported, contains_symbol, free_bound_indices, instantiate
from .exponentials_and_logs import exponential, logarithm
from .index_sums import fresh_index, substitute_index, sum_over_index
from .max_normal_form import split_marked_entries
from .normal_form import FRESH_NUMBERS, Facts, factor_sign, is_bit, multiply, raise_to_allowed_power, reduce_term
from .polynomials import MAXIMUM_INDEX, Polynomial, add, constant, rename_indices, scale
from .rational_numbers import Fraction


def holds_in_every_case(p: Polynomial, question: str, facts: Facts) -> bool:
    """Return whether p has a sign in every case: whichever entry a maximum in p is, or whichever value a 0-1 symbol has.

    `question` is the method of Facts that decides the sign when p contains neither.
    """
    try:
        if maximum := next(find_maxima(p), None):
            return all(holds_in_case(p, maximum, case, question, facts) for case in list_cases(maximum, facts))
        bits = [f for _, factors in p for f, _ in factors if is_bit(f[0], facts)]
        if bit := next((f for f in bits if not any(i[0] == "b" for i in f[1])), None):
            return all(getattr(facts, question)(replace_atom(p, bit, constant(value), facts)) for value in (0, 1))
        return bool(bits) and holds_by_groups(p, question, facts)
    except Unsupported:
        return False


def holds_by_groups(p: Polynomial, question: str, facts: Facts) -> bool:
    """Return whether no group of terms that are summed over the same indices is negative and, for "is_positive", one group is positive."""
    groups: dict = {}
    for (bound, factors), c in p.items():
        held = {("b", k): fresh_index() for k in range(len(bound))}  # free indices that no inner term uses
        groups[bound] = add(groups.get(bound, {}), scale(reduce_term({}, rename_indices(factors, held), facts), c))
    return all(map(facts.is_nonnegative, groups.values())) and (
        question == "is_nonnegative" or any(map(facts.is_positive, groups.values()))
    )


def find_maxima(p: Polynomial) -> Iterator[tuple]:
    """Yield the atoms of maxima in p that stand for a single number, also those inside other atoms."""
    for _, factors in p:
        for (head, indices), _ in factors:
            if head[0] == "largest" and not any(is_bound(i) for i in indices):
                yield head, indices
            elif head[0] != "largest" and isinstance(head[-1], tuple):
                yield from find_maxima(instantiate(head[-1], free_bound_indices(indices)))


def is_bound(index: tuple) -> bool:
    """Return whether an index is bound by a sum, or temporarily replaces one that is."""
    return index[0] == "b" or index[0] == "held" and isinstance(index[1], tuple)


def list_cases(maximum: tuple, facts: Facts) -> Iterator[tuple]:
    """Yield, for each entry that may be the maximum, (the entry, facts, position).

    The facts are pairs (a polynomial that is nonnegative in this case, the indices over which it is). It is so only at these values of
    the other indices: at others another entry may be the maximum. The position is (index of the entry, size), or None if the entries
    are written out.
    """
    head, indices = maximum
    inside = instantiate(head[-1], indices)
    if isinstance(head[1], int) or head[1].isdigit():
        entries = (
            split_marked_entries(inside, head[1])
            if isinstance(head[1], int)
            else [substitute_index(inside, MAXIMUM_INDEX, ("c", k), facts) for k in range(1, int(head[1]) + 1)]
        )
        for entry in entries:
            yield entry, [(add(entry, scale(other, -1)), ()) for other in entries if other != entry], None
        return
    place, any_ = fresh_index(), ("f", f"any {next(FRESH_NUMBERS)}")
    entry, other = (substitute_index(inside, MAXIMUM_INDEX, index, facts) for index in (place, any_))
    yield entry, [(add(entry, scale(other, -1)), (any_,))], (place, head[1])


def holds_in_case(p: Polynomial, maximum: tuple, case: tuple, question: str, facts: Facts) -> bool:
    """Return whether p has the sign if `maximum` is the entry of this case."""
    entry, known, place = case
    case_facts = copy(facts)
    case_facts.nonnegative_in_case = [*facts.nonnegative_in_case, *known]
    replaced = replace_atom(p, maximum, entry, facts)
    if getattr(case_facts, question)(replaced):
        return True
    if place is None:
        return False
    index, size = place
    return getattr(case_facts, question)(keep_one_term(replaced, index, size, case_facts))


def write_pairs_with_moduli(p: Polynomial, facts: Facts) -> Polynomial:
    """Return p with (a + b + |a - b|)/2 in place of each maximum of two numbers a and b that are written out."""
    for head, indices in list(find_maxima(p)):
        if head[1] == 2:
            a, b = split_marked_entries(instantiate(head[-1], indices), 2)
            modulus = absolute_value(add(a, scale(b, -1)), facts)
            p = replace_atom(p, (head, indices), scale(add(add(a, b), modulus), Fraction(1, 2)), facts)
    return p


def replace_atom(p: Polynomial, atom_: tuple, value: Polynomial, facts: Facts) -> Polynomial:
    """Return p with a polynomial in place of an atom."""
    result: Polynomial = {}
    for (bound, factors), c in p.items():
        held, term = {("b", k): fresh_index() for k in range(len(bound))}, constant(c)
        for f, power in rename_indices(factors, held):
            term = multiply(term, replace_in_factor(f, power, atom_, value, facts), facts)
        for (_, k), token in held.items():
            term = sum_over_index(term, token, bound[k], facts)
        result = add(result, term)
    return result


def replace_in_factor(f: tuple, power: Fraction, atom_: tuple, value: Polynomial, facts: Facts) -> Polynomial:
    """Return a power of an atom with a polynomial in place of the atom `atom_`.

    Raise Unsupported if that occurs inside an unsupported function.
    """
    head, indices = f
    if f == atom_:
        return raise_to_allowed_power(value, power, facts)
    if not contains_symbol(head, atom_[0]):
        return reduce_term({}, [(f, power)], facts)
    if head[0] not in ("exp", "log", "sum"):
        raise Unsupported(f"the largest of some entries, inside of {head[0]}")
    inside = replace_atom(instantiate(head[-1], indices), atom_, value, facts)
    if head[0] == "exp":
        return exponential(scale(inside, power), facts)
    return raise_to_allowed_power(logarithm(inside, facts, known_positive=True) if head[0] == "log" else inside, power, facts)


def keep_one_term(p: Polynomial, at: tuple, size: str, facts: Facts) -> Polynomial:
    """Return a polynomial that is at most p: each sum of nonnegative terms over this size is replaced by its term at one index."""
    result: Polynomial = {}
    for (bound, factors), c in p.items():
        over = next((k for k, s in enumerate(bound) if s.op == "symbol" and s.data[0] == size), None)
        if over is None or c < 0 or not all(factor_sign(f, power, facts) for f, power in factors):
            result = add(result, {(bound, factors): c})
            continue
        rest = {k: s for k, s in enumerate(bound) if k != over}
        result = add(result, scale(reduce_term(rest, rename_indices(factors, {("b", over): at}), facts), c))
    return result
