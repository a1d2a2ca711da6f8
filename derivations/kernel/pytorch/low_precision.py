"""Run snippets in fp32, fp16 and bf16: each result must lie within a rounding bound of the claim's expression on the same inputs.

The inputs are rounded to the format first, so that they are exact in it. The bound is derived in `float_formats.py`.

  - A point at which a result of zero would pass is not counted. This happens where a step may overflow, where a sum is so long that no digit
    is certain, and where everything cancels.
  - A snippet may compute any expression of the claim, but the same one at all points; if it returns several results, each may have its own.
  - It may add in any order, and subtract the largest exponent from all before it takes exponentials. A snippet that takes other steps than its
    expression must stay within the same bound: its claim should state what it computes.
  - Some cases are reported with a reason: PyTorch lacks an operation in a format, a snippet takes no tensor, or it is outside the bound of one
    side and no bound is derived for the other, such as a derivative. Limits are checked in fp64 alone. A snippet that stops for another reason,
    or that changes the dtype, is rejected.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import torch
from torch import Tensor

from ..core.claims import Claim
from .assumptions import holds
from .comparison import describe_sizes
from .error_bounds import BoundedValue
from .errors import CannotDecide, Disagreement
from .float_formats import FORMATS, Format, evaluate_in_format
from .shifted_exponents import exponent_range
from .snippet_arguments import Arguments, Calls, as_snippet_sees, at_one_point, call_snippet
from .snippet_calls import CannotRun, describe_inputs, tensors
from .trial import Trial

SLACK = 1 + 2.0**-20  # covers the errors of fp64 in the value and in the bound


class FormatResults:
    """The results of a claim's snippets in each format."""

    def __init__(self, claim: Claim, calls: Calls | None = None) -> None:
        self.claim, self.free, self.calls = claim, claim.free, calls or Calls()
        self.ran = {f: [0, 0] for f in FORMATS}  # [points that count, points at which a snippet ran]
        # (number of a snippet, number of a result, format) -> the expressions within whose bounds the result has always been
        self.computes: dict[tuple, set] = {}
        self.left_out: dict[tuple, str] = {}  # (number of a snippet, format) -> the reason

    def compare(self, t: Trial, sides: list, which: list, formats: Iterable[Format] = FORMATS) -> None:
        """Run the snippets with these numbers at points of a trial, in these formats; each must compute one of the sides."""
        for f in formats:
            numbers = [k for k in which if (k, f) not in self.left_out]
            low = rounded(self.claim, t, f) if numbers else None
            if low is None:
                continue
            low.exponents = exponent_range(sides, low)
            bounded, reasons = {}, []
            for number, e in enumerate(sides):
                try:
                    bounded[number] = evaluate_in_format(e, low, f)
                except CannotDecide as reason:
                    reasons += [str(reason)] if number in (0, len(sides) - 1) else []
            if not bounded:
                self.left_out.update({(k, f): reasons[0] for k in numbers})
                continue
            points, given = max(len(x.value) for x in (*bounded.values(), *low.values.values())), Arguments(low, f.dtype, self.calls)
            expected = {number: tuple(y.unbind() for y in as_snippet_sees(x, low, self.free)) for number, x in bounded.items()}
            for point in range(points):
                self.at(
                    point,
                    numbers,
                    given,
                    f,
                    {end: BoundedValue(*(at_one_point(y, point) for y in x)) for end, x in expected.items()},
                    reasons,
                )

    def at(self, point: int, numbers: list, given: Arguments, f: Format, wanted: dict, reasons: list) -> None:
        """Run the snippets at one point, and count it."""
        ran = [self.run(k, point, given, f, wanted, reasons) for k in numbers]
        if any(ran):
            self.ran[f][0] += any((x.value.abs() > SLACK * x.error).any() for x in wanted.values())
            self.ran[f][1] += 1

    def run(self, k: int, point: int, given: Arguments, f: Format, wanted: dict, reasons: list) -> bool:
        """Run a snippet at one point and return whether it ran. Raise Disagrees if it is outside the bounds of all sides."""
        name = self.claim.code[k][0]
        if (k, f) in self.left_out:
            return False
        if not any((x.error < inf).any() for x in wanted.values()):  # a snippet that may overflow may also stop
            return False
        try:
            results, bound = call_snippet(self.claim.code[k], given, point)
            if not all(x.isfinite().all() for x in tensors((bound.args, bound.kwargs))):  # the format cannot hold an argument
                return False
            results = results if isinstance(results, tuple) else (results,)
            other = [r.dtype if isinstance(r, Tensor) else type(r).__name__ for r in results if getattr(r, "dtype", None) != f.dtype]
            reason = f"{name} gives {str(other[0]).removeprefix('torch.')}, and is given no tensor of the format" if other else ""
        except CannotRun as error:
            reason = str(error)
        if reason:
            self.left_out[k, f] = reason
            return False
        for number, result in enumerate(results):
            possible = self.computes.setdefault((k, number, f), set(wanted))
            want = wanted[next(iter(possible))]
            possible -= {end for end in possible if outside(result, wanted[end]).any()}
            if possible:
                continue
            if reasons:
                self.left_out[k, f] = f"{name} is outside the bound of one side, and for the other {reasons[0]}"
                return False
            bad = outside(result, want)
            x, v, e = (y.expand(bad.shape)[tuple(bad.nonzero()[0])].item() for y in (result.double(), *want))
            raise Disagreement(
                f"{name} gives {x:.9g} in {f.name} where the claim has {v:.9g}, and the rounding bound of {f.name} "
                f"is {e:.3g}{describe_sizes(given.trial.sizes)}{describe_inputs(bound)}",
                code="snippet-wrong-value",
            )
        return True

    def note(self) -> str:
        """Return a note: the formats in which snippets ran, with the number of points that count, and the formats left out with the reason."""
        silent = {f: [k for k in range(len(self.claim.code)) if (k, f) in self.left_out] for f in FORMATS}
        ran = [
            f"{f.name} at {counted} of {total} points"
            for f, (counted, total) in self.ran.items()
            if total and len(silent[f]) < len(self.claim.code)
        ]
        why: dict[str, list[str]] = {}
        for (_, f), reason in self.left_out.items():
            why.setdefault(reason, []).append(f.name)
        return ("; run in " + ", ".join(ran) + ", within the rounding bound of each" if ran else "") + "".join(
            f"; nothing said in {', '.join(dict.fromkeys(names))}: {reason}" for reason, names in why.items()
        )


def outside(result: Tensor, want: BoundedValue) -> Tensor:
    """Return a mask of the entries whose error exceeds the bound; an infinite bound is never exceeded."""
    if result.shape != want.value.shape:
        raise Disagreement(
            f"a snippet gives shape {tuple(result.shape)} where the claim has {tuple(want.value.shape)}", code="snippet-wrong-shape"
        )
    return ~((result.double() - want.value).abs() <= SLACK * want.error) & (want.error < inf)


def rounded(claim: Claim, t: Trial, f: Format) -> Trial | None:
    """Return a trial with its numbers rounded to the format, at two of the points where the assumptions still hold; None if there are none."""
    low = t.but({name: BoundedValue(x.value.to(f.dtype).double(), torch.zeros_like(x.error)) for name, x in t.values.items()})
    keep = torch.ones(max((len(x.value) for x in low.values.values()), default=1), dtype=torch.bool)
    for x in low.values.values():
        keep &= x.value.isfinite().flatten(1).all(1)
    for a in claim.given:
        keep &= holds(a, low)
    if not keep.any():
        return None
    points = keep.nonzero().flatten()
    low.points(points[[len(points) // 2, -1]] if len(points) > 1 else points)  # not the first: all its entries are zero
    return low
