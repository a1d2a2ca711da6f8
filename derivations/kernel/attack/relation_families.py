"""Families of random inequalities, refutations, limits and bounds on ranks."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

from ..core.assumptions import in_range, nonnegative, nonzero, positive
from ..core.constructors import I, absolute, array, exp, function, log, ones, rank, rounded, softmax, total, where
from ..core.expr import Expr, lift, symbols, walk
from .claim_drafts import Draft, draw_values, mutate_randomly
from .random_trees import A, B, C, Grower, c, i, j, k, m, n, t, u, v, x, y
from .rewrite_rules import rewrite_randomly


def bounds_by_the_largest(generator: Random) -> Draft:
    """Draft an inequality between the largest entry of a vector and its other entries, true or nearly true."""
    if generator.random() < 0.15:
        return bounds_with_a_free_index(generator)
    a = generator.choice((u, u, u + v, 2 * u, exp(u), array([x, y]), array([x, y, t]), softmax(u)))
    positions: list[Expr | int] = [1, *[i] * (a.shape == (n,))]
    top, at = function("largest", a), generator.choice(positions)
    near = generator.choice((top, top, top, function("largest", v), a[1], -function("largest", -a)))
    below = generator.choice((a[at], a[at], a[1], v[1], u[1], lift(0)))
    differences = [near - below, 1 - exp(below - near), exp(near) - exp(below), (near - below) * exp(y), (near - below) ** 2]
    if a.shape == (n,):
        exponentials = total(exp(a[j] - near), j)
        differences += [exponentials - generator.choice((1, 1, 2, n)), n - exponentials]
        differences += [log(exponentials), log(n) - log(exponentials), total(near - a[j], j)]
    difference = generator.choice(differences)
    left = Grower(generator, frozenset(("scalars",))).scalar(1)
    given = (nonnegative(u[1] - u[i]),) * (generator.random() < 0.2)
    return Draft(
        "inequality", (left, rewrite_randomly(left + difference, generator, generator.randint(0, 2))), given, because=(difference,)
    )


def bounds_with_a_free_index(generator: Random) -> Draft:
    """Draft an inequality about a largest entry that depends on a free index; which entry is the largest depends on the index's value."""
    top, at, other = function("largest", v[i] * u), generator.choice((1, i, k)), generator.choice((1, i, j, k))
    difference = generator.choice((top - u[at] * v[i], top * v[other] / v[i] - u[at] * v[other], top / v[i] - u[at]))
    divides = any(node.op == "div" for node in walk(difference))
    return Draft("inequality", (y, y + difference), (nonzero(v[i]),) * divides, because=(difference,))


def inequalities(generator: Random) -> Draft:
    """Draft an inequality whose difference is a sum or product of terms that are nonnegative under the stated assumptions."""
    difference = nonnegative_term(generator)
    for _ in range(generator.choice((0, 0, 1, 2))):
        more = nonnegative_term(generator)
        difference = generator.choice((lambda a, b: a + b, lambda a, b: a + b, lambda a, b: a * b))(difference, more)
    left = Grower(generator, frozenset(("scalars", "sizes"))).scalar(generator.choice((1, 2)))
    right = rewrite_randomly(left + difference, generator, generator.randint(1, 4))
    named = symbols(left, right, difference)
    given = tuple(f(s) for f, s in ((positive, x), (nonzero, c), (nonnegative, t)) if s.data[0] in named)
    return Draft("inequality", (left, right), given, because=(difference,))


def nonnegative_term(generator: Random) -> Expr:
    """Return a term that is nonnegative if x is positive and t nonnegative."""
    tree = Grower(generator, frozenset(("scalars",))).scalar(1)
    return generator.choice(
        (
            tree**2,
            tree**2,
            absolute(tree),
            exp(tree),
            n - 1,
            x,
            t,
            u @ u,
            total(u[i] ** 2, i),
            lift(1),
            n * t,
            1 / x,
            softmax(u)[1],
            tree**4,
        )
    )


def standard_inequalities(generator: Random) -> Draft:
    """Draft a standard inequality, one that follows from a function's or a sum's order, or one that is nearly true."""
    grower = Grower(generator, frozenset(("scalars",)))
    a, b = (generator.choice((x, y, 2 * x, x * y, grower.scalar(1))) for _ in range(2))
    gap, given = generator.choice(GAPS)(a, b, generator.choice((u, u + v, x * v, ones(n))), v)
    if generator.random() < 0.2:
        given = generator.choice(((), tuple(nonnegative(f.args[0]) for f in given if f.kind == "positive")))
    if generator.random() < 0.3:
        gap = generator.choice((2 * gap, gap * y**2, gap + absolute(b)))
    return Draft("inequality", (y, rewrite_randomly(y + gap, generator, generator.randint(0, 2))), given, because=(gap,))


def excess(p: Expr, q: Expr) -> Expr:
    """Return the relative entropy of the weights p with respect to the weights q."""
    return total(p[i] * (log(p[i]) - log(q[i])), i)


# Functions from two scalars and two vectors to a gap that is nonnegative, or nearly so, and the assumptions on which that depends.
GAPS: tuple[Callable[[Expr, Expr, Expr, Expr], tuple[Expr, tuple]], ...] = (
    lambda a, b, p, q: (exp(a) - 1 - a, ()),
    lambda a, b, p, q: (exp(a) - 1 - 2 * a, ()),
    lambda a, b, p, q: (a - 1 - log(a), (positive(a),)),
    lambda a, b, p, q: (log(a) + 1 / a - 1, (positive(a),)),
    lambda a, b, p, q: (a - function("tanh", a), (nonnegative(a),)),
    lambda a, b, p, q: (function("norm", p) * function("norm", q) - p @ q, ()),
    lambda a, b, p, q: (function("norm", p) * function("norm", q) + p @ q, ()),
    lambda a, b, p, q: (function("norm", p) ** 2 - p @ q, ()),
    lambda a, b, p, q: (function("norm", p) + function("norm", q) - function("norm", p - q), ()),
    lambda a, b, p, q: (function("norm", p + q) + function("norm", p) - function("norm", q), ()),
    lambda a, b, p, q: (absolute(a) + absolute(b) - absolute(a + b), ()),
    lambda a, b, p, q: (absolute(a + I * b) + absolute(b) - absolute(a), ()),
    lambda a, b, p, q: (absolute(a + I * b) - a, ()),
    lambda a, b, p, q: (absolute(a) + a, ()),
    lambda a, b, p, q: (absolute(a) / 2**24 - absolute(rounded(a) - a), (in_range(),)),
    lambda a, b, p, q: (absolute(a) / 2**25 - absolute(rounded(a) - a), (in_range(),)),
    lambda a, b, p, q: (rounded(a) - rounded(b), (nonnegative(a - b), in_range())),
    lambda a, b, p, q: (absolute(a) / 2**8 - absolute(rounded(a, "bf16") - a), (in_range(),)),
    lambda a, b, p, q: (absolute(a) / 2**12 - absolute(rounded(a, "fp16") - a), (in_range(),)),
    lambda a, b, p, q: (rounded(a, "e4m3") - rounded(b, "e4m3"), (nonnegative(a - b), in_range())),
    lambda a, b, p, q: (rounded(a, "bf16") - rounded(b, "fp16"), (nonnegative(a - b), in_range())),
    lambda a, b, p, q: (exp(a) - exp(b), (nonnegative(a - b),)),
    lambda a, b, p, q: (a**3 - b**3, (nonnegative(a - b),)),
    lambda a, b, p, q: (a**2 - b**2, (nonnegative(a - b), nonnegative(b))),
    lambda a, b, p, q: (log(a) - log(b), (nonnegative(a - b), positive(b))),
    lambda a, b, p, q: (excess(softmax(p), softmax(q)), ()),
    lambda a, b, p, q: (log(n) + total(softmax(p)[i] * log(softmax(p)[i]), i), ()),
    lambda a, b, p, q: (total(p[j] ** 2, j) - total(where(p[j] ** 2, j <= i), j), ()),
    lambda a, b, p, q: (total(where(p[j] ** 2, i < j), j), ()),
    lambda a, b, p, q: (total(where(exp(q[j]) - 1, j <= i), j), ()),
)


def refutations(generator: Random) -> Draft:
    """Draft a refutation of an equality or inequality between a tree and a mutated copy of it, with a random counterexample."""
    grower = Grower(generator, frozenset(("scalars", *generator.choice(((), ("div",), ("tensors", "sum"), ("abs",), ("exp",))))))
    tree = grower.scalar(2) if generator.random() < 0.7 else Grower(generator).tensor((n, m), 1)
    sides = (tree, mutate_randomly(rewrite_randomly(tree, generator, generator.randint(0, 2)), generator))
    relation = "<=" if not tree.shape and generator.random() < 0.3 else "="
    return Draft("refutation", sides, at=draw_values(sides, generator), relation=relation)


def limits(generator: Random) -> Draft:
    """Draft a limit at infinity or at 0 whose value follows from a table of known limits."""
    variable, to = generator.choice(((x, "oo"), (x, "oo"), (n, "oo"), (x, 0)))
    scale = generator.choice((1, 1, 2, 10, 1000, 10**9, Fraction(1, 10**9)))
    big = scale * variable if to == "oo" else scale / variable
    first, second = (generator.choice(LIMITS) for _ in range(2))
    (a, limit_a), (b, limit_b) = first(big, generator), second(big, generator)
    tree, value = generator.choice(((a + b, limit_a + limit_b), (a * b, limit_a * limit_b), (a, limit_a), (a, limit_a)))
    if generator.random() < 0.3:
        extra = generator.choice((rounded(y), absolute(y), exp(y), y**2, softmax(u)[1]))
        tree, value = extra + tree, extra + value if value != lift(0) else extra
    tree = rewrite_randomly(tree, generator, generator.randint(0, 2))
    value = generator.choice((value, value, value, value + 1, lift(0)))
    return Draft("limit", (tree, value), towards=(variable, to))


def ratio(big: Expr, generator: Random) -> tuple[Expr, Expr]:
    """Return a quotient of polynomials in `big`, and its limit as `big` goes to infinity."""
    a, b, d = (generator.choice((1, 2, 3)) for _ in range(3))
    p = generator.choice((1, 1, 2))
    return (a * big**p + d) / (b * big**p + big + 1 if p == 2 else b * big + d), lift(Fraction(a, b))


# Functions from (big, generator) to a tree and its limit as `big` goes to infinity.
LIMITS: tuple[Callable[[Expr, Random], tuple[Expr, Expr]], ...] = (
    ratio,
    ratio,
    lambda big, generator: (1 / big, lift(0)),
    lambda big, generator: (exp(-big), lift(0)),
    lambda big, generator: (big * exp(-big), lift(0)),
    lambda big, generator: (log(1 + 1 / big), lift(0)),
    lambda big, generator: (big * log(1 + 1 / big), lift(1)),
    lambda big, generator: (log(1 + exp(-big)) / exp(-big), lift(1)),
    lambda big, generator: (big * (exp(1 / big) - 1), lift(1)),
    lambda big, generator: (exp(big) / (exp(big) + 1), lift(1)),
    lambda big, generator: (lift(generator.choice((0, 1, 2))), lift(0)),
)


def rates(generator: Random) -> Draft:
    """Draft a limit that depends on which of exponentials, powers and logarithms grows fastest, and on an assumption about parameters."""
    variable, to = generator.choice(((x, "oo"), (m, "oo"), (x, 0)))
    big = variable if to == "oo" else 1 / variable
    tree, value, given = generator.choice(RATES)(big, generator.choice((1, 2, Fraction(1, 2))))
    if generator.random() < 0.3:
        more, limit = ratio(big, generator)
        tree, value = tree + more, value + limit
    if generator.random() < 0.4:
        given = generator.choice(((), tuple(nonnegative(a.args[0]) for a in given)))
    tree = rewrite_randomly(tree, generator, generator.randint(0, 2))
    return Draft("limit", (tree, generator.choice((value, value, value, value + 1))), given, towards=(variable, to))


# Functions from (big, a positive number) to a tree, its limit as `big` goes to infinity, and the assumptions on which it depends.
RATES: tuple[Callable[[Expr, int | Fraction], tuple[Expr, Expr, tuple]], ...] = (
    lambda big, p: (exp(-t * big), lift(0), (positive(t),)),
    lambda big, p: (big**p * exp(-t * big), lift(0), (positive(t),)),
    lambda big, p: (exp(y * big - p * t * big**2), lift(0), (positive(t),)),
    lambda big, p: (log(big) / big**p, lift(0), ()),
    lambda big, p: (big ** (p / big), lift(1), ()),
    lambda big, p: (function("tanh", t * big), lift(1), (positive(t),)),
    lambda big, p: (exp(t * big) / (exp(t * big) + p * exp(y * big)), lift(1), (positive(t - y),)),
    lambda big, p: (exp(y * big) / (exp(t * big) + p * exp(y * big)), lift(0), (positive(t - y),)),
    lambda big, p: (exp(t * big) / (exp(t * big) + total(exp(u[i] * big), i)), lift(1), (positive(t - u[i]),)),
    lambda big, p: (total(exp(-u[i] * big), i), lift(0), (positive(u[i]),)),
    lambda big, p: (softmax(u / big)[i], 1 / n, ()),
    lambda big, p: (exp(big * log(y)), lift(0), (positive(y), positive(1 - y))),
)


def ranks(generator: Random) -> Draft:
    """Draft a bound on the rank of a matrix by a dimension of its factorization."""
    first, second = generator.choice(((A, B), (A, C.T), (A @ B, A), (A, A.T), (B.T, B)))
    tree = first @ second
    return Draft("inequality", (rank(rewrite_randomly(tree, generator, generator.randint(0, 2))), first.shape[1]), because=(first, second))
