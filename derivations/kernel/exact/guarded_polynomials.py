"""Decides whether a sum of polynomials under linear conditions is 0 at every integer point.

The procedure splits on each condition that is not decided, so that one polynomial is left in each region, and tries integer points there.
It answers only if it is certain: a region counts as empty if no rational point satisfies its conditions, tightened to integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import gcd

from .linear_forms import (
    ONE,
    Form,
    Undecided,
    coefficient,
    form_value,
    is_implied,
    is_satisfiable,
    less,
    negate_condition,
    negate_form,
    number_form,
    solve_for_unit,
    substitute,
    subtract_forms,
    without_variable,
)
from .position_polynomials import PositionPolynomial, add_polynomials, polynomial_value, substitute_forms, sum_between

MAX_STEPS = 6_000
MAX_ZEROS = 6  # planes on which a polynomial is 0 without being 0 elsewhere
TRIED_RADII = (2, 3, 5, 8)


class Steps:
    """A limit on the number of cases of one decision."""

    def __init__(self, most: int = MAX_STEPS) -> None:
        self.left = most

    def count(self) -> None:
        """Count one case. Raise Undecided after too many."""
        self.left -= 1
        if self.left < 0:
            raise Undecided("there are too many orders of the positions to go through")


class Guarded:
    """A polynomial where forms are 0 (`equal`) and forms are at least 0 (`least`); 0 elsewhere."""

    __slots__ = ("equal", "least", "polynomial")

    def __init__(self, equal: Iterable[Form], least: Iterable[Form], polynomial: PositionPolynomial):
        self.equal, self.least, self.polynomial = frozenset(equal), frozenset(least), polynomial

    def put(self, mapping: Mapping[str, Form]) -> Guarded:
        """Return this with variables replaced by forms."""
        equal, least = ((substitute(f, mapping) for f in forms) for forms in (self.equal, self.least))
        return Guarded(equal, least, substitute_forms(self.polynomial, mapping))

    @property
    def conditions(self) -> list[Form]:
        """The conditions as forms that are at least 0."""
        return [*self.least, *self.equal, *map(negate_form, self.equal)]


# Sums over bound variables


def sum_out(g: Guarded, bound: Iterable[str], known: list[Form], steps: Steps) -> list[Guarded]:
    """Return the sum over the bound variables, as guarded polynomials without them. `known` holds of the other variables.

    Raise Undecided if an index has a factor other than 1 or -1 in a condition.
    """
    todo, result = [(g, tuple(bound))], []
    while todo:
        g, left = todo.pop()
        steps.count()
        if not g.polynomial or not is_satisfiable([*known, *g.conditions]):
            continue
        if not left:
            result.append(g)
        elif solved := solve_bound(g, left):
            v, value = solved
            todo.append((g.put({v: value}), tuple(x for x in left if x != v)))
        else:
            v = min(left, key=lambda v: (count_orders(g, v), v))
            todo += [(part, tuple(x for x in left if x != v)) for part in sum_over_variable(g, v)]
    return result


def solve_bound(g: Guarded, bound: tuple) -> tuple[str, Form] | None:
    """Return (variable, value) for a bound variable that an equality fixes, or None."""
    for form in g.equal:
        for v in bound:
            if abs(c := coefficient(form, v)) == 1:
                rest = without_variable(form, v)
                return v, negate_form(rest) if c == 1 else rest
    if any(coefficient(f, v) for f in g.equal for v in bound):
        raise Undecided("an index has a factor other than 1 in an equality")
    return None


def count_orders(g: Guarded, v: str) -> int:
    """Return the number of pairs of a lower and an upper bound of a variable."""
    return sum(coefficient(f, v) > 0 for f in g.least) * sum(coefficient(f, v) < 0 for f in g.least)


def sum_over_variable(g: Guarded, v: str) -> Iterator[Guarded]:
    """Yield the sum over a variable for each choice of its largest lower bound and its smallest upper bound.

    Among equal bounds the last one counts, so that exactly one choice applies at each point.
    """
    if any(abs(coefficient(f, v)) > 1 for f in g.least):
        raise Undecided("a bound on an index is a quotient")
    lows = sorted(negate_form(without_variable(f, v)) for f in g.least if coefficient(f, v) == 1)
    highs = sorted(without_variable(f, v) for f in g.least if coefficient(f, v) == -1)
    if not lows or not highs:
        raise Undecided("an index has no bound")
    rest = [f for f in g.least if not coefficient(f, v)]
    for (a, low), (b, high) in product(enumerate(lows), enumerate(highs)):
        guards = [*rest, subtract_forms(high, low)]
        guards += [less(x, low) if k > a else subtract_forms(low, x) for k, x in enumerate(lows) if k != a]
        guards += [less(high, x) if k > b else subtract_forms(x, high) for k, x in enumerate(highs) if k != b]
        yield Guarded(g.equal, guards, sum_between(g.polynomial, v, low, high))


# Is it 0 everywhere?


def find_nonzero_point(terms: list[Guarded], region: list[Form], steps: Steps, zeros: int = 0) -> dict[str, int] | None:
    """Return an integer point of the region at which the sum of the terms is not 0; None if it is 0 at each. Raise Undecided otherwise.

    `zeros` counts the planes on which the present polynomial was found to be 0.
    """
    steps.count()
    if not is_satisfiable(region):
        return None
    left = [g for term in terms if (g := simplify_under(term, region)) is not None]
    if equality := min((f for g in left for f in g.equal), default=None):
        return split_by_sign(equality, left, region, steps, zeros)
    forms = [f for g in left for f in g.least]
    if forms:
        form = max(set(forms), key=lambda f: (forms.count(f), f))
        point = find_nonzero_point(left, [*region, form], steps, zeros)
        return find_nonzero_point(left, [*region, negate_condition(form)], steps, zeros) if point is None else point
    polynomial = add_polynomials(*(g.polynomial for g in left))
    return find_nonzero_value(polynomial, region, steps, zeros) if polynomial else None


def simplify_under(g: Guarded, region: list[Form]) -> Guarded | None:
    """Return the term without the conditions that hold everywhere in the region, or None if it is 0 everywhere there."""
    equal, least = [], []
    if not g.polynomial:
        return None
    for form in g.equal:
        if not form[1]:
            if form[0]:
                return None
        elif is_implied(region, subtract_forms(form, ONE)) or is_implied(region, subtract_forms(negate_form(form), ONE)):
            return None
        else:
            equal.append(form)
    for form in g.least:
        if not is_implied(region, form):
            if is_implied(region, negate_condition(form)):
                return None
            least.append(form)
    return Guarded(equal, least, g.polynomial)


def split_by_sign(form: Form, terms: list[Guarded], region: list[Form], steps: Steps, zeros: int) -> dict[str, int] | None:
    """Return a point as `find_nonzero_point` does: first where the form is not 0, then where it is."""
    for condition in (subtract_forms(form, ONE), subtract_forms(negate_form(form), ONE)):
        if (point := find_nonzero_point(terms, [*region, condition], steps, zeros)) is not None:
            return point
    return find_point_on_plane(form, terms, region, steps, zeros)


def find_nonzero_value(polynomial: PositionPolynomial, region: list[Form], steps: Steps, zeros: int) -> dict[str, int] | None:
    """Return a point of the region at which a polynomial is not 0, or None, as `find_nonzero_point` does."""
    whole = [Guarded((), (), polynomial)]
    for form in region:
        if form[1] and not is_satisfiable([*region, subtract_forms(form, ONE)]):  # the form is 0 in the whole region
            return find_point_on_plane(form, whole, region, steps, zeros)
    if (point := search_point(polynomial, region, steps)) is not None:
        return point
    if zeros >= MAX_ZEROS:
        raise Undecided("a polynomial is 0 wherever it was tried")
    form = max((f for f in region if f[1]), key=lambda f: len(f[1]))
    point = find_point_on_plane(form, whole, region, steps, zeros + 1)
    return find_nonzero_point(whole, [*region, subtract_forms(form, ONE)], steps, zeros + 1) if point is None else point


def find_point_on_plane(form: Form, terms: list[Guarded], region: list[Form], steps: Steps, zeros: int) -> dict[str, int] | None:
    """Return a point as `find_nonzero_point` does, where the form is 0."""
    factor = gcd(*(c for _, c in form[1]))
    if form[0] % factor:
        return None  # no integers lie there
    if not (solved := solve_for_unit((form[0] // factor, tuple((v, c // factor) for v, c in form[1])))):
        raise Undecided("no index has the factor 1 in an equality")
    v, value = solved
    point = find_nonzero_point([g.put({v: value}) for g in terms], [substitute(f, {v: value}) for f in region], steps, zeros)
    if point is not None:
        point = {u: 1 for u, _ in value[1]} | point
        point[v] = form_value(value, point)
    return point


def search_point(polynomial: PositionPolynomial, region: list[Form], steps: Steps) -> dict[str, int] | None:
    """Return a small point of the region at which the polynomial is not 0, or None if none was found."""
    names = sorted({v for f in region for v, _ in f[1]} | {v for monomial in polynomial for v, _ in monomial})

    def extend(point: dict[str, int], region: list[Form], radius: int) -> dict[str, int] | None:
        steps.count()
        if not is_satisfiable(region):
            return None
        if len(point) == len(names):
            return point if polynomial_value(polynomial, point) else None
        name = names[len(point)]
        for k in (*range(1, radius + 1), *range(0, -radius - 1, -1)):
            found = extend({**point, name: k}, [substitute(f, {name: number_form(k)}) for f in region], radius)
            if found is not None:
                return found
        return None

    return next((found for radius in TRIED_RADII if (found := extend({}, region, radius)) is not None), None)
