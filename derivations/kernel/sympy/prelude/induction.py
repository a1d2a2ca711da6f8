"""Laws of expectation for every size at once: the moments of a sum of n independent terms follow from those of n - 1 terms."""

from __future__ import annotations

from itertools import product

import sympy as sp

from .gaussian_means import absolute_values, gaussian_mean, linear
from .moments import Moments
from .outcome import Fails, NotSettled, quiet
from .zero_test import away_from_zero, left_over, vanishes


class Sums(Moments):
    """Expectations of polynomials or exponentials of sums over one dimension. A sum is a symbol with a known increment."""

    def __init__(self, **known):
        super().__init__(**known)
        self.sums, self.found = {}, {}

    def sum(self, increment, size):
        """Return the sum of `size` independent copies of the increment. If it is not random, this is a multiple of it."""
        increment = sp.sympify(increment)
        if increment.free_symbols.isdisjoint(self.names):
            return increment * size
        for s, known in self.sums.items():
            if known == (increment, size):
                return s
        s = sp.Symbol(f"sum {len(self.sums)}", real=True)
        self.sums[s] = increment, size
        return s

    def E(self, body):
        """Return the expectation over every random entry."""
        body = sp.sympify(body)
        used = [s for s in self.sums if s in body.free_symbols]
        loose = not body.free_symbols.isdisjoint(self.names)
        if not used:
            return self.entry_mean(body) if loose else body
        if loose or len({self.sums[s][1] for s in used}) > 1:
            raise NotSettled("sums over different dimensions in one expectation")
        size = self.sums[used[0]][1]
        if body.has(sp.exp):
            return self.expect_exponential(body, used, size)
        if not body.is_polynomial(*used):
            raise NotSettled(f"the expectation of {body}, which is neither a polynomial nor an exponential")
        polynomial = sp.Poly(sp.expand(body), *used)
        return sp.expand(sum(c * self.moment(dict(zip(used, powers)), size) for powers, c in polynomial.terms()))

    def entry_E(self, body):
        """Return the expectation of one summand."""
        return self.entry_mean(sp.expand(body))

    def entry_Var(self, body):
        """Return the variance of one summand."""
        return self.entry_mean(sp.expand(body**2)) - self.entry_E(body) ** 2

    def exponential_mean(self, body, entries):
        """Integrate over one Gaussian number after another. This requires that the mean of the absolute value exists (Fubini)."""
        for size in absolute_values(body, entries):
            self.integrated(size, entries)
        return self.integrated(body, entries)

    def integrated(self, body, entries):
        """Return body, integrated over each of the entries. Raise NotSettled if a distribution is not stated."""
        for s in entries:
            name = self.names[s]
            if name not in self.gaussian:
                raise NotSettled(f"the distribution of {name} is not stated")
            if name not in self.mean or name not in self.variance:
                raise NotSettled(f"the mean or the variance of {name} is not stated")
            body = gaussian_mean(body, s, self.mean[name], self.variance[name])
        return body

    def moment(self, powers: dict, size):
        """Return E[prod of sums^power] at every size, by solving the recurrence in the size."""
        t = sp.Symbol("t", integer=True, nonnegative=True)
        return self._moment(tuple(sorted(powers.items(), key=str)), t).subs(t, size)

    def _moment(self, powers: tuple, t):
        if (powers, t) not in self.found:
            self.found[powers, t] = self.recurrence(powers, t) if any(p for _, p in powers) else sp.Integer(1)
        return self.found[powers, t]

    def recurrence(self, powers: tuple, t):
        """Return the sum of the increments that each further term adds to the moment."""
        step = 0
        for taken in product(*(range(p + 1) for _, p in powers)):
            if not any(taken):
                continue
            ways = sp.prod([sp.binomial(p, j) for (_, p), j in zip(powers, taken)])
            increment = sp.prod([self.sums[s][0] ** j for (s, _), j in zip(powers, taken)])
            rest = tuple((s, p - j) for (s, p), j in zip(powers, taken))
            if any(p for _, p in rest):
                self.need_independence(*(self.sums[s][0] for s, _ in powers))
            step += ways * self._moment(rest, t) * self.entry_E(increment)
        u = sp.Symbol("u", integer=True, nonnegative=True)
        return sp.expand(sp.summation(sp.expand(step).subs(t, u), (u, 0, t - 1)))

    def expect_exponential(self, body, used, size):
        """Return E[exp(c S)] = E[exp(c x)]^n for a sum S of n independent copies of x."""
        if body.func is not sp.exp or len(used) != 1:
            raise NotSettled("an expectation of an exponential times something else")
        (s,) = used
        self.need_independence(self.sums[s][0])
        slope, rest = linear(body.args[0], s) or (0, body)
        if rest != 0:
            raise NotSettled("the expectation of an exponential that is not linear in the sum")
        return self.entry_mean(sp.exp(slope * self.sums[s][0])) ** size


def zero_of_law(difference) -> bool:
    """Return whether a difference of moments becomes 0, also after powers of exponentials are combined."""
    if away_from_zero(difference):
        return False
    return vanishes(difference) or sp.simplify(sp.powsimp(sp.powdenest(difference, force=False))) == 0


def law(claim, reasons, tell=quiet):
    """Check every step, with every size a symbol."""
    by_induction = False
    for (k, left, right, known), reason in zip(claim(), reasons, strict=True):
        difference = sp.sympify(left - right)
        if not zero_of_law(difference):
            raise Fails(f"step {k}: {left_over(difference)}")
        by_induction = bool(known.sums)
        tell(f"step {k}{': ' * bool(reason)}{reason} ... holds")
    if by_induction:
        return "proved", "induction", "moments by induction on the dimension"
    return "proved", "every value", "by integration"
