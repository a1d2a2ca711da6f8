"""Random values at which a claim's assumptions hold, and distributions of finitely many values with the moments that it states."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import prod
from random import Random

from mpmath import mp, mpf

from ..core.claims import Claim
from ..core.expr import Expr, free_indices, inverse, matmul, symbols, walk
from ..core.operators import AVERAGES
from .mpmath_evaluation import DIGITS, ZERO, Undefined, entry, places_of, reduce_rows, scalar, size_of

POINTS, DRAWS, FEWEST = 16, 1500, 6  # points wanted, draws to find them, and points below which nothing is said
MOST_OUTCOMES = 5000
LARGE, LARGE_OF_LAWS = 9, 5  # the largest sizes of claims with tensors, of which laws are averages over many outcomes
FAILURES = 20  # draws at a large size, before it is left alone
POINTS_OF_EXPONENTIALS = 8  # each of them is an average over a thousand outcomes
SIGNS = {"positive": lambda v: v > ZERO, "nonnegative": lambda v: v > -ZERO, "nonzero": lambda v: abs(v) > ZERO}


DRAWN: dict = {}  # what was drawn last: the mutants of a claim come one after another, and most of them speak of the same
MOST_DRAWN = 8


def points(claim: Claim, seed: int = 0, most: int = POINTS) -> list:
    """Environments: sizes and entries drawn at random, small and zero ones often, such that every assumption holds.

    Claims that speak of the same have the very same ones, so that what was computed there of a part that they share is known.
    """
    key = seed, most, mp.prec, spoken_of(claim)
    if key not in DRAWN:
        found = list(drawn(claim, seed, most))
        if len(DRAWN) == MOST_DRAWN:
            del DRAWN[next(iter(DRAWN))]
        DRAWN[key] = found
    return DRAWN[key]


def spoken_of(claim: Claim) -> tuple:
    """All of a claim on which it depends what is drawn for it: its names in their order, its assumptions, and which operations it has."""
    sizes = any(n.op == "symbol" and n.data[1] == "size" for tree in claim.trees for n in walk(tree))
    return tuple(symbols(*claim.trees).values()), claim.given, operations(claim), sizes


def drawn(claim: Claim, seed: int, most: int):
    named = symbols(*claim.trees).values()
    generator, law = Random(seed), laws(claim)
    largest = 2 if law else 3 if any(s.shape for s in named) else 8
    small = law or has(claim, "inverse")
    counted = any(n.op == "symbol" and n.data[1] == "size" for tree in claim.trees for n in walk(tree))
    met = any(a.kind in SIGNS and a.args[0].op != "symbol" for a in claim.given)  # it may end where two numbers are one
    hidden = has(claim, "largest")  # smaller entries do not show
    most *= (3 if hidden else 1) * (2 if met else 1)  # of those that meet, some are where nothing has a value
    bits = {a.args[0].data[0] for a in claim.given if a.kind == "zero_or_one"}
    found, failed = 0, 0
    large = [
        (s.data[0], k) for k in range(min(4, largest + 1), (LARGE_OF_LAWS if law else LARGE) + 1) for s in named if s.data[1] == "size"
    ]
    large *= counted and not has(claim, "inverse")
    most = most + len(large)
    for _ in range(DRAWS):
        if found == (min(most, POINTS_OF_EXPONENTIALS) if exponential_law(claim) else most):
            return
        env = {s.data[0]: generator.randint(1, generator.choice((2, largest))) for s in named if s.data[1] == "size"}
        if failed == FAILURES:
            failed = 0
            large.pop()
        far = bool(large and found % 2)  # each size is large once, for some things show at one size only
        if far:
            env |= dict(large[-1:])
            failed += 1
        elif env and not small and generator.random() < 0.06:
            env[generator.choice(sorted(env))] = generator.randint(4, LARGE)
        draw = number_drawer(claim, generator)
        if far:
            draw = or_one(draw)
        if hidden and generator.random() < 0.3:
            draw = negative(draw)
        alike = draw() if met and generator.random() < 0.2 else None
        for s in named:
            if s.data[1] == "real":
                env[s.data[0]] = {p: draw() if alike is None else alike for p in places_of(s.shape, env)}
                if s.data[0] in bits:
                    env[s.data[0]] = {p: mpf(generator.randint(0, 1)) for p in env[s.data[0]]}
        try:
            for a in claim.given:
                if a.kind == "product":
                    complete_product(a, env, generator)
            if not all(holds(a, env) for a in claim.given):
                continue
            env["outcomes"] = outcomes(claim, env, generator) if law else [(mpf(1), {})]
        except Undefined:
            continue
        if far:
            failed = 0
            large.pop()
        found += 1
        yield {**env, **generator.choice(env["outcomes"])[1]}  # a random entry outside an expectation is one of its values


def negative(draw):
    """What is drawn, and never positive."""
    return lambda: -abs(draw())


def or_one(draw):
    """What is drawn, and never zero: a factor of zero would hide what shows at this size only."""
    return lambda: draw() or mpf(1)


def number_drawer(claim: Claim, generator: Random):
    if has(claim, "rounded"):
        exact = any(a.kind == "representable" for a in claim.given)
        tiny = not any(a.kind == "in range" for a in claim.given)

        def draw():
            top = generator.choice((9, 2**13, 2**24 - 1, *([] if exact and generator.random() < 0.5 else [2**30])))
            low = generator.choice((0, 3, *([75, 149] if tiny else [])))
            return mpf(generator.randint(-top, top)) / 2**low

        return draw
    if exponential_law(claim):
        return lambda: generator.choice((-1, 1)) * mpf(generator.randint(1, 5)) / 8
    scale = generator.choice((1, 1, 1, 1, 8))  # an inequality may fail where all is small, and nowhere else
    return lambda: mpf(generator.choice((0, 1, 1, 2, 3, 5, 7)) * generator.choice((-1, 1))) / generator.choice((1, 1, 2, 3, 5)) / scale


def complete_product(a, env: dict, generator: Random):
    """Choose the second matrix so that the product is 0, or the first so that it is the identity."""
    left, right, times = a.args

    def matrix(e):
        return [[entry(e, (i, j), env) for j in range(size_of(e.shape[1], env))] for i in range(size_of(e.shape[0], env))]

    def put(e, rows):
        name, turned = (e.args[0].data[0], True) if e.op == "transpose" else (e.data[0], False)
        env[name] = {(j, i) if turned else (i, j): x for i, row in enumerate(rows) for j, x in enumerate(row)}

    if times.data == 0:
        kernel, columns = null_space(matrix(left)), size_of(right.shape[1], env)
        weights = [[mpf(generator.randint(-2, 2)) for _ in range(columns)] for _ in kernel]
        put(
            right,
            [
                [sum((v[i] * w[j] for v, w in zip(kernel, weights)), mpf(0)) for j in range(columns)]
                for i in range(size_of(right.shape[0], env))
            ],
        )
        return
    tall = matrix(right)
    n = len(tall[0])
    reduced, pivots = reduce_rows([row + [mpf(i == j) for j in range(len(tall))] for i, row in enumerate(tall)])
    if pivots[:n] != list(range(n)):
        raise Undefined("a matrix without a left inverse")
    put(left, [row[n:] for row in reduced[:n]])


def null_space(rows: list) -> list:
    reduced, pivots = reduce_rows(rows)
    width, basis = len(rows[0]), []
    for free in (k for k in range(width) if k not in pivots):
        v = [mpf(k == free) for k in range(width)]
        for row, pivot in zip(reduced, pivots):
            v[pivot] = -row[free]
        basis.append(v)
    return basis


def index_values(trees: tuple, env: dict):
    """env with every value of the index variables that no sum binds."""
    free = sorted({i for t in trees for i in free_indices(t)}, key=lambda i: i.data[0])
    for chosen in product(*(range(size_of(i.data[1], env)) for i in free)):
        yield env | {("index", i.data[0]): k for i, k in zip(free, chosen)}


def holds(a, env: dict) -> bool:
    if a.kind in SIGNS:
        return all(SIGNS[a.kind](scalar(a.args[0], here)) for here in index_values(a.args, env))
    if a.kind == "representable":
        return all(scalar(Expr("rounded", (x,), (), "fp32"), env) == scalar(x, env) for x in a.args)
    if a.kind == "zero_or_one":
        return all(entry(a.args[0], p, env) in (0, 1) for p in places_of(a.args[0].shape, env))
    if a.kind == "invertible":
        entry(inverse(a.args[0]), (0, 0), env)
    if a.kind == "product":
        both = matmul(*a.args[:2])
        return all(abs(entry(both, p, env) - (a.args[2].data.numerator if p[0] == p[1] else 0)) < ZERO for p in places_of(both.shape, env))
    if a.kind == "variance":
        return scalar(a.args[1], env) > -ZERO
    return True


# Distributions: each random entry takes finitely many values, such that all the moments that are needed are right


def has(claim: Claim, *names) -> bool:
    return not operations(claim).isdisjoint(names)


LAST: list = []  # a claim and its operations, which are asked for at every entry that is compared


def operations(claim: Claim) -> frozenset:
    """The operations in a claim's trees, and its functions by their own names too."""
    if not LAST or LAST[0] is not claim:
        nodes = [n for tree in claim.trees for n in walk(tree)]
        LAST[:] = claim, frozenset(n.op for n in nodes) | {n.data for n in nodes if n.op == "function"}
    return LAST[1]


def laws(claim: Claim) -> bool:
    return has(claim, *AVERAGES)


def exponential_law(claim: Claim) -> bool:
    return laws(claim) and has(claim, "function")


@cache
def normal_points(n: int) -> tuple:
    """Values and weights that average every polynomial of degree below 2n like a standard normal variable."""
    with mp.workdps(DIGITS):
        values, vectors = mp.eigsy(mp.matrix([[mp.sqrt(min(i, j) + 1) if abs(i - j) == 1 else 0 for j in range(n)] for i in range(n)]))
        return tuple((values[k], vectors[0, k] ** 2) for k in range(n))


@cache
def two_points(high: int) -> tuple:
    """Mean 0 and variance 1 on two values; even for high = 1, askew else."""
    with mp.workdps(DIGITS):
        chance = mpf(1) / (1 + high**2)
        return (mpf(high), chance), (-1 / mpf(high), 1 - chance)


def outcomes(claim: Claim, env: dict, generator: Random) -> list:
    """(weight, values by name and place) for one joint distribution that the assumptions allow."""
    told = {
        (a.kind, x.data[0]): a
        for a in claim.given
        for x in a.args
        if a.kind in ("gaussian", "mean", "variance") and x.op == "symbol" and x.data[1] == "random"
    }
    randoms = [s for s in symbols(*claim.trees).values() if s.data[1] == "random"]
    entries = [(s.data[0], p) for s in randoms for p in places_of(s.shape, env)]
    together = max((tuple(x.data[0] for x in a.args) for a in claim.given if a.kind == "independent"), key=len, default=())
    loose = [e for e in entries if e[0] not in together]
    # What is not stated to be independent follows the first that is, or one variable for all of it, or one for each place; or, where this
    # makes few outcomes, each entry has a variable of its own, as what is independent has.
    apart = len(loose) < 5 and generator.random() < 0.3
    alone = generator.random() < 0.5
    drivers = {e: e for e in entries if e[0] in together} | {e: e if apart else ("followed", () if alone else e[1]) for e in loose}
    if together and loose and not apart:
        drivers |= {e: (together[0], e[1]) if (together[0], e[1]) in drivers else ("followed", ()) for e in loose}
    family = {d: two_points(generator.choice((1, 2))) for d in sorted({d[0] for d in drivers.values()})}
    nodes = (30 if len(set(drivers.values())) < 3 else 8) if exponential_law(claim) else 5
    for name in {e[0] for e in entries}:
        if ("gaussian", name) in told:
            family |= {drivers[e][0]: normal_points(nodes) for e in entries if e[0] == name}

    def parameter(kind, name, default):
        return scalar(told[kind, name].args[1], env) if (kind, name) in told else default

    unstated = {e[0]: (mpf(generator.randint(-1, 2)), mpf(generator.randint(1, 3)) ** 2) for e in entries}
    scales = {name: (parameter("mean", name, m), parameter("variance", name, v)) for name, (m, v) in unstated.items()}
    if any(mp.im(v) or v < -ZERO for _, v in scales.values()):
        raise Undefined("a negative variance")
    roots = {name: (m, mp.sqrt(max(v, 0))) for name, (m, v) in scales.items()}
    independent = sorted(set(drivers.values()), key=repr)
    if prod(len(family[d[0]]) for d in independent) > MOST_OUTCOMES:
        raise Undefined("an average over too many outcomes")
    found = []
    for chosen in product(*(family[d[0]] for d in independent)):
        value, weight = dict(zip(independent, (x for x, _ in chosen))), mpf(1)
        for _, w in chosen:
            weight = weight * w
        drawn = {}
        for e in entries:
            m, width = roots[e[0]]
            drawn.setdefault(e[0], {})[e[1]] = m + width * value[drivers[e]]
        found.append((weight, drawn))
    return found
