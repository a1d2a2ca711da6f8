"""Inverses of matrix expressions: their atoms, and identities between them that hold after multiplication by the matrices."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.expr import Expr
from .atom_payloads import Unsupported, freeze, instantiate, is_random, is_real, outer_indices, rename_polynomial, slot_symmetries
from .clear_denominators import clear_denominators
from .index_sums import fresh_index, sum_over_index
from .matrix_words import END, INVERSE, START, split_word
from .normal_form import Facts, multiply, reduce_term, substitute_indices
from .polynomials import Polynomial, add, atom, rename_indices, scale, sort_by_text
from .rational_numbers import Fraction

INVERTED = {"entry": "inverse", "inverse": "entry"}  # a letter of a word, and its inverse
MOST_STEPS, MOST_TERMS = 12, 60  # from a difference to 0, and in each difference on the way


def inverse_atom(entry: Polynomial, ends: tuple, at: tuple, size: Expr, facts: Facts) -> Polynomial:
    """Return the entry at `at` of the inverse of the matrix whose entry at `ends`, a row and a column, is given.

    Rational multiples of one matrix, and their transposes, share one atom: (cM)^-1 is M^-1/c, and the inverse of a transpose is the
    transpose of the inverse.
    """
    if any(map(is_random, heads_of(entry))):
        raise Unsupported("the inverse of a random matrix", code="random-not-allowed")
    if extra := [i for i in outer_indices(entry) if i not in ends and i[0] != "c"]:
        raise Unsupported(f"the inverse of a matrix that depends on {len(extra)} more indices", code="not-supported")
    if not entry:
        raise Unsupported("the inverse of a matrix of zeros", code="not-supported")
    ways = []
    for slots, indices in (((START, END), at), ((END, START), at[::-1])):
        frozen = freeze(substitute_indices(entry, dict(zip(ends, slots)), facts))
        leading = frozen[0][1]
        ways.append((tuple((term, c / leading) for term, c in frozen), leading, indices))
    payload, leading, indices = min(ways, key=lambda way: repr(way[0]))
    return scale(reduce_term({}, [(((INVERSE, size, payload), indices), Fraction(1))], facts), 1 / leading)


def is_invertible(head: tuple, facts: Facts) -> bool:
    """Return whether a matrix, given by the head of its inverse, is stated to be invertible, is definite, or follows from what is stated."""
    definite = any(is_positive_definite(scale(dict(head[2]), sign), facts) for sign in (1, -1))
    return head in facts.invertible or definite or is_related(head, facts)


def is_positive_definite(entry: Polynomial, facts: Facts) -> bool:
    """Return whether a matrix D + sum of c W W^T is positive definite, since D is diagonal and visibly positive and each c is nonnegative.

    Then v (D + ...) v > 0 for every v other than 0, so the matrix is invertible.
    """
    diagonal: Polynomial = {}
    for (bound, factors), c in entry.items():
        if any(f[0] == ("delta",) for f, _ in factors):
            others = tuple(x for x in factors if x[0][0] != ("delta",))
            diagonal = add(diagonal, rename_polynomial({(bound, others): c}, dict.fromkeys((START, END), fresh_index())))
        elif not is_gram_matrix(bound, factors) or not facts.is_nonnegative({((), tuple(x for x in factors if not x[0][1])): c}):
            return False
    return facts.is_positive(diagonal)


def is_gram_matrix(bound: tuple, factors: tuple) -> bool:
    """Return whether a term is a real W W^T, where W is a product of matrices or a vector, times factors without indices."""
    if not all(is_real(f[0]) for f, _ in factors):
        return False
    if letters := (split_word(bound, factors) or ((),))[0]:
        return len(letters) % 2 == 0 and letters == tuple((head, not turned) for head, turned in reversed(letters))
    left = [(f, power) for f, power in factors if f[1]]
    return not bound and len(left) == 2 and left[0][0][0] == left[1][0][0] and {f[1] for f, _ in left} == {(START,), (END,)}


def is_related(head: tuple, facts: Facts) -> bool:
    """Return whether a matrix is invertible because of one that is stated to be, such as 1 + VU because of 1 + UV."""
    stated = {cycle for other in facts.invertible if other[0] == INVERSE for cycle in list_cycles(other, facts)}
    return bool(stated) and not stated.isdisjoint(list_cycles(head, facts))


def list_cycles(head: tuple, facts: Facts) -> list[tuple]:
    """Return (q, W up to rotation and transposition) for each way to write a matrix as M = a T (1 + q W), with T a product of invertible ones.

    M is invertible exactly if 1 + q W is, and that holds for W = UV exactly if it holds for VU: if (1 + q UV) x = 0, then
    (1 + q VU) V x = 0, and V x = 0 would imply x = 0.
    """
    words = [(parts, c) for (bound, factors), c in head[2] if (parts := split_word(bound, factors)) is not None]
    if len(words) < len(head[2]) or len(words) != 2:
        return []
    cycles = []
    for ((first, more), a), ((second, scalars), b) in (words, words[::-1]):
        inverted = [(INVERTED.get(letter[0]), letter[1], turned) for letter, turned in reversed(first)]
        if more or any(kind is None or name not in facts.invertible for kind, name, _ in inverted):
            continue
        word = (*(((kind, name), turned) for kind, name, turned in inverted), *second)
        turns = [word[k:] + word[:k] for k in range(len(word))]
        turns += [tuple((letter, not turned) for letter, turned in reversed(x)) for x in turns]
        cycles.append((b / a, sort_by_text(scalars), min(turns, key=repr, default=())))
    return cycles


def heads_of(p: Polynomial) -> list[tuple]:
    """Return the heads of the atoms of p."""
    return [f[0] for _, factors in p for f, _ in factors]


def inverses_cancel(p: Polynomial, facts: Facts) -> bool:
    """Return whether p contains inverses and is certainly 0, because it is after multiplication by matrices whose inverses it contains.

    If the index i of an invertible matrix M is open in p, p is a vector p_i. It is 0 for every i exactly if the vector M p is. A sum of
    products that share a factor is 0 if the sum of the other factors is 0 at every value of the shared factor's indices.
    """
    for _ in range(MOST_STEPS):
        try:
            found = next(list_open_inverses(p, facts), None)
            smaller = multiply_by_matrix(p, *found, facts) if found else remove_shared_factor(p, facts)
            p = clear_denominators(smaller, facts)
        except Unsupported:
            return False
        if not p or len(p) > MOST_TERMS:
            return not p
    return False


def list_open_inverses(p: Polynomial, facts: Facts) -> Iterator[tuple[tuple, int, tuple]]:
    """Yield (head, axis, index) of an inverse and an open index on this axis that occurs nowhere else in a term."""
    for _, factors in p:
        for (head, indices), power in factors:
            if (head[0] == INVERSE or head[0] == "inverse" and head[1] in facts.invertible) and power == 1 and indices[0] != indices[1]:
                for axis, index in enumerate(indices):
                    if index[0] in ("f", "held") and occurrences(factors, index) == 1:
                        yield head, axis, index


def occurrences(factors: tuple, index: tuple) -> int:
    """Return how often an index occurs in the factors of a term."""
    return sum(indices.count(index) for (_, indices), _ in factors)


def multiply_by_matrix(p: Polynomial, head: tuple, axis: int, index: tuple, facts: Facts) -> Polynomial:
    """Return the product of the vector p and the matrix M whose inverse has this head.

    It sums over the row of M^-1 if `axis` is 0, else over its column.
    """
    size, place = facts.invertible[head[1]] if head[0] == "inverse" else head[1], fresh_index()
    ends = (index, place) if axis else (place, index)
    entry = atom(("entry", head[1]), *ends) if head[0] == "inverse" else instantiate(head[2], ends)
    symmetric = head[0] == INVERSE and len(slot_symmetries(head[2], 2)) > 1
    result: Polynomial = {}
    for (bound, factors), c in p.items():
        joined = [
            (f, power) for f, power in factors if f[0] == head and index in f[1] and power == 1 and (symmetric or f[1][axis] == index)
        ]
        if joined and occurrences(factors, index) == 1:
            other = next((i for i in joined[0][0][1] if i != index), index)
            delta = ((("delta",), (place, other)), Fraction(1))
            part = reduce_term(dict(enumerate(bound)), [*(x for x in factors if x not in joined), delta], facts)
        else:
            part = sum_over_index(multiply({(bound, factors): Fraction(1)}, entry, facts), index, size, facts)
        result = add(result, scale(part, c))
    return result


def remove_shared_factor(p: Polynomial, facts: Facts) -> Polynomial:
    """Return p without a factor that all its terms share, except for the bound indices of the factor, which become open.

    Raise Unsupported if there is none or if p contains no inverse.
    """
    patterns = [[pattern_of(f) for f, power in factors if power == 1] for _, factors in p]
    ends = [x for x in dict.fromkeys(patterns[0]) if x[1].count(None) < 2]  # of products of matrices
    shared = [x for x in ends if all(here.count(x) == 1 for here in patterns)]
    if not shared or not any(head[0] in ("inverse", INVERSE) for head in heads_of(p)):
        raise Unsupported("no factor is shared")
    tokens = [fresh_index() for _ in shared[0][1]]
    result: Polynomial = {}
    for (bound, factors), c in p.items():
        removed = next(x for x in factors if x[1] == 1 and pattern_of(x[0]) == shared[0])
        opened = {i: token for i, token in zip(removed[0][1], tokens) if i[0] == "b"}
        kept = {k: size for k, size in enumerate(bound) if ("b", k) not in opened}
        part = reduce_term(kept, rename_indices([x for x in factors if x != removed], opened), facts)
        result = add(result, scale(part, c))
    return result


def pattern_of(f: tuple) -> tuple:
    """Return an atom with None in place of its bound indices."""
    return f[0], tuple(None if i[0] == "b" else i for i in f[1])
