"""Truncated power series with exact coefficients: what an expression is near a point, so that its slope there can be told.

A series is what is known of f on one side of a point: of f(point + t^q) or f(point - t^q) for small t > 0, its first coefficients in t, as many
as there are. So a modulus has a series, with the sign of what leads inside of it, and so has a root, with a q by which all exponents are whole.
Whether there is a slope is seen by comparing both sides. Coefficients are rationals or rigorous balls; of a ball that may be 0 nothing is concluded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import fmpq

from ..errors import KernelError

ORDER = 6


class NoSlope(Exception):
    """There is no slope here, and why."""


class Taylor:
    """The first coefficients of a series."""

    def __init__(self, coefficients: list):
        self.c = list(coefficients)

    def __add__(self, other: Any) -> Taylor:
        a, b = self.beside(other)
        return Taylor([x + y for x, y in zip(a, b)])

    def __sub__(self, other: Any) -> Taylor:
        return self + -other

    def __rsub__(self, other: Any) -> Taylor:
        return -self + other

    def __neg__(self) -> Taylor:
        return Taylor([-x for x in self.c])

    def __mul__(self, other: Any) -> Taylor:
        a, b = self.beside(other)
        return Taylor([sum_numbers(a[j] * b[k - j] for j in range(k + 1)) for k in range(min(len(a), len(b)))])

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, n: int) -> Taylor:
        result = Taylor([fmpq(1)] + [fmpq(0)] * (len(self.c) - 1))
        for _ in range(n):
            result = result * self
        return result

    def beside(self, other: Any) -> tuple[list, list]:
        return self.c, other.c if isinstance(other, Taylor) else [other] + [fmpq(0)] * (len(self.c) - 1)

    def over(self, other: Any, divide: Callable) -> Taylor:
        """The quotient; `divide` divides numbers, and knows what is not defined."""
        a, b = self.beside(other)
        q: list = []
        for k in range(min(len(a), len(b))):
            q.append(divide(a[k] - sum_numbers(b[j] * q[k - j] for j in range(1, k + 1)), b[0]))
        return Taylor(q)

    def slope(self, step: Any) -> Taylor:
        """The slope of f, where it is known of f(point + step) with a step of t^q or -t^q."""
        q = step.leading()
        if len(self.c) <= q:
            raise KernelError("a derivative of which too little is known is not settled")
        for x in self.c[1:q]:
            if x > 0 or x < 0:
                raise NoSlope("a root is infinitely steep where it is taken of 0")
            if not isinstance(x, fmpq):
                raise KernelError("whether something is as steep as a root of 0 is not settled")
        return Taylor([fmpq(k, q) * x / step.c[q] for k, x in enumerate(self.c)][q:])

    def exponential(self, exp: Callable) -> Taylor:
        e = [exp(self.c[0])]
        for n in range(1, len(self.c)):
            e.append(sum_numbers(j * self.c[j] * e[n - j] for j in range(1, n + 1)) / n)
        return Taylor(e)

    def logarithm(self, log: Callable) -> Taylor:
        c, found = self.c, [log(self.c[0])]
        for n in range(1, len(c)):
            found.append((n * c[n] - sum_numbers(j * found[j] * c[n - j] for j in range(1, n))) / (n * c[0]))
        return Taylor(found)

    def leading(self) -> int:
        """The place of the first coefficient that is not 0."""
        for k, x in enumerate(self.c):
            if isinstance(x, fmpq) and x == 0:
                continue
            if x > 0 or x < 0:
                return k
            break
        raise KernelError("what lies near a point is not settled by the first coefficients")

    def wave(self, cos: Callable, sin: Callable) -> tuple[Taylor, Taylor]:
        """(cosine, sine): each is the other's slope, but for a sign."""
        c, s = [cos(self.c[0])], [sin(self.c[0])]
        for n in range(1, len(self.c)):
            c.append(-sum_numbers(j * self.c[j] * s[n - j] for j in range(1, n + 1)) / n)
            s.append(sum_numbers(j * self.c[j] * c[n - j] for j in range(1, n + 1)) / n)
        return Taylor(c), Taylor(s)

    def tangent(self, tanh: Callable) -> Taylor:
        """The hyperbolic tangent, whose slope is 1 less its square."""
        found = [tanh(self.c[0])]
        for n in range(1, len(self.c)):
            slopes = (Taylor(found) * Taylor([-x for x in found]) + 1).c
            found.append(sum_numbers(j * self.c[j] * slopes[n - j] for j in range(1, n + 1)) / n)
        return Taylor(found)

    def absolute(self) -> Taylor:
        return self if self.c[self.leading()] > 0 else -self

    def root(self, exponent: Any, power: Callable) -> Taylor:
        """A power that is not whole; `power` takes it of a number that is positive."""
        k = self.leading()
        if self.c[k] < 0:
            raise NoSlope("a root is taken of what is negative near by")
        times = k * exponent if k else fmpq(0)
        if not isinstance(times, fmpq) or times.q != 1:
            raise KernelError("a slope where a power is taken of 0 is not settled")
        c, shift = self.c[k:], int(times.p)
        found = [power(c[0])]
        for n in range(1, len(c)):
            found.append(sum_numbers((exponent * j - (n - j)) * c[j] * found[n - j] for j in range(1, n + 1)) / (n * c[0]))
        if shift < 0:
            raise NoSlope("something is divided by zero")
        return Taylor([fmpq(0)] * shift + found)


def sum_numbers(numbers: Any) -> Any:
    return sum(numbers, fmpq(0))
