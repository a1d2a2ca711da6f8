"""The snippets that a claim names, at points of a trial: each result has to be the claim's.

A snippet's own roundings are not followed: it may err by 16 times the larger bound of the claim's first and last expression.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import torch

from ..core.claims import Claim
from ..core.expr import Expr, strip
from .comparison import at_sizes, settled
from .error_bounds import COVER, U
from .errors import Disagrees
from .layout_schedule import Look, Turns
from .low_precision import Ledger
from .snippet_arguments import Calls, Given, also, call, here, prepared, shown
from .snippet_calls import Bound, chosen, in_layouts, inputs, is_value
from .trial import Trial

ROUNDINGS = 16  # a snippet's roundings, against those of the expression it is compared with
ATOMS = ("symbol", "index", "const", "imaginary")


class Snippets:
    """The snippets that one claim names, and what became of each."""

    def __init__(self, claim: Claim):
        self.claim, self.free = claim, claim.free
        self.calls = Calls()
        self.ledger = Ledger(claim, self.calls)
        self.ran = {k: [] for k in range(len(claim.code))}  # number of a snippet -> the sizes of each point at which it was compared
        self.turns: dict[tuple, Turns] = {}  # numbers of snippets that are compared together -> the trials that they have seen
        self.leaked: dict[int, set] = {}  # number of a snippet -> its arguments that had the claim's value at every such point

    def compare(self, t: Trial, values: list, trees: list | None = None, which: Iterable[int] | None = None):
        """Run the snippets, or those with the numbers given, at points of a trial; with the trees, in fewer digits at two of them."""
        which = tuple(k for k in (self.ran if which is None else which) if k in self.ran)
        if not which:
            return
        points = max(len(x.v) for x in (*values, *t.values.values()))
        wanted, given = Wanted([shown(x, t, self.free) for x in values], points), Given(t, calls=self.calls)
        look = self.turns.setdefault(which, Turns()).look(t.sizes, points, bool(trees), t.scaled)
        for point in look.points:
            for k in which:
                if agrees(self.claim.code[k], given, point, wanted, look):
                    self.ran[k].append(tuple(sorted(t.sizes.items())))
                    self.note_leaked(k, given, point, wanted)
        if trees:
            self.ledger.compare(t, trees, list(which), look.formats)

    def note_leaked(self, k: int, given: Given, point: int, wanted: Wanted) -> None:
        before = self.leaked.get(k)
        if before is None or before:  # an argument that differs at one point does not leak the answer
            found = set(leaked_answers(self.claim.code[k], given, point, wanted))
            self.leaked[k] = found if before is None else found & before

    def runs(self) -> tuple:
        """(the call, at how many shapes, at how many points) for each that ran. Disagrees where an argument leaks the answer."""
        for k in self.leaked:
            self.reject_leaked(k)
        return tuple((self.claim.code[k], len(set(sizes)), len(sizes)) for k, sizes in self.ran.items())

    def reject_leaked(self, k: int) -> None:
        points = len(self.ran[k])
        if self.leaked[k] and points > 1:
            name, said = self.claim.code[k][0], ", ".join(sorted(self.leaked[k]))
            raise Disagrees(
                f"code[{k}] gives {name} what it has to compute, as {said}, at each of {points} points; "
                "give it what the claim's sides are made of, or leave the call out"
            )

    def note(self) -> str:
        largest = max((size for at in self.ran.values() for sizes in at for _, size in sizes), default=0)
        return also(self.claim) + (f", with sizes up to {largest}" if largest and self.claim.code else "") + self.ledger.note()


class Wanted:
    """What the claim has, as snippets give it; with where it has a value and a bound on its error, and how far off a snippet may be."""

    def __init__(self, values: list, points: int):
        bounded = torch.stack(torch.broadcast_tensors(*(x.v.isfinite() & x.e.isfinite() for x in values))).all(0)
        room = COVER * ROUNDINGS * torch.stack(torch.broadcast_tensors(*(x.e + U * x.v.abs() for x in values))).amax(0)
        self.values, self.bounded, self.room = [x.v.unbind() for x in values], bounded.unbind(), room.unbind()
        self.any = at_points(bounded, points)  # at which points it is to be compared anywhere
        self.tells = at_points(settled(*values), points)  # at which that tells something


def at_points(where: torch.Tensor, points: int) -> list[bool]:
    return where.reshape(len(where), -1).any(1).expand(points).tolist()


def agrees(code: tuple, given: Given, point: int, wanted: Wanted, look: Look) -> bool:
    """Does a snippet run, and does that tell something? Disagrees where it does not give what the claim has.

    Where the formula has a value, and a bound on its error, the snippet has a value too, and it is that one within the bound. It is
    not asked where the formula has none anywhere. At the last point it is given the same numbers in other input layouts as well.
    """
    if not wanted.any[point]:
        return False
    name, sizes = code[0], given.trial.sizes
    found, bound = call(code, given, point, watched=point in look.watched)
    refuse_unlike(name, found, wanted, point, sizes, bound)
    if point == look.points[-1]:
        run, bound, which = prepared(code, given, point)
        for layout, result in in_layouts(name, run, bound, look.layouts):
            refuse_unlike(name, chosen(name, result, which, bound), wanted, point, sizes, bound, f", {layout}")
    return wanted.tells[point]


def leaked_answers(code: tuple, given: Given, point: int, wanted: Wanted) -> Iterable[str]:
    """Yield the arguments that have the claim's value at a point. Names and numbers are left out: a side may be one of these."""
    asked = [parameter for parameter, x in given.calls.of(code).arguments.items() if is_made(x)]
    bound = prepared(code, given, point)[1] if asked else None
    for parameter in asked:
        value = bound.arguments[parameter]
        if isinstance(value, (torch.Tensor, float, int)) and any(is_value(value, here(want, point)) for want in wanted.values):
            yield parameter


def is_made(x: Any) -> bool:
    """Is an argument a call or a tree of several nodes, and not just a name or a number?"""
    return isinstance(x, tuple) or isinstance(x, Expr) and strip(x).op not in ATOMS


def refuse_unlike(name: str, found: object, wanted: Wanted, point: int, sizes: dict, bound: Bound, layout: str = ""):
    """Disagrees unless what a snippet gives has the shape and, where that is bounded, the value of what is wanted."""
    bounded, room = here(wanted.bounded, point), here(wanted.room, point)
    given = [
        torch.Tensor.detach(x) if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=torch.float64)
        for x in (found if isinstance(found, tuple) else (found,))
    ]
    for result, values in product(given, wanted.values):
        want = here(values, point)
        if result.shape != want.shape:
            shapes = f"shape {tuple(result.shape)} where the claim has {tuple(want.shape)}"
            raise Disagrees(f"{name} gives {shapes}{at_sizes(sizes)}{inputs(bound)}{layout}")
        bad = bounded & ~((result - want).abs() <= room)
        if bad.any():
            where = tuple(bad.nonzero()[0])
            one, other = (in_digits(x[where].item()) for x in (result, want))
            raise Disagrees(f"{name} gives {one} where the claim has {other}{at_sizes(sizes)}{inputs(bound)}{layout}")


def in_digits(x: complex) -> str:
    return f"{x:.17g}" if isinstance(x, (int, float)) else str(x)
