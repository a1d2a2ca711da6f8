"""Inequalities: right - left equals the certificate (the nonnegative form), and the certificate is not negative."""

from __future__ import annotations

from itertools import islice, product

import sympy as sp

from .outcome import Fails, NotSettled, quiet
from .steps import NONE, at_sizes, most, told
from .tensors import flat
from .zero_test import away_from_zero, left_over, reduces


class Signs:
    """The assumptions about signs, and what follows from them for sums, products, powers and absolute values."""

    def __init__(self, positive, nonnegative, nonzero, whole=True):
        self.positives, self.nonzeros, self.whole = positive, nonzero, whole  # whole: whether these are all assumptions
        self.known, self.settled = [*positive, *nonnegative], {}

    def broken(self) -> bool:
        """Return whether an assumption is certainly violated."""
        wrong = [e.is_positive is False for e in self.positives] + [e.is_nonzero is False for e in self.nonzeros]
        return any(wrong) or any(e.is_nonnegative is False for e in self.known)

    def nonnegative(self, e, depth: int = 12) -> bool:
        """Return whether e is proved not to be negative."""
        if e.is_nonnegative or e in self.known:
            return True
        if not depth or e.is_negative:
            return False
        if (e, depth) not in self.settled:
            self.settled[e, depth] = self.by_form(e, depth) or self.by_parts(e, depth) or self.by_case(e)
        return self.settled[e, depth]

    def by_form(self, e, depth: int) -> bool:
        """Return whether e is a product, a power or a sum that is nonnegative because of its parts."""
        if e.is_Mul:
            return self.product(e, self.nonnegative, depth)
        if e.is_Pow and e.exp.is_integer and e.exp.is_even:
            return bool(e.base.is_real and (e.exp.is_positive or self.nonzero(e.base, depth - 1)))
        if e.is_Pow and e.base.is_real and e.exp.is_real:
            return self.positive(e.base, depth - 1) or bool(e.exp.is_positive) and self.nonnegative(e.base, depth - 1)
        return e.is_Add and all(self.nonnegative(x, depth - 1) for x in e.args)

    def positive(self, e, depth: int = 12) -> bool:
        """Return whether e is proved to be positive."""
        if e.is_positive or e in self.positives:
            return True
        if not depth:
            return False
        if e.is_Mul:
            return self.product(e, self.positive, depth)
        if e.is_Pow and e.exp.is_even and e.base.is_real and self.nonzero(e.base, depth - 1):
            return True
        if e.is_Pow and e.base.is_real and e.exp.is_real:
            return self.positive(e.base, depth - 1)
        if e.is_Add:
            rests = [(x, e - x) for x in [*e.args, *self.positives]]
            if any(self.positive(x, depth - 1) and self.nonnegative(rest, depth - 1) for x, rest in rests if len(rest.args) < len(e.args)):
                return True
        return any((e - part).is_positive for part in self.known)

    def nonzero(self, e, depth: int) -> bool:
        """Return whether e is proved not to be 0."""
        return bool(e.is_nonzero) or e in self.nonzeros or self.positive(e, depth) or self.positive(-e, depth)

    def product(self, e, test, depth: int) -> bool:
        """Return whether all factors have the sign, except for an even number that have the opposite one."""
        turned = 0
        for factor in e.args:
            if test(factor, depth - 1):
                continue
            if not test(-factor, depth - 1):
                return False
            turned += 1
        return turned % 2 == 0

    def by_parts(self, e, depth: int) -> bool:
        """Return whether e is nonnegative after a positive multiple of something nonnegative is subtracted."""
        parts = [*self.known, *moduli(e), *self.increases(e, depth)]
        return any(self.without(e, e - multiple * part, depth) for part in parts for multiple in shared(e, part))

    def increases(self, e, depth: int) -> list:
        """Return f(u) - f(v) for terms of e where f increases from v to u. 1 counts as exp(0), and a logarithm alone as log(u) - log(1)."""
        terms = [term.as_coeff_Mul() for term in sp.Add.make_args(e)]
        more, less = ([f for c, f in terms if c * sign > 0] for sign in (1, -1))
        found = [f - g for f in more for g in less if self.rises(f, g, depth - 1)]
        return found + [f for f in more if f.func is sp.log and self.nonnegative(f.args[0] - 1, depth - 1)]

    def rises(self, f, g, depth: int) -> bool:
        """Return whether f and g are the same increasing function at two arguments, of which the second is not larger."""
        if sp.exp in (f.func, g.func) and {f.func, g.func} <= {sp.exp, type(sp.S.One)}:
            u, v = (x.args[0] if x.func is sp.exp else sp.S.Zero for x in (f, g))
            return self.nonnegative(sp.expand(u - v), depth)
        if f.func is g.func is sp.log:
            return self.positive(g.args[0], depth) and self.nonnegative(f.args[0] - g.args[0], depth)
        if f.is_Pow and g.is_Pow and f.exp == g.exp and f.exp.is_Rational and f.exp > 0:
            return (bool(f.exp.is_odd) or self.nonnegative(g.base, depth)) and self.nonnegative(f.base - g.base, depth)
        return False

    def by_case(self, e) -> bool:
        """Return whether e is nonnegative for each choice of the largest argument of a Max, which then exceeds the others."""
        for found in sorted(e.atoms(sp.Max), key=str)[:1]:
            return all(self.beside([one - x for x in found.args]).either(e.xreplace({found: one})) for one in found.args)
        return False

    def either(self, e) -> bool:
        """Return whether e is proved not to be negative, expanded or with common factors extracted."""
        return any(map(self.nonnegative, (sp.expand(e), sp.factor_terms(e))))

    def beside(self, more: list):
        """Return the assumptions together with the assumption that these are not negative."""
        return Signs(self.positives, [*self.known, *more], self.nonzeros)

    def without(self, e, rest, depth: int) -> bool:
        """Return whether the rest is not negative. If it has more terms than e, it is not decomposed further."""
        terms = sp.Add.make_args(rest)
        return self.nonnegative(rest, depth - 1) if len(terms) <= len(sp.Add.make_args(e)) else all(t.is_nonnegative for t in terms)


def found_where(e, signs, test):
    """Return small values of the symbols that satisfy the assumptions and at which the test holds for e, or None if none are found."""
    names = sorted(e.free_symbols.union(*(x.free_symbols for x in [*signs.positives, *signs.known, *signs.nonzeros])), key=str)
    for values in islice(product((0, 1, -1), repeat=len(names)), 3**7):
        at = dict(zip(names, values))
        fits = all(
            not (v == 0 and s.is_nonzero or v <= 0 and s.is_positive or v < 0 and s.is_nonnegative or v != 0 and s.is_zero)
            for s, v in at.items()
        )
        held = fits and all(x.subs(at).is_positive for x in signs.positives) and all(x.subs(at).is_nonzero for x in signs.nonzeros)
        if held and all(x.subs(at).is_nonnegative for x in signs.known) and test(value_at(e, at)):
            return {s: sp.Integer(v) for s, v in at.items()}
    return None


def value_at(e, at):
    """Return the value of e at values of its symbols; nan if it has none, as the largest of 0/0 and 1."""
    try:
        return e.subs(at)
    except ValueError:
        return sp.nan


def moduli(e) -> list:
    """Return |x| + x and |x| - x for every term of e that is an absolute value or a product of them."""
    found = []
    for term in sp.Add.make_args(e):
        sizes = [x for x in sp.Mul.make_args(term) if isinstance(x, sp.Abs)]
        if sizes:
            inside, modulus = sp.Mul(*(x.args[0] for x in sizes)), sp.Mul(*sizes)
            found += [modulus + inside, modulus - inside]
    return found


def shared(e, part) -> set:
    """Return the positive ratios of the coefficients of e and of part, for each term that they share."""
    terms = e.as_coefficients_dict()
    ratios = {terms[term] / c for term, c in part.as_coefficients_dict().items() if term in terms}
    return {ratio for ratio in ratios if ratio.is_positive}


def possible(sizes_tried, assumed) -> list:
    """Return the sizes at which no assumption is certainly violated."""
    known = [(sizes, [[e for one in some for e in flat(one)] for some in at_sizes(assumed, sizes)]) for sizes in sizes_tried]
    return [sizes for sizes, signs in known if not Signs(*signs).broken()]


def inequality(claim, sizes_tried, assumed, tell=quiet):
    """Check at each of the sizes that right - left equals the certificate and that the certificate is not negative."""
    kept, settled, count, largest = [], True, 0, 0
    for sizes in sizes_tried:
        signs = Signs(*([e for one in some for e in flat(one)] for some in at_sizes(assumed, sizes)))
        if signs.broken():
            continue
        for left, right, certificate, *indices in at_sizes(claim, sizes):
            place = ", ".join(filter(None, map(told, (sizes, *indices))))
            difference, certificate = right - left - certificate, sp.sympify(certificate)
            if away_from_zero(difference):
                raise Fails(f"step 1: right - left is not the certificate{' at ' * bool(place)}{place}: {left_over(difference)}")
            kept.append((place, difference, certificate, signs))
            largest = max(largest, most(sizes))
    for place, difference, certificate, signs in kept:
        if not reduces(difference):
            raise Fails(f"step 1: right - left is not the certificate{' at ' * bool(place)}{place}: {left_over(difference)}")
        if certificate.is_nonnegative is False:
            raise Fails(f"step 2: the certificate can be negative{' at ' * bool(place)}{place}")
        settled, count = settled and signs.nonnegative(certificate), count + 1
    if not count:
        raise NotSettled(NONE)
    tell(f"step 1: right - left is the certificate ... holds ({count} time{'s' * (count != 1)})")
    if not settled:
        raise NotSettled("SymPy confirms the difference of the two sides, but cannot settle its sign under these assumptions")
    tell("step 2: the certificate is not negative ... holds")
    scope = f"some sizes up to {largest}" if any(sizes_tried) else "every value"
    return "proved", scope, "the difference is the certificate, and its sign is settled"
