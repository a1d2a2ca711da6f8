"""Compare the snippets that a claim names with the claim at the points of a trial.

The roundings of a snippet are not bounded themselves: it may err by 16 times the largest bound of the claim's expressions.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import torch

from ..core.claims import Claim
from ..core.expr import Expr, strip_brackets
from .comparison import describe_sizes, is_decisive
from .error_bounds import COVER, U
from .errors import Disagreement
from .input_layouts import LAYOUTS
from .leading_axes import check_leading_axes
from .low_precision import FormatResults
from .shifted_exponents import exponent_range
from .snippet_arguments import Arguments, Calls, as_snippet_sees, at_one_point, call_snippet, describe_calls, prepare_call
from .snippet_calls import Bound, call_in_layouts, describe_inputs, is_same_value, select_result
from .snippet_run_schedule import Rotation, Selection
from .trial import Trial

ROUNDINGS = 16  # the allowed error of a snippet, as a multiple of the bound of the expression that it is compared with
ATOMS = ("symbol", "index", "const", "imaginary")


class Snippets:
    """The snippets that one claim names, and their results so far."""

    def __init__(self, claim: Claim) -> None:
        self.claim, self.free = claim, claim.free
        self.calls = Calls()
        self.ledger = FormatResults(claim, self.calls)
        self.ran: dict[int, list[tuple]] = {
            k: [] for k in range(len(claim.code))
        }  # number of a snippet -> the sizes of each point at which it was compared
        self.turns: dict[tuple, Rotation] = {}  # numbers of snippets that are compared together -> their rotation
        self.leaked: dict[int, set] = {}  # number of a snippet -> its arguments that equalled the claim's value at every such point

    def compare(self, t: Trial, values: list, trees: list | None = None, which: Iterable[int] | None = None) -> None:
        """Run the snippets at some points of a trial and compare their results with `values`.

        `which` limits this to the snippets with these numbers. If the claim's `trees` are given, also compare in low-precision formats.
        """
        which = tuple(k for k in (self.ran if which is None else which) if k in self.ran)
        if not which:
            return
        points = max(len(x.value) for x in (*values, *t.values.values()))
        low, high = exponent_range([self.claim.start, *(s.expr for s in self.claim.steps)], t)
        wanted = ExpectedValues([as_snippet_sees(x, t, self.free) for x in values], points, high - low)
        given = Arguments(t, calls=self.calls)
        look = self.turns.setdefault(which, Rotation()).look(t.sizes, points, bool(trees), t.scaled)
        for point in look.points:
            for k in which:
                if compare_snippet(self.claim.code[k], given, point, wanted, look):
                    self.ran[k].append(tuple(sorted(t.sizes.items())))
                    self.note_leaked(k, given, point, wanted)
        if trees:
            self.ledger.compare(t, trees, list(which), look.formats)

    def note_leaked(self, k: int, given: Arguments, point: int, wanted: ExpectedValues) -> None:
        """Record which arguments of a snippet equal the claim's value at a point."""
        before = self.leaked.get(k)
        if before is None or before:  # an argument that differs at one point does not leak the answer
            found = set(find_leaked_answers(self.claim.code[k], given, point, wanted))
            self.leaked[k] = found if before is None else found & before

    def runs(self) -> tuple:
        """Return (the call, the number of shapes, the number of points) for each snippet. Raise Disagrees if an argument leaks the answer."""
        for k in self.leaked:
            self.reject_leaked(k)
        return tuple((self.claim.code[k], len(set(sizes)), len(sizes)) for k, sizes in self.ran.items())

    def reject_leaked(self, k: int) -> None:
        """Raise Disagrees if an argument of a snippet had the claim's value at all points, of which there are several."""
        points = len(self.ran[k])
        if self.leaked[k] and points > 1:
            name, arguments = self.claim.code[k][0], ", ".join(sorted(self.leaked[k]))
            raise Disagreement(
                f"code[{k}] gives {name} what it has to compute, as {arguments}, at each of {points} points; "
                "give it what the claim's sides are made of, or leave the call out",
                code="leaked-answer",
            )

    def note(self) -> str:
        """Return the calls, sizes and formats as the end of a note."""
        largest = max((size for at in self.ran.values() for sizes in at for _, size in sizes), default=0)
        return describe_calls(self.claim) + (f", with sizes up to {largest}" if largest and self.claim.code else "") + self.ledger.note()


class ExpectedValues:
    """The values that a snippet may return: those of the claim's expressions, where they are defined, and the allowed error."""

    def __init__(self, values: list, points: int, exponents: torch.Tensor) -> None:
        """`exponents` is the range of the exponents at each point: a snippet may shift them all before it takes exponentials."""
        bounded = torch.stack(torch.broadcast_tensors(*(x.value.isfinite() & x.error.isfinite() for x in values))).all(0)
        relative = U * (1 + exponents.reshape(-1, *(1,) * (bounded.dim() - 1)))
        room = COVER * ROUNDINGS * torch.stack(torch.broadcast_tensors(*(x.error + relative * x.value.abs() for x in values))).amax(0)
        self.values, self.bounded, self.room = [x.value.unbind() for x in values], bounded.unbind(), room.unbind()
        self.any = at_points(bounded, points)  # by point: whether there is something to compare
        self.tells = at_points(is_decisive(*values), points)  # by point: whether the bounds are small enough to count it


def at_points(where: torch.Tensor, points: int) -> list[bool]:
    """Return for each point whether a mask is true anywhere."""
    return where.reshape(len(where), -1).any(1).expand(points).tolist()


def compare_snippet(code: tuple, given: Arguments, point: int, wanted: ExpectedValues, look: Selection) -> bool:
    """Compare a snippet with the claim at one point; return whether the point counts. Raise Disagrees if they differ.

    Where the formula has a value with a bound, the snippet must have the same value within that bound. A point at which the formula has no
    value is skipped. At the last point, the snippet also runs on the same numbers in other input layouts, and with other leading axes.
    """
    if not wanted.any[point]:
        return False
    name, sizes = code[0], given.trial.sizes
    found, bound = call_snippet(code, given, point, watched=point in look.watched)
    reject_different(name, found, wanted, point, sizes, bound)
    if point == look.points[-1]:
        run, bound, which = prepare_call(code, given, point)
        for layout, result in call_in_layouts(name, run, bound, look.layouts):
            reject_different(name, select_result(name, result, which, bound), wanted, point, sizes, bound, f", {layout}")
        if look.layouts == tuple(LAYOUTS):
            check_leading_axes(name, run, bound, prepare_call(code, given, look.points[0])[1])
    return wanted.tells[point]


def find_leaked_answers(code: tuple, given: Arguments, point: int, wanted: ExpectedValues) -> Iterable[str]:
    """Yield the parameters whose argument already has the value of a side of the claim at this point.

    Arguments that are a single name or number are skipped, because a side of the claim may be just that.
    """
    parameters = [parameter for parameter, x in given.calls.of(code).arguments.items() if is_computed(x)]
    if not parameters:
        return
    bound = prepare_call(code, given, point)[1]
    for parameter in parameters:
        value = bound.arguments[parameter]
        if isinstance(value, (torch.Tensor, float, int)) and any(is_same_value(value, at_one_point(want, point)) for want in wanted.values):
            yield parameter


def is_computed(x: Any) -> bool:
    """Return whether an argument is a call or a tree of several nodes, and not just a name or a number."""
    return isinstance(x, tuple) or isinstance(x, Expr) and strip_brackets(x).op not in ATOMS


def reject_different(name: str, results: object, wanted: ExpectedValues, point: int, sizes: dict, bound: Bound, layout: str = "") -> None:
    """Raise Disagrees unless a result has the shape of the wanted values and, where these are bounded, their values."""
    bounded, room = at_one_point(wanted.bounded, point), at_one_point(wanted.room, point)
    tensors = [
        torch.Tensor.detach(x) if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=torch.float64)
        for x in (results if isinstance(results, tuple) else (results,))
    ]
    for result, values in product(tensors, wanted.values):
        want = at_one_point(values, point)
        if result.shape != want.shape:
            shapes = f"shape {tuple(result.shape)} where the claim has {tuple(want.shape)}"
            raise Disagreement(f"{name} gives {shapes}{describe_sizes(sizes)}{describe_inputs(bound)}{layout}", code="snippet-wrong-shape")
        bad = bounded & ~((result - want).abs() <= room)
        if bad.any():
            where = tuple(bad.nonzero()[0])
            computed, claimed = (format_number(x[where].item()) for x in (result, want))
            raise Disagreement(
                f"{name} gives {computed} where the claim has {claimed}{describe_sizes(sizes)}{describe_inputs(bound)}{layout}",
                code="snippet-wrong-value",
            )


def format_number(x: complex) -> str:
    return f"{x:.17g}" if isinstance(x, (int, float)) else str(x)
