"""Snippets in fp32, fp16 and bf16: each result must lie within a rounding bound of the claim's expression on the same inputs.

The inputs are rounded to the format first, so that they are exact in it. The bound is derived in `formats.py`.

  - A point where a result of zero would pass tells nothing, and is not counted. That happens where a step may overflow, where
    a sum is so long that no digit is certain, and where everything cancels.
  - A snippet may compute the first expression of the claim or the last one, but one of the two at all points.
  - It may add in any order, and subtract the largest score before a softmax. One that takes other steps than its expression is
    held to the bound all the same, and refused if it needs more: its claim should state what it computes.
  - Where PyTorch has no such operation in a format, or a snippet is given no tensor, that is reported, with the reason; so is one outside
    the bound of one side where no bound is derived for the other, such as a derivative. Limits are taken in fp64 alone. One that stops
    for another reason, or gives another dtype than it is given, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import torch
from torch import Tensor

from ..core.claims import Claim
from .assumptions import holds
from .comparing import at_sizes
from .errors import Disagrees, NotForTorch
from .formats import FORMATS, Format, bounded
from .rounding import Value
from .snippet_calls import CannotRun, inputs
from .snippets import Calls, Given, call, here, shown
from .trial import Trial

SLACK = 1 + 2.0**-20  # covers fp64's errors, in the value and in the bound


class Ledger:
    """What the snippets that one claim names did in each format."""

    def __init__(self, claim: Claim, calls: Calls | None = None):
        self.claim, self.free, self.calls = claim, claim.free, calls or Calls()
        self.ran = {f: [0, 0] for f in FORMATS}  # at how many points something was told, and of how many
        self.computes = {}  # (number of a snippet, format) -> the ends within whose bounds it has always been
        self.left_out = {}  # (number of a snippet, format) -> why

    def compare(self, t: Trial, ends: list, which: list, formats: Iterable[Format] = FORMATS):
        """Run the claim's snippets with these numbers at points of this trial, in these formats; each computes one of the ends."""
        for f in formats:
            waiting = [k for k in which if (k, f) not in self.left_out]
            low = rounded(self.claim, t, f) if waiting else None
            if low is None:
                continue
            sides, reasons = {}, []
            for end, e in enumerate(ends):
                try:
                    sides[end] = bounded(e, low, f)
                except NotForTorch as reason:
                    reasons.append(str(reason))
            if not sides:
                self.left_out.update({(k, f): reasons[0] for k in waiting})
                continue
            points, given = max(len(x.v) for x in (*sides.values(), *low.values.values())), Given(low, f.dtype, self.calls)
            shown_ = {end: tuple(y.unbind() for y in shown(x, low, self.free)) for end, x in sides.items()}
            for point in range(points):
                self.at(point, waiting, given, f, {end: Value(*(here(y, point) for y in x)) for end, x in shown_.items()}, reasons)

    def at(self, point: int, waiting: list, given: Given, f: Format, wanted: dict, reasons: list):
        ran = [self.run(k, point, given, f, wanted, reasons) for k in waiting]
        if any(ran):
            self.ran[f][0] += any((x.v.abs() > SLACK * x.e).any() for x in wanted.values())
            self.ran[f][1] += 1

    def run(self, k: int, point: int, given: Given, f: Format, wanted: dict, reasons: list) -> bool:
        """Does the snippet run? Refused if it is within the bound of no end."""
        name = self.claim.code[k][0]
        if (k, f) in self.left_out:
            return False
        if not any((x.e < inf).any() for x in wanted.values()):  # what may overflow may also stop
            return False
        try:
            results, bound = call(self.claim.code[k], given, point)
            results = results if isinstance(results, tuple) else (results,)
            other = [r.dtype if isinstance(r, Tensor) else type(r).__name__ for r in results if getattr(r, "dtype", None) != f.dtype]
            reason = f"{name} gives {str(other[0]).removeprefix('torch.')}, and is given no tensor of the format" if other else ""
        except CannotRun as error:
            reason = str(error)
        if reason:
            self.left_out[k, f] = reason
            return False
        left = self.computes.setdefault((k, f), set(wanted))
        last = next(iter(left))
        left -= {end for end in left if any(outside(r, wanted[end]).any() for r in results)}
        if not left and reasons:
            self.left_out[k, f] = f"{name} is outside the bound of one side, and for the other {reasons[0]}"
            return False
        if not left:
            want = wanted[last]
            result, bad = next((r, outside(r, want)) for r in results if outside(r, want).any())
            x, v, e = (y.expand(bad.shape)[tuple(bad.nonzero()[0])].item() for y in (result.double(), *want))
            raise Disagrees(
                f"{name} gives {x:.9g} in {f.name} where the claim has {v:.9g}, and the rounding bound of {f.name} "
                f"is {e:.3g}{at_sizes(given.trial.sizes)}{inputs(bound)}"
            )
        return True

    def note(self) -> str:
        """In which formats snippets ran, and at how many points that told something; and where nothing is said, with the reason."""
        silent = {f: [k for k in range(len(self.claim.code)) if (k, f) in self.left_out] for f in FORMATS}
        ran = [f"{f.name} at {told} of {of} points" for f, (told, of) in self.ran.items() if of and len(silent[f]) < len(self.claim.code)]
        why = {}
        for (_, f), reason in self.left_out.items():
            why.setdefault(reason, []).append(f.name)
        return ("; run in " + ", ".join(ran) + ", within the rounding bound of each" if ran else "") + "".join(
            f"; nothing said in {', '.join(dict.fromkeys(names))}: {reason}" for reason, names in why.items()
        )


def outside(result: Tensor, want: Value) -> Tensor:
    """Where a result is further off than the bound; where that is infinite there is nothing to say."""
    if result.shape != want.v.shape:
        raise Disagrees(f"a snippet gives shape {tuple(result.shape)} where the claim has {tuple(want.v.shape)}")
    return ~((result.double() - want.v).abs() <= SLACK * want.e) & (want.e < inf)


def rounded(claim: Claim, t: Trial, f: Format) -> Trial | None:
    """The trial with its numbers rounded to the format, at two of the points where its assumptions still hold."""
    low = t.but({name: Value(x.v.to(f.dtype).double(), torch.zeros_like(x.e)) for name, x in t.values.items()})
    keep = torch.ones(max((len(x.v) for x in low.values.values()), default=1), dtype=torch.bool)
    for x in low.values.values():
        keep &= x.v.isfinite().flatten(1).all(1)
    for a in claim.given:
        keep &= holds(a, low)
    if not keep.any():
        return None
    found = keep.nonzero().flatten()
    low.points(found[[len(found) // 2, -1]] if len(found) > 1 else found)  # all entries of the first one are zero
    return low
