"""Truncated power series with exact coefficients: the behavior of an expression near a point, from which derivatives are computed.

A series describes f on one side of a point: f(point + t^q) or f(point - t^q) for small t > 0, by its first coefficients in t. On one side
a modulus has a series, with the sign of the leading term of its argument, and so has a root, if q makes all exponents whole. A derivative
exists if both sides agree. Coefficients are rationals or rigorous balls; nothing is concluded from a ball that may be 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import fmpq

from ..errors import KernelError

NUMBER_OF_COEFFICIENTS = 6


class NoDerivative(Exception):
    """There is no derivative here, with the reason."""


class Taylor:
    """A power series given by its first coefficients."""

    def __init__(self, coefficients: list):
        self.c = list(coefficients)

    def __add__(self, other: Any) -> Taylor:
        a, b = self.align(other)
        return Taylor([x + y for x, y in zip(a, b)])

    def __sub__(self, other: Any) -> Taylor:
        return self + -other

    def __rsub__(self, other: Any) -> Taylor:
        return -self + other

    def __neg__(self) -> Taylor:
        return Taylor([-x for x in self.c])

    def __mul__(self, other: Any) -> Taylor:
        a, b = self.align(other)
        return Taylor([sum_numbers(a[j] * b[k - j] for j in range(k + 1)) for k in range(min(len(a), len(b)))])

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, n: int) -> Taylor:
        result = Taylor([fmpq(1)] + [fmpq(0)] * (len(self.c) - 1))
        for _ in range(n):
            result = result * self
        return result

    def align(self, other: Any) -> tuple[list, list]:
        """Return the coefficients of both operands; a number is a constant series."""
        return self.c, other.c if isinstance(other, Taylor) else [other] + [fmpq(0)] * (len(self.c) - 1)

    def divide_by(self, other: Any, divide: Callable) -> Taylor:
        """Return the quotient. `divide` divides two numbers and raises an error if the quotient is undefined."""
        a, b = self.align(other)
        q: list = []
        for k in range(min(len(a), len(b))):
            q.append(divide(a[k] - sum_numbers(b[j] * q[k - j] for j in range(1, k + 1)), b[0]))
        return Taylor(q)

    def derivative(self, step: Any) -> Taylor:
        """Return the derivative of f, given f(point + step) with a step of t^q or -t^q."""
        q = step.leading_place()
        if len(self.c) <= q:
            raise KernelError("a derivative of which too little is known is not settled", code="not-settled")
        for x in self.c[1:q]:
            if x > 0 or x < 0:
                raise NoDerivative("a root is infinitely steep where it is taken of 0")
            if not isinstance(x, fmpq):
                raise KernelError("whether something is as steep as a root of 0 is not settled", code="not-settled")
        return Taylor([fmpq(k, q) * x / step.c[q] for k, x in enumerate(self.c)][q:])

    def exponential(self, exp: Callable) -> Taylor:
        """Return the exponential; `exp` computes it for a number."""
        e = [exp(self.c[0])]
        for n in range(1, len(self.c)):
            e.append(sum_numbers(j * self.c[j] * e[n - j] for j in range(1, n + 1)) / n)
        return Taylor(e)

    def logarithm(self, log: Callable) -> Taylor:
        """Return the logarithm; `log` computes it for a number."""
        c, result = self.c, [log(self.c[0])]
        for n in range(1, len(c)):
            result.append((n * c[n] - sum_numbers(j * result[j] * c[n - j] for j in range(1, n))) / (n * c[0]))
        return Taylor(result)

    def leading_place(self) -> int:
        """Return the position of the first coefficient that is not 0. Raise KernelError if that is not settled."""
        for k, x in enumerate(self.c):
            if isinstance(x, fmpq) and x == 0:
                continue
            if x > 0 or x < 0:
                return k
            break
        raise KernelError("what lies near a point is not settled by the first coefficients", code="not-settled")

    def cos_and_sin(self, cos: Callable, sin: Callable) -> tuple[Taylor, Taylor]:
        """Return (cosine, sine); each is the derivative of the other, up to sign."""
        c, s = [cos(self.c[0])], [sin(self.c[0])]
        for n in range(1, len(self.c)):
            c.append(-sum_numbers(j * self.c[j] * s[n - j] for j in range(1, n + 1)) / n)
            s.append(sum_numbers(j * self.c[j] * c[n - j] for j in range(1, n + 1)) / n)
        return Taylor(c), Taylor(s)

    def hyperbolic_tangent(self, tanh: Callable) -> Taylor:
        """Return the hyperbolic tangent, whose derivative is 1 - tanh^2."""
        result = [tanh(self.c[0])]
        for n in range(1, len(self.c)):
            derivative = (Taylor(result) * Taylor([-x for x in result]) + 1).c
            result.append(sum_numbers(j * self.c[j] * derivative[n - j] for j in range(1, n + 1)) / n)
        return Taylor(result)

    def absolute(self) -> Taylor:
        """Return the modulus."""
        return self if self.c[self.leading_place()] > 0 else -self

    def root(self, exponent: Any, power: Callable) -> Taylor:
        """Return a fractional power; `power` computes it for a positive number. Raise NoDerivative if it is not defined near the point."""
        k = self.leading_place()
        if self.c[k] < 0:
            raise NoDerivative("a root is taken of what is negative near by")
        new_exponent = k * exponent if k else fmpq(0)
        if not isinstance(new_exponent, fmpq) or new_exponent.q != 1:
            raise KernelError("a slope where a power is taken of 0 is not settled", code="not-settled")
        c, shift = self.c[k:], int(new_exponent.p)
        result = [power(c[0])]
        for n in range(1, len(c)):
            result.append(sum_numbers((exponent * j - (n - j)) * c[j] * result[n - j] for j in range(1, n + 1)) / (n * c[0]))
        if shift < 0:
            raise NoDerivative("something is divided by zero")
        return Taylor([fmpq(0)] * shift + result)


def sum_numbers(numbers: Any) -> Any:
    return sum(numbers, fmpq(0))
