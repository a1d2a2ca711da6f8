"""Draw random points at which a claim's assumptions hold, and discrete distributions with the moments that it states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from math import prod
from random import Random
from typing import Any

from mpmath import mp, mpf

from ..core.assumptions import Assumption, is_random
from ..core.claims import Claim
from ..core.constructors import inverse
from ..core.expr import Expr, free_indices, matmul, symbols, walk
from ..core.number_formats import FORMATS
from ..core.operators import AVERAGE_OPERATORS
from .mpmath_evaluation import DIGITS, ZERO, Undefined, all_places, evaluate_entry, evaluate_scalar, evaluate_size, reduce_rows

POINTS, DRAWS, MIN_POINTS = 16, 1500, 6  # points wanted, draws to find them, and the fewest points for a verdict
MAX_OUTCOMES = 5000
# Of random variables whose mean or variance is not stated. Some variables are small everywhere, so that their moments are below one.
MEANS = (mpf(-1), mpf(-1) / 2, mpf(0), mpf(1) / 2, mpf(1), mpf(2))
DEVIATIONS = (mpf(1) / 4, mpf(1) / 4, mpf(1), mpf(2), mpf(3))
LARGE, LARGE_IF_COSTLY = 9, 5  # the largest sizes; smaller for averages over many outcomes and for derivatives of all entries at once
FAILURES = 20  # draws at a large size before it is given up
POINTS_WITH_QUADRATURE = 8  # fewer, because each is an average over a thousand outcomes
SIGNS: dict[str, Callable[[Any], bool]] = {
    "positive": lambda v: v > ZERO,
    "nonnegative": lambda v: v > -ZERO,
    "nonzero": lambda v: abs(v) > ZERO,
}


POINT_CACHE: dict = {}  # a cache of the last points: the mutants of a claim are judged one after another, and most have the same points
CACHED_POINT_SETS = 8


def draw_points(claim: Claim, seed: int = 0, most: int = POINTS) -> list:
    """Return up to `most` random points at which every assumption holds; small numbers and zeros are frequent. More for some claims.

    A point maps names to sizes and entries. Claims with equal `cache_key` get the same objects, so that values of subtrees that they
    share are computed once.
    """
    key = seed, most, mp.prec, cache_key(claim)
    if key not in POINT_CACHE:
        found = list(generate_points(claim, seed, most))
        if len(POINT_CACHE) == CACHED_POINT_SETS:
            del POINT_CACHE[next(iter(POINT_CACHE))]
        POINT_CACHE[key] = found
    return POINT_CACHE[key]


def cache_key(claim: Claim) -> tuple:
    """Return all of a claim that its points depend on: its names in order, its assumptions and its operations."""
    sizes = any(n.op == "symbol" and n.data[1] == "size" for tree in claim.trees for n in walk(tree))
    return tuple(symbols(*claim.trees).values()), claim.given, operations(claim), sizes


def generate_points(claim: Claim, seed: int, most: int) -> Iterator[dict]:
    """Yield the points of `draw_points`, drawn anew."""
    named = symbols(*claim.trees).values()
    generator, law = Random(seed), has_expectation(claim)
    largest = 2 if law else 3 if any(s.shape for s in named) else 8
    small = law or uses_operator(claim, "inverse")
    counted = any(n.op == "symbol" and n.data[1] == "size" for tree in claim.trees for n in walk(tree))
    has_difference = any(a.kind in SIGNS and a.args[0].op != "symbol" for a in claim.given)  # its boundary: two numbers are equal
    hidden = uses_operator(claim, "largest")  # which does not depend on smaller entries
    most *= (3 if hidden else 1) * (2 if has_difference else 1)  # where numbers are equal, some points have no value
    bits = {a.args[0].data[0] for a in claim.given if a.kind == "zero_or_one"}
    found, failed = 0, 0
    large = [
        (s.data[0], k)
        for k in range(min(4, largest + 1), (LARGE_IF_COSTLY if law or uses_operator(claim, "derivative") else LARGE) + 1)
        for s in named
        if s.data[1] == "size"
    ]
    large *= counted and not uses_operator(claim, "inverse")
    most = most + len(large)
    for _ in range(DRAWS):
        if found == (min(most, POINTS_WITH_QUADRATURE) if needs_quadrature(claim) else most):
            return
        env: dict = {s.data[0]: generator.randint(1, generator.choice((2, largest))) for s in named if s.data[1] == "size"}
        if any(a.kind == "in range" for a in claim.given):
            env["unbounded"] = True  # no exponent leaves the range of its format
        if failed == FAILURES:
            failed = 0
            large.pop()
        far = bool(large and found % 2)  # each size is large once: some differences show at one size only
        if far:
            env |= dict(large[-1:])
            failed += 1
        elif env and not small and generator.random() < 0.06:
            env[generator.choice(sorted(env))] = generator.randint(4, LARGE)
        draw = number_drawer(claim, generator)
        if far:
            draw = draw_nonzero(draw)
        if hidden and generator.random() < 0.3:
            draw = draw_nonpositive(draw)
        alike = draw() if has_difference and generator.random() < 0.2 else None
        for s in named:
            if s.data[1] == "real":
                env[s.data[0]] = {p: draw() if alike is None else alike for p in all_places(s.shape, env)}
                if s.data[0] in bits:
                    env[s.data[0]] = {p: mpf(generator.randint(0, 1)) for p in env[s.data[0]]}
        try:
            if has_difference and len(formats_in(claim)) > 1 and generator.random() < 0.5:
                move_to_edge(claim, env)  # two formats round equal numbers differently, and seldom other numbers in another order
            for a in claim.given:
                if a.kind == "product":
                    complete_product(a, env, generator)
            if not all(is_satisfied(a, env) for a in claim.given):
                continue
            env["outcomes"] = draw_distribution(claim, env, generator) if law else [(mpf(1), {})]
        except Undefined:
            continue
        if far:
            failed = 0
            large.pop()
        found += 1
        yield {**env, **generator.choice(env["outcomes"])[1]}  # a random entry outside an expectation is one of its values


def formats_in(claim: Claim) -> set[str]:
    """Return the names of the number formats that a claim rounds to."""
    return {n.data for tree in claim.trees for n in walk(tree) if n.op == "rounded"}


def move_to_edge(claim: Claim, env: dict) -> None:
    """Change one number so that an expression that is assumed to be nonnegative is 0, if that is possible by adding to the number."""
    for x in (a.args[0] for a in claim.given if a.kind == "nonnegative" and not free_indices(a.args[0])):
        for s in symbols(x).values():
            if s.data[1] == "real" and not s.shape:
                for sign in (-1, 1):
                    moved = env | {s.data[0]: {(): env[s.data[0]][()] + sign * evaluate_scalar(x, env)}}
                    if evaluate_scalar(x, moved) == 0:
                        env.update(moved)
                        return


def draw_nonpositive(draw: Callable[[], Any]) -> Callable[[], Any]:
    """Return a drawer of the same numbers, all negative or 0."""
    return lambda: -abs(draw())


def draw_nonzero(draw: Callable[[], Any]) -> Callable[[], Any]:
    """Return a drawer that gives 1 instead of 0, because a factor of 0 would hide a difference that shows at one size only."""
    return lambda: draw() or mpf(1)


def number_drawer(claim: Claim, generator: Random) -> Callable[[], Any]:
    """Return a function that draws a random entry for this claim."""
    if uses_operator(claim, "rounded"):
        exact = any(a.kind == "representable" for a in claim.given)
        tiny = not any(a.kind == "in range" for a in claim.given)
        bits = sorted(FORMATS[name].bits for name in formats_in(claim) - {"fp32"})

        def draw():
            if bits and generator.random() < 0.5:
                return draw_near_tie(generator, generator.choice(bits))
            top = generator.choice((9, 2**13, 2**24 - 1, *([] if exact and generator.random() < 0.5 else [2**30])))
            low = generator.choice((0, 3, 30, *([75, 149] if tiny else [])))
            return mpf(generator.randint(-top, top)) / 2**low

        return draw
    if needs_quadrature(claim):
        return lambda: generator.choice((-1, 1)) * mpf(generator.randint(1, 5)) / 8
    polynomial = not uses_operator(claim, "function", "softmax", *AVERAGE_OPERATORS)
    scales = (1, 1, 1, 1, 8, *([mpf(1) / 64] if polynomial else []))  # an inequality may fail only where all numbers are small, or large
    scale = generator.choice(scales)
    return lambda: mpf(generator.choice((0, 1, 1, 2, 3, 5, 7)) * generator.choice((-1, 1))) / generator.choice((1, 1, 2, 3, 5)) / scale


def draw_near_tie(generator: Random, bits: int) -> Any:
    """Draw a number with all digits of a format, a number half-way between two of these, or one a little off on the side of the odd one."""
    digits = generator.randrange(2 ** (bits - 1), 2**bits)
    side = 1 if digits % 2 == 0 else -1
    beyond = generator.choice((mpf(0), mpf(1) / 2, mpf(1) / 2 + mpf(side) / 2**30))
    return generator.choice((-1, 1)) * (digits + beyond)


def complete_product(a: Assumption, env: dict, generator: Random) -> None:
    """Choose the second matrix so that the product is 0, or the first so that it is the identity. Raise Undefined if there is none."""
    left, right, times = a.args

    def matrix(e: Expr) -> list:
        return [
            [evaluate_entry(e, (i, j), env) for j in range(evaluate_size(e.shape[1], env))] for i in range(evaluate_size(e.shape[0], env))
        ]

    def put(e: Expr, rows: list) -> None:
        name, is_transposed = (e.args[0].data[0], True) if e.op == "transpose" else (e.data[0], False)
        env[name] = {(j, i) if is_transposed else (i, j): x for i, row in enumerate(rows) for j, x in enumerate(row)}

    if times.data == 0:
        kernel, columns = null_space(matrix(left)), evaluate_size(right.shape[1], env)
        weights = [[mpf(generator.randint(-2, 2)) for _ in range(columns)] for _ in kernel]
        put(
            right,
            [
                [sum((v[i] * w[j] for v, w in zip(kernel, weights)), mpf(0)) for j in range(columns)]
                for i in range(evaluate_size(right.shape[0], env))
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
    """Return a basis of the vectors that a matrix, given by its rows, maps to 0."""
    reduced, pivots = reduce_rows(rows)
    width, basis = len(rows[0]), []
    for free in (k for k in range(width) if k not in pivots):
        v = [mpf(k == free) for k in range(width)]
        for row, pivot in zip(reduced, pivots):
            v[pivot] = -row[free]
        basis.append(v)
    return basis


def index_values(trees: tuple, env: dict) -> Iterator[dict]:
    """Yield the environment with each combination of values of the trees' free indices, counted from 0."""
    free = sorted({i for t in trees for i in free_indices(t)}, key=lambda i: i.data[0])
    for chosen in product(*(range(evaluate_size(i.data[1], env)) for i in free)):
        yield env | {("index", i.data[0]): k for i, k in zip(free, chosen)}


def is_satisfied(a: Assumption, env: dict) -> bool:
    """Return whether an assumption holds at a point. Raise Undefined if a part of it has no value there."""
    if a.kind in SIGNS:
        return all(SIGNS[a.kind](evaluate_scalar(a.args[0], here)) for here in index_values(a.args, env))
    if a.kind == "representable":
        return all(evaluate_scalar(Expr("rounded", (x,), (), "fp32"), env) == evaluate_scalar(x, env) for x in a.args)
    if a.kind == "zero_or_one":
        return is_random(a.args[0]) or all(evaluate_entry(a.args[0], p, env) in (0, 1) for p in all_places(a.args[0].shape, env))
    if a.kind == "invertible":
        evaluate_entry(inverse(a.args[0]), (0, 0), env)
    if a.kind == "product":
        both = matmul(*a.args[:2])
        return all(
            abs(evaluate_entry(both, p, env) - (a.args[2].data.numerator if p[0] == p[1] else 0)) < ZERO
            for p in all_places(both.shape, env)
        )
    if a.kind == "variance":
        return evaluate_scalar(a.args[1], env) > -ZERO
    return True


# Distributions: each random entry takes finitely many values, and has all the moments that are needed


def uses_operator(claim: Claim, *names: str) -> bool:
    """Return whether one of these operators or functions occurs in the claim."""
    return not operations(claim).isdisjoint(names)


LAST_OPERATIONS: list = []  # the last claim and its operations, which are needed for every entry that is compared


def operations(claim: Claim) -> frozenset:
    """Return the names of the operators and functions in a claim's trees."""
    if not LAST_OPERATIONS or LAST_OPERATIONS[0] is not claim:
        nodes = [n for tree in claim.trees for n in walk(tree)]
        LAST_OPERATIONS[:] = claim, frozenset(n.op for n in nodes) | {n.data for n in nodes if n.op == "function"}
    return LAST_OPERATIONS[1]


def has_expectation(claim: Claim) -> bool:
    """Return whether the claim has an expectation or a variance."""
    return uses_operator(claim, *AVERAGE_OPERATORS)


def needs_quadrature(claim: Claim) -> bool:
    """Return whether the claim has an expectation or a variance, and a function; averages are then approximate."""
    return has_expectation(claim) and uses_operator(claim, "function")


@cache
def normal_points(n: int) -> tuple:
    """Return n pairs (value, weight) with the moments of the standard normal distribution up to order 2n - 1."""
    with mp.workdps(DIGITS):
        values, vectors = mp.eigsy(mp.matrix([[mp.sqrt(min(i, j) + 1) if abs(i - j) == 1 else 0 for j in range(n)] for i in range(n)]))
        return tuple((values[k], vectors[0, k] ** 2) for k in range(n))


@cache
def two_points(high: int) -> tuple:
    """Return two pairs (value, weight) with mean 0 and variance 1, of which one value is `high`; symmetric for high = 1."""
    with mp.workdps(DIGITS):
        chance = mpf(1) / (1 + high**2)
        return (mpf(high), chance), (-1 / mpf(high), 1 - chance)


def draw_distribution(claim: Claim, env: dict, generator: Random) -> list:
    """Return (weight, values by name and place) pairs of one random joint distribution that the assumptions allow.

    Raise Undefined if a stated variance is negative, or if there are too many outcomes.
    """
    stated = {
        (a.kind, x.data[0]): a
        for a in claim.given
        for x in a.args
        if a.kind in ("gaussian", "mean", "variance") and x.op == "symbol" and x.data[1] == "random"
    }
    randoms = [s for s in symbols(*claim.trees).values() if s.data[1] == "random"]
    entries = [(s.data[0], p) for s in randoms for p in all_places(s.shape, env)]
    together = max((tuple(x.data[0] for x in a.args) for a in claim.given if a.kind == "independent"), key=len, default=())
    loose = [e for e in entries if e[0] not in together]
    # Each entry is driven by a variable. An entry that is not stated to be independent has the variable of an independent entry in the
    # same place, or shares one variable with all such entries, or with those in its place; or, if there are few, has its own.
    apart = len(loose) < 5 and generator.random() < 0.3
    alone = generator.random() < 0.5
    drivers = {e: e for e in entries if e[0] in together} | {e: e if apart else ("followed", () if alone else e[1]) for e in loose}
    if together and loose and not apart:
        drivers |= {e: (together[0], e[1]) if (together[0], e[1]) in drivers else ("followed", ()) for e in loose}

    def parameter(kind: str, name: str, default: Any) -> Any:
        return evaluate_scalar(stated[kind, name].args[1], env) if (kind, name) in stated else default

    coins = {a.args[0].data[0] for a in claim.given if a.kind == "zero_or_one" and is_random(a.args[0])}
    usual = generator.choice((mpf(1) / 2, mpf(1) / 5, *(parameter("mean", name, 0) for name in sorted(coins) if ("mean", name) in stated)))
    chances = {name: parameter("mean", name, usual) for name in sorted(coins)}
    if not all(0 < chance < 1 for chance in chances.values()):
        raise Undefined("a coin that has one side, or none")
    # Coins with the same chance and the same driver are one coin.
    drivers |= {e: (f"coin of {chances[e[0]]}", drivers[e]) for e in entries if e[0] in coins}
    family = {d: two_points(generator.choice((1, 2))) for d in sorted({d[0] for d in drivers.values()})}
    nodes = (30 if len(set(drivers.values())) < 3 else 8) if needs_quadrature(claim) else 5
    for name in {e[0] for e in entries}:
        if ("gaussian", name) in stated:
            family |= {drivers[e][0]: normal_points(nodes) for e in entries if e[0] == name}

    for name, chance in chances.items():
        family[f"coin of {chance}"] = two_points(mp.sqrt((1 - chance) / chance))
        followers = [e for e in loose if name not in together and e[0] not in coins and ("gaussian", e[0]) not in stated]
        if generator.random() < 0.5:
            drivers |= {e: next(d for other, d in drivers.items() if other[0] == name) for e in followers}

    unstated = {e[0]: (generator.choice(MEANS), generator.choice(DEVIATIONS) ** 2) for e in entries}
    scales = {name: (parameter("mean", name, m), parameter("variance", name, v)) for name, (m, v) in unstated.items()}
    if any(mp.im(v) or v < -ZERO for _, v in scales.values()):
        raise Undefined("a negative variance")
    roots = {name: (m, mp.sqrt(max(v, 0))) for name, (m, v) in scales.items()}
    independent = sorted(set(drivers.values()), key=repr)
    if prod(len(family[d[0]]) for d in independent) > MAX_OUTCOMES:
        raise Undefined("an average over too many outcomes")
    found = []
    for chosen in product(*(family[d[0]] for d in independent)):
        value, weight = dict(zip(independent, (x for x, _ in chosen))), mpf(1)
        for _, w in chosen:
            weight = weight * w
        values: dict = {}
        for e in entries:
            m, width = roots[e[0]]
            standard = value[drivers[e]]
            values.setdefault(e[0], {})[e[1]] = mpf(standard > 0) if e[0] in coins else m + width * standard
        found.append((weight, values))
    return found
