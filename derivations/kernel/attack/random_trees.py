"""Grow small random trees over a fixed set of names, from a seeded generator."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from ..core.constructors import (
    E,
    Var,
    absolute,
    array,
    diff,
    each,
    exp,
    eye,
    function,
    index,
    log,
    matrix,
    ones,
    random,
    rounded,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
    where,
)
from ..core.expr import Condition, Expr, lift
from ..core.number_formats import FORMATS

n, m = sizes("n m")
i, j, l, r = index("i", n), index("j", n), index("l", m), index("r", m)
x, y, c, t = scalars("x y c t")
u, v, w = vector("u", n), vector("v", n), vector("w", m)
A, B, C, S = matrix("A", n, m), matrix("B", m, n), matrix("C", n, m), matrix("S", n, n)
q, k, g = random("q", n), random("k", n), random("g")

SCALARS, SIZES, INDICES = (x, y, c, t), (n, m), (i, j, l, r)
TENSORS = {(n,): (u, v), (m,): (w,), (n, m): (A, C), (m, n): (B,), (n, n): (S,), (m, m): ()}


class Grower:
    """A generator of random trees whose leaves are the names above.

    `features` say which operators and leaves may occur; `indices` are the indices that a scalar may leave free.
    """

    def __init__(self, generator: Random, features: frozenset = frozenset(), indices: tuple = ()):
        self.generator, self.features, self.open = generator, features, indices

    def has(self, *features: str) -> bool:
        """Return whether the tree may have one of these features."""
        return any(f in self.features for f in features)

    def chance(self, share: float) -> bool:
        """Return True with this probability."""
        return self.generator.random() < share

    def number(self) -> Expr:
        """Return a random number: an integer, or a half where the features allow fractions."""
        g = self.generator
        return lift(Fraction(g.choice((1, 2, 3, 5, -1, -2)), 2 if self.has("fractions") and g.random() < 0.3 else 1))

    def leaf(self, scope: tuple) -> Expr:
        """Return a random number, name, size or entry; `scope` are the indices that may occur in it."""
        found = [g for g in (self.entry(scope),) if g is not None]
        g = self.generator
        if self.has("random"):
            return g.choice([q[1], k[1], globals()["g"], *(q[a] for a in scope if a.data[1] == n)])
        if found and g.random() < 0.5:
            return found[0]
        if g.random() < 0.2:
            return self.number()
        if self.has("sizes") and g.random() < 0.25:
            return g.choice(SIZES)
        return g.choice(SCALARS if self.has("scalars") else SCALARS[:2])

    def entry(self, scope: tuple) -> Expr | None:
        """Return a random entry of a tensor at indices in scope, or at 1; None without the feature "tensors"."""
        if not self.has("tensors"):
            return None
        g = self.generator
        tensor = g.choice((u, v, w, A, B, S))
        at = [g.choice([a for a in scope if a.data[1] == s] or [lift(1)]) for s in tensor.shape]
        return tensor[tuple(at)]

    def scalar(self, depth: int, scope: tuple | None = None) -> Expr:
        """Return a random scalar tree of at most this depth, up to the leaves of some operators."""
        scope = self.open if scope is None else scope
        if depth <= 0 or self.chance(0.1):
            return self.leaf(scope)
        makers = [self.plus, self.plus, self.times, self.times, self.square]
        features = (
            "div",
            "exp",
            "log",
            "abs",
            "sqrt",
            "sum",
            "each",
            "dot",
            "softmax",
            "diff",
            "rounded",
            "delta",
            "moment",
            "largest",
            "where",
        )
        for feature in features:
            if feature in self.features:
                makers += [getattr(self, "of_" + feature)] * 2
        return self.generator.choice(makers)(depth - 1, scope)

    def plus(self, depth: int, scope: tuple) -> Expr:
        a, b = self.scalar(depth, scope), self.scalar(depth, scope)
        return a - b if self.chance(0.3) else a + b

    def times(self, depth: int, scope: tuple) -> Expr:
        return self.scalar(depth, scope) * self.scalar(depth - 1, scope)

    def square(self, depth: int, scope: tuple) -> Expr:
        return self.scalar(depth, scope) ** self.generator.choice((2, 2, 3))

    def of_div(self, depth: int, scope: tuple) -> Expr:
        divisors = [lift(2), c, *([x] if self.has("positive") else []), *([n] if self.has("sizes") else [])]
        return self.scalar(depth, scope) / self.generator.choice(divisors)

    def of_exp(self, depth: int, scope: tuple) -> Expr:
        return exp(self.scalar(min(depth, 1), scope))

    def of_log(self, depth: int, scope: tuple) -> Expr:
        return log(self.generator.choice((x, x**2, 2 * x, x * exp(y), 1 + y**2)))

    def of_abs(self, depth: int, scope: tuple) -> Expr:
        return absolute(self.scalar(depth, scope))

    def of_sqrt(self, depth: int, scope: tuple) -> Expr:
        return sqrt(self.generator.choice((x, x**2, y**2, 2 * x, *([n] if self.has("sizes") else []))))

    def of_sum(self, depth: int, scope: tuple) -> Expr:
        free = [a for a in INDICES if a not in scope]
        if not free:
            return self.plus(depth, scope)
        over = self.generator.choice(free)
        return total(self.scalar(depth, (*scope, over)), over)

    def of_each(self, depth: int, scope: tuple) -> Expr:
        """Return an entry of a vector given entry by entry. The bound index may also occur outside, where it is a different one."""
        over = self.generator.choice(INDICES)
        at = self.generator.choice([a for a in scope if a.data[1] == over.data[1]] or [lift(1)])
        return each(self.scalar(depth, (*(a for a in scope if a != over), over)), over)[at]

    def of_dot(self, depth: int, scope: tuple) -> Expr:
        s = self.generator.choice(SIZES)
        return self.tensor((s,), depth) @ self.tensor((s,), depth)

    def of_softmax(self, depth: int, scope: tuple) -> Expr:
        at = self.generator.choice([a for a in scope if a.data[1] == n] or [lift(1)])
        return softmax(self.tensor((n,), min(depth, 1)))[at]

    def of_diff(self, depth: int, scope: tuple) -> Expr:
        at = self.generator.choice([a for a in scope if a.data[1] == n] or [lift(1)])
        return diff(self.scalar(depth, scope), self.generator.choice((x, x, y, *([u[at]] if self.has("tensors") else []))))

    def of_largest(self, depth: int, scope: tuple) -> Expr:
        entries = self.tensor((self.generator.choice(SIZES),), min(depth, 1))
        few = array([self.leaf(scope) for _ in range(self.generator.choice((1, 2, 2, 3)))])
        scaled = self.generator.choice((x, c, -1, y**2)) * entries
        shifted = entries + self.leaf(scope) * ones(*entries.shape)
        return function("largest", self.generator.choice((entries, entries, few, scaled, shifted, exp(entries))))

    def of_rounded(self, depth: int, scope: tuple) -> Expr:
        return rounded(self.scalar(min(depth, 1), scope), self.generator.choice(("fp32", "fp32", *FORMATS)))

    def of_delta(self, depth: int, scope: tuple) -> Expr:
        rows = [a for a in scope if a.data[1] == n]
        return (eye(n)[self.generator.choice(rows), self.generator.choice(rows)] if rows else lift(1)) * self.scalar(depth, scope)

    def condition(self, scope: tuple) -> Condition:
        """Return a random comparison of an index in scope with another position."""
        g = self.generator
        left = g.choice([a for a in scope if a.data[1] == n] or [lift(1)])
        right = g.choice([*(a for a in scope if a != left), *SIZES, lift(2)])
        shift = g.choice((0, 0, 0, 1, -1, *([m] if right not in SIZES else [])))
        right = right if isinstance(shift, int) and not shift else right + shift
        return g.choice((left <= right, left < right, right <= left, right < left))

    def of_where(self, depth: int, scope: tuple) -> Expr:
        """Return a scalar under a condition, most often in a sum."""
        free = [a for a in INDICES if a not in scope]
        if not free or self.chance(0.2):
            return where(self.scalar(depth, scope), self.condition(scope))
        over = self.generator.choice(free)
        inner = (*scope, over)
        return total(self.scalar(depth, inner), over, where=[self.condition(inner) for _ in range(self.generator.choice((1, 1, 2)))])

    def of_moment(self, depth: int, scope: tuple) -> Expr:
        return self.generator.choice((E, Var))(self.scalar(depth, scope))

    def tensor(self, shape: tuple, depth: int) -> Expr:
        """Return a random vector or matrix of this shape."""
        g, named = self.generator, TENSORS[shape]
        if depth <= 0 and named:
            return g.choice(named)
        makers = [
            lambda: self.tensor(shape, depth - 1) + self.tensor(shape, depth - 1),
            lambda: self.leaf(()) * self.tensor(shape, depth - 1),
        ]
        if len(shape) == 2:
            s = g.choice(SIZES)
            makers = [
                *makers * (depth > 0),
                lambda: self.tensor((shape[0], s), depth - 1) @ self.tensor((s, shape[1]), depth - 1),
                lambda: self.tensor(shape[::-1], depth - 1).T if TENSORS[shape[::-1]] else eye(shape[0]),
            ]
        else:
            s = g.choice(SIZES)
            makers += [lambda: self.tensor((shape[0], s), depth - 1) @ self.tensor((s,), depth - 1), lambda: ones(*shape)]
        if self.has("each"):
            over = [g.choice([a for a in INDICES if a.data[1] == size]) for size in shape]
            makers += [lambda: each(self.scalar(depth - 1, tuple(over)), *over)] * 3 * (len(set(over)) == len(over))
        return g.choice(makers)()
