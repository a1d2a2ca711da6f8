"""Truncated power series with exact coefficients: what an expression is near a point, so that its slope there can be told.

A series is what is known of f(point + h): its first coefficients, as many as there are. Where a root or a modulus has a corner, f has
no such series, and that is said. Coefficients are rationals or rigorous balls; of a ball that may be 0 nothing is concluded.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

from flint import fmpq

from ..errors import KernelError

ORDER = 6


class Corner(Exception):
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
        return Taylor([total(a[j] * b[k - j] for j in range(k + 1)) for k in range(min(len(a), len(b)))])

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
            q.append(divide(a[k] - total(b[j] * q[k - j] for j in range(1, k + 1)), b[0]))
        return Taylor(q)

    def slope(self) -> Taylor:
        if len(self.c) < 2:
            raise KernelError("a derivative of which too little is known is not settled")
        return Taylor([k * x for k, x in enumerate(self.c)][1:])

    def exponential(self, exp: Callable) -> Taylor:
        e = [exp(self.c[0])]
        for n in range(1, len(self.c)):
            e.append(total(j * self.c[j] * e[n - j] for j in range(1, n + 1)) / n)
        return Taylor(e)

    def logarithm(self, log: Callable) -> Taylor:
        c, found = self.c, [log(self.c[0])]
        for n in range(1, len(c)):
            found.append((n * c[n] - total(j * found[j] * c[n - j] for j in range(1, n))) / (n * c[0]))
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

    def absolute(self) -> Taylor:
        k = self.leading()
        if k % 2:
            return flat(k, "an absolute value has a corner")
        return self if self.c[k] > 0 else -self

    def root(self, exponent: Any, power: Callable) -> Taylor:
        """A power that is not whole; `power` takes it of a number that is positive."""
        k = self.leading()
        if k % 2 or self.c[k] < 0:
            raise Corner("a root is taken of what is negative near by")
        times = k * exponent if k else fmpq(0)
        if not isinstance(times, fmpq) or times.q != 1 or times.p % 2:
            return flat(times, "a root has no slope where it is taken of 0")
        c, shift = self.c[k:], int(times.p)
        found = [power(c[0])]
        for n in range(1, len(c)):
            found.append(total((exponent * j - (n - j)) * c[j] * found[n - j] for j in range(1, n + 1)) / (n * c[0]))
        if shift < 0:
            raise Corner("something is divided by zero")
        return Taylor([fmpq(0)] * shift + found)


def total(numbers: Any) -> Any:
    return sum(numbers, fmpq(0))


def flat(order: Any, why: str) -> Taylor:
    """What is as small as |h| to this power: nothing but zeros is known of it below that."""
    if not order > 1:
        raise Corner(why)
    return Taylor([fmpq(0)] * ceil(float(order)))
