"""Arithmetic of exact numbers: FLINT's rationals and rigorous balls, and series of them (`taylor_series.py`).

Only the modules of this room use python-flint.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from math import isqrt
from typing import Any

from flint import acb, arb, ctx, fmpq

from ..core.number_formats import FORMATS
from ..errors import KernelError
from .taylor_series import Taylor

ctx.prec = 160


class Undefined(KernelError):
    """A value that does not exist: a division by zero, a root of a negative number, the inverse of a singular matrix."""

    code = "undefined-value"


def to_fmpq(value: Any) -> fmpq:
    """Return a rational number as FLINT's type."""
    return fmpq(value.numerator, value.denominator)


def to_fraction(value: fmpq) -> Fraction:
    """Return FLINT's rational as a Fraction."""
    return Fraction(int(value.p), int(value.q))


def certainly_differ(a: Any, b: Any) -> bool:
    """Return whether two numbers certainly differ. Balls that overlap may be equal."""
    if isinstance(a, fmpq) and isinstance(b, fmpq):
        return a != b
    if isinstance(a, acb) or isinstance(b, acb):
        return not acb(a).overlaps(acb(b))
    return not (a - b if not isinstance(a, fmpq) else b - a).contains(0)


def certainly_violates(relation: str, a: Any, b: Any) -> bool:
    """Return whether two numbers certainly violate the relation "=" or "<=".

    Complex numbers cannot violate "<=", since they have no order.
    """
    return certainly_differ(a, b) and (relation == "=" or not is_complex(a) and not is_complex(b) and bool(a > b))


def is_complex(a: Any) -> bool:
    """Return whether a number is a complex ball."""
    return isinstance(a, acb)


def divide(a: Any, b: Any) -> Any:
    """Return a / b for numbers or series. Raise Undefined if b is 0, KernelError if b is a ball that may contain 0."""
    if isinstance(a, Taylor) or isinstance(b, Taylor):
        return (a if isinstance(a, Taylor) else b * 0 + a).divide_by(b, divide)
    if b == 0:
        raise Undefined("a division by zero")
    if not certainly_differ(b, to_fmpq(0)):
        raise KernelError("a division by a ball that may hold zero is not settled", code="not-settled")
    return a / b


def raise_to(base: Any, exponent: Any) -> Any:
    """Return a power of a number or a series. Raise Undefined where it does not exist."""
    if isinstance(exponent, fmpq) and exponent.q == 1:
        n = int(exponent.p)
        return base**n if n >= 0 else divide(to_fmpq(1), base**-n)
    if isinstance(exponent, Taylor):
        return apply_function("exp", exponent * apply_function("log", base))
    if isinstance(base, Taylor):
        return base.root(exponent, lambda x: raise_to(x, exponent))
    base = to_real(base, "a root of a number")
    if isinstance(exponent, acb):
        raise KernelError("a power with a complex exponent is not evaluated", code="not-settled")
    if base < 0:
        raise Undefined("a root of a negative number")
    if not base >= 0:
        raise KernelError("a root of a ball that may be negative is not settled", code="not-settled")
    if isinstance(base, fmpq) and base == 0 and exponent < 0:
        raise Undefined("a division by zero")
    if isinstance(base, fmpq) and isinstance(exponent, fmpq) and exponent.q == 2:
        p, q = int(base.p), int(base.q)
        if (root_p := integer_root(p)) is not None and (root_q := integer_root(q)) is not None:
            n = int(exponent.p)
            root = fmpq(root_p, root_q)
            return root**n if n >= 0 else divide(to_fmpq(1), root**-n)
    return arb(base) ** arb(exponent)


def to_real(x: Any, what: str) -> Any:
    """Return a number that must be real as a real one; `what` is done with it, for the message. Raise Undefined if it is not real."""
    if not isinstance(x, acb):
        return x
    if certainly_differ(x.imag, to_fmpq(0)):
        raise Undefined(f"{what} that is not real")
    if x.imag != 0:
        raise KernelError(f"{what} of which it is not settled whether it is real", code="not-settled")
    return x.real


def integer_root(n: int) -> int | None:
    """Return the square root of a natural number if it is a whole number, otherwise None."""
    return isqrt(n) if isqrt(n) ** 2 == n else None


def apply_function(name: str, x: Any) -> Any:
    """Return a function of a number or a series, by the function's name."""
    rules = SERIES_FUNCTIONS if isinstance(x, Taylor) else NUMBER_FUNCTIONS
    if name not in rules:
        raise KernelError(f"the function '{name}' cannot be evaluated at numbers", code="not-settled")
    return rules[name](x)


def entire_function(name: str, at_zero: int) -> Callable:
    """Return the rule of a function that is defined everywhere; `at_zero` is its exact value at 0."""

    def rule(x: Any) -> Any:
        if isinstance(x, fmpq) and x == 0:
            return to_fmpq(at_zero)
        return getattr(x if isinstance(x, acb) else arb(x), name)()

    return rule


def logarithm(x: Any) -> Any:
    """Return the logarithm of a real number. Raise Undefined if it is not positive, KernelError if that is not settled."""
    x = to_real(x, "a logarithm of a number")
    if x <= 0:
        raise Undefined("a logarithm of a number that is not positive")
    if not x > 0:
        raise KernelError("a logarithm of a ball that may not be positive is not settled", code="not-settled")
    return to_fmpq(0) if isinstance(x, fmpq) and x == 1 else arb(x).log()


NUMBER_FUNCTIONS = {
    "abs": abs,
    "log": logarithm,
    "exp": entire_function("exp", at_zero=1),
    "cos": entire_function("cos", at_zero=1),
    "sin": entire_function("sin", at_zero=0),
    "tanh": entire_function("tanh", at_zero=0),
}


SERIES_FUNCTIONS = {
    "abs": lambda x: x.absolute(),
    "log": lambda x: x.logarithm(logarithm),
    "exp": lambda x: x.exponential(NUMBER_FUNCTIONS["exp"]),
    "cos": lambda x: x.cos_and_sin(NUMBER_FUNCTIONS["cos"], NUMBER_FUNCTIONS["sin"])[0],
    "sin": lambda x: x.cos_and_sin(NUMBER_FUNCTIONS["cos"], NUMBER_FUNCTIONS["sin"])[1],
    "tanh": lambda x: x.hyperbolic_tangent(NUMBER_FUNCTIONS["tanh"]),
}


def maximum(entries: list) -> Any:
    """Return the largest entry; of series, the one that is largest near the point, on its side."""
    if any(map(is_complex, entries)):
        raise KernelError("the largest of complex numbers, which have no order", code="not-real")
    if any(isinstance(x, Taylor) for x in entries):
        return maximum_of_series(entries)
    return max(entries) if all(isinstance(x, fmpq) for x in entries) else reduce(lambda a, b: a.max(b), map(arb, entries))


def maximum_of_series(entries: list) -> Any:
    """Return the largest series on one side of the point: of two, the one whose first differing coefficient is larger."""
    best = entries[0]
    for x in entries[1:]:
        difference = x - best
        if not isinstance(difference, Taylor):
            best = x if certainly_differ(difference, to_fmpq(0)) and difference > 0 else best
        elif not all(isinstance(c, fmpq) and c == 0 for c in difference.c):
            best = x if difference.c[difference.leading_place()] > 0 else best
    return best


def enclose(numbers: list) -> Any:
    """Return a ball that contains all the numbers."""
    first, *rest = (x if isinstance(x, acb) else arb(x) for x in numbers)
    for x in rest:
        first = first.union(x)
    return first


def determinant(entries: dict, n: int) -> Any:
    """Return the determinant of an n by n matrix by Laplace expansion."""
    if n == 1:
        return entries[0, 0]

    def minor(j: int) -> dict:
        return {(i - 1, k - (k > j)): entries[i, k] for i in range(1, n) for k in range(n) if k != j}

    return sum(((-1) ** j * entries[0, j] * determinant(minor(j), n - 1) for j in range(n)), to_fmpq(0))


def round_to(x: Any, format_: str, unbounded: bool = False):
    """Return the nearest number of a binary format, ties to even, subnormal numbers included (IEEE 754, 4.3.1). Raise Undefined on
    overflow.

    `unbounded` removes the limits of the exponent.
    """
    if not isinstance(x, fmpq):
        raise KernelError("rounding is evaluated at rational numbers only", code="not-settled")
    bits, lowest, largest = FORMATS[format_]
    x = to_fraction(x)
    if not x:
        return to_fmpq(0)
    exponent = 0
    while abs(x) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(x) < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** (exponent - bits + 1 if unbounded else max(exponent - bits + 1, lowest))
    result = round(x / step) * step  # Python rounds a Fraction half to even
    if abs(result) > largest and not unbounded:
        raise Undefined("an overflow")
    return to_fmpq(result)


def average(values: list) -> Any:
    """Return the arithmetic mean."""
    return divide(sum(values, to_fmpq(0)), to_fmpq(len(values)))
