"""Check refutations: both sides at the exact counterexample, or a law under distributions with the stated moments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice

import torch
from torch import Tensor

from ..core.claims import Claim
from ..core.expr import Expr, contains_average, symbols
from .assumptions import holds
from .comparison import describe_sizes, first_entries, is_decisive
from .error_bounds import COVER, BoundedValue
from .errors import CannotDecide, Disagreement, UndefinedValue
from .evaluation import evaluate
from .expectations import require_moments
from .given_values import bindable_names, given_sizes, put_values, substitute_indices
from .identities import Verdict, further_trials
from .sampling import draw
from .snippet_agreement import Snippets
from .trial import Trial, involved_trees
from .trial_sizes import large_shapes, shapes

FAILURE = {"=": "differ", "<=": "stand the other way round"}


def refutation(claim: Claim) -> Verdict:
    """Check that the sides differ, or that the order is violated, at the counterexample that is given."""
    named = bindable_names(claim)
    sizes = given_sizes(named, claim.at)
    left, right = (substitute_indices(e, dict(claim.at), sizes) for e in (claim.start, claim.steps[0].expr))
    if contains_average(left, right):
        at = tuple(pair for pair in claim.at if named[pair[0]].op == "symbol")
        return refute_law(replace(claim, start=left, steps=(replace(claim.steps[0], expr=right),), at=at), sizes, claim)
    t = Trial(involved_trees(claim), sizes)
    put_values(t, named, claim.at)
    for assumption in claim.given:
        if not holds(assumption, t).all():
            raise Disagreement("the values given break an assumption of the claim", code="broken-assumption")
    a, b = evaluate(left, t), evaluate(right, t)
    if a.value.shape[t.leading :] == b.value.shape[t.leading :]:
        if not (a.value.isfinite().all() and b.value.isfinite().all() and (refutes(claim.refuted, a, b) & is_decisive(a, b)).any()):
            raise Disagreement(f"the two sides do not {FAILURE[claim.refuted]} at the values given", code="no-counterexample")
    else:
        raise Disagreement("the two sides have different shapes", code="mismatched-sides")
    code = compare_code(claim, [t])
    return "agrees", "numbers only", "both sides computed in fp64 at the counterexample" + code.note(), code.runs()


def compare_code(claim: Claim, trials: list) -> Snippets:
    """Compare the snippets of a refutation: the first must compute the left side, the second the right side.

    They run at the counterexample and at other points: at one point, a snippet may be right by chance.
    """
    if len(claim.code) > 2:
        raise Disagreement("a refutation names two snippets at most: one for its left side, one for its right", code="invalid-argument")
    code = Snippets(claim)
    for k, side in list(enumerate((claim.start, claim.steps[0].expr)))[: len(claim.code)]:
        for t in trials:
            code.compare(t, [evaluate(side, t)], [side], [k])
        law = any(s.data[1] == "random" for s in symbols(side).values())
        for t in chain(trials_elsewhere(claim, side, law), () if law else further_trials(claim)):
            with suppress(CannotDecide):
                compare_where_defined(code, k, side, t)
    return code


def trials_elsewhere(claim: Claim, side: Expr, law: bool) -> Iterator[Trial]:
    """Yield trials at other shapes and values for one side of a claim; of a law, with random symbols."""
    for seed, options in enumerate([*([sizes] for sizes in shapes(claim, 3 if law else 4)), *large_shapes(claim)]):
        yield from islice(filter(None, (draw(claim, sizes, seed, with_random=law) for sizes in options)), 1)


def compare_where_defined(code: Snippets, k: int, side: Expr, t: Trial) -> None:
    """Compare a snippet with its side, point by point if the side is undefined at some points, which are then left out."""
    try:
        code.compare(t, [evaluate(side, t)], which=[k])
    except UndefinedValue:
        points = max((len(x.value) for x in t.values.values()), default=1)
        for point in range(points) if points > 1 else ():
            one = t.but(t.values)
            one.points(torch.tensor([point]))
            compare_where_defined(code, k, side, one)


def refutes(relation: str, a: BoundedValue, b: BoundedValue) -> Tensor:
    """Return a mask of the entries that refute a relation: they differ by more than their bounds, or for <= the left one is larger."""
    if relation == "<=" and (a.value.is_complex() or b.value.is_complex()):
        raise Disagreement("complex numbers have no order", code="not-real")
    return ((a.value - b.value).abs() if relation == "=" else a.value - b.value) > COVER * (a.error + b.error)


def refute_law(claim: Claim, sizes: dict, stated: Claim) -> Verdict:
    """Check that the sides of a law differ for distributions with the stated moments, and that each side has the same value for all of them."""
    require_moments(claim)
    trials = [t for seed in range(4) if (t := draw(claim, sizes, seed, at=claim.at))]
    sides = [[evaluate(e, t) for e in (claim.start, claim.steps[0].expr)] for t in trials]
    if not sides:
        raise CannotDecide(
            f"no distribution was found to try{describe_sizes(sizes)}: its assumptions hold nowhere, or it has too many outcomes"
        )
    for of_one_side in zip(*sides):
        reference = BoundedValue(*(y[:1] for y in of_one_side[0]))
        for x in of_one_side:
            different = is_decisive(x, reference) & ((x.value - reference.value).abs() > COVER * (x.error + reference.error))
            if different.any():
                raise Disagreement(
                    "a side has no one value under the stated assumptions: {:.6g} and {:.6g}".format(
                        *first_entries(different, x, reference)
                    ),
                    code="no-definite-value",
                )
    if not any((is_decisive(a, b) & refutes(claim.refuted, a, b)).any() for a, b in sides):
        raise Disagreement(
            f"the two sides do not {FAILURE[claim.refuted]} for distributions with the stated moments", code="no-counterexample"
        )
    code = compare_code(stated, trials)
    return "agrees", "numbers only", "all outcomes of distributions with the stated moments, in fp64" + code.note(), code.runs()
