"""Draw values for a claim's symbols at points where its assumptions hold; `trial_sizes.py` chooses the sizes.

The draws come from a seeded generator, not from hypothesis, which would take constants from whatever modules are loaded and write a folder: a
check must give the same result each time. Entries that are not assumed to be independent are also drawn equal, all of them or those at the same
position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import permutations
from typing import Any

import torch
from torch import Tensor

from ..core.assumptions import Assumption
from ..core.claims import Claim
from ..core.expr import Expr, free_indices, symbols, walk
from ..core.number_formats import FORMATS
from .assumptions import full_symbol, holds
from .error_bounds import BoundedValue
from .errors import CannotDecide
from .evaluation import evaluate
from .expectations import bounds_on_chances, is_smooth_law, put_random
from .given_values import put_values
from .matrices_with_products import put_products
from .trial import Trial, cache_last, involved_trees, symbols_of
from .trial_sizes import POINTS, is_filtered, large_size, points_drawn

MAX_SMALL, SMALL_POINTS = 2, 1024  # small integers, up to this size and at so many points, whose sums often vanish
FIRST_SEED = 0  # added to the seed of each draw; tests draw other values with it
FEW = 2  # points at large sizes
NEWTON_STEPS, NEAR_ENOUGH = 8, 2.0**-16  # Newton steps towards the edge of an assumption, and the distance at which they stop
AIMED_DISTANCE = 2.0**-20  # the relative distance to the edge that is aimed at
SCALES = (2.0**20, 2.0**-27)  # factors for all entries, for trials with large and with tiny entries
DRAWN_NUMBERS = 2**23  # of cached draws
ORDINARY = 1  # the kind of entries, by its number in `draw_entries`, that finds most errors in code
TELLING_KINDS = 3, 4, 2  # the next best kinds: one number throughout, zeros among others, very different magnitudes
MAX_BITS = 26  # significant bits of drawn numbers where a claim rounds: fp64 holds the product of any two
MAX_POINTS_OF_KINDS = 64  # points of a few kinds, if some may violate the assumptions


@cache_last
def operations(claim: Claim) -> set[str]:
    """Return the operators of a claim and of the arguments of its code."""
    return {n.op for tree in involved_trees(claim) for n in walk(tree)}


@cache_last
def formats_of(claim: Claim) -> set[str]:
    """Return the formats of the roundings in a claim and in the arguments of its code."""
    return {n.data for tree in involved_trees(claim) for n in walk(tree) if n.op == "rounded"}


class DrawCache:
    """A cache of draws: claims with the same symbols draw the same entries from the same state of the generator."""

    def __init__(self) -> None:
        self.found: dict[tuple, tuple] = {}  # (the generator's state, the arguments) -> (the entries, the state afterwards)
        self.kept = 0

    def entries(self, random: torch.Generator, *arguments: Any) -> Tensor:
        """Return `entries(random, *arguments)`, and leave the generator in the state after this draw."""
        key = (random.get_state().numpy().tobytes(), *arguments)
        if key in self.found:
            drawn, after = self.found[key]
            random.set_state(after)
            return drawn
        drawn = draw_entries(random, *arguments)
        self.keep(key, drawn, random.get_state())
        return drawn

    def keep(self, key: tuple, drawn: Tensor, after: Tensor) -> None:
        """Store a draw, after clearing a full cache."""
        if self.kept > DRAWN_NUMBERS:
            self.found, self.kept = {}, 0
        if drawn.numel() <= DRAWN_NUMBERS // 16:
            self.found[key] = drawn, after
            self.kept += drawn.numel() + 2 * len(key[0]) // 8


DRAW_CACHE = DrawCache()


def draw_entries(
    random: torch.Generator,
    shape: tuple,
    points: int,
    small: bool,
    rough: bool,
    coarse: bool,
    only: tuple = (),
    digits: tuple = (),
) -> Tensor:
    """Draw a tensor of shape (points, *shape), with entries of several kinds: zeros, integers, ordinary numbers, numbers of very different
    magnitude, one number throughout, zeros among others. With `only`, draw just these kinds, in rotation.

    `digits` are the significant bits of the short formats to which the claim rounds. They add kinds of entries: magnitudes that differ even
    more, and for each format numbers just off a tie.
    """

    def normal(*size: int) -> Tensor:
        return torch.randn(points, *(size or shape), generator=random, dtype=torch.float64)

    def whole(low: int, high: int, *size: int) -> Tensor:
        return torch.randint(low, high + 1, (points, *(size or shape)), generator=random).double()

    def shrunk(kind: Callable[[], Tensor]) -> Callable[[], Tensor]:
        return lambda: kind().clamp(-1, 1) / 2

    def off_tie(bits: int) -> Tensor:
        return put_off_tie(whole(2 ** (bits - 1), 2**bits - 1), 2.0 ** (bits - MAX_BITS))

    one = (1,) * len(shape)
    kinds: list[Callable[[], Tensor]] = [
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
        kinds = [shrunk(kind) for kind in kinds]
    if rough:  # down to where fp32 underflows, and up to where it overflows
        kinds[1::2] = [
            lambda: whole(-5, 5) * 2.0 ** whole(-150, -74),
            kinds[-1],  # whole numbers, as before
            lambda: whole(-9, 9) * 2.0**-149,
            lambda: normal() * 2.0 ** whole(60, 140),
        ]
    if digits:
        kinds += [lambda: normal() * 2.0 ** whole(-30, 30), *(partial(off_tie, bits) for bits in digits)]
    variants = [kinds[k]() for k in only or range(len(kinds))]
    if only:
        chosen = torch.arange(points) // 2 % len(only)
    else:
        chosen = torch.randint(0, len(variants), (points,), generator=random)
        chosen[::2] = torch.arange(points)[::2] // 2 % len(variants)  # at every second point, the same kind for all symbols
    drawn = torch.stack(variants)[chosen, torch.arange(points)]
    drawn[0] = 0
    if coarse:
        m, exponent = torch.frexp(drawn)
        drawn = torch.ldexp((m * 2**MAX_BITS).round() / 2**MAX_BITS, exponent)
    return drawn


def put_off_tie(whole: Tensor, distance: float) -> Tensor:
    """Return numbers a little off the tie above each whole number, on the side of the odd neighbour."""
    return whole + 0.5 + torch.where(whole % 2 == 0, distance, -distance)


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
) -> Trial | None:
    """Return a trial at these sizes, with up to 4 * POINTS points and the values given in `at`; None if the assumptions hold at no point.

    `fewer` is the number of quadrature nodes to leave out, and `scale` multiplies all entries. `telling` is the number of points, of the kinds
    that find most errors in code. `small` gives many points at which all entries are small integers, which often cancel. `only` is for
    `draw_entries`.
    """
    if telling and not only:
        t = draw(claim, sizes, seed, fewer, at, with_random, scale, telling, small, telling_kinds(telling, seed))
        if t:
            return t  # else draw all kinds of entries, which takes longer
    t = Trial(involved_trees(claim), sizes)
    random = torch.Generator().manual_seed(FIRST_SEED + seed)
    named = symbols_of(claim)
    with_random &= any(s.data[1] == "random" for s in named.values())
    count = candidates(claim, sizes, small, only)
    t.exactly |= small
    t.unbounded = any(a.kind == "in range" for a in claim.given)
    rough = t.exactly and not t.unbounded and not only
    smooth = with_random and "function" in operations(claim)
    digits = tuple(sorted({FORMATS[f].bits for f in formats_of(claim)} - {FORMATS["fp32"].bits}))
    for name, s in sorted(named.items()):
        if s.data[1] == "real":
            if small:
                v = torch.randint(-MAX_SMALL, MAX_SMALL + 1, (count, *t.shape(s)), generator=random).double()
            else:
                v = scale * DRAW_CACHE.entries(random, t.shape(s), count, smooth, rough, t.exactly, only, digits)
            t.put(s, constrain(v, name, s, claim.given))
    if digits and claim.kind == "inequality" and not small and not only:
        put_ties_beside_zeros(t, {name: s for name, s in named.items() if s.data[1] == "real"}, claim, digits, random)
    if not put_products(t, [a for a in claim.given if a.kind == "product"], random, count):
        return None
    edges = [a.args[0] for a in claim.given if a.kind == "nonnegative"] if "derivative" in operations(claim) else []
    for x in edges:
        put_on_edge(x, t, on_edge(count, only, seed))
    if claim.kind == "inequality" and not small and not only:
        put_near_edges([a.args[0] for a in claim.given if a.kind in ("positive", "nonnegative")], t, count)
    put_values(t, named, at)
    valid = torch.ones(count, dtype=torch.bool)
    for a in (*claim.given, *bounds_on_chances(claim)):
        valid &= holds(a, t)
    chosen = valid.nonzero().flatten()
    if only:
        chosen = first_of_each_kind(chosen, only, telling, seed)
    elif telling:
        chosen = chosen[chosen > 0][:telling] if (chosen > 0).any() else chosen[:telling]
    elif not small:
        chosen = choose_points(chosen, claim, sizes, at, edges, t)
    if not len(chosen):
        return None
    t.points(chosen)
    t.scaled = scale != 1
    t.overflows = not t.unbounded
    if with_random and not put_random(t, claim, named, random, len(chosen), seed, fewer):
        return None
    return t


def put_ties_beside_zeros(t: Trial, reals: dict[str, Expr], claim: Claim, digits: tuple, random: torch.Generator) -> None:
    """At every fourth point, make one symbol a number just off a tie of a short format, and the others 0: a bound on rounding is tightest there."""
    for order, (name, s) in enumerate(sorted(reals.items())):
        known = t.values[name].value
        points = torch.arange(len(known)).reshape(-1, *(1,) * (known.dim() - 1))
        bits = digits[order % len(digits)]
        whole = torch.randint(2 ** (bits - 1), 2**bits, known.shape, generator=random).double()
        tie = put_off_tie(whole, 2.0 ** (bits - MAX_BITS))
        moved = torch.where(points // 4 % len(reals) == order, tie, 0.0)
        v = constrain(torch.where(points % 4 == 3, moved, known), name, s, claim.given)
        t.values[name] = BoundedValue(v, torch.zeros_like(v))


def candidates(claim: Claim, sizes: dict, small: bool, only: tuple) -> int:
    """Return the number of points to draw before the assumptions discard some of them."""
    count = SMALL_POINTS if small else (1 if sizes else 4) * points_drawn(claim)
    if only:
        return min(count, MAX_POINTS_OF_KINDS) if is_filtered(claim) else 2 + 2 * len(only)
    return count


def constrain(v: Tensor, name: str, s: Expr, given: Sequence[Assumption]) -> Tensor:
    """Return drawn values of a symbol, changed to satisfy the assumptions on the symbol alone: its sign, its range, its format."""
    signs = {symbol: a.kind for a in given if a.kind in ("positive", "nonnegative", "nonzero") for symbol in full_symbol(a.args[0])}
    if name in signs and signs[name] != "nonzero":
        v = v.abs()
    if signs.get(name) in ("positive", "nonzero"):
        v = torch.where(v == 0, 1.0, v)
    if any(a.kind == "zero_or_one" and a.args == (s,) for a in given):
        v = (v > 0).double()
    if any(a.kind == "representable" and name in full_symbol(x) for a in given for x in a.args):
        v = v.to(torch.float32).double()
        v = torch.where(v.isfinite(), v, 1.0)
    return v


def first_of_each_kind(valid: Tensor, only: tuple, telling: int, seed: int) -> Tensor:
    """Return the first valid point of each kind of entries; none if there is no ordinary one."""
    firsts = [next((k for k in valid.tolist() if k > 1 and is_of_kind(k, kind, only, seed)), None) for kind in range(len(only))]
    return torch.tensor([k for k in firsts if k is not None][: telling if firsts[0] else 0], dtype=torch.long)


def choose_points(valid: Tensor, claim: Claim, sizes: dict, at: tuple, edges: list, t: Trial) -> Tensor:
    """Return the points of a trial to use: a few at large sizes, else those at edges first."""
    if max(sizes.values(), default=0) >= large_size(claim) and not at:
        # At the first point all entries are zero: many inequalities are tightest there, and most other claims say nothing.
        return valid[: FEW + 1] if claim.kind == "inequality" else valid[1:][:FEW] if len(valid) > 1 else valid
    # An assumption that is slightly too weak fails at few of the points that it allows, so filtered claims get more points.
    return edges_first(valid, edges, t)[: POINTS if sizes and not is_filtered(claim) else 4 * POINTS]


def telling_kinds(telling: int, seed: int) -> tuple:
    """Return the kinds of entries to draw for a trial with `telling` informative points.

    These are ordinary entries, and with two points or more also one of the kinds that reveal most errors, chosen in turn by the seed.
    """
    return (ORDINARY, TELLING_KINDS[seed % len(TELLING_KINDS)])[:telling]


def is_of_kind(point: int, kind: int, only: tuple, seed: int) -> bool:
    """Return whether a point has this kind of entries, and for ordinary entries the parity of the seed.

    Matrices of a group of products are permutations at odd points and rotated at even ones; the seed chooses between the two.
    """
    return point // 2 % len(only) == kind and point % 2 == (seed % 2 if kind == 0 else 0)


def on_edge(points: int, only: tuple, seed: int) -> Tensor:
    """Return a mask of the points that are moved onto an edge: every third one. With `only`, those whose entries are not ordinary, at odd seeds."""
    at = torch.arange(points)
    return at % 3 == 1 if not only else (at // 2 % len(only) > 0) & (seed % 2 == 1)


def put_on_edge(x: Expr, t: Trial, at: Tensor) -> None:
    """Shift a scalar symbol in x at some points so that x is 0, if a shift is enough. A derivative may have no value there."""
    chosen = at.reshape(-1, *(1,) * (t.leading - 1))
    for name, s in sorted(symbols(x).items()):
        if s.data[1] != "real" or s.shape or free_indices(x):
            continue
        for sign in (-1, 1):
            known = t.values[name]
            moved = (known.value + sign * evaluate(x, t).value).expand(len(at), *known.value.shape[1:])
            t.values[name] = BoundedValue(moved, torch.zeros_like(moved))
            there = chosen & (evaluate(x, t).value == 0)
            v = torch.where(there, moved, known.value)
            t.values[name] = BoundedValue(v, torch.where(there, 0.0, known.error))


def put_near_edges(assumed: list, t: Trial, points: int) -> None:
    """At every third point, move the expressions that are assumed to be nonnegative close to 0: all of them, or two.

    If such an assumption is too weak, an inequality that depends on it fails there.
    """
    pairs = list(permutations(assumed, 2))
    at, turn = torch.arange(points) % 3 == 2, torch.arange(points) // 3
    put_near_edge(assumed, at & (turn % 2 == 0) if pairs else at, t)
    for k, pair in enumerate(pairs):
        there = at & (turn % (2 * len(pairs)) == 2 * k + 1)
        every_other = turn // (2 * len(pairs)) % 2 == 1
        put_near_edge(pair, there & ~every_other, t)
        put_near_edge(pair, there & every_other, t, apart=True)


def put_near_edge(assumed: Iterable[Expr], at: Tensor, t: Trial, apart: bool = False) -> None:
    """At some points, move a symbol in each of these expressions so that the expression is almost 0.

    The symbol has one value for each value of the free indices. With `apart`, its first entry makes the first expression almost 0, and the
    other entries make the second one almost 0.
    """
    moved: dict = {}
    for x in assumed:
        for name, s in sorted(symbols(x).items()):
            again = name in moved and not (apart and s.shape)
            open_ = indices_of_symbol(x, name, s)
            if s.data[1] == "real" and not again and open_ is not None and set(open_) == free_indices(x):
                before = t.values[name].value
                v = move_near_edge(x, name, moved.get(name, before), open_, at, t)
                if name in moved:
                    first = torch.zeros(t.shape(s), dtype=torch.bool)
                    first.view(-1)[0] = True
                    v = torch.where(first, before, v)
                t.values[name] = BoundedValue(v, torch.zeros_like(v))
                moved.setdefault(name, before)
                break


def indices_of_symbol(x: Expr, name: str, s: Expr) -> tuple | None:
    """Return the free indices of all entries of a symbol in x, in order; () for a scalar, None if the entries have different indices."""
    if not s.shape:
        return ()
    found = {n.args[1:] for n in walk(x) if n.op == "entry" and n.args[0] == s}
    plain = all(i.op == "index" for places in found for i in places) and all(len(set(places)) == len(places) for places in found)
    return next(iter(found)) if len(found) == 1 and plain else None


def move_near_edge(x: Expr, name: str, v: Tensor, open_: tuple, at: Tensor, t: Trial) -> Tensor:
    """Return values of a symbol at which x is almost 0, by several Newton steps from v, since x need not be linear."""
    chosen, before = at.reshape(-1, *(1,) * (t.leading - 1)), t.values[name]
    for _ in range(NEWTON_STEPS):
        t.values[name] = BoundedValue(v, torch.zeros_like(v))
        here = evaluate(x, t).value
        far = chosen & (here.abs() > NEAR_ENOUGH)
        if not far.any():
            break
        t.values[name] = BoundedValue(v + 1, torch.zeros_like(v))
        step = (here - here.abs() * AIMED_DISTANCE) / (evaluate(x, t).value - here)
        step = torch.where((far & step.isfinite()).expand(step.shape), step, 0.0)
        for i in open_:  # the axis of the index becomes the tensor's own
            step = step.unsqueeze(-1).transpose(t.axes[i.data], -1)
        v = v - step
    t.values[name] = before
    return v


def edges_first(kept: Tensor, edges: list, t: Trial) -> Tensor:
    """Return the points, with up to two points on each edge first."""
    first: list[int] = []
    for x in edges:
        on = (evaluate(x, t).value == 0).flatten(1).any(1).expand(max(len(y.value) for y in t.values.values()))
        first += [k for k in kept.tolist() if on[k]][:2]
    return torch.tensor(list(dict.fromkeys([*first, *kept.tolist()])), dtype=torch.long)


def draw_with_values(claim: Claim, trees: list, sizes: dict, seed: int) -> tuple[Trial, list[BoundedValue]] | None:
    """Return (trial, the value of each tree), or None if no values were found. The error of quadrature is estimated and added."""
    t = draw(claim, sizes, seed)
    if t is None:
        return None
    found = [evaluate(e, t) for e in trees]
    if is_smooth_law(claim):
        coarse = draw(claim, sizes, seed, fewer=2)
        assert coarse is not None  # fewer nodes have fewer outcomes
        again = [evaluate(e, coarse) for e in trees]
        if any(x.value.shape != y.value.shape for x, y in zip(found, again)):  # it has a value for each outcome
            raise CannotDecide("a random entry outside an expectation")
        found = [BoundedValue(x.value, x.error + 2 * (x.value - y.value).abs()) for x, y in zip(found, again)]
    return t, found
