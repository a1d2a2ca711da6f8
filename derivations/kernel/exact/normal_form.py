"""The exact witness's normal form: a decision procedure for identities between index sums, at every shape.

A tensor expression at given indices is a polynomial: a sum of terms, each a rational coefficient times powers of
atoms, summed over bound indices. An atom is a head with indices: an entry of a symbol, an entry of an inverse, a
Kronecker delta, a function of a smaller polynomial, or a sum whose power cannot be expanded. Two expressions are
equal at every shape if their difference has the normal form 0.

Nothing here calls SymPy. What is not understood is an error that names it, and nothing is cancelled, rooted or
inverted unless the stated assumptions allow it (`Facts`).
"""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from itertools import count, product
from math import comb

from ..printing.plain_text import plain
from ..printing.script_text import script
from .atom_payloads import Unknown, externals, function_atom, hold, instantiate, is_random, is_real, on_axes, renamed, settle
from .cycle_guard import not_in_a_circle
from .fractions import Fraction
from .index_renaming import named_alike
from .polynomial_printing import tree
from .polynomials import RUNS, add, atom, bernoulli, constant, factorise, is_multiple, ordered, rename, scale, size_polynomial

MOST_POWER = 20  # of an index that is summed in closed form
FRESH = count()


class Facts:
    """What a claim's stated assumptions allow. The normal form asks here before it cancels, roots, inverts or averages."""

    def __init__(self):
        self.positive, self.nonnegative, self.nonzero = [], [], []  # polynomials known to be so, at each value of their open indices
        self.in_this_case = []  # (a polynomial that is not negative where one entry is the largest, the indices at each value of which it is so)
        self.invertible = set()  # names of matrices
        self.products = {}  # (head, axis), (head, axis) -> c: summing the two over these axes gives c times the identity
        self.moments = {}  # random name -> function of r giving E[x^r] as a polynomial
        self.gaussian = {}  # random name -> (mean, variance) polynomials
        self.orders = {}  # random name -> the highest order of which each of its entries has a moment
        self.joined = {}  # the independence that would take moments apart which are left together -> the assumption that states it
        self.taken = {}  # random name -> the highest order of a moment that is taken and not known to exist
        self.independent = []  # sets of names whose entries are all independent of one another
        self.bits = set()  # names of symbols each entry of which is 0 or 1
        self.representable = []  # polynomials that are floating-point numbers
        self.parameters = []  # means and variances, as stated
        self.tied = set()  # names that a stated product ties together
        self.in_range = False  # no exponent leaves the format's range
        self.rounds = []  # polynomials whose rounding has a value, since an assumption speaks of it
        self.assuming = False  # is an assumption being read?
        self.divided = []  # polynomials that something was divided by
        self.lacking = {}  # what was used without being stated -> the assumption that states it, as a script writes it
        self.near: tuple = ()  # the trees that are read: messages take their names for indices
        self.moving = frozenset()  # names of what moves: what a derivative or a limit around what is read is taken by
        self.asking = set()  # the questions of signs that are being answered
        self.here = None  # within a derivative, what is known at the point alone
        self.looked_into = {}  # of one reading: the tensors each entry of which was read, where their indices are what
        self.by_case = lambda p, question, facts: False  # of each entry that may be the largest, where p has one; `facts_of` says
        self.only_near = lambda moving: Facts()  # what is known near the point too; `facts_of` says
        self.ends_positive = lambda p: False  # is p positive from somewhere on, where something goes to its limit? `near` a limit says
        self.asked = lambda *what: what  # what `require_sign` asks in the place of what it is asked, as near a limit

    @property
    def unstated(self) -> list:
        """What was used without being stated, in words."""
        return [*self.lacking, *(f"each entry of {x} has {moment_name(r)} (an expectation is taken)" for x, r in self.taken.items())]

    @property
    def remedies(self) -> list:
        """The assumptions that state it, as a script writes them."""
        return [*filter(None, self.lacking.values()), *(f"has_moment({name}, {order})" for name, order in self.taken.items())]

    def require(self, holds: bool, needed: str, stated: str):
        """needed: what has to hold, and for what; stated: the assumption that says so, as a script writes it."""
        if not holds:
            self.lacking.setdefault(needed, stated)

    def require_moment(self, name: str, order: int):
        """That each entry of what is random has a finite moment of this order."""
        if order > max(self.orders.get(name, 0), self.taken.get(name, 0)):
            self.taken[name] = order

    def require_sign(self, kind: str, p: dict, because: str):
        """That p is positive, not negative or not zero: `because` of what is done with it."""
        kind, p, because = self.asked(kind, p, because)
        holds = {"positive": self.is_positive, "nonnegative": self.is_nonnegative, "nonzero": self.is_nonzero}[kind](p)
        if not holds and kind == "nonnegative" and self.here and self.here.is_nonnegative(p):
            kind, because = "positive", f"{because} and differentiated: that it is not negative at a point says nothing of what is near"
        if holds:
            return
        shown = tree(multiplied_out(p, self), self.near)
        if any(is_random(f[0]) for _, factors in p for f, _ in factors):
            raise Unknown(f"whether {plain(shown)} {SIGNS[kind]} ({because}): it is random, and its distribution does not say so")
        is_number = all(not bound and not factors for bound, factors in p)  # of which nothing is assumed
        self.require(False, f"{plain(shown)} {SIGNS[kind]} ({because})", "" if is_number else f"{kind}({script(shown)})")

    def stated(self, kind: str, p: dict) -> list:
        """The polynomials stated to be so; those with an open index are stated at each of its values, so also at the indices of p."""
        everywhere = [(q, [i for i in externals(q) if i[0] == "f"]) for q in getattr(self, kind)]
        here = self.in_this_case if kind == "nonnegative" else []
        return [instance for q, open_ in [*everywhere, *here] for instance in instances(q, open_, p, self)]

    @contextmanager
    def moves(self, name: str):
        """Where the symbol of this name moves: a rounding of it is refused."""
        before, self.moving = self.moving, self.moving | {name}
        try:
            yield
        finally:
            self.moving = before

    @contextmanager
    def nearby(self, name: str):
        """What holds near a point as well as at it, where the symbol of this name moves. What is strict at the point is so near it."""
        before = {field: getattr(self, field) for field in KNOWN}
        here = self.here
        with self.moves(name):
            if here is None:
                self.here = copy(self)
            near = self.here.only_near(self.moving)
            vars(self).update({field: getattr(near, field) for field in KNOWN})
            try:
                yield
            finally:
                vars(self).update(before)
                self.here = here

    @not_in_a_circle
    def is_positive(self, p: dict) -> bool:
        return (
            signed(p, self, strict=True)
            or any(self.is_beyond(p, q) for q in self.stated("positive", p))
            or known(p, "positive", self)
            or self.here is not None
            and self.here.is_positive(p)
            or self.by_case(p, "is_positive", self)
        )

    @not_in_a_circle
    def is_nonnegative(self, p: dict) -> bool:
        return (
            signed(p, self, strict=False)
            or known(p, "nonnegative", self)
            or any(self.is_beyond(p, q) for q in self.stated("positive", p) + self.stated("nonnegative", p))
            or self.here is not None
            and self.here.is_positive(p)
            or self.by_case(p, "is_nonnegative", self)
        )

    def is_beyond(self, p: dict, q: dict) -> bool:
        """Is p visibly at least q: term by term, or since their difference is stated?"""
        more = add(p, scale(q, -1))
        return signed(more, self, strict=False) or known(more, "nonnegative", self) or known(more, "positive", self)

    def is_nonzero(self, p: dict) -> bool:
        negative, turned = scale(p, -1), multiply(atom(("i",)), p, self)  # what is not zero, is not zero times i either
        if any(known(x, "nonzero", self) for x in (p, negative, turned, scale(turned, -1))):
            return True
        if self.is_positive(p) or self.is_positive(negative) or self.here is not None and self.here.is_nonzero(p):
            return True
        if any(f[0] == ("i",) for _, factors in p for f, _ in factors) and (parts := real_and_imaginary(p)):
            return any(part and self.is_nonzero(part) for part in parts)
        if len(p) == 1 and all(not bound and all(nonzero_factor(f, self) for f, _ in factors) for bound, factors in p):
            return True
        return in_a_product(p, self)


# What holds at a point need not hold near.
KNOWN = ("positive", "nonnegative", "nonzero", "in_this_case", "products", "moments", "gaussian", "representable", "bits")


def moment_name(order: int) -> str:
    return {1: "a mean", 2: "a variance"}.get(order, f"a moment of order {order}")


SIGNS = {"positive": "is positive", "nonnegative": "is not negative", "nonzero": "is not zero"}


def known(p: dict, kind: str, facts: Facts) -> bool:
    """Is p a positive rational multiple of a polynomial that is stated to be so, or one times powers of sizes?"""
    stated = [q for q in facts.stated(kind, p) if len(q) == len(p)]
    return any(is_multiple(p, q) for q in stated) or any(is_multiple(without_sizes(p, facts), without_sizes(q, facts)) for q in stated)


def without_sizes(p: dict, facts: Facts) -> dict:
    """p without the powers of sizes that all its terms have."""
    powers = [{f: e for f, e in factors if f[0][0] == "size"} for _, factors in p]
    shared = {f: min(here.get(f, Fraction(0)) for here in powers) for f in {f for here in powers for f in here}}
    shared = {f: e for f, e in shared.items() if e}
    return multiply(p, {((), ordered((f, -e) for f, e in shared.items())): Fraction(1)}, facts) if shared else p


def instances(q: dict, variables: list, p: dict, facts: Facts) -> list:
    """A stated polynomial, as it is and with its open indices replaced by indices of p: what is stated holds at every value of them.

    An open index takes the place of one that stands where it stands: on the same axis of the same symbol, so that both run over one
    size. One that stands on no axis, such as the number i itself, keeps to its own name.
    """
    if not variables:
        return [q]
    here, there = list(on_axes(p)), list(on_axes(q))
    choices = []
    for variable in variables:
        choices.append(sorted({variable, *(index for axis, index in here if (axis, variable) in there)}, key=repr))
    return [at_indices(q, dict(zip(variables, chosen)), facts) for chosen in product(*choices)]


def at_indices(q: dict, mapping: dict, facts: Facts) -> dict:
    """A polynomial with some of its free indices replaced, all at once."""
    if all(old == new for old, new in mapping.items()):
        return q
    return add(*(scale(reduce_term(dict(enumerate(bound)), rename(factors, mapping), facts), c) for (bound, factors), c in q.items()))


def multiplied_out(p: dict, facts: Facts) -> dict:
    """p without sums that are kept whole though their power is 1, as in the payload of an atom."""
    return add(*(scale(reduce_term(dict(enumerate(bound)), list(factors), facts), c) for (bound, factors), c in p.items()))


def signed(p: dict, facts: Facts, strict: bool) -> bool:
    """Is every term of p non-negative for a reason that can be seen; and, if strict, one of them positive?"""
    if not all(c > 0 and all(factor_sign(f, power, facts) for f, power in factors) for (_, factors), c in p.items()):
        if (less := without_spread(p, facts)) is not None:
            return signed(less, facts, strict) if less else not strict
        larger = from_one(p, facts)
        return larger != p and signed(larger, facts, strict)
    return not strict or any(all(factor_sign(f, power, facts) == "positive" for f, power in factors) for _, factors in p)


def without_spread(p: dict, facts: Facts) -> dict | None:
    """p without n times a sum of squares, less the square of the sum: n^2 times a variance, which is not negative. None where p has none."""
    for (bound, factors), c in p.items():
        if c > 0 or len(bound) != 2 or bound[0] != bound[1] or not all(is_real(f[0]) for f, _ in factors):
            continue
        one, other = ([(f, e) for f, e in factors if ("b", k) in f[1]] for k in (0, 1))
        still = [x for x in factors if x not in one and x not in other]
        alike = sorted(rename(other, {("b", 1): ("b", 0)}), key=repr) == sorted(one, key=repr)
        if not one or not alike or any(x in other for x in one) or not all(factor_sign(f, e, facts) for f, e in still):
            continue
        squares = multiply(reduce_term({0: bound[0]}, [*still, *((f, 2 * e) for f, e in one)], facts), size_polynomial(bound[0]), facts)
        if len(squares) == 1 and p.get(next(iter(squares)), 0) >= -c * next(iter(squares.values())):
            return {t: x for t, x in add(p, scale(squares, c)).items() if t != (bound, factors)}
    return None


def from_one(p: dict, facts: Facts) -> dict:
    """p with each size written as 1 + another non-negative number, since a size is at least 1; unchanged if none is a plain power."""
    result, changed = {}, False
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
    """'positive', 'non-negative', or '' where the sign of a power of an atom cannot be seen."""
    head, indices = factor[0], hold(factor[1])
    base = {((), (((head, indices), Fraction(1)),)): Fraction(1)}
    if not is_real(head):
        return ""
    if head[0] in ("size", "exp", "prime", "value") or known(base, "positive", facts):  # an index counts from 1
        return "positive"
    if head[0] == "abs" and facts.is_nonzero(instantiate(head[1], indices)):
        return "positive"
    if head[0] in ("sum", "largest"):
        inner = renamed(instantiate(head[-1], indices), {RUNS: ("held", next(FRESH))})
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
        known(base, "nonzero", facts)
        or head[0] == "whole"
        and nonzero_factor((head, indices), facts)
        or known(scale(base, -1), "positive", facts)
    ):
        return "positive"
    if even or is_bit(factor[0], facts) or known(base, "nonnegative", facts) or head[0] in ("abs", "delta", "excess", "place"):
        return "non-negative"
    return ""


def is_bit(head: tuple, facts: Facts) -> bool:
    return head[0] == "entry" and head[1] in facts.bits


def real(p: dict, facts: Facts) -> bool:
    """Is p real: free of i, or its own conjugate, as a cosine is that is written in exponentials?"""
    return all(is_real(f[0]) for _, factors in p for f, _ in factors) or conjugate(p, facts) == p


def conjugate(p: dict, facts: Facts) -> dict | None:
    """p with -i in the place of i; None where the conjugate of an atom is not known."""
    result = {}
    for (bound, factors), c in p.items():
        turned = [(f, conjugate_power(f[0], power, facts)) for f, power in factors]
        if any(power is None for _, power in turned):
            return None
        sign = -1 if any(f[0] == ("i",) for f, _ in factors) else 1
        result = add(result, scale(reduce_term(dict(enumerate(bound)), turned, facts), sign * c))
    return result


def conjugate_power(head: tuple, power: Fraction, facts: Facts) -> Fraction | None:
    """The power of the same atom that is the conjugate of this one, but for the sign of i: exp(-ix) for exp(ix). None where there is none."""
    if head[0] == "i" or is_real(head):
        return power
    inside = [f[0] for (_, factors), _ in head[-1] for f, _ in factors]
    if head[0] == "exp" and inside.count(("i",)) == 1 and all(is_real(h) for h in inside if h != ("i",)):
        return -power
    return power if real(dict(head[-1]), facts) else None


def real_and_imaginary(p: dict) -> tuple | None:
    """(a, b) with p = a + ib, where each atom but i is visibly real; None elsewhere."""
    parts: tuple = ({}, {})
    for (bound, factors), c in p.items():
        rest = tuple((f, power) for f, power in factors if f[0] != ("i",))
        if not all(is_real(f[0]) for f, _ in rest):
            return None
        parts[len(rest) < len(factors)][bound, rest] = c
    return parts


def nonzero_factor(factor: tuple, facts: Facts) -> bool:
    base = {((), (((factor[0], hold(factor[1])), Fraction(1)),)): Fraction(1)}
    if factor[0][0] == "sum" and facts.is_nonzero(instantiate(factor[0][1], hold(factor[1]))):
        return True
    if factor[0][0] == "whole":
        (((_, inside), _),) = instantiate(factor[0][1], hold(factor[1])).items()
        return all(f[0][0] in ("size", "value") or nonzero_factor(f, facts) for f, _ in inside)
    return (
        factor[0][0] in ("i", "turn")
        or factor_sign(factor, Fraction(1), facts) == "positive"
        or known(base, "nonzero", facts)
        or in_a_product(base, facts)
    )


def in_a_product(p: dict, facts: Facts) -> bool:
    """Is p a multiple of a part of a product that is stated not to be zero? Where the product is not zero, none of its parts is."""
    stated = facts.stated("nonzero", p) + facts.stated("positive", p)
    return any(is_multiple(x, part) for q in stated for part in parts_of(q) for x in (p, scale(p, -1)))


def parts_of(q: dict):
    """What a product has positive powers of, roots too: the atoms, and what stands inside of a sum or a modulus."""
    for head, indices in (f for bound, factors in q for f, power in factors if len(q) == 1 and not bound and power > 0):
        yield atom(head, *indices)
        if head[0] in ("sum", "abs"):
            yield instantiate(head[1], indices)


def multiply(p: dict, q: dict, facts: Facts) -> dict:
    result = {}
    for (bound1, factors1), c1 in p.items():
        for (bound2, factors2), c2 in q.items():
            factors = [*factors1, *shifted(factors2, len(bound1), len(bound2))]
            for term, c in reduce_term(dict(enumerate(bound1 + bound2)), factors, facts).items():
                result[term] = result.get(term, 0) + c * c1 * c2
    return {term: c for term, c in result.items() if c}


def shifted(factors: tuple, by: int, count: int):
    """Factors with their bound indices, so many, numbered behind others."""
    return rename(factors, {("b", k): ("b", k + by) for k in range(count)}) if by and count else factors


def reduce_term(bound: dict, factors: list, facts: Facts) -> dict:
    """One product of powers of atoms, in normal form. bound maps the numbers of bound indices to their sizes.

    Deltas come first: one that names an index anew begins the term again, and nothing may have been taken out of it by then.
    """
    powers = {}
    for (head, indices), power in factors:
        indices = settle(head, indices)
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
                rest = rename(powers.items(), {indices[1]: indices[0]})
                return reduce_term(bound, [*rest, ((head, indices), Fraction(1))], facts)
            if old is None:
                powers[head, indices] = Fraction(1)
            else:
                new = indices[0] if old == indices[1] else indices[1]
                rest = {number: size for number, size in bound.items() if number != old[1]}
                return reduce_term(rest, rename(powers.items(), {old: new}), facts)
    return without_deltas(bound, powers, facts)


def without_deltas(bound: dict, powers: dict, facts: Facts) -> dict:
    """A product whose deltas are settled: what meets itself is taken out, as a number or as a polynomial to be multiplied in."""
    expand, sign = [], Fraction(1)
    held = {("b", k): ("held", next(FRESH)) for k in bound}
    for (head, indices), power in list(powers.items()):
        whole = power.denominator == 1
        if head[0] == "i" and whole:
            del powers[head, indices]
            sign *= (-1) ** (power // 2 % 2)
            if power % 2:
                powers[head, indices] = Fraction(1)
        elif head[0] == "turn" and whole:  # a power of -1
            del powers[head, indices]
            if power % 2:
                powers[head, indices] = Fraction(1)
        elif head[0] == "prime" and (power >= 1 or power < 0):
            whole_part = power // 1
            sign *= Fraction(head[1]) ** int(whole_part)
            powers[head, indices] = power - whole_part
            if power == whole_part:
                del powers[head, indices]
        elif head[0] == "abs" and whole and power != 1:  # |x|^3 is |x| x^2, and 1/|x| is |x|/x^2
            del powers[head, indices]
            if power % 2:
                powers[head, indices] = Fraction(1)
            power -= power % 2
            inner = instantiate(head[1], tuple(held.get(i, i) for i in indices))
            expand.append((inner, int(power)) if power > 0 else (allowed_power(inner, Fraction(-1), facts), int(-power)))
        elif is_bit(head, facts) and whole and power > 0:
            powers[head, indices] = Fraction(1)
        elif head[0] == "value" and indices[0][0] == "c":
            expand.append((allowed_power(constant(indices[0][1]), powers.pop((head, indices)), facts), 1))
        elif head[0] == "sum" and whole and power > 0:
            del powers[head, indices]
            expand.append((instantiate(head[1], tuple(held.get(i, i) for i in indices)), int(power)))
    if expand:
        result = constant(sign)
        for inner, power in expand:
            for _ in range(power):
                result = multiply(result, inner, facts)
        # The bound indices of this term must stay shared with the expanded sums, so they are put back as they were.
        total = {}
        for (more, inner_factors), c in result.items():
            shift = {("b", k): ("b", k + 1 + max(bound, default=-1)) for k in range(len(more))}
            shift |= {token: index for index, token in held.items()}
            joined = bound | {shift["b", k][1]: size for k, size in enumerate(more)}
            for term, c2 in reduce_term(joined, list(powers.items()) + rename(inner_factors, shift), facts).items():
                total[term] = total.get(term, 0) + c * c2
        return {term: c for term, c in total.items() if c}
    paired = contract(bound, powers, facts)
    if paired is not None:
        return scale(paired, sign)
    return scale(canonical(bound, powers, facts), sign)


def contract(bound: dict, powers: dict, facts: Facts):
    """Where a bound index joins a matrix to its inverse, or two matrices whose product is zero; None where none does."""
    for number in bound:
        joined = [(f, power) for f, power in powers.items() if ("b", number) in f[1]]
        joined = [(joined[0][0], Fraction(1))] * 2 if len(joined) == 1 and joined[0][1] == 2 else joined  # a square is a product as well
        if len(joined) != 2 or any(power != 1 or len(f[1]) > 2 or f[1].count(("b", number)) != 1 for f, power in joined):
            continue
        ends = [((f[0], f[1].index(("b", number))), f[1][len(f[1]) - 1 - f[1].index(("b", number))]) for f, _ in joined]
        times = facts.products.get((ends[0][0], ends[1][0]), facts.products.get((ends[1][0], ends[0][0])))
        if times == 0:  # of vectors as well, which have no other index
            return {}
        if times is not None and all(len(f[1]) == 2 for f, _ in joined):
            rest = [(f, power) for f, power in powers.items() if f not in (joined[0][0], joined[1][0])]
            smaller = {k: size for k, size in bound.items() if k != number}
            delta = (("delta",), (ends[0][1], ends[1][1]))
            return scale(reduce_term(smaller, rest + [(delta, Fraction(1))], facts), times)
    return None


def canonical(bound: dict, powers: dict, facts: Facts) -> dict:
    """The term with its bound indices renamed so that equal terms are the same. An index on nothing but a power of itself is summed."""
    if not bound:
        return {named_alike((), tuple(powers.items())): Fraction(1)}
    alone = {n: powers.get((("value",), (("b", n),)), Fraction(0)) for n in bound}
    used = {i[1] for (head, indices) in powers if head[0] != "value" for i in indices if i[0] == "b"}
    used |= {n for n, power in alone.items() if power.denominator != 1 or not 0 <= power <= MOST_POWER}
    rest = {f: power for f, power in powers.items() if f[0][0] != "value" or f[1][0][0] != "b" or f[1][0][1] in used}
    result = {named_alike(tuple((n, bound[n]) for n in sorted(used)), tuple(rest.items())): Fraction(1)}
    for number, size in bound.items():
        if number not in used:
            result = multiply(result, power_sum(size_polynomial(size), int(alone[number]), facts), facts)
    return result


def power_sum(n: dict, power: int, facts: Facts) -> dict:
    """1^p + 2^p + ... + n^p as a polynomial in n, by Faulhaber's formula. At n = 0 it is 0 as well."""
    if not power:
        return n
    result = {}
    for k in range(power + 1):
        grown = constant(Fraction(comb(power + 1, k), power + 1) * bernoulli(k))
        for _ in range(power + 1 - k):
            grown = multiply(grown, n, facts)
        result = add(result, grown)
    return result


def exponential(p: dict, facts: Facts) -> dict:
    """exp of a polynomial: one atom a term, so that exp(a + b) and exp(a) exp(b) are the same."""
    result = constant(1)
    for (bound, factors), c in p.items():
        logs = [f for f, power in factors if f[0][0] == "log" and power == 1]
        rest = [(f, power) for f, power in factors if not logs or f != logs[0]]
        bit = next((f for f, power in factors if is_bit(f[0], facts) and not bound), None)
        if logs and not bound and not rest:
            result = multiply(result, raise_to(instantiate(logs[0][0][1], logs[0][1]), c, facts), facts)
        elif bit:  # exp(kx) = 1 + k (exp(x) - 1)
            other = exponential({((), tuple((f, power) for f, power in factors if f != bit)): c}, facts)
            chosen = multiply({((), ((bit, Fraction(1)),)): Fraction(1)}, add(other, constant(-1)), facts)
            result = multiply(result, add(constant(1), chosen), facts)
        else:
            result = multiply(result, function_atom("exp", {(bound, factors): Fraction(1)}, c), facts)
    return result


def logarithm(p: dict, facts: Facts, seen: bool = False) -> dict:
    """The logarithm of p, which is positive: `seen` says that this is known already; else it is required.

    Factors that all terms share come out of it, if they are visibly positive themselves: log(ab) = log(a) + log(b) for a > 0, as then b > 0
    too. One that may be negative stays inside, to an even power too: log(x^2) is not 2 log(x).
    """
    if not seen:
        facts.require_sign("positive", p, "its logarithm is taken")
    number, shared = shared_factors(p, facts)
    rest = multiply(p, {((), tuple((f, -e) for f, e in shared)): 1 / number}, facts)
    parts = [scale(function_atom("log", constant(prime)), e) for prime, e in factorise(number)]
    for (head, indices), power in shared:
        if head[0] == "sum":
            own = logarithm(instantiate(head[1], indices), facts, seen=True)
        else:
            own = instantiate(head[1], indices) if head[0] == "exp" else function_atom("log", unprimed(head, indices))
        parts.append(scale(own, power))
    return add(*parts) if rest == constant(1) else add(*parts, function_atom("log", rest))


def unprimed(head: tuple, indices: tuple) -> dict:
    return constant(head[1]) if head[0] == "prime" else atom(head, *indices)


def shared_factors(p: dict, facts: Facts) -> tuple:
    """(a positive number, powers of visibly positive atoms) that divide every term of p: what is left has no denominators that p had not."""
    shared = None
    for _, factors in p:
        here = {f: e for f, e in factors if not any(i[0] == "b" for i in f[1]) and factor_sign(f, Fraction(1), facts) == "positive"}
        before = here if shared is None else shared
        shared = {f: min(e, before[f], key=abs) for f, e in here.items() if f in before and (e > 0) == (before[f] > 0)}
    return min(map(abs, p.values()), default=Fraction(1)), ordered((shared or {}).items())


def raise_to(p: dict, power: Fraction, facts: Facts) -> dict:
    """A rational power of a polynomial. Negative powers need it to be non-zero, fractional ones non-negative."""
    if power < 0:
        facts.divided.append(p)
        facts.require_sign("nonzero", p, "something is divided by it")
    if power.denominator != 1:
        facts.require_sign("nonnegative", p, "a root of it is taken")
    return allowed_power(p, power, facts)


def allowed_power(p: dict, power: Fraction, facts: Facts) -> dict:
    """The same, where the power is known to be defined."""
    whole = power.denominator == 1
    if not p:
        return constant(int(power == 0))
    if whole and power >= 0:
        result = constant(1)
        for _ in range(int(power)):
            result = multiply(result, p, facts)
        return result
    if len(p) == 1 and not next(iter(p))[0]:
        (((_, factors), c),) = p.items()
        if whole or c > 0 and all(rooted(f, e, facts) for f, e in factors):
            result = constant(c ** int(power)) if whole else constant(1)
            for prime, e in () if whole else factorise(c):
                result = multiply(result, reduce_term({}, [((("prime", prime), ()), e * power)], facts), facts)
            powers = [(f if whole else rooted(f, e, facts), e * power) for f, e in factors]
            return multiply(result, reduce_term({}, powers, facts), facts)
    content, primitive = take_content(p, whole, facts)
    if content != constant(1):
        return multiply(allowed_power(content, power, facts), allowed_power(primitive, power, facts), facts)
    return function_atom("sum", p, power)


def rooted(f: tuple, e: Fraction, facts: Facts):
    """The atom whose power comes out of a root of f^e: f where it is not negative, |f| for an even power of a real f; else None.

    (ab)^p = a^p b^p wherever a is not negative, whatever the sign of b: a root of a negative b has no value on either side unless a is 0.
    """
    if factor_sign(f, Fraction(1), facts):
        return f
    if e.denominator != 1 or e % 2 or not is_real(f[0]):
        return None
    (((_, ((modulus, _),)), _),) = function_atom("abs", {((), ((f, Fraction(1)),)): Fraction(1)}).items()
    return modulus


def take_content(p: dict, whole: bool, facts: Facts):
    """p = content * primitive, where content is one term without bound indices and primitive has leading coefficient 1."""
    leading = ordered(p.items())[0][1]
    leading = leading if whole else abs(leading)
    shared = None
    for _, factors in p:
        here = {f: e for f, e in factors if not any(i[0] == "b" for i in f[1]) and f[0][0] != "delta"}
        every = set(here) | set(shared or {})
        shared = here if shared is None else {f: min(here.get(f, Fraction(0)), shared.get(f, Fraction(0))) for f in every}
    shared = {f: e for f, e in shared.items() if e and (whole or rooted(f, e, facts))}
    factors = ordered(shared.items())
    content = {((), factors): leading}
    inverse_ = {((), tuple((f, -e) for f, e in factors)): 1 / leading}
    return content, multiply(p, inverse_, facts)
