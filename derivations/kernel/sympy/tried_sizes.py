"""Which sizes are tried: those at which assumptions about sizes alone hold, and of those enough.

Every size takes every small value, and of any two each is the larger one once. A polynomial of some degree vanishes everywhere if it does at
more values than that: where sizes are numbers in a claim as well, each takes more values than its degree there. Where no degree is known,
or where every size takes long, each such size is once larger than the small ones, and the others are one: what is false is refused soon.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import inf, prod

from ..core.claims import Claim
from ..core.expr import Expr, operands, symbols, walk
from ..core.operators import BINDERS

MOST, MOST_COUNTED, MOST_HARD = 400, 64, 12  # of how many sizes in all; where something is counted, and where that takes long
LARGER = 5  # than each of the small sizes
LARGEST = {1: 130, 2: 12, 3: 6}  # of how many sizes each goes up to what, where assumptions rule out the small ones
KINDS = {"positive": lambda v: v > 0, "nonnegative": lambda v: v >= 0, "nonzero": lambda v: v != 0}


def size_names(claim: Claim) -> list:
    return sorted(n for n, s in symbols(*claim.trees).items() if s.data[1] == "size")


def sizes_tried(claim: Claim, names: list) -> list:
    """Tuples of sizes, in the order of the names."""
    every = list(dict.fromkeys([*explicit_sizes(claim, names), *enough_sizes(claim, names)]))
    found = [chosen for chosen in every if allowed(claim, names, chosen)]
    if found:
        return found
    larger = sorted(product(range(1, LARGEST.get(len(names), 3) + 1), repeat=len(names)), key=sum)
    return [chosen for chosen in larger if allowed(claim, names, chosen)][:5] or every


def explicit_sizes(claim: Claim, names: list) -> list:
    """Small ones."""
    if not counted(claim) and len(names) < 4:
        return list(product((1, 2, 3, 4), repeat=len(names)))
    products = sum(a.kind == "product" for a in claim.given)  # of three, the equations at size three take minutes to solve
    top, count = 2 if hard(claim) and (len(names) > 1 or products > 2) else 3, len(names)
    return [
        (1,) * count,
        (2,) * count,
        *(
            tuple(1 + (k // top**digit + shift) % top for k in range(count))
            for digit in range(2 if count > top else 1)
            for shift in range(top)
        ),
        tuple(top - k % top for k in range(count)),
    ]


def counted(claim: Claim) -> bool:
    """Is a size more than a number: the length of something, or of a sum?"""
    return any(n.shape or n.op in BINDERS for t in claim.trees for n in walk(t))


def hard(claim: Claim) -> bool:
    nodes = [n for t in claim.trees for n in walk(t)]
    return any(n.op in ("inverse", "softmax", "derivative") for n in nodes) or any(a.kind == "product" for a in claim.given)


# What is assumed of sizes alone


def allowed(claim: Claim, names: list, chosen: tuple) -> bool:
    """May the sizes be these? What is not understood rules nothing out."""
    env = dict(zip(names, chosen))
    found = [(a.kind, value(a.args[0], env)) for a in claim.given if a.kind in KINDS]
    return all(KINDS[kind](v) for kind, v in found if v is not None)


def value(e: Expr, env: dict):
    """The number that an expression in sizes alone is; None where it holds something else."""
    parts = [value(x, env) for x in e.args]
    if e.op == "const":
        return e.data
    if e.op == "symbol":
        return Fraction(env[e.data[0]]) if e.data[0] in env else None
    if e.op not in ARITHMETIC or None in parts or e.op == "div" and not parts[1] or e.op == "pow" and not whole(parts):
        return None
    return ARITHMETIC[e.op](*parts)


def whole(parts: list) -> bool:
    return parts[1].denominator == 1 and abs(parts[1]) < 100 and bool(parts[0] or parts[1] >= 0)


ARITHMETIC = {
    "paren": lambda a: a,
    "neg": lambda a: -a,
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: Fraction(a) ** int(b),
}


# The degree in a size


def enough_sizes(claim: Claim, names: list) -> list:
    """All sizes up to one more than the degree in each, where the claim is a polynomial, or a quotient of two, in some of them."""
    pairs = sides(claim)
    in_it = [n for n in names if any(is_number(t, n) for pair in pairs for t in pair)]
    many = {n: 1 + max(difference(*pair, n) for pair in pairs) for n in in_it}
    if not in_it:
        return []
    inner = summed_over(claim)
    larger = {name: tuple(LARGER if n == name else LARGER + 1 if n in inner else 1 for n in names) for name in in_it}
    if inner or prod(many.values()) > (MOST if not counted(claim) else MOST_HARD if hard(claim) else MOST_COUNTED):
        return list(larger.values())
    soon = [larger[name] for name in in_it if hard(claim) or is_argument(claim, name)]
    return [*soon, *product(*(possible(claim, n)[: int(many[n])] if n in many else (2,) for n in names))]


def is_argument(claim: Claim, name: str) -> bool:
    """Does the size stand as a number in what a function is of? The degree says nothing of that."""
    return any(n.op in ("function", "softmax") and is_number(n.args[0], name) for t in claim.trees for n in walk(t))


def summed_over(claim: Claim) -> set:
    """The sizes that are summed over in a product that is given: there has to be room for rows that are orthogonal."""
    return {a.args[0].shape[-1].data[0] for a in claim.given if a.kind == "product" and a.args[0].shape[-1].op == "symbol"}


def sides(claim: Claim) -> list:
    """What is equal to what."""
    trees = [claim.start, *(s.expr for s in claim.steps)]
    if claim.kind == "inequality":
        return [(trees[1] - trees[0], claim.because[0])] if len(claim.because) == 1 else []
    return list(pairwise(trees)) if claim.kind in ("identity", "chain", "law", "limit") else []


def possible(claim: Claim, name: str) -> list:
    """Which values what is assumed of this size alone leaves it."""
    return [k for k in range(1, LARGEST[1] + 1) if allowed(claim, [name], (k,))]


def is_number(e: Expr, name: str) -> bool:
    """Does the size stand in it as a number, or an index that runs to it?"""
    if e.op == "symbol":
        return e.data == (name, "size")
    if e.op == "index":
        return e.data[1].op == "symbol" and e.data[1].data[0] == name
    return any(is_number(x, name) for x in operands(e))


def difference(left: Expr, right: Expr, name: str) -> float:
    """The degree of the difference of two sides, over one denominator; in the root of the size, where a root is taken."""
    (n1, d1), (n2, d2) = degrees(left, name), degrees(right, name)
    roots = any(n.op == "pow" and n.args[1].op == "const" and n.args[1].data.denominator != 1 for t in (left, right) for n in walk(t))
    return (1 + roots) * max(n1 + d2, n2 + d1)


def degrees(e: Expr, name: str) -> tuple:
    """Bounds on the degrees of numerator and denominator in a size; infinite where it is no quotient of polynomials."""
    if not is_number(e, name) and not any(runs(x, name) for x in walk(e)):
        return 0, 0
    if e.op in ("symbol", "index"):
        return int(is_number(e, name)), 0
    if e.op in ("function", "softmax"):
        return 0, 0  # no polynomial: numbers of their own, beside which others are polynomials
    parts = [degrees(x, name) for x in operands(e)]
    if e.op in ("paren", "defined", "neg", "transpose", "entry", "derivative", "expectation", "each"):
        return parts[0]
    if e.op == "variance":
        return 2 * parts[0][0], 2 * parts[0][1]
    if e.op == "sum" or e.op == "matmul":
        n, d = map(sum, zip(*parts))
        return n + runs(e, name), d
    if e.op == "add":
        (n1, d1), (n2, d2) = parts
        return max(n1 + d2, n2 + d1), d1 + d2
    if e.op in ("mul", "div"):
        (n1, d1), (n2, d2) = parts[0], parts[1] if e.op == "mul" else parts[1][::-1]
        return n1 + n2, d1 + d2
    if e.op == "pow" and e.args[1].op == "const":
        times, (n, d) = e.args[1].data, parts[0]
        return (n * times, d * times) if times >= 0 else (d * -times, n * -times)
    return inf, inf


def runs(e: Expr, name: str) -> bool:
    """Is something summed over this size?"""
    size = e.data[1] if e.op == "sum" else e.args[0].shape[-1] if e.op == "matmul" else None
    return size is not None and size.op == "symbol" and size.data[0] == name
