"""Decides identities in which positions are compared, at every shape.

The difference of the two sides is read as a sum of terms (`order_reading.py`). Terms whose atoms differ in their places alone are compared
place by place: the coefficient of the atoms at given places is a sum of polynomials under conditions on these places, the sizes and the open
indices. If each coefficient is 0 everywhere, so is the difference (`guarded_polynomials.py`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations, product
from math import factorial, prod

from ..core.assumptions import Assumption
from ..core.expr import Expr, walk
from .atom_payloads import Unsupported
from .guarded_polynomials import Guarded, Steps, find_nonzero_point, sum_out
from .linear_forms import (
    Form,
    Undecided,
    at_most,
    is_implied,
    is_satisfiable,
    negate_condition,
    negate_form,
    project,
    subtract_forms,
    variable,
)
from .order_reading import INVERSES, Reader, read_size
from .order_terms import Atom, Head, Sum, Term, multiply_sums, scale_sum

MOST_MATCHINGS = 720  # of entries of one symbol in a product with places
MOST_CLEARED = 4  # divisors inside one another


class Unequal(Unsupported):
    """Raised where a coefficient of the difference is not 0, with the sizes of such a point. Entries at which the sides differ may not exist."""

    code = "not-proved"

    def __init__(self, point: dict[str, int], sizes: frozenset[str]):
        self.sizes = {name: point.get(name, 1) for name in sizes}
        shown = ", ".join(f"{name} = {k}" for name, k in sorted(point.items()) if not name.startswith("~"))
        super().__init__(f"not proved: the two sides differ in a coefficient{f', at {shown}' * bool(shown)}")


def compares_positions(*trees: Expr) -> bool:
    """Return whether a tree contains a comparison of positions."""
    return any(n.op == "where" for tree in trees for n in walk(tree))


def require_equal_in_every_order(left: Expr, right: Expr, given: tuple[Assumption, ...]) -> None:
    """Raise Unsupported, and say why, unless the two sides are proved to have values and to be equal at every shape."""
    try:
        reader, (first, second) = read_any_entry((left, right), given)
        point = find_nonzero_by_cases([*first, *scale_sum(second, -1)], reader, reader.region)
    except Undecided as reason:
        raise Unsupported(f"not decided: {reason}", code="not-proved") from None
    if point is not None:
        raise Unequal(point, reader.sizes)
    require_shown(reader)


def is_equal_in_every_order(left: Expr, right: Expr, given: tuple[Assumption, ...]) -> bool:
    """Return whether the two sides are proved to have values and to be equal at every shape."""
    try:
        require_equal_in_every_order(left, right, given)
    except Unsupported:
        return False
    return True


def require_value_in_every_order(e: Expr, given: tuple[Assumption, ...]) -> None:
    """Raise Unsupported, and say why, unless every entry is proved to have a value at every shape."""
    try:
        require_shown(read_any_entry((e,), given)[0])
    except Undecided as reason:
        raise Unsupported(f"not decided: {reason}", code="not-proved") from None


def read_any_entry(trees: tuple[Expr, ...], given: tuple[Assumption, ...]) -> tuple[Reader, list[Sum]]:
    """Return trees of one shape as sums, at an arbitrary entry."""
    reader = Reader(trees, given, find_nonzero_coefficient)
    places = [f"~axis{axis}" for axis in range(len(trees[0].shape))]
    for name, size in zip(places, trees[0].shape):
        reader.outer = reader.outer.with_variable(name, read_size(size))
    return reader, [reader.read_entry_of(e, tuple(map(variable, places)), reader.outer) for e in trees]


def require_shown(reader: Reader) -> None:
    """Raise Unsupported if a value was used that was not shown to exist."""
    if reader.lacking:
        raise Unsupported(f"used but not shown: {'; '.join(reader.lacking)}", code="assumption-missing")


def find_nonzero_by_cases(terms: Sum, reader: Reader, region: list[Form]) -> dict[str, int] | None:
    """Return a point as `find_nonzero_coefficient` does, after clearing divisors.

    If a divisor is positive under a condition only, the cases in which the condition holds and fails are decided one after the other.
    """
    reader.steps.count()
    terms = clear_divisors([t for t in terms if is_satisfiable([*region, *conditions_of(t)])], reader, region)
    conditions = (c for atom in open_divisors(terms) for t in reader.argument(atom) for c in project(t.least, t.bound))
    condition = next((c for c in conditions if not is_implied(region, c) and not is_implied(region, negate_condition(c))), None)
    if condition is None:
        return find_nonzero_coefficient(terms, region, reader.steps)
    for case in (condition, negate_condition(condition)):
        if (point := find_nonzero_by_cases(terms, reader, [*region, case])) is not None:
            return point
    return None


def conditions_of(t: Term) -> list[Form]:
    """Return the conditions of a term as forms that are at least 0."""
    return [*t.least, *t.equal, *map(negate_form, t.equal)]


def clear_divisors(terms: Sum, reader: Reader, region: list[Form]) -> Sum:
    """Return the sum times each divisor at open indices that is not 0 in the whole region. Other divisors stay opaque."""
    for _ in range(MOST_CLEARED):
        divisors = [atom for atom in open_divisors(terms) if reader.is_nonzero(reader.argument(atom), region)]
        if not divisors:
            break
        for atom in divisors:
            terms = multiply_by_divisor(terms, atom, reader)
    return terms


def open_divisors(terms: Sum) -> list[Atom]:
    """Return the divisors at places without bound indices."""
    return sorted({atom for t in terms for atom in t.atoms if atom[0][0] in INVERSES and not depends_on(atom, t.bound)}, key=repr)


def depends_on(atom: tuple, bound: tuple) -> bool:
    """Return whether a place of an atom contains a bound index."""
    return any(v in bound for form in atom[1] for v, _ in form[1])


def multiply_by_divisor(terms: Sum, atom: tuple, reader: Reader) -> Sum:
    """Return the sum times the highest power of a divisor in it."""
    most = max(t.atoms.count(atom) for t in terms)
    result: Sum = []
    for t in terms:
        reader.steps.count()
        count = t.atoms.count(atom)
        part = [replace(t, atoms=tuple(a for a in t.atoms if a != atom))]
        for _ in range(most - count):
            part = multiply_sums(part, reader.argument(atom))
        result += part
    return result


def find_nonzero_coefficient(terms: Sum, region: list[Form], steps: Steps) -> dict[str, int] | None:
    """Return sizes, open indices and places at which a coefficient of the sum is not 0; None if each is 0 everywhere in the region."""
    symbolic = {head for t in terms for head, places in t.atoms if head[0] == "power" and places[0][1]}
    groups: dict[tuple, Sum] = {}
    for t in terms:
        groups.setdefault(group_key(t, symbolic), []).append(t)
    for key in sorted(groups, key=lambda key: (len(key), repr(key))):
        point = find_nonzero_in_group([head for head, fixed in key if not fixed], groups[key], region, steps)
        if point is not None:
            return point
    return None


def group_key(t: Term, symbolic: set[Head]) -> tuple:
    """Return what terms have in common whose coefficients are added: the heads of their atoms.

    A power with a number as its exponent is a part of the key, unless an exponent of the base is symbolic somewhere: then each term counts
    as having one power of it, if need be with the exponent 0.
    """
    heads = [(head, places if head[0] == "power" else ()) for head, places in t.atoms if head not in symbolic]
    return tuple(sorted([*heads, *((head, ()) for head in symbolic)], key=repr))


def find_nonzero_in_group(heads: list[Head], terms: Sum, region: list[Form], steps: Steps) -> dict[str, int] | None:
    """Return a point at which the coefficient of atoms with these heads is not 0, as `find_nonzero_coefficient` does.

    The places of atom k are the variables `place_name(k, axis)`. Atoms of one head commute: the coefficient is that of all matchings of a
    term's atoms with the places, and places in one order stand for those in any other.
    """
    runs = {head: [k for k, other in enumerate(heads) if other == head] for head in heads}
    if prod(factorial(len(run)) for run in runs.values()) > MOST_MATCHINGS:
        raise Undecided("a product has too many entries of one symbol")
    here, guarded = list(region), []
    for run in runs.values():
        here += [at_most(variable(place_name(a, 0)), variable(place_name(b, 0))) for a, b in pairwise(run)]
    for t in terms:
        found = {head: [places for other, places in t.atoms if other == head] or [((0, ()),)] for head in runs}
        for orders in product(*(permutations(run) for run in runs.values())):
            equal = [
                subtract_forms(form, variable(place_name(k, axis)))
                for head, order in zip(runs, orders)
                for k, places in zip(order, found[head])
                for axis, form in enumerate(places)
            ]
            guarded += sum_out(Guarded([*t.equal, *equal], t.least, dict(t.polynomial)), t.bound, here, steps)
    return find_nonzero_point(guarded, here, steps)


def place_name(k: int, axis: int) -> str:
    """Return the name of the variable for a place of atom k."""
    return f"~place{k}:{axis}"
