"""Families of random identities about expectations and variances."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from ..core.assumptions import Assumption, gaussian, has_moment, independent, mean, variance
from ..core.constructors import E, Var, array, diff, each, exp, ones, softmax, total
from ..core.expr import Expr, lift, symbols
from ..core.operators import AVERAGE_OPERATORS
from .claim_drafts import Draft
from .random_trees import Grower, g, i, k, n, q, u, x, y
from .rewrite_rules import rewrite_randomly


def derivatives_of_expectations(generator: Random) -> Draft:
    """Draft an identity between the derivative of an expectation or variance and the expectation of a derivative."""
    body = generator.choice(((g - x) ** 2, x * g, x**2 * g + y * x, (x + g) * (y + g), x * g**2, (x * g - y) ** 2))
    outer = generator.choice((E, E, Var))
    left = diff(outer(body), x)
    right = generator.choice(
        (E(diff(body, x)), rewrite_randomly(left, generator, 2), rewrite_randomly(left, generator, 1), diff(E(body), x))
    )
    return Draft("identity", (y * left, y * right), (has_moment(g, generator.choice((1, 2, 2, 4))),))


def joint_moments(generator: Random) -> Draft:
    """Draft an identity about two random variables that are mostly not assumed to be independent."""
    a, b = generator.sample((g, q[1], k[1], g + x, x * g), 2)
    covariance = E(a * b) - E(a) * E(b)
    left, right = generator.choice(
        (
            (E((a - E(a)) * (b - E(b))), covariance),
            (Var(a + b), Var(a) + Var(b) + 2 * covariance),
            (Var(a + b) + Var(a - b), 2 * Var(a) + 2 * Var(b)),
            (Var(a + b), Var(a) + Var(b)),
            (E(a * b), E(a) * E(b)),
            (E((a + b) ** 2), E(a**2) + 2 * E(a * b) + E(b**2)),
        )
    )
    named = sorted((s for s in symbols(left, right).values() if s.data[1] == "random"), key=lambda s: s.data[0])
    facts = [has_moment(s, generator.choice((1, 2, 2, 2))) for s in named]
    facts += [independent(*named)] if generator.random() < 0.3 else []
    return Draft("identity", (left, rewrite_randomly(right, generator, generator.randint(0, 2))), tuple(facts))


def coins(generator: Random) -> Draft:
    """Draft an identity about a random variable that is 0 or 1, and others that may depend on it."""
    chance = generator.choice((lift(Fraction(1, 3)), 1 / (1 + x**2), lift(Fraction(1, 2))))
    left, right = generator.choice(
        (
            (E(g**3), E(g)),
            (E(g**2), E(g) ** 2),
            (Var(g), E(g) - E(g) ** 2),
            (Var(g), chance - chance**2),
            (Var(g), chance),
            (E(exp(x * g)), 1 + E(g) * (exp(x) - 1)),
            (E(exp(x * g)), exp(x * E(g))),
            (E(1 / (1 + g)), 1 - E(g) / 2),
            (E(g * q[1]), E(g) * E(q[1])),
            (E(g**2 * q[1]), E(g * q[1])),
            (E(g * q[1] ** 2), E(g * q[1])),
            (Var(total(q[i], i)), n * E(q[1]) * (1 - E(q[1]))),
            (Var(g * k[1]), E(g) * Var(k[1]) + Var(g) * E(k[1]) ** 2),
            (E(softmax(array([x, y * g]))[1]), (1 - E(g)) * softmax(array([x, 0]))[1] + E(g) * softmax(array([x, y]))[1]),
        )
    )
    named = sorted((s for s in symbols(left, right).values() if s.data[1] == "random"), key=lambda s: s.data[0])
    tossed = [s for s in named if s == g or generator.random() < 0.5]
    given = [Assumption("zero_or_one", (s,)) for s in tossed if generator.random() < 0.9]
    given += [has_moment(s, generator.choice((1, 2, 2))) for s in named if s not in tossed]
    given += [mean(s, chance) for s in tossed if generator.random() < 0.5]
    given += [independent(*named)] if generator.random() < 0.5 else []
    return Draft("identity", (left, rewrite_randomly(right, generator, generator.randint(0, 2))), tuple(given))


def shares(generator: Random) -> Draft:
    """Draft that a weight of a softmax over random scores has the mean 1/n, which is true if nothing but chance tells the scores apart."""
    scores = generator.choice(
        (q, x * q, q + k, q * k, q * q, q + u, q * u, q + q[1] * ones(n), q * q[1], each(q[i] * i, i), q + g * ones(n))
    )
    at = generator.choice((1, i))
    left = generator.choice((E(softmax(scores)[at]), E(softmax(scores) @ u), E(g * softmax(scores)[at]), E(softmax(scores)[at] ** 2)))
    right = generator.choice((lift(1) / n, total(u[i], i) / n, E(g) / n, lift(2) / (n + 1)))
    named = sorted((s for s in symbols(left, right).values() if s.data[1] == "random"), key=lambda s: s.data[0])
    given = (independent(*named),) if generator.random() < 0.8 else tuple(independent(s) for s in named)
    return Draft("identity", (left, right), given + tuple(has_moment(s, 1) for s in named if s == g))


def products_of_means(generator: Random) -> Draft:
    """Draft an inequality of Cauchy and Schwarz between expectations, or one that is nearly one."""
    a, b = generator.choice(((g, q[1]), (g + x, q[1]), (g, g**2), (q[1], k[1]), (g, lift(1)), (x * g, g - y), (q @ k, g)))
    smaller, larger = E(a * b), generator.choice((E(a**2) * E(b**2), E(b * b) * E(a * a)))
    if generator.random() < 0.5:
        smaller = generator.choice((E(a), E(a * b + 1), E(a * a * b)))
        larger = generator.choice((E(a**2) * E(b**2), E(a**2), E(a**2) * E(b), E(a) * E(a**3)))
    form = larger - smaller**2
    named = symbols(form).values()
    given = tuple(has_moment(s, generator.choice((2, 4, 4))) for s in named if s.data[1] == "random")
    return Draft("inequality", (smaller**2, rewrite_randomly(larger, generator, generator.randint(0, 1))), given, because=(form,))


def expectations(generator: Random) -> Draft:
    """Draft an identity about an expectation or a variance, under random assumptions about moments and independence."""
    features = ("random", *(generator.choice((("sum",), ("each",))) + ("tensors",) if generator.random() < 0.4 else ()))
    grower = Grower(generator, frozenset(features), generator.choice(((), (), (i,))))
    body = grower.scalar(generator.choice((1, 1, 2)))
    if generator.random() < 0.3:
        body = generator.choice((q @ k, total(q[i] * k[i], i), q[1] * x + y, (x * g) ** 2))
    tree = generator.choice((E, Var))(body)
    right = rewrite_randomly(tree, generator, generator.randint(1, 4))
    named = symbols(tree, right)
    given: tuple[Assumption, ...] = ()
    for s in (q, k, g):
        if s.data[0] in named:
            given += (mean(s, generator.choice((0, 0, 1, y))),) * (generator.random() < 0.8)
            given += (variance(s, generator.choice((1, 1, 2))),) * (generator.random() < 0.7)
            given += (gaussian(s),) * (generator.random() < 0.2)
            given += (has_moment(s, generator.choice((1, 2, 2, 4))),) * (generator.random() < 0.6)
    together = [s for s in (q, k, g) if s.data[0] in named]
    if together and generator.random() < 0.8:
        given += (independent(*together),)
    if generator.random() < 0.5:
        right = insert_moments(right, given)
    return Draft("identity", (tree, right), given)


def insert_moments(e: Expr, given: tuple) -> Expr:
    """Return the tree with each mean and variance replaced by its stated value, and E(X**2) by Var(X) + E(X)**2."""
    stated = {(a.kind, a.args[0].data[0]): a.args[1] for a in given if a.kind in ("mean", "variance")}
    if e.op in AVERAGE_OPERATORS:
        (a,) = e.args
        name = (a.args[0] if a.op == "entry" else a).data
        key = ("mean" if e.op == "expectation" else "variance", name[0] if isinstance(name, tuple) else "")
        if key in stated:
            return stated[key]
        if e.op == "expectation" and a.op == "pow" and a.args[1] == lift(2):
            square = Var(a.args[0])
            return insert_moments(square, given) + insert_moments(E(a.args[0]), given) ** 2
    return Expr(e.op, tuple(insert_moments(a, given) for a in e.args), e.shape, e.data)
