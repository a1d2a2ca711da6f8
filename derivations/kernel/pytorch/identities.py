"""Check claims at several shapes: identities, chains, laws, inequalities, and the snippets of definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, islice

import torch
from torch import Tensor

from ..core.claims import Claim
from ..core.expr import Expr, show, symbols, walk
from .comparison import compare, describe_left_out, describe_sizes, first_entries, is_decisive
from .error_bounds import COVER, BoundedValue
from .errors import CannotDecide, Disagreement, UndefinedValue
from .evaluation import evaluate
from .expectations import require_moments
from .sampling import FEW, SCALES, draw, draw_with_values
from .snippet_agreement import Snippets
from .trial import Trial
from .trial_sizes import (
    IN_FORMATS,
    further_shapes,
    large_shapes,
    long_shapes,
    shapes,
    shapes_for_conditions,
    shapes_with_one_large,
    written_shapes,
)

Verdict = tuple[str, str, str, tuple]  # verdict, scope, note, the snippets that ran
Check = Callable[[Trial, list[BoundedValue], dict], list[Tensor]]


def identity(claim: Claim) -> Verdict:
    """Check that each step of an identity, chain or law equals the one before it."""
    trees = [claim.start, *(s.expr for s in claim.steps)]
    return check_at_shapes(
        claim,
        trees,
        lambda t, found, sizes: [
            compare(a, b, f"step {k}, " * (len(trees) > 2) + "the two sides differ", sizes)
            for k, (a, b) in enumerate(zip(found, found[1:]), 1)
        ],
        sides=len(trees),
    )


def inequality(claim: Claim) -> Verdict:
    """Check that the left side is not larger than the right one, and that the nonnegative form or the factorisation is correct."""
    left, right = claim.start, claim.steps[0].expr

    def check(t: Trial, found: list[BoundedValue], sizes: dict) -> list[Tensor]:
        expected = found[2]
        smaller, larger, form = (real_part(x, sizes) for x in (found[0], found[1], found[3]))
        compared = is_decisive(smaller, larger)
        bad = compared & (smaller.value - larger.value > COVER * (smaller.error + larger.error))
        if bad.any():
            raise Disagreement(
                "the left side is larger{}: {:.17g} and {:.17g}".format(describe_sizes(sizes), *first_entries(bad, smaller, larger))
            )
        if left.op != "rank" and (is_decisive(form) & (form.value < -COVER * form.error)).any():
            raise Disagreement(f"the certificate is negative{describe_sizes(sizes)}", code="negative-certificate")
        if left.op == "rank" and (larger.value != t.size(claim.because[0].shape[-1])).any():
            raise Disagreement(f"the factorisation goes through {show(claim.because[0].shape[-1])} columns", code="wrong-certificate")
        compare(expected, form, "it is not what the certificate says", sizes)
        return [compared]

    return check_at_shapes(claim, [left, right, *expressions_to_compare(claim)], check)


def real_part(x: BoundedValue, sizes: dict) -> BoundedValue:
    """Return what is compared by size as a real number. Raise Disagreement if it has an imaginary part."""
    if not x.value.is_complex():
        return x
    if (x.value.imag.abs() > COVER * x.error).any():
        raise Disagreement(f"a side, or the certificate, is not a real number{describe_sizes(sizes)}")
    return BoundedValue(x.value.real, x.error)


def expressions_to_compare(claim: Claim) -> list[Expr]:
    """Return the two expressions that must be equal: the difference and its nonnegative form, or a matrix and its factorisation."""
    left = claim.start
    if left.op != "rank":
        return [claim.steps[0].expr - left, claim.because[0]]
    if [len(factor.shape) for factor in claim.because] != [2, 2] or (claim.because[0] @ claim.because[1]).shape != left.args[0].shape:
        raise Disagreement("the certificate is not two matrices whose product has the shape of the matrix", code="wrong-certificate")
    return [left.args[0], claim.because[0] @ claim.because[1]]


def definition(claim: Claim) -> Verdict:
    """Compare the snippets of a definition with it."""
    if not claim.code:
        raise CannotDecide("a definition has nothing to prove, and names no code")
    return check_at_shapes(claim, [claim.steps[0].expr], lambda t, found, sizes: [is_decisive(*found)])


class Tally:
    """The shapes and the number of points at which a claim was compared, and the number of points that were drawn."""

    def __init__(self) -> None:
        self.shapes: set[tuple] = set()
        self.points = self.drawn = 0

    def add(self, sizes: dict, goods: list, points: int, once_more: bool = False) -> bool:
        """Count a trial and return whether anything was compared. A further trial of the same seed (`once_more`) counts only if it was."""
        mask = torch.stack(torch.broadcast_tensors(*(g.reshape(len(g), -1).all(1) for g in goods))).all(0)
        compared = bool(mask.any())
        if compared or not once_more:
            self.drawn += points
            self.points += int(mask.expand(points).sum())
        if compared:
            self.shapes.add(tuple(sorted(sizes.items())))
        return compared

    def note(self) -> str:
        """Return the counts as the beginning of a note."""
        count = len(self.shapes)
        largest = max((size for sizes in self.shapes for _, size in sizes), default=0)
        shapes_ = f"{count} {'shape' if count == 1 else 'shapes'} with sizes up to {largest}, " if largest else ""
        return f"{shapes_}{self.points} points in fp64, within the rounding bound carried along" + describe_left_out(
            self.drawn - self.points
        )


def check_at_shapes(claim: Claim, trees: list[Expr], check: Check, sides: int = 1) -> Verdict:
    """Check a claim at all its trials, and its snippets against the first trees, its `sides`; return the verdict.

    `check` takes a trial, the values of the trees there, and the sizes; it raises Disagrees, or returns masks of what was compared.
    """
    require_moments(claim)
    tally, code = Tally(), Snippets(claim)
    sizes_by_success: dict[bool, set] = {True: set(), False: set()}  # whether values were found -> sizes
    laws = any(s.data[1] == "random" for s in symbols(*claim.trees).values())
    trials: list[tuple] = []  # (a trial, the values of the sides): snippets run after the sides were compared at all trials

    def check_options(options: list, seed: int) -> bool:
        """Check at the first sizes for which the assumptions hold somewhere and something could be compared. Return whether they hold for any."""
        any_values = False
        for k, sizes in enumerate(options):
            # An even seed makes entries of a law that are not independent equal where there would be too many outcomes otherwise.
            trial = draw_with_values(claim, trees, sizes, 2 * (seed + 100 * k) if len(options) > 1 else seed)
            sizes_by_success[trial is not None].add(tuple(sorted(sizes.items())))
            if trial is None:
                continue
            any_values, (t, found) = True, trial
            compared = tally.add(sizes, check(t, found, sizes), max(len(x.value) for x in (*t.values.values(), *found)), once_more=k > 0)
            trials.extend([(t, found[:sides])] if claim.code else [])
            if compared:
                break
        return any_values

    def compare_sides() -> None:
        small = ([sizes] for sizes in shapes(claim, 3 if laws else 4))
        for seed, options in enumerate(chain(small, large_shapes(claim))):
            if not check_options(options, seed) and laws and claim.code and len(options) > 1:
                compare_certain(claim, trees[:sides], options, code)
        for seed, options in enumerate(shapes_with_one_large(claim, sorted(tally.shapes)), 1000):
            check_options(options, seed)
        for seed, sizes in enumerate(shapes_for_conditions(claim), 2000):
            check_options([sizes], seed)
        if not laws and any(may_vanish(n) for tree in trees for n in walk(tree)):
            check_at_small_integers(claim, trees, check)

    def compare_snippets() -> None:
        for t, found in trials:
            code.compare(t, found, trees[:sides])

    try:
        compare_sides()
    except CannotDecide:
        compare_snippets()  # a snippet that computes something else is rejected nevertheless
        raise
    compare_snippets()
    if claim.code:
        compare_at_further_trials(claim, trees[:sides], code)
    reject_only_ones(sizes_by_success, laws)
    if not tally.drawn:
        raise CannotDecide("no values were found at which its assumptions hold")
    if 4 * tally.points < tally.drawn:
        raise CannotDecide(f"the rounding bounds are too large to tell anything at {tally.drawn - tally.points} of {tally.drawn} points")
    return "agrees", "numbers only", tally.note() + code.note(), code.runs()


def may_vanish(e: Expr) -> bool:
    """Return whether a node has no value where its argument is 0: a quotient, power, inverse or logarithm."""
    return e.op in ("div", "pow", "inverse") or (e.op, e.data) == ("function", "log")


def check_at_small_integers(claim: Claim, trees: list[Expr], check: Check) -> None:
    """Check a claim where all entries are small integers: their sums are sometimes 0, and a quotient by such a sum has no value."""
    sizes = next(islice(shapes(claim, 4), 1, None))
    if (t := draw(claim, sizes, 0, small=True)) is not None:
        check(t, [evaluate(e, t) for e in trees], sizes)


def reject_only_ones(sizes_by_success: dict[bool, set], laws: bool) -> None:
    """Raise Disagrees if the assumptions held only where all sizes are 1: they may be contradictory at larger sizes.

    Laws are exempt: at some sizes they have too many outcomes.
    """
    sizes_found = {size for sizes in sizes_by_success[True] for _, size in sizes}
    if sizes_found == {1} and sizes_by_success[False] and not laws:
        raise Disagreement(
            f"values at which its assumptions hold were found where all sizes are 1, and at none of {len(sizes_by_success[False])} other shapes: at more "
            "they may contradict each other. Assume less, state it of one entry, or say which sizes there are, as in nonnegative(4 - n)",
            code="contradictory-assumptions",
        )


def further_trials(claim: Claim) -> Iterator[Trial]:
    """Yield further trials for the code of a claim: at more sizes, and with all entries large or tiny. Nothing is random in them."""
    # The number of points, in rotation. At long sizes a point is expensive: one, and sometimes a second one with unusual entries.
    for points, shapes_of_trials in (((FEW,), further_shapes(claim)), ((1, FEW, 1), long_shapes(claim)), ((1,), written_shapes(claim))):
        for seed, options in enumerate(shapes_of_trials):
            telling = points[seed % len(points)]
            yield from islice(filter(None, (draw(claim, sizes, seed, with_random=False, telling=telling) for sizes in options)), 1)
    for sizes in list(shapes(claim, 4))[2:3]:
        yield from filter(None, (draw(claim, sizes, 0, with_random=False, scale=scale) for scale in SCALES))


def compare_at_further_trials(claim: Claim, sides: list, code: Snippets) -> None:
    """Compare the snippets of a claim at further trials with its sides, or with the side in which nothing is random."""
    certain = [e for e in sides if not any(s.data[1] == "random" for s in symbols(e).values())]
    for t in further_trials(claim) if certain else ():
        values_ = []
        with suppress(CannotDecide, UndefinedValue):  # a side without a value cannot be compared
            values_ = [evaluate(e, t) for e in certain]
        if values_:
            all_sides = len(certain) == len(sides)  # only then is it known which side a snippet computes
            code.compare(t, values_, certain if all_sides and max(t.sizes.values(), default=0) in IN_FORMATS else None)


def compare_certain(claim: Claim, sides: list, options: list, code: Snippets) -> None:
    """Compare the snippets of a law that has too many outcomes with the side in which nothing is random."""
    certain = [e for e in sides if not any(s.data[1] == "random" for s in symbols(e).values())]
    t = next(filter(None, (draw(claim, sizes, 0, with_random=False) for sizes in options)), None)
    if t and certain:
        code.compare(t, [evaluate(e, t) for e in certain])
