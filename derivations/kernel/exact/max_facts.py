"""What is known of the largest of some entries: it is one of them, and no other is larger; and of what is 0 or 1.

So what holds of it in each case, holds.
"""

from __future__ import annotations

from copy import copy

from .atom_payloads import Unknown, hold, instantiate, mentions
from .fractions import Fraction
from .index_sums import fresh, put, summed
from .max_normal_form import written_out
from .normal_form import FRESH, Facts, allowed_power, exponential, factor_sign, is_bit, logarithm, multiply, reduce_term
from .polynomials import RUNS, add, constant, rename, scale


def by_case(p: dict, question: str, facts: Facts) -> bool:
    """Is p positive, or not negative, whichever entry is the largest, and whatever is 0 or 1 of what is one of them?

    question: the method of Facts that says so where neither is spoken of.
    """
    try:
        if found := next(find_maxima(p), None):
            return all(holds_in_case(p, found, case, question, facts) for case in cases(found, facts))
        bits = [f for _, factors in p for f, _ in factors if is_bit(f[0], facts)]
        if bit := next((f for f in bits if not any(i[0] == "b" for i in f[1])), None):
            return all(getattr(facts, question)(replace_atom(p, bit, constant(value), facts)) for value in (0, 1))
        return bool(bits) and holds_by_groups(p, question, facts)
    except Unknown:
        return False


def holds_by_groups(p: dict, question: str, facts: Facts) -> bool:
    """Is no summand of p negative, of those over the same indices all together; and, if that is asked, one of them positive?"""
    groups: dict = {}
    for (bound, factors), c in p.items():
        held = {("b", k): fresh() for k in range(len(bound))}  # terms inside of terms have others
        groups[bound] = add(groups.get(bound, {}), scale(reduce_term({}, rename(factors, held), facts), c))
    return all(map(facts.is_nonnegative, groups.values())) and (
        question == "is_nonnegative" or any(map(facts.is_positive, groups.values()))
    )


def find_maxima(p: dict):
    """The atoms of a largest entry that stand for one number, those inside of other atoms too."""
    for _, factors in p:
        for (head, indices), _ in factors:
            if head[0] == "largest" and not any(is_bound(i) for i in indices):
                yield head, indices
            elif head[0] != "largest" and isinstance(head[-1], tuple):
                yield from find_maxima(instantiate(head[-1], hold(indices)))


def is_bound(index: tuple) -> bool:
    """Is it bound by a sum, or held in the place of one that is?"""
    return index[0] == "b" or index[0] == "held" and isinstance(index[1], tuple)


def cases(found: tuple, facts: Facts):
    """For each entry that may be the largest: the entry, what is then not negative, and the index of the entry with its size.

    What is not negative comes with the index at each value of which it is so. It is so at these values of the other indices alone: at others
    another entry may be the largest.
    """
    head, indices = found
    inside = instantiate(head[-1], indices)
    if isinstance(head[1], int) or head[1].isdigit():
        entries = (
            written_out(inside, head[1])
            if isinstance(head[1], int)
            else [put(inside, RUNS, ("c", k), facts) for k in range(1, int(head[1]) + 1)]
        )
        for entry in entries:
            yield entry, [(add(entry, scale(other, -1)), ()) for other in entries if other != entry], None
        return
    at, any_ = fresh(), ("f", f"any {next(FRESH)}")
    entry, other = (put(inside, RUNS, index, facts) for index in (at, any_))
    yield entry, [(add(entry, scale(other, -1)), (any_,))], (at, head[1])


def holds_in_case(p: dict, found: tuple, case: tuple, question: str, facts: Facts) -> bool:
    entry, known, place = case
    here = copy(facts)
    here.nonnegative_in_case = [*facts.nonnegative_in_case, *known]
    there = replace_atom(p, found, entry, facts)
    return getattr(here, question)(there) or place is not None and getattr(here, question)(keep_one_term(there, *place, here))


def replace_atom(p: dict, found: tuple, value: dict, facts: Facts) -> dict:
    """p with a value in the place of the largest entry."""
    result = {}
    for (bound, factors), c in p.items():
        held, term = {("b", k): fresh() for k in range(len(bound))}, constant(c)
        for f, power in rename(factors, held):
            term = multiply(term, replace_in_factor(f, power, found, value, facts), facts)
        for (_, k), token in held.items():
            term = summed(term, token, bound[k], facts)
        result = add(result, term)
    return result


def replace_in_factor(f: tuple, power: Fraction, found: tuple, value: dict, facts: Facts) -> dict:
    head, indices = f
    if f == found:
        return allowed_power(value, power, facts)
    if not mentions(head, found[0]):
        return reduce_term({}, [(f, power)], facts)
    if head[0] not in ("exp", "log", "sum"):
        raise Unknown(f"the largest of some entries, inside of {head[0]}")
    inside = replace_atom(instantiate(head[-1], indices), found, value, facts)
    if head[0] == "exp":
        return exponential(scale(inside, power), facts)
    return allowed_power(logarithm(inside, facts, seen=True) if head[0] == "log" else inside, power, facts)


def keep_one_term(p: dict, at: tuple, size: str, facts: Facts) -> dict:
    """No more than p: of each sum over this size whose terms are not negative, the one term at the index."""
    result = {}
    for (bound, factors), c in p.items():
        over = next((k for k, s in enumerate(bound) if s.op == "symbol" and s.data[0] == size), None)
        if over is None or c < 0 or not all(factor_sign(f, power, facts) for f, power in factors):
            result = add(result, {(bound, factors): c})
            continue
        rest = {k: s for k, s in enumerate(bound) if k != over}
        result = add(result, scale(reduce_term(rest, rename(factors, {("b", over): at}), facts), c))
    return result
