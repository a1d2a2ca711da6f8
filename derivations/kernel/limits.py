"""Limits by series with exact coefficients.

Near the limit everything is written in a small positive quantity eps: 1/x where x -> oo, x where x -> 0+, or exp(-x)
where x -> oo occurs only in exponentials of itself. A series maps exponents of eps to normal forms. If no negative exponent
is left, the coefficient at exponent 0 is the limit: the expression is analytic in eps (or in a root of it) near 0.
"""

from __future__ import annotations

from fractions import Fraction

from .expr import Expr, KernelError
from .normal import (Facts, Unknown, add, allowed_power, atom, constant, exponential, instantiate, logarithm, multiply,
                     reduce_term, scale)

ORDER = 3  # terms kept beyond eps^0, enough for what is divided by eps; too few is noticed, see `trim`


def limit(p: dict, variable: Expr, to, facts: Facts) -> dict:
    head = ("size" if variable.data[1] == "size" else "entry", variable.data[0])
    series = expand(p, small_powers(p, head, to), facts)
    below = {k for k in series if k < 0}
    if below:
        raise KernelError(f"the expression has no finite limit: it grows like the power {-min(below)} of 1/eps")
    return series.get(Fraction(0), {})


def small_powers(p: dict, head: tuple, to) -> dict:
    """The atoms that are powers of eps, with their exponents."""
    if to == 0:
        return {(head, ()): Fraction(1)}
    if to != "oo":
        raise Unknown(f"a limit towards {to}; 'oo' and 0 are known")
    grow = {(head, ()): Fraction(-1)}
    own = exponential(atom(head), Facts())
    ((_, ((exp_atom, _),)),) = own
    bare = any(f == (head, ()) for f in atoms(p))
    return grow if bare else {exp_atom: Fraction(-1)} if any(f == exp_atom for f in atoms(p)) else grow


def atoms(p: dict):
    """All atoms of p, those inside payloads included, except inside exponentials of a single atom."""
    for _, factors in p:
        for f, _ in factors:
            yield f
            if f[0][0] in ("log", "sum", "abs"):
                yield from atoms(instantiate(f[0][1], f[1]))
            elif f[0][0] == "exp" and not (len(f[0][1]) == 1 and len(f[0][1][0][0][1]) == 1 and not f[1]):
                yield from atoms(instantiate(f[0][1], f[1]))


def trim(series: dict) -> dict:
    return {k: c for k, c in series.items() if c and k <= ORDER}


def plus(*many: dict) -> dict:
    result = {}
    for series in many:
        for k, c in series.items():
            result[k] = add(result.get(k, {}), c)
    return trim(result)


def times(a: dict, b: dict, facts: Facts) -> dict:
    result = {}
    for k, c in a.items():
        for j, d in b.items():
            result[k + j] = add(result.get(k + j, {}), multiply(c, d, facts))
    return trim(result)


def expand(p: dict, small: dict, facts: Facts) -> dict:
    result = {}
    for (bound, factors), c in p.items():
        term = {Fraction(0): constant(c)}
        for f, power in factors:
            if f in small:
                piece = {small[f] * power: constant(1)}
            elif not involves(f, small):
                piece = {Fraction(0): reduce_term({}, [(f, power)], facts)}
            elif bound:
                raise Unknown("a limit inside a sum over an index")
            else:
                piece = expand_factor(f, power, small, facts)
            term = times(term, piece, facts)
        if bound and any(involves(f, small) for f, _ in factors):
            raise Unknown("a limit inside a sum over an index")
        result = plus(result, term if not bound else {Fraction(0): {(bound, factors): c}})
    return result


def involves(f: tuple, small: dict) -> bool:
    return f in small or (isinstance(f[0][-1], tuple) and any(involves(g, small) for g in atoms_inside(f)))


def atoms_inside(f: tuple):
    return [g for _, factors in instantiate(f[0][-1], f[1]) for g, _ in factors]


def expand_factor(f: tuple, power: Fraction, small: dict, facts: Facts) -> dict:
    (head, inside), indices = f[0], f[1]
    inner = expand(instantiate(inside, indices), small, facts)
    if head == "exp":
        return exp_series({k: scale(c, power) for k, c in inner.items()}, facts)
    if head == "sum":
        return power_series(inner, power, facts)
    if head == "log":
        result = constant(1)
        logs = log_series(inner, facts)
        total = {Fraction(0): result}
        if power.denominator != 1 or power < 0:
            raise Unknown("the limit of a root or an inverse of a logarithm")
        for _ in range(int(power)):
            total = times(total, logs, facts)
        return total
    raise Unknown(f"the limit of {head}")


def split_leading(series: dict, facts: Facts):
    """series = c * eps^k * (1 + rest), c the leading coefficient."""
    if not series:
        raise Unknown("a series that vanishes to every order kept")
    k = min(series)
    inverse = allowed_power(series[k], Fraction(-1), facts)
    return series[k], k, trim({j - k: multiply(c, inverse, facts) for j, c in series.items() if j != k})


def in_powers(rest: dict, coefficient, facts: Facts) -> dict:
    """sum over n of coefficient(n) rest^n, for a series without constant term."""
    result, term, n = {Fraction(0): constant(coefficient(0))}, {Fraction(0): constant(1)}, 0
    while term:
        n += 1
        term = times(term, rest, facts)
        result = plus(result, {k: scale(c, coefficient(n)) for k, c in term.items()})
    return result


def exp_series(series: dict, facts: Facts) -> dict:
    if any(k < 0 for k in series):
        raise Unknown("the exponential of something that grows without bound")
    rest = {k: c for k, c in series.items() if k > 0}
    factorials = [Fraction(1)]
    def coefficient(n):
        while len(factorials) <= n:
            factorials.append(factorials[-1] / len(factorials))
        return factorials[n]
    start = {Fraction(0): exponential(series.get(Fraction(0), {}), facts)}
    return times(start, in_powers(rest, coefficient, facts), facts)


def log_series(series: dict, facts: Facts) -> dict:
    leading, k, rest = split_leading(series, facts)
    if k:
        raise Unknown("the logarithm of something that tends to 0 or grows without bound")
    return plus({Fraction(0): logarithm(leading, facts)}, in_powers(rest, lambda n: Fraction((-1) ** (n + 1), n) if n else 0, facts))


def power_series(series: dict, power: Fraction, facts: Facts) -> dict:
    leading, k, rest = split_leading(series, facts)
    def binomial(n):
        value = Fraction(1)
        for j in range(n):
            value = value * (power - j) / (j + 1)
        return value
    start = {k * power: allowed_power(leading, power, facts)}
    return times(start, in_powers(rest, binomial, facts), facts)
