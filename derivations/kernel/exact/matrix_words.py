"""Products of matrices in a normal form, and the rule that simplifies those with the inverse of an expression.

A term of the expression is a word if it is a product of matrices, A B C: a chain of atoms, each joined to the next by one bound index.
If all terms of M are words and one of them, l, is larger than the others, then M = c l + r, and

    M^-1 l = (1 - M^-1 r) / c        l M^-1 = (1 - r M^-1) / c

because M^-1 M = M M^-1 = 1. Words are compared by the matrices in them, whatever their order and whether they are transposed. So a word is
as large as its transpose, each step makes a term smaller, and the rule ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from .atom_payloads import iterate_axis_indices, sort_atom_indices
from .polynomials import rename_indices
from .rational_numbers import Fraction

INVERSE = "inverse of"  # a head is (INVERSE, size, payload): the inverse of the matrix whose entry at the slots 0 and 1 is the payload
NEVER_ZERO = ("size", "prime", "exp")  # heads of factors that may be divided by
START, END = ("s", 0), ("s", 1)

Factors = list[tuple]


class Rule(NamedTuple):
    """M = `number` `divisor` `scalars` l + `rest`. Where l is replaced, `scalars` must be factors, too; `divisor` is never 0."""

    letters: tuple  # (head, whether its second index comes first)
    scalars: Factors
    divisor: Factors
    number: Fraction
    rest: tuple


@lru_cache(maxsize=256)
def find_rule(payload: tuple) -> Rule | None:
    """Return the rule for a matrix's payload. Return None if a term is no word, or if the largest word occurs in two terms."""
    split = [split_word(bound, factors) for (bound, factors), _ in payload]
    words = [parts[0] for parts in split if parts is not None]
    orders = [word_order(word) for word in words]
    if len(words) < len(split) or not any(words) or orders.count(max(orders)) > 1:
        return None
    k = orders.index(max(orders))
    scalars = split[k][1]  # type: ignore[index]
    divisor = [(f, e) for f, e in scalars if f[0][0] in NEVER_ZERO or e < 0]  # a negative power has a value, so its base is not 0
    return Rule(words[k], [x for x in scalars if x not in divisor], divisor, payload[k][1], payload[:k] + payload[k + 1 :])


def word_order(word: tuple) -> tuple:
    """Return a key that is larger for a longer word and, among words of one length, for one with matrices later in the alphabet."""
    return len(word), sorted((repr(head) for head, _ in word), reverse=True)


def split_word(bound: tuple, factors: tuple) -> tuple[tuple, Factors] | None:
    """Return (the letters of a term, its factors without indices), or None if the term is no word."""
    scalars = [x for x in factors if not x[0][1]]
    left = [x for x in factors if x[0][1]]
    if [f[0] for f, _ in left] == [("delta",)]:
        return (), scalars
    if any(power != 1 or len(f[1]) != 2 or not has_known_sizes(f[0]) for f, power in left):
        return None
    letters, at = [], START
    used: set[tuple] = set()
    while len(used) < len(left):
        following = [x for x in left if x not in used and at in x[0][1]]
        if len(following) != 1:
            return None
        ((head, (first, second)), _) = following[0]
        used.add(following[0])
        letters.append((head, first != at))
        at = second if first == at else first
    return (tuple(letters), scalars) if at == END and len(bound) == len(left) - 1 else None


def has_known_sizes(head: tuple) -> bool:
    """Return whether both sizes of a matrix can be read from the symbols in its head.

    This is so if each of its two indices occurs on an axis of a symbol.
    """
    return {i for _, i in iterate_axis_indices({((), (((head, (START, END)), Fraction(1)),)): Fraction(1)})} == {START, END}


def replace_largest_word(bound: dict, powers: dict) -> list[tuple[dict, Factors, Fraction]] | None:
    """Return the terms (bound indices, factors, number) into which the rule turns a term; None if it does not apply."""
    for f in [f for f, power in powers.items() if f[0][0] == INVERSE and power == 1]:
        if (rule := find_rule(f[0][2])) is None:
            continue
        for axis in (0, 1):
            for match in match_word(rule, f, axis, bound, powers):
                return apply_rule(rule, f, axis, match, bound, powers)
    return None


def match_word(rule: Rule, inverse: tuple, axis: int, bound: dict, powers: dict) -> Iterator[tuple[list, tuple]]:
    """Yield (the factors of the largest word next to this axis of an inverse, the index at the word's other end)."""
    if any(powers.get(f, 0) < power for f, power in rule.scalars):
        return
    letters = rule.letters if axis else tuple((head, not turned) for head, turned in reversed(rule.letters))
    used, at = [inverse], inverse[1][axis]
    for head, turned in letters:
        if at[0] != "b" or sum(f[1].count(at) for f in powers) != 2:
            return
        following = [f for f in powers if at in f[1] and f not in used]
        if len(following) != 1 or following[0][0] != head or powers[following[0]] != 1:
            return
        first, second = following[0][1]
        other = second if first == at else first
        if sort_atom_indices(head, (other, at) if turned else (at, other)) != following[0][1]:
            return
        used.append(following[0])
        at = other
    yield used, at


def apply_rule(rule: Rule, inverse: tuple, axis: int, match: tuple, bound: dict, powers: dict) -> list[tuple[dict, Factors, Fraction]]:
    """Return the terms of (1 - M^-1 r)/c, or of (1 - r M^-1)/c if `axis` is 0, times the factors that did not match."""
    used, end = match
    start = inverse[1][1 - axis]
    inner = {inverse[1][axis][1], *(i[1] for f in used for i in f[1] if i[0] == "b" and i not in (start, end))}
    outer = {k: size for k, size in bound.items() if k not in inner}
    others = [x for x in powers.items() if x[0] not in used]
    others += [(f, -power) for f, power in (*rule.scalars, *rule.divisor)]
    terms = [(outer, [*others, ((("delta",), (start, end)), Fraction(1))], 1 / rule.number)]
    joint = max(bound) + 1
    for (sizes, factors), c in rule.rest:
        ends = {START: ("b", joint), END: end} if axis else {START: end, END: ("b", joint)}
        renamed = rename_indices(factors, {("b", k): ("b", joint + 1 + k) for k in range(len(sizes))} | ends)
        indices = (start, ("b", joint)) if axis else (("b", joint), start)
        more = {joint: inverse[0][1], **{joint + 1 + k: size for k, size in enumerate(sizes)}}
        terms.append(({**outer, **more}, [*others, *renamed, ((inverse[0], indices), Fraction(1))], -c / rule.number))
    return terms
