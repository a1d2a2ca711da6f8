"""Limits by series with exact coefficients.

Near the limit an expression is written as a sum of terms, each a coefficient times a scale of growth (`growth_scales.py`), up to an error.
If no scale grows without bound and the error vanishes, the coefficient of the scale 1 is the limit.

A coefficient is a normal form without the variable, or with the variable only in a sign such as (-1)^n: it is bounded, and takes finitely
many values. Signs are those near the limit: an expression that varies has the sign of the leading term of its series.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import ceil, factorial
from typing import Any, NamedTuple

from ..core.assumptions import Assumption
from ..core.expr import Expr
from ..errors import KernelError
from .absolute_values import absolute_value
from .atom_payloads import Unsupported, contains_symbol, instantiate
from .conjugates import is_real_polynomial
from .exponentials_and_logs import exponential, logarithm
from .growth_scales import (
    LOG,
    LOG_LOG,
    ONE,
    Scale,
    ScaleOrder,
    as_level,
    make_scale,
    power_of_x,
    scale_indices,
    scale_to_polynomial,
    times,
    to_polynomial,
    to_power,
)
from .index_sums import fresh_index, sum_over_index
from .integer_powers import split_base_and_exponent
from .normal_form import Facts, multiply, raise_to_allowed_power, reduce_term
from .polynomial_printing import show_polynomial
from .polynomials import Polynomial, add, atom, constant, rename_indices, scale
from .rational_numbers import Fraction

ORDERS = (4, 8, 16)  # numbers of terms of an infinite series to try, in turn
SIGNS = ("turn", "oscillation")  # the heads of signs that depend on a size: (-1)^n, and x^n / |x|^n


class Series:
    """A sum of terms, as coefficients by scale, and its error: at most a constant times the sum of the scales in `errors`.

    If an error depends on an index that was summed over, the sum is also over all values of that index. A power of such a sum is at most a
    constant times the sum of the powers, so the index need not be renamed when a series is multiplied by itself.
    """

    def __init__(self, terms: dict[Scale, Polynomial], errors: Iterable[Scale] = ()):
        self.terms = {s: c for s, c in terms.items() if c}
        self.errors = frozenset(errors)


class LeadingTerm(NamedTuple):
    """The term of a series that outgrows all others, which `rest` consists of. All are divided by the leading one."""

    scale: Scale
    coefficient: Polynomial
    rest: Series


class TooShort(Unsupported):
    """A series with too few terms to settle something."""

    code = "unknown-limit"


class NoFiniteLimit(KernelError):
    """There is no finite limit, unless the coefficient of the leading term is zero."""

    code = "no-finite-limit"

    def __init__(self, coefficient: Polynomial, term: Polynomial):
        super().__init__(f"the expression has no finite limit: it grows like {show_polynomial(term)}")
        self.coefficient = coefficient


def symbol_head(variable: Expr) -> tuple:
    """Return the head of the variable's atom."""
    return "size" if variable.data[1] == "size" else "entry", variable.data[0]


def list_limit_assumptions(variable: Expr) -> tuple:
    """Return what holds for a variable near every limit and need not be stated: a real one is positive."""
    return (Assumption("positive", (variable,)),) if variable.data[1] == "real" else ()


@contextmanager
def near_limit(facts: Facts, variable: Expr, to: Any) -> Iterator[None]:
    """In this context the variable goes to its limit: a sign of a varying expression is required of the leading term of its series."""
    outer_requirement, outer_positive = facts.adapt_requirement, facts.is_eventually_positive

    def require_of_leading_term(kind: str, p: Polynomial, because: str) -> tuple:
        holds = {"positive": facts.is_positive, "nonnegative": facts.is_nonnegative, "nonzero": facts.is_nonzero}[kind]
        if not depends_on(p, symbol_head(variable)) or holds(p):
            return outer_requirement(kind, p, because)
        coefficient, is_whole = expand_to_leading_term(p, variable, to, facts)
        if kind == "nonzero" and len(coefficient) == 1:
            coefficient = replace_signs(coefficient)
        if depends_on(coefficient, symbol_head(variable)):
            raise Unsupported("a limit of something whose sign alternates", code="unknown-limit")
        if kind == "nonnegative" and (not is_whole or facts.at_point):
            kind = "positive"  # if it is zero, the next term decides the sign
        return outer_requirement(kind, coefficient, "the leading term of a series")

    def ends_positive(p: Polynomial) -> bool:
        if facts.at_point is not None or not depends_on(p, symbol_head(variable)):
            return False
        lacking, facts.missing = facts.missing, {}
        try:
            return facts.is_positive(expand_to_leading_term(p, variable, to, facts)[0]) and not facts.missing
        except Unsupported:
            return False
        finally:
            facts.missing = lacking

    with facts.while_varying(variable.data[0]):
        facts.adapt_requirement, facts.is_eventually_positive = require_of_leading_term, ends_positive
        try:
            yield
        finally:
            facts.adapt_requirement, facts.is_eventually_positive = outer_requirement, outer_positive


def depends_on(p: Polynomial, head: tuple) -> bool:
    """Return whether p contains the symbol with this head."""
    return any(contains_symbol(f[0], head) for _, factors in p for f, _ in factors)


def expand_to_leading_term(p: Polynomial, variable: Expr, to: Any, facts: Facts) -> tuple[Polynomial, bool]:
    """Return (the coefficient of the leading term of a varying p, whether p has no other terms)."""

    def find_leading(expansion: Expansion) -> tuple[Polynomial, bool]:
        series = expansion.expand(p)
        return series.terms[expansion.find_leading_scale(series)], len(series.terms) == 1 and not series.errors

    return with_enough_terms(find_leading, variable, to, facts)


def take_limit(p: Polynomial, variable: Expr, to: Any, facts: Facts) -> Polynomial:
    """Return the limit of p. Raise NoFiniteLimit if there is no finite one, and Unsupported if the series do not settle it."""
    return with_enough_terms(lambda expansion: expansion.take_limit(p), variable, to, facts)


def with_enough_terms(question: Callable[[Expansion], Any], variable: Expr, to: Any, facts: Facts) -> Any:
    """Return the answer to a question about series, with as many terms of each infinite series as needed."""
    if to == 0 and variable.data[1] == "size":
        raise Unsupported("a size does not go to 0", code="unknown-limit")
    if to not in ("oo", 0):
        raise Unsupported(f"a limit towards {to}; 'oo' and 0 are known", code="unknown-limit")
    for order in ORDERS:
        try:
            return question(Expansion(symbol_head(variable), to == "oo", facts, order))
        except TooShort as error:
            last = error
    raise Unsupported(f"{last}, with {ORDERS[-1]} terms of each series", code="unknown-limit")


class SeriesArithmetic:
    """Computes with series, with `order` terms of each infinite one."""

    def __init__(self, facts: Facts, order: int):
        self.facts, self.order = facts, order
        self.scales = ScaleOrder(facts)

    def require_vanishing(self, errors: Iterable[Scale]) -> None:
        """Raise TooShort unless all these scales tend to 0."""
        if any(self.scales.direction(e) >= 0 for e in errors):
            raise TooShort("a limit that is not settled", code="unknown-limit")

    def raise_to(self, series: Series, power: Fraction) -> Series:
        """Return a rational power of a series. Require a positive leading coefficient for roots."""
        if power.denominator == 1 and power > 0:
            result = Series({ONE: constant(1)})
            for _ in range(int(power)):
                result = self.multiply(result, series)
            return result
        leading = self.split_leading(series)
        if power.denominator != 1:
            self.facts.require_sign("positive", leading.coefficient, "a root of a series")

        def binomial(n: int) -> Fraction:
            value = Fraction(1)
            for j in range(n):
                value = value * (power - j) / (j + 1)
            return value

        start = Series({to_power(leading.scale, power): raise_to_allowed_power(leading.coefficient, power, self.facts)})
        return self.multiply(start, self.compose(leading.rest, binomial))

    def split_leading(self, series: Series) -> LeadingTerm:
        """Return the leading term of a series. Require that its coefficient is nonzero. Raise TooShort if an error may outgrow it."""
        first = self.find_leading_scale(series)
        self.facts.require_sign("nonzero", series.terms[first], "the leading term of a series")
        inverse = Series({to_power(first, Fraction(-1)): raise_to_allowed_power(series.terms[first], Fraction(-1), self.facts)})
        others = Series({s: c for s, c in series.terms.items() if s != first}, series.errors)
        return LeadingTerm(first, series.terms[first], self.multiply(others, inverse))

    def find_leading_scale(self, series: Series) -> Scale:
        """Return the scale of a term that outgrows all other terms and the error. Raise UnknownSign if the assumptions do not show one."""
        every = {*series.terms, *series.errors}

        def count_rivals(s: Scale) -> int:
            return sum(not self.scales.is_at_most(other, s) for other in every)

        if not series.terms:
            raise TooShort("a series that vanishes as far as it is known", code="unknown-limit")
        first = min(series.terms, key=count_rivals)
        for other in every - {first}:
            if self.scales.compare(first, other) <= 0:
                raise TooShort("a series whose leading term is not known", code="unknown-limit")
        if first in series.errors:
            raise TooShort("a series whose leading term is not known", code="unknown-limit")
        return first

    def compose(self, rest: Series, coefficient: Callable[[int], Fraction]) -> Series:
        """Return the sum over n of coefficient(n) rest^n, truncated, for a series that tends to 0.

        The remainder is at most a constant times |rest|^N, and that is at most a constant times the sum of the scales' powers.
        """
        count = self.count_terms(rest)
        remainder = Series({}, {to_power(s, Fraction(count)) for s in (*rest.terms, *rest.errors)})
        result, power = self.add(Series({ONE: constant(coefficient(0))}), remainder), Series({ONE: constant(1)})
        for n in range(1, count):
            power = self.trim(self.multiply(power, rest), remainder.errors)
            result = self.add(result, self.multiply(power, Series({ONE: constant(coefficient(n))})))
            if not power.terms:
                break
        return result

    def count_terms(self, rest: Series) -> int:
        """Return how many powers of a series to use: more if it contains a root of X, so that the precision is the same."""
        roots = [-s[0][1] for s in rest.terms if len(s) == 1 and s[0][0] == LOG and not isinstance(s[0][1], tuple)]
        return ceil(self.order / min([Fraction(1), *roots]))

    def add(self, *summands: Series) -> Series:
        """Return the sum of series."""
        terms: dict[Scale, Polynomial] = {}
        for series in summands:
            for s, c in series.terms.items():
                terms[s] = add(terms.get(s, {}), c)
        return self.trim(Series(terms, {e for series in summands for e in series.errors}))

    def multiply(self, a: Series, b: Series) -> Series:
        """Return the product of two series."""
        terms: dict[Scale, Polynomial] = {}
        for s, c in a.terms.items():
            for t, d in b.terms.items():
                terms[times(s, t)] = add(terms.get(times(s, t), {}), multiply(c, d, self.facts))
        errors = {times(e, s) for x, y in ((a, b), (b, a)) for e in x.errors for s in (*y.terms, *y.errors)}
        return self.trim(Series(terms, errors))

    def trim(self, series: Series, errors: Iterable[Scale] = ()) -> Series:
        """Return a series without the terms and errors that are known to be within another error, or within one of `errors`."""
        kept: list[Scale] = []
        for e in series.errors:
            if not any(self.scales.is_at_most(e, other) for other in kept):
                kept = [other for other in kept if not self.scales.is_at_most(other, e)] + [e]
        bounds = (*kept, *errors)
        terms = {s: c for s, c in series.terms.items() if not any(self.scales.is_at_most(s, e) for e in bounds)}
        return Series(terms, kept)


class Expansion(SeriesArithmetic):
    """Expands normal forms in series near the limit of one variable."""

    def __init__(self, variable: tuple, grows: bool, facts: Facts, order: int):
        super().__init__(facts, order)
        self.variable, self.grows = variable, grows

    def take_limit(self, p: Polynomial) -> Polynomial:
        """Return the limit of p."""
        series = self.expand(p)
        growing = {s: c for s, c in series.terms.items() if self.scales.direction(s) > 0}
        if growing:
            first = self.find_leading_scale(Series(growing, series.errors))
            coefficient = without_signs(growing[first])
            raise NoFiniteLimit(coefficient, multiply(coefficient, self.show_scale(first), self.facts))
        self.require_vanishing(series.errors)
        result = add(*(c for s, c in series.terms.items() if not self.scales.direction(s)))
        if depends_on(result, self.variable):
            raise Unsupported("a limit of something whose sign alternates", code="unknown-limit")
        return result

    def show_scale(self, s: Scale) -> Polynomial:
        """Return a scale as a normal form for messages."""
        return scale_to_polynomial(s, atom(self.variable, power=1 if self.grows else -1))

    def expand(self, p: Polynomial) -> Series:
        """Return p as a series."""
        return self.add(*(self.expand_term(bound, factors, c) for (bound, factors), c in p.items()))

    def expand_term(self, bound: tuple, factors: tuple, c: Fraction) -> Series:
        """Return a term as a series. A sum over an index has finitely many terms, so it is taken of each coefficient."""
        if any(size.op == "symbol" and ("size", size.data[0]) == self.variable for size in bound):
            raise Unsupported("a limit inside a sum over an index", code="unknown-limit")
        held = [fresh_index() for _ in bound]
        renamed = rename_indices(factors, {("b", k): index for k, index in enumerate(held)})
        still = [x for x in renamed if not contains_symbol(x[0][0], self.variable)]
        result = Series({ONE: scale(reduce_term({}, still, self.facts), c)})
        for f, power in (x for x in renamed if x not in still):
            result = self.multiply(result, self.expand_factor(f, power))
        for index, size in zip(held, bound):
            result = self.sum_over(result, index, size)
        return result

    def sum_over(self, series: Series, index: tuple, size: Expr) -> Series:
        """Return the sum of a series over an index. A term whose scale depends on the index becomes an error."""
        uneven = {s for s in series.terms if index in scale_indices(s)}
        terms = {s: sum_over_index(c, index, size, self.facts) for s, c in series.terms.items() if s not in uneven}
        return self.trim(Series(terms, series.errors | uneven))

    def expand_factor(self, f: tuple, power: Fraction) -> Series:
        """Return a power of an atom that contains the variable as a series."""
        (head, *_), indices = f
        if f[0] == self.variable:
            return Series({power_of_x(power if self.grows else -power): constant(1)})
        if head in SIGNS:
            return Series({ONE: atom(f[0], *indices, power=power)})
        if head == "whole":
            return self.expand_whole_power(f, power)
        if head not in ("exp", "log", "sum", "abs"):
            what = "a limit of the largest of entries that move" if head == "largest" else f"the limit of a power of {head}"
            raise Unsupported(what, code="unknown-limit")
        inner = self.expand(instantiate(f[0][-1], indices))
        if head == "exp":
            return self.exponentiate(self.multiply(inner, Series({ONE: constant(power)})))
        if head == "log":
            inner = self.take_logarithm(inner)
        if head == "abs":
            inner = self.take_modulus(inner)
        return self.raise_to(inner, power)

    def expand_whole_power(self, f: tuple, power: Fraction) -> Series:
        """Return x^n, for an x of unknown sign and a size n that grows, as |x|^n times a sign.

        If x is 0, the sign is 0 and so is the term. Its scale |x|^n then makes no difference.
        """
        base, count = split_base_and_exponent(instantiate(f[0][1], f[1]))
        if depends_on(base, self.variable):
            raise Unsupported("the limit of a power whose base moves, and may be negative", code="unknown-limit")
        log = logarithm(absolute_value(base, self.facts), self.facts, known_positive=True)
        exponent = self.multiply(self.expand(count), Series({ONE: scale(log, power)}))
        sign = atom(("oscillation", f[0][1]), *f[1], power=1 if power % 2 else 2)
        return Series({self.exponentials(exponent.terms): sign})

    def exponentials(self, terms: dict[Scale, Polynomial]) -> Scale:
        """Return the exponential of a sum of terms that grow without bound."""
        levels: dict = {}
        for s, c in terms.items():
            level = as_level(s)
            if level is None or depends_on(c, self.variable):
                like = show_polynomial(multiply(without_signs(c), self.show_scale(s), self.facts))
                raise Unsupported(f"the exponential of something that grows like {like}", code="unknown-limit")
            if not is_real_polynomial(c, self.facts):
                raise Unsupported("the exponential of something that is not real and grows without bound", code="unknown-limit")
            levels[level] = c
        return make_scale(levels)

    def exponentiate(self, series: Series) -> Series:
        """Return the exponential of a series."""
        self.require_vanishing(series.errors)
        growing, still, small = ({s: c for s, c in series.terms.items() if self.scales.direction(s) == way} for way in (1, 0, -1))
        start = Series({self.exponentials(growing): exponential(add(*still.values()), self.facts)})
        return self.multiply(start, self.compose(Series(small, series.errors), lambda n: Fraction(1, factorial(n))))

    def take_logarithm(self, series: Series) -> Series:
        """Return the logarithm of a series."""
        leading = self.split_leading(series)
        start = {ONE: logarithm(leading.coefficient, self.facts)}
        for level, c in leading.scale:
            if level == LOG_LOG:
                raise Unsupported("the logarithm of a logarithm that grows without bound", code="unknown-limit")
            start[power_of_x(*level)] = to_polynomial(c)
        return self.add(Series(start), self.compose(leading.rest, lambda n: Fraction((-1) ** (n + 1), n) if n else Fraction(0)))

    def take_modulus(self, series: Series) -> Series:
        """Return the absolute value of a series: near the limit it has the sign of its leading term."""
        leading = series.terms[self.find_leading_scale(series)]
        for sign in (1, -1):
            if self.facts.is_positive(scale(leading, sign)):
                return self.multiply(series, Series({ONE: constant(sign)}))
        raise Unsupported("the limit of an absolute value whose sign is not known", code="unknown-limit")


def replace_signs(p: Polynomial) -> Polynomial:
    """Return a product with x in place of the sign of x^n, and 1 in place of (-1)^n. It is nonzero if the product is."""
    (((bound, factors), c),) = p.items()
    result = {(bound, tuple(x for x in factors if x[0][0][0] not in SIGNS)): c}
    for f, _ in (x for x in factors if x[0][0][0] == "oscillation"):
        result = multiply(result, split_base_and_exponent(instantiate(f[0][1], f[1]))[0], Facts())
    return result


def without_signs(p: Polynomial) -> Polynomial:
    """Return p without the signs that alternate, if it is a single term."""
    if len(p) > 1:
        return p
    return {(bound, tuple(x for x in factors if x[0][0][0] not in SIGNS)): c for (bound, factors), c in p.items()}
