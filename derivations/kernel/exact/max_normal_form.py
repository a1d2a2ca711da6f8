"""The normal form of the largest of some entries.

Its atom holds the entries as a polynomial in an index of its own, RUNS, beside what that runs to; or, where they are few, as the sum of all
of them, each with a mark, beside how many there are: sorted, and none of them twice. What keeps their order comes out of it: a summand of all
of them, a factor that is visibly not negative, and an exponential.
"""

from __future__ import annotations

from ..core.expr import Expr
from .atom_payloads import Unknown, instantiate, is_real, payload
from .fractions import Fraction
from .index_renaming import named_alike
from .normal_form import Facts, exponential, factor_sign, multiply, reduce_term
from .polynomials import RUNS, add, atom, constant, rename, scale

FEW = 4  # entries that are written out: each of them may bring indices of its own


def largest_over(p: dict, runs: tuple, size: Expr, facts: Facts) -> dict:
    """The largest value of p over the free index `runs`, which takes as many values as the size says."""
    return largest_of([p], facts, runs, size.data[0] if size.op == "symbol" else str(size.data))


def largest_of(entries: list, facts: Facts, runs: tuple = (), size: str = "") -> dict:
    """The largest of these polynomials; with an index that runs, of the values of one of them."""
    if not all(is_real(f[0]) for p in entries for _, factors in p for f, _ in factors):
        raise Unknown("the largest of what is not real")
    shift = common_terms(entries, runs)
    moving = [add(p, scale(shift, -1)) for p in entries]
    return add(shift, factored_maximum(moving, facts, runs, size))


def common_terms(entries: list, runs: tuple) -> dict:
    """The summand that every entry has."""
    first, *others = entries
    return {term: c for term, c in first.items() if not (runs and uses_index(term[1], runs)) and all(p.get(term) == c for p in others)}


def uses_index(factors: tuple, index: tuple) -> bool:
    return any(index in indices for (_, indices), _ in factors)


def factored_maximum(entries: list, facts: Facts, runs: tuple, size: str) -> dict:
    """The largest of entries that share no summand."""
    if not any(entries):
        return {}
    factor, rest = shared_factor(entries, facts, runs)
    if factor != constant(1):
        return multiply(factor, factored_maximum(rest, facts, runs, size), facts)
    if exponents := read_exponents(entries):
        return exponential(largest_of(exponents, facts, runs, size), facts)
    return maximum_atom(entries, runs, size)


def shared_factor(entries: list, facts: Facts, runs: tuple) -> tuple:
    """(a factor of all entries that is visibly not negative, what is left of them)."""
    if runs and (split := split_varying_part(entries[0], facts, runs)):
        return split
    number, shared = min(abs(c) for p in entries for c in p.values()), None
    for p in entries:
        for _, factors in p:
            here = dict(fixed_factors(factors, runs))
            shared = (
                here
                if shared is None
                else {f: closer_to_zero(e, here[f]) for f, e in shared.items() if f in here and (e > 0) == (here[f] > 0)}
            )
    kept = tuple(sorted(((f, e) for f, e in (shared or {}).items() if factor_sign(f, e, facts)), key=repr))
    inverse = {((), tuple((f, -e) for f, e in kept)): 1 / number}
    return {((), kept): Fraction(number)}, [multiply(p, inverse, facts) for p in entries]


def closer_to_zero(a: Fraction, b: Fraction) -> Fraction:
    return min(a, b, key=abs)


def fixed_factors(factors: tuple, runs: tuple) -> list:
    """The factors that stand still: no index of theirs runs."""
    return [(f, e) for f, e in factors if f[0][0] != "delta" and runs not in f[1] and not any(i[0] == "b" for i in f[1])]


def split_varying_part(p: dict, facts: Facts, runs: tuple) -> tuple:
    """The same for a polynomial that is one thing that runs, times what stands still, whatever its form; () if it is not."""
    parts: dict = {}
    for (bound, factors), c in p.items():
        still = fixed_factors(factors, runs)
        key = bound, tuple(x for x in factors if x not in still)
        parts[key] = add(parts.get(key, {}), {((), tuple(still)): c})
    if len(parts) != 1:
        return ()
    (((bound, moving), factor),) = parts.items()
    part = reduce_term(dict(enumerate(bound)), list(moving), facts)
    for sign in (1, -1):
        if factor != constant(sign) and facts.is_nonnegative(scale(factor, sign)):
            return scale(factor, sign), [scale(part, sign)]
    return ()


def read_exponents(entries: list) -> list:
    """What each entry is the exponential of; [] if one of them is none."""
    found = []
    for p in entries:
        ((bound, factors), c), *others = p.items() or [(((0,), ()), 0)]
        if others or bound or c != 1 or any(f[0][0] != "exp" for f, _ in factors):
            return []
        found.append(add(*(scale(instantiate(f[0][-1], f[1]), e) for f, e in factors)))
    return found


def maximum_atom(entries: list, runs: tuple, size: str | int) -> dict:
    if not runs:
        distinct = sorted({repr(sorted(p.items(), key=repr)): p for p in entries}.items())
        if len(distinct) == 1:
            return distinct[0][1]
        size = len(distinct)
        entries = [add(*(mark_entry(p, k) for k, (_, p) in enumerate(distinct, 1)))]
    running = {}
    for (bound, factors), c in entries[0].items():
        term = named_alike(tuple(enumerate(bound)), tuple(rename(factors, {runs: RUNS})))
        running[term] = running.get(term, 0) + c
    frozen, indices = payload(running)
    return atom(("largest", size, frozen), *indices)


def mark_entry(p: dict, place: int) -> dict:
    """One of the entries that are written out."""
    mark = ((("place", place), ()), Fraction(1))
    return {(bound, tuple(sorted((mark, *factors), key=repr))): c for (bound, factors), c in p.items()}


def written_out(p: dict, count: int) -> list:
    """The entries of a payload in which they are marked."""
    found: list = [{} for _ in range(count)]
    for (bound, factors), c in p.items():
        ((place,),) = ([f[0][1]] for f, _ in factors if f[0][0] == "place")
        found[place - 1][bound, tuple(x for x in factors if x[0][0][0] != "place")] = c
    return found
