"""When is an expression 0 as a quotient of polynomials, in letters that stand for whatever is no sum, product or whole power?

An expression is kept as a number times powers of polynomials, since what stands below its fraction lines is mostly common to all terms.
What stands in it more than once is written so once.
"""

from __future__ import annotations

from math import lcm, prod

import sympy as sp
from sympy.polys.rings import PolyRing

ZERO = (sp.QQ.zero, {})
INFINITE = {sp.zoo, sp.nan, sp.oo, -sp.oo}


def in_powers(e) -> list:
    """(base, exponent, number): e is the product of each base to its exponent times its number."""
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
    """Cosines, sines and hyperbolic tangents as exponentials, signs by moduli; logarithms taken apart where SymPy knows factors to be positive."""
    if e.func in (sp.cos, sp.sin, sp.tanh):
        return e.rewrite(sp.exp)
    if e.func is sp.sign:  # the slope of a modulus, which has none at 0
        return e.args[0] / sp.Abs(e.args[0])
    return sp.expand_log(e, deep=False) if is_log(e) else e


def is_letter(e) -> bool:
    """Is nothing known of its powers? Of a letter's roots, the letter itself is a power."""
    return not (e.is_Add or e.is_Mul or e.is_Pow or e.is_Rational or e.func is sp.exp) and rewritten(e) == e


class Quotients:
    """An expression and its letters, of which each may be a root."""

    def __init__(self, e):
        self.steps, self.found, self.roots = {}, {}, []
        self.meet(e)
        # What a root is taken of has its letters behind that of the root.
        letters = [at for at, step in reversed(self.steps.items()) if step > 1 or at[1] != 1 or is_letter(at[0])]
        self.ring = PolyRing([f"x{k}" for k in range(len(letters))], sp.QQ, "lex") if letters else PolyRing(["x"], sp.QQ, "lex")
        self.letters = dict(zip(letters, self.ring.gens))
        self.roots = [(x, self.steps[at], at[0]) for at, x in self.letters.items() if at[1] == 1 and not is_letter(at[0])]

    def meet(self, e):
        """Take in the letters of e, and how small the parts are in which they stand in exponents."""
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
        """(number, {polynomial: power})."""
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
        """(value, whole power)."""
        x = self.letters.get((base, rest))
        if x is None:
            return self.value(base), int(number)
        return (sp.QQ.one, {x: 1}), int(number * self.steps[base, rest])

    def product(self, parts) -> tuple:
        """The product of values to whole powers."""
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
        """The sum of values: what they share stands before it."""
        parts = [(c, factors) for c, factors in parts if c]
        shared = {f: min(factors.get(f, 0) for _, factors in parts) for f in {f for _, factors in parts for f in factors}}
        rest = self.ring.zero
        for c, factors in parts:
            rest += self.expanded(c, {f: factors.get(f, 0) - n for f, n in shared.items()})
        return self.product([(self.factors(self.with_roots(rest)), 1), ((sp.QQ.one, shared), 1)])

    def expanded(self, number, factors: dict):
        """The polynomial that a number times powers is."""
        return prod((f**n for f, n in factors.items() if n), start=self.ring.ground_new(number))

    def factors(self, polynomial) -> tuple:
        """A number times powers: of letters where it is one term."""
        if not polynomial:
            return ZERO
        if len(polynomial) == 1:
            powers = polynomial.leading_expv()
            return polynomial.LC, {x: n for x, n in zip(self.ring.gens, powers) if n}
        return polynomial.LC, {polynomial.monic(): 1}

    def with_roots(self, polynomial):
        """Each root to less than its own power: of a square root the square is what it is taken of, where that is a polynomial."""
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
    """Is it 0, whatever its letters are? That is decided; what has no value there, or letters that belong together, is not seen."""
    if not e.is_commutative or not INFINITE.isdisjoint(e.atoms()):
        return False
    try:
        return not Quotients(e).value(e)[0]
    except ZeroDivisionError:  # something is divided by what is 0
        return False


def coefficients(polynomial, names) -> list | None:
    """What stands in a polynomial beside the powers of all letters but these; None where something stands below a fraction line."""
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
