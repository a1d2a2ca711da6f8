"""The conversion of SymPy's numbers, symbols, operators and functions.

Operands keep SymPy's order. A factor with a negative exponent goes into the denominator, and a term that starts with a negative number is
subtracted, as SymPy prints it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import Any

import sympy as sp

from ..core.constructors import I, absolute, diff, exp, log
from ..core.expr import Expr, lift, symbol
from .functions import cos, sin, tanh
from .sympy_reading import Place, Reading, Rule, Unreadable

# A symbol is a size, or a real number with at most one of these assumptions.
SIGNS = ("positive", "nonnegative", "nonzero")


def sign_of(s: Any) -> str:
    """Return what a real symbol is assumed to be: one of SIGNS, "size", or "". Raise Unreadable for any other assumption."""
    if not s.is_commutative or not s.is_real:
        raise Unreadable(
            f"the SymPy symbol {s.name} is not stated to be real: Symbol({s.name!r}, real=True); "
            f"for a size Symbol({s.name!r}, integer=True, positive=True)",
            code="not-stated-real",
        )
    for sign in ("", *SIGNS, "size"):
        stated = {"integer": True, "positive": True} if sign == "size" else {"real": True, **({sign: True} if sign else {})}
        if sp.Symbol(s.name, **stated).assumptions0 == s.assumptions0:
            return sign
    plain = sp.Symbol(s.name, real=True).assumptions0
    more = ", ".join(f"{k}={v}" for k, v in s.assumptions0.items() if k not in plain)
    raise Unreadable(
        f"what SymPy assumes of {s.name} ({more}) cannot be said here: a symbol is a size (integer=True, positive=True), "
        f"or real=True with one of {', '.join(SIGNS)}",
        code="unknown-sympy-assumption",
    )


def read_symbol(e: Any, reading: Reading) -> Expr:
    if e in reading.bound:
        return counted(reading.bound[e])
    if type(e) is not sp.Symbol:
        raise Unreadable(
            f"{type(e).__name__} {e}: SymPy makes another one each time, so that a name is not one thing; use Symbol",
            code="unknown-sympy-node",
        )
    kind = "size" if sign_of(e) == "size" else "real"
    return replace(symbol(e.name, kind), origin=e)


def counted(place: Place) -> Expr:
    """Return the value of a SymPy index, which may count from 0."""
    return place.variable if place.first == 1 else place.variable - 1


def read_rational(e: Any, reading: Reading) -> Expr:
    return lift(Fraction(int(e.p), int(e.q)))


def unsigned(e: Any) -> Any:
    """Return a SymPy term without its leading minus sign, or None if it does not start with one."""
    if e.is_Rational and e.is_negative:
        return -e
    if isinstance(e, (sp.Mul, sp.MatMul)) and e.args[0].is_Rational and e.args[0].is_negative:
        rest = e.args[1:] if e.args[0] == -1 else (-e.args[0], *e.args[1:])
        return rest[0] if len(rest) == 1 else e.func(*rest, evaluate=False) if isinstance(e, sp.Mul) else e.func(*rest)
    return None


def read_sum_of_terms(e: Any, reading: Reading) -> Expr:
    """Return a sum of scalars or of matrices, with subtraction for terms that start with a minus sign."""
    first, *others = e.args
    result = reading(first)
    for term in others:
        negated = unsigned(term)
        result = result + reading(term) if negated is None else result - reading(negated)
    return result


def read_product(e: Any, reading: Reading) -> Expr:
    negated = unsigned(e)
    return -reading(negated) if negated is not None else fraction(e.args, reading)


def fraction(factors: Iterable, reading: Reading, core: Expr | None = None) -> Expr:
    """Return the product of the factors and then of `core`, divided by the factors with negative exponents."""
    above: list[Expr] = []
    below: list[Expr] = []
    for factor in factors:
        inverted = reciprocal(factor)
        (above if inverted is None else below).append(reading(factor if inverted is None else inverted))
    above += [core] if core is not None else []
    top = reduce(lambda a, b: a * b, above) if above else lift(1)
    return top / reduce(lambda a, b: a * b, below) if below else top


def reciprocal(e: Any) -> Any:
    """Return 1/e if e is a power with a negative number as exponent, else None."""
    if not isinstance(e, sp.Pow) or not (e.exp.is_Rational and e.exp.is_negative):
        return None
    return e.base if e.exp == -1 else sp.Pow(e.base, -e.exp, evaluate=False)


def read_power(e: Any, reading: Reading) -> Expr:
    inverted = reciprocal(e)
    return 1 / reading(inverted) if inverted is not None else reading(e.base) ** reading(e.exp)


def read_derivative(e: Any, reading: Reading) -> Expr:
    result = reading(e.expr)
    for variable, times in e.variable_count:
        if not times.is_Integer:
            raise Unreadable(f"a derivative is negated a known number of times, not {times} times", code="unknown-derivative")
        for _ in range(int(times)):
            result = diff(result, reading(variable))
    return result


def unary(function: Callable[[Expr], Expr]) -> Rule:
    def rule(e: Any, reading: Reading) -> Expr:
        argument = e.args[0]
        if getattr(argument, "is_Matrix", False):
            name = type(e).__name__.lower()
            raise Unreadable(
                f"{name} of a matrix may mean that of its entries or of the whole; bring {name}(A[i, j]), an entry of it",
                code="ambiguous-matrix-operation",
            )
        return function(reading(argument))

    return rule


def sinh(x: Expr) -> Expr:
    return (exp(x) - exp(-x)) / 2


def cosh(x: Expr) -> Expr:
    return (exp(x) + exp(-x)) / 2


RULES: tuple[tuple[type, Rule], ...] = (
    (sp.Rational, read_rational),
    (sp.core.numbers.ImaginaryUnit, lambda e, reading: I),
    (sp.core.numbers.Exp1, lambda e, reading: exp(1)),
    (sp.Symbol, read_symbol),
    (sp.exp, unary(exp)),
    (sp.log, unary(log)),
    (sp.Abs, unary(absolute)),
    (sp.sinh, unary(sinh)),
    (sp.cosh, unary(cosh)),
    (sp.tanh, unary(tanh)),
    (sp.sin, unary(sin)),
    (sp.cos, unary(cos)),
    (sp.Derivative, read_derivative),
    (sp.Add, read_sum_of_terms),
    (sp.Mul, read_product),
    (sp.Pow, read_power),
)
