"""Read a float of the code as the simple number nearest to it: a fraction, or the root of one."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isfinite, sqrt

from ..core.constructors import sqrt as root
from ..core.expr import Expr, lift
from .errors import NotRead

MAX_EXACT_DENOMINATOR = 64  # a float with such a denominator is read as the number that it holds
MAX_DENOMINATOR = 1000  # of the fractions that are tried
MAX_DIGITS = 12  # of a decimal fraction


class FloatConstants:
    """Reads floats, and records in `read` those that were read as a number other than the one they hold."""

    def __init__(self) -> None:
        self.read: dict[str, str] = {}

    def tree(self, x: float) -> Expr:
        """Return a float as a tree: a simple number that rounds to it, or else the number that it holds."""
        if not isfinite(x):
            raise NotRead(f"the number {x}")
        held = Fraction(x)
        if held.denominator <= MAX_EXACT_DENOMINATOR or held.denominator == 1:
            return lift(held)
        for near, tree, text in candidates(x):
            if near == x:
                self.read[repr(x)] = text
                return tree
        return lift(held)


def candidates(x: float) -> Iterator[tuple[float, Expr, str]]:
    """Yield (a float, a number that rounds to it, the text of that number), simple numbers first."""
    written = Fraction(repr(x))
    if len(repr(x).replace("e-0", "").lstrip("-0.")) <= MAX_DIGITS:
        yield float(written), lift(written), str(written)
    near = Fraction(x).limit_denominator(MAX_DENOMINATOR)
    yield float(near), lift(near), str(near)
    square = Fraction(x * x).limit_denominator(MAX_DENOMINATOR)
    if square > 0:
        sign = -1 if x < 0 else 1
        for value in (sqrt(square), 1 / sqrt(1 / square), sqrt(square.numerator) / sqrt(square.denominator)):
            yield sign * value, lift(sign) * root(lift(square)), f"{'-' * (sign < 0)}sqrt({square})"
