"""What is random: all outcomes of the random entries, with their weights, so that an expectation is a finite sum.

Gauss-Hermite quadrature is exact for polynomials of a degree that is known beforehand. For other functions, twice what two
nodes fewer change is allowed for (`sampling.py`).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf

import torch

from ..core.claims import Claim
from ..core.expr import Expr, show, symbols, walk
from ..core.operators import AVERAGES
from .error_bounds import U, Value, add, multiply, number, power
from .errors import Disagrees, NotForTorch
from .evaluation import evaluate
from .trial import Trial, averaged, of_last

OUTCOMES = 60_000  # of all random entries together: ten of three outcomes each


def nodes(k: int):
    """Gauss-Hermite nodes and weights for the standard normal law: exact for polynomials of degree below 2k (Golub and Welsch)."""
    off = torch.arange(1, k, dtype=torch.float64).sqrt()
    z, vectors = torch.linalg.eigh(torch.diag(off, 1) + torch.diag(off, -1))
    return z, vectors[0] ** 2


def degree(e: Expr, name: str) -> float:
    """A bound on the degree of e in the entries of a random symbol; infinite for other functions that are smooth everywhere."""
    below = [degree(a, name) for a in e.args]
    if e.op == "symbol":
        return int(e.data[0] == name)
    if not any(below):
        return 0
    if e.op in ("add", "neg", "paren", "defined", "sum", "each", "entry", "transpose", "expectation", "derivative"):
        return max(below)
    if e.op in ("mul", "matmul") or e.op == "div" and averaged(e.args[1]):
        return sum(below)
    if e.op == "variance":
        return 2 * below[0]
    if e.op == "pow" and averaged(e):
        return below[0]
    if e.op == "pow" and not symbols(e.args[1]):
        exponent = float(evaluate(e.args[1], Trial([e], {})).v)
        if exponent >= 0 and exponent == int(exponent):
            return int(exponent) * below[0]
    if e.op == "softmax" or e.op == "function" and e.data in ("exp", "cos", "sin"):
        return inf
    raise NotForTorch(f"quadrature needs a function without poles and kinks, which {show(e)} need not be")


@of_last
def is_smooth_law(claim: Claim) -> bool:
    """Is there something to average over a Gaussian that is no polynomial?"""
    names = [x.data[0] for a in claim.given if a.kind == "gaussian" for x in a.args]
    return any(degree(tree, n) == inf for tree in (claim.start, *(s.expr for s in claim.steps)) for n in names)


# When entries that are not said to be independent are one variable; half of the seeds draw them apart, as most laws mean them.
TOGETHER = ("always", "never", "in one place", "never")


def put_random(t: Trial, claim: Claim, named: dict, random, points: int, seed: int, fewer: int) -> bool:
    """All outcomes of the random entries. Which of those that are not said to be independent are one variable, the seed says."""
    when = TOGETHER[seed % len(TOGETHER)]
    return put_outcomes(t, claim, named, random, points, when, fewer) or (
        when == "in one place" and put_outcomes(t, claim, named, random, points, "always", fewer)
    )


def put_outcomes(t: Trial, claim: Claim, named: dict, random, points: int, together: str, fewer: int) -> bool:
    """The same, told when entries are one variable; False where that makes too many outcomes."""
    names = sorted(n for n, s in named.items() if s.data[1] == "random")
    groups = [{x.data[0] for x in a.args} for a in claim.given if a.kind == "independent"]
    sources = {}  # entry -> number of the normal variable that it is made from
    for name in names:
        for place in product(*map(range, t.shape(named[name]))):
            barred = {
                sources[other]
                for other in sources
                if together == "never" or together == "in one place" and other[1] != place or any({name, other[0]} <= g for g in groups)
            }
            sources[name, place] = next(k for k in range(len(sources) + 1) if k not in barred)
    count = 1 + max(sources.values())
    gaussian = {x.data[0] for a in claim.given if a.kind == "gaussian" for x in a.args}
    trees = (claim.start, *(s.expr for s in claim.steps))
    degrees = [degree(tree, name) for tree in trees for name in names] if gaussian else [0]
    shared = len(sources) > count
    if max(degrees) == inf:
        k = {1: 48, 2: 40}.get(count, 12) - fewer
    else:
        k = max(3, (2 if gaussian < set(names) else 1) * (len(names) if shared else 1) * max(degrees) // 2 + 1)
    if k**count > OUTCOMES:
        return False
    z, w = nodes(k)
    at = torch.cartesian_prod(*[torch.arange(k)] * count).reshape(-1, count)
    slack = 16 * k * U
    weights = w[at].prod(-1)
    axis = (1, -1) + (1,) * (t.leading - 2)
    t.weights = Value(weights.reshape(axis), ((w[at] + slack).prod(-1) - weights).reshape(axis))
    stated = {(a.kind, a.args[0].data[0]): a.args[1] for a in claim.given if a.kind in ("mean", "variance")}
    for name in names:
        shape = t.shape(named[name])

        def scalar(kind, otherwise):
            x = evaluate(stated[kind, name], t) if (kind, name) in stated else t.lead(Value(otherwise, torch.zeros_like(otherwise)))
            return Value(*(y[(...,) + (None,) * len(shape)] for y in x))

        centre = scalar("mean", torch.randn(points, generator=random, dtype=torch.float64))
        unstated = torch.rand(points, generator=random, dtype=torch.float64) + 0.5
        unstated[-1] = 0  # what is not said to vary may be one number
        width = power(scalar("variance", unstated), number(Fraction(1, 2)), t.exactly)
        own = z[at[:, [sources[name, place] for place in product(*map(range, shape))]]].reshape(1, -1, *(1,) * (t.leading - 2), *shape)
        if name not in gaussian:  # a lopsided law with mean 0 and variance 1
            angle = torch.rand(points, generator=random, dtype=torch.float64).reshape(-1, *(1,) * (own.dim() - 1)) * 6.28
            own = angle.cos() * own + angle.sin() * (own * own - 1) / 2**0.5
        t.values[name] = add(centre, multiply(width, Value(own, slack * (1 + own * own)), t.exactly), t.exactly)
    return True


def require_moments(claim: Claim):
    """That the moments exist which the claim takes: averages over finitely many outcomes always exist, and would not show it."""
    for tree in (claim.start, *(s.expr for s in claim.steps)):
        for node in (n for n in walk(tree) if n.op in AVERAGES):
            for name in sorted(n for n, s in symbols(node).items() if s.data[1] == "random"):
                if (taken := degree(node.args[0], name) * (1 + (node.op == "variance"))) > order(claim, name):
                    says = f"{show(node)} takes a moment of order {taken} of {name}, and nothing stated says that there is one"
                    raise Disagrees(says) if reached(node.args[0], name) else NotForTorch(f"{says}; whether it cancels is not seen here")


def order(claim: Claim, name: str) -> float:
    """The highest order of which each entry of what is random is stated to have a moment."""
    orders = {"mean": 1, "variance": 2, "gaussian": inf}
    about = [a for a in claim.given if a.kind in (*orders, "moment") and any(x.op == "symbol" and x.data[0] == name for x in a.args)]
    return max([0, *(int(a.args[1].data) if a.kind == "moment" else orders[a.kind] for a in about)])


def reached(e: Expr, name: str) -> bool:
    """Is the degree certainly that of a power of one entry? Terms may cancel, factors may be 0, be averaged, or be of two entries."""
    about = [n for n in walk(e) if name in symbols(n)]
    sums = any(n.op == "add" and all(name in symbols(x) for x in n.args) for n in about)
    placed = any(n.op == "entry" and any(i.op == "const" for i in n.args[1:]) for n in about)
    inside = any(n.op in AVERAGES or n.op == "derivative" for n in about)
    nothing = any(n.op in ("eye", "array", "fill") or n.op == "const" and not n.data for n in walk(e))
    return not (sums or inside or nothing) and (not placed or degree(e, name) == 1)
