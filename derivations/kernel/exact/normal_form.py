"""The normal form of the exact witness: a decision procedure for identities between index sums, at every shape.

The entry of a tensor expression at given indices is a polynomial: a sum of terms, each a rational coefficient times powers of atoms,
summed over bound indices. An atom is a head with indices: an entry of a symbol, an entry of an inverse, a Kronecker delta, a function of
a smaller polynomial, or a sum whose power cannot be expanded. Two expressions are equal at every shape if their difference has the normal
form 0.

Nothing here calls SymPy. An unsupported operation raises Unsupported with its name. Nothing is canceled, inverted or taken a root of unless the
stated assumptions allow it (`Facts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from itertools import count, product
from math import comb
from typing import Any

from ..core.expr import Expr
from ..printing.plain_text import plain
from ..printing.script_text import script
from .atom_payloads import (
    Unsupported,
    free_bound_indices,
    function_atom,
    instantiate,
    is_random,
    is_real,
    iterate_axis_indices,
    list_product_parts,
    outer_indices,
    real_and_imaginary,
    rename_polynomial,
    sort_atom_indices,
)
from .cycle_guard import guard_against_cycles
from .index_renaming import canonical_term
from .matrix_words import replace_largest_word
from .polynomial_printing import polynomial_to_tree
from .polynomials import (
    MAXIMUM_INDEX,
    Polynomial,
    add,
    atom,
    bernoulli_number,
    constant,
    factorise,
    is_multiple,
    rename_indices,
    scale,
    size_polynomial,
    sort_by_text,
)
from .rational_numbers import Fraction

MAX_SUMMED_POWER = 20  # the largest power of an index that is summed in closed form
FRESH_NUMBERS = count()


class Facts:
    """What the stated assumptions of a claim allow. The normal form consults it before it cancels, inverts, averages or takes a root."""

    def __init__(self) -> None:
        self.given: tuple = ()  # the assumptions themselves
        # What the assumptions state. Polynomials with open indices are stated at each value of these.
        self.positive: list[Polynomial] = []
        self.nonnegative: list[Polynomial] = []
        self.nonzero: list[Polynomial] = []
        self.representable: list[Polynomial] = []  # floating-point numbers
        self.invertible: dict[Any, Expr] = {}  # the size of each invertible matrix, by its name or by the head of its inverse
        self.products: dict[tuple, Any] = {}  # (head, axis), (head, axis) -> c: summing over these axes gives c times the identity
        self.constrained: set[str] = set()  # names that occur in a stated product
        self.bits: set[str] = set()  # names of symbols whose entries are all 0 or 1
        self.in_range = False  # whether no exponent leaves the format's range
        # The same of random symbols, by name.
        self.moments: dict[str, Callable[[int], Polynomial]] = {}  # gives E[x^r] for r
        self.moment_orders: dict[str, float] = {}  # the highest order of a moment that each entry is known to have
        self.gaussian: dict[str, tuple[Polynomial, Polynomial]] = {}  # (mean, variance)
        self.independent: list[set[str]] = []  # sets of names whose entries are all independent of one another
        self.parameters: list[Polynomial] = []  # means and variances, as stated
        # What was used without being stated.
        self.missing: dict[str, str] = {}  # description -> the assumption that states it, as a script writes it
        self.possible_independence: dict[str, str] = {}  # the same for independence that would factor a joint moment
        self.required_moments: dict[str, int] = {}  # random name -> the highest order of a moment that is not known to exist
        self.divisors: list[Polynomial] = []  # what was divided by
        self.other_way = ""  # the way in which two sides were proved to be equal, if not by one normal form
        # Where in a proof this is.
        self.near: tuple[Expr, ...] = ()  # the trees being read: messages use their names of indices
        self.reading_assumption = False
        self.rounded_inputs: list[tuple[str, Polynomial]] = []  # their rounding to this format has a value: an assumption mentions it
        self.varying: frozenset[str] = frozenset()  # names of the symbols that vary in a surrounding derivative or limit
        self.at_point: Facts | None = None  # inside a derivative: the facts that hold at the point only
        self.nonnegative_in_case: list[tuple] = []  # (a polynomial, the indices over which it is nonnegative in this case)
        self.open_questions: set[tuple] = set()  # the questions about signs that are being answered
        self.checked_entries: dict[int, tuple] = {}  # in one reading: the tensors whose entries were all read, and at which indices
        # Replaced by `facts_of` and near a limit.
        self.decide_by_cases: Callable[..., bool] = lambda p, question, facts: False  # by cases of a maximum or a 0-1 value
        self.facts_near: Callable[[frozenset], Facts] = lambda varying: Facts()  # the facts that also hold near the point
        self.is_eventually_positive: Callable[[Polynomial], bool] = lambda p: False  # whether p is positive close to the limit
        self.adapt_requirement: Callable[..., tuple] = lambda *requirement: requirement  # replaces what `require_sign` is passed

    @property
    def unstated(self) -> list:
        """Return descriptions of what was used without being stated."""
        return [
            *self.missing,
            *(f"each entry of {x} has {moment_name(r)} (an expectation is taken)" for x, r in self.required_moments.items()),
        ]

    @property
    def remedies(self) -> list:
        """Return the assumptions that would state it, as a script writes them."""
        return [*filter(None, self.missing.values()), *(f"has_moment({name}, {order})" for name, order in self.required_moments.items())]

    def require(self, holds: bool, needed: str, stated: str) -> None:
        """Record what is missing unless it holds.

        `needed` says what must hold and why; `stated` is the assumption that says so, as a script writes it.
        """
        if not holds:
            self.missing.setdefault(needed, stated)

    def require_moment(self, name: str, order: int) -> None:
        """Record that each entry of a random tensor needs a finite moment of this order."""
        if not self.has_moment(name, order):
            self.required_moments[name] = order

    def has_moment(self, name: str, order: int) -> bool:
        """Return whether the entries of a random tensor have a moment of this order, or it is recorded already that they need one."""
        return order <= max(self.moment_orders.get(name, 0), self.required_moments.get(name, 0))

    def require_sign(self, kind: str, p: Polynomial, because: str) -> None:
        """Record that p must be "positive", "nonnegative" or "nonzero", for the reason `because`, unless that is known.

        Raise Unsupported if p is random.
        """
        kind, p, because = self.adapt_requirement(kind, p, because)
        holds = {"positive": self.is_positive, "nonnegative": self.is_nonnegative, "nonzero": self.is_nonzero}[kind](p)
        if not holds and kind == "nonnegative" and self.at_point and self.at_point.is_nonnegative(p):
            kind, because = "positive", f"{because} and differentiated: that it is not negative at a point says nothing of what is near"
        if holds:
            return
        shown = polynomial_to_tree(multiply_out(p, self), self.near)
        if any(is_random(f[0]) for _, factors in p for f, _ in factors):
            raise Unsupported(
                f"whether {plain(shown)} {SIGNS[kind]} ({because}): it is random, and its distribution does not say so",
                code="not-supported",
            )
        is_number = all(not bound and not factors for bound, factors in p)  # nothing can be assumed about a number
        self.require(False, f"{plain(shown)} {SIGNS[kind]} ({because})", "" if is_number else f"{kind}({script(shown)})")

    def stated_instances(self, kind: str, p: Polynomial) -> list:
        """Return the polynomials stated to have this sign.

        Those with open indices hold at each value, so they are also returned at the indices of p.
        """
        everywhere = [(q, [i for i in outer_indices(q) if i[0] == "f"]) for q in getattr(self, kind)]
        in_case = self.nonnegative_in_case if kind == "nonnegative" else []
        return [instance for q, open_ in [*everywhere, *in_case] for instance in list_instances(q, open_, p, self)]

    @contextmanager
    def while_varying(self, name: str) -> Iterator[None]:
        """In this context the symbol of this name varies: a rounding of it is rejected."""
        saved, self.varying = self.varying, self.varying | {name}
        try:
            yield
        finally:
            self.varying = saved

    @contextmanager
    def near_point(self, name: str) -> Iterator[None]:
        """In this context the symbol of this name varies near a point, so only the facts that also hold near the point are used.

        `at_point` holds the facts at the point itself: an expression that is positive or nonzero there is so nearby.
        """
        saved = {field: getattr(self, field) for field in POINT_FIELDS}
        outer_point = self.at_point
        with self.while_varying(name):
            self.at_point = at_point = outer_point or copy(self)
            near = at_point.facts_near(self.varying)
            vars(self).update({field: getattr(near, field) for field in POINT_FIELDS})
            try:
                yield
            finally:
                vars(self).update(saved)
                self.at_point = outer_point

    @guard_against_cycles
    def is_positive(self, p: Polynomial) -> bool:
        """Return whether p is known to be positive."""
        return (
            has_visible_sign(p, self, strict=True)
            or any(self.is_at_least(p, q) for q in self.stated_instances("positive", p))
            or any(has_visible_sign(add(p, scale(q, -1)), self, strict=True) for q in self.stated_instances("nonnegative", p))
            or is_stated(p, "positive", self)
            or self.at_point is not None
            and self.at_point.is_positive(p)
            or self.decide_by_cases(p, "is_positive", self)
        )

    @guard_against_cycles
    def is_nonnegative(self, p: Polynomial) -> bool:
        """Return whether p is known to be nonnegative."""
        return (
            has_visible_sign(p, self, strict=False)
            or is_stated(p, "nonnegative", self)
            or any(self.is_at_least(p, q) for q in self.stated_instances("positive", p) + self.stated_instances("nonnegative", p))
            or self.at_point is not None
            and self.at_point.is_positive(p)
            or self.decide_by_cases(p, "is_nonnegative", self)
        )

    def is_at_least(self, p: Polynomial, q: Polynomial) -> bool:
        """Return whether p is visibly at least q: term by term, or because their difference is stated to be nonnegative."""
        difference = add(p, scale(q, -1))
        return (
            has_visible_sign(difference, self, strict=False)
            or is_stated(difference, "nonnegative", self)
            or is_stated(difference, "positive", self)
        )

    def is_nonzero(self, p: Polynomial) -> bool:
        """Return whether p is known to be nonzero."""
        negative, rotated = scale(p, -1), multiply(atom(("i",)), p, self)  # ip is nonzero if p is
        if any(is_stated(x, "nonzero", self) for x in (p, negative, rotated, scale(rotated, -1))):
            return True
        if self.is_positive(p) or self.is_positive(negative) or self.at_point is not None and self.at_point.is_nonzero(p):
            return True
        if any(f[0] == ("i",) for _, factors in p for f, _ in factors) and (parts := real_and_imaginary(p)):
            return any(part and self.is_nonzero(part) for part in parts)
        if len(p) == 1 and all(not bound and all(is_nonzero_factor(f, self) for f, _ in factors) for bound, factors in p):
            return True
        return divides_nonzero_product(p, self) or has_positive_modulus(p, self) or self.is_stated_power(p)

    def is_stated_power(self, p: Polynomial) -> bool:
        """Return whether p is a multiple of the square or the cube of a polynomial that is stated to be nonzero."""
        for q in self.stated_instances("nonzero", p) if len(p) > 1 else ():
            square = multiply(q, q, self)
            if any(is_multiple(p, scale(power, sign)) for power in (square, multiply(square, q, self)) for sign in (1, -1)):
                return True
        return False


# The fields of Facts that may hold at a point without holding near it.
POINT_FIELDS = ("positive", "nonnegative", "nonzero", "nonnegative_in_case", "products", "moments", "gaussian", "representable", "bits")


def moment_name(order: int) -> str:
    """Return what messages call a moment of this order."""
    return {1: "a mean", 2: "a variance"}.get(order, f"a moment of order {order}")


SIGNS = {"positive": "is positive", "nonnegative": "is not negative", "nonzero": "is not zero"}


def is_stated(p: Polynomial, kind: str, facts: Facts) -> bool:
    """Return whether p is a positive rational multiple of a polynomial stated to have this sign, possibly times powers of sizes."""
    stated = [q for q in facts.stated_instances(kind, p) if len(q) == len(p)]
    return any(is_multiple(p, q) for q in stated) or any(
        is_multiple(divide_out_sizes(p, facts), divide_out_sizes(q, facts)) for q in stated
    )


def divide_out_sizes(p: Polynomial, facts: Facts) -> Polynomial:
    """Return p without the powers of sizes that all its terms share."""
    powers = [{f: e for f, e in factors if f[0][0] == "size"} for _, factors in p]
    shared = {f: min(term_powers.get(f, Fraction(0)) for term_powers in powers) for f in {f for term_powers in powers for f in term_powers}}
    shared = {f: e for f, e in shared.items() if e}
    return multiply(p, {((), sort_by_text((f, -e) for f, e in shared.items())): Fraction(1)}, facts) if shared else p


def list_instances(q: Polynomial, variables: list, p: Polynomial, facts: Facts) -> list:
    """Return a stated polynomial q as it is and with its open indices replaced by indices of p: it holds at every value of them.

    An open index may be replaced by an index on the same axis of the same symbol, so that both run over one size. An open index that is
    on no axis, such as the number i itself, is not replaced.
    """
    if not variables:
        return [q]
    axes_of_p, axes_of_q = list(iterate_axis_indices(p)), list(iterate_axis_indices(q))
    choices = []
    for variable in variables:
        choices.append(sorted({variable, *(index for axis, index in axes_of_p if (axis, variable) in axes_of_q)}, key=repr))
    return [substitute_indices(q, dict(zip(variables, chosen)), facts) for chosen in product(*choices)]


def substitute_indices(q: Polynomial, mapping: dict, facts: Facts) -> Polynomial:
    """Return a polynomial with some of its free indices replaced simultaneously."""
    if all(old == new for old, new in mapping.items()):
        return q
    return add(
        *(scale(reduce_term(dict(enumerate(bound)), rename_indices(factors, mapping), facts), c) for (bound, factors), c in q.items())
    )


def multiply_out(p: Polynomial, facts: Facts) -> Polynomial:
    """Return p with those sums expanded that have the power 1 but are stored as atoms, as in a payload."""
    return add(*(scale(reduce_term(dict(enumerate(bound)), list(factors), facts), c) for (bound, factors), c in p.items()))


def has_visible_sign(p: Polynomial, facts: Facts, strict: bool) -> bool:
    """Return whether every term of p is visibly nonnegative and, if `strict`, one of them visibly positive."""
    if not all(c > 0 and all(factor_sign(f, power, facts) for f, power in factors) for (_, factors), c in p.items()):
        for remove in (remove_variance, remove_modulus):
            if (rest := remove(p, facts)) is not None:
                return has_visible_sign(rest, facts, strict) if rest else not strict
        larger = expand_sizes(p, facts)
        return larger != p and has_visible_sign(larger, facts, strict)
    return not strict or any(all(factor_sign(f, power, facts) == "positive" for f, power in factors) for _, factors in p)


def remove_variance(p: Polynomial, facts: Facts) -> Polynomial | None:
    """Return p without n sum(x^2) - sum(x)^2, which is n^2 times a variance and so nonnegative. Return None if p does not contain it."""
    for (bound, factors), c in p.items():
        if c > 0 or len(bound) != 2 or bound[0] != bound[1] or not all(is_real(f[0]) for f, _ in factors):
            continue
        first, second = ([(f, e) for f, e in factors if ("b", k) in f[1]] for k in (0, 1))
        rest = [x for x in factors if x not in first and x not in second]
        is_square = sorted(rename_indices(second, {("b", 1): ("b", 0)}), key=repr) == sorted(first, key=repr)
        if not first or not is_square or any(x in second for x in first) or not all(factor_sign(f, e, facts) for f, e in rest):
            continue
        squares = multiply(reduce_term({0: bound[0]}, [*rest, *((f, 2 * e) for f, e in first)], facts), size_polynomial(bound[0]), facts)
        if len(squares) == 1 and p.get(next(iter(squares)), 0) >= -c * next(iter(squares.values())):
            return {t: x for t, x in add(p, scale(squares, c)).items() if t != (bound, factors)}
    return None


def remove_modulus(p: Polynomial, facts: Facts) -> Polynomial | None:
    """Return p without c (|x| + x) or c (|x| - x) for a c > 0, which is nonnegative. Return None if p does not contain it."""
    for (bound, factors), c in p.items():
        if c < 0 or bound or len(factors) != 1 or factors[0][0][0][0] != "abs" or factors[0][1] != 1:
            continue
        ((head, indices), _) = factors[0]
        x = instantiate(head[1], indices)
        times = [p.get(term, Fraction(0)) / d for term, d in x.items()]
        if min(times) > 0 or max(times) < 0:
            least = min([c, *map(abs, times)])
            return add(p, {((), factors): -least}, scale(x, -least if times[0] > 0 else least))
    return None


def expand_sizes(p: Polynomial, facts: Facts) -> Polynomial:
    """Return p with each size written as 1 plus a nonnegative number ("excess"). Return p itself if it has no plain power of a size."""
    result: Polynomial = {}
    changed = False
    for (bound, factors), c in p.items():
        if bound:
            result = add(result, {(bound, factors): c})
            continue
        part = constant(c)
        for f, power in factors:
            base = {((), ((f, Fraction(1)),)): Fraction(1)}
            if f[0][0] == "size" and power.denominator == 1 and power > 0:
                changed = True
                base = add(constant(1), atom(("excess", f[0][1])))
                for _ in range(int(power)):
                    part = multiply(part, base, facts)
            else:
                part = multiply(part, {((), ((f, power),)): Fraction(1)}, facts)
        result = add(result, part)
    return result if changed else p


def factor_sign(factor: tuple, power: Fraction, facts: Facts) -> str:
    """Return 'positive', 'non-negative', or '' if the sign of a power of an atom is not visible."""
    head, indices = factor[0], free_bound_indices(factor[1])
    base = {((), (((head, indices), Fraction(1)),)): Fraction(1)}
    if not is_real(head):
        return ""
    if head[0] in ("size", "exp", "prime", "value") or is_stated(base, "positive", facts):  # an index counts from 1
        return "positive"
    if head[0] == "abs" and facts.is_nonzero(instantiate(head[1], indices)):
        return "positive"
    if head[0] in ("sum", "largest", "log"):
        inner = rename_polynomial(instantiate(head[-1], indices), {MAXIMUM_INDEX: ("held", next(FRESH_NUMBERS))})
        if head[0] == "log":  # it has the sign of u - 1
            inner = add(inner, constant(-1))
        if facts.is_positive(inner):
            return "positive"
        if facts.is_nonnegative(inner):
            return "non-negative"
    if head[0] == "whole":
        (((_, inside), _),) = instantiate(head[1], indices).items()
        if all(factor_sign(f, e, facts) for f, e in inside):
            return "non-negative"
    even = power.denominator == 1 and power % 2 == 0
    if even and (
        is_stated(base, "nonzero", facts)
        or head[0] == "whole"
        and is_nonzero_factor((head, indices), facts)
        or is_stated(scale(base, -1), "positive", facts)
    ):
        return "positive"
    if even or is_bit(factor[0], facts) or is_stated(base, "nonnegative", facts) or head[0] in ("abs", "delta", "excess", "place"):
        return "non-negative"
    return ""


def is_bit(head: tuple, facts: Facts) -> bool:
    """Return whether the head is that of an entry that is 0 or 1."""
    return head[0] in ("entry", "random") and head[1] in facts.bits


def is_nonzero_factor(factor: tuple, facts: Facts) -> bool:
    """Return whether an atom is known to be nonzero."""
    base = {((), (((factor[0], free_bound_indices(factor[1])), Fraction(1)),)): Fraction(1)}
    if factor[0][0] == "sum" and facts.is_nonzero(instantiate(factor[0][1], free_bound_indices(factor[1]))):
        return True
    if factor[0][0] == "whole":
        (((_, inside), _),) = instantiate(factor[0][1], free_bound_indices(factor[1])).items()
        return all(f[0][0] in ("size", "value") or is_nonzero_factor(f, facts) for f, _ in inside)
    return (
        factor[0][0] in ("i", "turn")
        or factor_sign(factor, Fraction(1), facts) == "positive"
        or is_stated(base, "nonzero", facts)
        or divides_nonzero_product(base, facts)
    )


def divides_nonzero_product(p: Polynomial, facts: Facts) -> bool:
    """Return whether p is a multiple of a factor of a product that is stated to be nonzero."""
    stated = facts.stated_instances("nonzero", p) + facts.stated_instances("positive", p)
    return any(is_multiple(x, part) for q in stated for part in list_product_parts(q) for x in (p, scale(p, -1)))


def has_positive_modulus(p: Polynomial, facts: Facts) -> bool:
    """Return whether p is a single real term with a positive absolute value, because an assumption about that says so."""
    stated = any(f[0][0] == "abs" for q in facts.positive for _, factors in q for f, _ in factors)
    (((bound, factors), _), *others) = p.items() if p else [((None, ()), 0)]
    is_term = not others and bound == () and all(is_real(f[0]) for f, _ in factors)
    return stated and is_term and facts.is_positive(function_atom("abs", {((), factors): Fraction(1)}))


def multiply(p: Polynomial, q: Polynomial, facts: Facts) -> Polynomial:
    """Return the product of two polynomials in normal form."""
    result: Polynomial = {}
    for (bound1, factors1), c1 in p.items():
        for (bound2, factors2), c2 in q.items():
            factors = [*factors1, *shift_bound_indices(factors2, len(bound1), len(bound2))]
            for term, c in reduce_term(dict(enumerate(bound1 + bound2)), factors, facts).items():
                result[term] = result.get(term, 0) + c * c1 * c2
    return {term: c for term, c in result.items() if c}


def shift_bound_indices(factors: tuple, by: int, count: int) -> Iterable:
    """Return the factors with their `count` bound indices renumbered to follow `by` others."""
    return rename_indices(factors, {("b", k): ("b", k + by) for k in range(count)}) if by and count else factors


def reduce_term(bound: dict, factors: list, facts: Facts) -> Polynomial:
    """Return the normal form of one product of powers of atoms. `bound` maps the numbers of bound indices to their sizes.

    Deltas are resolved first: a delta that renames an index starts the reduction again, and by then nothing may have been taken out of
    the term.
    """
    powers: dict[tuple, Fraction] = {}
    for (head, indices), power in factors:
        indices = sort_atom_indices(head, indices)
        powers[head, indices] = powers.get((head, indices), 0) + power
    powers = {f: power for f, power in powers.items() if power}
    for head, indices in list(powers):
        if head[0] == "delta":
            del powers[head, indices]
            if indices[0][0] == indices[1][0] == "c" and indices[0] != indices[1]:
                return {}
            if indices[0] == indices[1]:
                return reduce_term(bound, list(powers.items()), facts)
            old = next((i for i in indices if i[0] == "b"), None)
            if old is None and any(indices[1] in f[1] for f in powers):
                renamed_factors = rename_indices(powers.items(), {indices[1]: indices[0]})
                return reduce_term(bound, [*renamed_factors, ((head, indices), Fraction(1))], facts)
            if old is None:
                powers[head, indices] = Fraction(1)
            else:
                new = indices[0] if old == indices[1] else indices[1]
                rest = {number: size for number, size in bound.items() if number != old[1]}
                return reduce_term(rest, rename_indices(powers.items(), {old: new}), facts)
    return reduce_without_deltas(bound, powers, facts)


def reduce_without_deltas(bound: dict, powers: dict, facts: Facts) -> Polynomial:
    """Return the normal form of a product whose deltas are resolved: simplify powers of special atoms and multiply out sums."""
    held = {("b", k): ("held", next(FRESH_NUMBERS)) for k in bound}
    number, sums = simplify_powers(powers, held, facts)
    if sums:
        return multiply_out_sums(bound, powers, held, number, sums, facts)
    contracted = contract(bound, powers, facts)
    return scale(rename_and_sum(bound, powers, facts) if contracted is None else contracted, number)


def simplify_powers(powers: dict, held: dict, facts: Facts) -> tuple[Fraction, list]:
    """Remove from `powers` what can be simplified. Return it as (a number, pairs (polynomial, power) still to be multiplied in)."""
    polynomials, number = [], Fraction(1)
    for (head, indices), power in list(powers.items()):
        is_integer = power.denominator == 1
        if head[0] == "i" and is_integer:
            del powers[head, indices]
            number *= (-1) ** (power // 2 % 2)
            if power % 2:
                powers[head, indices] = Fraction(1)
        elif head[0] == "turn" and is_integer:  # a power of -1
            del powers[head, indices]
            if power % 2:
                powers[head, indices] = Fraction(1)
        elif head[0] == "prime" and (power >= 1 or power < 0):
            whole_part = power // 1
            number *= Fraction(head[1]) ** int(whole_part)
            powers[head, indices] = power - whole_part
            if power == whole_part:
                del powers[head, indices]
        elif head[0] == "abs" and is_integer and power != 1:  # |x|^3 is |x| x^2, and 1/|x| is |x|/x^2
            del powers[head, indices]
            if power % 2:
                powers[head, indices] = Fraction(1)
            power -= power % 2
            inner = instantiate(head[1], tuple(held.get(i, i) for i in indices))
            polynomials.append((inner, int(power)) if power > 0 else (raise_to_allowed_power(inner, Fraction(-1), facts), int(-power)))
        elif is_bit(head, facts) and power > 0:
            powers[head, indices] = Fraction(1)
        elif head[0] == "value" and indices[0][0] == "c":
            polynomials.append((raise_to_allowed_power(constant(indices[0][1]), powers.pop((head, indices)), facts), 1))
        elif head[0] == "sum" and is_integer and power > 0:
            del powers[head, indices]
            polynomials.append((instantiate(head[1], tuple(held.get(i, i) for i in indices)), int(power)))
    return number, polynomials


def multiply_out_sums(bound: dict, powers: dict, held: dict, number: Fraction, sums: list, facts: Facts) -> Polynomial:
    """Return the term times the number and the powers of polynomials, in which `held` indices take the place of the term's bound ones."""
    product_ = constant(number)
    for inner, power in sums:
        for _ in range(power):
            product_ = multiply(product_, inner, facts)
    # The bound indices of this term must stay shared with the expanded sums, so they are restored.
    result: dict = {}
    for (more, inner_factors), c in product_.items():
        shift = {("b", k): ("b", k + 1 + max(bound, default=-1)) for k in range(len(more))}
        shift |= {token: index for index, token in held.items()}
        joined = bound | {shift["b", k][1]: size for k, size in enumerate(more)}
        for term, c2 in reduce_term(joined, list(powers.items()) + rename_indices(inner_factors, shift), facts).items():
            result[term] = result.get(term, 0) + c * c2
    return {term: c for term, c in result.items() if c}


def contract(bound: dict, powers: dict, facts: Facts) -> Polynomial | None:
    """Sum over a bound index that joins the two factors of a stated product, such as a matrix and its inverse.

    Return None if there is no such index.
    """
    if bound and (terms := replace_largest_word(bound, powers)) is not None:
        return add(*(scale(reduce_term(over, factors, facts), c) for over, factors, c in terms))
    for number in bound:
        joined = [(f, power) for f, power in powers.items() if ("b", number) in f[1]]
        joined = (
            [(joined[0][0], Fraction(1))] * 2 if len(joined) == 1 and joined[0][1] == 2 else joined
        )  # a square is a product of two equal factors
        if len(joined) != 2 or any(power != 1 or len(f[1]) > 2 or f[1].count(("b", number)) != 1 for f, power in joined):
            continue
        ends = [((f[0], f[1].index(("b", number))), f[1][len(f[1]) - 1 - f[1].index(("b", number))]) for f, _ in joined]
        times = facts.products.get((ends[0][0], ends[1][0]), facts.products.get((ends[1][0], ends[0][0])))
        if times == 0:  # also for vectors, which have no other index
            return {}
        if times is not None and all(len(f[1]) == 2 for f, _ in joined):
            rest = [(f, power) for f, power in powers.items() if f not in (joined[0][0], joined[1][0])]
            smaller = {k: size for k, size in bound.items() if k != number}
            delta = (("delta",), (ends[0][1], ends[1][1]))
            return scale(reduce_term(smaller, rest + [(delta, Fraction(1))], facts), times)
    return None


def rename_and_sum(bound: dict, powers: dict, facts: Facts) -> Polynomial:
    """Return the term with canonical names for its bound indices. Sums of a power of the index itself are evaluated in closed form."""
    if not bound:
        return {canonical_term((), tuple(powers.items())): Fraction(1)}
    alone = {n: powers.get((("value",), (("b", n),)), Fraction(0)) for n in bound}
    used = {i[1] for (head, indices) in powers if head[0] != "value" for i in indices if i[0] == "b"}
    used |= {n for n, power in alone.items() if power.denominator != 1 or not 0 <= power <= MAX_SUMMED_POWER}
    rest = {f: power for f, power in powers.items() if f[0][0] != "value" or f[1][0][0] != "b" or f[1][0][1] in used}
    result = {canonical_term(tuple((n, bound[n]) for n in sorted(used)), tuple(rest.items())): Fraction(1)}
    for number, size in bound.items():
        if number not in used:
            result = multiply(result, power_sum(size_polynomial(size), int(alone[number]), facts), facts)
    return result


def power_sum(n: Polynomial, power: int, facts: Facts) -> Polynomial:
    """Return 1^p + 2^p + ... + n^p as a polynomial in n, by Faulhaber's formula. It also holds at n = 0, where the sum is 0."""
    if not power:
        return n
    result: Polynomial = {}
    for k in range(power + 1):
        grown = constant(Fraction(comb(power + 1, k), power + 1) * bernoulli_number(k))
        for _ in range(power + 1 - k):
            grown = multiply(grown, n, facts)
        result = add(result, grown)
    return result


def raise_to_allowed_power(p: Polynomial, power: Fraction, facts: Facts) -> Polynomial:
    """Return a rational power of p that is known to be defined."""
    is_integer = power.denominator == 1
    if not p:
        return constant(int(power == 0))
    if is_integer and power >= 0:
        result = constant(1)
        for _ in range(int(power)):
            result = multiply(result, p, facts)
        return result
    if len(p) == 1 and not next(iter(p))[0]:
        (((_, factors), c),) = p.items()
        if is_integer or c > 0 and all(root_base(f, e, facts) for f, e in factors):
            result = constant(c ** int(power)) if is_integer else constant(1)
            for prime, e in () if is_integer else factorise(c):
                result = multiply(result, reduce_term({}, [((("prime", prime), ()), e * power)], facts), facts)
            powers = [(f if is_integer else root_base(f, e, facts), e * power) for f, e in factors]
            return multiply(result, reduce_term({}, powers, facts), facts)
    content, primitive = take_content(p, is_integer, facts)
    if content != constant(1):
        return multiply(raise_to_allowed_power(content, power, facts), raise_to_allowed_power(primitive, power, facts), facts)
    return function_atom("sum", p, power)


def root_base(f: tuple, e: Fraction, facts: Facts) -> tuple | None:
    """Return the atom g with (f^e)^q = g^(eq): f if f is nonnegative, |f| if e is even and f real, otherwise None.

    (ab)^q = a^q b^q holds wherever a is nonnegative, whatever the sign of b: a root of a negative b has no value on either side unless
    a is 0.
    """
    if factor_sign(f, Fraction(1), facts):
        return f
    if e.denominator != 1 or e % 2 or not is_real(f[0]):
        return None
    (((_, ((modulus, _),)), _),) = function_atom("abs", {((), ((f, Fraction(1)),)): Fraction(1)}).items()
    return modulus


def take_content(p: Polynomial, whole: bool, facts: Facts) -> tuple[Polynomial, Polynomial]:
    """Return (content, primitive) with p = content * primitive.

    The content is one term without sums, and the leading coefficient of the primitive part is 1, or -1 if `whole` is false.
    """
    leading = sort_by_text(p.items())[0][1]
    leading = leading if whole else abs(leading)
    powers = [{f: e for f, e in factors if not any(i[0] == "b" for i in f[1]) and f[0][0] != "delta"} for _, factors in p]
    shared = {f: min(here.get(f, Fraction(0)) for here in powers) for here in powers for f in here}
    factors = sort_by_text((f, e) for f, e in shared.items() if e and (whole or root_base(f, e, facts)))
    content = {((), factors): leading}
    inverse_ = {((), tuple((f, -e) for f, e in factors)): 1 / leading}
    return content, multiply(p, inverse_, facts)
