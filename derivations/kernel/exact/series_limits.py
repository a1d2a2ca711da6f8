"""Limits by series with exact coefficients.

Near the limit everything is written in a small positive quantity eps: 1/x for x -> oo, x for x -> 0+, or exp(-x) if x -> oo occurs only
in exponentials of itself. A series maps exponents of eps to normal forms. If no negative exponent is left, the coefficient at exponent 0
is the limit: the expression is analytic in eps, or in a root of eps, near 0.

Signs are those near the limit: an expression that varies has the sign of the leading term of its series.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import factorial, inf
from typing import Any

from ..core.assumptions import Assumption
from ..core.expr import Expr
from ..errors import KernelError
from .atom_payloads import Unsupported, contains_symbol, free_bound_indices, instantiate
from .fractions import Fraction
from .normal_form import Facts, exponential, logarithm, multiply, raise_to_allowed_power, reduce_term
from .polynomial_printing import show_polynomial
from .polynomials import Polynomial, add, atom, constant, scale

ORDERS = (4, 8, 16)  # numbers of terms of an infinite series to try, in turn
EXACT = inf  # the precision of a series that is not cut off


class Series(dict):
    """A map from exponents of eps to normal forms. Terms from eps^known on are not known: the series was truncated there."""

    def __init__(self, terms: dict, known: Any = EXACT):
        super().__init__((k, c) for k, c in terms.items() if c and k < known)
        self.known = known

    def least(self) -> Any:
        """Return a lower bound of the exponents."""
        return min([*self, self.known])


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
        series = expand_to_leading_term(p, variable, to, facts)
        if kind == "nonnegative" and (len(series) > 1 or series.known != EXACT or facts.at_point):
            kind = "positive"  # if it is zero, the next term decides the sign
        return outer_requirement(kind, series[min(series)], "the leading term of a series")

    def ends_positive(p: Polynomial) -> bool:
        if facts.at_point is not None or not depends_on(p, symbol_head(variable)):
            return False
        lacking, facts.missing = facts.missing, {}
        try:
            series = expand_to_leading_term(p, variable, to, facts)
            return facts.is_positive(series[min(series)]) and not facts.missing
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


def expand_to_leading_term(p: Polynomial, variable: Expr, to: Any, facts: Facts) -> Series:
    """Return the series of a varying p with as many terms as needed to contain its leading term."""
    small = find_powers_of_eps(p, symbol_head(variable), to)
    for order in ORDERS:
        if series := expand(p, small, facts, order):
            return series
    raise Unsupported(f"the leading term of a series, of which {ORDERS[-1]} terms vanish", code="unknown-limit")


def take_limit(p: Polynomial, variable: Expr, to: Any, facts: Facts) -> Polynomial:
    """Return the limit of p. Raise NoFiniteLimit if there is no finite one, and Unsupported if the series do not settle it."""
    head = symbol_head(variable)
    if to == 0 and head[0] == "size":
        raise Unsupported("a size does not go to 0", code="unknown-limit")
    small = find_powers_of_eps(p, head, to)
    for order in ORDERS:
        series = expand(p, small, facts, order)
        if min(series, default=0) < 0:
            raise NoFiniteLimit(series[min(series)], leading_term(series, small, facts))
        if series.known > 0:
            return series.get(Fraction(0), {})
    raise Unsupported(f"a limit that {ORDERS[-1]} terms of a series do not settle", code="unknown-limit")


def leading_term(series: Series, small: dict, facts: Facts) -> Polynomial:
    """Return the first term of a series as a normal form, in the atom whose powers the series consists of."""
    ((f, power),) = ((f, power) for f, power in small.items() if f != "variable")
    least = min(series)
    return multiply(series[least], {((), ((f, power * least),)): Fraction(1)}, facts)


def find_powers_of_eps(p: Polynomial, head: tuple, to: Any) -> dict:
    """Return the atoms that are powers of eps with their exponents, and the head of the variable under "variable"."""
    if to == 0:
        return {"variable": head, (head, ()): Fraction(1)}
    if to != "oo":
        raise Unsupported(f"a limit towards {to}; 'oo' and 0 are known", code="unknown-limit")
    powers_of_variable = {"variable": head, (head, ()): Fraction(-1)}
    exponential_of_variable = exponential(atom(head), Facts())
    ((_, ((exp_atom, _),)),) = exponential_of_variable
    occurs_alone = any(f == (head, ()) for f in iterate_atoms(p))
    return (
        {"variable": head, exp_atom: Fraction(-1)}
        if not occurs_alone and any(f == exp_atom for f in iterate_atoms(p))
        else powers_of_variable
    )


def iterate_atoms(p: Polynomial) -> Iterator[tuple]:
    """Yield all atoms of p, also inside payloads, except inside the exponential of a single atom."""
    for _, factors in p:
        for f, _ in factors:
            yield f
            if (
                f[0][0] in ("log", "sum", "abs")
                or f[0][0] == "exp"
                and not (len(f[0][1]) == 1 and [e for _, e in f[0][1][0][0][1]] == [1] and not f[1])
            ):
                yield from iterate_atoms(instantiate(f[0][1], free_bound_indices(f[1])))


def add_series(*summands: Series) -> Series:
    """Return the sum of series."""
    result: Polynomial = {}
    for series in summands:
        for k, c in series.items():
            result[k] = add(result.get(k, {}), c)
    return Series(result, min(series.known for series in summands))


def multiply_series(a: Series, b: Series, facts: Facts) -> Series:
    """Return the product of two series."""
    result: Polynomial = {}
    for k, c in a.items():
        for j, d in b.items():
            result[k + j] = add(result.get(k + j, {}), multiply(c, d, facts))
    exact = a.known == b.known == EXACT
    return Series(result, EXACT if exact else min(a.known + b.least(), b.known + a.least()))


def expand(p: Polynomial, small: dict, facts: Facts, order: int) -> Series:
    """Return p as a series with `order` terms of each infinite series. `small` holds the powers of eps."""
    result = Series({})
    for (bound, factors), c in p.items():
        constant_factors = tuple((f, power) for f, power in factors if bound and not contains_symbol(f[0], small["variable"]))
        grows = any(s.op == "symbol" and ("size", s.data[0]) == small["variable"] for s in bound)
        if grows or any(i[0] == "b" for f in factors if f not in constant_factors for i in f[0][1]):
            raise Unsupported("a limit inside a sum over an index", code="unknown-limit")
        term = Series({Fraction(0): scale(reduce_term(dict(enumerate(bound)), list(constant_factors), facts), c)})
        for f, power in (x for x in factors if x not in constant_factors):
            term = multiply_series(term, expand_factor(f, power, small, facts, order), facts)
        result = add_series(result, term)
    return result


def depends_on_eps(f: tuple, small: dict) -> bool:
    """Return whether an atom is a power of eps or contains one."""
    return f in small or (isinstance(f[0][-1], tuple) and any(depends_on_eps(g, small) for g in payload_atoms(f)))


def payload_atoms(f: tuple) -> list[tuple]:
    """Return the atoms in an atom's payload."""
    return [g for _, factors in instantiate(f[0][-1], free_bound_indices(f[1])) for g, _ in factors]


def expand_factor(f: tuple, power: Fraction, small: dict, facts: Facts, order: int) -> Series:
    """Return a power of an atom as a series."""
    if f in small:
        return Series({small[f] * power: constant(1)})
    if not depends_on_eps(f, small):
        if contains_symbol(f[0], small["variable"]):
            raise Unsupported("a limit in which the variable stands in two different ways", code="unknown-limit")
        return Series({Fraction(0): reduce_term({}, [(f, power)], facts)})
    head, inside, indices = f[0][0], f[0][-1], f[1]
    inner = expand(instantiate(inside, indices), small, facts, order)
    if head == "exp":
        return exponentiate_series(multiply_series(inner, Series({Fraction(0): constant(power)}), facts), small, facts, order)
    if head == "sum":
        return raise_series(inner, power, facts, order)
    if head == "abs" and inner:  # near the limit its argument has the sign of its leading term
        leading = inner[min(inner)]
        if facts.is_positive(leading) or facts.is_positive(scale(leading, -1)):
            modulus = inner if facts.is_positive(leading) else multiply_series(inner, Series({Fraction(0): constant(-1)}), facts)
            return modulus if power == 1 else raise_series(modulus, power, facts, order)
    if head == "log" and power == 1:
        return take_series_logarithm(inner, small, facts, order)
    raise Unsupported(
        "a limit of the largest of entries that move" if head == "largest" else f"the limit of a power of {head}", code="unknown-limit"
    )


def split_leading(series: Series, facts: Facts) -> tuple[Polynomial, Fraction, Series]:
    """Return (c, k, rest) with series = c eps^k (1 + rest). Require that the leading coefficient c is nonzero."""
    if not series:
        raise Unsupported("a series that vanishes as far as it is known", code="unknown-limit")
    k = min(series)
    facts.require_sign("nonzero", series[k], "the leading term of a series")
    inverse = raise_to_allowed_power(series[k], Fraction(-1), facts)
    rest = {j - k: multiply(c, inverse, facts) for j, c in series.items() if j != k}
    return series[k], k, Series(rest, series.known - k if series.known != EXACT else EXACT)


def compose_power_series(rest: Series, coefficient: Callable, facts: Facts, order: int) -> Series:
    """Return the sum over n of coefficient(n) rest^n, truncated, for a series without constant term."""
    least = rest.least()
    known = min(order * max(1, least), rest.known) if rest else rest.known
    result, term, n = Series({Fraction(0): constant(coefficient(0))}), Series({Fraction(0): constant(1)}), 0
    while (n + 1) * least < known:
        n += 1
        term = multiply_series(term, rest, facts)
        result = add_series(result, multiply_series(term, Series({Fraction(0): constant(coefficient(n))}), facts))
    return Series(result, known)


def exponentiate_series(series: Series, small: dict, facts: Facts, order: int) -> Series:
    """Return the exponential of a series. Raise Unsupported if it has negative exponents."""
    if series.least() < 0:
        if not series:
            raise Unsupported("the exponential of something that may grow without bound", code="unknown-limit")
        leading = leading_term(series, small, facts)
        raise Unsupported(
            explain_mixed_growth(leading, small) or f"the exponential of something that {describe_divergence(leading, facts)}",
            code="unknown-limit",
        )
    if series.known <= 0:
        raise Unsupported("the exponential of a series that is not known far enough", code="unknown-limit")
    rest = Series({k: c for k, c in series.items() if k > 0}, series.known)
    start = Series({Fraction(0): exponential(series.get(Fraction(0), {}), facts)})
    return multiply_series(start, compose_power_series(rest, lambda n: Fraction(1, factorial(n)), facts, order), facts)


def explain_mixed_growth(leading: Polynomial, small: dict) -> str:
    """Return the message for exp(-x) next to powers of x, or '' if the exponential is of something else."""
    if leading.keys() != atom(small["variable"]).keys():
        return ""
    of, like = show_polynomial(atom(small["variable"])), show_polynomial(leading)
    return f"exp({like}) beside powers of {of}: the limit of each alone is known, and not which of the two wins"


def describe_divergence(leading: Polynomial, facts: Facts) -> str:
    """Return in which direction and how fast a leading term diverges, in words."""
    falls = facts.is_positive(scale(leading, -1))
    return f"{'falls' if falls else 'may grow'} without bound, like {show_polynomial(leading)}"


def take_series_logarithm(series: Series, small: dict, facts: Facts, order: int) -> Series:
    """Return the logarithm of a series. Raise Unsupported if it tends to 0 or diverges."""
    leading, k, rest = split_leading(series, facts)
    if k:
        like = show_polynomial(leading_term(series, small, facts))
        raise Unsupported(f"the logarithm of something that tends to 0 or grows without bound, like {like}", code="unknown-limit")
    start = Series({Fraction(0): logarithm(leading, facts)})
    return add_series(start, compose_power_series(rest, lambda n: Fraction((-1) ** (n + 1), n) if n else 0, facts, order))


def raise_series(series: Series, power: Fraction, facts: Facts, order: int) -> Series:
    """Return a rational power of a series. Require a positive leading coefficient for roots."""
    leading, k, rest = split_leading(series, facts)
    if power.denominator != 1:
        facts.require_sign("positive", leading, "a root of a series")

    def binomial(n: int) -> Fraction:
        value = Fraction(1)
        for j in range(n):
            value = value * (power - j) / (j + 1)
        return value

    start = Series({k * power: raise_to_allowed_power(leading, power, facts)})
    return multiply_series(start, compose_power_series(rest, binomial, facts, order), facts)
