"""A float of the code as the number that it is nearest to: a fraction, or a root of one."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite, sqrt

from ..core.expr import Expr, lift
from ..core.expr import sqrt as root
from .errors import NotRead

FEW, MOST = 64, 1000  # denominators that are read as they are, and of what is looked for
DIGITS = 12  # of a decimal fraction


class Constants:
    """The floats that were read as another number than the one they hold, and as which."""

    def __init__(self) -> None:
        self.read: dict[str, str] = {}

    def tree(self, x: float) -> Expr:
        if not isfinite(x):
            raise NotRead(f"the number {x}")
        held = Fraction(x)
        if held.denominator <= FEW or held.denominator == 1:
            return lift(held)
        for near, made, shown in candidates(x):
            if near == x:
                self.read[repr(x)] = shown
                return made
        return lift(held)


def candidates(x: float):
    """(a float, the number that it is read as, that in words): what is simple first."""
    written = Fraction(repr(x))
    if len(repr(x).replace("e-0", "").lstrip("-0.")) <= DIGITS:
        yield float(written), lift(written), str(written)
    near = Fraction(x).limit_denominator(MOST)
    yield float(near), lift(near), str(near)
    square = Fraction(x * x).limit_denominator(MOST)
    if square > 0:
        sign = -1 if x < 0 else 1
        for value in (sqrt(square), 1 / sqrt(1 / square), sqrt(square.numerator) / sqrt(square.denominator)):
            yield sign * value, lift(sign) * root(lift(square)), f"{'-' * (sign < 0)}sqrt({square})"
