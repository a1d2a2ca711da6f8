"""Limits: as the variable goes on by factors of four, the two sides come closer."""

from __future__ import annotations

from fractions import Fraction

from ..core.claims import Claim
from ..core.expr import Expr, own_sizes, show, symbols, walk
from .comparison import counted, first, left_out, settled
from .error_bounds import COVER, number
from .errors import Disagrees, NotForTorch, Undefined
from .evaluation import evaluate
from .sampling import LARGE, draw
from .snippet_agreement import Snippets
from .trial import Trial

FAR = 6  # the points beyond these are near the limit: what is so there counts


def limit(claim: Claim):
    """As the variable goes on by factors of four, the distance shrinks by a quarter each time at least, or is within its bound."""
    variable, to = claim.towards
    if to not in ("oo", 0):
        raise NotForTorch(f"a limit towards {to}")
    if to == 0 and variable.data[1] == "size":
        raise Disagrees(f"{show(variable)} is a size, and goes to no 0")
    if any(n.op == "rounded" and variable in set(walk(n)) for n in walk(claim.start)):
        raise Disagrees(f"a rounding moves with {show(variable)}: it goes in steps, which these points need not meet")
    if any(variable in own_sizes(n) for e in claim.trees for n in walk(e)):
        raise NotForTorch(f"a limit in {show(variable)}, which is the size of a sum or a tensor here")
    names = sorted(n for n, s in symbols(*claim.trees).items() if s.data[1] == "size")
    options = [{n: size(k) for k, n in enumerate(names)} for size in ((lambda k: 1), (lambda k: k + 2), (lambda k: k + LARGE))]
    trials = [t for sizes in options[: 3 if names else 1] if (t := draw(claim, sizes, 0))]
    if not trials:
        raise NotForTorch("no values were found at which its assumptions hold")
    code = Snippets(claim)
    told, drawn = map(sum, zip(*(approached(claim, variable, to, t, code) for t in trials)))
    if not told:
        raise NotForTorch(f"near the limit nothing that fp64 holds could be compared{left_out(drawn)}")
    note = f"{told} points in fp64, closer at each step by a factor of four{left_out(drawn - told)}"
    return "agrees", "numbers only", note + code.note(), code.runs()


def approached(claim: Claim, variable: Expr, to, t: Trial, code: Snippets) -> tuple:
    """(at how many points the two sides came closer, as they should, of how many); Disagrees where they did not."""
    before, told, drawn, name = None, 0, 0, variable.data[0]
    for k in range(13):
        at = Fraction(4) ** (k if to == "oo" else -k)
        t.values[name] = t.lead(number(at))
        if variable.data[1] == "size":
            t.sizes[name] = int(at)
        try:
            a, b = (evaluate(e, t) for e in (claim.start, claim.steps[0].expr))
        except Undefined:
            if k > FAR:
                raise
            before = None  # what has no value there may have one near the limit
            continue
        good, far, bound = settled(a, b), (a.v - b.v).abs(), COVER * (a.e + b.e)
        if before is not None and k > FAR:
            told += counted(good)
            drawn += len(good)
            bad = good & (far > bound) & (far > 0.75 * before)
            if bad.any():
                raise Disagrees(
                    "at {} = {:g} the two sides are {:.17g} and {:.17g}, and they do not come closer".format(
                        name, float(at), *first(bad, a, b)
                    )
                )
        before = far
        code.compare(t, [a])
    if (good & (far > bound + (1 + b.v.abs()) / 10)).any():  # what comes closer from far away may stop anywhere
        raise NotForTorch(f"at {name} = {float(at):g} the two sides are still far apart")
    return told, drawn
