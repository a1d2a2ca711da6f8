"""Random symbols: all outcomes of the random entries with their weights, so that an expectation is a finite sum.

Gauss-Hermite quadrature is exact for polynomials of a known degree. For other functions, the error bound is twice the change from two nodes
fewer (`sampling.values`).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf, prod

import torch
from torch import Tensor

from ..core.assumptions import Assumption, nonnegative
from ..core.claims import Claim
from ..core.expr import Expr, show, symbols, walk
from ..core.operators import AVERAGE_OPERATORS
from .error_bounds import BoundedValue, U, add, multiply, number, power
from .errors import CannotDecide, Disagreement
from .evaluation import evaluate
from .trial import Trial, cache_last, is_averaged

MAX_OUTCOMES = 60_000  # of all random entries together, about ten entries with three outcomes each


def quadrature_nodes(k: int) -> tuple[Tensor, Tensor]:
    """Return k Gauss-Hermite nodes and weights for the standard normal law, exact for polynomials of degree below 2k (Golub and Welsch)."""
    off = torch.arange(1, k, dtype=torch.float64).sqrt()
    z, vectors = torch.linalg.eigh(torch.diag(off, 1) + torch.diag(off, -1))
    return z, vectors[0] ** 2


def degree(e: Expr, name: str, bounded: float = inf) -> float:
    """Return a bound on the degree of e in the entries of a random symbol; infinity for a smooth function that is not a polynomial.

    A function with values between 0 and 1 has the degree `bounded`, which is 0 if the question is whether a mean exists. Raise CannotDecide for a function that may have poles or kinks.
    """
    below = [degree(a, name, bounded) for a in e.args]
    if e.op == "symbol":
        return int(e.data[0] == name)
    if not any(below):
        return 0
    if e.op in ("add", "neg", "paren", "defined", "sum", "each", "entry", "transpose", "expectation", "derivative"):
        return max(below)
    if e.op in ("mul", "matmul") or e.op == "div" and is_averaged(e.args[1]):
        return sum(below)
    if e.op == "variance":
        return 2 * below[0]
    if e.op == "pow" and is_averaged(e):
        return below[0]
    if e.op == "pow" and not symbols(e.args[1]):
        exponent = float(evaluate(e.args[1], Trial([e], {})).value)
        if exponent >= 0 and exponent == int(exponent):
            return int(exponent) * below[0]
    if e.op == "softmax":
        return bounded
    if e.op == "function" and e.data in ("exp", "cos", "sin"):
        return inf
    raise CannotDecide(f"quadrature needs a function without poles and kinks, which {show(e)} need not be")


@cache_last
def is_smooth_law(claim: Claim) -> bool:
    """Return whether a claim averages a function that is not a polynomial over a Gaussian."""
    names = [x.data[0] for a in claim.given if a.kind == "gaussian" for x in a.args]
    return any(degree(tree, n) == inf for tree in (claim.start, *(s.expr for s in claim.steps)) for n in names)


# Which entries that are not assumed independent are the same variable, by the seed; half of the seeds draw them independently, as most laws
# intend.
DEPENDENCE = ("always", "never", "in one place", "never")


def put_random(t: Trial, claim: Claim, named: dict, random: torch.Generator, points: int, seed: int, fewer: int) -> bool:
    """Put all outcomes of the random entries into a trial; return False if there are too many.

    The seed determines which entries that are not assumed independent are the same variable.
    """
    together = DEPENDENCE[seed % len(DEPENDENCE)]
    return put_outcomes(t, claim, named, random, points, together, fewer) or (
        together == "in one place" and put_outcomes(t, claim, named, random, points, "always", fewer)
    )


def put_outcomes(t: Trial, claim: Claim, named: dict, random: torch.Generator, points: int, together: str, fewer: int) -> bool:
    """Put all outcomes into a trial, for a given choice in `DEPENDENCE`; return False if there are too many."""
    names = sorted(n for n, s in named.items() if s.data[1] == "random")
    stated = {(a.kind, a.args[0].data[0]): a.args[1] for a in claim.given if a.kind in ("mean", "variance")}
    gaussian = {x.data[0] for a in claim.given if a.kind == "gaussian" for x in a.args}
    bits = random_bits(claim)
    sources = assign_sources(t, claim, {name: named[name] for name in names}, together)
    count = 1 + max(sources.values())
    shared = len(sources) > count
    trees = (claim.start, *(s.expr for s in claim.steps))
    degrees = [degree(tree, name) for tree in trees for name in names if name not in bits] if gaussian else [0]
    if max(degrees) == inf:
        k = {1: 48, 2: 40}.get(count, 12) - fewer
    else:
        k = max(3, (2 if gaussian < set(names) else 1) * (len(names) if shared else 1) * int(max(degrees)) // 2 + 1)
    tossed_names = sorted((name for name in names if name in bits), key=lambda name: ("mean", name) in stated)  # a stated mean counts
    coins = {source: name for coin in tossed_names for (name, _), source in sources.items() if name == coin}
    levels = [2 if source in coins else k for source in range(count)]
    if prod(levels) > MAX_OUTCOMES:
        return False
    z, w = quadrature_nodes(k)
    at = torch.cartesian_prod(*map(torch.arange, levels)).reshape(-1, count)
    slack = 16 * k * U
    of_nodes = w[at[:, [source for source in range(count) if source not in coins]]]
    weights = of_nodes.prod(-1)
    axis = (1, -1) + (1,) * (t.leading - 2)
    t.weights = BoundedValue(weights.reshape(axis), ((of_nodes + slack).prod(-1) - weights).reshape(axis))
    chances: dict[int, BoundedValue] = {}
    drawn: dict[str, BoundedValue] = {}  # all entries of a tensor have the same distribution, and coins that share a variable as well
    for source, name in sorted(coins.items()):
        mean, key = stated.get(("mean", name)), "" if shared else name
        chances[source] = evaluate(mean, t) if mean is not None else drawn.setdefault(key, draw_chance(t, points, random))
        t.weights = multiply(t.weights, coin_weights(chances[source], at[:, source].reshape(axis), t), t.exactly)
    for name in names:
        shape = t.shape(named[name])
        used = [sources[name, place] for place in product(*map(range, shape))]
        if name in bits:
            tossed = at[:, used].double().reshape(1, -1, *(1,) * (t.leading - 2), *shape)
            t.values[name] = BoundedValue(tossed, torch.zeros_like(tossed))
            continue

        def scalar(kind: str, default: Tensor, name: str = name, shape: tuple = shape) -> BoundedValue:
            x = evaluate(stated[kind, name], t) if (kind, name) in stated else t.lead(BoundedValue(default, torch.zeros_like(default)))
            return BoundedValue(*(y[(...,) + (None,) * len(shape)] for y in x))

        centre = scalar("mean", torch.randn(points, generator=random, dtype=torch.float64))
        unstated = torch.rand(points, generator=random, dtype=torch.float64) + 0.5
        unstated[-1] = 0  # at one point, a variable without a stated variance is constant
        width = power(scalar("variance", unstated), number(Fraction(1, 2)), t.exactly)
        if used[0] in coins:  # it then follows coins alone, and its variance is not stated
            tossed = at[:, used].double().reshape(1, -1, *(1,) * (t.leading - 2), *shape)
            chance = BoundedValue(*(y[(...,) + (None,) * len(shape)] for y in chances[used[0]]))
            deviation = add(BoundedValue(tossed, torch.zeros_like(tossed)), BoundedValue(-chance.value, chance.error), t.exactly)
        else:
            standard = z[at[:, used]].reshape(1, -1, *(1,) * (t.leading - 2), *shape)
            if name not in gaussian:  # an asymmetric law with mean 0 and variance 1
                angle = torch.rand(points, generator=random, dtype=torch.float64).reshape(-1, *(1,) * (standard.dim() - 1)) * 6.28
                standard = angle.cos() * standard + angle.sin() * (standard * standard - 1) / 2**0.5
            deviation = BoundedValue(standard, slack * (1 + standard * standard))
        t.values[name] = add(centre, multiply(width, deviation, t.exactly), t.exactly)
    return True


def assign_sources(t: Trial, claim: Claim, randoms: dict[str, Expr], together: str) -> dict[tuple, int]:
    """Return for each random entry the number of the variable that it is computed from, for a given choice in `DEPENDENCE`.

    A coin shares its variable with coins that have the same mean or no stated one, and with numbers whose distribution the assumptions
    leave open.
    """
    groups = [{x.data[0] for x in a.args} for a in claim.given if a.kind == "independent"]
    means = {a.args[0].data[0]: a.args[1] for a in claim.given if a.kind == "mean"}
    bits = random_bits(claim)
    fixed = {x.data[0] for a in claim.given if a.kind in ("gaussian", "variance", "independent") for x in a.args if x.op == "symbol"}

    def may_share(name: str, other: str) -> bool:
        if name in bits and other in bits:
            return name not in means or other not in means or means[name] == means[other]
        if name in bits or other in bits:
            free = other if name in bits else name
            return free not in fixed and (together == "always" or randoms[name].shape == randoms[other].shape)
        return True

    sources: dict[tuple, int] = {}
    for name in sorted(randoms, key=lambda name: (name not in bits, name)):
        for place in product(*map(range, t.shape(randoms[name]))):
            excluded = {
                sources[other]
                for other in sources
                if together == "never"
                or together == "in one place"
                and other[1] != place
                or not may_share(name, other[0])
                or any({name, other[0]} <= g for g in groups)
            }
            sources[name, place] = next(k for k in range(len(sources) + 1) if k not in excluded)
    return sources


@cache_last
def random_bits(claim: Claim) -> dict[str, Expr]:
    """Return the random symbols that are assumed to be 0 or 1, by name."""
    return {a.args[0].data[0]: a.args[0] for a in claim.given if a.kind == "zero_or_one" and a.args[0].data[1] == "random"}


@cache_last
def bounds_on_chances(claim: Claim) -> list[Assumption]:
    """Return that the mean of what is 0 or 1 is a probability, as assumptions about the stated means."""
    chances = [a.args[1] for a in claim.given if a.kind == "mean" and a.args[0].data[0] in random_bits(claim)]
    return [nonnegative(x) for m in chances for x in (m, 1 - m)]


def draw_chance(t: Trial, points: int, random: torch.Generator) -> BoundedValue:
    """Return a probability at each point."""
    drawn = torch.rand(points, generator=random, dtype=torch.float64)
    return t.lead(BoundedValue(drawn, torch.zeros_like(drawn)))


def coin_weights(chance: BoundedValue, tossed: Tensor, t: Trial) -> BoundedValue:
    """Return the probability of each outcome of a coin."""
    zero = add(t.lead(number(1)), BoundedValue(-chance.value, chance.error), t.exactly)
    return BoundedValue(*(torch.where(tossed == 1, one, other) for one, other in zip(chance, zero)))


def require_moments(claim: Claim) -> None:
    """Raise if the claim takes a moment that its assumptions do not guarantee: Disagrees if it certainly does, else CannotDecide.

    Averages over finitely many outcomes always exist, so the numbers would not show it.
    """
    for tree in (claim.start, *(s.expr for s in claim.steps)):
        for node in (n for n in walk(tree) if n.op in AVERAGE_OPERATORS):
            for name in sorted(n for n, s in symbols(node).items() if s.data[1] == "random" and n not in random_bits(claim)):
                if (taken := degree(node.args[0], name, bounded=0) * (1 + (node.op == "variance"))) > highest_moment(claim, name):
                    says = f"{show(node)} takes a moment of order {taken} of {name}, and nothing stated says that there is one"
                    raise (
                        Disagreement(says, code="missing-moment")
                        if reaches_degree(node.args[0], name)
                        else CannotDecide(f"{says}; whether it cancels is not seen here")
                    )


def highest_moment(claim: Claim, name: str) -> float:
    """Return the highest order of a moment that a random symbol is assumed to have."""
    orders = {"mean": 1, "variance": 2, "gaussian": inf}
    about = [a for a in claim.given if a.kind in (*orders, "moment") and any(x.op == "symbol" and x.data[0] == name for x in a.args)]
    return max([0, *(int(a.args[1].data) if a.kind == "moment" else orders[a.kind] for a in about)])


def reaches_degree(e: Expr, name: str) -> bool:
    """Return whether the degree of e is certainly reached by a power of one entry.

    It need not be: terms may cancel, and factors may be 0, averaged, or powers of different entries.
    """
    dependent = [n for n in walk(e) if name in symbols(n)]
    sums = any(n.op == "add" and all(name in symbols(x) for x in n.args) for n in dependent)
    at_constant_index = any(n.op == "entry" and any(i.op == "const" for i in n.args[1:]) for n in dependent)
    averaged_or_derived = any(n.op in AVERAGE_OPERATORS or n.op == "derivative" for n in dependent)
    may_be_zero = any(n.op in ("eye", "array", "fill") or n.op == "const" and not n.data for n in walk(e))
    terms = [[symbols(x) for x in n.args] for n in walk(e) if n.op == "add"]
    may_cancel = any(sum(one in x for x in found) > 1 for found in terms for one in set().union(*found))
    return not (sums or averaged_or_derived or may_be_zero or may_cancel) and (not at_constant_index or degree(e, name) == 1)
