"""Claims that hold at every shape: identities, chains, laws, inequalities, and the snippets of definitions."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain, islice

import torch

from ..core.claims import Claim
from ..core.expr import Expr, show, symbols, walk
from .comparison import at_sizes, compare, first, left_out, settled
from .error_bounds import COVER
from .errors import Disagrees, NotForTorch, Undefined
from .evaluation import evaluate
from .expectations import require_moments
from .sampling import FEW, IN_FORMATS, SCALES, draw, further_shapes, large_shapes, long_shapes, one_large, shapes, values
from .snippet_agreement import Snippets


def identity(claim: Claim):
    trees = [claim.start, *(s.expr for s in claim.steps)]
    return over_shapes(
        claim,
        trees,
        lambda t, found, sizes: [
            compare(a, b, f"step {k}, " * (len(trees) > 2) + "the two sides differ", sizes)
            for k, (a, b) in enumerate(zip(found, found[1:]), 1)
        ],
        ends=(0, -1),
    )


def inequality(claim: Claim):
    left, right = claim.start, claim.steps[0].expr

    def check(t, found, sizes):
        a, b, first_, second = found
        good = settled(a, b)
        bad = good & (a.v - b.v > COVER * (a.e + b.e))
        if bad.any():
            raise Disagrees("the left side is larger{}: {:.17g} and {:.17g}".format(at_sizes(sizes), *first(bad, a, b)))
        if left.op != "rank" and (settled(second) & (second.v < -COVER * second.e)).any():
            raise Disagrees(f"the certificate is negative{at_sizes(sizes)}")
        if left.op == "rank" and (b.v != t.size(claim.because[0].shape[-1])).any():
            raise Disagrees(f"the factorisation goes through {show(claim.because[0].shape[-1])} columns")
        compare(first_, second, "it is not what the certificate says", sizes)
        return [good]

    return over_shapes(claim, [left, right, *certified(claim)], check)


def certified(claim: Claim) -> list:
    """The two things that are equal if the certificate is good."""
    left = claim.start
    if left.op != "rank":
        return [claim.steps[0].expr - left, claim.because[0]]
    if [len(factor.shape) for factor in claim.because] != [2, 2] or (claim.because[0] @ claim.because[1]).shape != left.args[0].shape:
        raise Disagrees("the certificate is not two matrices whose product has the shape of the matrix")
    return [left.args[0], claim.because[0] @ claim.because[1]]


def definition(claim: Claim):
    if not claim.code:
        raise NotForTorch("a definition has nothing to prove, and names no code")
    return over_shapes(claim, [claim.steps[0].expr], lambda t, found, sizes: [settled(*found)])


class Tally:
    """Where a claim was tried: at which shapes something was told, at how many points, and how many were drawn."""

    def __init__(self):
        self.shapes, self.points, self.drawn = set(), 0, 0

    def add(self, sizes: dict, goods: list, points: int, once_more: bool = False) -> bool:
        """Whether anything was told there. Where it was only tried once more, and told nothing, it does not count."""
        good = torch.stack(torch.broadcast_tensors(*(g.reshape(len(g), -1).all(1) for g in goods))).all(0)
        told = bool(good.any())
        if told or not once_more:
            self.drawn += points
            self.points += int(good.expand(points).sum())
        if told:
            self.shapes.add(tuple(sorted(sizes.items())))
        return told

    def note(self) -> str:
        tried = len(self.shapes)
        largest = max((size for sizes in self.shapes for _, size in sizes), default=0)
        shapes_ = f"{tried} {'shape' if tried == 1 else 'shapes'} with sizes up to {largest}, " if largest else ""
        return f"{shapes_}{self.points} points in fp64, within the rounding bound carried along" + left_out(self.drawn - self.points)


def over_shapes(claim: Claim, trees: list, check, ends: tuple = (0,)):
    """Check at every shape, and snippets against the trees at the ends; the verdict, with how many shapes and points it rests on."""
    require_moments(claim)
    tally, code = Tally(), Snippets(claim)
    held: dict[bool, set] = {True: set(), False: set()}  # were values found there? -> sizes
    laws = any(s.data[1] == "random" for s in symbols(*claim.trees).values())
    waiting: list[tuple] = []  # (a trial, the values of the ends there): no snippet runs before the sides were compared at all of them

    def tried(options: list, seed: int) -> bool:
        """The first sizes for which values were found at which the assumptions hold, and for which these tell anything."""
        found_any = False
        for k, sizes in enumerate(options):
            # At an even seed, entries of a law that are not independent are one number, where others would have too many outcomes.
            trial = values(claim, trees, sizes, 2 * (seed + 100 * k) if len(options) > 1 else seed)
            held[trial is not None].add(tuple(sorted(sizes.items())))
            if trial is None:
                continue
            found_any, (t, found) = True, trial
            told = tally.add(sizes, check(t, found, sizes), max(len(x.v) for x in (*t.values.values(), *found)), once_more=k > 0)
            waiting.extend([(t, [found[k] for k in ends])] if claim.code else [])
            if told:
                break
        return found_any

    def compare_sides() -> None:
        small = ([sizes] for sizes in shapes(claim, 3 if laws else 4))
        for seed, options in enumerate(chain(small, large_shapes(claim))):
            if not tried(options, seed) and laws and claim.code and len(options) > 1:
                compare_certain(claim, [trees[k] for k in ends], options, code)
        for seed, options in enumerate(one_large(claim, sorted(tally.shapes)), 1000):
            tried(options, seed)
        if not laws and any(may_vanish(n) for tree in trees for n in walk(tree)):
            try_small(claim, trees, check)

    def compare_snippets() -> None:
        for t, found in waiting:
            code.compare(t, found, [trees[k] for k in ends])

    try:
        compare_sides()
    except NotForTorch:
        compare_snippets()  # what gives something else is refused all the same
        raise
    compare_snippets()
    if claim.code:
        try_further(claim, [trees[k] for k in ends], code)
    require_more_than_ones(held, laws)
    if not tally.drawn:
        raise NotForTorch("no values were found at which its assumptions hold")
    if 4 * tally.points < tally.drawn:
        raise NotForTorch(f"the rounding bounds are too large to tell anything at {tally.drawn - tally.points} of {tally.drawn} points")
    return "agrees", "numbers only", tally.note() + code.note(), code.runs()


def may_vanish(e: Expr) -> bool:
    """Is something divided by here, or a root or a logarithm taken of it?"""
    return e.op in ("div", "pow", "inverse") or (e.op, e.data) == ("function", "log")


def try_small(claim: Claim, trees: list, check) -> None:
    """Where all entries are small whole numbers, sums of them are 0 now and then, and what is divided by them has no value."""
    sizes = next(islice(shapes(claim, 4), 1, None))
    if (t := draw(claim, sizes, 0, small=True)) is not None:
        check(t, [evaluate(e, t) for e in trees], sizes)


def require_more_than_ones(held: dict[bool, set], laws: bool) -> None:
    """Where all sizes are 1, assumptions may hold that contradict each other at more. What is random has too many outcomes at some."""
    found = {size for sizes in held[True] for _, size in sizes}
    if found == {1} and held[False] and not laws:
        raise Disagrees(
            f"values at which its assumptions hold were found where all sizes are 1, and at none of {len(held[False])} other shapes: at more "
            "they may contradict each other. Assume less, state it of one entry, or say which sizes there are, as in nonnegative(4 - n)"
        )


def further_trials(claim: Claim):
    """Trials for what a claim names as its code: at more sizes, and with entries that are large or tiny throughout; nothing is random there."""
    # How many points, by turns: at long sizes one is dear enough, but for a second now and then, whose entries are no ordinary ones.
    for points, several in (((FEW,), further_shapes(claim)), ((1, FEW, 1), long_shapes(claim))):
        for seed, options in enumerate(several):
            telling = points[seed % len(points)]
            yield from islice(filter(None, (draw(claim, sizes, seed, with_random=False, telling=telling) for sizes in options)), 1)
    for sizes in list(shapes(claim, 4))[2:3]:
        yield from filter(None, (draw(claim, sizes, 0, with_random=False, scale=scale) for scale in SCALES))


def try_further(claim: Claim, ends: list, code: Snippets):
    """Compare the snippets of a claim with its sides, or with the one in which nothing is random, at further trials."""
    certain = [e for e in ends if not any(s.data[1] == "random" for s in symbols(e).values())]
    for t in further_trials(claim) if certain else ():
        values_ = []
        with suppress(NotForTorch, Undefined):  # where a side has no value there is nothing to compare with
            values_ = [evaluate(e, t) for e in certain]
        if values_:
            all_ends = len(certain) == len(ends)  # by which it is known which of them code computes
            code.compare(t, values_, certain if all_ends and max(t.sizes.values(), default=0) in IN_FORMATS else None)


def compare_certain(claim: Claim, ends: list, options: list, code: Snippets):
    """Where a law has too many outcomes, its snippets against that side in which nothing is random."""
    certain = [e for e in ends if not any(s.data[1] == "random" for s in symbols(e).values())]
    t = next(filter(None, (draw(claim, sizes, 0, with_random=False) for sizes in options)), None)
    if t and certain:
        code.compare(t, [evaluate(e, t) for e in certain])
