"""The sizes at which a claim is checked: enough of those that satisfy the assumptions about sizes alone.

Every size takes every small value, and of any two sizes each is once the larger one. A polynomial that vanishes at more values than its
degree vanishes everywhere. Therefore a size that also occurs as a number takes more values than the degree of the claim in it. If the degree
is unknown, or if each size takes long, such a size is once larger than the small values while the others are one.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from math import inf, prod

from ..core.claims import Claim
from ..core.expr import Expr, operands, symbols, walk
from ..core.operators import BINDERS

MAX, MAX_WITH_SHAPES, MAX_HARD = 400, 64, 12  # numbers of size tuples: for scalars, with axes or sums, and for slow operators
SMALL_SIZES = 2  # sizes at which comparisons of positions may come out otherwise than at larger ones
LARGER = 5  # larger than all small sizes
LARGEST = {1: 130, 2: 12, 3: 6}  # the largest value for each number of sizes, if assumptions exclude the small ones
Sizes = tuple[int, ...]
KINDS: dict[str, Callable[[Fraction], bool]] = {"positive": lambda v: v > 0, "nonnegative": lambda v: v >= 0, "nonzero": lambda v: v != 0}


def size_names(claim: Claim) -> list[str]:
    """Return the names of the claim's sizes, sorted."""
    return sorted(n for n, s in symbols(*claim.trees).items() if s.data[1] == "size")


def sizes_tried(claim: Claim, names: list[str]) -> list[Sizes]:
    """Return the tuples of sizes to try, in the order of the names."""
    every = list(dict.fromkeys([*explicit_sizes(claim, names), *enough_sizes(claim, names), *sizes_for_positions(claim, names)]))
    found = [chosen for chosen in every if allowed(claim, names, chosen)]
    if found:
        return found
    larger = sorted(product(range(1, LARGEST.get(len(names), 3) + 1), repeat=len(names)), key=sum)
    return [chosen for chosen in larger if allowed(claim, names, chosen)][:5] or every


def explicit_sizes(claim: Claim, names: list[str]) -> list[Sizes]:
    """Return tuples of small sizes."""
    if not has_axes(claim) and len(names) < 4:
        return list(product((1, 2, 3, 4), repeat=len(names)))
    products = sum(a.kind == "product" for a in claim.given)  # three such assumptions take minutes to solve at size three
    has_irrational = any(n.op == "inverse" and any(x.op == "pow" for x in walk(n)) for t in claim.trees for n in walk(t))
    top, count = 2 if is_hard(claim) and (len(names) > 1 or products > 2 or has_irrational) else 3, len(names)
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


def has_axes(claim: Claim) -> bool:
    """Return whether a size is the length of an axis or a sum, and not only a number."""
    return any(n.shape or n.op in BINDERS for t in claim.trees for n in walk(t))


def is_hard(claim: Claim) -> bool:
    """Return whether the claim contains operators or assumptions that SymPy handles slowly."""
    nodes = [n for t in claim.trees for n in walk(t)]
    return any(n.op in ("inverse", "softmax", "derivative") for n in nodes) or any(a.kind == "product" for a in claim.given)


# Assumptions about sizes alone


def allowed(claim: Claim, names: list[str], chosen: Sizes) -> bool:
    """Return whether the assumptions allow these sizes. Those about numbers other than sizes are ignored."""
    env = dict(zip(names, chosen))
    found = [(a.kind, value(a.args[0], env)) for a in claim.given if a.kind in KINDS]
    inverted = [a.args[0] for a in claim.given if a.kind == "invertible"]
    return all(KINDS[kind](v) for kind, v in found if v is not None) and all(largest_rank(x, env) == rows(x, env) for x in inverted)


def largest_rank(e: Expr, env: dict[str, int]) -> int:
    """Return a bound on the rank of a matrix that follows from the sizes of its factors and summands."""
    if e.op == "matmul" and all(len(x.shape) == 2 for x in e.args):
        return min(largest_rank(x, env) for x in e.args)
    if e.op == "add":
        return min(rows(e, env), sum(largest_rank(x, env) for x in e.args))
    if e.op in ("transpose", "paren", "neg"):
        return largest_rank(e.args[0], env)
    return min(rows(e, env), rows(e, env, -1))


def rows(e: Expr, env: dict[str, int], axis: int = 0) -> int:
    """Return the length of the first axis of a tensor, or of another one."""
    size = e.shape[axis]
    return int(size.data) if size.op == "const" else env.get(size.data[0], 1)


def value(e: Expr, env: dict[str, int]) -> Fraction | None:
    """Return the value of an expression in sizes alone, or None if it contains anything else or is undefined."""
    parts = [value(x, env) for x in e.args]
    if e.op == "const":
        return e.data
    if e.op == "symbol":
        return Fraction(env[e.data[0]]) if e.data[0] in env else None
    numbers = [x for x in parts if x is not None]
    if e.op not in ARITHMETIC or len(numbers) < len(parts):
        return None
    if e.op == "div" and not numbers[1] or e.op == "pow" and not is_small_power(numbers):
        return None
    return ARITHMETIC[e.op](*numbers)


def is_small_power(parts: list[Fraction]) -> bool:
    """Return whether a power has a small integer exponent and is defined."""
    return parts[1].denominator == 1 and abs(parts[1]) < 100 and bool(parts[0] or parts[1] >= 0)


ARITHMETIC: dict[str, Callable[..., Fraction]] = {
    "paren": lambda a: a,
    "neg": lambda a: -a,
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: Fraction(a) ** int(b),
}


# The degree in a size


def enough_sizes(claim: Claim, names: list[str]) -> list[Sizes]:
    """Return more values than the degree for each size in which the claim is a rational function."""
    pairs = sides(claim)
    inverted = {node.shape[0] for t in claim.trees for node in walk(t) if node.op == "inverse"}  # five rows of symbols take SymPy too long
    slow = {size.data[0] for size in inverted if size.op == "symbol"}
    in_it = [n for n in names if n not in slow and any(is_number(t, n) for pair in pairs for t in pair)]
    many = {n: 1 + max(degree_of_difference(left, right, n) for left, right in pairs) for n in in_it}
    if not in_it:
        return []
    inner = summed_over(claim)
    larger = {name: tuple(LARGER if n == name else LARGER + 1 if n in inner else 1 for n in names) for name in in_it}
    has_conditions = any(n.op == "where" for t in claim.trees for n in walk(t))
    entry_by_entry = is_hard(claim) and has_conditions
    if inner or entry_by_entry or prod(many.values()) > (MAX if not has_axes(claim) else MAX_HARD if is_hard(claim) else MAX_WITH_SHAPES):
        # Where a condition compares two sizes with small numbers, both must be larger for it to hold.
        together = [tuple(LARGER - k % 2 for k in range(len(names)))] if has_conditions and not is_hard(claim) and len(names) == 2 else []
        return [*larger.values(), *together]
    soon = [larger[name] for name in in_it if is_hard(claim) or is_argument(claim, name)]
    return [*soon, *product(*(possible(claim, n)[: int(many[n])] if n in many else (2,) for n in names))]


def sizes_for_positions(claim: Claim, names: list[str]) -> list[Sizes]:
    """Return tuples in which one size that positions are compared with is 2, the axes of these positions have 3, and the others 1."""
    compared = [side for t in claim.trees for n in walk(t) if n.op == "where" for side in n.args[1:]]
    axes = {e.data[1].data[0] for side in compared for e in walk(side) if e.op == "index" and e.data[1].op == "symbol"}
    numbers = [n for n in names if n not in axes and any(is_number(side, n) for side in compared)]
    return [tuple(3 if n in axes else 2 if n == number else 1 for n in names) for number in numbers]


def is_argument(claim: Claim, name: str) -> bool:
    """Return whether the size occurs as a number in the argument of a function. The degree does not cover this."""
    return any(n.op in ("function", "softmax") and is_number(n.args[0], name) for t in claim.trees for n in walk(t))


def summed_over(claim: Claim) -> set[str]:
    """Return the inner sizes of the products that assumptions are about. They must be large enough for orthogonal rows."""
    return {a.args[0].shape[-1].data[0] for a in claim.given if a.kind == "product" and a.args[0].shape[-1].op == "symbol"}


def sides(claim: Claim) -> list[tuple[Expr, Expr]]:
    """Return the pairs of expressions that the claim states to be equal."""
    trees = [claim.start, *(s.expr for s in claim.steps)]
    if claim.kind == "inequality":
        return [(trees[1] - trees[0], claim.because[0])] if len(claim.because) == 1 else []
    return list(pairwise(trees)) if claim.kind in ("identity", "chain", "law", "limit") else []


def possible(claim: Claim, name: str) -> list[int]:
    """Return the values that the assumptions about this size alone allow."""
    return [k for k in range(1, LARGEST[1] + 1) if allowed(claim, [name], (k,))]


def is_number(e: Expr, name: str) -> bool:
    """Return whether an expression depends on the value of the size, or on that of an index that runs up to it."""
    if e.op == "symbol":
        return e.data == (name, "size")
    if e.op == "index":
        return e.data[1].op == "symbol" and e.data[1].data[0] == name
    return any(is_number(x, name) for x in operands(e))


def degree_of_difference(left: Expr, right: Expr, name: str) -> float:
    """Return a bound on the degree of the numerator of left - right in a size, or in its root if there are roots."""
    (n1, d1), (n2, d2) = degrees(left, name), degrees(right, name)
    roots = any(n.op == "pow" and n.args[1].op == "const" and n.args[1].data.denominator != 1 for t in (left, right) for n in walk(t))
    return (1 + roots) * max(n1 + d2, n2 + d1)


def degrees(e: Expr, name: str) -> tuple[float, float]:
    """Return bounds on the degrees of numerator and denominator in a size. They are infinite for other than rational functions."""
    if not is_number(e, name) and not any(runs(x, name) for x in walk(e)):
        return 0, 0
    if e.op in ("symbol", "index"):
        return int(is_number(e, name)), 0
    if e.op in ("function", "softmax"):
        return 0, 0  # treated as independent numbers, in which the rest is a polynomial
    parts = [degrees(x, name) for x in operands(e)]
    if e.op in ("paren", "defined", "neg", "transpose", "entry", "derivative", "expectation", "each"):
        return parts[0]
    if e.op == "where":  # a polynomial once the size is larger than the numbers that it is compared with
        return parts[0][0] + SMALL_SIZES, parts[0][1]
    if e.op == "variance":
        return 2 * parts[0][0], 2 * parts[0][1]
    if e.op == "sum" or e.op == "matmul":
        return sum(n for n, _ in parts) + runs(e, name), sum(d for _, d in parts)
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
    """Return whether a node sums over this size."""
    size = e.data[1] if e.op == "sum" else e.args[0].shape[-1] if e.op == "matmul" else None
    return size is not None and size.op == "symbol" and size.data[0] == name
