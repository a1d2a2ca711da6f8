"""The test whether an expression is 0 as a rational function. Its letters are all subexpressions but sums, products and integer powers.

An expression is represented as a number times powers of polynomials, because its terms mostly share their denominators. Common
subexpressions are converted once.
"""

from __future__ import annotations

from math import lcm, prod

import sympy as sp
from sympy.polys.rings import PolyRing

ZERO = (sp.QQ.zero, {})
INFINITE = {sp.zoo, sp.nan, sp.oo, -sp.oo}


def in_powers(e) -> list:
    """Return (base, exponent, number) for each factor of e, which is base**(exponent * number)."""
    base, exponent = e.as_base_exp()
    if isinstance(base, sp.Abs) and base.args[0].is_real:
        base, exponent = base.args[0] ** 2, exponent / 2
    if exponent.is_Rational:
        return [(base, sp.S.One, exponent)]
    if base.is_positive and base != sp.E:
        base, exponent = sp.E, exponent * sp.log(base)
    parts = [term.as_coeff_Mul() for term in sp.Add.make_args(sp.expand(exponent))]
    return [(rest.args[0], sp.S.One, number) if base == sp.E and is_log(rest) else (base, rest, number) for number, rest in parts]


def is_log(e) -> bool:
    return e.func is sp.log


def rewritten(e):
    """Return cosines, sines and hyperbolic tangents as exponentials, signs as quotients, and logarithms of positive factors as sums."""
    if e.func in (sp.cos, sp.sin, sp.tanh):
        return e.rewrite(sp.exp)
    if e.func is sp.sign:  # the derivative of an absolute value, which has none at 0
        return e.args[0] / sp.Abs(e.args[0])
    return sp.expand_log(e, deep=False) if is_log(e) else e


def is_letter(e) -> bool:
    """Return whether e is a letter, whose powers have no relation to other expressions."""
    return not (e.is_Add or e.is_Mul or e.is_Pow or e.is_Rational or e.func is sp.exp) and rewritten(e) == e


class Quotients:
    """The conversion of an expression to a quotient. A letter may be a root of another subexpression."""

    def __init__(self, e):
        self.steps, self.found, self.roots = {}, {}, []
        self.meet(e)
        # The letter of a root comes before those of its argument.
        letters = [at for at, step in reversed(self.steps.items()) if step > 1 or at[1] != 1 or is_letter(at[0])]
        self.ring = PolyRing([f"x{k}" for k in range(len(letters))], sp.QQ, "lex") if letters else PolyRing(["x"], sp.QQ, "lex")
        self.letters = dict(zip(letters, self.ring.gens))
        self.roots = [(x, self.steps[at], at[0]) for at, x in self.letters.items() if at[1] == 1 and not is_letter(at[0])]

    def meet(self, e):
        """Record the letters of e, and the common denominators of their exponents."""
        if e in self.found:
            return
        self.found[e] = None
        if e.is_Add or e.is_Mul:
            for x in e.args:
                self.meet(x)
        elif (other := rewritten(e)) != e:
            self.meet(other)
        elif not e.is_Rational:
            for base, rest, number in in_powers(e):
                if rest == 1 and not is_letter(base):
                    self.meet(base)
                self.steps[base, rest] = lcm(self.steps.get((base, rest), 1), int(number.q))

    def value(self, e) -> tuple:
        """Return e as (number, {polynomial: power})."""
        if self.found[e] is None:
            self.found[e] = self.written(e)
        return self.found[e]

    def written(self, e) -> tuple:
        if e.is_Rational:
            return sp.QQ.from_sympy(e), {}
        if e.is_Add:
            return self.total([self.value(x) for x in e.args])
        if e.is_Mul:
            return self.product((self.value(x), 1) for x in e.args)
        if (other := rewritten(e)) != e:
            return self.value(other)
        return self.product(self.power(base, rest, number) for base, rest, number in in_powers(e))

    def power(self, base, rest, number) -> tuple:
        """Return a power as (value, integer exponent)."""
        x = self.letters.get((base, rest))
        if x is None:
            return self.value(base), int(number)
        return (sp.QQ.one, {x: 1}), int(number * self.steps[base, rest])

    def product(self, parts) -> tuple:
        """Return the product of integer powers of values."""
        number, powers = sp.QQ.one, {}
        for (c, factors), k in parts:
            number *= c**k
            for f, n in factors.items():
                powers[f] = powers.get(f, 0) + n * k
        for x, step, base in self.roots:
            if powers.get(x, 0) not in range(step):
                whole, powers[x] = divmod(powers[x], step)
                return self.product([((number, powers), 1), (self.value(base), whole)])
        return (number, {f: n for f, n in powers.items() if n}) if number else ZERO

    def total(self, parts: list) -> tuple:
        """Return the sum of values, with shared factors moved out of it."""
        parts = [(c, factors) for c, factors in parts if c]
        shared = {f: min(factors.get(f, 0) for _, factors in parts) for f in {f for _, factors in parts for f in factors}}
        rest = self.ring.zero
        for c, factors in parts:
            rest += self.expanded(c, {f: factors.get(f, 0) - n for f, n in shared.items()})
        return self.product([(self.factors(self.with_roots(rest)), 1), ((sp.QQ.one, shared), 1)])

    def expanded(self, number, factors: dict):
        """Return a number times powers as a polynomial."""
        return prod((f**n for f, n in factors.items() if n), start=self.ring.ground_new(number))

    def factors(self, polynomial) -> tuple:
        """Return a polynomial as (number, powers). A single term becomes powers of letters."""
        if not polynomial:
            return ZERO
        if len(polynomial) == 1:
            powers = polynomial.leading_expv()
            return polynomial.LC, {x: n for x, n in zip(self.ring.gens, powers) if n}
        return polynomial.LC, {polynomial.monic(): 1}

    def with_roots(self, polynomial):
        """Return a polynomial with reduced powers of roots: the square of a square root becomes its argument, if that is a polynomial."""
        for x, step, base in self.roots:
            if polynomial.degree(x) < step:
                continue
            number, factors = self.value(base)
            if min(factors.values(), default=0) >= 0:
                inside = self.expanded(number, factors)
                place = self.ring.gens.index(x)
                parts = {}
                for powers, c in polynomial.items():
                    whole, left = divmod(powers[place], step)
                    parts.setdefault(whole, {})[(*powers[:place], left, *powers[place + 1 :])] = c
                polynomial = sum((self.ring.from_dict(part) * inside**whole for whole, part in parts.items()), self.ring.zero)
        return polynomial


def is_zero_quotient(e) -> bool:
    """Return whether e is 0 for all values of its letters. This is a decision, but it ignores relations between letters and undefined values."""
    if not e.is_commutative or not INFINITE.isdisjoint(e.atoms()):
        return False
    try:
        return not Quotients(e).value(e)[0]
    except ZeroDivisionError:  # a divisor is 0
        return False


def coefficients(polynomial, names) -> list | None:
    """Return the coefficients of a polynomial in all letters except `names`, or None if it has a denominator."""
    written = Quotients(polynomial)
    number, factors = written.value(polynomial)
    if min(factors.values(), default=0) < 0:
        return None
    own = [at[0] in names for at in written.letters]
    parts = {}
    for powers, c in written.expanded(number, factors).terms():
        beside = tuple(power * (not mine) for power, mine in zip(powers, own))
        parts.setdefault(beside, {})[tuple(power * mine for power, mine in zip(powers, own))] = c
    return [part.as_expr(*(base for base, _ in written.letters)) for part in {*map(written.ring.from_dict, parts.values())}]
