"""Check limits: as the variable changes by factors of four, the two sides must come closer."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import torch
from torch import Tensor

from ..core.claims import Claim
from ..core.expr import Expr, node_sizes, show, symbols, walk
from .comparison import count_points, describe_left_out, first_entries, is_decisive
from .error_bounds import COVER, U, number
from .errors import CannotDecide, Disagreement, UndefinedValue
from .evaluation import evaluate
from .identities import Verdict
from .sampling import draw
from .shifted_exponents import exponent_range
from .snippet_agreement import Snippets
from .trial import Trial
from .trial_sizes import LARGE

FIRST_STEP_THAT_COUNTS = 6  # only steps after these are near the limit, and count
FAST = 0.75  # the largest part of the distance that a step may leave
HIDES = 36  # 1 + exp(-HIDES) is almost rounded to 1
DELAYS = 12  # a factor of exp(DELAYS) is a good part of the 4**12 that the variable reaches
STEADY = 0.8  # a slow approach is steady if each step reduces the distance by at least this part of the previous relative reduction


def limit(claim: Claim) -> Verdict:
    """Check a limit.

    Near the limit, each step must reduce the distance between the sides by at least a quarter, or the distance must be within its bound.
    Smaller reductions are enough for now if they are steady, as those of 1/log(n) are. Those of 1 + 1/n fade, since it does not tend to 0.
    A point tells nothing beside a large exponential, if the sides are still far apart at the last step, or their distance has not changed.
    """
    variable, to = claim.towards
    if to not in ("oo", 0):
        raise CannotDecide(f"a limit towards {to}")
    if to == 0 and variable.data[1] == "size":
        raise Disagreement(f"{show(variable)} is a size, and goes to no 0", code="unknown-limit")
    if any(n.op == "rounded" and variable in set(walk(n)) for n in walk(claim.start)):
        raise Disagreement(
            f"a rounding moves with {show(variable)}: it goes in steps, which these points need not meet", code="rounding-in-limit"
        )
    if any(variable in node_sizes(n) for e in claim.trees for n in walk(e)):
        raise CannotDecide(f"a limit in {show(variable)}, which is the size of a sum or a tensor here")
    names = sorted(n for n, s in symbols(*claim.trees).items() if s.data[1] == "size")
    options = [{n: size(k) for k, n in enumerate(names)} for size in ((lambda k: 1), (lambda k: k + 2), (lambda k: k + LARGE))]
    trials = [t for sizes in options[: 3 if names else 1] if (t := draw(claim, sizes, 0))]
    if not trials:
        raise CannotDecide("no values were found at which its assumptions hold")
    code = Snippets(claim)
    compared, drawn = map(sum, zip(*(approach_limit(claim, variable, to, t, code) for t in trials)))
    if not compared:
        raise CannotDecide(f"near the limit nothing that fp64 holds could be compared{describe_left_out(drawn)}")
    note = f"{compared} points in fp64, closer at each step by a factor of four{describe_left_out(drawn - compared)}"
    return "agrees", "numbers only", note + code.note(), code.runs()


def approach_limit(claim: Claim, variable: Expr, to: str | int, t: Trial, code: Snippets) -> tuple[int, int]:
    """Return (the number of points that tell something, the number of points drawn), over all steps near the limit.

    Raise Disagrees if the sides do not come closer at a point.
    """
    last_distance: Tensor | None = None
    last_reduction: Tensor | float = inf
    first_distance: Tensor | None = None
    far = moved = torch.tensor(False)  # whether the sides are far apart, and whether their distance has changed, at each point
    decisive, name = [], variable.data[0]
    # whether the exponentials at a point are so close that none hides another, or delays the limit
    ordinary = moderate = torch.tensor(True)
    for k in range(13):
        point = Fraction(4) ** (k if to == "oo" else -k)
        t.values[name] = t.lead(number(point))
        if variable.data[1] == "size":
            t.sizes[name] = int(point)
        try:
            a, b = (evaluate(e, t) for e in (claim.start, claim.steps[0].expr))
        except UndefinedValue:
            if k > FIRST_STEP_THAT_COUNTS:
                raise
            last_distance, last_reduction = None, inf  # far from the limit, a side may have no value
            continue
        good, distance, bound = is_decisive(a, b), (a.value - b.value).abs(), COVER * (a.error + b.error)
        if first_distance is None:
            first_distance = distance
            low, high = exponent_range([claim.start], t)
            range_ = (high - low).reshape(-1, *(1,) * (distance.dim() - 1))
            ordinary, moderate = range_ < HIDES, range_ < DELAYS
        moved = moved | ((distance - first_distance).abs() > bound + 4 * U * (a.value.abs() + b.value.abs()))
        far = torch.where(good, distance > bound + (1 + b.value.abs()) / 10, far)
        reduction = torch.zeros_like(distance) if last_distance is None else 1 - distance / last_distance
        if last_distance is not None and k > FIRST_STEP_THAT_COUNTS:
            decisive.append(good)
            slow = good & (distance > bound) & (distance > FAST * last_distance)
            bad = slow & (moved | ordinary) & ~is_steady(reduction, last_reduction)
            if bad.any():
                raise Disagreement(
                    "at {} = {:g} the two sides are {:.17g} and {:.17g}, and they do not come closer".format(
                        name, float(point), *first_entries(bad, a, b)
                    )
                )
        last_distance, last_reduction = distance, reduction
        code.compare(t, [a])
    if a.value.isinf().any():  # no such point was compared, and the side may grow without bound there
        raise CannotDecide(f"at {name} = {float(point):g} the left side is too large for fp64")
    if (slow & moderate).any():
        raise CannotDecide("the two sides come closer too slowly to tell from numbers")
    most_are_far = far.double().mean() > 1 / 2  # too many to blame on exponentials that hide a term
    if most_are_far or (far & (moderate | moved & ~good)).any():  # sides that come closer may still have different limits
        raise CannotDecide(f"at the values of {name} nearest to its limit that fp64 holds, the two sides are still far apart")
    return sum(count_points(good & ~slow & ~far) for good in decisive), sum(map(len, decisive))


def is_steady(reduction: Tensor, last_reduction: Tensor | float) -> Tensor:
    """Return where the distance falls, and by a relative reduction that does not fade."""
    return (reduction > 0) & (reduction >= STEADY * last_reduction)
