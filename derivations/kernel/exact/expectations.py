"""Expectations of polynomials in random entries.

Entries at different indices are independent. Distinguishing which summation indices are equal proves a law for all sizes in one computation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product

from .atom_payloads import Unsupported, function_atom, instantiate
from .exchangeable_entries import mean_of_share
from .exponentials_and_logs import exponential
from .index_sums import fresh_index, substitute_index, sum_over_index
from .max_facts import replace_atom
from .normal_form import Facts, is_bit, multiply, raise_to_allowed_power, reduce_term
from .polynomials import Polynomial, add, atom, constant, rename_indices, scale, size_polynomial
from .rational_numbers import Fraction


def take_expectation(p: Polynomial, facts: Facts) -> Polynomial:
    """Return E[p] over every random entry in p."""
    return add(*(scale(term_mean(bound, factors, facts), c) for (bound, factors), c in p.items()))


def term_mean(bound: tuple, factors: Iterable, facts: Facts) -> Polynomial:
    """Return the expectation of one term.

    Entries at distinct indices are independent, so their moments multiply once it is known which coincide.
    """
    held = {("b", k): fresh_index() for k in range(len(bound))}
    factors = rename_indices(factors, held)
    if bit := next((f for head, indices in (f for f, _ in factors) for f in list_inner_bits(head, indices, facts)), None):
        return sum_over_held(take_expectation(split_by_bit(factors, bit, facts), facts), held, bound, facts)
    names = sorted({name for f, _ in factors for name in random_names(f[0])})
    if not names:
        return reduce_term(dict(enumerate(bound)), rename_indices(factors, {new: old for old, new in held.items()}), facts)
    chance = [(f, power) for f, power in factors if f[0][0] == "random"]
    rest = [(f, power) for f, power in factors if f[0][0] != "random"]
    inside = any(f[1] for head in (f[0] for f, _ in rest) for f in random_entries(head))
    together = (len({f for f, _ in chance}) > 1 or len(names) > 1 or inside) and not any(set(names) <= g for g in facts.independent)
    requirement = f"the entries of {' and '.join(names)} are independent (an expectation is taken)", f"independent({', '.join(names)})"
    if together and is_joint_moment(chance, rest):
        facts.possible_independence.setdefault(*requirement)
        return sum_over_held(multiply(joint_moment(chance, facts), reduce_term({}, rest, facts), facts), held, bound, facts)
    facts.require(not together, *requirement)
    functions = [(f, power) for f, power in rest if random_names(f[0])]
    if not functions:
        result = polynomial_mean(chance, rest, facts)
    elif {f[0][1] for f, _ in chance} & {name for f, _ in functions for name in random_names(f[0])}:
        result = gaussian_mean(rest, facts, chance)
    else:  # of independent factors
        fixed = [x for x in rest if x not in functions]
        result = multiply(polynomial_mean(chance, fixed, facts), function_mean(functions, facts), facts)
    return sum_over_held(result, held, bound, facts)


def function_mean(factors: list, facts: Facts) -> Polynomial:
    """Return the expectation of a product of functions of random entries."""
    share = mean_of_share(factors, facts)
    return gaussian_mean(factors, facts) if share is None else share


def sum_over_held(p: Polynomial, held: dict, bound: tuple, facts: Facts) -> Polynomial:
    """Return p summed over the indices that were held in place of the bound indices of a term."""
    for (_, k), token in held.items():
        p = sum_over_index(p, token, bound[k], facts)
    return p


def list_inner_bits(head: tuple, indices: tuple, facts: Facts) -> list:
    """Return the random entries that are 0 or 1 inside an atom's payload, except those that a sum in it runs over."""
    if head[0] == "joint" or not isinstance(head[-1], tuple):
        return []
    inside = [f for _, factors in instantiate(head[-1], indices) for f, _ in factors if not any(i[0] in "bm" for i in f[1])]
    return [f for f in inside if f[0][0] == "random" and is_bit(f[0], facts)] + [
        g for f in inside for g in list_inner_bits(f[0], f[1], facts)
    ]


def split_by_bit(factors: list, bit: tuple, facts: Facts) -> Polynomial:
    """Return the product of the factors as (1 - u) f(0) + u f(1), where u is an entry that is 0 or 1."""
    f = reduce_term({}, factors, facts)
    zero, one = (replace_atom(f, bit, constant(value), facts) for value in (0, 1))
    u = atom(bit[0], *bit[1])
    return add(zero, multiply(u, add(one, scale(zero, -1)), facts))


def is_joint_moment(chance: list, rest: list) -> bool:
    """Return whether this is a product of powers of random entries, no two of which can be the same entry at some index."""
    heads = [f[0] for f, _ in chance]
    known = all(i[0] == "c" for f, _ in chance for i in f[1])
    positive_integers = all(power.denominator == 1 and power > 0 for _, power in chance)
    return positive_integers and not any(random_names(f[0]) for f, _ in rest) and (known or len(set(heads)) == len(heads))


def joint_moment(chance: list, facts: Facts) -> Polynomial:
    """Return E[x^a y^b] of entries that may be dependent, as one atom.

    It exists if both have moments of order a + b (Hoelder's inequality). An entry that is 0 or 1 is bounded, and adds nothing to the order.
    """
    unbounded = [(f[0][1], power) for f, power in chance if not is_bit(f[0], facts)]
    for name, _ in unbounded:
        facts.require_moment(name, int(sum(power for _, power in unbounded)))
    return function_atom("joint", reduce_term({}, chance, facts))


def polynomial_mean(chance: list, rest: list, facts: Facts) -> Polynomial:
    """Return the expectation of a product of random entries times the rest: a sum over all ways in which their indices may coincide."""
    result: Polynomial = {}
    for partition in product(*(set_partitions(members) for members in group_indices(chance))):
        same = {index: block[0] for blocks in partition for block in blocks for index in block}
        entries: dict[tuple, Fraction] = {}
        for f, power in rename_indices(chance, same):
            entries[f] = entries.get(f, 0) + power
        moments = [entry_moment(f[0][1], power, facts) for f, power in entries.items()]
        if not all(moments) and all(facts.has_moment(f[0][1], int(power)) for f, power in entries.items()):
            continue  # a mean of 0 leaves nothing of most partitions
        term = reduce_term({}, rest, facts)
        for blocks in partition:
            for block in blocks:
                for index in block[1:]:
                    term = multiply(term, delta(block[0], index), facts)
            for first, second in combinations(blocks, 2):
                term = multiply(term, add(constant(1), scale(delta(first[0], second[0]), -1)), facts)
        for f, power in entries.items() if term else ():
            facts.require_moment(f[0][1], int(power))  # also where the moment of another factor is 0
        for moment in moments:
            term = multiply(term, moment, facts)
        result = add(result, term)
    return result


def delta(first: tuple, second: tuple) -> Polynomial:
    """Return the Kronecker delta of two indices."""
    return atom(("delta",), *sorted((first, second), key=repr))


def share_axis(first: list, second: list, chance: list) -> bool:
    """Return whether the two groups have indices on the same axis of the same tensor, so that it matters whether they coincide."""

    def places(group: list) -> set:
        return {(f[0], k) for f, _ in chance for k, i in enumerate(f[1]) if i in group}

    return bool(places(first) & places(second))


def group_indices(chance: list) -> list:
    """Return the indices in classes: indices that share an axis are in one class, directly or through other indices."""
    classes: list[list] = []
    for index in sorted({i for f, _ in chance for i in f[1]}, key=repr):
        related = [c for c in classes if share_axis(c, [index], chance)]
        classes = [c for c in classes if c not in related] + [sum(related, []) + [index]]
    return classes


def set_partitions(members: list) -> list:
    """Return all partitions of the members into blocks."""
    partitions: list[list[list]] = [[]]
    for member in members:
        partitions = [
            new
            for partition in partitions
            for new in [partition + [[member]]]
            + [partition[:k] + [block + [member]] + partition[k + 1 :] for k, block in enumerate(partition)]
        ]
    return partitions


def entry_moment(name: str, power: Fraction, facts: Facts) -> Polynomial:
    """Return E[x^power] for an entry x of the random symbol `name`."""
    if power.denominator != 1 or power < 0:
        raise Unsupported(f"the expectation of the power {power} of {name}", code="unknown-expectation")
    known = facts.moments.get(name)
    return known(int(power)) if known else atom(("moment", name, int(power)))


def random_entries(head: tuple) -> list:
    """Return the random entries in an atom's payload, at any depth."""
    inside = [f for (_, factors), _ in (head[-1] if isinstance(head[-1], tuple) and head[0] != "joint" else ()) for f, _ in factors]
    return [f for f in inside if f[0][0] == "random"] + [g for f in inside for g in random_entries(f[0])]


def random_names(head: tuple) -> set:
    """Return the names of the random symbols in an atom's head or payload. A joint moment is not random."""
    if head[0] == "random":
        return {head[1]}
    inside = head[-1] if isinstance(head[-1], tuple) and head[0] != "joint" else ()
    return {name for (_, factors), _ in inside for f, _ in factors for name in random_names(f[0])}


def gaussian_mean(factors: list, facts: Facts, entries: Sequence = ()) -> Polynomial:
    """Return the expectation of a product of exponentials of Gaussian entries, integrating out one random symbol x ~ N(m, v) at a time.

    E[exp(sum_j a_j x_j + b x_j^2)] = s^(-n/2) exp(sum_j (b m^2 + a_j m + a_j^2 v/2) / s), where s = 1 - 2bv. For b = 0, an exponential
    shifts the mean of what is beside it, the powers of random `entries`: E[f(x) exp(a x)] = E[exp(a x)] E[f(x + a v)].
    """
    outside = [(f, power) for f, power in factors if not random_names(f[0])]
    exponent: Polynomial = {}
    for f, power in factors:
        if random_names(f[0]):
            if f[0][0] != "exp":
                raise Unsupported(f"the expectation of {f[0][0]} of random entries", code="unknown-expectation")
            exponent = add(exponent, scale(instantiate(f[0][1], f[1]), power))
    require_absolute_mean(exponent, facts)
    name = next((x for x in sorted(facts.gaussian) if any(("random", x) == f[0] for _, fs in exponent for f, _ in fs)), None)
    if name is None:
        raise Unsupported("the expectation of exp of random entries that are not stated to be Gaussian", code="unknown-expectation")
    mean, v = facts.gaussian[name]
    j, size = fresh_index(), None
    rest: Polynomial = {}
    linear: Polynomial = {}
    square: Polynomial = {}
    for (bound, fs), c in exponent.items():
        in_term = [(f, power) for f, power in fs if f[0] == ("random", name)]
        if not in_term:
            rest = add(rest, {(bound, fs): c})
            continue
        ((entry, power),) = in_term if len(in_term) == 1 else [(in_term[0][0], None)]
        if power not in (1, 2) or len(entry[1]) > 1 or entry[1] and len(bound) != 1 or any(i[0] != "b" for i in entry[1]):
            raise Unsupported(f"an exponent that is not linear or quadratic in single entries of {name}", code="unknown-expectation")
        coefficient = [x for x in fs if x[0] != entry]
        if entry[1]:
            others, size = {((), tuple(rename_indices(coefficient, {("b", 0): j}))): c}, bound[0]
        else:  # a number, whose coefficient may be a sum
            others = scale(reduce_term(dict(enumerate(bound)), coefficient, facts), c)
        linear, square = (add(linear, others), square) if power == 1 else (linear, add(square, others))
    if any(i == j or random_names(f[0]) for _, fs in square for f, _ in fs for i in (*f[1], None)):
        raise Unsupported(f"a square of {name} with a coefficient that varies", code="unknown-expectation")
    spread = add(constant(1), scale(multiply(square, v, facts), -2))
    facts.require_sign("positive", real_part(spread), "a Gaussian integral converges")
    top = add(
        multiply(square, multiply(mean, mean, facts), facts),
        multiply(linear, mean, facts),
        scale(multiply(multiply(linear, linear, facts), v, facts), Fraction(1, 2)),
    )
    new = multiply(top, raise_to_allowed_power(spread, Fraction(-1), facts), facts)
    count = constant(1)
    if size is not None:
        new, count = sum_over_index(new, j, size, facts), size_polynomial(size)
    log_spread = function_atom("log", spread) if spread != constant(1) else {}
    spread = exponential(scale(multiply(count, log_spread, facts), Fraction(-1, 2)), facts)
    smaller = multiply(exponential(add(rest, new), facts), multiply(spread, reduce_term({}, outside, facts), facts), facts)
    for f, power in entries:
        if f[0] == ("random", name) and square or power.denominator != 1 or power < 0:
            raise Unsupported(f"the expectation of exp of a square of {name} times a power of {name}", code="unknown-expectation")
        shift = multiply(v, substitute_index(linear, j, f[1][0], facts) if f[1] else linear, facts) if f[0] == ("random", name) else {}
        for _ in range(int(power)):
            smaller = multiply(smaller, add(atom(f[0], *f[1]), shift), facts)
    return take_expectation(smaller, facts)


def require_absolute_mean(exponent: Polynomial, facts: Facts) -> None:
    """Require that E|exp(z)| = E exp(Re z) exists. Otherwise there is no expectation, even if iterated integrals exist."""
    if any(contains_imaginary(f[0]) for _, factors in exponent for f, _ in factors):
        raise Unsupported("the expectation of exp of random entries times what need not be real", code="unknown-expectation")
    if (real := real_part(exponent)) != exponent:
        take_expectation(exponential(real, facts), facts)


def contains_imaginary(head: tuple) -> bool:
    """Return whether an atom's payload contains the imaginary unit."""
    inside = head[-1] if isinstance(head[-1], tuple) else ()
    return any(f[0][0] == "i" or contains_imaginary(f[0]) for (_, factors), _ in inside for f, _ in factors)


def real_part(p: Polynomial) -> Polynomial:
    """Return the terms of p without a factor i."""
    return {term: c for term, c in p.items() if all(f[0][0] != "i" for f, _ in term[1])}
