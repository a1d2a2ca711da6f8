"""Choose the sizes at which a claim is tried: small shapes, shapes at the edge of the assumptions, large ones, and long ones for code.

Functions that yield lists of options give several shapes for one trial; assumptions may relate sizes, so that only some of them fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

import torch

from ..core.assumptions import is_random
from ..core.claims import Claim
from ..core.expr import Expr, free_indices, node_sizes, symbols, walk
from ..core.operators import BINDERS
from .evaluation import evaluate
from .given_values import bindable_names, given_sizes
from .matrices_with_products import group_products, needs_joint_draw
from .trial import Trial, cache_last, involved_trees, symbols_of
from .written_numbers import list_written_sizes

SHAPES = 10  # shapes of ordinary sizes
MAX_COMBINED = {2: 4, 3: 3}  # number of sizes -> the largest one in all combinations of small sizes; else 2
POINTS, CANDIDATES = 8, 128  # points that are drawn; candidates, if the assumptions may discard some of them
FILTERING = ("positive", "nonnegative", "nonzero", "invertible", "variance")  # assumptions that a drawn number may violate
MAX_GRID_SIZE, MAX_TIGHT = (
    {1: 40, 2: 12, 3: 6, 4: 4},
    4,
)  # number of sizes -> largest size of a search for tight ones; how many of these are tried
LARGE, LARGE_OF_LAW = 8, 5  # the least size that is large; smaller for a law, which has too many outcomes
MAX_LARGE_SIZES = 4  # sizes that are large at the same time
MAX_ENTRIES = 60_000  # of a tensor at large sizes, at each point
SPREAD, MAX_SPREAD_ENTRIES = (5, 6, 7, 9, 10, 16, 17, 33, 64), 6_000  # further sizes for code, and the entries of a tensor there
IN_FORMATS = (10, 64)  # those of them at which code also runs in fp32, fp16 and bf16
LONG, MAX_LONG_NUMBERS = (65, 100, 129, 257, 1025), 1_500_000  # long sizes for code, and the numbers that are drawn there
COUNTS = (*SPREAD, 100, 257, 1000, 4099)  # instead of SPREAD, if no tensor has these sizes


def shapes(claim: Claim, largest: int) -> Iterator[dict]:
    """Yield small shapes: all sizes 1, all 2, different sizes, random sizes, and those at which the claim shows that an assumption is needed.

    A claim without sizes yields the empty shape a few times.
    """
    found = symbols(*claim.trees)
    names = sorted(n for n, s in found.items() if s.data[1] == "size")
    nodes_ = [n for tree in claim.trees for n in walk(tree)]
    sized = any(s.op == "symbol" for n in nodes_ for s in node_sizes(n))
    random = torch.Generator().manual_seed(1)
    yield {n: 1 for n in names}
    yield {n: 2 for n in names}
    if not names:
        yield from ({}, {})
        return
    for k in range(largest):  # each size is the smallest one once
        yield {n: largest - (i + k) % largest for i, n in enumerate(names)}
    for _ in range(SHAPES - 2 - largest):
        yield {n: int(torch.randint(1, (largest if sized else 16 * largest) + 1, (), generator=random)) for n in names}
    yield from tight_shapes(claim, names)
    for _, at in claim.without:  # an example that shows that an assumption is needed may have special sizes
        if given := given_sizes(bindable_names(claim), at):
            yield {n: given.get(n, 2) for n in names}


def tight_shapes(claim: Claim, names: list) -> Iterator[dict]:
    """Yield shapes at which an assumption on sizes alone barely holds; they show it if the assumption is too weak."""
    top = MAX_GRID_SIZE.get(len(names), 1)
    for a in claim.given:
        kinds = {s.data[1] for s in symbols(*a.args).values()}
        if a.kind in ("positive", "nonnegative") and kinds == {"size"} and not free_indices(a.args[0]):
            grid = [dict(zip(names, chosen)) for chosen in product(range(1, top + 1), repeat=len(names))]
            left = [(float(evaluate(a.args[0], Trial([*a.args], sizes)).value), k) for k, sizes in enumerate(grid)]
            enough = sorted((v, -max(grid[k].values()), k) for v, k in left if v > 0 or v == 0 and a.kind == "nonnegative")
            yield from [grid[k] for _, _, k in enough[:MAX_TIGHT]]


def large_shapes(claim: Claim) -> Iterator[list[dict]]:
    """Yield options of large shapes with different sizes, with as many large sizes at once as the memory of a tensor allows.

    Assumptions may relate sizes, for example if the rows of a matrix are orthonormal; the reverse order, or one large size, may still fit.
    """
    trees = involved_trees(claim)
    names = sorted(n for n, s in symbols_of(claim).items() if s.data[1] == "size")
    few = {n: 2 + k % 2 for k, n in enumerate(names)}
    left = list(names)
    while left:
        group = left[:1]
        while (
            len(group) < min(len(left), MAX_LARGE_SIZES)
            and max_entries(trees, few | increasing_sizes(left[: len(group) + 1])) <= MAX_ENTRIES
        ):
            group = left[: len(group) + 1]
        left = left[len(group) :]
        options = [
            few | increasing_sizes(group),
            few | increasing_sizes(group[::-1]),
            increasing_sizes(names),
            increasing_sizes(names[::-1]),
        ]
        alone = [dict.fromkeys(names, 1) | {n: LARGE} for n in group]
        yield [sizes for sizes in options if max_entries(trees, sizes) <= MAX_ENTRIES] + alone


def shapes_with_one_large(claim: Claim, compared_at: list) -> Iterator[list[dict]]:
    """Yield options for each size that was not large at any shape in `compared_at`: it is large, and the others are small.

    If an assumption gives a product of matrices, its inner size is larger still, which leaves room for orthogonal rows.
    """
    names = sorted(n for n, s in symbols_of(claim).items() if s.data[1] == "size")
    large = large_size(claim)
    small = [dict(sizes) for sizes in compared_at if max((size for _, size in sizes), default=large) < large]
    inner = {a.args[0].shape[-1].data[0] for a in claim.given if a.kind == "product" and a.args[0].shape[-1].op == "symbol"}
    for name in names:
        if small and not any(size >= large for sizes in compared_at for other, size in sizes if other == name):
            wide = [sizes | dict.fromkeys(inner, 2 * large) | {name: large} for sizes in small[:2]] if inner else []
            options = [*(sizes | {name: large} for sizes in (*small[-3:], dict.fromkeys(names, 1))), *wide]
            yield [sizes for sizes in options if max_entries(involved_trees(claim), sizes) <= MAX_ENTRIES]


def shapes_for_conditions(claim: Claim) -> Iterator[dict]:
    """Yield all combinations of small sizes, for a claim with conditions on positions: some conditions hold at few of them."""
    names = sorted(n for n, s in symbols_of(claim).items() if s.data[1] == "size")
    if len(names) > 1 and any(n.op == "where" for tree in claim.trees for n in walk(tree)):
        for chosen in product(range(1, MAX_COMBINED.get(len(names), 2) + 1), repeat=len(names)):
            yield dict(zip(names, chosen))


@cache_last
def large_size(claim: Claim) -> int:
    """Return the least value at which a size of the claim counts as large."""
    return LARGE_OF_LAW if any(s.data[1] == "random" for s in symbols_of(claim).values()) else LARGE


def further_shapes(claim: Claim) -> Iterator[list[dict]]:
    """Yield options of further shapes for code: each size takes each value once, together with the others if the tensors stay small enough."""
    trees = involved_trees(claim)
    names = sorted(n for n, s in symbols_of(claim).items() if s.data[1] == "size")
    few = {n: 2 + k % 2 for k, n in enumerate(names)}
    counts = not any(s.op == "symbol" for tree in trees for n in walk(tree) for s in node_sizes(n))
    for k, size in enumerate(COUNTS if counts else SPREAD):
        spread = {n: SPREAD[(k + 2 * i) % len(SPREAD)] if i else size for i, n in enumerate(names)}
        if counts or len(names) == 1 or max_entries(trees, spread) <= MAX_SPREAD_ENTRIES:
            yield [spread, dict(zip(names, reversed(list(spread.values()))))] if names else []
        else:
            yield from ([few | {n: size}, dict.fromkeys(names, 1) | {n: size}, dict.fromkeys(names, size)] for n in names)


def long_shapes(claim: Claim) -> Iterator[list[dict]]:
    """Yield options of long shapes, for code that is right up to some length.

    A single size takes each long value; each of several sizes takes the longest one that fits.
    """
    trees = involved_trees(claim)
    names = sorted(n for n, s in symbols_of(claim).items() if s.data[1] == "size")
    few = {n: 2 + k % 2 for k, n in enumerate(names)}
    for name in names:
        longer = [few | {name: size} for size in LONG]
        options = [sizes for sizes in longer if max_entries(trees, sizes, once=True) * points_drawn(claim) <= MAX_LONG_NUMBERS]
        yield from ([one] for one in options) if len(names) == 1 else [options[::-1]]


def written_shapes(claim: Claim) -> Iterator[list[dict]]:
    """Yield options of shapes in which a size is one that the source of the claim's code suggests, and the others are small."""
    trees = involved_trees(claim)
    names = sorted(n for n, s in symbols_of(claim).items() if s.data[1] == "size")
    few = {n: 2 + k % 2 for k, n in enumerate(names)}
    for name, size in product(names, list_written_sizes(claim)):
        options = [few | {name: size}, dict.fromkeys(names, 1) | {name: size}]
        yield [sizes for sizes in options if max_entries(trees, sizes, once=True) <= MAX_LONG_NUMBERS]


@cache_last
def is_filtered(claim: Claim) -> bool:
    """Return whether a claim has assumptions that a drawn number may violate: about its sign, or that it is the probability of a coin."""
    return any(a.kind in FILTERING or a.kind == "zero_or_one" and is_random(a.args[0]) for a in claim.given)


def points_drawn(claim: Claim) -> int:
    """Return the number of points at which values are drawn for a claim with sizes."""
    products = [a for a in claim.given if a.kind == "product"]
    return CANDIDATES if is_filtered(claim) or any(map(needs_joint_draw, group_products(products))) else POINTS


def increasing_sizes(names: list) -> dict[str, int]:
    """Return large sizes that are all different."""
    return {n: LARGE + k for k, n in enumerate(names)}


def max_entries(trees: list, sizes: dict, once: bool = False) -> int:
    """Return a bound on the number of entries of any node in the trees, for all values of its free indices.

    With `once`, a symbol is counted once, as it does not depend on indices.
    """

    def number(size: Expr) -> int:
        return int(size.data) if size.op == "const" else sizes[size.data[0]]

    def most(e: Expr, around: int) -> int:
        around *= number(e.data[1]) if e.op in BINDERS else 1
        around = 1 if once and e.op == "symbol" else around
        return max([around * prod(map(number, e.shape)), *(most(x, around) for x in e.args)])

    free = set().union(*map(free_indices, trees))
    return max(most(e, prod(number(i.data[1]) for i in free)) for e in trees)
