"""Sizes and values to try a claim at: those at which its assumptions hold, and nothing that they do not demand.

The draws come from a seeded generator, not from hypothesis, which would take constants from whatever modules are loaded and
write a folder: a check is to say the same each time. Entries that are not said to be independent are also drawn equal, all of them
or those in one place.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations, product
from math import prod

import torch
from torch import Tensor

from ..core.claims import Claim
from ..core.expr import Expr, free_indices, own_sizes, symbols, walk
from ..core.operators import BINDERS
from .assumptions import all_of, holds
from .error_bounds import Value
from .errors import NotForTorch
from .evaluation import evaluate
from .expectations import is_smooth_law, put_random
from .given_values import bindable, put_values, sizes_in
from .matrix_sampling import is_tied, put_products, tied
from .trial import Trial, involved, of_last, symbols_of

SHAPES, POINTS, CANDIDATES = 10, 8, 128
SMALL, MANY = 2, 1024  # whole numbers up to which size, and at how many points, for what vanishes where they cancel
GRID, TIGHT = {1: 40, 2: 12, 3: 6, 4: 4}, 4  # of how many sizes each goes up to what, where few fit; how many of those are tried
STEPS, NEAR = 8, 2.0**-16  # towards where almost nothing is left; how little needs no more of them
NEARLY = 2.0**-20  # how much is left of what is moved almost to 0
LARGE, LARGE_OF_LAW = 8, 5  # from where a size is large; what is random has too many outcomes at more
AT_ONCE, FEW = 4, 2  # how many sizes are large at once, and at how many points
ENTRIES = 60_000  # of a tensor at large sizes, at each point
SPREAD, SPREAD_ENTRIES = (5, 6, 7, 9, 10, 16, 17, 33, 64), 6_000  # sizes at which code is tried as well, and of how many entries
IN_FORMATS = (10, 64)  # at which of these in fewer digits, too
LONG, LONG_NUMBERS = (65, 100, 129, 257, 1025), 1_500_000  # the same, at one point each; of how many numbers that are drawn
COUNTS = (*SPREAD, 100, 257, 1000, 4099)  # the same where a size is a number, and no tensor has it
SCALES = (2.0**20, 2.0**-27)  # by which the entries are larger and smaller once
FILTERING = ("positive", "nonnegative", "nonzero", "invertible", "variance")  # what is assumed of numbers, and may not hold of those drawn
DRAWN_NUMBERS = 2**23  # of what was drawn before, that are kept
ORDINARY = 1  # the number, in `entries`, of the kind that tells most about code
TELLING = 3, 4, 2  # and of those that tell most beside it: one number throughout, zeros among others, ones of very different size
NARROW = 64  # points of two kinds, of which some may break what is assumed


def shapes(claim: Claim, largest: int):
    """All sizes one, all two, others that differ from one another, sizes at random, and those that the claim names as telling.

    For a claim without sizes, nothing, a few times.
    """
    found = symbols(*claim.trees)
    names = sorted(n for n, s in found.items() if s.data[1] == "size")
    nodes_ = [n for tree in claim.trees for n in walk(tree)]
    sized = any(s.op == "symbol" for n in nodes_ for s in own_sizes(n))
    random = torch.Generator().manual_seed(1)
    yield {n: 1 for n in names}
    yield {n: 2 for n in names}
    if not names:
        yield from ({}, {})
        return
    for k in range(largest):  # each size is the smallest once
        yield {n: largest - (i + k) % largest for i, n in enumerate(names)}
    for _ in range(SHAPES - 2 - largest):
        yield {n: int(torch.randint(1, (largest if sized else 16 * largest) + 1, (), generator=random)) for n in names}
    yield from at_the_bound(claim, names)
    for _, at in claim.without:  # where an assumption is needed at a size, the claim is tried at that size
        if given := sizes_in(bindable(claim), at):
            yield {n: given.get(n, 2) for n in names}


def at_the_bound(claim: Claim, names: list):
    """Sizes at which almost nothing is left of what is assumed of sizes alone not to be negative: where it is assumed of too little, they show it."""
    top = GRID.get(len(names), 1)
    for a in claim.given:
        kinds = {s.data[1] for s in symbols(*a.args).values()}
        if a.kind in ("positive", "nonnegative") and kinds == {"size"} and not free_indices(a.args[0]):
            grid = [dict(zip(names, chosen)) for chosen in product(range(1, top + 1), repeat=len(names))]
            left = [(float(evaluate(a.args[0], Trial([*a.args], sizes)).v), k) for k, sizes in enumerate(grid)]
            enough = sorted((v, -max(grid[k].values()), k) for v, k in left if v > 0 or v == 0 and a.kind == "nonnegative")
            yield from [grid[k] for _, _, k in enough[:TIGHT]]


def large_shapes(claim: Claim):
    """Large sizes, all different, as many at once as tensors of a bearable size allow; each time several to choose from.

    Assumptions may tie sizes, as where the rows of a matrix are orthonormal: the other way round, or with one name alone, they hold.
    """
    trees = involved(claim)
    names = sorted(n for n, s in symbols_of(claim).items() if s.data[1] == "size")
    few = {n: 2 + k % 2 for k, n in enumerate(names)}
    left = list(names)
    while left:
        group = left[:1]
        while len(group) < min(len(left), AT_ONCE) and most_entries(trees, few | rising(left[: len(group) + 1])) <= ENTRIES:
            group = left[: len(group) + 1]
        left = left[len(group) :]
        options = [few | rising(group), few | rising(group[::-1]), rising(names), rising(names[::-1])]
        alone = [dict.fromkeys(names, 1) | {n: LARGE} for n in group]
        yield [sizes for sizes in options if most_entries(trees, sizes) <= ENTRIES] + alone


def one_large(claim: Claim, told: list):
    """For each size that was never large where something was told: large beside such small ones as go together; where one matrix times
    another is given, what is summed over there is larger still, which leaves room for rows that are orthogonal."""
    names = sorted(n for n, s in symbols_of(claim).items() if s.data[1] == "size")
    large = large_for(claim)
    small = [dict(sizes) for sizes in told if max((size for _, size in sizes), default=large) < large]
    inner = {a.args[0].shape[-1].data[0] for a in claim.given if a.kind == "product" and a.args[0].shape[-1].op == "symbol"}
    for name in names:
        if small and not any(size >= large for sizes in told for other, size in sizes if other == name):
            wide = [sizes | dict.fromkeys(inner, 2 * large) | {name: large} for sizes in small[:2]] if inner else []
            options = [*(sizes | {name: large} for sizes in (*small[-3:], dict.fromkeys(names, 1))), *wide]
            yield [sizes for sizes in options if most_entries(involved(claim), sizes) <= ENTRIES]


@of_last
def large_for(claim: Claim) -> int:
    """From where a size of the claim is large."""
    return LARGE_OF_LAW if any(s.data[1] == "random" for s in symbols_of(claim).values()) else LARGE


def further_shapes(claim: Claim):
    """Sizes at which the code of a claim is tried as well: each name takes each of them once, with those of the others if that can be borne.

    Each time several to choose from, as assumptions may tie sizes.
    """
    trees = involved(claim)
    names = sorted(n for n, s in symbols_of(claim).items() if s.data[1] == "size")
    few = {n: 2 + k % 2 for k, n in enumerate(names)}
    counts = not any(s.op == "symbol" for tree in trees for n in walk(tree) for s in own_sizes(n))
    for k, size in enumerate(COUNTS if counts else SPREAD):
        spread = {n: SPREAD[(k + 2 * i) % len(SPREAD)] if i else size for i, n in enumerate(names)}
        if counts or len(names) == 1 or most_entries(trees, spread) <= SPREAD_ENTRIES:
            yield [spread, dict(zip(names, reversed(list(spread.values()))))] if names else []
        else:
            yield from ([few | {n: size}, dict.fromkeys(names, 1) | {n: size}, dict.fromkeys(names, size)] for n in names)


def long_shapes(claim: Claim):
    """Sizes that are longer still, for code that is right up to some length: of one name each of them, of several the longest for each."""
    trees = involved(claim)
    names = sorted(n for n, s in symbols_of(claim).items() if s.data[1] == "size")
    few = {n: 2 + k % 2 for k, n in enumerate(names)}
    for name in names:
        longer = [few | {name: size} for size in LONG]
        options = [sizes for sizes in longer if most_entries(trees, sizes, once=True) * drawn_at_once(claim) <= LONG_NUMBERS]
        yield from ([one] for one in options) if len(names) == 1 else [options[::-1]]


@of_last
def drawn_at_once(claim: Claim) -> int:
    """At how many points values are drawn where a claim has sizes."""
    filtered = any(a.kind in FILTERING for a in claim.given)
    products = [a for a in claim.given if a.kind == "product"]
    return CANDIDATES if filtered or any(map(is_tied, tied(products))) else POINTS


@of_last
def operations(claim: Claim) -> set[str]:
    """The operations of a claim and of what its snippets are given."""
    return {n.op for tree in involved(claim) for n in walk(tree)}


def rising(names: list) -> dict:
    return {n: LARGE + k for k, n in enumerate(names)}


def most_entries(trees: list, sizes: dict, once: bool = False) -> int:
    """A bound on how many entries any node of the trees has, with the indices that are open there; a symbol, which has none, counts once
    if that is asked."""

    def number(size: Expr) -> int:
        return int(size.data) if size.op == "const" else sizes[size.data[0]]

    def most(e: Expr, around: int) -> int:
        around *= number(e.data[1]) if e.op in BINDERS else 1
        around = 1 if once and e.op == "symbol" else around
        return max([around * prod(map(number, e.shape)), *(most(x, around) for x in e.args)])

    free = set().union(*map(free_indices, trees))
    return max(most(e, prod(number(i.data[1]) for i in free)) for e in trees)


class Drawn:
    """What was drawn before: asked for again in the same state of the generator, as for other claims of the same symbols, it is the same."""

    def __init__(self):
        self.found: dict[tuple, tuple] = {}  # (the generator's state, what is asked) -> (what is drawn, the state afterwards)
        self.kept = 0

    def entries(self, random: torch.Generator, *asked) -> Tensor:
        key = (random.get_state().numpy().tobytes(), *asked)
        if key in self.found:
            drawn, after = self.found[key]
            random.set_state(after)
            return drawn
        drawn = entries(random, *asked)
        self.keep(key, drawn, random.get_state())
        return drawn

    def keep(self, key: tuple, drawn: Tensor, after: Tensor) -> None:
        if self.kept > DRAWN_NUMBERS:
            self.found, self.kept = {}, 0
        if drawn.numel() <= DRAWN_NUMBERS // 16:
            self.found[key] = drawn, after
            self.kept += drawn.numel() + 2 * len(key[0]) // 8


DRAWN = Drawn()


def entries(random: torch.Generator, shape: tuple, points: int, small: bool, rough: bool, coarse: bool, only: tuple = ()) -> Tensor:
    """(points, *shape): zeros, whole numbers, ordinary ones, ones of very different size, one number throughout, zeros among others; or,
    by turns, those kinds `only`, which takes less time."""

    def normal(*size):
        return torch.randn(points, *(size or shape), generator=random, dtype=torch.float64)

    def whole(low, high, *size):
        return torch.randint(low, high + 1, (points, *(size or shape)), generator=random).double()

    one = (1,) * len(shape)
    kinds: list = [
        lambda: whole(-2, 2),
        normal,
        lambda: normal() * 2.0 ** whole(-6, 6),
        lambda: normal(*one).expand(-1, *shape),
        lambda: normal() * whole(0, 1),
        lambda: normal() * 2.0 ** whole(-9, 9, *one),
        normal,
        lambda: whole(-9, 9),
    ]
    if small:  # quadrature converges fast only for small numbers
        kinds = [lambda kind=kind: kind().clamp(-1, 1) / 2 for kind in kinds]
    if rough:  # down to where fp32 underflows, and up to where it overflows
        kinds[1::2] = [
            lambda: whole(-5, 5) * 2.0 ** whole(-150, -74),
            kinds[-1],  # whole numbers, as before
            lambda: whole(-9, 9) * 2.0**-149,
            lambda: normal() * 2.0 ** whole(60, 140),
        ]
    variants = [kinds[k]() for k in only or range(len(kinds))]
    if only:
        chosen = torch.arange(points) // 2 % len(only)
    else:
        chosen = torch.randint(0, len(variants), (points,), generator=random)
        chosen[::2] = torch.arange(points)[::2] // 2 % len(variants)  # at every other point one kind for all symbols
    drawn = torch.stack(variants)[chosen, torch.arange(points)]
    drawn[0] = 0
    if coarse:  # at most 26 bits, so that fp64 holds the product of any two
        m, exponent = torch.frexp(drawn)
        drawn = torch.ldexp((m * 2**26).round() / 2**26, exponent)
    return drawn


def draw(
    claim: Claim,
    sizes: dict,
    seed: int,
    fewer: int = 0,
    at: tuple = (),
    with_random: bool = True,
    scale: float = 1.0,
    telling: int = 0,
    small: bool = False,
    only: tuple = (),
):
    """A trial at these sizes, with up to 4 * POINTS points and with what values are given; None if the assumptions hold at none.

    `scale` is for all entries, and `telling` asks for so many of the points that tell most about code, and
    `small` for many points at which all entries are small whole numbers, which often cancel; `only` is for `entries`.
    """
    if telling and not only:
        t = draw(claim, sizes, seed, fewer, at, with_random, scale, telling, small, telling_kinds(telling, seed))
        if t:
            return t  # else at points of all kinds: a wider choice, which takes longer
    trees = involved(claim)
    t = Trial(trees, sizes)
    random = torch.Generator().manual_seed(seed)
    named = symbols_of(claim)
    by = {a.kind: [b for b in claim.given if b.kind == a.kind] for a in claim.given}
    with_random &= any(s.data[1] == "random" for s in named.values())
    filtered = any(a.kind in FILTERING for a in claim.given)
    count = MANY if small else (1 if sizes else 4) * drawn_at_once(claim)
    if only:
        count = min(count, NARROW) if filtered else 2 + 2 * len(only)
    t.exactly |= small
    smooth = with_random and "function" in operations(claim)
    signs = {name: a.kind for a in claim.given if a.kind in ("positive", "nonnegative", "nonzero") for name in all_of(a.args[0])}
    for name, s in sorted(named.items()):
        if s.data[1] == "real":
            if small:
                v = torch.randint(-SMALL, SMALL + 1, (count, *t.shape(s)), generator=random).double()
            else:
                rough = t.exactly and "in range" not in by and not only
                v = scale * DRAWN.entries(random, t.shape(s), count, smooth, rough, t.exactly, only)
            if name in signs and signs[name] != "nonzero":
                v = v.abs()
            if signs.get(name) in ("positive", "nonzero"):
                v = torch.where(v == 0, 1.0, v)
            if any(a.args == (s,) for a in by.get("zero_or_one", ())):
                v = (v > 0).double()
            if any(name in all_of(x) for a in by.get("representable", ()) for x in a.args):
                v = v.to(torch.float32).double()
                v = torch.where(v.isfinite(), v, 1.0)
            t.put(s, v)
    if not put_products(t, by.get("product", ()), random, count):
        return None
    edges = [a.args[0] for a in claim.given if a.kind == "nonnegative"] if "derivative" in operations(claim) else []
    for x in edges:
        put_on_edge(x, t, on_edge(count, only, seed))
    if claim.kind == "inequality" and not t.exactly and not only:
        put_near_edges([a.args[0] for a in claim.given if a.kind in ("positive", "nonnegative")], t, count)
    put_values(t, named, at)
    keep = torch.ones(count, dtype=torch.bool)
    for a in claim.given:
        keep &= holds(a, t)
    drawn = keep.nonzero().flatten()
    if small:
        keep = drawn
    elif only:  # the first of each kind, if there is an ordinary one
        firsts = [next((k for k in drawn.tolist() if k > 1 and is_of(k, kind, only, seed)), None) for kind in range(len(only))]
        keep = torch.tensor([k for k in firsts if k is not None][: telling if firsts[0] else 0], dtype=torch.long)
    elif telling:
        keep = drawn[drawn > 0][:telling] if (drawn > 0).any() else drawn[:telling]
    elif max(sizes.values(), default=0) >= large_for(claim) and not at:
        keep = drawn[1:][:FEW] if len(drawn) > 1 else drawn  # at the first point all is zero
    else:  # an assumption that is a little too weak fails at few of the points that it allows: of those, more are looked at
        keep = edges_first(drawn, edges, t)[: POINTS if sizes and not filtered else 4 * POINTS]
    if not len(keep):
        return None
    t.points(keep)
    t.scaled = scale != 1
    t.overflows = "in range" not in by
    if with_random and not put_random(t, claim, named, random, len(keep), seed, fewer):
        return None
    return t


def telling_kinds(telling: int, seed: int) -> tuple:
    """The kinds of entries at so many points: ordinary ones, and by turns one of those that tell most beside."""
    return (ORDINARY, TELLING[seed % len(TELLING)])[:telling]


def is_of(point: int, kind: int, only: tuple, seed: int) -> bool:
    """Is a point of that kind of entries, and in its turn? At odd points, a matrix that is tied to another is a permutation, and at even
    ones it is turned: ordinary entries meet the one or the other."""
    return point // 2 % len(only) == kind and point % 2 == (seed % 2 if kind == 0 else 0)


def on_edge(points: int, only: tuple, seed: int) -> Tensor:
    """At which points something is moved onto its edge: at every third one; of a few kinds, never where entries are ordinary."""
    at = torch.arange(points)
    return at % 3 == 1 if not only else (at // 2 % len(only) > 0) & (seed % 2 == 1)


def put_on_edge(x: Expr, t: Trial, at: Tensor):
    """At some of the points, a scalar symbol in x is moved so that x is 0, where it takes no more than a shift: x may have a corner there."""
    chosen = at.reshape(-1, *(1,) * (t.leading - 1))
    for name, s in sorted(symbols(x).items()):
        if s.data[1] != "real" or s.shape or free_indices(x):
            continue
        for sign in (-1, 1):
            known = t.values[name]
            moved = (known.v + sign * evaluate(x, t).v).expand(len(at), *known.v.shape[1:])
            t.values[name] = Value(moved, torch.zeros_like(moved))
            there = chosen & (evaluate(x, t).v == 0)
            v = torch.where(there, moved, known.v)
            t.values[name] = Value(v, torch.where(there, 0.0, known.e))


def put_near_edges(assumed: list, t: Trial, points: int):
    """At every third point, almost nothing is left of what is assumed not to be negative: of all of it, or of two things.

    Where it is assumed of too little, a bound that rests on it fails there.
    """
    pairs = list(permutations(assumed, 2))
    at, turn = torch.arange(points) % 3 == 2, torch.arange(points) // 3
    put_near_edge(assumed, at & (turn % 2 == 0) if pairs else at, t)
    for k, pair in enumerate(pairs):
        there = at & (turn % (2 * len(pairs)) == 2 * k + 1)
        every_other = turn // (2 * len(pairs)) % 2 == 1
        put_near_edge(pair, there & ~every_other, t)
        put_near_edge(pair, there & every_other, t, apart=True)


def put_near_edge(assumed: Iterable[Expr], at: Tensor, t: Trial, apart: bool = False):
    """At some of the points, a symbol in each of these is moved so that almost nothing is left of it.

    The symbol has one value for each value of the open indices. With `apart`, its first entry goes where almost nothing is left of the
    first thing, and the others where almost nothing is left of another.
    """
    moved: dict = {}
    for x in assumed:
        for name, s in sorted(symbols(x).items()):
            again = name in moved and not (apart and s.shape)
            open_ = placed_at(x, name, s)
            if s.data[1] == "real" and not again and open_ is not None and set(open_) == free_indices(x):
                before = t.values[name].v
                v = near_edge(x, name, moved.get(name, before), open_, at, t)
                if name in moved:
                    first = torch.zeros(t.shape(s), dtype=torch.bool)
                    first.view(-1)[0] = True
                    v = torch.where(first, before, v)
                t.values[name] = Value(v, torch.zeros_like(v))
                moved.setdefault(name, before)
                break


def placed_at(x: Expr, name: str, s: Expr) -> tuple | None:
    """The open indices at which every entry of a symbol is taken in x, in their order; of a scalar none. None where there is no such order."""
    if not s.shape:
        return ()
    found = {n.args[1:] for n in walk(x) if n.op == "entry" and n.args[0] == s}
    plain = all(i.op == "index" for places in found for i in places) and all(len(set(places)) == len(places) for places in found)
    return next(iter(found)) if len(found) == 1 and plain else None


def near_edge(x: Expr, name: str, v: Tensor, open_: tuple, at: Tensor, t: Trial) -> Tensor:
    """Values of a symbol from some on, where x is almost 0. Steps towards it end early where x bends, so that some are taken."""
    chosen, before = at.reshape(-1, *(1,) * (t.leading - 1)), t.values[name]
    for _ in range(STEPS):
        t.values[name] = Value(v, torch.zeros_like(v))
        here = evaluate(x, t).v
        far = chosen & (here.abs() > NEAR)
        if not far.any():
            break
        t.values[name] = Value(v + 1, torch.zeros_like(v))
        step = (here - here.abs() * NEARLY) / (evaluate(x, t).v - here)
        step = torch.where((far & step.isfinite()).expand(step.shape), step, 0.0)
        for i in open_:  # the axis of the index becomes the tensor's own
            step = step.unsqueeze(-1).transpose(t.axes[i.data], -1)
        v = v - step
    t.values[name] = before
    return v


def edges_first(kept: Tensor, edges: list, t: Trial) -> Tensor:
    """The points that are kept, of which some at each edge come first."""
    first: list[int] = []
    for x in edges:
        on = (evaluate(x, t).v == 0).flatten(1).any(1).expand(max(len(y.v) for y in t.values.values()))
        first += [k for k in kept.tolist() if on[k]][:2]
    return torch.tensor(list(dict.fromkeys([*first, *kept.tolist()])), dtype=torch.long)


def values(claim: Claim, trees: list, sizes: dict, seed: int):
    """(trial, the value of each tree), or None where no values were found. Quadrature has its own error, which is estimated."""
    t = draw(claim, sizes, seed)
    if t is None:
        return None
    found = [evaluate(e, t) for e in trees]
    if is_smooth_law(claim):
        coarse = draw(claim, sizes, seed, fewer=2)
        again = [evaluate(e, coarse) for e in trees]
        if any(x.v.shape != y.v.shape for x, y in zip(found, again)):  # it has a value for each outcome
            raise NotForTorch("a random entry outside an expectation")
        found = [Value(x.v, x.e + 2 * (x.v - y.v).abs()) for x, y in zip(found, again)]
    return t, found
