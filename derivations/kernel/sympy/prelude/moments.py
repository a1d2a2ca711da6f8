"""Expectations from stated moments. Unknown moments are symbols, and independence is used only where it is stated."""

from __future__ import annotations

import sympy as sp

from .outcome import Fails, NotSettled
from .tensors import tensor


class Moments:
    """The assumptions about random numbers, and expectations over them. All entries with one name have the same distribution."""

    def __init__(self, mean=None, variance=None, exists=None, independent=(), gaussian=(), bits=()):
        self.mean = {name: sp.sympify(m) for name, m in (mean or {}).items()}
        self.variance = {name: sp.sympify(v) for name, v in (variance or {}).items()}
        self.exists = exists or {}
        self.independent, self.gaussian, self.bits, self.names = independent, gaussian, bits, {}
        for name, value in self.variance.items():
            if value.is_negative:
                raise Fails(f"the variance of {name} is stated to be {value}, which is negative")

    def random(self, name: str, *shape):
        """Return a random number, vector, matrix or tensor, with a symbol for each entry."""
        made = tensor(name, *shape) if shape else sp.Symbol(name, real=True)
        self.names |= dict.fromkeys(made.free_symbols, name)
        return made

    def E(self, body):
        """Return the expectation over every random entry."""
        body = sp.expand(body)
        return body if body.free_symbols.isdisjoint(self.names) else self.entry_mean(body)

    def split_by_bits(self, body):
        """Return body with f(u) written as (1 - u) f(0) + u f(1) for each entry u that is 0 or 1."""
        for s in sorted((s for s in body.free_symbols if self.names.get(s) in self.bits), key=str):
            zero, one = body.xreplace({s: sp.Integer(0)}), body.xreplace({s: sp.Integer(1)})
            body = sp.expand(zero + s * (one - zero))
        return body

    def Var(self, body):
        """Return E[x^2] - E[x]^2."""
        return self.E(sp.expand(body**2)) - self.E(body) ** 2

    def need_independence(self, *bodies):
        """Raise Fails unless all entries in the bodies are stated to be independent."""
        names = {self.names[s] for body in bodies for s in body.free_symbols if s in self.names}
        if not any(names <= group for group in self.independent):
            raise Fails(f"the independence of the entries of {', '.join(sorted(names))} is used but not stated")

    def entry_mean(self, body):
        """Return the expectation over the entries in body, from moments of monomials or from Gaussian integrals."""
        body = self.split_by_bits(body)
        entries = sorted((s for s in body.free_symbols if s in self.names), key=str)
        if any(not f.free_symbols.isdisjoint(entries) for f in body.atoms(sp.exp)):
            if len(entries) > 1 and not (isinstance(body, sp.Add) and all(len(t.free_symbols & set(entries)) < 2 for t in body.args)):
                self.need_independence(body)
            return self.exponential_mean(body, entries)
        if not entries:
            return body
        if not body.is_polynomial(*entries):
            raise NotSettled(f"the expectation of {body}, which is neither a polynomial nor an exponential")
        return sp.Add(*(c * self.monomial_mean(entries, powers) for powers, c in sp.Poly(body, *entries).terms()))

    def exponential_mean(self, body, entries):
        """Raise NotSettled, since this class does not integrate."""
        raise NotSettled(f"the expectation of {body}, an exponential, at small sizes")

    def monomial_mean(self, entries, powers):
        """Return a product of moments if the entries are independent, else a symbol. It exists if each has a moment of the total order."""
        names = {self.names[s] for s, r in zip(entries, powers) if r}
        if sum(map(bool, powers)) > 1 and not any(names <= group for group in self.independent):
            unbounded = {s: r for s, r in zip(entries, powers) if r and self.names[s] not in self.bits}
            for name in sorted({self.names[s] for s in unbounded}):
                self.entry_moment(name, sum(unbounded.values()))
            return sp.Symbol(f"mean of {sp.Mul(*(s**r for s, r in zip(entries, powers)))}", real=True)
        return sp.Mul(*(self.entry_moment(self.names[s], r) for s, r in zip(entries, powers)))

    def highest(self, name: str):
        """Return the highest order for which a moment is known to exist. Then the lower ones exist, too."""
        known = [self.exists.get(name, 0), int(name in self.mean), 2 * int(name in self.variance)]
        return sp.oo if name in self.gaussian or name in self.bits else max(known)

    def entry_moment(self, name: str, r: int):
        """Return E[x^r] for an entry x."""
        if r == 0:
            return sp.Integer(1)
        if r > self.highest(name):
            raise Fails(f"the moment of order {r} of {name} is taken, and nothing stated says that there is one")
        m = self.mean.get(name, sp.Symbol(f"first moment of {name}", real=True))
        if name in self.bits:  # every power of 0 or 1 is itself
            return m
        v = self.variance.get(name, sp.Symbol(f"second moment of {name}", real=True) - m**2)
        if r == 1:
            return m
        if r == 2:
            return v + m**2
        if name in self.gaussian:
            t = sp.Symbol("t")
            return sp.expand(sp.diff(sp.exp(m * t + v * t**2 / 2), t, r).subs(t, 0))
        return sp.Symbol(f"moment {r} of {name}", real=True)
